"""The numbers of each rater of a study: pace, drift, agreement with the others, with gold and with themselves.

The others' answer is the majority of the other people. A judge is compared with all people.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from annotators.agreement.coefficients import categorical, numbers
from annotators.agreement.coefficients.additive import AdditiveStatistic
from annotators.agreement.intervals.estimates import EstimateMaker
from annotators.agreement.ratings.answers import NOT_HANDED_IN, NOT_RATED, answers_of, places_of, places_of_units
from annotators.agreement.ratings.fields import categories_of, codes_of
from annotators.agreement.ratings.rater_sequence import (
    RaterSequence,
    chosen_fields,
    longest_run,
    pairs_before,
    repetition_beyond_chance,
    sequence_of,
    share,
)
from annotators.agreement.ratings.ratings import NumericRatings, Ratings
from annotators.gold_comparison import ALL, rater_sample_counts, share_as_gold, share_as_settled
from annotators.rater_numbers import Longest, RaterNumbers, Stretch
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.protocol import Field
from lab.core.study.report import Grid

REST = "the rest"
_STRETCHES = 10
_LEAST_IN_STRETCH = 5

NOTHING_CHOSEN = "no answer that is an option"
NO_REST = "nothing answered that most of the rest answer, too"
ONE_REST = "only one answered that most of the rest answer, too"


def raters_of(study_data: StudyData) -> list[RaterNumbers]:
    """Return the numbers of all people by code, then of all judges."""
    return [_Rater(study_data, at).numbers() for at in (*study_data.people, *study_data.judges)]


class _Rater:
    """Computes one rater's numbers."""

    def __init__(self, study_data: StudyData, at: int) -> None:
        self.study_data = study_data
        self.at = at
        self.code = study_data.columns.raters[at].id
        self.fields = chosen_fields(study_data)
        self.own = sequence_of(study_data, at)
        self.compared = self.own.compared
        self.categories = max((len(categories_of(study_data, field)) for field in self.fields), default=0)

    def numbers(self) -> RaterNumbers:
        columns = self.study_data.columns
        own_sheets = columns.dealt[:, 1] == self.at
        mine = np.flatnonzero(columns.rater == self.at)
        # In order of time, because the stretches below show the pace along the work.
        seconds = columns.seconds[mine[np.argsort(columns.at[mine], kind="stable")]]
        seconds = seconds[np.isfinite(seconds)]
        halves = self._half_agreements()
        later, before = pairs_before(self.own, len(self.fields))
        effect = repetition_beyond_chance(self.own, len(self.fields), self.categories)
        same_before = float((self.own.code[later] == self.own.code[before]).mean()) if len(later) else None
        effect_size = self._before_agreement(effect, self.own.select(_mask_of(later, len(self.own.code))))
        reasons, missing = self._missing_answers()
        return RaterNumbers(
            self.code,
            "person" if self.at in self.study_data.people else "judge",
            int(own_sheets.sum()),
            int((own_sheets & columns.handed).sum()),
            len(mine),
            len(seconds),
            float(np.median(seconds)) if len(seconds) else None,
            (float(np.quantile(seconds, 0.25)), float(np.quantile(seconds, 0.75))) if len(seconds) else None,
            _stretches(seconds, np.median),
            self._rest_agreement(),
            *halves,
            _stretches((self.compared.code == self.compared.majority).astype(np.float64), np.mean),
            share_as_gold(self.study_data, self.at),
            share_as_settled(self.study_data, self.at),
            effect_size,
            same_before,
            same_before - effect_size.value if same_before is not None and effect_size.value is not None else None,
            self._self_agreement(),
            missing,
            reasons,
            self._flag_counts(),
            self._longest_streak(),
            tuple(one for field in self.study_data.study.protocol.fields for one in self._field_agreements(field)),
            tuple(grid for at, field in enumerate(self.fields) if (grid := self._answer_grid(at, field)) is not None),
        )

    # -- with the rest -----------------------------------------------------------------------------------------

    def _rest_agreement(self) -> Agreement:
        return self._agreement("same as the rest", self._share_of_same(self.compared), self.compared)

    def _share_of_same(self, own: RaterSequence) -> AdditiveStatistic:
        why = NO_REST if len(self.own.code) else NOTHING_CHOSEN
        return share("same as the rest", own.code == own.majority, own.trace, own.traces, why)

    def _half_agreements(self) -> tuple[Agreement, Agreement, Agreement]:
        rows = np.arange(len(self.compared.code))
        first, second = (self.compared.select(half) for half in (rows < len(rows) // 2, rows >= len(rows) // 2))
        one, other = self._share_of_same(first), self._share_of_same(second)
        apart = clip_to_one(self._maker(self.compared).difference("second half minus first", other, one))
        if len(rows) == 1:
            apart = replace(apart, undefined=ONE_REST)
        return (
            self._agreement("same as the rest, first half", one, first),
            self._agreement("same as the rest, second half", other, second),
            apart,
        )

    def _field_agreements(self, field: Field) -> list[Agreement]:
        """Return one field's kappa with the others, or a number's distance from the others' mean."""
        if field in self.fields:
            at = self.fields.index(field)
            field_sequence = self.compared.select(self.compared.field == at)
            codes = np.stack((field_sequence.code, field_sequence.majority), axis=1)
            traces = tuple(map(str, range(field_sequence.traces)))
            two = Ratings(
                field.id,
                categories_of(self.study_data, field),
                codes,
                (self.code, REST),
                field_sequence.trace,
                traces,
                (),
            )
            maker = self._maker(field_sequence, field.id)
            return [
                maker.number("same as the rest", self._share_of_same(field_sequence)),
                maker.number("kappa", categorical.cohen_kappa(two)),
            ]
        own_answers = (self.study_data.columns.rater == self.at) & (
            self.study_data.columns.field == self._field_index(field)
        )
        return [self._distance(field)] if field.kind == "interval" and own_answers.any() else []

    def _field_index(self, field: Field) -> int:
        return self.study_data.columns.fields.index(field.id)

    def _distance(self, field: Field) -> Agreement:
        study_data, field_places = self.study_data, places_of(self.study_data, field)
        people = tuple(one for one in study_data.people if one != self.at)
        value = self._values(field, (self.at,))[:, 0]
        others = self._values(field, people)
        is_given = np.isfinite(others)
        mean_of_others = np.where(
            is_given.any(axis=1),
            np.where(is_given, others, 0).sum(axis=1) / np.maximum(is_given.sum(axis=1), 1),
            np.nan,
        )
        comparable = np.isfinite(value) & np.isfinite(mean_of_others)
        pair = np.stack((value[comparable], mean_of_others[comparable]), axis=1)
        two = NumericRatings(field.id, pair, (self.code, REST), field_places.trace[comparable], field_places.traces, ())
        n = rater_sample_counts(field_places.unit[comparable], field_places.trace[comparable], int(comparable.sum()))
        maker = EstimateMaker(study_data, field.id, n, between=self._between_rest)
        if not comparable.any():
            return maker.undefined(NO_REST, "mean distance")
        return maker.number("mean distance", numbers.mae(two))

    def _values(self, field: Field, raters: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """Return numeric answers (places x raters), nan if missing."""
        answers = answers_of(self.study_data, field, raters, 1)
        of = [
            float(v) if isinstance(v, int | float) and not isinstance(v, bool) else np.nan
            for v in self.study_data.columns.values
        ]
        return np.array([*of, np.nan, np.nan])[answers.value]

    def _answer_grid(self, at: int, field: Field) -> Grid | None:
        field_sequence = self.compared.select(self.compared.field == at)
        names = categories_of(self.study_data, field)
        if not len(field_sequence.code):
            return None
        counts = np.zeros((len(names), len(names)))
        np.add.at(counts, (field_sequence.code, field_sequence.majority), 1)
        table = tuple(tuple(float(count) for count in row) for row in counts)
        return Grid(f"{self.code}-{field.id}", field.id, names, names, table, self.code, REST)

    # -- with themselves ---------------------------------------------------------------------------------------

    def _before_agreement(self, effect: AdditiveStatistic, later: RaterSequence) -> Agreement:
        n = rater_sample_counts(later.unit, later.trace, len(later.code))
        return clip_to_one(EstimateMaker(self.study_data, ALL, n, between=self.code).number(effect.name, effect))

    def _self_agreement(self) -> Agreement:
        """Return the rater's agreement with themselves on items that they rated again."""
        repeats: list[npt.NDArray[np.bool_]] = []
        trace: list[npt.NDArray[np.int32]] = []
        unit: list[npt.NDArray[np.int32]] = []
        columns = self.study_data.columns
        more = sorted({int(run) for run in np.unique(columns.run[columns.rater == self.at])} - {1})
        for field in self.fields:
            first = codes_of(self.study_data, field, answers_of(self.study_data, field, (self.at,), 1))[:, 0]
            for run in more:
                later = codes_of(self.study_data, field, answers_of(self.study_data, field, (self.at,), run))[:, 0]
                both = (first >= 0) & (later >= 0)
                repeats.append(first[both] == later[both])
                trace.append(places_of(self.study_data, field).trace[both])
                unit.append(places_of(self.study_data, field).unit[both])
        if not any(map(len, repeats)):
            why = "nothing rated twice" if len(self.own.code) or not more else NOTHING_CHOSEN
            nothing = EstimateMaker(self.study_data, ALL, rater_sample_counts(*_NO_ROWS, 0), between=self._between_self)
            return nothing.undefined(why, "same again")
        at = np.concatenate(trace)
        one = share("same again", np.concatenate(repeats), at, len(places_of_units(self.study_data).traces), "")
        n = rater_sample_counts(np.concatenate(unit), at, one.places)
        return EstimateMaker(self.study_data, ALL, n, between=self._between_self).number("same again", one)

    # -- what is lacking, and what stands out --------------------------------------------------------------------

    def _missing_answers(self) -> tuple[dict[str, int], Agreement]:
        """Return the missing answers of items that are handed in, by reason, and their share."""
        counts: dict[str, int] = {}
        lacks: list[npt.NDArray[np.bool_]] = []
        trace: list[npt.NDArray[np.int32]] = []
        unit: list[npt.NDArray[np.int32]] = []
        for field in self.study_data.study.protocol.fields:
            # Not raising an optional flag is an answer, so it can never be missing.
            if field.kind == "flag" and not field.required:
                continue
            answers = answers_of(self.study_data, field, (self.at,), 1)
            why = answers.why[:, 0].copy()
            for name in (NOT_HANDED_IN, NOT_RATED):
                why[why == answers.reasons.index(name)] = -1
            on_sheets = (answers.value[:, 0] >= 0) | (why >= 0)
            lacks.append(why[on_sheets] >= 0)
            trace.append(answers.places.trace[on_sheets])
            unit.append(answers.places.unit[on_sheets])
            for at, many in zip(*np.unique(why[why >= 0], return_counts=True), strict=True):
                counts[answers.reasons[at]] = counts.get(answers.reasons[at], 0) + int(many)
        at = np.concatenate(trace) if trace else _NO_ROWS[1]
        lack = np.concatenate(lacks) if lacks else np.zeros(0, dtype=np.bool_)
        columns = self.study_data.columns
        has_handed = bool(columns.handed[columns.dealt[:, 1] == self.at].any())
        why_none = "what is handed in has no question that must be answered" if has_handed else "nothing is handed in"
        one = share("missing", lack, at, len(places_of_units(self.study_data).traces), why_none)
        n = rater_sample_counts(np.concatenate(unit) if unit else _NO_ROWS[0], at, one.places)
        return dict(sorted(counts.items())), EstimateMaker(self.study_data, ALL, n, between=self.code).number(
            "missing", one
        )

    def _flag_counts(self) -> dict[str, int]:
        """Return how often the rater raised each flag, with 0 for those never raised."""
        columns = self.study_data.columns
        # The appended False belongs to index -1, no value.
        raised = np.array([*(value is True for value in columns.values), False], dtype=np.bool_)[columns.value]
        flags = {}
        for field in self.study_data.study.protocol.fields:
            if field.kind == "flag":
                of = (columns.rater == self.at) & (columns.field == columns.fields.index(field.id)) & (columns.run == 1)
                flags[field.id] = int((of & raised).sum())
        return flags

    def _longest_streak(self) -> Longest | None:
        field, code, length, of = longest_run(self.own, len(self.fields))
        if not length:
            return None
        question = self.fields[field]
        return Longest(question.id, categories_of(self.study_data, question)[code], length, of)

    # -- beneath -----------------------------------------------------------------------------------------------

    @property
    def _between_rest(self) -> str:
        return f"{self.code} and {REST}"

    @property
    def _between_self(self) -> str:
        return f"{self.code} again"

    def _agreement(self, name: str, one: AdditiveStatistic, own: RaterSequence) -> Agreement:
        return self._maker(own).number(name, one)

    def _maker(self, own: RaterSequence, field: str = ALL) -> EstimateMaker:
        return EstimateMaker(
            self.study_data, field, rater_sample_counts(own.unit, own.trace, len(own.code)), between=self._between_rest
        )


def clip_to_one(one: Agreement) -> Agreement:
    """Return a difference of shares with its interval clipped to -1 and 1."""
    if one.low is None or one.high is None:
        return one
    return replace(one, low=max(-1.0, one.low), high=min(1.0, one.high))


_NO_ROWS = (np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))


def _mask_of(rows: npt.NDArray[np.intp], many: int) -> npt.NDArray[np.bool_]:
    mask = np.zeros(many, dtype=np.bool_)
    mask[rows] = True
    return mask


def _stretches(values: npt.NDArray[np.float64], of: Any) -> tuple[Stretch, ...]:
    """Return successive values in up to ten equal stretches, each with its median or mean (`of`)."""
    parts = min(_STRETCHES, max(1, len(values) // _LEAST_IN_STRETCH))
    stretches, at = [], 0
    for part in np.array_split(values, parts):
        if len(part):
            stretches.append(Stretch(at + 1, at + len(part), float(of(part)), len(part)))
        at += len(part)
    return tuple(stretches)
