"""What a case of a case file gives: a table, counts or answers, read into the arrays that coefficients read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from annotators.agreement.ratings import Floats, Numbers, Place, Ratings

_MOST = 1e12
"""The largest number of a case: squares of larger ones say nothing."""

_MOST_RATERS = 10_000


class Malformed(Exception):
    """What is wrong with a case, in words that follow its name."""


class Case(NamedTuple):
    """One case as it was read.

    `ratings` are None where answers are no categories. `times` says how often each of their places came: a table of two
    raters is one place for each cell. `table` is that table. `truth` is what most people said, beside the judge.
    """

    id: str
    statistic: str
    expected: float | None
    ratings: Ratings
    times: Floats
    table: Floats | None = None
    weights: Floats | None = None
    truth: Ratings | None = None
    identified: bool = True
    clustered: bool = False

    @property
    def numbers(self) -> Numbers:
        """The same answers as numbers."""
        one = self.ratings
        if one.scores is None or self.table is not None or not self.identified:
            raise Malformed("its answers are no numbers by rater")
        values = np.where(one.codes >= 0, np.asarray(one.scores)[one.codes], np.nan)
        return Numbers(one.field, values, one.raters, one.trace, one.traces, one.places)


def read(raw: Any) -> Case:
    """One entry of `cases`; raises Malformed."""
    if not isinstance(raw, dict):
        raise Malformed("it is no object")
    for key in ("id", "statistic", "input_form"):
        if not isinstance(raw.get(key), str) or not raw[key]:
            raise Malformed(f"{key} is missing or no text")
    if "input" not in raw:
        raise Malformed("input is missing")
    expected = raw.get("expected")
    if expected is not None and not _number(expected):
        raise Malformed("expected is no number")
    blank = Case(raw["id"], raw["statistic"], expected, _ratings([[0, 0]], None), np.ones(1))
    given, form = raw["input"], raw["input_form"].lower()
    order = raw.get("order") or raw.get("categories")
    if isinstance(given, Mapping):
        return _of_object(blank, given, order)
    if form.startswith(("contingency", "table")):
        return _of_table(blank, given, None)
    if form.startswith("units x categories"):
        return _of_counts(blank, given)
    if form.startswith("units x raters"):
        return _of_answers(blank, given, order)
    raise Malformed(f"no input_form {raw['input_form']!r} is known")


def _of_object(blank: Case, given: Mapping[str, Any], order: Any) -> Case:
    order = given.get("order") or given.get("categories") or order
    if "table" in given:
        return _of_table(blank, given["table"], given.get("weights"))
    if "a" in given and "b" in given:
        one, other = (_list(given[key], key) for key in ("a", "b"))
        if len(one) != len(other):
            raise Malformed(f"a has {len(one)} answers, b has {len(other)}")
        return _of_answers(blank, [list(pair) for pair in zip(one, other, strict=True)], order)
    if "human" in given and "trace" in given:
        return _of_traces(blank, given, order)
    for key in ("units", "ratings"):
        if key in given:
            return _of_answers(blank, given[key], order)
    raise Malformed("input has neither table, nor a and b, nor trace and human")


def _of_table(blank: Case, given: Any, weights: Any) -> Case:
    table = _matrix(given, "table")
    if table.shape[0] != table.shape[1]:
        raise Malformed(f"its table is {table.shape[0]} x {table.shape[1]}, not square")
    q = len(table)
    w = None
    if weights is not None:
        w = _matrix(weights, "weights", least=None)
        if w.shape != table.shape:
            raise Malformed(f"its weights are {w.shape[0]} x {w.shape[1]}, its table {q} x {q}")
    cells = [[one, other] for one in range(q) for other in range(q)]
    ratings = _ratings(cells, list(range(q)))
    return blank._replace(ratings=ratings, times=table.reshape(-1), table=table, weights=w)


def _of_counts(blank: Case, given: Any) -> Case:
    counted = _matrix(given, "counts")
    if (counted != np.floor(counted)).any():
        raise Malformed("its counts are no whole numbers")
    raters = int(counted.sum(axis=1).max(initial=0))
    if raters > _MOST_RATERS:
        raise Malformed(f"a row counts {raters:,} answers; {_MOST_RATERS:,} are the most")
    rows = []
    for row in counted.astype(int):
        said = [at for at, times in enumerate(row) for _ in range(times)]
        rows.append([*said, *[None] * (max(raters, 1) - len(said))])
    ratings = _ratings(rows, list(range(counted.shape[1])))
    return blank._replace(ratings=ratings, times=np.ones(len(rows)), identified=False)


def _of_answers(blank: Case, given: Any, order: Any) -> Case:
    rows = _list(given, "input")
    ratings = _ratings(rows, None if order is None else _list(order, "order"))
    return blank._replace(ratings=ratings, times=np.ones(len(ratings.codes)))


def _of_traces(blank: Case, given: Mapping[str, Any], order: Any) -> Case:
    traces, rows = _list(given["trace"], "trace"), _list(given["human"], "human")
    if len(traces) != len(rows):
        raise Malformed(f"trace has {len(traces)} entries, human has {len(rows)}")
    judge = _list(given["llm"], "llm") if given.get("llm") is not None else [None] * len(rows)
    if len(judge) != len(rows):
        raise Malformed(f"llm has {len(judge)} answers, human has {len(rows)}")
    for row in rows:
        _list(row, "human")
    declared = order if order is not None else sorted_answers([*(x for row in rows for x in row), *judge])
    ratings = _clustered(_ratings(rows, _list(declared, "order")), traces)
    most = [[_most(row), one] for row, one in zip(rows, judge, strict=True)]
    truth = _clustered(_ratings(most, list(declared)), traces)
    return blank._replace(ratings=ratings, times=np.ones(len(rows)), truth=truth, clustered=True)


def _clustered(ratings: Ratings, traces: Sequence[Any]) -> Ratings:
    names = list(dict.fromkeys(map(str, traces)))
    at = {name: index for index, name in enumerate(names)}
    trace = np.asarray([at[str(one)] for one in traces], np.int32)
    return ratings._replace(trace=trace, traces=tuple(names))


def _most(row: Sequence[Any]) -> Any:
    """What more than half said."""
    said = [one for one in row if one is not None]
    return next((one for one in said if 2 * said.count(one) > len(said)), None)


def _ratings(rows: Sequence[Any], declared: Sequence[Any] | None) -> Ratings:
    """Rows of answers; each place is its own trace."""
    if not rows:
        raise Malformed("input is empty")
    raters = len(_list(rows[0], "input"))
    for at, row in enumerate(rows):
        if len(_list(row, "input")) != raters:
            raise Malformed(f"row {at + 1} has {len(row)} answers, the first has {raters}")
    order = list(declared) if declared is not None else sorted_answers([x for row in rows for x in row])
    if len(set(map(str, order))) != len(order):
        raise Malformed("order names an answer twice")
    at_of = {str(one): at for at, one in enumerate(order)}
    codes = np.full((len(rows), raters), -1, np.int16)
    for at, row in enumerate(rows):
        for rater, said in enumerate(row):
            if said is None:
                continue
            if str(said) not in at_of:
                raise Malformed(f"row {at + 1} says {said!r}, which order does not name")
            codes[at, rater] = at_of[str(said)]
    scores = tuple(float(one) for one in order) if order and all(_number(one) for one in order) else None
    names = tuple(str(at + 1) for at in range(len(rows)))
    places = tuple(Place(name, "") for name in names)
    who = tuple(f"R{at + 1}" for at in range(raters))
    trace = np.arange(len(rows), dtype=np.int32)
    return Ratings("case", tuple(map(str, order)), codes, who, trace, names, places, scores)


def sorted_answers(said: Sequence[Any]) -> list[Any]:
    """The different answers in order: of numbers by size, else by letter."""
    for one in said:
        if one is not None and not isinstance(one, str | bool) and not _number(one):
            raise Malformed(f"{one!r} is no answer")
    found = list({str(one): one for one in said if one is not None}.values())
    return sorted(found) if all(_number(one) for one in found) else sorted(found, key=str)


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise Malformed(f"{name} is no list")
    return value


def _matrix(value: Any, name: str, least: float | None = 0.0) -> Floats:
    rows = _list(value, name)
    if not rows or not all(isinstance(row, list) and row and len(row) == len(rows[0]) for row in rows):
        raise Malformed(f"its {name} are no rows of one length")
    for row in rows:
        for one in row:
            if not _number(one) or (least is not None and one < least):
                raise Malformed(f"its {name} hold {one!r}")
    return np.asarray(rows, dtype=np.float64)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and abs(value) <= _MOST
