"""Active order: people first label units with uncertain judges, and weights correct for that selection.

The first units are drawn with known probabilities (`label_queue`), the others follow in random order. At any moment
each unit's probability of being among the labelled ones is known, and its inverse is the unit's weight.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from annotators.agreement.ratings.answers import answers_of, places_at, places_of, places_of_units
from annotators.agreement.ratings.fields import CATEGORICAL, codes_of
from annotators.agreement.ratings.ratings import Floats
from annotators.assignment import draw_number
from annotators.study_data import StudyData
from annotators.validation.label_queue import UNIFORM, doubt_of_confidence, doubt_of_runs, inclusion, label_queue
from lab.core.errors import LabError
from lab.core.study.label import Act
from lab.core.study.protocol import Field

_UNKNOWN = 0.5
"""Doubt of a place at which no judge answered: that of a coin."""


class ActiveOrder(msgspec.Struct, frozen=True):
    """The order in which a study was dealt.

    `units` are in that order. The first `drawn` of them were drawn with `probability` (units). `judges` are those whose
    doubt was used, `uniform` is the share of the draws spread evenly over all units.
    """

    judges: tuple[str, ...]
    drawn: int
    uniform: float
    units: tuple[str, ...]
    probability: tuple[float, ...]


def active_order(study_data: StudyData, drawn: int | None = None) -> ActiveOrder:
    """Return an order by the judges' answers so far, with `drawn` units first (None: half of them).

    Raise `LabError` if no judge has answered anything, or if there are fewer units than `drawn`.
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
    queue = label_queue(inclusion([doubt[id] for id in ids], count), draw_number(study, "active"))
    first = [ids[at] for at in queue.order.tolist()]
    # In random order, so that also these labels are a sample with known probabilities.
    rest = sorted(set(ids) - set(first), key=lambda id: draw_number(study, "active", id))
    likely = dict(zip(ids, queue.probability.tolist(), strict=True))
    units = (*first, *rest)
    return ActiveOrder(judges, count, UNIFORM, units, tuple(likely[id] for id in units))


def order_in(acts: Iterable[Act]) -> ActiveOrder | None:
    """Return the first order stored among a study's acts, or None if it was not dealt in an active order."""
    # The first one counts: a later order would not match the labels that exist.
    queue_acts = sorted((act for act in acts if act.act == "queued"), key=lambda act: (act.at, act.id))
    return msgspec.convert(queue_acts[0].detail, ActiveOrder) if queue_acts else None


def doubts(study_data: StudyData) -> dict[str, float]:
    """Return the doubt of each unit: the mean over its places, over all judges and their runs.

    Doubt is how far people are expected to correct the judges. Calibration units and a rule's answers have no places.
    Doubt comes from the split of a place's answers and from the judges' stated confidence, or from their mean if both
    are known.
    """
    unit_places = places_of_units(study_data)
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
    """Return the doubt at each of a field's places (places)."""
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
    """Return the mean stated confidence of judges (places), nan if none was stated."""
    columns = study_data.columns
    by_judges = (columns.field == columns.fields.index(field.id)) & np.isin(columns.rater, study_data.judges)
    rows = np.flatnonzero(by_judges & np.isfinite(columns.confidence))
    at = places_at(study_data, field, rows)
    rows, at = rows[at >= 0], at[at >= 0]
    total = np.bincount(at, weights=columns.confidence[rows], minlength=places)
    count = np.bincount(at, minlength=places)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def labelled_probability(order: ActiveOrder, units: Sequence[str], labelled_units: Collection[str]) -> Floats:
    """Return each unit's probability of being labelled by now (units).

    It depends on how many of the drawn units, and of the others, are labelled. If units were drawn with probability p,
    k of B drawn ones are labelled and m of N - B others, it is p k / B + (1 - p) m / (N - B). Units that came into the
    study later are labelled as often as the labelled share of such units.
    """
    place = {unit: at for at, unit in enumerate(order.units)}
    labelled_places = np.array([place[unit] for unit in set(labelled_units) if unit in place], dtype=np.int64)
    others = len(order.units) - order.drawn
    share_of_drawn = float((labelled_places < order.drawn).sum()) / order.drawn
    share_of_others = float((labelled_places >= order.drawn).sum()) / others if others else 0.0
    later = [unit for unit in dict.fromkeys(units) if unit not in place]
    share_of_later = sum(unit in set(labelled_units) for unit in later) / len(later) if later else 0.0
    likely = np.array([order.probability[place[unit]] if unit in place else np.nan for unit in units])
    return np.asarray(
        np.where(np.isnan(likely), share_of_later, likely * share_of_drawn + (1 - likely) * share_of_others)
    )


def weights_of(order: ActiveOrder, units: Sequence[str], is_labelled: npt.NDArray[np.bool_]) -> Floats:
    """Return inverse probabilities of labelled rows, with a mean of 1, 0 for other rows (rows)."""
    labelled_units = {unit for unit, is_there in zip(units, is_labelled.tolist(), strict=True) if is_there}
    likely = labelled_probability(order, units, labelled_units)
    weights = np.where(is_labelled, 1 / np.where(is_labelled, likely, 1.0), 0.0)
    return np.asarray(weights / weights[is_labelled].mean()) if is_labelled.any() else weights
