"""Studies under way for tests: who answered what when, second by second."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from lab.core.study.label import Act, ActKind, Label
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.rating_sheet import Sheet, answer_to
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import uuid7
from store.store import Store
from tests.studies import frozen

BEGAN = datetime(2026, 4, 1, 9, tzinfo=UTC)
HOUR, DAY = 3600.0, 86_400.0
ASKED = Protocol(
    "asked",
    "Asked",
    "run",
    (
        Field("ok", "Is it right?", "nominal", (Option("y", key="1"), Option("n", key="2"))),
        Field("odd", "Was anything odd?", "flag", required=False),
        Field("why", "Why?", "text", required=False),
    ),
)


def when(seconds: float) -> str:
    """The time so many seconds after the beginning."""
    return (BEGAN + timedelta(seconds=seconds)).isoformat(timespec="microseconds")


def moment(seconds: float) -> float:
    """The same as seconds since 1970."""
    return (BEGAN + timedelta(seconds=seconds)).timestamp()


def units(many: int, **changes: Any) -> list[Unit]:
    return [Unit(f"u{at}", (f"r{at}",), **changes) for at in range(many)]


def begun(store: Store, many: int, raters: Sequence[str] = ("R1", "R2", "R3"), **plan: Any) -> Study:
    """A study of so many runs, each dealt to each rater."""
    return frozen(store, plan.pop("of", None) or units(many), ASKED, raters=tuple(raters), **plan)


def did(
    store: Store, study: Study, rater: str, act: ActKind, at: float, unit: str = "", run: int = 1, **detail: Any
) -> None:
    """An act of a rater, so many seconds after the beginning."""
    who = Actor("human", rater)
    store.labels.record_act(Act(uuid7(), study.id, study.version, who, act, when(at), unit, run, detail))


def answered(
    store: Store,
    study: Study,
    rater: str,
    unit: str,
    at: float,
    value: Any = "y",
    *,
    field: str = "ok",
    shown: float | None = None,
    away: float = 0.0,
    kind: Any = "human",
    **more: Any,
) -> None:
    """An answer, so many seconds after the beginning; `shown` seconds after it its question was shown."""
    of = store.studies.unit(study, unit)

    def say(sheet: Sheet) -> Label:
        label = Label(
            uuid7(), study.id, study.version, unit, "", field, Actor(kind, rater), value, at=when(at),
            shown_at=when(shown) if shown is not None else None, idle_ms=1000 * away, **more,
        )  # fmt: skip
        return answer_to(sheet, label)

    store.labels.record_each(study, of, Actor(kind, rater), 1, [say])


def handed_in(
    store: Store, study: Study, rater: str, unit: str, at: float, value: Any = "y", *, seconds: float = 10.0
) -> None:
    """An item opened `seconds` before it is handed in, answered half-way."""
    did(store, study, rater, "opened", at - seconds, unit)
    answered(store, study, rater, unit, at - seconds / 2, value, shown=at - seconds)
    did(store, study, rater, "commit", at, unit)
