"""Split of a study's units: dev to develop a judge's prompt, and test to validate it.

Whole tasks go to one part, with all their runs and everything clustered with them, so that a prompt cannot learn about
a task of the other part. A study is split once, by its seed, and never again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, get_args

import msgspec

from annotators.assignment import draw_number, round_share
from annotators.study_data import StudyData
from lab.core.errors import LabError
from lab.core.study.label import Act
from lab.core.study.study import Study, Unit

Split = Literal["dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
DEV_SHARE = 0.5
_WHOLE = float(2**64)
Tasks = Callable[[Unit], Collection[str]]
"""Function from a unit to the ids of its tasks."""


class StudySplit(msgspec.Struct, frozen=True):
    """A study's split: the units of each part, and the part of each task and cluster.

    `share` is the planned share of dev.
    """

    share: float
    dev: tuple[str, ...]
    test: tuple[str, ...]
    groups: dict[str, Split]

    def units(self, part: Split) -> tuple[str, ...]:
        """Return the units of a part, in the study's order."""
        return self.dev if part == "dev" else self.test


def draw_split(study: Study, units: Sequence[Unit], tasks: Tasks, share: float) -> StudySplit:
    """Return a split with a share `share` of these units in dev, as closely as whole tasks allow.

    Raise `LabError` if all units belong together.
    """
    if not 0 < share < 1:
        raise LabError(f"study {study.name}", f"a share of {share:g} in dev leaves one part empty.", code=2)
    names = {unit.id: _groups_of(unit, tasks(unit)) for unit in units}
    together = _connected_groups(names.values())
    members: dict[str, list[str]] = {}
    for unit in units:
        members.setdefault(together[names[unit.id][0]], []).append(unit.id)
    if len(members) < 2:
        raise LabError(f"study {study.name}", "cannot be split: all of its units are of one task.")
    order = sorted(members, key=lambda group: draw_number(study, "split", group))
    dev_size, in_dev, count = round_share(share, len(units)), set[str](), 0
    for group in order:
        size = len(members[group])
        # A group joins dev if that brings its size closer to the planned one.
        if abs(count + size - dev_size) <= abs(count - dev_size):
            in_dev.add(group)
            count += size
    # Neither part may be empty.
    if not in_dev or len(in_dev) == len(members):
        in_dev ^= {order[0]}
    groups: dict[str, Split] = {name: "dev" if group in in_dev else "test" for name, group in sorted(together.items())}
    sides = {unit.id: groups[names[unit.id][0]] for unit in units}
    dev, test = (tuple(unit.id for unit in units if sides[unit.id] == part) for part in SPLITS)
    return StudySplit(share, dev, test, groups)


def extend_split(study: Study, split: StudySplit, units: Sequence[Unit], tasks: Tasks) -> StudySplit:
    """Return a split over all units of a study that was extended: a new unit joins its task, or is drawn alone."""
    sides: dict[str, Split] = {id: part for part in SPLITS for id in split.units(part)}
    groups = dict(split.groups)
    for unit in units:
        if unit.id in sides:
            continue
        names = _groups_of(unit, tasks(unit))
        # Independent of the other units, because the existing split must not change.
        drawn_side: Split = "dev" if draw_number(study, "split", names[0]) / _WHOLE < split.share else "test"
        sides[unit.id] = next((groups[name] for name in names if name in groups), drawn_side)
        for name in names:
            groups.setdefault(name, sides[unit.id])
    dev, test = (tuple(unit.id for unit in units if sides[unit.id] == part) for part in SPLITS)
    return StudySplit(split.share, dev, test, groups)


def split_in(acts: Iterable[Act]) -> StudySplit | None:
    """Return the first split stored among a study's acts, or None if it was never split."""
    split_acts = sorted((act for act in acts if act.act == "split"), key=lambda act: (act.at, act.id))
    return msgspec.convert(split_acts[0].detail, StudySplit) if split_acts else None


def parts_of(study_data: StudyData) -> StudySplit | None:
    """Return the split of a study over all its units, or None if it was never split."""
    first_split = split_in(study_data.acts)
    if first_split is None:
        return None

    def tasks(unit: Unit) -> list[str]:
        cases = [study_data.case(run) for run in unit.runs]
        return [
            *([unit.task.id] if unit.task is not None else []),
            *(case.task.id for case in cases if case is not None),
        ]

    return extend_split(study_data.study, first_split, [unit for unit in study_data.units if unit.play is None], tasks)


def _groups_of(unit: Unit, tasks: Collection[str]) -> list[str]:
    """Return the groups of a unit: its tasks and its cluster, with a prefix for each kind."""
    return [*(f"task {task}" for task in sorted(set(tasks) - {""})), f"cluster {unit.clustered}"]


def _connected_groups(units: Iterable[Sequence[str]]) -> Mapping[str, str]:
    """Return for each group the first name of all groups that units connect with it.

    It is a union-find over names: a unit with two groups connects them.
    """
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for names in units:
        for name in names[1:]:
            one, other = sorted((root(names[0]), root(name)))
            parent[other] = one
        root(names[0])
    return {name: root(name) for name in list(parent)}
