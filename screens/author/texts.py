"""The texts on the phone's screen as a list, to take one as an information unit's value."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from lab.design.drafting import texts
from lab.plain import plain
from lab.trace import Step
from lab.turn import Observation
from screens.describe import one_line
from screens.lines import Lines


class Texts(Lines):
    """What can be read at this step: what was typed, asked and answered in it, then the screen from top to bottom."""

    HELP = """\
# Texts

What stands on the phone's screen at this step, and what was typed, asked or answered in it. **Enter** takes one as the
value of a new information unit; **Esc** leaves without one. Arrows left and right still scrub the run.
"""
    empty = "No text was recorded here. Esc, then A adds an empty unit."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Take it", id="author.take_text", tooltip="A unit with this text as its value"),
    ]

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.rows: list[str] = []

    def fill(self, step: Step | None, seen: Observation | None) -> None:
        """Lists what can be read here."""
        said: list[str] = []
        if step is not None:
            said = [step.action.text or "" if step.action else "", step.reply.text if step.reply else ""]
        shown = [plain(text.strip()) for text in said if text.strip()] + (texts(seen) if seen is not None else [])
        self.rows = list(dict.fromkeys(shown))
        self.border_title = "Which text is the unit?"
        self.changed()

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    @property
    def count(self) -> int:
        return len(self.rows)

    def paint(self, index: int, width: int) -> Content:
        return Content(one_line(self.rows[index], 300))
