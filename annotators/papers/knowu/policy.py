"""Act, Silent and Stop of KnowU-Bench's proactive tasks: as the paper says them, and as its script computes them.

Both put each run into one of three groups. *Reject*: the person rejected. Else *need* where the task warrants an
intervention and *noneed* where it does not. What warrants it: the task's trait `warranted` (yes, no); for KnowU-Bench's
own tasks, that the person's profile has one of the habits behind the routine; for a task with checks of its own, that
these want an offer or what follows an acceptance (need), or silence (`run: silent`, noneed).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from annotators.papers.knowu.runs import SOURCE, Run
from annotators.papers.knowu.tasks import HABITS
from annotators.papers.metrics import MetricTerms
from lab.core.measured_run import MeasuredRun, MeasuredStep
from lab.core.task import Task

Group = Literal["need", "noneed", "reject"]
_WARRANTED = {"yes": True, "no": False}
_USER = "user"
"""The role whose profile the script takes for a run that names none."""

_LOOKING = frozenset({"scroll", "navigate_home", "navigate_back", "press_recent", "wait", "answer", "status"})
"""What leaves everything a person owns as it was and asks nothing: the agent looks around, says that it ends, waits."""

_DECISION = re.compile(r"<decision>\s*(accept|reject)\s*</decision>", re.I)
_BLANKS = re.compile(r"\s+")
_ENDINGS = frozenset({"", "task finished", "task failed", "finished", "failed", "success"})
_QUIET = frozenset({"", "wait", "finished", "ask_user"})
_ALLOWED_AFTER = _QUIET | {"answer"}


class Policy(NamedTuple):
    """A run's group and whether it did there what it should; or `why` it is in none."""

    group: Group | None
    kept: bool = False
    why: str = ""


def paper_policy(run: Run, terms: MetricTerms) -> Policy:
    """Act: it intervened, by acting or by asking first. Silent: it did neither. Stop: after the first explicit
    rejection it neither acted nor asked again."""
    steps, asks = run.case.steps, run.case.open_questions > 0
    refusal_place = next((i for i, step in enumerate(steps) if step.reply and step.reply.decision == "reject"), None)
    if refusal_place is not None:
        return Policy("reject", not (asks or any(map(_intervenes, steps[refusal_place + 1 :]))))
    needed, why = warranted(run.case, terms)
    if needed is None:
        return Policy(None, why=why)
    intervened = asks or any(map(_intervenes, steps))
    return Policy("need", intervened) if needed else Policy("noneed", not intervened)


def script_policy(run: Run, terms: MetricTerms) -> Policy:
    """As calc_paper_metrics.py has it; runs without a result do not reach it.

    The group is *reject* by the LAST decision in replies, and what counts begins with the step after the FIRST
    rejection. Act is the task's success. Silent lets ask_user pass, and an answer whose text is one of a few. Stop lets
    ask_user and every answer pass. A reply that came after the last step is not in traj.json, so it is not seen.
    """
    steps = run.case.steps
    decisions = [(i, decision) for i, step in enumerate(steps[:-1]) if step.reply and (decision := _decision_in(step))]
    if decisions and decisions[-1][1] == "reject":
        first = next(i for i, decision in decisions if decision == "reject")
        return Policy("reject", not any(_type(step) not in _ALLOWED_AFTER for step in steps[first + 1 :]))
    needed, why = warranted(run.case, terms)
    if needed is None:
        return Policy(None, why=why)
    if needed and run.success is None:
        return Policy(None, why="whose success is not settled")
    return Policy("need", run.done) if needed else Policy("noneed", not any(map(_engages, steps)))


def warranted(case: MeasuredRun, terms: MetricTerms) -> tuple[bool | None, str]:
    """Whether the task warrants an intervention, or why that cannot be told.

    The script takes a role without a profile for one without habits; here such a run is left out.
    """
    trait = _WARRANTED.get(case.task.traits.get("warranted", "").lower())
    if trait is not None:
        return trait, ""
    if case.source is not None and case.source.format == SOURCE:
        return _habitual(case, terms)
    return _checked(case.task)


def _habitual(case: MeasuredRun, terms: MetricTerms) -> tuple[bool | None, str]:
    keys = HABITS.get(case.task.id)
    if keys is None:
        return None, "of an unknown routine"
    facts = case.persona.facts if case.persona else terms.profiles.get(case.task.persona or _USER)
    if facts is None:
        return None, "whose profile is not given"
    habits = facts.get("habits")
    habit_facts: Mapping[str, object] = habits if isinstance(habits, dict) else {}
    return any(isinstance(habit_facts.get(key), dict) and bool(habit_facts[key]) for key in keys), ""


def _checked(task: Task) -> tuple[bool | None, str]:
    if any(check.run == "silent" for check in task.checks):
        return False, ""
    if any(check.run == "asked" or check.when == "accept" for check in task.checks):
        return True, ""
    return None, "of a task that does not say whether to intervene"


def _intervenes(step: MeasuredStep) -> bool:
    """Whether the agent did something of its own here, or asked."""
    if step.question is not None:
        return True
    if step.action is None or step.error is not None or (step.by is not None and step.by.kind == "human"):
        return False
    return step.action.kind not in _LOOKING


def _decision_in(step: MeasuredStep) -> str:
    """The decision that the script reads out of a reply: a tag, else the word `reject`, else `accept`."""
    reply = step.reply
    if reply is None:
        return ""
    match = _DECISION.search(reply.text)
    if match or reply.decision:
        return match[1].lower() if match else reply.decision or ""
    lowered = reply.text.lower()
    return "reject" if "reject" in lowered else "accept" if "accept" in lowered else ""


def _type(step: MeasuredStep) -> str:
    """The source's own action type in lower case; of other runs that which an export in its layout has.

    Empty where nothing was done.
    """
    action = step.action
    if action is None:
        return ""
    if isinstance(action.raw, dict) and "action_type" in action.raw:
        return str(action.raw["action_type"] or "").lower()
    return "finished" if action.kind == "status" and action.status == "complete" else action.kind


def _engages(step: MeasuredStep) -> bool:
    name = _type(step)
    if name == "answer":
        return _BLANKS.sub(" ", ((step.action.text if step.action else None) or "").strip()).lower() not in _ENDINGS
    return name not in _QUIET


def share(policies: Sequence[Policy], group: Group) -> list[float]:
    """1 for each run of a group that did what it should, 0 for the others of it."""
    return [float(policy.kept) for policy in policies if policy.group == group]
