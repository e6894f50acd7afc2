"""Items at which a field can be answered, and what each rater answered there in one rating: places by raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.ratings.ratings import RatedItem
from annotators.study_data import StudyData
from lab.core.study.protocol import Field
from lab.core.study.study import Unit

Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

NOT_HANDED_IN, NOT_RATED, UNANSWERED = "not_handed_in", "not_rated", "unanswered"
"""Reasons beside those that raters give: a person's sheet is not handed in, a judge skipped an item, anything else."""


class FieldPlaces(NamedTuple):
    """A field's items in the order of units and of their targets.

    Pilot units and answers by a rule are left out. `unit` and `target` are indices into `Columns`, `kinds` are the
    targets' kinds, `trace` indexes `traces`.
    """

    places: tuple[RatedItem, ...]
    unit: Ints
    target: Ints
    kinds: tuple[str, ...]
    trace: Ints
    traces: tuple[str, ...]


class FieldAnswers(NamedTuple):
    """Answers of `raters` (columns) at a field's items (rows).

    `value` indexes the columns' values. Their length stands for a flag that was not raised, -1 for no value. `why`
    indexes `reasons` if a due answer is missing, else -1. `has_reason` marks reasons that the rater gave.
    """

    places: FieldPlaces
    value: Ints
    why: Ints
    reasons: tuple[str, ...]
    step: Ints

    @property
    def has_reason(self) -> Mask:
        others = [self.reasons.index(name) for name in (NOT_HANDED_IN, NOT_RATED, UNANSWERED)]
        return (self.why >= 0) & ~np.isin(self.why, others)


def field_named(study_data: StudyData, name: str) -> Field:
    """Return a field of the study's protocol. Raise `ValueError` if there is none of that name."""
    field = study_data.study.protocol.field(name)
    if field is None:
        raise ValueError(f"{study_data.study.name} asks nothing named {name}")
    return field


def places_of(study_data: StudyData, field: Field) -> FieldPlaces:
    """Return a field's items, cached in the study's data."""
    per_target = field.per == "target" and study_data.study.protocol.targets != "unit"
    places: FieldPlaces = study_data.cached(("laid", field.id), lambda: _field_places(study_data, field, per_target))
    return places


def places_of_units(study_data: StudyData) -> FieldPlaces:
    """Return the units themselves as items, cached in the study's data."""
    places: FieldPlaces = study_data.cached(("laid",), lambda: _field_places(study_data, None, False))
    return places


def _field_places(study_data: StudyData, field: Field | None, per_target: bool) -> FieldPlaces:
    columns = study_data.columns
    units = {id: i for i, id in enumerate(columns.units)}
    targets = {id: i for i, id in enumerate(columns.targets)}
    clusters: dict[str, int] = {}
    places: list[RatedItem] = []
    where: list[tuple[int, int, int]] = []
    kinds: list[str] = []
    for unit in study_data.units:
        if unit.pilot or unit.id not in units:
            continue
        ruled_targets = {one.target for one in unit.mechanical if field is not None and one.field == field.id}
        at, cluster = units[unit.id], clusters.setdefault(unit.clustered, len(clusters))
        for id, kind in [(one.id, one.kind) for one in unit.targets] if per_target else [("", "")]:
            if id not in ruled_targets and id in targets:
                places.append(RatedItem(unit.id, id))
                where.append((at, targets[id], cluster))
                kinds.append(kind)
    index = np.array(where, dtype=np.int32).reshape(-1, 3)
    return FieldPlaces(tuple(places), index[:, 0], index[:, 1], tuple(kinds), index[:, 2], tuple(clusters))


def answers_of(study_data: StudyData, field: Field, raters: Sequence[int], run: int) -> FieldAnswers:
    """Return these raters' answers to a field in their first rating (`run` 1) or a later one, cached."""
    key = ("said", field.id, tuple(raters), run)
    answers: FieldAnswers = study_data.cached(key, lambda: _field_answers(study_data, field, raters, run))
    return answers


def _field_answers(study_data: StudyData, field: Field, raters: Sequence[int], run: int) -> FieldAnswers:
    columns, field_places = study_data.columns, places_of(study_data, field)
    value, reason, step = _label_arrays(study_data, field, raters, run)
    is_asked = _asked_mask(study_data, field, raters, run)
    expected, handed = sheets_of(study_data, raters, run)
    expected, handed = expected[field_places.unit], handed[field_places.unit]
    value = np.where(is_asked, value, -1)
    reasons = (*columns.reasons, *(one for one in (NOT_HANDED_IN, NOT_RATED, UNANSWERED) if one not in columns.reasons))
    why = np.where(is_asked & (value < 0), reason, -1)
    bare = (value < 0) & (why < 0) & expected
    # A judge that answered nothing did not raise flags either: its silence is a missing rating, not a "no".
    judge = np.array([one in study_data.judges for one in raters], dtype=np.bool_)
    if field.kind == "flag":
        has_rated = (value >= 0).any(axis=0) | (why >= 0).any(axis=0) | ~judge
        value = np.where(bare & handed & is_asked & has_rated, len(columns.values), value)
        bare &= value < 0
    is_due = field.required or field.kind == "flag"
    if is_due:
        unanswered = np.where(judge, reasons.index(NOT_RATED), reasons.index(UNANSWERED))
        absent = np.where(judge, reasons.index(NOT_RATED), reasons.index(NOT_HANDED_IN))
        why = np.where(bare & handed & is_asked, unanswered, why)
        # An optional follow-up may not have been asked at all, so its absence on a sheet that is not handed in means
        # nothing.
        if not field.show_if:
            why = np.where(bare & ~handed, absent, why)
    return FieldAnswers(
        field_places, value.astype(np.int32), why.astype(np.int32), reasons, np.where(value >= 0, step, -1)
    )


def _label_arrays(study_data: StudyData, field: Field, raters: Sequence[int], run: int) -> tuple[Ints, Ints, Ints]:
    """Return a field's current labels as value, reason and step (each places x raters), -1 if there is none."""
    columns, field_places = study_data.columns, places_of(study_data, field)
    column = np.full(len(columns.raters) + 1, -1, dtype=np.int32)
    column[list(raters)] = np.arange(len(raters), dtype=np.int32)
    number = columns.fields.index(field.id)
    rows = np.flatnonzero((columns.field == number) & (columns.run == run) & (column[columns.rater] >= 0))
    place = _place_indices(field_places, columns.unit[rows], columns.target[rows], len(columns.targets))
    rows, place = rows[place >= 0], place[place >= 0]
    shape = (len(field_places.places), len(raters))
    out = tuple(np.full(shape, -1, dtype=np.int32) for _ in range(3))
    for into, source in zip(out, (columns.value, columns.reason, columns.step), strict=True):
        into[place, column[columns.rater[rows]]] = source[rows]
    return out[0], out[1], out[2]


def places_at(study_data: StudyData, field: Field, rows: npt.NDArray[np.intp]) -> Ints:
    """Return for each label (rows of the columns) its index among the field's items, -1 if it has none."""
    columns = study_data.columns
    return _place_indices(places_of(study_data, field), columns.unit[rows], columns.target[rows], len(columns.targets))


def _place_indices(field_places: FieldPlaces, unit: Ints, target: Ints, targets: int) -> Ints:
    """Return for each (unit, target) its index among the items, -1 if there is none."""
    if not len(field_places.places):
        return np.full(len(unit), -1, dtype=np.int32)
    place_keys = field_places.unit.astype(np.int64) * targets + field_places.target
    order = np.argsort(place_keys, kind="stable")
    keys = unit.astype(np.int64) * targets + target
    at = np.minimum(np.searchsorted(place_keys[order], keys), len(place_keys) - 1)
    return np.where(place_keys[order][at] == keys, order[at], -1).astype(np.int32)


def _asked_mask(study_data: StudyData, field: Field, raters: Sequence[int], run: int) -> Mask:
    """Return a mask (places x raters): True if a rater's other answers caused the field to be asked."""
    columns, field_places = study_data.columns, places_of(study_data, field)
    if not field.show_if:
        return np.ones((len(field_places.places), len(raters)), dtype=np.bool_)
    name = field.show_if.partition("=")[0]
    asking = field_named(study_data, name)
    value, _, _ = _label_arrays(study_data, asking, raters, run)
    # The appended False belongs to index -1 (no answer) as well as to a flag that was not raised.
    opens = np.array([*map(field.is_asked_for, columns.values), False], dtype=np.bool_)
    whole = places_of(study_data, asking)
    same = _place_indices(whole, field_places.unit, field_places.target, len(columns.targets))
    if not (same >= 0).all():  # it is asked of the unit as a whole
        unit_wide = _place_indices(whole, field_places.unit, np.zeros_like(field_places.target), len(columns.targets))
        same = np.where(same >= 0, same, unit_wide)
    opening = opens[value] if len(value) else np.zeros((1, len(raters)), dtype=np.bool_)
    mask: Mask = opening[same] & (same >= 0)[:, None]
    return mask


def sheets_of(study_data: StudyData, raters: Sequence[int], run: int) -> tuple[Mask, Mask]:
    """Return two masks (units x raters): sheets that were due and sheets that exist. For a judge every unit is due."""
    columns = study_data.columns
    expected = np.zeros((len(columns.units), len(raters)), dtype=np.bool_)
    handed = expected.copy()
    for at, rater in enumerate(raters):
        own_sheets = (columns.dealt[:, 1] == rater) & (columns.dealt[:, 2] == run)
        expected[columns.dealt[own_sheets, 0], at] = True
        handed[columns.dealt[own_sheets & columns.handed, 0], at] = True
        answered_units = columns.unit[(columns.rater == rater) & (columns.run == run)]
        handed[answered_units, at] = True
        if rater in study_data.judges:
            expected[:, at] = True
    return expected | handed, handed


def rule_answers(unit: Unit, field: str) -> dict[str, object]:
    """Return a rule's answers for a unit and field, by target."""
    return {one.target: one.value for one in unit.mechanical if one.field == field}
