"""Runs of FingerTip-20K's two tracks: guesses of an intent, and executions of a demonstrated task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from annotators.papers.fingertip.text_similarity import LONGEST
from annotators.papers.metrics import LeftOutTally, demonstrations_of_task
from lab.core.run.measured_run import MeasuredRun
from lab.core.run.step import Action

MOST = 2.5
"""An agent that takes more than so many times the golden steps has failed."""
DONE = 0.99
"""A score above it is a success."""
_VERDICT_VALUES = {"yes": 1.0, "same": 1.0, "true": 1.0, "no": 0.0, "not same": 0.0, "false": 0.0}
_ACTION_NAMES = {
    "click": "click",
    "long_press": "long_click",
    "input_text": "type",
    "scroll": "scroll",
    "swipe": "scroll",
    "navigate_back": "press_back",
    "navigate_home": "press_home",
    "press_recent": "press_recent",
    "wait": "wait",
    "status": "finished",
    "answer": "finished",
}
"""Actions of the paper's Table 2, as its A.7.2 spells them. Others keep our name."""
_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


class Guess(NamedTuple):
    """The guess of an agent or person, and the true intent. `right` is None if not judged."""

    case: MeasuredRun
    text: str
    intent: str
    right: float | None


class Execution(NamedTuple):
    """An agent's run of a task that its user demonstrated. `done` is None if not judged."""

    case: MeasuredRun
    demonstration: MeasuredRun
    golden: int
    done: bool | None

    @property
    def steps(self) -> int:
        return len(self.case.steps)


def guesses_of(
    cases: Sequence[MeasuredRun], gold: Mapping[str, Sequence[MeasuredRun]], out: LeftOutTally
) -> list[Guess]:
    """Return the runs of tasks without an instruction whose true intent is known.

    The true intent is the instruction of the task's demonstration, or the task's trait `intent`. The guess is the text
    of the first proposal, else the final answer. People's runs count too.
    """
    guesses: list[Guess] = []
    for case in cases:
        if case.task.kind != "proactive" or case.task.instruction:
            continue
        intent = intent_of(case, gold)
        text = guess_in(case)
        right = mark_or_verdict(case, "sr1")
        if case.status == "open":
            out.add("not ended")
        elif not intent:
            out.add("of an unknown intent")
        else:
            guesses.append(Guess(case, text, intent, right))
    return guesses


def intent_of(case: MeasuredRun, gold: Mapping[str, Sequence[MeasuredRun]]) -> str:
    """Return the user's true intent, empty if unknown."""
    intent = next(
        (
            one.task.instruction
            for one in demonstrations_of_task(case, gold.get(case.task.id, ()))
            if one.task.instruction
        ),
        "",
    )
    return intent or case.task.traits.get("intent", "")


def guess_in(case: MeasuredRun) -> str:
    """Return the first proposal, else the final answer, empty if there is neither."""
    proposal = next(
        (step.question.text for step in case.steps if step.question and step.question.kind == "propose"), ""
    )
    last = case.steps[-1].proposed if case.steps else None
    return (proposal or (last.text if last is not None and last.kind == "answer" else "") or "").strip()


def executions_of(
    cases: Sequence[MeasuredRun], gold: Mapping[str, Sequence[MeasuredRun]], out: LeftOutTally
) -> list[Execution]:
    """Return agents' runs of demonstrated tasks, with the same user's demonstration if possible, else the first one."""
    executions: list[Execution] = []
    for case in cases:
        if case.gold or (case.task.kind == "proactive" and not case.task.instruction):
            continue
        demonstrations = [one for one in demonstrations_of_task(case, gold.get(case.task.id, ())) if one.steps]
        if case.status == "open":
            out.add("not ended")
        elif not demonstrations:
            out.add("of a task that nobody demonstrated")
        else:
            own = next((one for one in demonstrations if one.persona_id == case.persona_id), demonstrations[0])
            golden = len(own.steps)
            executions.append(Execution(case, own, golden, _reached_goal(case, golden)))
    return executions


def _reached_goal(case: MeasuredRun, golden: int) -> bool | None:
    """Return True if a run reached its goal by its mark, verdict or score, never beyond 2.5 times the golden steps."""
    if len(case.steps) > MOST * golden:
        return False
    verdict = mark_or_verdict(case, "sr2")
    verdict = case.success_score if verdict is None else verdict
    return None if verdict is None else verdict > DONE


def mark_or_verdict(case: MeasuredRun, name: str) -> float | None:
    """Return a settled mark of that name, else the source's verdict, or None if there is neither."""
    mark = case.marks.get(name)
    # A mark that people were asked about and could not settle must not fall back to the source's verdict.
    if mark is not None or name in case.unsettled:
        return mark
    verdict = case.verdict(name)
    value = verdict.value if verdict else None
    if isinstance(value, str):
        return _VERDICT_VALUES.get(value.strip().lower())
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def type_of(facts: Mapping[str, object]) -> str:
    """Return a user's type: the decade of their age, empty if unknown.

    The paper has "age groups" without bounds. An age that is already a group ("18-24") is that group.
    """
    inner = facts.get("identity")
    age = facts.get("age", inner.get("age") if isinstance(inner, dict) else None)
    if isinstance(age, str):
        age = age.strip()
        if not re.fullmatch(r"\d{1,3}(\.\d+)?", age):
            return age
    try:
        return f"{int(float(age)) // 10 * 10}s" if isinstance(age, int | float | str) else ""
    except (ValueError, OverflowError):
        return ""


def sequence_of(case: MeasuredRun) -> str:
    """Return all actions as one text: each as A.7.2 spells it, joined by semicolons.

    The paper compares "two strings" and does not say what separates actions. The text is cut one character beyond
    `LONGEST`, so that callers can tell that it is too long.
    """
    return ";".join(action_text(step.action, step.content) for step in case.steps if step.action is not None)[
        : LONGEST + 1
    ]


def action_text(action: Action, content: str = "") -> str:
    """Return one action as text: `click(coordinates=(540,1200), content='Search')`, `press_back()`.

    `content` is what is under the finger. Touches without known pixels have no coordinates. A scroll's direction is
    that of the content, so the direction of a swipe, which is the finger's, is reversed.
    """
    name = _ACTION_NAMES.get(action.kind, action.kind)
    if name == "finished":
        return "finished()"
    way = _OPPOSITE[action.direction] if action.kind == "swipe" and action.direction else action.direction
    parts = [f"coordinates=({action.at[0]},{action.at[1]})"] if action.at and name != "type" else []
    if name in ("click", "long_click"):
        parts.append(f"content='{content}'")
    elif name == "type" or action.text:
        parts.append(f"text='{action.text or ''}'")
    if name == "drag" and action.to:
        parts.append(f"to=({action.to[0]},{action.to[1]})")
    parts += [f"{key}='{text}'" for key, text in (("direction", way), ("app", action.app)) if text]
    return f"{name}({', '.join(parts)})"
