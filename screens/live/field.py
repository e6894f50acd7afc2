"""The field in which a person types an answer or a remark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from screens.widgets.text_fields import TextBox


class ReplyText(TextBox):
    """Field of an answer. Enter sends, ctrl+j starts a new line."""

    HELP = """
    Your answer. **{reply.enter}** sends it, **{reply.newline}** begins a new line, **{run.back:escape}** leaves the
    field and keeps what you typed. **{card.down:pagedown}** and **{card.up:pageup}** read on what is asked. Where
    choices are numbered, a digit in the empty field takes that choice. A remark is not sent from here:
    **{reply.enter}** goes back to the choices, and the one you take sends both.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", id="reply.enter", tooltip="Send your answer, or leave a remark"),
        Binding("ctrl+j,alt+enter,shift+enter", "new_line", "New line", show=False, id="reply.newline",
                tooltip="Begin a new line in your answer"),
    ]  # fmt: skip
    DEFAULT_CSS = """
    ReplyText { height: auto; max-height: 6; }
    """

    @dataclass
    class Entered(Message):
        """Message: Enter was pressed."""

    @dataclass
    class Digit(Message):
        """Message: a digit was pressed while the field was empty."""

        number: int

    digits = 0
    """Number of digits that choose an option while the field is empty."""
    is_remark = False
    """True if the text accompanies a choice and is not sent from here."""

    @property
    def verbs(self) -> dict[str, str]:
        """Footer words for keys with another meaning than usual, by binding id."""
        return {"reply.enter": "Choices"} if self.is_remark else {}

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()  # a TextArea would insert a line break: the binding sends
        elif not self.text and event.key.isdecimal() and 1 <= int(event.key) <= self.digits:
            event.stop()
            event.prevent_default()
            self.post_message(self.Digit(int(event.key)))
        else:
            await super()._on_key(event)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the page keys to the card, which scrolls the question. Arrows reach all of the typed text."""
        return not action.startswith("cursor_page")

    def action_send(self) -> None:
        self.post_message(self.Entered())

    def action_new_line(self) -> None:
        self.insert("\n")
