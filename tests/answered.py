"""Studies with answers for tests: who says what where, handed in or not, through the store's own verbs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from annotators.protocol import load_protocol
from annotators.protocols import HERE
from annotators.study_data import StudyData
from lab.core.study.agreement import IntervalTerms
from lab.core.study.label import Act
from lab.core.study.protocol import Protocol
from lab.core.study.rating_sheet import answer_to
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.studies import label, study

R1, R2, R3 = (Actor("human", f"R{i}") for i in (1, 2, 3))
M, N = Actor("model", "judge"), Actor("model", "other")


def protocol(name: str) -> Protocol:
    """A built-in one."""
    return load_protocol(HERE / f"{name}.yaml")


class Answered:
    """A frozen study in a file, dealt as told: all to all, or `dealt` (rater, unit, run)."""

    def __init__(
        self, store: Store, units: Sequence[Unit], asks: Protocol, *,
        raters: Sequence[str] = ("R1", "R2", "R3"), dealt: Iterable[tuple[str, str, int]] | None = None, **changes: Any,
    ) -> None:  # fmt: skip
        self.store = store
        self.units = {one.id: one for one in units}
        self.study: Study = study(units, asks, raters=tuple(raters), **changes)
        store.studies.freeze(self.study, list(units))
        sheets = [(rater, one.id, 1) for rater in raters for one in units] if dealt is None else list(dealt)
        places: dict[str, int] = {}
        rows = []
        for rater, unit, run in sheets:
            places[rater] = at = places.get(rater, -1) + 1
            stage = "pilot" if self.units[unit].pilot else "repeat" if run > 1 else "main"
            rows.append(Assignment(self.study.id, 1, rater, at, unit, stage, run))  # type: ignore[arg-type]
        store.studies.deal(self.study, rows)

    def says(
        self, rater: Actor, unit: str, target: str, field: str, value: Any = None, *, run: int = 1, step: int = 0,
        **changes: Any,
    ) -> None:  # fmt: skip
        """One answer; `step` (from 1) where it points at one."""
        of = self.units[unit]
        evidence = f"{of.runs[0]}@{step}" if step else None
        one = label(self.study, of, target, field, value, rater=rater, run=run, evidence=evidence, **changes)
        self.store.labels.record_each(self.study, of, rater, run, [lambda sheet: answer_to(sheet, one)])

    def hands_in(self, rater: Actor, unit: str, run: int = 1, act: Any = "commit") -> None:
        """Whatever is still open on it."""
        self.store.labels.record_act(Act(uuid7(), self.study.id, 1, rater, act, now(), unit, run))

    def table(
        self, field: str, raters: Sequence[Actor], rows: dict[tuple[str, str], str], words: dict[str, Any]
    ) -> None:
        """Answers by (unit, target): one character for each rater, `.` where there is none; people hand all in."""
        for (unit, target), said in rows.items():
            for rater, letter in zip(raters, said, strict=True):
                if letter != ".":
                    value = words[letter]
                    given = (
                        {"reason_missing": value[1:]}
                        if isinstance(value, str) and value[:1] == "?"
                        else {"value": value}
                    )
                    self.says(rater, unit, target, field, **given)
        for unit in dict.fromkeys(unit for unit, _ in rows):
            for rater in raters:
                if rater.kind == "human":
                    self.hands_in(rater, unit)

    def studied(self, how: IntervalTerms = IntervalTerms()) -> StudyData:  # noqa: B008  # frozen
        """As agreement reads it."""
        return load_study_data(self.store, self.study, how)
