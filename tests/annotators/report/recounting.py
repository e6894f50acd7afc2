"""Papers' tables worked out anew from what `hitlab labels list --json` prints, with arithmetic of their own.

Nothing here is imported from the program but its command line: items are rows, a statistic is a function over rows, and
an interval leaves out one cluster's rows after the other.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from math import cbrt, exp, log, sqrt
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Any, NamedTuple

import numpy as np
import pytest

from lab.cli.main import main
from tests.loaded_late import LoadedLate

stats = LoadedLate("scipy.stats")

Cell = Mapping[str, Any]
NO_VOICE = ("not_handed_in", "not_rated", "unanswered")
"""Reasons that nobody gave."""


class Lab:
    """A file with studies that are answered, shown and reported by commands alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / "lab.db"
        self._given = 0

    def hitlab(self, *args: str, ends: int = 0) -> str:
        """What a command prints; it must end with that code."""
        out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([*args, "--db", str(self.db)])
        text = out.buffer.getvalue().decode()
        assert code == ends, (args, text[-2000:], err.getvalue())
        return text

    def json(self, *args: str) -> Any:
        """What a command prints as JSON."""
        return json.loads(self.hitlab(*args, "--json"))

    def label(self, study: str, rater: str, rows: Iterable[Mapping[str, Any]], run: int = 1) -> None:
        """Rows of answers by `hitlab labels add`; a rater with a `:` is a model."""
        self._given += 1
        path = self.folder / f"rows-{self._given}.jsonl"
        path.write_text("\n".join(json.dumps({"run": run, **row}) for row in rows), encoding="utf-8")
        who = ["--kind", "model", "--config", "a prompt"] if ":" in rater else []
        self.hitlab("label", study, str(path), "--as", rater, *who)

    def answers(self, study: str) -> Answers:
        """The answers that stand."""
        return Answers(self.json("labels", study)["labels"])

    def tables(self, study: str, *beside: str) -> dict[str, Table]:
        """A report's tables by their ids."""
        report = self.json("report", study, *(word for name in beside for word in ("--with", name)))
        found = [table for section in report["sections"] for table in section.get("tables", ())]
        return {table["id"]: Table(table["columns"], table["rows"]) for table in found}


class Table(NamedTuple):
    """A table of a report as it is printed in JSON."""

    columns: list[str]
    rows: list[list[Any]]

    def row(self, first: str) -> dict[str, Any]:
        """A row by its first cell, as cells by column."""
        (found,) = [row for row in self.rows if row[0] == first]
        return dict(zip(self.columns, found, strict=True))


class Answers:
    """Answers by unit, target, field, rater and run: (value, reason), (step), and who handed what in."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        stands = [row for row in rows if row["current"] and (row["handed_in"] or row["kind"] != "human")]
        key = ("unit", "target", "field", "rater", "run")
        self.of = {tuple(row[name] for name in key): (row["value"], row["missing"]) for row in stands}
        self.step = {tuple(row[name] for name in key): row["step"] for row in stands}
        self.sheets = {(row["unit"], row["rater"], row["run"]) for row in stands}

    def at(self, unit: str, target: str, field: str, rater: str, run: int = 1, *, flag: bool = False) -> Said:
        """What a rater was to say there: a value, or why there is none."""
        value, reason = self.of.get((unit, target, field, rater, run), (None, None))
        if value is None and reason is None:
            if ":" in rater:
                return Said(None, "not_rated")
            handed = (unit, rater, run) in self.sheets
            return Said("no") if flag and handed else Said(None, "unanswered" if handed else "not_handed_in")
        if flag and value is not None:
            return Said("yes" if value else "no")
        return Said(value, reason or "")


class Said(NamedTuple):
    """An answer, or the reason for having none; neither where none was to be given."""

    value: Any
    why: str = ""

    @property
    def voice(self) -> bool:
        """Whether its rater spoke, be it to say why they cannot answer."""
        return self.value is not None or (self.why != "" and self.why not in NO_VOICE)


class Row(NamedTuple):
    """One item: where it is, and what each column says."""

    unit: str
    target: str
    cluster: str
    said: tuple[Said, ...]

    @property
    def values(self) -> list[Any]:
        return [one.value for one in self.said if one.value is not None]


Rows = Sequence[Row]
Statistic = Callable[[Sequence[Row]], float | None]


# -- truths ----------------------------------------------------------------------------------------------------


def most(said: Sequence[Said]) -> Any:
    """What more than half of those say that say anything; None where nothing is."""
    voices = sum(one.voice for one in said)
    counts = Counter(one.value for one in said if one.value is not None)
    return next((value for value, many in counts.items() if 2 * many > voices), None)


def beside_truth(people: Rows, other: Mapping[tuple[str, str], Said], settled: Mapping[Any, Any] = {}) -> list[Row]:
    """Truth and another rater at each item that anybody rated; an item that lacks one of them lacks both."""
    found = []
    for row in people:
        if not row.values:
            continue
        truth = settled.get((row.unit, row.target), most(row.said))
        own = other[row.unit, row.target]
        if truth is None:
            two = (Said(None, "no_majority"), Said(None))
        elif own.value is None:
            two = (Said(None, own.why or "not_rated"), Said(None))
        else:
            two = (Said(truth), own)
        found.append(row._replace(said=two))
    return found


# -- coefficients ----------------------------------------------------------------------------------------------


def pairs_agree(rows: Rows) -> float | None:
    """The mean over items of the share of pairs of raters that say the same."""
    found = [fmean(a == b for a, b in combinations(row.values, 2)) for row in rows if len(row.values) > 1]
    return fmean(found) if found else None


def all_agree(rows: Rows) -> float | None:
    """The share of items at which all say the same."""
    found = [len(set(row.values)) == 1 for row in rows if len(row.values) > 1]
    return fmean(found) if found else None


def _margin(rows: Rows) -> Counter[Any]:
    """The mean over items of the shares of what was said there."""
    rated = [row.values for row in rows if row.values]
    total: Counter[Any] = Counter()
    for values in rated:
        for value in values:
            total[value] += 1 / len(values) / len(rated)  # type: ignore[assignment]
    return total


def _beyond(observed: float | None, chance: float) -> float | None:
    return None if observed is None or 1 - chance < 1e-12 else (observed - chance) / (1 - chance)


def fleiss(rows: Rows) -> float | None:
    """Fleiss' kappa; where answers are missing, as Gwet has it."""
    return _beyond(pairs_agree(rows), sum(share**2 for share in _margin(rows).values()))


def ac1(categories: int) -> Statistic:
    """Gwet's AC1 over so many declared answers."""

    def of(rows: Rows) -> float | None:
        chance = sum(share * (1 - share) for share in _margin(rows).values()) / (categories - 1)
        return _beyond(pairs_agree(rows), chance)

    return of


def cohen(rows: Rows) -> float | None:
    """Cohen's kappa of two columns."""
    both = [row.values for row in rows if len(row.values) == 2]
    if not both:
        return None
    one, other = (Counter(values[at] for values in both) for at in (0, 1))
    chance = sum(one[value] * other[value] for value in one) / len(both) ** 2
    return _beyond(fmean(a == b for a, b in both), chance)


def alpha(rows: Rows, apart: Callable[[Any, Any], float] = lambda a, b: float(a != b)) -> float | None:
    """Krippendorff's alpha by its definition: pairs within items over pairs of all answers."""
    rated = [row.values for row in rows if len(row.values) > 1]
    every = [value for values in rated for value in values]
    if len(every) < 2:
        return None
    within = sum(2 * sum(apart(a, b) for a, b in combinations(v, 2)) / (len(v) - 1) for v in rated) / len(every)
    chance = 2 * sum(apart(a, b) for a, b in combinations(every, 2)) / (len(every) * (len(every) - 1))
    return 1 - within / chance if chance > 1e-12 else None


class Judged:
    """Accuracy, precision, recall or F1 of the second column against the first."""

    def __init__(self, what: str, positive: str) -> None:
        self.what = what
        self.positive = positive

    def shares(self, rows: Rows) -> tuple[int, int]:
        """How many are so, of how many."""
        both = [row.values for row in rows if len(row.values) == 2]
        hit = sum(truth == own == self.positive for truth, own in both)
        yes, said = (sum(values[at] == self.positive for values in both) for at in (0, 1))
        return {
            "accuracy": (sum(truth == own for truth, own in both), len(both)),
            "precision": (hit, said), "recall": (hit, yes), "f1": (2 * hit, yes + said),
        }[self.what]  # fmt: skip

    def __call__(self, rows: Rows, /) -> float | None:
        above, below = self.shares(rows)
        return above / below if below else None


def mean(rows: Rows) -> float | None:
    """The mean of items' single values."""
    values = [row.values[0] for row in rows if row.values]
    return fmean(values) if values else None


def of_two(measure: Callable[[Sequence[tuple[float, float]]], float | None]) -> Statistic:
    """A measure of two columns over the items at which both stand."""
    return lambda rows: measure([(row.values[0], row.values[1]) for row in rows if len(row.values) == 2])


def icc(form: str, columns: int) -> Statistic:
    """McGraw and Wong's ICC(A,1) or ICC(A,k) over items that all rated."""

    def of(rows: Rows) -> float | None:
        table = [row.values for row in rows if len(row.values) == columns]
        n, k = len(table), columns
        if n < 2:
            return None
        grand = fmean(value for row in table for value in row)
        of_rows = k * sum((fmean(row) - grand) ** 2 for row in table) / (n - 1)
        of_columns = n * sum((fmean(row[at] for row in table) - grand) ** 2 for at in range(k)) / (k - 1)
        total = sum((value - grand) ** 2 for row in table for value in row)
        rest = max(0.0, total - of_rows * (n - 1) - of_columns * (k - 1)) / ((n - 1) * (k - 1))
        below = of_rows + (of_columns - rest) / n if form == "A,k" else (
            of_rows + (k - 1) * rest + k * (of_columns - rest) / n
        )  # fmt: skip
        return (of_rows - rest) / below if total > 1e-12 and abs(below) > 1e-12 else None

    return of


# -- intervals -------------------------------------------------------------------------------------------------


def wilson(right: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval."""
    z = NormalDist().inv_cdf(0.975)
    middle, half = (right + z * z / 2) / (of + z * z), z * sqrt(right * (of - right) / of + z * z / 4) / (of + z * z)
    return max(0.0, middle - half), min(1.0, middle + half)


def jackknife(rows: Rows, of: Statistic, upper: float | None, least: float | None, needs: int) -> Any:
    """The 95 % jackknife-t over clusters on the log of the distance from `upper`, freed of skewness; None: no interval.

    `needs` is how many must have answered an item for its cluster to add anything.
    """
    clusters = list(dict.fromkeys(row.cluster for row in rows if len(row.values) >= needs))
    value, n = of(rows), len(clusters)
    if value is None or n < 3 or (upper is not None and value >= upper - 1e-12):
        return None
    left = [of([row for row in rows if row.cluster != one]) for one in clusters]
    without = [one for one in left if one is not None]
    if len(without) < n or max(without) - min(without) <= 1e-12 * max(1.0, abs(value)):
        return None
    if upper is not None and max(without) >= upper - 1e-12:
        return None
    scaled = without if upper is None else [log(upper - one) for one in without]
    middle = value if upper is None else log(upper - value)
    adds = [fmean(scaled) - one for one in scaled]
    spread = fmean(one**2 for one in adds)
    bounds = (-0.25, 0.25) if upper is None else (-0.5, 0.15)
    skew = min(bounds[1], max(bounds[0], fmean(one**3 for one in adds) / spread**1.5 / sqrt(n)))
    t = float(stats.t.ppf(0.975, n - 1))
    ends = [middle - sqrt((n - 1) * spread) * _freed(side, skew) for side in (t, -t)]
    low, high = ends if upper is None else (upper - exp(one) for one in reversed(ends))
    if upper == 1 and min(upper, high) - (low if least is None else max(least, low)) > 1.5:
        return None
    return (low if least is None else max(least, low)), (high if upper is None else min(upper, high))


def icc_by_f(rows: Rows, form: str) -> tuple[float, float]:
    """The 95 % interval of ICC(A,1) or ICC(A,k) by scipy's F, as McGraw and Wong's Table 7 writes it."""
    columns = max(len(row.values) for row in rows)
    table = np.array([row.values for row in rows if len(row.values) == columns], float)
    n, k = table.shape
    of_rows = k * table.mean(axis=1).var(ddof=1)
    of_columns = n * table.mean(axis=0).var(ddof=1)
    rest = (((table - table.mean()) ** 2).sum() - (n - 1) * of_rows - (k - 1) * of_columns) / ((n - 1) * (k - 1))
    one = (of_rows - rest) / (of_rows + (k - 1) * rest + k * (of_columns - rest) / n)
    a, b = k * one / (n * (1 - one)), 1 + k * one * (n - 1) / (n * (1 - one))
    freedom = (a * of_columns + b * rest) ** 2 / (
        (a * of_columns) ** 2 / (k - 1) + (b * rest) ** 2 / ((n - 1) * (k - 1))
    )
    f_low, f_high = stats.f.ppf(0.975, n - 1, freedom), stats.f.ppf(0.975, freedom, n - 1)
    if form == "A,k":
        return (
            n * (of_rows - f_low * rest) / (f_low * (of_columns - rest) + n * of_rows),
            n * (f_high * of_rows - rest) / (of_columns - rest + n * f_high * of_rows),
        )
    whole = k * of_columns + (k * n - k - n) * rest
    return (
        n * (of_rows - f_low * rest) / (f_low * whole + n * of_rows),
        n * (f_high * of_rows - rest) / (whole + n * f_high * of_rows),
    )


def _freed(t: float, skew: float) -> float:
    return t if abs(skew) < 1e-9 else 3 / skew * (cbrt(1 + skew * (t - skew / 6)) - 1)


# -- a cell ----------------------------------------------------------------------------------------------------


class Counts(NamedTuple):
    """What a number must be printed with."""

    places: int
    units: int
    traces: int
    raters: int
    missing: float
    reasons: dict[str, int]


def counts(rows: Rows, *, by_item: bool = False, needs: int = 2, raters: int | None = None) -> Counts:
    """By the very rows that a number is made of; `needs` is how many must have answered an item."""
    kept = [row for row in rows if len(row.values) >= needs]
    who = {at for row in kept for at, one in enumerate(row.said) if one.value is not None}
    reasons = Counter(one.why for row in rows for one in row.said if one.value is None and one.why)
    given, lacking = len(kept) if by_item else sum(len(row.values) for row in rows), sum(reasons.values())
    missing = lacking / (given + lacking) if given + lacking else 0.0
    return Counts(
        len(kept), len({row.unit for row in kept}), len({row.cluster for row in kept}),
        len(who) if raters is None else raters, missing, dict(reasons),
    )  # fmt: skip


def same(
    cell: Cell, of: Statistic, rows: Rows, *, upper: float | None = 1.0, least: float | None = -1.0,
    by_item: bool = False, needs: int = 2, adds: int = 1, raters: int | None = None, where: object = "",
    near: float = 1e-9,
) -> None:  # fmt: skip
    """A cell is what a statistic of these rows is: its value, n, missing, reasons, raters and interval."""
    told = cell["agreement"]
    says = (where, told)
    value = of(rows)
    if value is None:
        assert "value" not in told, says
        assert told["undefined"], says
    else:
        assert told["value"] == pytest.approx(value, abs=near), says
    expected = counts(rows, by_item=by_item, needs=needs, raters=raters)
    assert _counts(told) == expected._replace(missing=pytest.approx(expected.missing)), says  # type: ignore[arg-type]
    if value is not None:
        _same_interval(told, of, rows, upper, least, adds, says, 100 * near)


def _counts(told: Mapping[str, Any]) -> Counts:
    return Counts(*(told.get(name, {} if name == "reasons" else 0) for name in Counts._fields))


def _same_interval(
    told: Mapping[str, Any], of: Statistic, rows: Rows, upper: float | None, least: float | None, adds: int,
    says: object, near: float,
) -> None:  # fmt: skip
    if told.get("interval") == "wilson":
        right, n = (
            of.shares(rows) if isinstance(of, Judged) else (round(told["value"] * told["places"]), told["places"])
        )
        assert (told["low"], told["high"]) == pytest.approx(wilson(right, n)), says
        assert isinstance(of, Judged) or told["traces"] == n, says
        return
    if told.get("interval") == "f":
        ends = icc_by_f(rows, told["statistic"].removeprefix("icc(").removesuffix(")"))
        assert (told["low"], told["high"]) == pytest.approx(ends, abs=1e-6), says
        assert told["traces"] == told["places"], says
        return
    ends = jackknife(rows, of, upper, least, adds)
    if ends is None:
        assert told.get("low") is None, says
        assert told["no_interval"], says
    else:
        assert (told["low"], told["high"]) == pytest.approx(ends, abs=near), says


def is_count(cell: Cell, value: int) -> None:
    """A cell counts so many."""
    assert cell["agreement"].get("value", 0) == value, cell
