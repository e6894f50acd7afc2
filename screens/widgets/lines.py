"""A list of any length with a cursor.

It builds only visible lines, so step ten thousand costs as little as step one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from screens.key_names import with_keys
from screens.widgets.border_words import write_subtitle, write_title

MOVE = Binding.Group("Move", compact=True)


class LineList(ScrollView, can_focus=True, inherit_bindings=False):
    """A list with one row per line. A subclass gives their number (`count`) and paints one (`paint`)."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--cursor", "lines--heading", "lines--empty"}
    DEFAULT_CSS = """
    LineList { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    LineList > .lines--cursor { background: $surface-lighten-2; text-style: bold; }
    LineList:focus > .lines--cursor {
        background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold;
    }
    LineList > .lines--heading { color: $text-muted; text-style: bold; }
    LineList > .lines--empty { color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, group=MOVE, id="list.up", tooltip="One line up"),
        Binding("down,j", "move(1)", "Down", show=False, group=MOVE, id="list.down", tooltip="One line down"),
        Binding("pageup", "page(-1)", "Page up", show=False, group=MOVE, id="list.page_up", tooltip="One page up"),
        Binding(
            "pagedown", "page(1)", "Page down", show=False, group=MOVE, id="list.page_down", tooltip="One page down"
        ),
        Binding("home,g", "edge(0)", "First", show=False, group=MOVE, id="list.first", tooltip="The first line"),
        Binding("end,G", "edge(-1)", "Last", show=False, group=MOVE, id="list.last", tooltip="The last line"),
        Binding("enter", "choose", "Open", show=False, group=MOVE, id="list.open", tooltip="Open this line"),
    ]

    # `watch_cursor` repaints the two lines that change, so the whole list need not be.
    cursor: reactive[int] = reactive(0, repaint=False)
    """Index of the line under the cursor, from 0."""

    @dataclass
    class Highlighted(Message):
        """Message: the cursor moved to `index`."""

        lines: LineList
        index: int

        @property
        def control(self) -> LineList:
            return self.lines

    @dataclass
    class Chosen(Message):
        """Message: Enter or a double click on `index`."""

        lines: LineList
        index: int

        @property
        def control(self) -> LineList:
            return self.lines

    heading_rows = 0
    """1 if the first row is a heading that does not scroll."""
    empty = ""
    """Text of an empty list."""

    # -- for a subclass --------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """Number of lines."""
        raise NotImplementedError

    def paint(self, index: int, width: int) -> Content:
        """Return one line. The list cuts or pads it to `width`."""
        raise NotImplementedError

    def heading(self, width: int) -> Content:
        """Return the row above the lines, which does not scroll."""
        return Content("")

    # -- for those who use it --------------------------------------------------------------------------------

    def changed(self) -> None:
        """Update the list after the number of lines or their contents changed."""
        self.virtual_size = Size(self.scrollable_content_region.width, self.count + self.heading_rows)
        self.cursor = self.validate_cursor(self.cursor)
        self.refresh()

    def repaint_lines(self, *indices: int) -> None:
        """Repaint only these lines after they changed."""
        area = self.scrollable_content_region
        for index in indices:
            y = index - self.scroll_offset.y + self.heading_rows
            if self.heading_rows <= y < area.height:
                self.refresh(Region(0, y, area.width, 1))

    def write_titles(self, title: str, subtitle: str = "") -> None:
        """Write on both borders."""
        write_title(self, title)
        write_subtitle(self, subtitle)

    def go(self, index: int) -> None:
        """Move the cursor and scroll it into sight."""
        self.cursor = index

    # -- beneath ---------------------------------------------------------------------------------------------

    def validate_cursor(self, index: int) -> int:
        return max(0, min(index, self.count - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        self._keep_in_sight()
        self.repaint_lines(old, new)
        if self.count:
            self.post_message(self.Highlighted(self, new))

    def on_resize(self, event: events.Resize) -> None:
        self.changed()
        self._keep_in_sight()

    def _keep_in_sight(self) -> None:
        height = max(1, self.scrollable_content_region.height - self.heading_rows)
        top = self.scroll_offset.y
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        strip = self._render_row(y, width - 1 if self.show_vertical_scrollbar else width)
        return strip.adjust_cell_length(width, self.visual_style.rich_style)

    def _render_row(self, y: int, width: int) -> Strip:
        """Return one row, with a free column before a scrollbar."""
        if y < self.heading_rows:
            return self._to_strip(self.heading(width), width, self.get_visual_style("lines--heading"))
        index = y - self.heading_rows + self.scroll_offset.y
        if index >= self.count:
            return self._render_blank(y - self.heading_rows, width)
        on_cursor = index == self.cursor
        style = self.get_visual_style("lines--cursor") if on_cursor else self.visual_style
        content = self.paint(index, width)
        # On the cursor one style speaks, or what is dim elsewhere could not be read.
        return self._to_strip(content.without_spans if on_cursor and self.has_focus else content, width, style)

    def _render_blank(self, y: int, width: int) -> Strip:
        if not self.count and self.empty and width > 0:
            lines = Content(with_keys(self, self.empty)).wrap(width)
            if y < len(lines):
                return self._to_strip(lines[y], width, self.get_visual_style("lines--empty"))
        return Strip.blank(width, self.visual_style.rich_style)

    def _to_strip(self, content: Content, width: int, style: Style) -> Strip:
        return to_strip(self, content, width, style)

    # -- keys and mouse --------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        self.go(self.cursor + by)

    def action_page(self, by: int) -> None:
        self.go(self.cursor + by * max(1, self.scrollable_content_region.height - self.heading_rows))

    def action_edge(self, which: int) -> None:
        self.go(0 if which == 0 else self.count - 1)

    def action_choose(self) -> None:
        if self.count:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        index = event.get_content_offset_capture(self).y - self.heading_rows + self.scroll_offset.y
        if not 0 <= index < self.count:
            return
        self.go(index)
        if event.chain == 2:
            self.action_choose()


def fit_cell(text: str, width: int) -> str:
    """Return a text, cut with an ellipsis or padded to `width` cells."""
    return Content(text).truncate(width, ellipsis=True, pad=True).plain


def to_strip(widget: ScrollView, content: Content, width: int, style: Style) -> Strip:
    """Return one line of content, cut or padded to `width`, in the theme's colours."""
    theme = widget.app.theme

    def parsed(span: str | Style) -> Style:
        return _parse_style(theme, span) if isinstance(span, str) else span

    line = content.truncate(width, ellipsis=True, pad=True)
    return Strip([Segment(text, look.rich_style) for text, look in line.render(style, "", parsed)], width)


@lru_cache(maxsize=256)
def _parse_style(theme: str, span: str) -> Style:
    """Parse a style with the theme's variables. The theme is part of the cache key because they change with it."""
    return Style.parse(span)
