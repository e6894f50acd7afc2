"""Scrolling text, wrapped once per width and painted line by line, without a widget per paragraph."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len, get_character_cell_size
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.key_names import keys_of, with_keys
from screens.theme import ACCENT
from screens.widgets.border_words import write_subtitle
from screens.widgets.lines import MOVE, to_strip


class TextPage(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows one `Content`. A new content starts at its top.

    The lower border shows how many lines are out of sight and the keys that show them, after the fixed `hint`. Without
    a border, the end of the last line shows it while there are lines below.
    """

    HELP = """\
# Words

What was thought, done and said in this step. Arrows, **{page.down:j}** and **{page.up:k}** scroll; **{app.zoom}**
gives this pane the whole screen.
"""
    DEFAULT_CSS = """
    TextPage { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False, group=MOVE, id="page.up", tooltip="One line up"),
        Binding("down,j", "scroll_down", "Down", show=False, group=MOVE, id="page.down", tooltip="One line down"),
        Binding("pageup", "page_up", "Page up", show=False, group=MOVE, id="page.page_up", tooltip="One page up"),
        Binding(
            "pagedown", "page_down", "Page down", show=False, group=MOVE, id="page.page_down", tooltip="A page down"
        ),
    ]

    def __init__(self, id: str | None = None, classes: str | None = None, *, hint: str = "") -> None:
        super().__init__(id=id, classes=classes)
        self._hint = hint
        self._content = Content("")
        self._wrapped_by_width: dict[int, list[Content]] = {}
        """Cache of the wrapped lines by width, because every layout asks for them again."""
        self._wrapped: list[Content] = []
        self._width = -1

    @property
    def content(self) -> Content:
        """The current text."""
        return self._content

    def show(self, content: Content, *, from_top: bool = True, at: str = "") -> None:
        """Show another text. Keep the scroll offset if `from_top` is false.

        `at` is text with its case folded: scroll to the first line that holds it.
        """
        before = self._rows
        self._content = content
        self._wrapped_by_width.clear()
        self._wrap()
        if from_top:
            row = next((i for i, line in enumerate(self._wrapped) if at and at in line.plain.casefold()), 0)
            # Two lines of context stay above the match.
            self.scroll_to(y=max(0, row - 2), animate=False)
        if self._rows != before and self.styles.height is not None and self.styles.height.is_auto:
            self.refresh(layout=True)

    @property
    def _rows(self) -> int:
        """Number of rows of the text. An empty text has none, though it wraps to one line."""
        return len(self._wrapped) if self._content.plain else 0

    def scroll_pages(self, by: int) -> None:
        """Scroll by so many pages. One line of the last page stays visible."""
        page = max(1, self.scrollable_content_region.height - 1)
        self.scroll_to(y=self.scroll_offset.y + by * page, animate=False)

    def action_page_up(self) -> None:
        self.scroll_pages(-1)

    def action_page_down(self) -> None:
        self.scroll_pages(1)

    @property
    def lines_below(self) -> int:
        """Number of rows below the visible ones."""
        return max(0, self.virtual_size.height - self.scroll_offset.y - self.scrollable_content_region.height)

    @property
    def lines_above(self) -> int:
        """Number of rows above the visible ones."""
        return self.scroll_offset.y

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows of the whole text at that width."""
        return len(self._wrap_to(width)) if self._content.plain else 0

    def _wrap_to(self, width: int) -> list[Content]:
        """Return the wrapped lines. One column stays free for a scrollbar even if there is none."""
        columns = max(1, width - 1)
        if columns not in self._wrapped_by_width:
            self._wrapped_by_width[columns] = wrap_content(self._content, columns)
        return self._wrapped_by_width[columns]

    def on_resize(self, event: events.Resize) -> None:
        if self.scrollable_content_region.width != self._width:
            self._wrap()
        self._show_rest()

    def on_focus(self) -> None:
        self._show_rest()

    def on_blur(self) -> None:
        self._show_rest()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._show_rest()

    @property
    def rest_words(self) -> str:
        """Number of lines out of sight, and the keys that show them, empty if the parent shows it."""
        if not self.can_focus:
            return ""
        down, up = (keys_of(self, f"page.page_{way}")[0] for way in ("down", "up"))
        prefix = "" if self.has_focus else "tab, "
        return rest_words((f"{prefix}{down}", self.lines_below), (up, self.lines_above))

    def _show_rest(self) -> None:
        if self.styles.border_bottom[0] and self.can_focus:
            write_subtitle(self, "   ".join(filter(None, (with_keys(self, self._hint), self.rest_words))))

    def _wrap(self) -> None:
        self._width = self.scrollable_content_region.width
        self._wrapped = self._wrap_to(self._width) if self._width > 0 else []
        self._set_height(len(self._wrapped))
        self.refresh()
        self._show_rest()

    def _set_height(self, rows: int) -> None:
        """Set the text's height. Lay the screen out anew only if a scrollbar appears or disappears."""
        size = Size(self._width, rows)
        if (rows > self.scrollable_content_region.height) is self.show_vertical_scrollbar:
            self.set_reactive(TextPage.virtual_size, size)
            if self.show_vertical_scrollbar:
                self.vertical_scrollbar.window_virtual_size = rows
        else:
            self.virtual_size = size
            if self.show_vertical_scrollbar:  # where a text fits to the line, no layout takes its scrollbar away
                self._refresh_scrollbars()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        if index >= len(self._wrapped):
            return Strip.blank(width, self.visual_style.rich_style)
        line, words = self._wrapped[index], self.rest_words if self._shows_rest_at(y) else ""
        if words:
            line = Content.assemble(line.truncate(max(0, width - len(words) - 2), pad=True), "  ", (words, ACCENT))
        return to_strip(self, line, width, self.visual_style)

    def _shows_rest_at(self, y: int) -> bool:
        """Return True if this row must show that there is more.

        The text it hides is the first line of the next page.
        """
        height = self.scrollable_content_region.height
        return 1 < height == y + 1 and bool(self.lines_below) and not self.styles.border_bottom[0]


class ScrollableNotice(TextPage):
    """A text that takes the focus only if part of it is out of sight. Tab skips it otherwise."""

    def allow_focus(self) -> bool:
        return super().allow_focus() and bool(self.has_focus or self.lines_below or self.lines_above)


def rest_words(below: tuple[str, int], above: tuple[str, int]) -> str:
    """Format how many lines are out of sight in each direction, with the key that shows them, empty if none."""
    parts = [f"{below[0]} ↓ {below[1]} more"] if below[1] else []
    return " · ".join([*parts, *([f"{above[0]} ↑ {above[1]}"] if above[1] else [])])


_CLOSES = frozenset("、。，．；：！？）》」』】〕”’…—％,.;:!?)]}%")
_OPENS = frozenset("（《「『【〔“‘([{")


def wrap_content(content: Content, width: int) -> list[Content]:
    """Return lines of at most `width` cells, broken at blanks and beside wide characters.

    Textual treats a text without blanks as one long word, and leaves a list's mark before it alone on its line.
    """
    lines: list[Content] = []
    for line in content.split(allow_blank=True):
        if line.plain.isascii() or cell_len(line.plain) == len(line.plain):
            lines += line.wrap(width)
        else:
            lines += [part.rstrip() for part in line.divide(_line_starts(line.plain, width))]
    return lines


def _line_starts(text: str, width: int) -> list[int]:
    """Return the offsets at which the lines of a text begin, except the first."""
    offsets: list[int] = []
    start, last, cells = 0, 0, 0
    at = 0
    while at < len(text):
        if at > start and _may_break(text, at):
            last = at
        cells += get_character_cell_size(text[at])
        if cells > width and text[at] != " " and at > start:
            start = at = last if last > start else at
            offsets.append(start)
            cells = 0
            continue
        at += 1
    return offsets


def _may_break(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if after == " " or after in _CLOSES or before in _OPENS:
        return False
    sizes = get_character_cell_size(before), get_character_cell_size(after)
    return before in " -" or (2 in sizes and 0 not in sizes)  # what has no width belongs to a cluster
