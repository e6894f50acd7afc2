"""Verified cases: a file of inputs with published values, and the values that this package computes for them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from annotators.agreement.coefficients import categorical
from annotators.agreement.coefficients.additive import AdditiveStatistic
from annotators.agreement.coefficients.counts import NO_ANSWERS, select_places
from annotators.agreement.coefficients.icc import icc, icc_interval
from annotators.agreement.coefficients.judge_accuracy import Judged, judge_statistic
from annotators.agreement.coefficients.numbers import mae, mse, pearson, share_within, spearman
from annotators.agreement.coefficients.weights import linear, quadratic
from annotators.agreement.intervals.intervals import estimate
from annotators.agreement.intervals.linearised import cohen_error, fleiss_error, fleiss_z, gwet_error
from annotators.agreement.ratings.ratings import Floats, NumericRatings, RatedItem, Ratings
from lab.core.codec import read_file
from lab.core.errors import LabError
from lab.core.study.agreement import IntervalTerms
from lab.core.values.json_size import check_values

_TOLERANCE = 5e-7
_LARGEST_NUMBER = 1e12
"""Largest number in a case. Squares of larger ones lose all precision."""
_MOST_RATERS = 10_000
_MOST_PLACES = 10_000_000
_NO_CLOSED_FORM = "it has no closed form for these answers"


class CaseFile(NamedTuple):
    """Results for all cases of a file. A value passes if it is within `tolerance` of the expected one."""

    tolerance: float
    cases: list[CaseResult]


class CaseResult(msgspec.Struct, frozen=True):
    """One verified case: `agreement --cases`. `value` is null if `undefined` gives the reason.

    `expected` is the file's own value, null if it names none. `agrees` is true if both differ by no more than the
    file's tolerance, null without an expected value.
    """

    id: str
    statistic: str
    value: float | None
    undefined: str
    expected: float | None
    agrees: bool | None


class MalformedCase(Exception):
    """A case is malformed. The message follows the case's name."""


class Case(NamedTuple):
    """One parsed case.

    `times` is the frequency of each place of `ratings`: a table of two raters has one place per cell. `table` is that
    table. `truth` pairs the majority of people with the judge.
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

    @property
    def numbers(self) -> NumericRatings:
        """Return the answers as numbers. Raise `MalformedCase` if they are not numbers by rater."""
        one = self.ratings
        if one.scores is None or self.table is not None or not self.identified:
            raise MalformedCase("its answers are no numbers by rater")
        values = np.where(one.codes >= 0, np.asarray(one.scores)[one.codes], np.nan)
        return NumericRatings(one.field, values, one.raters, one.trace, one.traces, one.places)

    @property
    def unknown_statistic(self) -> MalformedCase:
        return MalformedCase(f"no statistic {self.statistic!r} is known")


def compute_cases(path: Path) -> CaseFile:
    """Compute every case in the file's order. Raise `LabError`, with file and case, if one is malformed."""
    try:
        data = read_file(path, f"cases {path}")
        check_values(data, f"cases {path}")
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LabError("cases", f"{path}: it is no JSON ({error})") from None
    contents = document if isinstance(document, dict) else {"cases": document}
    cases, tolerance = contents.get("cases"), contents.get("tolerance", _TOLERANCE)
    if not isinstance(cases, list):
        raise LabError("cases", f"{path}: cases is missing or no list")
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
        raise LabError("cases", f"{path}: tolerance is no number from 0 to 1")
    return CaseFile(float(tolerance), [_compute_case(path, at, raw, tolerance) for at, raw in enumerate(cases)])


def _compute_case(path: Path, at: int, raw: Any, tolerance: float) -> CaseResult:
    try:
        case = parse_case(raw)
        value, why = value_of_case(case)
    except MalformedCase as error:
        name = raw.get("id") if isinstance(raw, dict) else None
        where = f"case {name}" if isinstance(name, str) and name else f"case {at + 1}"
        raise LabError("cases", f"{path}: {where}: {error}") from None
    agrees = None
    if case.expected is not None:
        agrees = value is not None and abs(value - case.expected) <= tolerance
    return CaseResult(case.id, case.statistic, value, why, case.expected, agrees)


# -- what a case gives: a table, counts or answers -----------------------------------------------------------------


def parse_case(raw: Any) -> Case:
    """Parse one entry of `cases`. Raise `MalformedCase` if it is invalid."""
    if not isinstance(raw, dict):
        raise MalformedCase("it is no object")
    for key in ("id", "statistic", "input_form"):
        if not isinstance(raw.get(key), str) or not raw[key]:
            raise MalformedCase(f"{key} is missing or no text")
    if "input" not in raw:
        raise MalformedCase("input is missing")
    expected = raw.get("expected")
    if expected is not None and not _is_number(expected):
        raise MalformedCase("expected is no number")
    case_input, form = raw["input"], raw["input_form"].lower()
    form_key = next((name for prefix, name in _KEYS_BY_FORM.items() if form.startswith(prefix)), "")
    more = case_input if isinstance(case_input, Mapping) else {form_key: case_input}
    order = next(filter(None, (one.get(key) for one in (more, raw) for key in ("order", "categories"))), None)
    blank = Case(raw["id"], raw["statistic"], expected, _ratings([[0, 0]], None), np.ones(1))
    for keys, reads in _READERS:
        if all(key in more for key in keys):
            return reads(blank, more, order)
    if more is not case_input:
        raise MalformedCase(f"no input_form {raw['input_form']!r} is known")
    raise MalformedCase("input has neither table, nor a and b, nor trace and human")


def _read_table(blank: Case, case_input: Mapping[str, Any], _: Any) -> Case:
    table, weights = _matrix(case_input["table"], "table"), None
    q = len(table)
    if table.shape[1] != q:
        raise MalformedCase(f"its table is {q} x {table.shape[1]}, not square")
    if case_input.get("weights") is not None:
        weights = _matrix(case_input["weights"], "weights", least=None)
        if weights.shape != table.shape:
            raise MalformedCase(f"its weights are {weights.shape[0]} x {weights.shape[1]}, its table {q} x {q}")
    cells = [[one, other] for one in range(q) for other in range(q)]
    ratings = _ratings(cells, range(q))
    return blank._replace(ratings=ratings, times=table.reshape(-1), table=table, weights=weights)


def _read_counts(blank: Case, case_input: Mapping[str, Any], _: Any) -> Case:
    tally = _matrix(case_input["counts"], "counts")
    if (tally != np.floor(tally)).any():
        raise MalformedCase("its counts are no whole numbers")
    # Rows may have different totals: the missing answers of shorter rows fill up to the longest.
    raters = int(tally.sum(axis=1).max(initial=0))
    if raters > _MOST_RATERS:
        raise MalformedCase(f"a row counts {raters:,} answers; {_MOST_RATERS:,} are the most")
    each = [np.repeat(np.arange(len(row)), row).tolist() for row in tally.astype(int)]
    ratings = _ratings([codes + [None] * (max(raters, 1) - len(codes)) for codes in each], range(tally.shape[1]))
    return blank._replace(ratings=ratings, times=np.ones(len(each)), identified=False)


def _read_pairs(blank: Case, case_input: Mapping[str, Any], order: Any) -> Case:
    one, other = (_check_list(case_input[key], key) for key in ("a", "b"))
    if len(one) != len(other):
        raise MalformedCase(f"a has {len(one)} answers, b has {len(other)}")
    return _read_answers("units", blank, {"units": [list(pair) for pair in zip(one, other, strict=True)]}, order)


def _read_answers(key: str, blank: Case, case_input: Mapping[str, Any], order: Any) -> Case:
    ratings = _ratings(_check_list(case_input[key], "input"), None if order is None else _check_list(order, "order"))
    return blank._replace(ratings=ratings, times=np.ones(len(ratings.codes)))


def _read_traces(blank: Case, case_input: Mapping[str, Any], order: Any) -> Case:
    traces, rows = _check_list(case_input["trace"], "trace"), _check_list(case_input["human"], "human")
    judge = _check_list(case_input["llm"], "llm") if case_input.get("llm") is not None else [None] * len(rows)
    if len(traces) != len(rows):
        raise MalformedCase(f"trace has {len(traces)} entries, human has {len(rows)}")
    if len(judge) != len(rows):
        raise MalformedCase(f"llm has {len(judge)} answers, human has {len(rows)}")
    for row in rows:
        _check_list(row, "human")
    declared = (
        _check_list(order, "order")
        if order is not None
        else _sorted_answers([*(x for row in rows for x in row), *judge])
    )
    names = list(dict.fromkeys(map(str, traces)))
    trace = np.asarray([names.index(str(one)) for one in traces], np.int32)
    most = [[_majority(row), one] for row, one in zip(rows, judge, strict=True)]
    people, truth = (
        _ratings(some, declared)._replace(trace=trace, traces=tuple(names)) for some in (rows, most)
    )  # fmt: skip
    return blank._replace(ratings=people, times=np.ones(len(rows)), truth=truth)


_KEYS_BY_FORM = {"contingency": "table", "table": "table", "units x categories": "counts", "units x raters": "units"}
"""Key of an input that is not an object, by the beginning of `input_form`."""
_READERS: tuple[tuple[tuple[str, ...], Callable[[Case, Mapping[str, Any], Any], Case]], ...] = (
    (("table",), _read_table),
    (("a", "b"), _read_pairs),
    (("human", "trace"), _read_traces),
    (("units",), partial(_read_answers, "units")),
    (("ratings",), partial(_read_answers, "ratings")),
    (("counts",), _read_counts),
)
"""Parser of an input, by the keys it must have."""


def _majority(row: Sequence[Any]) -> Any:
    """Return the answer of more than half the raters, or None if there is none."""
    values = [one for one in row if one is not None]
    return next((one for one in values if 2 * values.count(one) > len(values)), None)


def _ratings(rows: Sequence[Any], declared: Sequence[Any] | None) -> Ratings:
    """Return rows of answers as ratings, each row its own trace."""
    if not rows:
        raise MalformedCase("input is empty")
    raters = len(_check_list(rows[0], "input"))
    for at, row in enumerate(rows):
        if len(_check_list(row, "input")) != raters:
            raise MalformedCase(f"row {at + 1} has {len(row)} answers, the first has {raters}")
    order = list(declared) if declared is not None else _sorted_answers([x for row in rows for x in row])
    at_of = {str(one): at for at, one in enumerate(order)}
    if len(at_of) != len(order):
        raise MalformedCase("order names an answer twice")
    codes = np.full((len(rows), raters), -1, np.int16)
    for (at, rater), value in ((place, rows[place[0]][place[1]]) for place in np.ndindex(codes.shape)):
        if value is not None and str(value) not in at_of:
            raise MalformedCase(f"row {at + 1} says {value!r}, which order does not name")
        codes[at, rater] = -1 if value is None else at_of[str(value)]
    scores = tuple(float(one) for one in order) if order and all(map(_is_number, order)) else None
    names = tuple(str(at + 1) for at in range(len(rows)))
    return Ratings(
        "case", tuple(at_of), codes, tuple(f"R{at + 1}" for at in range(raters)),
        np.arange(len(rows), dtype=np.int32), names, tuple(RatedItem(name, "") for name in names), scores,
    )  # fmt: skip


def _sorted_answers(items: Sequence[Any]) -> list[Any]:
    """Return the distinct answers, sorted by size if all are numbers, else as text."""
    for one in items:
        if one is not None and not isinstance(one, str | bool) and not _is_number(one):
            # Distinct by text, because `_ratings` looks answers up by text.
            raise MalformedCase(f"{one!r} is no answer")
    values = list({str(one): one for one in items if one is not None}.values())
    return sorted(values, key=None if all(map(_is_number, values)) else str)


def _check_list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise MalformedCase(f"{name} is no list")
    return value


def _matrix(value: Any, name: str, least: float | None = 0.0) -> Floats:
    rows = _check_list(value, name)
    if not rows or not all(isinstance(row, list) and row and len(row) == len(rows[0]) for row in rows):
        raise MalformedCase(f"its {name} are no rows of one length")
    for one in (one for row in rows for one in row):
        if not _is_number(one) or (least is not None and one < least):
            raise MalformedCase(f"its {name} hold {one!r}")
    return np.asarray(rows, dtype=np.float64)


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and isfinite(value)
        and abs(value) <= _LARGEST_NUMBER
    )


# -- what a case asks for: a statistic, or its error, z or interval ------------------------------------------------

_WEIGHTED: dict[str, Callable[[Ratings, Floats | None], AdditiveStatistic]] = {
    "cohen_kappa": categorical.cohen_kappa, "scott_pi": categorical.scott_pi,
    "fleiss_kappa": categorical.fleiss_kappa,
    "conger_kappa": categorical.conger_kappa, "brennan_prediger": categorical.brennan_prediger,
    "gwet_ac": categorical.gwet_ac, "gwet_ac1": categorical.gwet_ac, "gwet_ac2": categorical.gwet_ac,
}  # fmt: skip
_PLAIN: dict[str, Callable[[Ratings], AdditiveStatistic]] = {
    "percent_agreement": categorical.percent, "percent": categorical.percent, "light_kappa": categorical.light_kappa,
    "percent_exact": categorical.percent_exact, "percent_agreement_exact": categorical.percent_exact,
}  # fmt: skip
_NUMBERS: dict[str, Callable[[NumericRatings], AdditiveStatistic]] = {
    "pearson": pearson, "pearson_r": pearson, "spearman": spearman, "spearman_rho": spearman, "mse": mse, "mae": mae,
    **{f"icc_{form.lower().replace(',', '')}": partial(icc, form=form)
       for form in ("1", "A,1", "C,1", "1,k", "A,k", "C,k")},
}  # fmt: skip
_ERRORS = {"fleiss_kappa": fleiss_error, "gwet_ac1": gwet_error, "gwet_ac": gwet_error}
_JUDGE_STATISTICS: tuple[Judged, ...] = ("accuracy", "precision", "recall", "f1")
_BY_RATER = ("cohen_kappa", "scott_pi", "conger_kappa", "light_kappa")
_NAME = re.compile(
    r"(?P<base>\w+?)(_missing)?(_(?P<weights>weighted|linear|quadratic))?(_(?P<of>se|z|ci(?P<level>\d\d)_(?P<end>low|high)))?"
)


def value_of_case(case: Case) -> tuple[float | None, str]:
    """Return the value that a case asks for, or None and a reason. Raise `MalformedCase` for an unknown statistic."""
    statistic_name, _, rest = case.statistic.strip().partition(" ")
    rest, name = rest.lower(), _NAME.fullmatch(statistic_name.lower())
    if name is None:
        raise case.unknown_statistic
    one = _statistic_of(case, name["base"], name["weights"] or "", rest)
    # A table counts each cell `times` over; other inputs have one row per place.
    total = case.times @ one.sums if case.table is not None else one.sums.sum(axis=0)
    itself = float(one.evaluate(total)) if total.any() or case.table is None else float("nan")
    if not np.isfinite(itself):
        return None, one.explain(total) if case.table is None or total.any() else NO_ANSWERS
    value: float | str | None = itself
    if name["of"] == "z" and name["base"] == "fleiss_kappa":
        value = fleiss_z(_repeated_places(case))
    elif name["of"] == "se":
        value = _standard_error(case, one, name["base"], rest)
    elif name["end"]:
        value = _interval_end(case, one, name["base"], name["end"], int(name["level"]) / 100)
    elif name["of"]:
        raise case.unknown_statistic
    if isinstance(value, str):
        return None, value
    return (value, "") if value is not None and np.isfinite(value) else (None, _NO_CLOSED_FORM)


def _statistic_of(case: Case, base: str, weights: str, rest: str) -> AdditiveStatistic:
    """Return the statistic of this name, over people's answers or over majority and judge."""
    if base in _BY_RATER and not case.identified:
        raise MalformedCase(f"{base} needs to know which rater said what")
    try:
        for what in _JUDGE_STATISTICS:
            if what == base:
                return judge_statistic(_truth_and_judge(case), what, _positive(case, rest))
        ratings = _truth_and_judge(case) if "llm vs" in rest else case.ratings
        if base in _WEIGHTED:
            return _WEIGHTED[base](ratings, _weights(case, weights, rest))
        if weights:
            raise case.unknown_statistic
        if base == "krippendorff_alpha":
            # The level is in the words behind the name, nominal by default.
            base += "_" + next((level for level in ("ordinal", "interval", "ratio") if level in rest), "nominal")
        if base in _PLAIN:
            return (
                categorical.percent_exact(ratings) if "exact" in rest and "percent" in base else _PLAIN[base](ratings)
            )
        if base in _NUMBERS:
            return _NUMBERS[base](case.numbers)
        if base.startswith("krippendorff_alpha_"):
            return categorical.krippendorff_alpha(ratings, base.removeprefix("krippendorff_alpha_"))
        if base == "share" and (band := re.search(r"within \+-\s*(\d*\.?\d+)", rest)):
            return share_within(case.numbers, float(band[1]))
    except ValueError as error:
        raise MalformedCase(str(error).removeprefix("case: ")) from None
    raise case.unknown_statistic


def _truth_and_judge(case: Case) -> Ratings:
    """Return the majority of people and the judge as two raters."""
    if case.truth is None and (len(case.ratings.raters) != 2 or not case.identified):
        raise MalformedCase("it has no truth and judge")
    return case.truth or case.ratings


def _positive(case: Case, rest: str) -> str:
    """Return the category named as positive, or the last one if the name does not match a category."""
    categories = _truth_and_judge(case).categories or ("",)
    match = re.search(r"positive = (\w+)", rest)
    return match[1] if match and match[1] in categories else categories[-1]


def _weights(case: Case, name: str, rest: str) -> Floats | None:
    if name in ("linear", "quadratic"):
        return (linear if name == "linear" else quadratic)(len(case.ratings.categories))
    if not name:
        return None
    if case.weights is None:
        raise MalformedCase("its weights are missing")
    if "disagreement" not in rest:
        return case.weights
    most = float(case.weights.max())
    if not most:
        raise MalformedCase("its weights are all 0")
    return 1 - case.weights / most


def _standard_error(case: Case, one: AdditiveStatistic, base: str, rest: str) -> float | None:
    """Return a standard error: by the jackknife over traces if the name says so, else in closed form."""
    if "jackknife" in rest:
        return estimate(one, IntervalTerms()).standard_error
    if base == "cohen_kappa":
        return cohen_error(_table(case), None if case.weights is None else _weights(case, "weighted", rest))
    if base not in _ERRORS:
        raise case.unknown_statistic
    return _ERRORS[base](_repeated_places(case))


def _table(case: Case) -> Floats:
    """Return the contingency table of two raters, over items that both rated."""
    if case.table is not None:
        return case.table
    q = len(case.ratings.categories)
    both = case.ratings.codes[(case.ratings.codes >= 0).all(axis=1)]
    table = np.zeros((q, q))
    np.add.at(table, (both[:, 0], both[:, 1]), 1.0)
    return table


def _repeated_places(case: Case) -> Ratings:
    """Return the ratings with each place repeated by its frequency."""
    times = np.rint(case.times).astype(int)
    if np.abs(times - case.times).max(initial=0.0) > 1e-6:
        raise MalformedCase("its table holds no whole numbers")
    if times.sum() > _MOST_PLACES:
        raise MalformedCase(f"its table counts {times.sum():,} items; {_MOST_PLACES:,} are the most")
    return select_places(case.ratings, np.repeat(np.arange(len(times)), times))


def _interval_end(case: Case, one: AdditiveStatistic, base: str, end: str, level: float) -> float | str | None:
    """Return one end of an interval, or the reason if there is none.

    ICC(A,1) uses F, every other statistic the jackknife over traces.
    """
    if base == "icc_a1":
        both = icc_interval(case.numbers, "A,1", level)
        return both if isinstance(both, str) else both[end == "high"]
    interval = estimate(one, IntervalTerms(level=level))
    return interval.no_interval or (interval.low if end == "low" else interval.high)
