"""Where in a study a row's words point: the unit that an id or its beginning names, and the step of its run."""

from __future__ import annotations

from collections import OrderedDict

from lab.commands.label_rows import Answer
from lab.errors import LabError
from lab.study import Study, Unit
from store.store import Store

_KEPT = 256
"""Units that stay at hand; labels of one come together, as a rule."""


class Places:
    """The units of one study and the runs that they are about."""

    def __init__(self, store: Store, study: Study) -> None:
        self.store = store
        self.study = study
        self._units: OrderedDict[str, Unit] = OrderedDict()
        self._ids: dict[str, tuple[str, ...]] | None = None
        self._steps: dict[str, int | None] = {}

    def unit(self, name: str, where: str) -> Unit:
        """The unit of this id, or that the beginning of an id names, or the only one about a run so named."""
        found = self._units.pop(name, None) or self._exact(name) or self.store.unit(self.study, self._find(name, where))
        self._units[found.id] = found
        if len(self._units) > _KEPT:
            self._units.popitem(last=False)
        return found

    def _exact(self, id: str) -> Unit | None:
        """The unit of that very id, without looking through all."""
        try:
            return self.store.unit(self.study, id)
        except LabError:
            return None

    def _find(self, name: str, where: str) -> str:
        if not name:
            raise LabError(where, "field unit: is empty")
        if self._ids is None:
            self._ids = {unit.id: unit.runs for unit in self.store.units(self.study)}
        found = [id for id in self._ids if id.startswith(name)]
        found = found or [id for id, runs in self._ids.items() if name in runs]
        found = found or [id for id, runs in self._ids.items() if any(run.startswith(name) for run in runs)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise LabError(where, f"field unit: {name!r} is no unit of {self.study.name}, nor a run of one")
        some = ", ".join(found[:3]) + (", ..." if len(found) > 3 else "")
        raise LabError(where, f"field unit: {name!r} fits {len(found)} units ({some}); write more of it")

    def evidence(self, unit: Unit, answer: Answer, where: str) -> str | None:
        """The place in a run that an answer points at, as RUN@STEP; None where it points nowhere."""
        if not answer.evidence and answer.step is None:
            if answer.region is None:
                return None
            if unit.step is None or not unit.runs:
                raise LabError(where, "field region: is told without the step that it is on")
            return f"{unit.runs[0]}@{unit.step + 1}"
        if answer.evidence:
            run, step = self._place(unit, answer.evidence, where)
            if answer.step not in (None, step):
                raise LabError(where, f"field step: {answer.step} is not that of evidence {answer.evidence}")
        else:
            run, step = self._only_run(unit, where), answer.step or 0
        self._check(unit, run, step, answer, where)
        return f"{run}@{step}"

    def _place(self, unit: Unit, evidence: str, where: str) -> tuple[str, int]:
        name, _, number = evidence.rpartition("@")
        runs = [run for run in unit.runs if name and run.startswith(name)]
        if len(set(runs)) != 1 or not (number.isascii() and number.isdigit()):
            known = ", ".join(unit.runs) or "none"
            raise LabError(where, f"field evidence: {evidence!r} is no RUN@STEP in one of the unit's runs ({known})")
        return runs[0], int(number)

    def _only_run(self, unit: Unit, where: str) -> str:
        if self.study.protocol.unit == "pair of runs" and len(unit.runs) > 1:
            raise LabError(where, "field step: the unit has two runs; write evidence as RUN@STEP")
        if not unit.runs:
            raise LabError(where, "field step: the unit is about no run")
        return unit.runs[0]

    def _check(self, unit: Unit, run: str, step: int, answer: Answer, where: str) -> None:
        name = "evidence" if answer.evidence else "step"
        if step < 1:
            raise LabError(where, f"field {name}: {step} is no step; they are counted from 1")
        if run not in self._steps:
            self._steps[run] = self.store.summary(run).steps if self.store.holds(run) else None
        most = self._steps[run]
        if most is not None and step > most:
            raise LabError(where, f"field {name}: the run has no step {step}; it has {most}")
        region = answer.region
        if region is not None and (region[0] > region[2] or region[1] > region[3]):
            raise LabError(where, "field region: is no box: left, top, right, bottom in pixels")
