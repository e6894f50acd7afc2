"""A few choices, each on a digit and a letter of its own; the one under the cursor is marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget


class Choice(NamedTuple):
    """`key` is the letter that picks it, beside its digit."""

    id: str
    key: str
    label: str
    tooltip: str = ""


def picks(group: str, choices: tuple[Choice, ...]) -> list[BindingType]:
    """The bindings of a row of choices: digit and letter, with ids such as `reply.accept`."""
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
    """Side by side where they fit, else one below the other. Keys and clicks pick; arrows move the cursor.

    A row of its own is a subclass with CHOICES and the bindings that `picks` makes of them. Letters count only
    while these choices have the focus, so that typing never picks one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,down", "move(1)", "Next", show=False, id="choice.next", tooltip="The next choice"),
        Binding("left,up", "move(-1)", "Previous", show=False, id="choice.previous", tooltip="The one before"),
    ]
    DEFAULT_CSS = """
    Choices { height: auto; width: 1fr; }
    """

    @dataclass
    class Picked(Message):
        """One was picked by its key or by a click."""

        choice: str

    CHOICES: ClassVar[tuple[Choice, ...]] = ()

    cursor: reactive[int] = reactive(-1)
    """Which one is marked; -1 is none."""

    def pick(self, number: int) -> None:
        """Marks one, counted from 0, and says so."""
        self.cursor = number
        self.post_message(self.Picked(self.CHOICES[number].id))

    @property
    def chosen(self) -> str | None:
        """The marked one."""
        return self.CHOICES[self.cursor].id if self.cursor >= 0 else None

    def action_move(self, by: int) -> None:
        if self.cursor < 0:
            self.cursor = 0 if by > 0 else len(self.CHOICES) - 1
        else:
            self.cursor = (self.cursor + by) % len(self.CHOICES)

    def action_pick(self, number: int) -> None:
        self.pick(number)

    def on_click(self, event: events.Click) -> None:
        for number, (x, y, width) in enumerate(self._places(self.size.width)):
            if event.y == y and x <= event.x < x + width:
                self.focus()
                self.pick(number)

    def _cells(self) -> list[Text]:
        cells: list[Text] = []
        for number, choice in enumerate(self.CHOICES):
            marked = number == self.cursor
            cell = Text(f"{'●' if marked else '○'} ")
            cell.append(f"{number + 1}", style="bold underline")
            at = choice.label.find(choice.key)
            cell.append(f" {choice.label}", style="bold reverse" if marked else "")
            if at >= 0:
                cell.stylize("underline", 4 + at, 5 + at)
            cells.append(cell)
        return cells

    def _places(self, width: int) -> list[tuple[int, int, int]]:
        """Left, row and width of each in so many columns."""
        widths = [cell.cell_len for cell in self._cells()]
        if sum(widths) + 3 * (len(widths) - 1) > width:
            return [(0, row, size) for row, size in enumerate(widths)]
        lefts = [sum(widths[:n]) + 3 * n for n in range(len(widths))]
        return [(left, 0, size) for left, size in zip(lefts, widths, strict=True)]

    def render(self) -> Text:
        stacked = self._places(self.size.width)[-1][1] > 0
        return Text("\n" if stacked else "   ").join(self._cells())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._places(width)[-1][1] + 1
