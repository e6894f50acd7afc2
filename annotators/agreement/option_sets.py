"""Agreement on sets of options: similarity of two sets, alpha based on it, and each option by itself.

Sources: Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011; Passonneau, Measuring Agreement on Set-valued
Items (MASI) for Semantic and Pragmatic Annotation, LREC 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients import categorical
from annotators.agreement.coefficients.additive import AdditiveStatistic
from annotators.agreement.coefficients.alpha import alpha_by_distance
from annotators.agreement.coefficients.judge_accuracy import NAMED, judge_statistic
from annotators.agreement.coefficients.numbers import mean
from annotators.agreement.coefficients.similarity import pairwise_share_within
from annotators.agreement.intervals.estimates import AGAIN, AGAINST, MOST, RUNS, EstimateMaker, Statistic
from annotators.agreement.ratings.answers import answers_of, field_named
from annotators.agreement.ratings.fields import (
    FLAG,
    TRUTH,
    clusters_at,
    missing_of,
    numbers_at,
    numeric_truth_and_rater,
)
from annotators.agreement.ratings.item_parts import kinds_of
from annotators.agreement.ratings.ratings import (
    NO_MAJORITY,
    Floats,
    MissingAnswers,
    NumericRatings,
    Ratings,
    missing_of_all,
)
from annotators.agreement.statistics_by_kind import why_not_comparable
from annotators.study_data import StudyData
from lab.core.study.adjudication import set_of_most
from lab.core.study.agreement import Agreement
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import FieldReference

Masks = npt.NDArray[np.bool_]
Alike = Literal["masi", "jaccard"]


class SetRatings(NamedTuple):
    """Answers that are sets of `options`.

    `sets` (different sets x options) are the distinct answers. The values of `numbers` are the index of each rater's
    set, nan if missing.
    """

    options: tuple[str, ...]
    sets: Masks
    numbers: NumericRatings

    @property
    def codes(self) -> npt.NDArray[np.int64]:
        """Index of each rater's set (places x raters), -1 if missing."""
        values = self.numbers.values
        return np.where(np.isnan(values), -1, np.nan_to_num(values)).astype(np.int64)

    def option(self, id: str) -> Ratings:
        """Return the ratings of one option by itself: `no` or `yes`."""
        holds = np.array([*self.sets[:, self.options.index(id)], False], dtype=np.int16)
        codes = np.where(self.codes < 0, np.int16(-1), holds[self.codes])
        numbers = self.numbers
        return Ratings(
            numbers.field,
            FLAG,
            codes,
            numbers.raters,
            numbers.trace,
            numbers.traces,
            numbers.places,
            None,
            numbers.missing,
        )


def sets_of(
    study_data: StudyData, field: str, raters: Sequence[int] | None = None, *, kind: str = "", run: int = 1
) -> SetRatings:
    """Return the answers of raters (indices into the columns, default: the people) to a field of many options.

    `kind` selects targets of one kind. People without any answer get no column.
    """
    who = tuple(study_data.people if raters is None else raters)
    key = ("sets", field, who, raters is None, kind, run)
    sets: SetRatings = study_data.cached(
        key, lambda: _read_sets(study_data, field_named(study_data, field), who, kind, run, raters is None)
    )
    return sets


def _read_sets(
    study_data: StudyData, field: Field, raters: tuple[int, ...], kind: str, run: int, people: bool
) -> SetRatings:
    answers = answers_of(study_data, field, raters, run)
    options, sets, number = _known_sets(study_data, field)
    # The two appended values belong to index -1 (no answer) and to the number after the last value.
    values = np.array([*number, np.nan, np.nan])[answers.value]
    why = answers.why
    if kind:
        of_kind = np.fromiter((one == kind for one in answers.places.kinds), dtype=np.bool_)[:, None]
        values, why = np.where(of_kind, values, np.nan), np.where(of_kind, why, -1).astype(np.int32)
    missing = missing_of(study_data, answers.places, raters, why, answers.reasons)
    numbers = numbers_at(study_data, field.id, values, answers.places, raters, missing, people=people)
    return SetRatings(options, sets, numbers)


def _known_sets(study_data: StudyData, field: Field) -> tuple[tuple[str, ...], Masks, list[float]]:
    """Return the options for people, every set among the study's values, and the set's index for each value.

    Sets keep the order of the values, so that equal answers have equal numbers for all raters.
    """
    options = tuple(option.id for option in field.options if not option.by_rule)
    set_numbers: dict[tuple[str, ...], int] = {}
    number = []
    for value in study_data.columns.values:
        is_set = isinstance(value, list) and all(isinstance(one, str) for one in value)
        number.append(float(set_numbers.setdefault(tuple(value), len(set_numbers))) if is_set else float("nan"))
    return options, _members(options, list(set_numbers)), number


def _members(options: Sequence[str], sets: Sequence[Sequence[str]]) -> Masks:
    """Return membership of options in sets (sets x options)."""
    return np.array([[option in one for option in options] for one in sets], dtype=np.bool_).reshape(-1, len(options))


# -- how alike two sets are --------------------------------------------------------------------------------------


def jaccard_distance(sets: Masks) -> Floats:
    """Return Jaccard's distance (q x q): 1 minus intersection over union, 0 for two empty sets."""
    intersection, union = _overlaps(sets)
    return 1 - np.where(union > 0, intersection / np.maximum(union, 1), 1.0)


def masi_distance(sets: Masks) -> Floats:
    """Return MASI's distance (q x q): 1 minus Jaccard's similarity times a factor for how the sets overlap.

    The factor is 1 for equal sets, 2/3 if one contains the other, 1/3 if they overlap, 0 if they are disjoint
    (Passonneau 2006, section 3). Two empty sets are equal. An empty set is disjoint from every other.
    """
    intersection, union = _overlaps(sets)
    size = sets.sum(axis=1).astype(np.float64)
    smaller_size = np.minimum(size[:, None], size[None, :])
    # Disjoint sets need no case of their own: their similarity of 0 makes the product 0.
    overlap_factor = np.where(intersection == union, 1.0, np.where(intersection == smaller_size, 2 / 3, 1 / 3))
    return 1 - (1 - jaccard_distance(sets)) * overlap_factor


def _overlaps(sets: Masks) -> tuple[Floats, Floats]:
    """Return the sizes of intersection and union of each pair of sets (q x q)."""
    each = sets.astype(np.float64)
    intersection = each @ each.T
    size = each.sum(axis=1)
    return intersection, size[:, None] + size[None, :] - intersection


def alpha_of_sets(these: SetRatings, alike: Alike) -> AdditiveStatistic:
    """Return Krippendorff's alpha with the distance of MASI or Jaccard, as published."""
    sets, codes = _used_sets(these)
    distances = masi_distance(sets) if alike == "masi" else jaccard_distance(sets)
    return alpha_by_distance(f"krippendorff_alpha_{alike}", codes, distances, these.numbers)


def _used_sets(these: SetRatings) -> tuple[Masks, npt.NDArray[np.int64]]:
    """Return the sets that occur here, and the codes renumbered accordingly."""
    codes = these.codes
    used_codes, at = np.unique(codes[codes >= 0], return_inverse=True)
    codes[codes >= 0] = at.reshape(-1)
    return these.sets[used_codes], codes


def same_set(these: SetRatings) -> AdditiveStatistic:
    """Return the share of pairs of raters with equal sets, over places that two rated."""
    # Equal sets have equal numbers, so a band of 0 compares sets.
    return pairwise_share_within(these.numbers, "percent", 0.0)


def same_set_of_all(these: SetRatings) -> AdditiveStatistic:
    """Return the share of places (two raters or more) at which all sets are equal."""
    codes = these.codes
    pairable = (codes >= 0).sum(axis=1) >= 2
    least = np.where(codes < 0, len(these.sets), codes).min(axis=1, initial=len(these.sets))
    is_same = np.where(pairable, (codes.max(axis=1, initial=-1) == least).astype(np.float64), np.nan)
    return mean(is_same, these.numbers.trace, len(these.numbers.traces), "percent_exact", 1.0)


# -- people among themselves -------------------------------------------------------------------------------------


def agreements_of_sets(study_data: StudyData, field: Field) -> list[Agreement]:
    """Return people's agreement on whole sets (also for each kind of target), then on each option."""
    numbers: list[Agreement] = []
    for kind in ("", *kinds_of(study_data, field)):
        these = sets_of(study_data, field.id, kind=kind)
        maker = EstimateMaker(study_data, field.id, these.numbers, kind)
        if why := why_not_comparable(study_data, these.numbers.is_given, these.numbers.raters):
            numbers.append(maker.undefined(why))
        else:
            numbers += maker.numbers(_set_statistics(these))
    these = sets_of(study_data, field.id)
    if not why_not_comparable(study_data, these.numbers.is_given, these.numbers.raters):
        for id in these.options:
            ratings = these.option(id)
            numbers += EstimateMaker(study_data, field.id, ratings, part_of(id)).numbers(_option_statistics(ratings))
    return numbers


def part_of(option: str) -> str:
    """Return the part name of an option's numbers."""
    return f"option {option}"


def _set_statistics(these: SetRatings) -> list[Statistic]:
    """Return the statistics of whole sets: the share of equal ones, and alpha by the distances of MASI and Jaccard."""
    statistics: list[Statistic] = [("percent", lambda: same_set(these))]
    if len(these.numbers.raters) != 2:
        statistics.append(("percent exact", lambda: same_set_of_all(these)))
    return [
        *statistics,
        ("alpha masi", lambda: alpha_of_sets(these, "masi")),
        ("alpha jaccard", lambda: alpha_of_sets(these, "jaccard")),
    ]


def _option_statistics(ratings: Ratings) -> list[Statistic]:
    """Return the statistics of one option: percent, kappa (Cohen's for two raters, else Fleiss') and AC1."""
    two = len(ratings.raters) == 2
    kappa: Statistic = ("fleiss kappa", lambda: categorical.fleiss_kappa(ratings))
    if two:
        kappa = ("cohen kappa", lambda: categorical.cohen_kappa(ratings))
    return [
        ("percent", lambda: categorical.percent(ratings)), kappa, ("ac1", lambda: categorical.gwet_ac(ratings)),
    ]  # fmt: skip


def pairs_of_sets(study_data: StudyData, field: Field) -> list[Agreement]:
    """Return alpha with MASI's distance, the share of equal sets and alpha with Jaccard's, for each pair of people."""
    these = sets_of(study_data, field.id)
    numbers: list[Agreement] = []
    for pair in combinations(range(len(these.numbers.raters)), 2):
        two = these._replace(numbers=these.numbers.by_raters(pair))
        share, masi, jaccard = _set_statistics(two)
        maker = EstimateMaker(study_data, field.id, two.numbers, between=" and ".join(two.numbers.raters))
        numbers += maker.numbers([masi, share, jaccard])
    return numbers


# -- people with themselves, and judges --------------------------------------------------------------------------


def sets_again(study_data: StudyData, field: Field) -> list[Agreement]:
    """Return the agreement of each person's repeated sets with their first, empty if nothing was rated twice."""
    parts = [
        _two_columns(sets_of(study_data, field.id, [rater], run=2), sets_of(study_data, field.id, [rater], run=1))
        for rater in study_data.people
    ]
    places = tuple(place for one in parts for place in one.numbers.places)
    if not places:
        return []
    # `_two_columns` puts the second rating first, because the truth's place is its first column.
    values = np.concatenate([one.numbers.values[:, ::-1] for one in parts])
    trace, traces = clusters_at(study_data, places)
    missing = missing_of_all([one.numbers.missing for one in parts])
    numbers = NumericRatings(field.id, values, ("first", "again"), trace, traces, places, missing)
    two = parts[0]._replace(numbers=numbers)
    raters = sum(bool(one.numbers.is_given.all(axis=1).any()) for one in parts)
    return EstimateMaker(study_data, field.id, numbers, between=AGAIN, raters=raters).numbers(_set_statistics(two))


def sets_of_runs(study_data: StudyData, field: Field, judge: int, runs: Sequence[int]) -> SetRatings | None:
    """Return a judge's runs as columns, over the places that any of them rated, or None if there are none."""
    parts = [sets_of(study_data, field.id, [judge], run=run) for run in runs]
    places = tuple(dict.fromkeys(place for one in parts for place in one.numbers.places))
    if not places:
        return None
    at = {place: row for row, place in enumerate(places)}
    values = np.full((len(places), len(parts)), np.nan)
    for column, one in enumerate(parts):
        values[[at[place] for place in one.numbers.places], column] = one.numbers.values[:, 0]
    names = tuple(f"run {run}" for run in runs)
    missing = missing_of_all([one.numbers.missing for one in parts])
    numbers = NumericRatings(field.id, values, names, *clusters_at(study_data, places), places, missing)
    return parts[0]._replace(numbers=numbers)


def sets_of_judge_again(study_data: StudyData, field: Field, judge: int, runs: Sequence[int]) -> list[Agreement]:
    """Return the share of equal sets among a judge's runs."""
    these = sets_of_runs(study_data, field, judge, runs)
    if these is None:
        return []
    between = study_data.columns.raters[judge].id + RUNS
    maker = EstimateMaker(study_data, field.id, these.numbers, between=between, raters=1)
    return [maker.number("percent", same_set(these)), maker.number("percent exact", same_set_of_all(these))]


def judge_of_sets(study_data: StudyData, field: Field, judge: int) -> list[Agreement]:
    """Return a judge's agreement with the majority's sets, then accuracy, precision, recall, F1 and kappa by option.

    For whole sets it is the share of equal ones, and alpha by both distances.
    """
    answers = sets_of(study_data, field.id, [judge])
    if not answers.numbers.places:
        return []
    two = _two_columns(truth_of_sets(study_data, field), answers)
    between = f"{study_data.columns.raters[judge].id}{AGAINST}{MOST}"
    maker = EstimateMaker(study_data, field.id, two.numbers, between=between)
    if not maker.places:
        return [maker.undefined("no item has both an answer of most people and the judge's")]
    share, *alphas = _set_statistics(two)
    numbers = maker.numbers([("accuracy", share[1]), *alphas])
    for id in two.options:
        ratings = two.option(id)
        own = EstimateMaker(study_data, field.id, ratings, part_of(id), between)
        numbers += [own.number(name, judge_statistic(ratings, what, "yes")) for what, name in NAMED]
        numbers.append(own.number("ac1", categorical.gwet_ac(ratings)))
    return numbers


def truth_of_sets(study_data: StudyData, field: Field) -> SetRatings:
    """Return one column, `truth`, over the places that people answered.

    It is the adjudicated set, else the majority's, else the options that each have a majority; nan if there is none.
    """
    people = sets_of(study_data, field.id)
    answers = answers_of(study_data, field, tuple(study_data.people), 1)
    gave = dict(zip(answers.places.places, answers.has_reason.sum(axis=1).tolist(), strict=True))
    set_numbers = {tuple(np.array(people.options)[row]): at for at, row in enumerate(people.sets)}
    values = np.full((len(people.numbers.places), 1), np.nan)
    for at, place in enumerate(people.numbers.places):
        answer_sets = [tuple(np.array(people.options)[people.sets[code]]) for code in people.codes[at] if code >= 0]
        settlement = study_data.settled.get((place.unit, FieldReference(place.target, field.id)))
        most = (
            settlement.what.value if settlement is not None else _majority_set(field, answer_sets, gave.get(place, 0))
        )
        if most is not None:
            values[at, 0] = set_numbers.setdefault(tuple(most), len(set_numbers))
    lacking = MissingAnswers.one_each(
        ((people.numbers.places[row], NO_MAJORITY) for row in np.flatnonzero(np.isnan(values[:, 0])).tolist()), TRUTH
    )
    numbers = people.numbers._replace(values=values, raters=(TRUTH,), missing=lacking)
    return SetRatings(people.options, _members(people.options, list(set_numbers)), numbers)


def _majority_set(field: Field, answer_sets: Sequence[tuple[str, ...]], gave: int) -> Sequence[str] | None:
    """Return the majority's set among these people and `gave` more who gave a reason.

    Without a majority for one set, each option is decided by itself.
    """
    people = len(answer_sets) + gave
    for one in answer_sets:
        if 2 * answer_sets.count(one) > people:
            return one
    return set_of_most(field, [(one, 1) for one in answer_sets], people)


def _two_columns(one: SetRatings, other: SetRatings) -> SetRatings:
    """Return two columns over the places of the first, both only where both exist.

    Both number their sets alike, so the longer list contains the shorter one.
    """
    numbers = numeric_truth_and_rater(one.numbers, other.numbers)
    # The truth may add sets that no rater chose, at the end of the same list.
    longer = one if len(one.sets) >= len(other.sets) else other
    return SetRatings(one.options, longer.sets, numbers)
