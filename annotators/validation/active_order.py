"""The order in which a study is dealt so that people label first where judges are unsure, and the weights that undo it.

The units that come first are drawn with known probabilities (`label_queue`), the others follow in an order of chance.
So whatever was labelled by a moment, how likely each unit was to be among it is known, and one over that weighs it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from annotators.agreement.answers import answers_of, places_at, places_of, units_laid
from annotators.agreement.fields import CATEGORICAL, codes_of
from annotators.agreement.ratings import Floats
from annotators.assignment import chance
from annotators.study_data import StudyData
from annotators.validation.label_queue import UNIFORM, doubt_of_confidence, doubt_of_runs, inclusion, label_queue
from lab.core.errors import LabError
from lab.core.label import Act
from lab.core.protocol import Field

_UNKNOWN = 0.5
"""The doubt where no judge says anything: that of a coin."""


class ActiveOrder(msgspec.Struct, frozen=True):
    """How a study was dealt: `units` in their order, of which the first `drawn` were drawn with `probability` (units).

    `judges` are whose doubt it went by, `uniform` the share of the draws that was dealt to all units alike.
    """

    judges: tuple[str, ...]
    drawn: int
    uniform: float
    units: tuple[str, ...]
    probability: tuple[float, ...]


def active_order(study_data: StudyData, drawn: int | None = None) -> ActiveOrder:
    """The order by what the study's judges have said so far; `drawn` units come first (None: half of them).

    Raises `LabError` where no judge has said anything, or so many units are not there.
    """
    study = study_data.study
    doubt = doubts(study_data)
    judges = tuple(study_data.columns.raters[at].id for at in study_data.judges)
    if not judges or not any(study_data.columns.rater.tolist().count(at) for at in study_data.judges):
        hint = f"`hitlab judge {study.id} --model NAME --runs 3` has one judge it."
        raise LabError(f"study {study.name}", "has no judge's answers to order it by yet.", hint)
    ids = list(doubt)
    count = -(-len(ids) // 2) if drawn is None else drawn
    if not 1 <= count <= len(ids):
        raise LabError("--first", f"{count} is not from 1 to the {len(ids)} units there are.", code=2)
    queue = label_queue(inclusion([doubt[id] for id in ids], count), chance(study, "active"))
    first = [ids[at] for at in queue.order.tolist()]
    rest = sorted(set(ids) - set(first), key=lambda id: chance(study, "active", id))
    likely = dict(zip(ids, queue.probability.tolist(), strict=True))
    units = (*first, *rest)
    return ActiveOrder(judges, count, UNIFORM, units, tuple(likely[id] for id in units))


def order_in(acts: Iterable[Act]) -> ActiveOrder | None:
    """The order that is kept among a study's acts, the first one; None where it was dealt in another way."""
    queue_acts = sorted((act for act in acts if act.act == "queued"), key=lambda act: (act.at, act.id))
    return msgspec.convert(queue_acts[0].detail, ActiveOrder) if queue_acts else None


def doubts(study_data: StudyData) -> dict[str, float]:
    """How far people are expected to correct judges, by unit: the mean over its places, of all judges and their runs.

    Calibration units and what a rule answers have no place. Sources of doubt are how a place's answers split and the
    confidence that judges told; where both are known, their mean.
    """
    unit_places = units_laid(study_data)
    total = dict.fromkeys((place.unit for place in unit_places.places), 0.0)
    count = dict.fromkeys(total, 0)
    for field in study_data.study.protocol.fields:
        if field.kind in CATEGORICAL and not field.show_if:
            for place, doubt in zip(
                places_of(study_data, field).places, _doubt_of(study_data, field).tolist(), strict=True
            ):
                total[place.unit] += doubt
                count[place.unit] += 1
    return {unit: total[unit] / count[unit] if count[unit] else _UNKNOWN for unit in total}


def _doubt_of(study_data: StudyData, field: Field) -> Floats:
    """(places): a field's."""
    runs = sorted({1, *np.unique(study_data.columns.run).tolist()})
    codes_by_run = [codes_of(study_data, field, answers_of(study_data, field, study_data.judges, run)) for run in runs]
    codes = (
        np.concatenate(codes_by_run, axis=1)
        if codes_by_run
        else np.zeros((len(places_of(study_data, field).places), 0), np.int16)
    )
    several = (codes >= 0).sum(axis=1) > 1
    sure = _confidence(study_data, field, len(codes))
    both = np.stack((
        np.where(several, doubt_of_runs(codes), np.nan), np.where(np.isnan(sure), np.nan, doubt_of_confidence(sure)),
    ))  # fmt: skip
    is_known = np.isfinite(both)
    mean = np.where(is_known, both, 0.0).sum(axis=0) / np.maximum(is_known.sum(axis=0), 1)
    return np.asarray(np.where(is_known.any(axis=0), mean, _UNKNOWN))


def _confidence(study_data: StudyData, field: Field, places: int) -> Floats:
    """(places): the mean of how sure judges were; nan where none told."""
    columns = study_data.columns
    by_judges = (columns.field == columns.fields.index(field.id)) & np.isin(columns.rater, study_data.judges)
    rows = np.flatnonzero(by_judges & np.isfinite(columns.confidence))
    at = places_at(study_data, field, rows)
    rows, at = rows[at >= 0], at[at >= 0]
    total = np.bincount(at, weights=columns.confidence[rows], minlength=places)
    count = np.bincount(at, minlength=places)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def labelled_probability(order: ActiveOrder, units: Sequence[str], labelled_units: Collection[str]) -> Floats:
    """(units): how likely each was to be labelled by now, given how many of those drawn, and of the others, are.

    Of those drawn with probability p, k of B are labelled, of the others m of N - B: p k / B + (1 - p) m / (N - B).
    Units that came into the study later were labelled as often as others of these.
    """
    place = {unit: at for at, unit in enumerate(order.units)}
    labelled_places = np.array([place[unit] for unit in set(labelled_units) if unit in place], dtype=np.int64)
    others = len(order.units) - order.drawn
    first = float((labelled_places < order.drawn).sum()) / order.drawn
    rest = float((labelled_places >= order.drawn).sum()) / others if others else 0.0
    later = [unit for unit in dict.fromkeys(units) if unit not in place]
    late = sum(unit in set(labelled_units) for unit in later) / len(later) if later else 0.0
    likely = np.array([order.probability[place[unit]] if unit in place else np.nan for unit in units])
    return np.asarray(np.where(np.isnan(likely), late, likely * first + (1 - likely) * rest))


def weights_of(order: ActiveOrder, units: Sequence[str], is_labelled: npt.NDArray[np.bool_]) -> Floats:
    """(rows): one over how likely each row's unit was to be labelled, with a mean of 1 over those that are; 0 else."""
    labelled_units = {unit for unit, there in zip(units, is_labelled.tolist(), strict=True) if there}
    likely = labelled_probability(order, units, labelled_units)
    weights = np.where(is_labelled, 1 / np.where(is_labelled, likely, 1.0), 0.0)
    return np.asarray(weights / weights[is_labelled].mean()) if is_labelled.any() else weights
