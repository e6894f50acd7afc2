"""Studies that are rated: answers written down as a table, kept through the store's own verbs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lab.core.study.label import Act
from lab.core.study.protocol import Protocol
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from store.store import Store
from tests.studies import frozen, label


class Answer(NamedTuple):
    """An answer with what stands beside it; `missing` is a reason in place of a value."""

    value: Any = None
    missing: str = ""
    cites: str = ""
    evidence: str | None = None


Sheet = Mapping[tuple[str, str], Any]
"""By target (empty: the unit) and field an answer, or its value alone."""


def rated(
    store: Store,
    units: Sequence[Unit],
    protocol: Protocol,
    said: Mapping[str, Mapping[str, Sheet]],
    *,
    open: Sequence[tuple[str, str]] = (),
    **plan: Any,
) -> Study:
    """A study with these answers by rater and unit, handed in but for those (rater, unit) that are `open`.

    A rater `model:NAME` or `script:NAME` is a judge, `NAME#2` its second run; any other is one of the study's people.
    """
    people = tuple(name for name in said if ":" not in name)
    study = frozen(store, units, protocol, **{"raters": people, **plan})
    by_id = {unit.id: unit for unit in units}
    for name, sheets in said.items():
        rater, run = _rater(name)
        for unit, sheet in sheets.items():
            for (target, field), value in sheet.items():
                answer = value if isinstance(value, Answer) else Answer(value)
                store.labels.record(
                    study, by_id[unit],
                    label(
                        study, by_id[unit], target, field, answer.value, rater=rater, run=run, cites=answer.cites,
                        evidence=answer.evidence, reason_missing=answer.missing or None,
                    ),
                )  # fmt: skip
            if rater.kind == "human" and (name, unit) not in open:
                hand_in(store, study, name, unit)
    return study


def hand_in(store: Store, study: Study, rater: str, unit: str) -> None:
    """A sheet handed in."""
    at = "2026-04-01T10:00:00.000000+00:00"
    act = Act(f"in-{study.id}-{rater}-{unit}", study.id, study.version, Actor("human", rater), "commit", at, unit)
    store.labels.record_act(act)


def _rater(name: str) -> tuple[Actor, int]:
    name, _, run = name.partition("#")
    kind, _, id = name.rpartition(":")
    return Actor(kind or "human", id), int(run or 1)  # type: ignore[arg-type]
