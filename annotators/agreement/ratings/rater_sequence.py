"""One rater's answers in order of time, and the majority of the others at each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients.additive import AdditiveStatistic, ratio, totals_by_trace
from annotators.agreement.ratings.answers import Ints, answers_of, places_at, places_of, places_of_units
from annotators.agreement.ratings.fields import Codes, categories_of, codes_of
from annotators.agreement.ratings.ratings import Floats
from annotators.study_data import StudyData
from lab.core.study.protocol import Field

CHOSEN = ("nominal", "ordinal")
"""Kinds of fields whose answers are options. A flag that was not raised has no time."""


class RaterSequence(NamedTuple):
    """A rater's answers to fields of options, the earliest first, one row per answer.

    `field` indexes the study's fields of options, `code` their categories. `majority` is the answer of more than half
    of the other people, -1 without such a majority or without others. `unit` and `trace` are indices.
    """

    field: Ints
    code: Codes
    majority: Codes
    unit: Ints
    trace: Ints
    traces: int

    def select(self, mask: npt.NDArray[np.bool_]) -> RaterSequence:
        """Return only the masked rows."""
        return RaterSequence(
            self.field[mask], self.code[mask], self.majority[mask], self.unit[mask], self.trace[mask], self.traces
        )  # fmt: skip

    @property
    def compared(self) -> RaterSequence:
        """The answers for which the others have a majority."""
        return self.select(self.majority >= 0)


def chosen_fields(study_data: StudyData) -> tuple[Field, ...]:
    """Return the study's fields of options, in order."""
    return tuple(field for field in study_data.study.protocol.fields if field.kind in CHOSEN)


def sequence_of(study_data: StudyData, rater: int) -> RaterSequence:
    """Return the choices of a rater (an index into the columns) in their first rating."""
    parts = [_field_sequence(study_data, at, field, rater) for at, field in enumerate(chosen_fields(study_data))]
    if not parts:
        none = np.zeros(0, dtype=np.int32)
        return RaterSequence(
            none, none.astype(np.int16), none.astype(np.int16), none, none, len(places_of_units(study_data).traces)
        )
    rows = np.concatenate([rows for rows, _ in parts])
    # By time, and by row within one instant.
    order = np.lexsort((rows, study_data.columns.at[rows]))
    owns = [own for _, own in parts]
    return RaterSequence(
        np.concatenate([own.field for own in owns])[order],
        np.concatenate([own.code for own in owns])[order],
        np.concatenate([own.majority for own in owns])[order],
        np.concatenate([own.unit for own in owns])[order],
        np.concatenate([own.trace for own in owns])[order],
        len(places_of_units(study_data).traces),
    )


def _field_sequence(
    study_data: StudyData, at: int, field: Field, rater: int
) -> tuple[npt.NDArray[np.intp], RaterSequence]:
    columns, field_places = study_data.columns, places_of(study_data, field)
    raters = study_data.people if rater in study_data.people else study_data.judges
    own_column = raters.index(rater)
    codes = _codes(study_data, field, raters)[:, own_column]
    number = columns.fields.index(field.id)
    rows = np.flatnonzero((columns.rater == rater) & (columns.field == number) & (columns.run == 1))
    place = places_at(study_data, field, rows)
    has_code = place >= 0
    has_code[has_code] = codes[place[has_code]] >= 0
    rows, place = rows[has_code], place[has_code]
    rest = majority_of_others(study_data, field, rater)[place]
    own = RaterSequence(
        np.full(len(rows), at, dtype=np.int32), codes[place], rest, columns.unit[rows], field_places.trace[place],
        len(field_places.traces),
    )  # fmt: skip
    return rows, own


def majority_of_others(study_data: StudyData, field: Field, rater: int) -> Codes:
    """Return the answer of more than half of the people other than this one at each place of a field, else -1.

    Reasons for having no answer are votes too, as in the truth against which judges are measured.
    """
    counts, voices = _votes(study_data, field)
    if rater in study_data.people:
        answers = answers_of(study_data, field, study_data.people, 1)
        at = study_data.people.index(rater)
        # The rater's own vote is taken out of the cached counts.
        mine = _codes(study_data, field, study_data.people)[:, at]
        counts = counts - (mine[:, None] == np.arange(counts.shape[1]))
        voices = voices - ((mine >= 0) | answers.has_reason[:, at])
    if not counts.size:
        return np.full(len(counts), -1, dtype=np.int16)
    best = counts.argmax(axis=1)
    best_count = counts[np.arange(len(counts)), best]
    return np.where((best_count > 0) & (2 * best_count > voices), best, -1).astype(np.int16)


def _codes(study_data: StudyData, field: Field, raters: tuple[int, ...]) -> Codes:
    """Return these raters' first ratings as codes (places x raters), cached."""
    codes: Codes = study_data.cached(
        ("codes", field.id, raters), lambda: codes_of(study_data, field, answers_of(study_data, field, raters, 1))
    )
    return codes


def _votes(study_data: StudyData, field: Field) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return how many people chose each category at each place, and how many answered or gave a reason, cached."""

    def counted() -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        answers = answers_of(study_data, field, study_data.people, 1)
        codes = _codes(study_data, field, study_data.people)
        counts_by_code = [(codes == at).sum(axis=1) for at in range(len(categories_of(study_data, field)))]
        counts = np.stack(counts_by_code, axis=1) if counts_by_code else np.zeros((len(codes), 0))
        return counts.astype(np.int32), ((codes >= 0) | answers.has_reason).sum(axis=1).astype(np.int32)

    votes: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] = study_data.cached(("votes", field.id), counted)
    return votes


def share(name: str, same: npt.NDArray[np.bool_], trace: Ints, traces: int, why: str) -> AdditiveStatistic:
    """Return the share of rows that are `same`. `why` is the reason if there are no rows."""
    sums = totals_by_trace(np.column_stack((same, np.ones(len(same)))).astype(np.float64), trace, max(1, traces))
    return AdditiveStatistic(
        name, sums, lambda sums: ratio(sums[..., 0], sums[..., 1]), lambda sums: why, least=0.0, places=len(same)
    )


def pairs_before(own: RaterSequence, fields: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return row indices, and for each the row of the same field before it, at the beginning of each further unit.

    The earlier row is the last answer to the unit before. Answers within a unit are alike because of the unit. Answers
    to different units are linked only by their order, which dealing shuffles.
    """
    later: list[npt.NDArray[np.intp]] = []
    before: list[npt.NDArray[np.intp]] = []
    for field in range(fields):
        rows = np.flatnonzero(own.field == field)
        begins = np.flatnonzero(own.unit[rows[1:]] != own.unit[rows[:-1]]) + 1
        later.append(rows[begins])
        before.append(rows[begins - 1])
    none = [np.zeros(0, dtype=np.intp)]
    return np.concatenate(later or none), np.concatenate(before or none)


def repetition_beyond_chance(own: RaterSequence, fields: int, categories: int) -> AdditiveStatistic:
    """Return how much more often an answer equals the one before than the rater's own margins predict, as a share.

    Sums, for each field: equal pairs, pairs, and the frequency of each category later and before.
    """
    later, before = pairs_before(own, fields)
    weights = np.eye(categories)
    parts: list[Floats] = []
    for field in range(fields):
        mine = own.field[later] == field
        one, other = own.code[later[mine]], own.code[before[mine]]
        table = np.column_stack((one == other, np.ones(len(one)), weights[one], weights[other])).astype(np.float64)
        parts.append(totals_by_trace(table, own.trace[later[mine]], max(1, own.traces)))
    sums = np.concatenate(parts, axis=1) if parts else np.zeros((1, 0))

    def evaluate(sums: Floats) -> Floats:
        each = sums.reshape(*sums.shape[:-1], fields, 2 + 2 * categories)
        pairs = each[..., 1]
        chance = ratio((each[..., 2 : 2 + categories] * each[..., 2 + categories :]).sum(axis=-1), pairs)
        return ratio((each[..., 0] - np.where(pairs > 0, chance, 0.0)).sum(axis=-1), pairs.sum(axis=-1))

    return AdditiveStatistic(
        "same as before, beyond chance",
        sums,
        evaluate,
        lambda sums: "fewer than two items answered",
        None,
        places=len(later),
    )


def longest_run(own: RaterSequence, fields: int) -> tuple[int, int, int, int]:
    """Return field, code, length and total of the longest streak of equal answers to one field.

    The length is 0 if there is none.
    """
    best = (0, -1, 0, 0)
    for field in range(fields):
        codes = own.code[own.field == field]
        if not len(codes):
            continue
        starts = np.concatenate(([0], np.flatnonzero(codes[1:] != codes[:-1]) + 1))
        lengths = np.diff(np.concatenate((starts, [len(codes)])))
        at = int(lengths.argmax())
        if int(lengths[at]) > best[2]:
            best = (field, int(codes[starts[at]]), int(lengths[at]), len(codes))
    return best
