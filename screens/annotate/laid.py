"""What a unit lays out that is no run: its texts in columns; and above, folded or open, what was asked and of whom."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from screens.annotate.told import Section, folded, read
from screens.page import Page

_PART = 0.5
"""Of the pane's height that the unfolded head takes at most."""


class Header(Vertical):
    """The instruction in a line or two, and what else is known in another; unfolded, all of it to be read."""

    DEFAULT_CSS = """
    Header { height: auto; }
    Header > Static { height: auto; padding: 0 1; }
    Header > Page { display: none; }
    Header.-open > Page { display: block; }
    Header.-open > Static { display: none; }
    """

    def __init__(self) -> None:
        super().__init__(id="told")
        self.line = Static("", markup=False, id="told-line")
        self.page = Page(id="told-page", classes="pane")
        self.page.can_focus = False
        self.page.border_title = "What was asked"
        self.sections: list[Section] = []
        self.most = 12
        """Rows that it may take when it is open."""

    def compose(self) -> ComposeResult:
        yield self.line
        yield self.page

    def tell(self, sections: Sequence[Section], *, unfolded: bool | None = None) -> None:
        """Shows other sections; open or folded as before where `unfolded` is None."""
        self.sections = list(sections)
        self.display = bool(self.sections)
        if unfolded is not None:
            self.set_class(unfolded, "-open")
        self.page.show(read(self.sections))
        self.take_room()

    @property
    def is_open(self) -> bool:
        return self.has_class("-open") and bool(self.sections)

    def turn(self) -> None:
        """Folds or unfolds it."""
        self.toggle_class("-open")
        self.take_room()

    def on_resize(self, event: Resize) -> None:
        self.take_room()

    def take_room(self, height: int | None = None) -> None:
        """Two lines for what was asked where there is room, and of the pane's height no more than a part."""
        if height is not None:
            self.most = max(5, round(height * _PART))
        width = self.size.width
        if not width:
            return
        lines = folded(self.sections, width - 2, 1 if self.screen.has_class("-short") else 2)
        self.line.update(Content("\n").join(lines))
        rows = sum(len(line.wrap(max(1, width - 5))) for line in read(self.sections).split("\n"))
        self.page.styles.height = min(self.most, rows + 2)


class Texts(Horizontal):
    """Texts side by side, or one below the other where they are read as one."""

    DEFAULT_CSS = """
    Texts { height: 1fr; }
    Texts > Page { width: 1fr; height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__(id="laid")
        self.pages = [Page(id="laid-left", classes="pane"), Page(id="laid-right", classes="pane")]
        for page in self.pages:
            page.can_focus = False

    def compose(self) -> ComposeResult:
        yield from self.pages

    def lay(self, columns: Sequence[tuple[str, Content]]) -> None:
        """Shows one column or two, each under its title."""
        for n, page in enumerate(self.pages):
            page.display = n < len(columns)
            title, content = columns[n] if n < len(columns) else ("", Content(""))
            page.border_title = title
            page.show(content)

    def scroll_pages(self, by: int) -> None:
        """Both columns go down or up together."""
        for page in self.pages:
            turn_pages(page, by)


def turn_pages(page: Page, by: int) -> None:
    """Scrolls what is read by so many pages, a line of the last one kept."""
    step = max(1, page.scrollable_content_region.height - 1)
    page.scroll_to(y=page.scroll_offset.y + by * step, animate=False)
