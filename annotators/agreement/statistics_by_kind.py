"""Statistics for each kind of answer. Percent and AC1 always accompany kappa or alpha."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from annotators.agreement.coefficients import categorical, numbers
from annotators.agreement.coefficients.similarity import box_statistics, pairwise_mae, pairwise_share_within, same_text
from annotators.agreement.intervals.estimates import Statistic
from annotators.agreement.ratings.answers import places_of_units, sheets_of
from annotators.agreement.ratings.derivations import NOTHING_FOLLOWS
from annotators.agreement.ratings.ratings import NumericRatings, Ratings
from annotators.study_data import StudyData
from lab.core.study.protocol import Field


def category_statistics(study_data: StudyData, field: Field, ratings: Ratings, of_each: int | None) -> list[Statistic]:
    """Return the statistics of nominal, ordinal and flag fields.

    `of_each` is the number of raters per unit, None if it differs.
    """
    two = len(ratings.raters) == 2
    plan_statistics = study_data.study.statistics
    statistics: list[Statistic] = [("percent", lambda: categorical.percent(ratings))]
    if not two:
        statistics.append(("percent exact", lambda: categorical.percent_exact(ratings)))
    if two:
        statistics.append(("cohen kappa", lambda: categorical.cohen_kappa(ratings)))
    # Fleiss' kappa wants the same number of raters everywhere, unless the plan asks for it anyway.
    elif (of_each or 0) >= 3 or "fleiss kappa" in plan_statistics:
        statistics.append(("fleiss kappa", lambda: categorical.fleiss_kappa(ratings)))
    statistics.append(("ac1", lambda: categorical.gwet_ac(ratings)))
    if field.kind != "flag":
        statistics.append(("alpha nominal", lambda: categorical.krippendorff_alpha(ratings)))
    if field.kind == "ordinal":
        statistics += weighted(ratings)
        statistics.append(("alpha ordinal", lambda: categorical.krippendorff_alpha(ratings, "ordinal")))
    return statistics


def weighted(ratings: Ratings) -> list[Statistic]:
    """Return quadratically weighted statistics: kappa (Cohen's for two raters, else Conger's) and AC2."""
    weights = categorical.quadratic(len(ratings.categories))
    kappa = categorical.cohen_kappa if len(ratings.raters) == 2 else categorical.conger_kappa
    return [
        ("weighted kappa", lambda: kappa(ratings, weights)),
        ("ac2", lambda: categorical.gwet_ac(ratings, weights)),
    ]


def number_statistics(study_data: StudyData, these: NumericRatings, of_each: int | None) -> list[Statistic]:
    """Return the statistics of intervals, of ordinal options that are numbers, and of derived values."""
    statistics: list[Statistic] = []
    if len(these.raters) == of_each:
        statistics.append(("icc(A,1)", lambda: numbers.icc(these, "A,1")))
        statistics.append(("icc(A,k)", lambda: numbers.icc(these, "A,k")))
    else:  # not all rate each unit, so no rater's own level can be told apart
        statistics.append(("icc(1)", lambda: numbers.icc(these, "1")))
    statistics.append(("alpha interval", lambda: numbers.alpha_numbers(these)))
    if "alpha ratio" in study_data.study.statistics:
        statistics.append(("alpha ratio", lambda: numbers.alpha_numbers(these, "ratio")))
    statistics.append(("mae", lambda: pairwise_mae(these)))
    return statistics


def other_statistics(study_data: StudyData, field: Field, these: NumericRatings) -> list[Statistic]:
    """Return the statistics of steps, boxes and texts."""
    if field.kind == "step":
        return [
            ("same step", lambda: pairwise_share_within(these, "same step", 0.0)),
            ("within one step", lambda: pairwise_share_within(these, "within one step", 1.0)),
        ]
    if field.kind == "box":
        return box_statistics(study_data, these)
    return [("same text", lambda: same_text(these))]


def why_not_comparable(
    study_data: StudyData,
    there: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    names: tuple[str, ...],
    reasons: Collection[str] = (),
) -> str:
    """Return a sentence why no two raters can be compared, empty if they can.

    `there` is the mask of answers, `reasons` are those of missing ones.
    """
    has_answers = there.any(axis=0) if there.size else np.zeros(0, dtype=np.bool_)
    if not has_answers.any() and NOTHING_FOLLOWS in reasons:
        return "nothing follows from what is handed in"
    if not has_answers.any() and sheets_of(study_data, study_data.people, 1)[1][places_of_units(study_data).unit].any():
        return "nobody has answered it"
    if not has_answers.any():
        return "nobody's answers are handed in yet"
    if has_answers.sum() == 1:
        return f"only {names[int(np.flatnonzero(has_answers)[0])]} has answered"
    return "" if (there.sum(axis=1) >= 2).any() else "no item was answered by two people"
