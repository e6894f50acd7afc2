"""Active dealing: people label first the units that judges are unsure of. The draw's probabilities are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from annotators.assignment import deal_in_order
from lab.core.errors import LabError
from lab.core.study.label import ActKind
from lab.core.study.signing import sign_act
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.task import Actor

if TYPE_CHECKING:
    from store.store import Store

QUEUED: tuple[ActKind, ...] = ("queued",)


def dealt_actively(store: Store, study: Study, units: Sequence[Unit], first: int | None, by: str) -> list[Assignment]:
    """Return every assignment of a study in the active order, which is recorded before anything is dealt.

    Raise `LabError` if no judge has answered, `first` exceeds the units, or the study has an order of its own.
    """
    from annotators.validation.active_order import active_order, order_in
    from lab.studies.progress.study_data import load_study_data

    # Called for its checks alone: a refused deal must not leave a recorded order behind.
    deal_in_order(study, units, ())
    order = order_in(store.labels.acts_of(study, QUEUED))
    if order is None:
        order = active_order(load_study_data(store, study), first)
        store.labels.record_act(sign_act(study, Actor("human", by), "queued", detail=msgspec.to_builtins(order)))
    return deal_in_order(study, units, order.units)


def check_prelabels(store: Store, study: Study, units: Sequence[Unit]) -> None:
    """Raise `LabError` if the study's prelabelling judge has not answered all units to be dealt."""
    if not study.prelabel:
        return
    what = f"study {study.name}"
    if study.protocol.unit == "task to play":
        raise LabError(what, "is played: there is nothing that a judge could answer first.")
    acts = store.labels.acts(study, study.prelabel)
    judged_units = {act.unit for act in acts if act.act == "commit" and act.rater.kind == "model"}
    unjudged = sum(unit.id not in judged_units for unit in units if not unit.mechanical and not unit.practice)
    if unjudged:
        hint = f"`hitlab judge {study.id} --person {study.prelabel} --model NAME` first: people are shown its answers."
        raise LabError(what, f"{study.prelabel} has not judged {unjudged:,} of its units yet.", hint)
