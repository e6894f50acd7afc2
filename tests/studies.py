"""Small studies for tests: a protocol of two fields, units without runs, and dealing by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.core.study.label import Label
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Assignment, Study, Target, Unit, sample_sha
from lab.core.task.task import Actor
from store.store import Store

R1, R2 = Actor("human", "R1"), Actor("human", "R2")

STATE = Field("state", "Was it completed?", "nominal", (Option("completed", key="1"), Option("not_completed", key="2")))
WHY = Field("why", "Why not?", "text", required=False, show_if="state=not_completed")
RATING = Field("rating", "How much was done?", "interval", per="unit", least=0, most=100, step=1)
NODES = Protocol("nodes", "Nodes", "run", (STATE, WHY, RATING), targets="tdg nodes", guide={"en": "Look closely."})

TWO = (Target("open", "Open the app"), Target("pay", "Pay"))


def unit(id: str = "u1", **changes: Any) -> Unit:
    """A unit with two targets."""
    return Unit(id, **{"runs": (f"run-{id}",), "targets": TWO, **changes})


def study(units: Sequence[Unit], protocol: Protocol = NODES, **changes: Any) -> Study:
    """A study of these units by R1 and R2."""
    plan: dict[str, Any] = {"raters": ("R1", "R2"), "at": "2026-04-01T09:00:00.000000+00:00", **changes}
    id, version, title = plan.pop("id", "trial"), plan.pop("version", 1), plan.pop("title", "A trial")
    return Study(id, version, title, protocol, units=len(units), sample_sha=sample_sha(tuple(units)), **plan)


def frozen(store: Store, units: Sequence[Unit], protocol: Protocol = NODES, **changes: Any) -> Study:
    """A study in a file, every unit dealt to every rater in the same order."""
    plan = study(units, protocol, **changes)
    store.studies.freeze(plan, list(units))
    store.studies.deal(
        plan,
        [
            Assignment(plan.id, plan.version, rater, i, one.id, "pilot" if one.pilot else "main")
            for rater in plan.raters
            for i, one in enumerate(units)
        ],
    )
    return plan


def label(plan: Study, of: Unit, target: str, field: str, value: Any, **changes: Any) -> Label:
    """A label by R1; ids and times count up, so that they sort as they are made."""
    global _made
    _made += 1
    at = f"2026-04-01T09:00:00.{_made:06d}+00:00"
    said: dict[str, Any] = {"rater": R1, "value": value, "at": at, **changes}
    return Label(f"label-{_made:06d}", plan.id, plan.version, of.id, target, field, **said)


_made = 0
