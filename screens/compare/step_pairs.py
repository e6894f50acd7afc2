"""The aligned steps of two runs as one list."""

from __future__ import annotations

from textual.content import Content

from lab.runs.comparison import RunComparison, Side, sign_of
from lab.runs.descriptions import one_line
from screens.theme import HEADING, MUTED
from screens.widgets.lines import LineList

_BAR = " │ "
_GUTTER = 3


class StepPairs(LineList):
    """One line per pair. The first difference has an arrow of its own."""

    HELP = """\
# Compare

Two runs side by side: steps that answer one another stand in one line. **=** both did the same, **≠** they did not,
**←** only the left run has this step, **→** only the right one. **►** is where they first differ.

Two taps are the same on the same name, or, without names, within 4 % of the screen; two texts where their words are;
two scrolls in the same direction; two questions only where the answers are the same, too.

**{compare.next}** and **{compare.previous}** go from difference to difference, **{compare.first}** to the first;
**{list.open}** replays the left run at this step, **{compare.right}** the right one, and **{replay.back}** comes back
from there; **{compare.swap}** swaps the sides, **{compare.after}** shows the screens after the step.
"""
    heading_rows = 1
    empty = "Reading the two runs ..."

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.compared: RunComparison | None = None

    @property
    def count(self) -> int:
        return len(self.compared.pairs) if self.compared is not None else 0

    def heading(self, width: int) -> Content:
        if self.compared is None:
            return Content("")
        return Content(
            self._format_cells(width, "", "left: " + self.compared.left.name, "right: " + self.compared.right.name)
        )

    def paint(self, index: int, width: int) -> Content:
        assert self.compared is not None
        pair, sign = self.compared.pairs[index], sign_of(self.compared, index)
        first = "►" if index == self.compared.first else " "
        left = self._step_words(pair.left, self.compared.left, self.compared.words(index)[0])
        right = self._step_words(pair.right, self.compared.right, self.compared.words(index)[1])
        style = MUTED if pair.same else HEADING if first != " " else ""
        return Content.assemble((self._format_cells(width, first + sign, left, right), style))

    def _step_words(self, place: int | None, side: Side, words: str) -> str:
        """Return a step's number, from 1, and its words. The end has no number."""
        number = "" if place is None or place >= side.steps else str(place + 1)
        return f"{number:>{len(str(self.count))}} {one_line(words)}"

    def _format_cells(self, width: int, sign: str, left: str, right: str) -> str:
        half = max(8, (width - _GUTTER - len(_BAR)) // 2)
        return _fit_cell(sign, _GUTTER) + _fit_cell(left, half) + _BAR + _fit_cell(right, half)


def _fit_cell(text: str, width: int) -> str:
    content = Content(text).truncate(width, ellipsis=True)
    return content.plain + " " * max(0, width - content.cell_length)
