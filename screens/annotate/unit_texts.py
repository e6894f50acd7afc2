"""What a unit lays out that is no run: its texts in columns; and above, folded or open, what was asked and of whom."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize

from screens.annotate.keys import ActiveKeys
from screens.annotate.unit_context import ContextSection, folded, headed, read
from screens.widgets.border_words import write_title
from screens.widgets.status_line import StatusLine
from screens.widgets.text_page import TextPage

_FOLDED, _OPEN, _WANTED = 0.3, 0.5, 0.8
"""Of the pane's height that what was asked takes at most: folded, unfolded, and unfolded by whoever reads."""


class UnitHeader(Vertical):
    """The instruction, whole where it fits, and what else is known in a line; unfolded, all of it to be read."""

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
        self.most = 24
        """Rows of the pane that it stands in."""
        self.wanted = False
        """Whether it was unfolded by a key."""
        self._all = False

    def compose(self) -> ComposeResult:
        yield self.line
        yield self.page

    def tell(self, sections: Sequence[ContextSection], *, unfolded: bool | None = None, all: bool = False) -> None:
        """Shows other sections; open or folded as before where `unfolded` is None. With `all` none is folded."""
        self.sections, self._all = list(sections), all
        self.display = bool(self.sections)
        if unfolded is not None:
            self.wanted = False
            self.set_class(unfolded, "-open")
        self.page.show(read(self.sections))
        self.take_room()

    @property
    def is_open(self) -> bool:
        return self.has_class("-open") and bool(self.sections)

    @property
    def turns(self) -> bool:
        """Whether there is anything to fold or unfold."""
        return bool(self.sections) and not self._all

    def turn(self) -> None:
        """Folds or unfolds it."""
        self.toggle_class("-open")
        self.wanted = self.is_open
        self.take_room()

    def on_resize(self, event: Resize) -> None:
        self.take_room()

    def take_room(self, height: int | None = None) -> None:
        """Folded it has a part of the pane's rows at most, unfolded a larger one."""
        if height is not None:
            self.most = height
        width = self.size.width
        if not width:
            return
        self.line.say(Content("\n").join(self._lines(width - 2)))
        rows = sum(len(line.wrap(max(1, width - 5))) for line in read(self.sections).split("\n"))
        part = _WANTED if self.wanted else _OPEN
        self.page.styles.height = min(max(5, round(self.most * part)), rows + 2)

    def _lines(self, width: int) -> list[Content]:
        if self._all:
            return [line for section in self.sections for line in headed(section, width)]
        key = ActiveKeys(self.screen).name("annotate.header") or "w"
        return folded(self.sections, width, max(2, round(self.most * _FOLDED)), key)


class GivenTexts(Horizontal):
    """Texts side by side, or one below the other where they are read as one."""

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

    def lay(self, columns: Sequence[tuple[str, Content]]) -> None:
        """Shows one column or two, each under its title."""
        for n, page in enumerate(self.pages):
            page.display = n < len(columns)
            title, content = columns[n] if n < len(columns) else ("", Content(""))
            write_title(page, title)
            page.show(content)


def more_words(page: TextPage, key: str) -> str:
    """How to read on, and how far it is read, where a page holds more than is seen; empty where all of it is."""
    rows, height = page.virtual_size.height, page.scrollable_content_region.height
    if not 0 < height < rows:
        return ""
    last_row = min(rows, round(page.scroll_offset.y) + height)
    return f"{key}: read on ({last_row} of {rows} lines)"
