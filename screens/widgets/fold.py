"""A heading that folds and unfolds its body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.console import Group
from rich.padding import Padding
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

_NOTHING = Text()


class Fold(Static, can_focus=True):
    """One line `▸ title  summary`, or `▾ title` with the body beneath.

    The caller has passed title and summary through `plain`. Neither they nor the body are parsed as markup.
    """

    HELP = """
    A part of what is pinned here. **{fold.toggle}** or a click opens and closes it; **{seat.above} {seat.below}** go to
    the part above or below, and read a long one line by line, **{seat.page_up} {seat.page_down}** page by page.
    **{app.zoom}** shows all of them alone.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "turn", "Open", show=False, id="fold.toggle", tooltip="Open or close this part"),
    ]
    DEFAULT_CSS = """
    Fold { height: auto; width: 1fr; }
    Fold.-folded { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    @dataclass
    class Toggled(Message):
        """Message: the fold was opened or closed."""

        fold: Fold

    folded: reactive[bool] = reactive(True, layout=True, toggle_class="-folded")

    def __init__(
        self,
        title: str,
        summary: str = "",
        body: Text | Group = _NOTHING,
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(markup=False, id=id, classes=classes)
        self._title = title
        self._summary = summary
        self._body: Text | Group = body

    def set_body(self, summary: str, body: Text | Group) -> None:
        """Replace the summary and the body under the heading."""
        self._summary, self._body = summary, body
        self.refresh(layout=True)

    def render(self) -> Text | Group:
        heading = Text()
        heading.append("▸ " if self.folded else "▾ ")
        heading.append(self._title, style="bold")
        if self.folded:
            heading.append(f"  {self._summary}".replace("\n", " "), style="dim")
            return heading
        return Group(heading, Padding(self._body, (0, 0, 0, 2))) if self._body else heading

    def watch_folded(self) -> None:
        self.post_message(self.Toggled(self))

    def action_turn(self) -> None:
        self.folded = not self.folded

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_turn()
