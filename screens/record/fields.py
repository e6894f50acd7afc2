"""The two text fields of a demonstration: a text that an action needs, and its instruction."""

from __future__ import annotations

from screens.live.field import ReplyText
from screens.widgets.text_fields import TextLine


class DeskText(ReplyText):
    """Field for a text that an action needs."""

    HELP = """
    What is typed into the phone, the app's name, the answer, or why it is impossible. **{reply.enter}** takes it,
    **{reply.newline}** begins a new line, **{run.back}** goes back.
    """


class InstructionLine(TextLine):
    """The low-level instruction of the held action."""

    HELP = """
    What this step does, in words: an instruction for someone who sees only this screen. It is suggested from what is
    on the screen; write it better where it is wrong. **Enter** does the act and records both, **{run.back}**
    drops the act, another touch of the phone takes its place, **{record.other}** makes another of it (double tap,
    hold; other ways to scroll).
    """
