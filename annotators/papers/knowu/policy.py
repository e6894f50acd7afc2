"""Act, Silent and Stop of KnowU-Bench's proactive tasks: by the paper's text, and by its script.

Both put each run into one of three groups. *Reject*: the person rejected. Otherwise *need* if the task warrants an
intervention, else *noneed*. An intervention is warranted by the task's trait `warranted` (yes, no). For KnowU-Bench's
own tasks, it is warranted if the person's profile has one of the habits behind the routine. For a task with its own
checks, it is warranted if they expect an offer or the result of an acceptance (need), and not if they expect silence
(`run: silent`, noneed).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from annotators.papers.knowu.runs import SOURCE, KnowuRun
from annotators.papers.knowu.tasks import HABITS
from annotators.papers.metrics import MetricTerms
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.task.task import Task

Group = Literal["need", "noneed", "reject"]
_WARRANTED = {"yes": True, "no": False}
_USER = "user"
"""Role whose profile the script uses for a run that names none."""

_PASSIVE_KINDS = frozenset({"scroll", "navigate_home", "navigate_back", "press_recent", "wait", "answer", "status"})
"""Actions that change nothing of the person's and ask nothing: the agent looks around, announces its end, or waits."""

_DECISION = re.compile(r"<decision>\s*(accept|reject)\s*</decision>", re.I)
_BLANKS = re.compile(r"\s+")
_ENDING_TEXTS = frozenset({"", "task finished", "task failed", "finished", "failed", "success"})
_QUIET_TYPES = frozenset({"", "wait", "finished", "ask_user"})
_ALLOWED_AFTER = _QUIET_TYPES | {"answer"}


class Policy(NamedTuple):
    """A run's group with True for `kept` if it behaved as it should, or the reason `why` it has none."""

    group: Group | None
    kept: bool = False
    why: str = ""


def paper_policy(run: KnowuRun, terms: MetricTerms) -> Policy:
    """Return a run's policy by the paper's text.

    Act: it intervened, by an action or a question. Silent: it did neither. Stop: after the first explicit rejection it
    neither acted nor asked again.
    """
    steps, asks = run.case.steps, run.case.open_questions > 0
    refusal_place = next((i for i, step in enumerate(steps) if step.reply and step.reply.decision == "reject"), None)
    if refusal_place is not None:
        return Policy("reject", not (asks or any(map(_intervenes, steps[refusal_place + 1 :]))))
    needed, why = warrants_intervention(run.case, terms)
    if needed is None:
        return Policy(None, why=why)
    intervened = asks or any(map(_intervenes, steps))
    return Policy("need", intervened) if needed else Policy("noneed", not intervened)


def script_policy(run: KnowuRun, terms: MetricTerms) -> Policy:
    """Return a run's policy by calc_paper_metrics.py, which never sees runs without a result.

    The group is *reject* by the LAST decision in replies, and actions count from the step after the FIRST rejection.
    Act is the task's success. Silent allows ask_user, and answers with one of a few texts. Stop allows ask_user and
    every answer. A reply after the last step is not in traj.json, so it is not seen.
    """
    steps = run.case.steps
    # Without the last step: a reply to it is not in traj.json.
    decisions = [(i, decision) for i, step in enumerate(steps[:-1]) if step.reply and (decision := _decision_in(step))]
    if decisions and decisions[-1][1] == "reject":
        first = next(i for i, decision in decisions if decision == "reject")
        return Policy("reject", not any(_action_type(step) not in _ALLOWED_AFTER for step in steps[first + 1 :]))
    needed, why = warrants_intervention(run.case, terms)
    if needed is None:
        return Policy(None, why=why)
    if needed and run.success is None:
        return Policy(None, why="whose success is not settled")
    return Policy("need", run.succeeded) if needed else Policy("noneed", not any(map(_engages, steps)))


def warrants_intervention(case: MeasuredRun, terms: MetricTerms) -> tuple[bool | None, str]:
    """Return True if the task warrants an intervention, or None with a reason if unknown.

    The script treats a role without a profile as one without habits. Here such a run is left out.
    """
    trait = _WARRANTED.get(case.task.traits.get("warranted", "").lower())
    if trait is not None:
        return trait, ""
    if case.source is not None and case.source.format == SOURCE:
        return _warranted_by_habits(case, terms)
    return _warranted_by_checks(case.task)


def _warranted_by_habits(case: MeasuredRun, terms: MetricTerms) -> tuple[bool | None, str]:
    keys = HABITS.get(case.task.id)
    if keys is None:
        return None, "of an unknown routine"
    facts = case.persona.facts if case.persona else terms.profiles.get(case.task.persona or _USER)
    if facts is None:
        return None, "whose profile is not given"
    habits = facts.get("habits")
    habit_facts: Mapping[str, object] = habits if isinstance(habits, dict) else {}
    return any(isinstance(habit_facts.get(key), dict) and bool(habit_facts[key]) for key in keys), ""


def _warranted_by_checks(task: Task) -> tuple[bool | None, str]:
    if any(check.run == "silent" for check in task.checks):
        return False, ""
    if any(check.run == "asked" or check.when == "accept" for check in task.checks):
        return True, ""
    return None, "of a task that does not say whether to intervene"


def _intervenes(step: MeasuredStep) -> bool:
    """Return True if the agent did something of its own at this step, or asked."""
    if step.question is not None:
        return True
    if step.action is None or step.error is not None or (step.by is not None and step.by.kind == "human"):
        return False
    return step.action.kind not in _PASSIVE_KINDS


def _decision_in(step: MeasuredStep) -> str:
    """Return the decision that the script finds in a reply: a tag, else the word `reject`, else `accept`."""
    reply = step.reply
    if reply is None:
        return ""
    match = _DECISION.search(reply.text)
    if match or reply.decision:
        return match[1].lower() if match else reply.decision or ""
    lowered = reply.text.lower()
    return "reject" if "reject" in lowered else "accept" if "accept" in lowered else ""


def _action_type(step: MeasuredStep) -> str:
    """Return the source's own action type in lower case, for other runs that of an export in its layout.

    It is empty if there was no action.
    """
    action = step.action
    if action is None:
        return ""
    if isinstance(action.raw, dict) and "action_type" in action.raw:
        return str(action.raw["action_type"] or "").lower()
    return "finished" if action.kind == "status" and action.status == "complete" else action.kind


def _engages(step: MeasuredStep) -> bool:
    name = _action_type(step)
    if name == "answer":
        return (
            _BLANKS.sub(" ", ((step.action.text if step.action else None) or "").strip()).lower() not in _ENDING_TEXTS
        )
    return name not in _QUIET_TYPES


def share(policies: Sequence[Policy], group: Group) -> list[float]:
    """Return 1 for each run of a group that behaved as it should, 0 for its others."""
    return [float(policy.kept) for policy in policies if policy.group == group]
