"""Each judge against the majority of people, and judges against one another."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from annotators.agreement.coefficients import categorical, numbers
from annotators.agreement.coefficients.judge_accuracy import NAMED, Judged, judge_statistic
from annotators.agreement.intervals.estimates import AGAINST, MEAN, MINUS, MOST, EstimateMaker
from annotators.agreement.option_sets import judge_of_sets
from annotators.agreement.ratings.fields import (
    mask_rows,
    numbers_of,
    numeric_truth_and_rater,
    ratings_of,
    scores_of,
    truth_and_rater,
    truth_of,
)
from annotators.agreement.ratings.item_parts import RatingsPart, parts_of
from annotators.agreement.ratings.ratings import MissingAnswers, NumericRatings, Ratings
from annotators.agreement.statistics_by_kind import weighted
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.protocol import Field


def agreements_of_judges(study_data: StudyData, field: Field) -> list[Agreement]:
    """Return a field's agreement of each judge's first run with the people's truth, then the differences of judges."""
    numeric: list[Agreement] = []
    # Texts, steps and boxes have no majority that could serve as the truth.
    if not study_data.people or field.kind in ("text", "step", "box"):
        return numeric
    if field.kind == "many":
        return [one for judge in study_data.judges for one in judge_of_sets(study_data, field, judge)]
    if field.kind in ("nominal", "ordinal", "flag"):
        for part in parts_of(study_data, field):
            numeric += _against_most(study_data, field, part)
    if field.kind == "interval" or scores_of(field):
        for judge in study_data.judges:
            numeric += _against_mean(study_data, field, judge)
    return numeric


def _against_most(study_data: StudyData, field: Field, part: RatingsPart) -> list[Agreement]:
    truth = truth_of(study_data, ratings_of(study_data, field.id, kind=part.kind, derived=part.derived))
    numeric: list[Agreement] = []
    pairs: dict[str, Ratings] = {}
    for judge in study_data.judges:
        ratings = ratings_of(study_data, field.id, [judge], kind=part.kind, derived=part.derived)
        if not len(ratings.places):
            continue  # it never answers this
        two = truth_and_rater(truth, ratings)
        name = study_data.columns.raters[judge].id
        pairs[name] = two
        numeric += _accuracy_numbers(
            EstimateMaker(study_data, field.id, two, part.name, f"{name}{AGAINST}{MOST}"), field, two
        )
    for one, other in combinations(sorted(pairs), 2):
        numeric += _judge_differences(study_data, field, part, one, other, pairs)
    return numeric


def _accuracy_numbers(maker: EstimateMaker, field: Field, two: Ratings) -> list[Agreement]:
    if not maker.places:
        return [maker.undefined("no item has both an answer of most people and the judge's")]
    numeric = []
    for what, name in NAMED:
        positives = [""] if what in ("accuracy", "kappa") else _positives(two.categories)
        for positive in positives:
            label = f"{name} of {positive}" if positive and len(two.categories) > 2 else name
            numeric.append(maker.number(label, judge_statistic(two, what, positive or two.categories[0])))
    numeric.append(maker.number("ac1", categorical.gwet_ac(two)))
    return numeric + (maker.numbers(weighted(two)) if field.kind == "ordinal" else [])


def _positives(categories: tuple[str, ...]) -> list[str]:
    """Return the categories for precision, recall and F1: the first of two (of a flag `yes`), else each."""
    if categories == ("no", "yes"):
        return ["yes"]
    return list(categories[:1] if len(categories) == 2 else categories)


def _judge_differences(
    study_data: StudyData, field: Field, part: RatingsPart, one: str, other: str, pairs: dict[str, Ratings]
) -> list[Agreement]:
    """Return accuracy and kappa of one judge minus another's, paired over traces, over places that both judged."""
    a, b = pairs[one], pairs[other]
    rows = np.asarray(a.is_given.all(axis=1) & b.is_given.all(axis=1))
    # The first union fixes the order of the items. The last operand lets the reasons of the first judge win.
    lacking = a.missing.by_place() | b.missing.by_place() | a.missing.by_place()
    missing = MissingAnswers.one_each(lacking.items(), by_item=True)
    a, b = (two._replace(codes=mask_rows(two.codes, rows), missing=missing) for two in (a, b))
    maker = EstimateMaker(study_data, field.id, a, part.name, f"{one}{MINUS}{other}")
    if not maker.places:
        return [maker.undefined("no item was judged by both")]
    first = _positives(a.categories)[0]
    statistics: list[tuple[Judged, str]] = [("accuracy", "accuracy"), ("kappa", "cohen kappa")]
    if len(a.categories) == 2:
        statistics.append(("f1", "f1"))
    numeric = [
        maker.difference(name, judge_statistic(a, what, first), judge_statistic(b, what, first))
        for what, name in statistics
    ]
    if field.kind == "ordinal":
        pairs_of = zip(weighted(a), weighted(b), strict=True)
        numeric += [maker.difference(name, one(), other()) for (name, one), (_, other) in pairs_of]
    return numeric


def _against_mean(study_data: StudyData, field: Field, judge: int) -> list[Agreement]:
    people, judge_values = numbers_of(study_data, field.id), numbers_of(study_data, field.id, [judge])
    if not len(judge_values.places) or not len(people.places):
        return []
    two = numeric_truth_and_rater(mean_of(people), judge_values)
    maker = EstimateMaker(study_data, field.id, two, between=f"{judge_values.raters[0]}{AGAINST}{MEAN}")
    if not maker.places:
        return [maker.undefined("no item has both people's answers and the judge's")]
    return maker.numbers(
        [
            ("mae", lambda: numbers.mae(two)),
            ("mse", lambda: numbers.mse(two)),
            ("pearson", lambda: numbers.pearson(two)),
            ("spearman", lambda: numbers.spearman(two)),
        ]
    )


def mean_of(these: NumericRatings, name: str = "mean") -> NumericRatings:
    """Return one column, the mean of all who answered at a place, nan if nobody did."""
    is_given = ~np.isnan(these.values)
    total = np.where(is_given, these.values, 0.0).sum(axis=1)
    means = np.full(len(total), np.nan)
    np.divide(total, is_given.sum(axis=1), out=means, where=is_given.any(axis=1))
    return these._replace(values=means[:, None], raters=(name,), missing=MissingAnswers(raters=(name,)))
