"""A card: a scrolling text from outside above the widgets that answer it, which stay visible.

A text of an agent, a task or a model may have any length. In a terminal with too few rows for the whole card, its text
shrinks and scrolls by the keyboard. Its choices, its field and its hint keep their rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.text import Text
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.layouts.vertical import VerticalLayout
from textual.widget import Widget

from screens.key_names import keys_of
from screens.widgets.border_words import write_subtitle
from screens.widgets.text_page import TextPage, rest_words

Round = tuple[tuple[str, int], ...]
"""Children that give rows away, in this order: pairs of an id and the minimum of rows that each keeps."""


class CardText(TextPage, can_focus=False):
    """A text with its natural height. If it gets less it scrolls, and its card reports how much is hidden."""

    DEFAULT_CSS = """
    CardText { height: auto; width: 1fr; }
    """

    def show(self, content: Content | Text, *, from_top: bool = True, at: str = "") -> None:
        text = Content.from_rich_text(content) if isinstance(content, Text) else content
        super().show(text, from_top=from_top, at=at)
        self.refresh(layout=True)

    def _show_rest(self) -> None:
        if isinstance(self.parent, Card):
            self.parent.show_rest()

    @property
    def rest_words(self) -> str:
        card = self.parent
        return card.rest_words if isinstance(card, Card) and not card.styles.border_bottom[0] else ""


class _GivingLayout(VerticalLayout):
    """A vertical layout. If the rows are too few, children give theirs away as their parent decides."""

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        placements = list(super().arrange(parent, children, size, greedy))
        lowest = max((placement.region.bottom + placement.margin.bottom for placement in placements), default=0)
        # A height of 0 asks how high all of it would be.
        if not isinstance(parent, GivingColumn) or not size.height or lowest <= size.height:
            return placements
        return list(_shorten(placements, parent.rows_given(placements, lowest - size.height)))


def _shorten(placements: list[WidgetPlacement], row_counts: dict[Widget, int]) -> Iterator[WidgetPlacement]:
    """Yield the placements with each widget shortened by its number of rows, moved up together."""
    up = 0
    for placement in placements:
        less, region = row_counts.get(placement.widget, 0), placement.region
        yield placement._replace(region=Region(region.x, region.y - up, region.width, region.height - less))
        up += less


_LAYOUT = _GivingLayout()


class GivingColumn(Vertical):
    """A column in which some children give rows away if there are too few for all.

    `SHRINK_ROUNDS` lists who gives in a first round, and in a second if that is not enough. A child that is such a
    column itself decides by its own rounds how many rows it keeps.
    """

    SHRINK_ROUNDS: ClassVar[tuple[Round, Round]] = ((), ())

    @property
    def layout(self) -> Layout:
        return _LAYOUT

    def rows_given(self, placements: list[WidgetPlacement], rows: int, rounds: int = 2) -> dict[Widget, int]:
        """Return how many rows each child gives so that together they give `rows`, as far as possible."""
        row_counts: dict[Widget, int] = {}
        # A second round may ask a child again that has given in the first.
        for number, givers in enumerate(self.SHRINK_ROUNDS[:rounds], 1):
            for child, least in givers:
                place = next((placement for placement in placements if placement.widget.id == child), None)
                if place is None:
                    continue
                widget, region = place.widget, place.region
                keeps = widget.rows_kept(region.width, number) if isinstance(widget, GivingColumn) else least
                less = max(0, min(rows, region.height - row_counts.get(widget, 0) - keeps))
                row_counts[widget] = row_counts.get(widget, 0) + less
                rows -= less
        return row_counts

    def rows_kept(self, width: int, rounds: int) -> int:
        """Return the rows that the column needs at that width after giving in so many rounds."""
        # Height 0 makes `_GivingLayout` return the natural height.
        inside = self.arrange(Size(max(0, width - self.gutter.width), 0))
        row_counts = self.rows_given(inside.placements, _ALL, rounds)
        return inside.total_region.bottom - sum(row_counts.values()) + self.gutter.height


_ALL = 1 << 30


class Card(GivingColumn):
    """A column with texts (`CardText`), which the same two keys page through one after the other.

    Its lower border shows how many lines are out of sight.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pagedown,space", "read(1)", "Read on", show=False, id="card.down", tooltip="The text, further down"),
        Binding("pageup", "read(-1)", "Read back", show=False, id="card.up", tooltip="The text, further up"),
    ]

    @property
    def _texts(self) -> list[CardText]:
        return [text for text in self.children if isinstance(text, CardText) and text.display]

    def action_read(self, by: int) -> None:
        """Page on in the first text with hidden lines below, or back in the last one with hidden lines above."""
        texts = self._texts if by > 0 else self._texts[::-1]
        for text in texts:
            if text.lines_below if by > 0 else text.lines_above:
                text.scroll_pages(by)
                return
        raise SkipAction

    @property
    def rest_words(self) -> str:
        """Number of lines out of sight, and the keys that show them."""
        below, above = (sum(getattr(text, name) for text in self._texts) for name in ("lines_below", "lines_above"))
        return rest_words((keys_of(self, "card.down")[0], below), (keys_of(self, "card.up")[0], above))

    def show_rest(self) -> None:
        """Write that number on the lower border. A card without a border lets its text's last line show it."""
        write_subtitle(self, self.rest_words)
