"""Studies that people and judges rated in a real file, and the tables that papers make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotators.protocols import protocol
from annotators.study_data import StudyData
from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import AnyEvent, Ended, Source, Started, Step
from lab.core.study.adjudication import Settlement
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.label import Act
from lab.core.study.report import Cell, Number, Section, Table
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.task import Actor, Persona, Task
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.studies import frozen, label

AT = "2026-04-01T09:00:00.000000+00:00"
TAP = (Action("click", (1, 2)),)


class Rated:
    """A study in a file, dealt to all of its raters; `say` hands a unit in."""

    def __init__(
        self, store: Store, of: str, units: Sequence[Unit], runs: Sequence[Imported] = (), **plan: Any
    ) -> None:
        self.store = store
        self.units = {unit.id: unit for unit in units}
        store.runs.add_all([run for run in runs if not store.runs.has_run(run.id)])
        self.study: Study = frozen(store, units, protocol(of), **{"id": of, "raters": ("R1", "R2", "R3"), **plan})

    def say(self, unit: str, rater: str, answers: Mapping[Any, Any], run: int = 1, **changes: Any) -> None:
        """Answers by field, or by (target, field), handed in. A rater with a `:` is a model; `?` is "cannot judge"."""
        by = Actor("model", rater) if ":" in rater else Actor("human", rater)
        of, study = self.units[unit], self.study
        if run > 1 and by.kind == "human":
            again = Assignment(study.id, study.version, rater, 90 + [*self.units].index(unit), unit, "repeat", run)
            self.store.studies.deal(study, [again])
        for place, value in answers.items():
            target, field = place if isinstance(place, tuple) else ("", place)
            said = {"rater": by, "run": run, **changes, **({"reason_missing": "cannot_judge"} if value == "?" else {})}
            one = label(study, of, target, field, None if value == "?" else value, **said)
            self.store.labels.record(study, of, one)
        if by.kind == "human":
            self.store.labels.record_act(Act(uuid7(), study.id, study.version, by, "commit", now(), unit, run))

    def all_say(self, field: str, answers: Mapping[str, str]) -> None:
        """What R1, R2, ... say of each unit, a word each: `{"u1": "success failure -"}`, `-` for nothing."""
        for unit, words in answers.items():
            for code, word in zip(self.study.raters, words.split(), strict=False):
                if word != "-":
                    self.say(unit, code, {field: word})

    def settle(self, unit: str, what: Settlement, by: str = "A1") -> None:
        """An adjudication by somebody who did not rate; nobody rates any more."""
        if not self.store.studies.locked(self.study):
            study = self.study
            self.store.labels.record_act(Act(uuid7(), study.id, study.version, Actor("human", by), "locked", now()))
        self.store.adjudications.settle(self.study, self.units[unit], what, Actor("human", by))

    def studied(self, *beside: str, how: IntervalTerms | None = None) -> StudyData:
        """The study as reports read it."""
        return load_study_data(self.store, self.study, how or IntervalTerms(), beside)


def run(
    id: str,
    task: Task,
    by: str = "m3a",
    actions: Sequence[Action] = TAP,
    *,
    status: str = "completed",
    score: float | None = 1.0,
    persona: Persona | None = None,
    source: str = "",
    size: tuple[int, int] | None = None,
) -> Imported:
    """A run of a task: by a model, or by a person (whose name begins with `@`) as a demonstration."""
    agent = Actor("human", by[1:]) if by.startswith("@") else Actor("model", by)
    told = Source(source) if source else None
    events: list[AnyEvent] = [Started(trace=id, task=task, agent=agent, persona=persona, source=told, at=AT)]
    events += [
        Step(index=i, before=Observation(size=size), proposed=Proposed(action)) for i, action in enumerate(actions)
    ]
    if status != "open":
        events.append(Ended(status=status, score=score))  # type: ignore[arg-type]
    return Imported(number_events(events), {}, [])


def table(sections: Sequence[Section], id: str) -> Table:
    """The table of that id."""
    found = [one for section in sections for one in section.tables if one.id == id]
    assert len(found) == 1, [one.id for section in sections for one in section.tables]
    return found[0]


def row(of: Table, says: str) -> dict[str, Cell]:
    """A row by its first cell, as cells by column."""
    found = [cells for cells in of.rows if cells[0] == says]
    assert len(found) == 1, [cells[0] for cells in of.rows]
    return dict(zip(of.columns, found[0], strict=True))


def column(of: Table, name: str) -> dict[str, float]:
    """A column's values by what their rows say."""
    at = of.columns.index(name)
    return {str(cells[0]): value(cells[at]) for cells in of.rows}


def number(cell: Cell) -> Agreement:
    """The agreement in a cell."""
    assert isinstance(cell, Number), cell
    return cell.agreement


def value(cell: Cell) -> float:
    """The value in a cell, which is there."""
    found = number(cell).value
    assert found is not None, number(cell).undefined
    return found


def sound(sections: Sequence[Section]) -> None:
    """Each number has a value or says why not, and an interval or says why not; each row is as wide as its table."""
    for section in sections:
        assert section.says or section.tables or section.pictures, section.title
        for one in section.tables:
            assert one.rows, one.id
            for cells in one.rows:
                assert len(cells) == len(one.columns), (one.id, cells)
                for cell in cells:
                    if isinstance(cell, Number):
                        _told(cell.agreement)


def _told(one: Agreement) -> None:
    assert (one.value is None) == bool(one.undefined), one
    if one.value is not None:
        assert one.value == one.value, one
        assert (one.low is None) == bool(one.no_interval), one
    if one.value is not None and one.low is not None and one.high is not None:
        assert one.low - 1e-9 <= one.value <= one.high + 1e-9, one
        assert one.interval, one


def icc_a1(rows: Sequence[tuple[float, float]]) -> float:
    """McGraw and Wong's ICC(A,1) of two columns, from its definition."""
    n, k = len(rows), 2
    grand = sum(map(sum, rows)) / (n * k)
    by_row = k * sum((sum(one) / k - grand) ** 2 for one in rows) / (n - 1)
    columns = [sum(one[c] for one in rows) / n for c in range(k)]
    by_column = n * sum((one - grand) ** 2 for one in columns) / (k - 1)
    total = sum((one - grand) ** 2 for pair in rows for one in pair)
    error = (total - by_row * (n - 1) - by_column * (k - 1)) / ((n - 1) * (k - 1))
    return (by_row - error) / (by_row + (k - 1) * error + k * (by_column - error) / n)
