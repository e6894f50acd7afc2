"""A row of a few choices, each with a digit and a letter as keys. The one under the cursor is marked."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from math import inf
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from lab.core.run.screen_clock import Clock
from screens.key_names import keys_of
from screens.slip import GUARD_SECONDS

TOO_EARLY = "That key came before this was read, and did nothing: press it again."


class Choice(NamedTuple):
    """One choice. `key` is the letter that picks it, in addition to its digit."""

    id: str
    key: str
    label: str
    tooltip: str = ""


def choice_bindings(group: str, choices: tuple[Choice, ...]) -> list[BindingType]:
    """Return the bindings of a row of choices: digit and letter, with ids such as `reply.accept`."""
    return [
        Binding(
            f"{number + 1},{choice.key}",
            f"pick({number})",
            choice.label.capitalize(),
            show=False,
            id=f"{group}.{choice.id}",
            tooltip=choice.tooltip,
        )
        for number, choice in enumerate(choices)
    ]


class Choices(Widget, can_focus=True):
    """Choices side by side, or stacked if they do not fit. Keys and clicks pick, arrows move the cursor.

    A concrete row is a subclass with a GROUP, CHOICES and the bindings that `choice_bindings` returns for them. Letters
    act only while these choices have the focus, so that typing never picks one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "move(1)", "Next", show=False, id="choice.next", tooltip="The next choice"),
        Binding("left", "move(-1)", "Previous", show=False, id="choice.previous", tooltip="The one before"),
        Binding("down", "line(1)", "Below", show=False, id="choice.below", tooltip="What stands below"),
        Binding("up", "line(-1)", "Above", show=False, id="choice.above", tooltip="What stands above"),
    ]
    DEFAULT_CSS = """
    Choices { height: auto; width: 1fr; }
    """

    @dataclass
    class Picked(Message):
        """Message: a key or click picked a choice."""

        choice: str

    @dataclass
    class TooEarly(Message):
        """Message: a key or click came too soon after these choices appeared, and picked nothing."""

    GROUP: ClassVar[str] = ""
    CHOICES: ClassVar[tuple[Choice, ...]] = ()

    cursor: reactive[int] = reactive(-1)
    """Index of the marked choice, -1 for none."""

    def __init__(self, clock: Clock, *, id: str) -> None:
        super().__init__(id=id)
        self._clock = clock
        self.seen_at = -inf
        """Clock seconds of the present choices' first paint: `inf` until then, `-inf` before any `show_new`.
        """

    # -- appearing -------------------------------------------------------------------------------------------

    def show_new(self) -> None:
        """Show new choices. No key picks one until they have been visible for a moment."""
        self.seen_at = inf
        self.call_after_refresh(self.mark_visible)

    def mark_visible(self) -> None:
        """Record that the choices are visible, if their screen is the current one."""
        if self.seen_at == inf and self.is_attached and self.screen.is_current:
            self.seen_at = self._clock.seconds()

    @property
    def ready(self) -> bool:
        """True if the choices have been visible long enough for a key to be meant for them."""
        return self._clock.seconds() - self.seen_at >= GUARD_SECONDS

    # -- picking ---------------------------------------------------------------------------------------------

    def pick(self, number: int) -> None:
        """Mark the choice with this index and post `Picked`, or `TooEarly` if it is too soon."""
        # A key typed a moment before these choices appeared was meant for something else.
        if not self.ready:
            self.post_message(self.TooEarly())
            return
        self.cursor = number
        self.post_message(self.Picked(self.CHOICES[number].id))

    @property
    def marked_id(self) -> str | None:
        """Id of the marked choice, or None if none is."""
        return self.CHOICES[self.cursor].id if self.cursor >= 0 else None

    def key(self, number: int) -> str:
        """Return the first key that picks a choice under the present key map."""
        return (self._keys(number) or [""])[0]

    def _keys(self, number: int) -> list[str]:
        return keys_of(self, f"{self.GROUP}.{self.CHOICES[number].id}")

    def action_move(self, by: int) -> None:
        if self.cursor < 0:
            self.cursor = 0 if by > 0 else len(self.CHOICES) - 1
        else:
            self.cursor = (self.cursor + by) % len(self.CHOICES)

    def action_line(self, by: int) -> None:
        if self._is_stacked and (0 <= self.cursor + by < len(self.CHOICES)):
            self.cursor += by
        elif by > 0:
            self.screen.focus_next()
        else:
            self.screen.focus_previous()

    def action_pick(self, number: int) -> None:
        self.pick(number)

    def on_key(self, event: events.Key) -> None:
        """Accept fullwidth and other non-ASCII digits, which input methods write."""
        # Plain digits are bindings, which can be mapped to other keys.
        wide = event.character is not None and len(event.character) == 1 and not event.character.isascii()
        number = unicodedata.decimal(event.character, 0) if wide and event.character else 0
        if 1 <= number <= len(self.CHOICES):
            event.stop()
            self.pick(number - 1)

    def on_click(self, event: events.Click) -> None:
        for number, (x, y, width) in enumerate(self._places(self.size.width)):
            if event.y == y and x <= event.x < x + width:
                self.focus()
                self.pick(number)

    # -- drawing ---------------------------------------------------------------------------------------------

    def _cells(self) -> list[Text]:
        return [self._cell(number, choice) for number, choice in enumerate(self.CHOICES)]

    def label(self, choice: Choice) -> str:
        """Return the label of a choice here."""
        return choice.label

    def _cell(self, number: int, choice: Choice) -> Text:
        """Return a choice as text: mark, first key, label. The letter that picks it is underlined, or in brackets."""
        keys, marked = self._keys(number), number == self.cursor
        cell = Text(f"{'●' if marked else '○'} ")
        cell.append((keys or [""])[0], style="bold underline")
        letter = next((key for key in keys[1:] if len(key) == 1), "")
        name = self.label(choice)
        label = name if letter in name else f"{name} ({letter})"
        start = cell.cell_len + 1 + label.find(letter)
        cell.append(f" {label}", style="bold reverse" if marked else "")
        cell.stylize("underline", start, start + len(letter))
        return cell

    @property
    def _is_stacked(self) -> bool:
        return self._places(self.size.width)[-1][1] > 0

    def _places(self, width: int) -> list[tuple[int, int, int]]:
        """Return left, row and width of each choice in so many columns."""
        widths = [cell.cell_len for cell in self._cells()]
        if sum(widths) + 3 * (len(widths) - 1) > width:
            return [(0, row, size) for row, size in enumerate(widths)]
        lefts = [sum(widths[:n]) + 3 * n for n in range(len(widths))]
        return [(left, 0, size) for left, size in zip(lefts, widths, strict=True)]

    def render(self) -> Text:
        return Text("\n" if self._is_stacked else "   ").join(self._cells())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._places(width)[-1][1] + 1
