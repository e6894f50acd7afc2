"""Which statistics an answer of a kind gets. Percent and AC1 always stand beside kappa or alpha."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from annotators.agreement import coefficients, numbers
from annotators.agreement.alike import apart, boxes, near, same_text
from annotators.agreement.derivations import NOTHING_FOLLOWS
from annotators.agreement.made import Statistic
from annotators.agreement.ratings import Numbers, Ratings
from annotators.studied import Studied
from lab.protocol import Field


def of_categories(studied: Studied, field: Field, ratings: Ratings, of_each: int | None) -> list[Statistic]:
    """Of nominal, ordinal and flag fields. `of_each` is how many rate each unit, None where that differs."""
    q, two = len(ratings.categories), len(ratings.raters) == 2
    wanted = studied.study.statistics
    found: list[Statistic] = [("percent", lambda: coefficients.percent(ratings))]
    if not two:
        found.append(("percent exact", lambda: coefficients.percent_exact(ratings)))
    if two:
        found.append(("cohen kappa", lambda: coefficients.cohen_kappa(ratings)))
    elif (of_each or 0) >= 3 or "fleiss kappa" in wanted:
        found.append(("fleiss kappa", lambda: coefficients.fleiss_kappa(ratings)))
    found.append(("ac1", lambda: coefficients.gwet_ac(ratings)))
    if field.kind != "flag":
        found.append(("alpha nominal", lambda: coefficients.krippendorff_alpha(ratings)))
    if field.kind == "ordinal":
        weights = coefficients.quadratic(q)
        found.append(("weighted kappa", lambda: coefficients.conger_kappa(ratings, weights)))
        found.append(("ac2", lambda: coefficients.gwet_ac(ratings, weights)))
        found.append(("alpha ordinal", lambda: coefficients.krippendorff_alpha(ratings, "ordinal")))
    return found


def of_numbers(studied: Studied, these: Numbers, of_each: int | None) -> list[Statistic]:
    """Of intervals, of ordinal options that are numbers, and of what follows from sheets."""
    found: list[Statistic] = []
    if len(these.raters) == of_each:
        found.append(("icc(A,1)", lambda: numbers.icc(these, "A,1")))
        found.append(("icc(A,k)", lambda: numbers.icc(these, "A,k")))
    else:  # not all rate each unit, so no rater's own level can be told apart
        found.append(("icc(1)", lambda: numbers.icc(these, "1")))
    found.append(("alpha interval", lambda: numbers.alpha_numbers(these)))
    if "alpha ratio" in studied.study.statistics:
        found.append(("alpha ratio", lambda: numbers.alpha_numbers(these, "ratio")))
    found.append(("mae", lambda: apart(these)))
    return found


def of_others(studied: Studied, field: Field, these: Numbers) -> list[Statistic]:
    """Of steps, boxes and texts."""
    if field.kind == "step":
        return [
            ("same step", lambda: near(these, "same step", 0.0)),
            ("within one step", lambda: near(these, "within one step", 1.0)),
        ]
    if field.kind == "box":
        return boxes(studied, these)
    return [("same text", lambda: same_text(these))]


def why_not(
    there: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], names: tuple[str, ...], reasons: Collection[str] = ()
) -> str:
    """In a sentence why nobody agrees or disagrees with anybody; empty where somebody does.

    `there` says who answered, `reasons` why others did not.
    """
    rated = there.any(axis=0) if there.size else np.zeros(0, dtype=np.bool_)
    if not rated.any() and NOTHING_FOLLOWS in reasons:
        return "nothing follows from what is handed in"
    if not rated.any():
        return "nobody's answers are handed in yet"
    if rated.sum() == 1:
        return f"only {names[int(np.flatnonzero(rated)[0])]} has answered"
    return "" if (there.sum(axis=1) >= 2).any() else "no item was answered by two people"
