"""Numbers below one another, each drawn with its interval on one common scale; fields by statistics, or rater pairs."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from lab.agreement import Agreement
from lab.drawing import DASH, FIRST, LAST, OFF_LEFT, OFF_RIGHT, POINT, interval_bar, scale
from screens.agreement.rows import PEOPLE, ends_of, on_scale, short
from screens.agreement.words import (
    interval_words,
    landis_words,
    missing_words,
    name_of,
    statistic_words,
    undefined_words,
    value_words,
)
from screens.describe import one_line
from screens.lines import Lines
from screens.shelves import MUTED, Column, cell

_BAR = 10
"""Least columns of a bar; where there are fewer there is none."""
_DRAWN = (DASH, FIRST, LAST, POINT, OFF_LEFT, OFF_RIGHT)
_FIELDS: dict[str, Column] = {
    "name": Column("asked", 14, 0, share=4),
    "statistic": Column("statistic", 16, 0, share=5),
    "value": Column("value", 7, 0, right=True),
    "bar": Column("", 0, 0),
    "interval": Column("interval", 14, 66),
    "words": Column("Landis and Koch", 29, 126),
    "n": Column("n", 7, 90, right=True),
    "traces": Column("runs", 6, 140, right=True),
    "raters": Column("raters", 6, 140, right=True),
    "missing": Column("missing", 8, 140, right=True),
}
_PAIRS: dict[str, Column] = {
    "name": Column("raters", 12, 0, share=3),
    "value": Column("value", 6, 0, right=True),
    "bar": Column("", 0, 0),
    "interval": Column("interval", 14, 44),
    "percent": Column("same", 7, 60, right=True),
    "n": Column("n", 7, 60, right=True),
}


class Numbers(Lines):
    """Numbers, one a line. A subclass says which columns there are."""

    heading_rows = 1
    columns: dict[str, Column] = _FIELDS

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.rows: list[Agreement] = []
        self.ends = (0.0, 1.0)
        self._needed = dict.fromkeys(_AS_NEEDED, 0)

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def current(self) -> Agreement | None:
        """The number under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def show(self, rows: Sequence[Agreement]) -> None:
        """Shows others; the cursor stays on the number it was on, where that is still there."""
        before = _key(self.current)
        self.rows = list(rows)
        self.ends = ends_of(self.rows)
        self.measure()
        self.changed()
        self.go(next((at for at, one in enumerate(self.rows) if _key(one) == before), 0))

    def widths(self, width: int) -> dict[str, Column]:
        """The columns of a table of that width; the bar gets what is left."""
        found = {name: self._titled(name).at(width) for name, column in self.columns.items() if width >= column.least}
        for name in found.keys() & _AS_NEEDED:
            found[name] = found[name]._replace(width=min(found[name].width, self._needed[name]))
        if found.get("words", _GONE).width == 0:
            del found["words"]
        rest = width - sum(column.width for column in found.values()) - 2 * (len(found) - 1)
        if rest < _BAR:
            del found["bar"]
        else:
            found["bar"] = Column(scale(rest, *self.ends), rest, 0)
        return found

    def measure(self) -> None:
        """Finds how wide each column has to be."""
        self._needed = {name: self._most(name) for name in _AS_NEEDED}

    def _most(self, name: str) -> int:
        """Columns that the longest of what stands in a column takes, and its title; 0 where nothing does."""
        words = {self.said(name, one, at, 0) for at, one in enumerate(self.rows)} - {""}
        title = self._titled(name).title
        return max((Content(word).cell_length for word in (*words, title)), default=0) if words else 0

    def _titled(self, name: str) -> Column:
        """A column; of what intervals are made over, called by what that is here: runs, tasks, users."""
        column = self.columns.get(name, _GONE)
        return column._replace(title=f"{self.rows[0].clusters}s") if name == "traces" and self.rows else column

    def heading(self, width: int) -> Content:
        return Content("  ".join(cell(column.title, column) for column in self.widths(width).values()))

    def paint(self, index: int, width: int) -> Content:
        one = self.rows[index]
        columns = self.widths(width)
        if one.value is None:
            return self._undefined(one, index, columns, width)
        parts = []
        for name, column in columns.items():
            text = cell(self.said(name, one, index, column.width), column)
            parts.append(_bar(text) if name == "bar" else Content.styled(text, _STYLE.get(name, "")))
        return Content("  ").join(parts)

    def _undefined(self, one: Agreement, index: int, columns: dict[str, Column], width: int) -> Content:
        """Where there is no value the reason takes the place of bar and interval."""
        before = [cell(self.said(name, one, index, column.width), column)
                  for name, column in columns.items() if name in ("name", "statistic")]  # fmt: skip
        rest = width - sum(map(len, before)) - 2 * len(before)
        why = cell(undefined_words(one), Column("", max(0, rest), 0))
        return Content.assemble(("  ".join([*before, ""]), ""), (why, MUTED))

    def said(self, name: str, one: Agreement, index: int, width: int) -> str:
        """What stands in a column."""
        match name:
            case "name":
                return self._asked(one, index, width) if width else self._named(one)
            case "statistic":
                return statistic_words(one)
            case "value":
                return value_words(one)
            case "bar":
                return interval_bar(one.value, one.low, one.high, width, *self.ends) if on_scale(one) else ""
            case "interval":
                return interval_words(one)
            case "words":
                return landis_words(one)
            case "n":
                return f"{one.places:,}"
            case "traces":
                return f"{one.traces:,}"
            case "raters":
                return str(one.raters)
            case "missing":
                return missing_words(one)
        return ""

    def _asked(self, one: Agreement, index: int, width: int) -> str:
        """A field is named where it begins, and in the first line that is seen.

        Where there is no room for whose answers they are behind it, that stands in the field's second line.
        """
        named = self._named(one)
        begins, goes_on = not self._alike(index, index - 1), self._alike(index, index + 1)
        split = one.between != PEOPLE and self._needed["name"] > width and (goes_on or not begins)
        if split and not begins and not self._alike(index, index - 2):
            return f"  {one_line(short(one.between))}"
        if not begins and index not in (round(self.scroll_offset.y), self.cursor):
            return ""
        return name_of(one) if split else named

    def _alike(self, one: int, other: int) -> bool:
        """Whether two lines are of the same answers to the same question."""
        there = 0 <= other < len(self.rows)
        return there and self._named(self.rows[one]) == self._named(self.rows[other])

    def _named(self, one: Agreement) -> str:
        return name_of(one) if one.between == PEOPLE else f"{name_of(one)} · {one_line(short(one.between))}"


class Fields(Numbers):
    """What was asked, by statistic."""

    HELP = """\
# Agreement

How far those who answered agree, one line for each thing that was asked and each statistic. The point is the value,
the bar around it the interval, all on the scale above; the interval is made over runs, never over single items, which
would make it too narrow. What is undefined says why. Beside an interval stand the words of Landis and Koch for both its
ends. The line below says all of the number under the cursor: its n, runs, raters, and what is missing.

**Enter** lists the items on which not all said the same; **Enter** on one of them replays the run where it was judged.

- `d` shows one part alone: before or after what follows from the answers, or one kind of item.
- `p` turns from the people among themselves to models and scripts against what most people say.
- `s` shows one statistic for everything that was asked, `S` goes back.
- `b` makes the intervals by resampling runs in place of leaving one out, and back.
- `w` says how many runs a narrower interval would take. `r` recounts what came in since. `y` copies the number.
"""
    empty = "Reading ..."


class Pairs(Numbers):
    """The same statistic for each two raters, or for each model or script against most people."""

    HELP = """\
# Rater pairs

Kappa (or what stands for it) for each two raters, or for each model or script against what most people say. The
grid beside it is of the pair under the cursor, of all pairs on the first line. **Enter** lists the items on which these
two differ.
"""
    columns = _PAIRS
    empty = ""

    def __init__(self, id: str) -> None:
        super().__init__(id)
        self.percent: dict[str, Agreement] = {}

    def _asked(self, one: Agreement, index: int, width: int) -> str:
        return self._named(one)

    def _named(self, one: Agreement) -> str:
        return "all" if one.between == PEOPLE else one_line(short(one.between))

    def said(self, name: str, one: Agreement, index: int, width: int) -> str:
        if name == "percent":
            same = self.percent.get(one.between)
            return value_words(same) if same is not None else "-"
        return super().said(name, one, index, width)


def _bar(text: str) -> Content:
    """The scale behind an interval is dim."""
    return Content.assemble(*((mark, "$text-accent" if mark in _DRAWN else MUTED) for mark in text))


_AS_NEEDED = ("name", "statistic", "value", "interval", "words", "n", "traces", "missing")
"""Columns that are no wider than what stands in them."""
_GONE = Column("", 1, 0)
_STYLE = {"name": "", "interval": MUTED, "words": MUTED, "raters": MUTED, "missing": MUTED}


def _key(one: Agreement | None) -> tuple[str, str, str, str] | None:
    return (one.field, one.part, one.between, one.statistic) if one is not None else None
