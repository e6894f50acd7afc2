"""Charts of one rater's pace and drift over their answers in the order given."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from annotators.rater_numbers import RaterNumbers
from lab.core.plain_text import plain
from lab.studies import rater_words
from screens.raters.table import RaterNumbersTable

_LEAST, _MOST = 6, 40
"""Minimum and maximum columns of a bar."""
_BESIDE = 36
"""Columns of the text beside a bar."""
_BARS = "▏▎▍▌▋▊▉█▁▂▃▄▅▆▇"


class Plots(VerticalScroll, can_focus=True):
    """First a sparkline of each, then a bar per stretch with its n."""

    HELP = RaterNumbersTable.HELP

    def __init__(self) -> None:
        super().__init__(id="raters-plots", classes="pane")
        self._rater: RaterNumbers | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="raters-drawn", markup=False)

    def on_mount(self) -> None:
        self.border_title = "Over their answers"

    def show(self, one: RaterNumbers) -> None:
        """Draw a rater from the top."""
        self._rater = one
        self._draw()
        self.scroll_home(animate=False)

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        if self._rater is not None:
            self.query_one("#raters-drawn", Static).update(
                Content("\n").join(map(_color_bars, self._chart_lines(self._rater)))
            )

    def _chart_lines(self, one: RaterNumbers) -> list[str]:
        width = min(_MOST, max(_LEAST, self.size.width - _BESIDE))
        short = [rater_words.spark("pace", one.pace, "s"), rater_words.spark("as the rest", one.along, "%")]
        pace = rater_words.stretch_lines("pace", one.pace, "s", width) or [rater_words.pace_words(one)]
        along = rater_words.stretch_lines("as the rest", one.along, "%", width) or ["too few answers to see a drift"]
        return [*filter(None, short), *rater_words.streak_words(one), "", *pace, "", *along]


def _color_bars(line: str) -> Content:
    """Return a line with its bars in the accent colour."""
    return Content.assemble(*((mark, "$accent" if mark in _BARS else "") for mark in plain(line, lines=False)))
