"""Raters below one another, and one rater's numbers below one another, each with its interval and n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content

from annotators.rater_numbers import RaterNumbers
from lab.drawing import interval_bar, scale
from lab.rounded import rounded
from screens.describe import one_line
from screens.lines import Lines
from screens.raters.words import Line, interval_words, lines_of, n_words, value_words
from screens.shelves import MUTED, Column, cell

_COLUMNS: dict[str, Column] = {
    "rater": Column("rater", 24, 0),
    "done": Column("handed in", 9, 0, right=True),
    "pace": Column("s each", 6, 0, right=True),
    "rest": Column("as the rest", 11, 0, right=True),
    "bar": Column("", 20, 164),
    "interval": Column("interval", 13, 92),
    "n": Column("n", 6, 64, right=True),
    "drift": Column("drift", 6, 0, right=True),
    "gold": Column("as gold", 7, 0, right=True),
    "before": Column("as before", 9, 106, right=True),
    "again": Column("again", 7, 142, right=True),
    "missing": Column("missing", 7, 84, right=True),
    "longest": Column("same in a row", 13, 130, right=True),
}
_ONE: dict[str, Column] = {
    "name": Column("number", 24, 0, share=4),
    "value": Column("value", 12, 0, right=True),
    "bar": Column("", 16, 120),
    "interval": Column("interval", 16, 0, share=3),
    "n": Column("n", 14, 74, right=True),
    "beside": Column("beside", 20, 110, share=4),
}
_ROOMY = 96
"""Columns from which on the n of a number says its runs, too."""


class Raters(Lines):
    """Raters, one a line: people by their codes, then judges."""

    HELP = """\
# Raters

Each rater by themselves, people first, then models and scripts. **Enter** opens one: every number with its interval
and n, pace and drift over their answers, and which of their answers come with which of the rest.

- *handed in*: items, of those dealt. *s each*: the median of the seconds that an answer took.
- *as the rest*: the share of answers that are what more than half of the other people say. The bar and the interval
  are over runs. *drift* is that share in the second half of their answers minus that in the first, in points.
- *as gold*: the share of calibration answers that are right.
- *as before*: how much more often an answer is the same as the one to the item before than their own habits make it, in
  points. Items come in an order of their own to each rater, so that it should be about 0.
- *again*: the share of answers that are the same when an item came twice. *missing*: answers that were left out.
- *same in a row*: the longest row of one and the same answer.

A dash: there is no such number; the line below says why. `r` recounts what came in since, `y` copies the line below.
"""
    heading_rows = 1
    empty = "Reading ..."

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.rows: list[RaterNumbers] = []

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def current(self) -> RaterNumbers | None:
        """The rater under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def show(self, rows: Sequence[RaterNumbers]) -> None:
        """Shows others; the cursor stays on the rater it was on."""
        before = self.current
        self.rows = list(rows)
        self.changed()
        key = (before.kind, before.rater) if before is not None else None
        self.go(next((at for at, one in enumerate(self.rows) if (one.kind, one.rater) == key), 0))

    def columns(self, width: int) -> dict[str, Column]:
        """The columns of a table of that width."""
        found = {name: column for name, column in _COLUMNS.items() if width >= column.least}
        longest = max((Content(self.said("rater", one)).cell_length for one in self.rows), default=0)
        others = sum(column.width + 2 for name, column in found.items() if name != "rater")
        found["rater"] = found["rater"]._replace(width=max(5, min(longest, 24, width - others)))
        return found

    def heading(self, width: int) -> Content:
        shown = self.columns(width)
        titles = {name: scale(column.width) if name == "bar" else column.title for name, column in shown.items()}
        return Content("  ".join(cell(titles[name], column) for name, column in shown.items()))

    def paint(self, index: int, width: int) -> Content:
        one = self.rows[index]
        parts = []
        for name, column in self.columns(width).items():
            said = interval_bar(one.rest.value, one.rest.low, one.rest.high, column.width) if name == "bar" else ""
            text = cell(said or self.said(name, one), column)
            parts.append(Content.styled(text, _STYLE.get(name, "")))
        return Content("  ").join(parts)

    def said(self, name: str, one: RaterNumbers) -> str:
        """What stands in a column."""
        match name:
            case "rater":
                return one_line(one.rater, 40) + (" (judge)" if one.kind == "judge" else "")
            case "done":
                return f"{one.done:,}/{one.dealt:,}" if one.dealt else "-"
            case "pace":
                return rounded(one.seconds, 1) if one.seconds is not None else "-"
            case "rest":
                return value_words(Line("", one.rest))
            case "interval":
                return interval_words(Line("", one.rest)) if one.rest.low is not None else "-"
            case "n":
                return f"{one.rest.places:,}"
            case "drift":
                return _points(Line("", one.drift, True))
            case "gold":
                return value_words(Line("", one.gold))
            case "before":
                return _points(Line("", one.before, True))
            case "again":
                return value_words(Line("", one.again))
            case "missing":
                return value_words(Line("", one.missing))
            case "longest":
                return f"{one.longest.length:,} of {one.longest.of:,}" if one.longest is not None else "-"
        return ""


class One(Lines):
    """One rater's numbers."""

    HELP = """\
# One rater

Every number of this rater with its interval over runs and its n; where there is no interval, or no number at all, the
line says why. Beneath stand their pace and how far they agree with the rest, over their answers in the order in which
they gave them, and how often which of their answers came with which of the rest. `[` and `]` go to the rater before and
after, **Esc** back to all.
"""
    heading_rows = 1

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.rows: list[Line] = []

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def current(self) -> Line | None:
        """The number under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def show(self, one: RaterNumbers, shown: Mapping[str, str]) -> None:
        """Shows a rater; the cursor stays in its line."""
        self.rows = lines_of(one, shown)
        self.changed()
        self.refresh()

    def columns(self, width: int) -> dict[str, Column]:
        """The columns of a table of that width; what is left goes to the interval."""
        found = {name: column.at(width) for name, column in _ONE.items() if width >= column.least}
        counts = (n_words(line.number) if width >= _ROOMY else f"{line.number.places:,}" for line in self.rows)
        if "n" in found:
            found["n"] = found["n"]._replace(width=max(map(len, counts), default=1))
        rest = width - sum(column.width for column in found.values()) - 2 * (len(found) - 1)
        found["interval"] = found["interval"]._replace(width=max(8, found["interval"].width + rest))
        return found

    def heading(self, width: int) -> Content:
        shown = self.columns(width)
        titles = {name: scale(column.width) if name == "bar" else column.title for name, column in shown.items()}
        return Content("  ".join(cell(titles[name], column) for name, column in shown.items()))

    def paint(self, index: int, width: int) -> Content:
        line = self.rows[index]
        one = line.number
        said = {
            "name": one_line(line.name, 80), "value": value_words(line), "interval": interval_words(line),
            "n": n_words(one) if width >= _ROOMY else f"{one.places:,}", "beside": one_line(line.beside),
        }  # fmt: skip
        parts = []
        for name, column in self.columns(width).items():
            text = said.get(name, "")
            if name == "bar" and line.share and not line.points:
                text = interval_bar(one.value, one.low, one.high, column.width)
            parts.append(Content.styled(cell(text, column), _STYLE.get(name, "")))
        return Content("  ").join(parts)


def _points(line: Line) -> str:
    return value_words(line).removesuffix(" points")


_STYLE = {"bar": "$text-accent", "interval": MUTED, "n": MUTED, "beside": MUTED, "missing": MUTED}
