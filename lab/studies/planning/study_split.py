"""The split of a study into dev and test: drawn once, stored, and never drawn anew."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import msgspec

from annotators.study_data import StudyData
from annotators.validation.study_split import DEV_SHARE, StudySplit, draw_split, extend_split, split_in
from lab.core.errors import LabError
from lab.core.study.label import ActKind
from lab.core.study.signing import sign_act
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from store.store import Store

SPLIT: tuple[ActKind, ...] = ("split",)


def split_of(store: Store, study: Study, share: float | None = None) -> StudySplit:
    """Return the stored split, or a newly drawn one. Store nothing. Raise `LabError` if `share` differs."""
    split = split_in(store.labels.acts_of(study, SPLIT))
    units = [unit for unit in store.studies.units(study) if unit.play is None]
    if split is None:
        return draw_split(study, units, _task_lister(store), DEV_SHARE if share is None else share)
    if share is not None and share != split.share:
        raise LabError(
            "--dev-share",
            f"{share:g}: {study.name} was split with {split.share:g} in dev; a split never changes.",
            code=2,
        )
    return extend_split(study, split, units, _task_lister(store))


def keep_split(store: Store, study: Study, split: StudySplit, by: str) -> None:
    """Store a split if there is none yet, durable on return."""
    if split_in(store.labels.acts_of(study, SPLIT)) is None:
        store.labels.record_act(sign_act(study, Actor("human", by), "split", detail=msgspec.to_builtins(split)))


def check_split(study_data: StudyData) -> None:
    """Raise `LabError` if the study was never split."""
    if split_in(study_data.acts) is None:
        study = study_data.study
        hint = f"`hitlab judge {study.id} --split dev --model NAME` splits it."
        raise LabError(f"study {study.name}", "is not split into dev and test yet.", hint)


def _task_lister(store: Store) -> Callable[[Unit], list[str]]:
    """Return a function that lists a unit's tasks: its own and those of its runs."""

    @cache
    def task(run: str) -> str:
        return store.runs.task(run).id if store.runs.has_run(run) else ""

    return lambda unit: [*([unit.task.id] if unit.task is not None else []), *map(task, unit.runs)]
