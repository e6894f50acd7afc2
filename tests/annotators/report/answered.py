"""Studies answered in tests of PSPA-Bench's tables, and what their tables hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab.core.study.label import Act
from lab.core.study.report import Number, Section, Table
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from store.store import Store
from tests.studies import label


def say(store: Store, study: Study, unit: Unit, rater: str, said: Mapping[tuple[str, str], Any], run: int = 1) -> None:
    """Answers by target and field, a value or (value, step from 1), handed in; `model:NAME` is a judge."""
    kind, _, id = rater.rpartition(":")
    by = Actor(kind or "human", id)  # type: ignore[arg-type]
    for (target, field), value in said.items():
        what, step = value if isinstance(value, tuple) else (value, None)
        evidence = f"{unit.runs[0]}@{step}" if step else None
        store.labels.record(study, unit, label(study, unit, target, field, what, rater=by, run=run, evidence=evidence))
    if not kind:
        at = "2026-04-01T10:00:00.000000+00:00"
        store.labels.record_act(Act(f"in-{study.id}-{id}-{unit.id}-{run}", study.id, 1, by, "commit", at, unit.id, run))


def table(sections: Sequence[Section], id: str) -> Table:
    """The table of that id; every one of its rows is as long as its head."""
    (found,) = [one for section in sections for one in section.tables if one.id == id]
    assert all(len(row) == len(found.columns) for row in found.rows), id
    return found


def row(sections: Sequence[Section], id: str, first: str) -> dict[str, Any]:
    """A row by its first cell, as values by column: a number's value, or why there is none, and text as it is."""
    found = table(sections, id)
    (cells,) = [one for one in found.rows if one[0] == first]
    return {
        name: (cell.agreement.undefined or cell.agreement.value) if isinstance(cell, Number) else cell
        for name, cell in zip(found.columns, cells, strict=True)
    }


def number(sections: Sequence[Section], id: str, first: str, column: str) -> Number:
    """A cell that is a number."""
    found = table(sections, id)
    (cells,) = [one for one in found.rows if one[0] == first]
    cell = cells[found.columns.index(column)]
    assert isinstance(cell, Number)
    return cell
