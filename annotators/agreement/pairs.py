"""Agreement of each pair of raters, tables of answers against answers, and items on which raters differ."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients import categorical, numbers
from annotators.agreement.coefficients.similarity import answer_codes, pairwise_mae
from annotators.agreement.intervals.estimates import EstimateMaker
from annotators.agreement.option_sets import pairs_of_sets
from annotators.agreement.ratings.answers import answers_of, field_named
from annotators.agreement.ratings.derivations import NAMES
from annotators.agreement.ratings.fields import (
    CATEGORICAL,
    TRUTH,
    derived_numbers,
    join_columns,
    missing_of,
    numbers_at,
    numbers_of,
    ratings_of,
    truth_of,
)
from annotators.agreement.ratings.ratings import Floats, NumericRatings, Ratings
from annotators.agreement.statistics_by_kind import other_statistics, weighted
from annotators.study_data import StudyData
from lab.core.errors import LabError
from lab.core.study.agreement import Agreement
from lab.core.study.protocol import Field
from lab.core.study.report import Grid


def agreements_by_pair(study_data: StudyData, field: str) -> list[Agreement]:
    """Return the chance-corrected statistic, percent and AC1 of a field (numbers: ICC and error) for each two people.

    `field` may also be a derived name (`apr`). Raise `LabError` if it is neither.
    """
    for name in NAMES.get(study_data.study.protocol.targets, ()):
        if name == field and study_data.study.protocol.field(field) is None:
            return _numbers_by_pairs(study_data, derived_numbers(study_data, name), Field(name, name, "interval"))
    question = _question_of(study_data, field)
    numeric: list[Agreement] = []
    if question.kind in CATEGORICAL:
        ratings = ratings_of(study_data, field)
        for pair in combinations(range(len(ratings.raters)), 2):
            numeric += _pair_agreements(study_data, question, ratings.by_raters(pair))
        return numeric
    if question.kind == "many":
        return pairs_of_sets(study_data, question)
    return _numbers_by_pairs(study_data, numbers_like(study_data, question), question)


def _question_of(study_data: StudyData, name: str) -> Field:
    """Return a field of the study. Raise `LabError` if there is none of that name, or if it is a derived name."""
    if study_data.study.protocol.field(name) is not None:
        return field_named(study_data, name)
    if name in NAMES.get(study_data.study.protocol.targets, ()):
        raise LabError(f"question {name}", "follows from other answers; nobody is asked for it.")
    question_names = ", ".join(field.id for field in study_data.study.protocol.fields)
    raise LabError(f"question {name}", f"is not asked in {study_data.study.name} (questions: {question_names}).")


def _numbers_by_pairs(study_data: StudyData, these: NumericRatings, question: Field) -> list[Agreement]:
    numeric: list[Agreement] = []
    for pair in combinations(range(len(these.raters)), 2):
        numeric += _numbers_of_two(study_data, question, these.by_raters(pair))
    return numeric


def _pair_agreements(study_data: StudyData, field: Field, two: Ratings) -> list[Agreement]:
    maker = EstimateMaker(study_data, field.id, two, between=" and ".join(two.raters))
    kappa = maker.number("cohen kappa", categorical.cohen_kappa(two))
    others = [maker.number("percent", categorical.percent(two)), maker.number("ac1", categorical.gwet_ac(two))]
    if field.kind != "ordinal":
        return [kappa, *others]
    first, *more = maker.numbers(weighted(two))  # the chart draws the first number
    return [first, kappa, *others, *more]


def _numbers_of_two(study_data: StudyData, field: Field, two: NumericRatings) -> list[Agreement]:
    maker = EstimateMaker(study_data, field.id, two, between=" and ".join(two.raters))
    if field.kind != "interval":
        return maker.numbers(other_statistics(study_data, field, two))
    return [maker.number("icc(A,1)", numbers.icc(two, "A,1")), maker.number("mae", pairwise_mae(two))]


def numbers_like(study_data: StudyData, field: Field) -> NumericRatings:
    """Return answers that are not categories as numbers: themselves, or numbers that are equal if the answers are."""
    if field.kind in ("interval", "step"):
        return numbers_of(study_data, field.id)
    answers = answers_of(study_data, field, study_data.people, 1)
    values = answer_codes(study_data, field, answers.value)
    missing = missing_of(study_data, answers.places, study_data.people, answers.why, answers.reasons)
    return numbers_at(study_data, field.id, values, answers.places, study_data.people, missing, people=True)


# -- which answers came together -------------------------------------------------------------------------------


def confusion(study_data: StudyData, field: str, one: str = "", other: str = "") -> Grid:
    """Return how often answers occur together: of two raters by code (`truth` is the majority), or of all pairs.

    Each pair of people counts once, in halves on both sides of the diagonal if the two differ. Raise `LabError` if the
    field has no categories, is not asked, or a rater is unknown.
    """
    question = _question_of(study_data, field)
    if question.kind not in CATEGORICAL:
        raise LabError(f"question {field}", "is answered by no categories; there is no grid of it.")
    if not one and not other:
        ratings = ratings_of(study_data, field)
        counts = _all_pairs(ratings)
        return _grid(ratings, field, counts, "one", "the other")
    two = _two_columns(study_data, field, one or TRUTH, other or TRUTH)
    has_both, q = (two.codes >= 0).all(axis=1), len(two.categories)
    down, across = two.codes[has_both].T.astype(np.int64)
    counts = np.bincount(down * q + across, minlength=q * q).reshape(q, q).astype(np.float64)
    return _grid(two, field, counts, one or TRUTH, other or TRUTH)


def _all_pairs(ratings: Ratings) -> Floats:
    q = len(ratings.categories)
    each = np.stack([(ratings.codes == code).sum(axis=1) for code in range(q)], axis=1).astype(np.float64)
    # The diagonal of the product counts each rater with themselves, which is subtracted.
    together = each.T @ each - np.diag(each.sum(axis=0))
    return together / 2


def _rater_column(study_data: StudyData, field: str, name: str) -> Ratings:
    if name == TRUTH:
        return truth_of(study_data, ratings_of(study_data, field))
    rater_numbers = {one.id: at for at, one in enumerate(study_data.columns.raters)}
    if name not in rater_numbers:
        raise LabError(f"rater {name}", f"has answered nothing in {study_data.study.name}.")
    return ratings_of(study_data, field, [rater_numbers[name]])


def _two_columns(study_data: StudyData, field: str, one: str, other: str) -> Ratings:
    """Return the columns of two raters, at least over the places that both answered.

    The columns of two people come from the ratings of all people.
    """
    people = {study_data.columns.raters[at].id for at in study_data.people}
    others = {rater.id for at, rater in enumerate(study_data.columns.raters) if at not in study_data.people}
    ratings = ratings_of(study_data, field)
    if {one, other} <= people - others and {one, other} <= set(ratings.raters):
        columns = [ratings.raters.index(name) for name in (one, other)]
        return ratings._replace(codes=ratings.codes[:, columns], raters=(one, other))
    return join_columns(_rater_column(study_data, field, one), _rater_column(study_data, field, other))


def _grid(of: Ratings, field: str, counts: Floats, down: str, across: str) -> Grid:
    rows = tuple(tuple(float(count) for count in row) for row in counts)
    id = "-".join(
        filter(None, ("confusion", field, *(name for name in (down, across) if name not in ("one", "the other"))))
    )
    return Grid(id, f"Answers that came together: {field}", of.categories, of.categories, rows, down, across)


# -- where they differ -----------------------------------------------------------------------------------------


def disputed_places(
    study_data: StudyData, field: str, cell: tuple[str, str] | None = None, one: str = "", other: str = ""
) -> list[tuple[str, str]]:
    """Return places (unit, target) of a field on which raters differ, those with the most even split first.

    With `cell` they are the places in that cell of the grid of `one` and `other` (see `confusion`), else the places on
    which these two differ. Raise `LabError` if the field is not asked.
    """
    question = _question_of(study_data, field)
    if question.kind not in CATEGORICAL:
        these = numbers_like(study_data, question)
        if question.kind in ("interval", "step"):
            split = np.nanmax(these.values, axis=1) - np.nanmin(these.values, axis=1) if len(these.values) else None
        else:
            split = _split_shares(these.values)
        return [] if split is None else _rank_places(these, split, split > 0)
    ratings = ratings_of(study_data, field)
    split = _split_shares(np.where(ratings.codes < 0, np.nan, ratings.codes.astype(np.float64)))
    if cell is None and not one and not other:
        return _rank_places(ratings, split, split > 0)
    # -2 is no code at all: -1 would match missing answers.
    down, across = (ratings.categories.index(name) if name in ratings.categories else -2 for name in cell or ("", ""))
    if one or other:
        two = _two_columns(study_data, field, one or TRUTH, other or TRUTH)
        is_selected = (two.codes[:, 0] == down) & (two.codes[:, 1] == across)
        if cell is None:
            is_selected = (two.codes >= 0).all(axis=1) & (two.codes[:, 0] != two.codes[:, 1])
        if two.places is ratings.places:
            return _rank_places(ratings, split, is_selected)
        # The two may have answered items that are not among those of all people, and the reverse.
        row_of_place = {place: at for at, place in enumerate(ratings.places)}
        splits = np.array([split[row_of_place[place]] if place in row_of_place else 0.0 for place in two.places])
        return _rank_places(two, splits, is_selected)
    counts_by_code = [(ratings.codes == code).sum(axis=1) for code in (down, across)]
    return _rank_places(
        ratings, split, counts_by_code[0] >= 2 if down == across else (counts_by_code[0] > 0) & (counts_by_code[1] > 0)
    )


def _split_shares(values: Floats) -> Floats:
    """Return the share of pairs of raters with different answers at each place, 0 if fewer than two answered."""
    differing_pairs, pairs = np.zeros(len(values)), np.zeros(len(values))
    for one, other in combinations(range(values.shape[1]), 2):
        has_both = ~np.isnan(values[:, one]) & ~np.isnan(values[:, other])
        pairs += has_both
        differing_pairs += has_both & (values[:, one] != values[:, other])
    return differing_pairs / np.maximum(pairs, 1)


def _rank_places(of: Ratings | NumericRatings, split: Floats, here: npt.NDArray[np.bool_]) -> list[tuple[str, str]]:
    rows = np.flatnonzero(here)
    order = rows[np.argsort(-split[rows], kind="stable")]
    return [(of.places[at].unit, of.places[at].target) for at in order.tolist()]
