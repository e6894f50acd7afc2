"""Look up what a command names: a study by name and version, a unit by id or prefix, a step of a run."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from lab.core.errors import LabError
from lab.core.study.study import Study, Unit
from lab.core.text.suggestion import suggestion
from lab.core.values.whole_number import whole_number
from store.store import Store

if TYPE_CHECKING:
    from lab.studies.settling.label_rows import RowAnswer


def study_named(store: Store, name: str) -> Study:
    """Return a study's newest version, or the one that `NAME@2` names."""
    id, at, version = name.partition("@")
    number = whole_number(version.removeprefix("v"))
    if at and number is None:
        raise LabError(f"study {id}", f"version {version!r} is no number", code=2)
    return store.studies.study(id, number)


def check_goes_on(store: Store, study: Study) -> None:
    """Raise `LabError` if a study is extended, locked or archived, so that it accepts no answers."""
    what = f"study {study.name}"
    if (later := store.studies.extended_by(study)) is not None:
        raise LabError(what, f"was extended and goes on as v{later}.", f"Name it {study.id}, without a version.")
    if store.studies.locked(study):
        raise LabError(what, "is locked; nothing in it changes any more.")
    if store.studies.archived(study):
        raise LabError(what, "is archived.", f"`hitlab study restore {study.id}` brings it back.")


_KEPT = 256
"""Units in memory. Labels of one unit usually come together."""


class StudyPlaces:
    """The units of one study and their runs.

    With `suggests`, the error for an unknown name suggests a similar one, if `Database.suggests` allows that.
    """

    def __init__(self, store: Store, study: Study, *, suggests: bool = False) -> None:
        self.store = store
        self.study = study
        self.suggests = suggests and store.database.may_suggest
        self._units: OrderedDict[str, Unit] = OrderedDict()
        self._ids: dict[str, tuple[str, ...]] | None = None
        self._steps: dict[str, int | None] = {}

    def unit(self, name: str, where: str) -> Unit:
        """Return the unit with this id or prefix, or the only one about the run so named."""
        unit = (
            self._units.pop(name, None)
            or self._unit_by_id(name)
            or self.store.studies.unit(self.study, self._find_unit_id(name, where))
        )
        self._units[unit.id] = unit
        if len(self._units) > _KEPT:
            self._units.popitem(last=False)
        return unit

    def _unit_by_id(self, id: str) -> Unit | None:
        """Return the unit with exactly this id, without listing all."""
        try:
            return self.store.studies.unit(self.study, id)
        except LabError:
            return None

    def _find_unit_id(self, name: str, where: str) -> str:
        if not name:
            raise LabError(where, "field unit: is empty")
        if self._ids is None:
            self._ids = {unit.id: unit.runs for unit in self.store.studies.units(self.study)}
        ids = [id for id in self._ids if id.startswith(name)]
        ids = ids or [id for id, runs in self._ids.items() if name in runs]
        ids = ids or [id for id, runs in self._ids.items() if any(run.startswith(name) for run in runs)]
        if len(ids) == 1:
            return ids[0]
        if not ids:
            near = self._similar_name(name)
            raise LabError(where, f"field unit: {name!r} is no unit of {self.study.name}, nor a run of one{near}")
        some = ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")
        raise LabError(where, f"field unit: {name!r} fits {len(ids)} units ({some}); write more of it")

    def _similar_name(self, name: str) -> str:
        if not self.suggests or self._ids is None:
            return ""
        runs = {run[: len(name)] for runs in self._ids.values() for run in runs}
        return suggestion(name, [*self._ids, *sorted(runs)])

    def evidence(self, unit: Unit, answer: RowAnswer, where: str) -> str | None:
        """Return an answer's evidence as RUN@STEP, None if it has none."""
        if not answer.evidence and answer.step is None:
            if answer.region is None:
                return None
            if unit.step is None or not unit.runs:
                raise LabError(where, "field region: is told without the step that it is on")
            return f"{unit.runs[0]}@{unit.step + 1}"
        if answer.evidence:
            run, step = self._cited_step(unit, answer.evidence, where)
            if answer.step not in (None, step):
                raise LabError(where, f"field step: {answer.step} is not that of evidence {answer.evidence}")
        else:
            run, step = self._only_run(unit, where), answer.step or 0
        self._check_citation(unit, run, step, answer, where)
        return f"{run}@{step}"

    def _cited_step(self, unit: Unit, evidence: str, where: str) -> tuple[str, int]:
        name, _, number = evidence.rpartition("@")
        runs = [run for run in unit.runs if name and run.startswith(name)]
        step = whole_number(number)
        if len(set(runs)) != 1 or step is None:
            run_list = ", ".join(unit.runs) or "none"
            raise LabError(where, f"field evidence: {evidence!r} is no RUN@STEP in one of the unit's runs ({run_list})")
        return runs[0], step

    def _only_run(self, unit: Unit, where: str) -> str:
        if self.study.protocol.unit == "pair of runs" and len(unit.runs) > 1:
            raise LabError(where, "field step: the unit has two runs; write evidence as RUN@STEP")
        if not unit.runs:
            raise LabError(where, "field step: the unit is about no run")
        return unit.runs[0]

    def _check_citation(self, unit: Unit, run: str, step: int, answer: RowAnswer, where: str) -> None:
        name = "evidence" if answer.evidence else "step"
        if step < 1:
            raise LabError(where, f"field {name}: {step} is no step; they are counted from 1")
        if run not in self._steps:
            self._steps[run] = self.store.runs.summary(run).steps if self.store.runs.has_run(run) else None
        most = self._steps[run]
        if most is not None and step > most:
            raise LabError(where, f"field {name}: the run has no step {step}; it has {most}")
        region = answer.region
        if region is not None and (region[0] > region[2] or region[1] > region[3]):
            raise LabError(where, "field region: is no box: left, top, right, bottom in pixels")
