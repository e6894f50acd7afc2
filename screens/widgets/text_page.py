"""Text that is read and scrolled: wrapped once for its width, painted line by line, never laid out as widgets."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.key_names import keys_of, with_keys
from screens.theme import ACCENT
from screens.widgets.border_words import write_subtitle
from screens.widgets.lines import MOVE, strip_of
from screens.widgets.wrapping import wrap_content


class TextPage(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows one `Content`; what is shown next begins at its top.

    Its lower border says how much is out of sight and which keys show it, after the `hint` that stands there anyway;
    where it has no border, the end of its last line does, as long as there is more below.
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
        self._broken: dict[int, list[Content]] = {}
        """Its lines in so many columns, for each width that was asked for: each layout asks for them again."""
        self._wrapped: list[Content] = []
        self._width = -1

    @property
    def content(self) -> Content:
        """What is shown now."""
        return self._content

    def show(self, content: Content, *, from_top: bool = True, at: str = "") -> None:
        """Shows other text; the scroll offset is kept where `from_top` is false.

        With `at`, words with their case folded, the first line that holds them is brought into sight.
        """
        before = self._rows
        self._content = content
        self._broken.clear()
        self._wrap()
        if from_top:
            row = next((i for i, line in enumerate(self._wrapped) if at and at in line.plain.casefold()), 0)
            self.scroll_to(y=max(0, row - 2), animate=False)
        if self._rows != before and self.styles.height is not None and self.styles.height.is_auto:
            self.refresh(layout=True)

    @property
    def _rows(self) -> int:
        """How many rows the text takes: an empty one none, though it wraps to a line."""
        return len(self._wrapped) if self._content.plain else 0

    def turn(self, by: int) -> None:
        """Scrolls so many pages on, or back; a line of the last one stays."""
        page = max(1, self.scrollable_content_region.height - 1)
        self.scroll_to(y=self.scroll_offset.y + by * page, animate=False)

    def action_page_up(self) -> None:
        self.turn(-1)

    def action_page_down(self) -> None:
        self.turn(1)

    @property
    def lines_below(self) -> int:
        """How many rows follow below what is seen."""
        return max(0, self.virtual_size.height - self.scroll_offset.y - self.scrollable_content_region.height)

    @property
    def lines_above(self) -> int:
        """How many rows came before what is seen."""
        return self.scroll_offset.y

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The rows of all of it in so many columns."""
        return len(self._lines_in(width)) if self._content.plain else 0

    def _lines_in(self, width: int) -> list[Content]:
        """The text's lines; a column stays free between it and its scrollbar, whether or not there is one yet."""
        columns = max(1, width - 1)
        if columns not in self._broken:
            self._broken[columns] = wrap_content(self._content, columns)
        return self._broken[columns]

    def on_resize(self, event: events.Resize) -> None:
        if self.scrollable_content_region.width != self._width:
            self._wrap()
        self._tell()

    def on_focus(self) -> None:
        self._tell()

    def on_blur(self) -> None:
        self._tell()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._tell()

    @property
    def rest(self) -> str:
        """How much is out of sight, and by which keys it is seen; empty where whoever holds the page says so."""
        if not self.can_focus:
            return ""
        down, up = (keys_of(self, f"page.page_{way}")[0] for way in ("down", "up"))
        there = "" if self.has_focus else "tab, "
        return rest_words((f"{there}{down}", self.lines_below), (up, self.lines_above))

    def _tell(self) -> None:
        if self.styles.border_bottom[0] and self.can_focus:
            write_subtitle(self, "   ".join(filter(None, (with_keys(self, self._hint), self.rest))))

    def _wrap(self) -> None:
        self._width = self.scrollable_content_region.width
        self._wrapped = self._lines_in(self._width) if self._width > 0 else []
        self._set_height(len(self._wrapped))
        self.refresh()
        self._tell()

    def _set_height(self, rows: int) -> None:
        """The screen is laid out anew only where a scrollbar comes or goes, not for every text."""
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
        line, words = self._wrapped[index], self.rest if self._says_in_its_last_line(y) else ""
        if words:
            line = Content.assemble(line.truncate(max(0, width - len(words) - 2), pad=True), "  ", (words, ACCENT))
        return strip_of(self, line, width, self.visual_style)

    def _says_in_its_last_line(self, y: int) -> bool:
        """Whether this row must say that there is more: what it hides of its text is the next page's first line."""
        height = self.scrollable_content_region.height
        return 1 < height == y + 1 and bool(self.lines_below) and not self.styles.border_bottom[0]


class Notice(TextPage):
    """A text that takes the keys only where not all of it is seen: tab goes by it elsewhere."""

    def allow_focus(self) -> bool:
        return super().allow_focus() and bool(self.has_focus or self.lines_below or self.lines_above)


def rest_words(below: tuple[str, int], above: tuple[str, int]) -> str:
    """How many lines are out of sight, each way after the key that shows them; empty where all are seen."""
    parts = [f"{below[0]} ↓ {below[1]} more"] if below[1] else []
    return " · ".join([*parts, *([f"{above[0]} ↑ {above[1]}"] if above[1] else [])])
