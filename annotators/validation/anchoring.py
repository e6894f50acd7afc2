"""Anchoring: the pull of a judge's answers that are shown first, from a random comparison with hidden ones.

A study may show a judge's answers before people answer, on half of the sheets, drawn for each unit and rater
(`annotators.assignment.shows_prelabel`). The two halves differ in nothing else, so a difference between them is an
effect of showing. Answers given with a judge's in sight are not independent, so all other statistics leave them out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients import numbers
from annotators.agreement.coefficients.additive import AdditiveStatistic, Estimate
from annotators.agreement.intervals.intervals import difference, estimate
from annotators.agreement.ratings.answers import FieldPlaces, answers_of, places_at, places_of
from annotators.agreement.ratings.fields import CATEGORICAL, codes_of
from annotators.agreement.ratings.ratings import Floats
from annotators.study_data import StudyData
from lab.core.study.agreement import IntervalTerms
from lab.core.study.label import Act
from lab.core.study.label_columns import Columns
from lab.core.study.protocol import Field

Sheets = Collection[tuple[str, str, int]]
"""Sheets by unit, rater and run."""
Mask = npt.NDArray[np.bool_]


_OF_LABELS = (
    "unit", "target", "field", "rater", "run", "value", "reason", "step", "cites", "at", "seconds", "confidence",
)  # fmt: skip
"""Columns with one row per label."""


class AnchoringArm(NamedTuple):
    """One arm, shown or hidden: how often people agree with the judge, and their seconds per answer."""

    same: Estimate
    seconds: Estimate
    answers: int
    timed: int


class Anchoring(NamedTuple):
    """Anchoring in one field: both arms, and shown minus hidden."""

    field: Field
    shown: AnchoringArm
    hidden: AnchoringArm
    same: Estimate
    seconds: Estimate


def shown_sheets(acts: Iterable[Act]) -> Sheets:
    """Return the sheets that showed a judge's answers first, as recorded when a rater opened them."""
    return {
        (act.unit, act.rater.id, act.run)
        for act in acts
        if act.act == "opened" and act.rater.kind == "human" and act.detail.get("prelabel")
    }


def drop_sheets(columns: Columns, sheets: Sheets) -> Columns:
    """Return a study's labels without those of some people's sheets, as if these had not been dealt."""
    if not sheets:
        return columns
    unit = {id: at for at, id in enumerate(columns.units)}
    rater = {one.id: at for at, one in enumerate(columns.raters) if one.kind == "human"}
    # Compared by numbers, as the columns store units and raters.
    sheet_keys = {(unit[u], rater[r], run) for u, r, run in sheets if u in unit and r in rater}
    rows = zip(columns.unit.tolist(), columns.rater.tolist(), columns.run.tolist(), strict=True)
    label_stays = np.fromiter((row not in sheet_keys for row in rows), np.bool_, count=columns.size)
    sheet_stays = np.fromiter(
        (tuple(row) not in sheet_keys for row in columns.dealt.tolist()), np.bool_, count=len(columns.dealt)
    )
    by_row = {name: getattr(columns, name)[label_stays] for name in _OF_LABELS}
    return columns._replace(**by_row, dealt=columns.dealt[sheet_stays], handed=columns.handed[sheet_stays])


def anchoring(study_data: StudyData, judge: str, sheets: Sheets) -> list[Anchoring]:
    """Return the effect of showing `judge`'s answers on each categorical field.

    `study_data` must hold all answers, also those with the judge's in sight. Calibration units and repeats never showed
    any and do not count.
    """
    at = next((at for at in study_data.judges if study_data.columns.raters[at].id == judge), None)
    if at is None or not sheets:
        return []
    fields = [field for field in study_data.study.protocol.fields if field.kind in CATEGORICAL]
    return [one for field in fields if (one := _of_field(study_data, field, at, sheets)) is not None]


def _of_field(study_data: StudyData, field: Field, judge: int, sheets: Sheets) -> Anchoring | None:
    """Return one field's effect, over people's answers at places that the judge answered, or None if there are none."""
    field_places = places_of(study_data, field)
    judge_codes = codes_of(study_data, field, answers_of(study_data, field, [judge], 1))[:, 0]
    people_codes = codes_of(study_data, field, answers_of(study_data, field, study_data.people, 1))
    names = [study_data.columns.raters[one].id for one in study_data.people]
    had_prelabel: Mask = np.array(
        [[(place.unit, name, 1) in sheets for name in names] for place in field_places.places], np.bool_
    )
    has_both = (people_codes >= 0) & (judge_codes >= 0)[:, None]
    if not has_both.any():
        return None
    same = np.where(has_both, people_codes == judge_codes[:, None], np.nan)
    seconds = np.where(has_both, _seconds(study_data, field, field_places), np.nan)
    # The jackknife-t, whatever interval the report has otherwise.
    how = IntervalTerms(level=study_data.how.level)
    arms = [
        [_mean(np.where(arm, values, np.nan), field_places, most) for arm in (had_prelabel, ~had_prelabel)]
        for values, most in ((same, 1.0), (seconds, None))
    ]
    counts = [
        (int((arm & has_both).sum()), int((arm & np.isfinite(seconds)).sum())) for arm in (had_prelabel, ~had_prelabel)
    ]  # fmt: skip
    comparisons = [
        AnchoringArm(estimate(arms[0][side], how), estimate(arms[1][side], how), *counts[side]) for side in (0, 1)
    ]  # fmt: skip
    return Anchoring(
        field,
        comparisons[0],
        comparisons[1],
        difference(arms[0][0], arms[0][1], how),
        difference(arms[1][0], arms[1][1], how),
    )


def _mean(values: Floats, field_places: FieldPlaces, most: float | None) -> AdditiveStatistic:
    """Return the mean of values (places x people) without nan, over clusters."""
    trace = np.repeat(field_places.trace, values.shape[1])
    return numbers.mean(values.ravel(), trace, len(field_places.traces), "mean", most, 0.0)


def _seconds(study_data: StudyData, field: Field, field_places: FieldPlaces) -> Floats:
    """Return the seconds of each answer (places x people), nan if unknown."""
    columns = study_data.columns
    column = {one: at for at, one in enumerate(study_data.people)}
    of = (
        (columns.field == columns.fields.index(field.id))
        & (columns.run == 1)
        & np.isin(columns.rater, study_data.people)
    )
    rows = np.flatnonzero(of)
    place = places_at(study_data, field, rows)
    rows, place = rows[place >= 0], place[place >= 0]
    out = np.full((len(field_places.places), len(study_data.people)), np.nan)
    out[place, [column[one] for one in columns.rater[rows].tolist()]] = columns.seconds[rows]
    return out
