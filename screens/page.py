"""Text that is read and scrolled: wrapped once for its width, painted line by line, never laid out as widgets."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.lines import MOVE, strip_of


class Page(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows one `Content`; what is shown next begins at its top."""

    HELP = """\
# Words

What was thought, done and said in this step. Arrows, `j` and `k` scroll; `+` gives this pane the whole screen.
"""
    DEFAULT_CSS = """
    Page { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False, group=MOVE, id="page.up", tooltip="One line up"),
        Binding("down,j", "scroll_down", "Down", show=False, group=MOVE, id="page.down", tooltip="One line down"),
        Binding("pageup", "page_up", "Page up", show=False, group=MOVE, id="page.page_up", tooltip="One page up"),
        Binding(
            "pagedown", "page_down", "Page down", show=False, group=MOVE, id="page.page_down", tooltip="A page down"
        ),
    ]

    def __init__(self, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._content = Content("")
        self._wrapped: list[Content] = []
        self._width = -1

    @property
    def content(self) -> Content:
        """What is shown now."""
        return self._content

    def show(self, content: Content, *, from_top: bool = True) -> None:
        """Shows other text; the scroll offset is kept where `from_top` is false."""
        self._content = content
        self._wrap()
        if from_top:
            self.scroll_to(y=0, animate=False)

    def on_resize(self, event: events.Resize) -> None:
        if self.scrollable_content_region.width != self._width:
            self._wrap()

    def _wrap(self) -> None:
        self._width = self.scrollable_content_region.width
        # A column stays free between the text and its scrollbar, whether or not there is one yet.
        self._wrapped = self._content.wrap(max(1, self._width - 1)) if self._width > 0 else []
        self._set_height(len(self._wrapped))
        self.refresh()

    def _set_height(self, rows: int) -> None:
        """The screen is laid out anew only where a scrollbar comes or goes, not for every text."""
        size = Size(self._width, rows)
        if (rows > self.scrollable_content_region.height) is self.show_vertical_scrollbar:
            self.set_reactive(Page.virtual_size, size)
            if self.show_vertical_scrollbar:
                self.vertical_scrollbar.window_virtual_size = rows
        else:
            self.virtual_size = size

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        if index >= len(self._wrapped):
            return Strip.blank(width, self.visual_style.rich_style)
        return strip_of(self, self._wrapped[index], width, self.visual_style)
