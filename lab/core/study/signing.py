"""Build the rows that a person, a model or a script signs, now: labels and acts."""

from __future__ import annotations

from typing import Any

from lab.core.study.label import Act, ActKind, Label
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7


def sign_label(
    study: Study, unit: Unit, rater: Actor, spot: FieldReference, *, source: str, locale: str = "", **answer: Any
) -> Label:
    """Return a rater's label at a place of a unit. `answer` are the label's other fields.

    It carries the hashes of the protocol and of the guide in `locale` (default: the study's), so that a reader knows
    what the rater was asked.
    """
    protocol = study.protocol
    return Label(
        uuid7(), study.id, study.version, unit.id, spot.target, spot.field, rater, at=now(), source=source,
        guide_sha=protocol.guide_sha(locale or study.locale), protocol_sha=protocol.sha, **answer,
    )  # fmt: skip


def sign_act(
    study: Study, by: Actor, kind: ActKind, unit: str = "", run: int = 1, *, detail: dict[str, Any] | None = None
) -> Act:
    """Return an act at a study, or at a unit of it."""
    return Act(uuid7(), study.id, study.version, by, kind, now(), unit, run, detail or {})
