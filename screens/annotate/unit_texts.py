"""Panes for a unit's texts, and the collapsible task header above it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize

from screens.annotate.keys import ActiveKeys
from screens.annotate.unit_context import ContextSection, folded_lines, full_content, summary_lines
from screens.widgets.border_words import write_title
from screens.widgets.status_line import StatusLine
from screens.widgets.text_page import TextPage

_FOLDED, _OPEN, _WANTED = 0.3, 0.5, 0.8
"""Maximum parts of the pane's height for the header: folded, unfolded by itself, and unfolded by a key."""


class UnitHeader(Vertical):
    """Header with the instruction, in full if it fits, and a line about the rest. Unfolded, it shows everything."""

    DEFAULT_CSS = """
    UnitHeader { height: auto; }
    UnitHeader > Static { height: auto; padding: 0 1; }
    UnitHeader > TextPage { display: none; }
    UnitHeader.-open > TextPage { display: block; }
    UnitHeader.-open > Static { display: none; }
    """

    def __init__(self) -> None:
        super().__init__(id="told")
        self.line = StatusLine("told-line")
        self.page = TextPage(id="told-page", classes="pane")
        self.page.can_focus = False
        self.page.border_title = "What was asked"
        self.sections: list[ContextSection] = []
        self.pane_height = 24
        """Rows of the pane around the header."""
        self.wanted = False
        """True if a key unfolded it."""
        self._all = False

    def compose(self) -> ComposeResult:
        yield self.line
        yield self.page

    def set_sections(
        self, sections: Sequence[ContextSection], *, unfolded: bool | None = None, all: bool = False
    ) -> None:
        """Show other sections. `unfolded` of None keeps the header as it is. With `all` no section is folded."""
        self.sections, self._all = list(sections), all
        self.display = bool(self.sections)
        if unfolded is not None:
            self.wanted = False
            self.set_class(unfolded, "-open")
        self.page.show(full_content(self.sections))
        self.take_room()

    @property
    def is_open(self) -> bool:
        return self.has_class("-open") and bool(self.sections)

    @property
    def turns(self) -> bool:
        """True if there is anything to fold or unfold."""
        return bool(self.sections) and not self._all

    def turn(self) -> None:
        """Fold or unfold the header."""
        self.toggle_class("-open")
        self.wanted = self.is_open
        self.take_room()

    def on_resize(self, event: Resize) -> None:
        self.take_room()

    def take_room(self, height: int | None = None) -> None:
        """Set the header's height, as a part of the pane's rows."""
        if height is not None:
            self.pane_height = height
        width = self.size.width
        if not width:
            return
        self.line.say(Content("\n").join(self._lines(width - 2)))
        rows = sum(len(line.wrap(max(1, width - 5))) for line in full_content(self.sections).split("\n"))
        part = _WANTED if self.wanted else _OPEN
        self.page.styles.height = min(max(5, round(self.pane_height * part)), rows + 2)

    def _lines(self, width: int) -> list[Content]:
        if self._all:
            return [line for section in self.sections for line in summary_lines(section, width)]
        key = ActiveKeys(self.screen).name("annotate.header") or "w"
        return folded_lines(self.sections, width, max(2, round(self.pane_height * _FOLDED)), key)


class GivenTexts(Horizontal):
    """Texts side by side, or one page if they are read as one."""

    DEFAULT_CSS = """
    GivenTexts { height: 1fr; }
    GivenTexts > TextPage { width: 1fr; height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__(id="laid")
        self.pages = [TextPage(id="laid-left", classes="pane"), TextPage(id="laid-right", classes="pane")]
        for page in self.pages:
            page.can_focus = False

    def compose(self) -> ComposeResult:
        yield from self.pages

    def show_columns(self, columns: Sequence[tuple[str, Content]]) -> None:
        """Show one or two columns, each with its title."""
        for n, page in enumerate(self.pages):
            page.display = n < len(columns)
            title, content = columns[n] if n < len(columns) else ("", Content(""))
            write_title(page, title)
            page.show(content)


def paging_hint(page: TextPage, key: str) -> str:
    """Return how to scroll a page, and its progress, empty if all of it is visible."""
    rows, height = page.virtual_size.height, page.scrollable_content_region.height
    if not 0 < height < rows:
        return ""
    last_row = min(rows, round(page.scroll_offset.y) + height)
    return f"{key}: read on ({last_row} of {rows} lines)"
