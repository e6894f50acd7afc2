"""Summarize a demonstration (intent, place, actions and outcome) from a run's events alone."""

from __future__ import annotations

from typing import Literal

import msgspec

from lab.core.errors import LabError
from lab.core.run.step import Action
from lab.core.run.trace import Trace
from lab.core.task.task import Task
from lab.core.values.ids_and_clock import uuid7

PLACES: tuple[str, ...] = (
    "residence", "office", "school", "dining place", "shopping mall", "medical institution",
    "entertainment and leisure venue", "sports venue", "cultural venue", "transportation", "urban street",
    "natural outdoor spaces",
)  # fmt: skip
"""Suggested categories of places. Free text is also allowed. Source: FingerTip-20K A.4."""
REASONS: dict[str, str] = {
    "violates-convention": "it goes against how the app is used",
    "cannot-complete": "it cannot be completed as asked",
    "ambiguous": "it can be understood in more than one way",
}
"""Reasons why a task is impossible, by code. Source: DAC-Bench 2.4, which names the first two."""
BUDGET = 500
"""Minimum step budget of a demonstration. A budget is for agents, and must not cut a person off."""
_LONGEST = 500
"""Longest intent and place, in characters."""
_MOST_EASY, _MOST_MEDIUM = 20, 40
"""Most golden steps of an easy and of a medium task. Source: MemGUI-Bench 3.2."""
_SHELL_PACKAGES = ("launcher", "systemui")
"""Parts of a package name that mark the phone's own shell. A task is not done in those."""

Difficulty = Literal["easy", "medium", "hard"]
Outcome = Literal["", "complete", "answered", "impossible"]


class Demonstration(msgspec.Struct, frozen=True):
    """Summary of a demonstration. `golden` counts actions without error that are not slips.

    `apps` are packages in order of first use. `outcome` is empty until the person declares the end. For an impossible
    task, `reason` is a code of `REASONS` and `note` is the person's text. `seconds` is the time at the phone, with the
    pauses within a sitting. `instructed` counts the steps with a low-level instruction. `quick` is true if nobody read
    these before the action.
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
    """Summarize a run as a demonstration, or None if its agent was not a person."""
    if trace.agent.kind != "human":
        return None
    act_steps = [s for s in trace.steps if s.action is not None and s.action.kind not in ("answer", "status")]
    golden = sum(s.error is None and s.index not in trace.slips for s in act_steps)
    last = trace.steps[-1] if trace.steps else None
    outcome = outcome_of(last.action) if last is not None else ""
    # An open run has no end yet, so its last step gives the time so far.
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
    """Return a task's difficulty by the number of its golden steps."""
    return "easy" if golden <= _MOST_EASY else "medium" if golden <= _MOST_MEDIUM else "hard"


def outcome_of(action: Action | None) -> Outcome:
    """Return the outcome that a last action declares, empty if it does not end the demonstration."""
    if action is None or action.kind not in ("answer", "status"):
        return ""
    if action.kind == "answer":
        return "answered"
    return "impossible" if action.status == "infeasible" else "complete"


def apps_of(trace: Trace) -> tuple[str, ...]:
    """Return the packages that were in front, each once and in order, without the phone's own."""
    activities = [step.before.activity for step in trace.steps]
    if trace.ended is not None and trace.ended.final is not None:
        activities.append(trace.ended.final.activity)
    packages = dict.fromkeys(activity.partition("/")[0] for activity in activities if activity)
    return tuple(name for name in packages if not any(part in name for part in _SHELL_PACKAGES))


def reason_words(code: str) -> str:
    """Return the words for a reason's code, or the code itself if it is unknown."""
    return REASONS.get(code, code)


def demonstration_task(task: Task | None, intent: str, place: str) -> Task:
    """Return the task to demonstrate: a new one for an own intent, or `task` with `intent` and `place` replaced."""
    intent, place = check_line(intent, "intent"), check_line(place, "place")
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


def check_line(text: str, field: str) -> str:
    """Collapse a person's text into one line. Raise `LabError` that names `field` if it is too long."""
    words = " ".join(text.split())
    if len(words) > _LONGEST:
        raise LabError(f"the {field}", f"has {len(words)} characters; {_LONGEST} are the most.", code=2)
    return words
