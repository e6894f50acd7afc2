"""What a demonstration is: a person's intent, where they were, what they did, and how it ended, from events alone."""

from __future__ import annotations

from typing import Literal

import msgspec

from lab.core.errors import LabError
from lab.core.ids_and_clock import uuid7
from lab.core.step import Action
from lab.core.task import Task
from lab.core.trace import Trace

PLACES: tuple[str, ...] = (
    "residence", "office", "school", "dining place", "shopping mall", "medical institution",
    "entertainment and leisure venue", "sports venue", "cultural venue", "transportation", "urban street",
    "natural outdoor spaces",
)  # fmt: skip
"""Categories of places to choose from; one's own words do as well. Source: FingerTip-20K A.4."""
REASONS: dict[str, str] = {
    "violates-convention": "it goes against how the app is used",
    "cannot-complete": "it cannot be completed as asked",
    "ambiguous": "it can be understood in more than one way",
}
"""Why a task is impossible, by code. Source: DAC-Bench 2.4, which names the first two."""
BUDGET = 500
"""Steps that a demonstration may take at least: a budget is for agents, and must not cut a person off."""
_LONGEST = 500
"""Characters that an intent and a place may have."""
_EASY, _MEDIUM = 20, 40
"""Golden steps up to which a task is easy, and medium. Source: MemGUI-Bench 3.2."""
_AROUND = ("launcher", "systemui")
"""Parts of a package's name that say it is the phone's own, and no app that a task is done in."""

Difficulty = Literal["easy", "medium", "hard"]
Outcome = Literal["", "complete", "answered", "impossible"]


class Demonstration(msgspec.Struct, frozen=True):
    """A demonstration in short. `golden` counts the steps that acted and were no slips; `apps` are packages in order.

    `outcome` is empty where the person has not said that it is over; `reason` is a code of `REASONS` and `note` their
    own words where they called it impossible. `seconds` is the time at the phone, pauses within a sitting included.
    `instructed` counts the steps with a low-level instruction, `quick` says that nobody read these before the act.
    """

    by: str
    intent: str
    place: str
    steps: int
    golden: int
    difficulty: Difficulty
    apps: tuple[str, ...]
    slips: tuple[int, ...]
    instructed: int
    seconds: float | None
    outcome: Outcome = ""
    reason: str = ""
    note: str = ""
    quick: bool = False


def demonstration(trace: Trace) -> Demonstration | None:
    """What a run was as a demonstration; None where no person was its agent."""
    if trace.agent.kind != "human":
        return None
    act_steps = [s for s in trace.steps if s.action is not None and s.action.kind not in ("answer", "status")]
    golden = sum(s.error is None and s.index not in trace.slips for s in act_steps)
    last = trace.steps[-1] if trace.steps else None
    outcome = outcome_of(last.action) if last is not None else ""
    event = trace.ended or last
    return Demonstration(
        by=trace.agent.id,
        intent=trace.task.instruction,
        place=trace.task.place,
        steps=len(trace.steps),
        golden=golden,
        difficulty=difficulty(golden),
        apps=apps_of(trace),
        slips=trace.slips,
        instructed=sum(bool(s.proposed.instruction) for s in trace.steps),
        seconds=round(event.ms / 1000, 3) if event is not None and event.ms is not None else None,
        outcome=outcome,
        reason=(last.action.text or "") if last and last.action and outcome == "impossible" else "",
        note=last.proposed.thought if last and outcome == "impossible" else "",
        quick=trace.conditions.quick,
    )


def difficulty(golden: int) -> Difficulty:
    """How hard a task is by the number of its golden steps."""
    return "easy" if golden <= _EASY else "medium" if golden <= _MEDIUM else "hard"


def outcome_of(action: Action | None) -> Outcome:
    """How a last action ends a demonstration; empty where it does not."""
    if action is None or action.kind not in ("answer", "status"):
        return ""
    if action.kind == "answer":
        return "answered"
    return "impossible" if action.status == "infeasible" else "complete"


def apps_of(trace: Trace) -> tuple[str, ...]:
    """The packages that were in front, each once, in order, without the phone's own."""
    activities = [step.before.activity for step in trace.steps]
    if trace.ended is not None and trace.ended.final is not None:
        activities.append(trace.ended.final.activity)
    packages = dict.fromkeys(activity.partition("/")[0] for activity in activities if activity)
    return tuple(name for name in packages if not any(part in name for part in _AROUND))


def reason_words(code: str) -> str:
    """Why a task is impossible, in words; a code that is none of ours as it stands."""
    return REASONS.get(code, code)


def to_demonstrate(task: Task | None, intent: str, place: str) -> Task:
    """The task that is demonstrated: one's own intent, or a task with an intent and a place laid over it."""
    intent, place = checked(intent, "intent"), checked(place, "place")
    if task is None:
        return Task(
            f"demo-{uuid7()[-12:]}", "general", title=intent, instruction=intent, place=place, log="none", budget=BUDGET
        )
    intent_text = intent or task.instruction
    return msgspec.structs.replace(
        task,
        kind="general" if task.kind == "proactive" and intent_text else task.kind,
        instruction=intent_text,
        place=place or task.place,
        budget=max(task.budget, BUDGET),
    )


def checked(text: str, field: str) -> str:
    """A line of a person's without spaces around it; a `LabError` names the `field` where it is more than that."""
    words = " ".join(text.split())
    if len(words) > _LONGEST:
        raise LabError(f"the {field}", f"has {len(words)} characters; {_LONGEST} are the most.", code=2)
    return words
