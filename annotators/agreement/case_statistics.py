"""The statistics that cases name, by those names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, cast

import numpy as np

from annotators.agreement.additive import Additive
from annotators.agreement.case_inputs import Case, Malformed
from annotators.agreement.coefficients import (
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    light_kappa,
    percent,
    percent_exact,
    scott_pi,
)
from annotators.agreement.counts import NO_ANSWERS, over
from annotators.agreement.icc import Icc, icc, icc_a1_interval
from annotators.agreement.intervals import estimate
from annotators.agreement.judging import Judged, judged
from annotators.agreement.linearised import cohen_error, fleiss_error, fleiss_z, gwet_error
from annotators.agreement.numbers import mae, mse, pearson, spearman, within
from annotators.agreement.ratings import Floats, Ratings
from annotators.agreement.weights import linear, quadratic
from lab.agreement import How

_WEIGHTED: dict[str, Callable[[Ratings, Floats | None], Additive]] = {
    "cohen_kappa": cohen_kappa, "scott_pi": scott_pi, "fleiss_kappa": fleiss_kappa, "conger_kappa": conger_kappa,
    "brennan_prediger": brennan_prediger, "gwet_ac": gwet_ac, "gwet_ac1": gwet_ac, "gwet_ac2": gwet_ac,
}  # fmt: skip
_PLAIN = {
    "percent_agreement": percent,
    "percent": percent,
    "percent_exact": percent_exact,
    "percent_agreement_exact": percent_exact,
    "light_kappa": light_kappa,
}
_NUMBERS = {
    "pearson": pearson, "pearson_r": pearson, "spearman": spearman, "spearman_rho": spearman, "mse": mse, "mae": mae,
}  # fmt: skip
_ICC: dict[str, Icc] = {
    "icc_1": "1", "icc_a1": "A,1", "icc_c1": "C,1", "icc_1k": "1,k", "icc_ak": "A,k", "icc_ck": "C,k",
}  # fmt: skip
_JUDGED = ("accuracy", "precision", "recall", "f1")
_BY_RATER = ("cohen_kappa", "scott_pi", "conger_kappa", "light_kappa")
_MOST_PLACES = 10_000_000
_NAME = re.compile(
    r"(?P<base>\w+?)(_missing)?(_(?P<weights>weighted|linear|quadratic))?(_(?P<of>se|z|ci(?P<level>\d\d)_(?P<end>low|high)))?"
)


def value_of_case(case: Case) -> tuple[float | None, str]:
    """What a case asks for, or None and why it is undefined; raises Malformed where no such statistic is known."""
    said, _, rest = case.statistic.strip().partition(" ")
    rest = rest.lower()
    name = _NAME.fullmatch(said.lower())
    if name is None:
        raise Malformed(f"no statistic {case.statistic!r} is known")
    one = _additive(case, name["base"], name["weights"] or "", rest)
    total = case.times @ one.sums if case.table is not None else one.sums.sum(axis=0)
    why = one.why(total) if total.any() else one.why(total) if case.table is None else NO_ANSWERS
    value: float | None
    match name["of"], name["base"]:
        case None, _:
            value = float(one.of(total))
        case "z", "fleiss_kappa":
            value = fleiss_z(_each(case))
        case "se", _:
            value = _error(case, one, name["base"], rest)
        case _ if name["end"]:
            value = _end(case, one, name["base"], name["end"], int(name["level"]) / 100)
        case _:
            raise Malformed(f"no statistic {case.statistic!r} is known")
    return (value, "") if value is not None and np.isfinite(value) else (None, why or "undefined")


def _additive(case: Case, base: str, weights: str, rest: str) -> Additive:
    if base in _BY_RATER and not case.identified:
        raise Malformed(f"{base} needs to know which rater said what")
    level = _level(base, rest)
    try:
        if base in _JUDGED:
            return judged(_of_two(case), cast(Judged, base), _positive(case, rest))
        ratings = _of_two(case) if "llm vs" in rest else case.ratings
        if base in _WEIGHTED:
            return _WEIGHTED[base](ratings, _weights(case, weights, rest))
        if level and not weights:
            return krippendorff_alpha(ratings, level)
        if base in _PLAIN and not weights:
            return percent_exact(ratings) if "exact" in rest else _PLAIN[base](ratings)
        if base in _ICC and not weights:
            return icc(case.numbers, _ICC[base])
        if base in _NUMBERS and not weights:
            return _NUMBERS[base](case.numbers)
        if base == "share" and (band := re.search(r"within \+-\s*(\d*\.?\d+)", rest)):
            return within(case.numbers, float(band[1]))
    except ValueError as error:
        raise Malformed(str(error).removeprefix("case: ")) from None
    raise Malformed(f"no statistic {case.statistic!r} is known")


def _level(base: str, rest: str) -> str:
    """Of krippendorff_alpha, by its name or by what follows it; empty where it is something else."""
    if base == "krippendorff_alpha":
        return next((level for level in ("ordinal", "interval", "ratio") if level in rest), "nominal")
    return base.removeprefix("krippendorff_alpha_") if base.startswith("krippendorff_alpha_") else ""


def _of_two(case: Case) -> Ratings:
    """Truth, which is what most people said, and the judge beside it."""
    if case.truth is None and (len(case.ratings.raters) != 2 or not case.identified):
        raise Malformed("it has no truth and judge")
    return case.truth or case.ratings


def _positive(case: Case, rest: str) -> str:
    """The category that is named as positive; the last where it is named by no category's name."""
    categories = _of_two(case).categories
    named = re.search(r"positive = (\w+)", rest)
    return named[1] if named and named[1] in categories else categories[-1]


def _weights(case: Case, name: str, rest: str) -> Floats | None:
    q = len(case.ratings.categories)
    if name in ("linear", "quadratic"):
        return linear(q) if name == "linear" else quadratic(q)
    if not name:
        return None
    if case.weights is None:
        raise Malformed("its weights are missing")
    if "disagreement" not in rest:
        return case.weights
    most = float(case.weights.max())
    if not most:
        raise Malformed("its weights are all 0")
    return 1 - case.weights / most


def _error(case: Case, one: Additive, base: str, rest: str) -> float | None:
    """A standard error: over traces by the jackknife where that is named, else in closed form."""
    if "jackknife" in rest:
        return estimate(one, How()).standard_error
    if base == "cohen_kappa":
        return cohen_error(_table(case), None if case.weights is None else _weights(case, "weighted", rest))
    closed = {"fleiss_kappa": fleiss_error, "gwet_ac1": gwet_error, "gwet_ac": gwet_error}
    if base in closed:
        return closed[base](_each(case))
    raise Malformed(f"no statistic {case.statistic!r} is known")


def _table(case: Case) -> Floats:
    """How often two raters said what, over places that both rated."""
    if case.table is not None:
        return case.table
    q = len(case.ratings.categories)
    table = np.zeros((q, q))
    both = case.ratings.codes[(case.ratings.codes >= 0).all(axis=1)]
    np.add.at(table, (both[:, 0], both[:, 1]), 1.0)
    return table


def _each(case: Case) -> Ratings:
    """Every place written down as often as it came."""
    times = np.rint(case.times).astype(int)
    if np.abs(times - case.times).max(initial=0.0) > 1e-6:
        raise Malformed("its table holds no whole numbers")
    if times.sum() > _MOST_PLACES:
        raise Malformed(f"its table counts {times.sum():,} items; {_MOST_PLACES:,} are the most")
    return over(case.ratings, np.repeat(np.arange(len(times)), times))


def _end(case: Case, one: Additive, base: str, end: Literal["low", "high"] | str, level: float) -> float | None:
    """One end of an interval: of ICC(A,1) by F, of any other by the jackknife over traces."""
    if base == "icc_a1":
        both = icc_a1_interval(case.numbers, level)
        return None if both is None else both[end == "high"]
    found = estimate(one, How(level=level))
    return found.low if end == "low" else found.high
