"""A run without what a rater must not see: the one door through which annotators' screens and kits get their runs.

What is hidden is taken out of the events themselves, so that no screen, search or copy can come upon it. Every field
of every event is named in `RULES`; one that is not is taken out. People are hidden always, and so is when and how
fast things were done where the method is: a model is known by its pace. What passes passes as it stands: a screenshot,
a thought or a question that names the method itself cannot be blinded here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import msgspec

from lab.core.playbook import Playbook, changed
from lab.core.protocol import Show
from lab.core.step import Action, Decision, Observation, Prompt, Proposed, Question, Reply, Usage
from lab.core.study import Play, Unit
from lab.core.task import Actor, LogEntry, Persona, Rubric, Task, Tdg
from lab.core.trace import (
    Acting,
    Answered,
    AnyEvent,
    Asked,
    Conditions,
    DeviceInfo,
    Ended,
    Flagged,
    Forked,
    Paused,
    Resumed,
    Source,
    Started,
    Step,
)

NOBODY = Actor("script", "hidden")
"""Who stands where an agent's or a person's name was."""
FAILED = "The act failed."
"""What stands where an error was told in words that may name the method."""


def blinded(event: AnyEvent, shows: Collection[Show]) -> AnyEvent:
    """An event with nothing in it but what `shows` names; its place in the run (`seq`, steps) stays."""
    blind_event: AnyEvent = _cut(event, frozenset(shows))
    return blind_event


def blinded_unit(unit: Unit, shows: Collection[Show]) -> Unit:
    """A unit without the designers' words and whose it is; what is asked, and its gold, stay.

    Gold is in it because a pilot unit shows it once it is handed in: who reads the file itself can read it before.
    """
    task = _cut(unit.task, frozenset(shows)) if unit.task is not None else None
    play = blinded_play(unit.play) if unit.play is not None else None
    return msgspec.structs.replace(unit, hidden={}, task=task, play=play, cluster=_masked(unit.cluster, "group"))


_DESIGNED: dict[str, Any] = {
    "golden": (), "golden_steps": None, "tdg": Tdg(), "units": (), "branches": (), "rubric": Rubric(),
    "rule_weight": None,
}  # fmt: skip
"""What a task is rated by afterwards: nobody who plays it needs it, nor does a check of its end."""


def blinded_play(play: Play) -> Play:
    """A play without what its task is rated by, and with no playbook but its own, which does not say what goes wrong.

    Where names are changed by a seed (`vary`), its task stays whole: the run must have it as that world does.
    """
    task, name = play.task, play.agent.partition(":")[2]
    wrong = tuple(
        Playbook(one.name, "", moves=one.moves or changed(task.playbook, one.changes))
        for one in task.playbooks
        if one.name == name
    )
    designed = {} if play.vary else _DESIGNED
    blind_task = msgspec.structs.replace(task, playbook=() if wrong else task.playbook, playbooks=wrong, **designed)
    return msgspec.structs.replace(play, task=blind_task)


class Rule(NamedTuple):
    """When a field passes, asked with the struct it stands in; else what stands there (None: the field's default).

    What passes is gone through in turn; what stands in its place is final.
    """

    passes: Callable[[Any, frozenset[str]], bool]
    instead: Callable[[Any, frozenset[str]], Any] | None = None


KEPT = Rule(lambda owner, shows: True)
DROPPED = Rule(lambda owner, shows: False)


def _where(show: Show, *blank: Any) -> Rule:
    """Passes where that part is shown; `blank` is for fields that have no default."""
    return Rule(lambda owner, shows: show in shows, (lambda owner, shows: blank[0]) if blank else None)


def _agent(started: Started, shows: frozenset[str]) -> Actor:
    """The method where it is shown, unless it is a person."""
    if "method" not in shows:
        return NOBODY
    return Actor("human", "hidden") if started.agent.kind == "human" else started.agent


def _error(step: Step, shows: frozenset[str]) -> str | None:
    return FAILED if step.error is not None and "actions" in shows else None


def _says(action: Action, shows: frozenset[str]) -> bool:
    """A question is dialogue; what no reader or parser understood is quoted only where it is one bare word."""
    if action.kind == "other" and "method" not in shows:
        return "actions" in shows and (action.text or "").isidentifier()
    return "actions" in shows and (action.kind != "ask_user" or "dialogue" in shows)


def _acts(action: Action, shows: frozenset[str]) -> bool:
    return "actions" in shows or (action.kind == "ask_user" and "dialogue" in shows)


def _history(persona: Persona, shows: frozenset[str]) -> bool:
    return "log" in shows and bool(persona.log)


def _masked(id: str, word: str) -> str:
    """An id that tells nothing but whether two are the same."""
    return f"{word}-{hashlib.sha256(id.encode(errors='backslashreplace')).hexdigest()[:8]}" if id else ""


_EVENT: dict[str, Rule] = {"seq": KEPT, "at": _where("method"), "ms": _where("method"), "v": KEPT}

RULES: dict[type, dict[str, Rule]] = {
    Started: _EVENT | {
        "trace": KEPT,
        "task": KEPT,
        "agent": Rule(DROPPED.passes, _agent),
        "persona": Rule(lambda started, shows: bool({"persona", "log"} & shows)),
        "user": DROPPED,
        "device": KEPT,
        "conditions": DROPPED,
        "attempt": DROPPED,
        "parent": DROPPED,
        "source": _where("method"),
        "state": DROPPED,
        "forked": DROPPED,
    },
    Asked: _EVENT | {
        "index": KEPT,
        "question": KEPT,
        "proposed": KEPT,
        "before": KEPT,
        "decision": _where("actions"),
    },
    Answered: _EVENT | {"index": KEPT, "reply": KEPT},
    Acting: _EVENT | {"index": KEPT, "action": KEPT},
    Step: _EVENT | {
        "index": KEPT,
        "proposed": KEPT,
        "before": KEPT,
        "decision": _where("actions"),
        "question": _where("dialogue"),
        "reply": _where("dialogue"),
        "error": Rule(lambda step, shows: {"actions", "method"} <= shows, _error),
        "accepted": Rule(lambda step, shows: {"actions", "golden"} <= shows),
        "extra": DROPPED,
        "typed_by": DROPPED,
        "state": DROPPED,
        "started": _where("method"),
        "ended": _where("method"),
    },
    Paused: _EVENT | {"by": KEPT, "reason": DROPPED, "state": DROPPED},
    Resumed: _EVENT | {"by": KEPT, "reason": DROPPED, "state": DROPPED},
    Flagged: _EVENT | {"index": KEPT, "by": KEPT, "flag": KEPT, "on": KEPT},
    Ended: _EVENT | {
        "status": _where("outcome", "completed"),
        "score": _where("outcome"),
        "reason": _where("reason"),
        "checks": DROPPED,
        "final": KEPT,
        "usage": DROPPED,
        "scored_by": DROPPED,
        "stderr": DROPPED,
    },
    Task: {
        # An id may be a sentence's worth of what is asked (or of what would be right, where nothing is).
        "id": Rule(
            lambda task, shows: "instruction" in shows and bool(task.instruction),
            lambda task, shows: _masked(task.id, "task"),
        ),
        "kind": KEPT,
        "title": DROPPED,
        "instruction": _where("instruction"),
        "persona": DROPPED,
        "log": DROPPED,
        "time": _where("context"),
        "place": _where("context"),
        "budget": DROPPED,
        "policy": _where("policy"),
        "phone": DROPPED,
        "golden": _where("golden"),
        "tdg": DROPPED,
        "units": DROPPED,
        "branches": DROPPED,
        "rubric": _where("rubric"),
        "checks": DROPPED,
        "apps": DROPPED,
        "golden_steps": _where("golden"),
        "playbook": DROPPED,
        "playbooks": DROPPED,
        "rule_weight": DROPPED,
        "mirror_of": DROPPED,
        "traits": DROPPED,
    },
    Persona: {
        "id": Rule(lambda persona, shows: "persona" in shows, lambda persona, shows: _masked(persona.id, "person")),
        "name": _where("persona", ""),
        "facts": _where("persona"),
        "log": _where("log"),
        "log_source": Rule(_history),
    },
    LogEntry: {"time": KEPT, "location": KEPT, "action": KEPT, "label": DROPPED, "category": DROPPED},
    DeviceInfo: {
        "kind": KEPT,
        "id": DROPPED,
        "model": DROPPED,
        "size": KEPT,
        "product": DROPPED,
        "release": DROPPED,
        "sdk": DROPPED,
    },
    Source: {"format": KEPT, "path": DROPPED, "sha256": DROPPED, "model": KEPT},
    Proposed: {
        "action": KEPT,
        "thought": _where("thoughts"),
        "prompt": DROPPED,
        "raw": DROPPED,
        "usage": DROPPED,
        "by": DROPPED,
        "instruction": _where("thoughts"),
        "thinking": DROPPED,
        "thinking_source": DROPPED,
        "stderr": DROPPED,
    },
    Action: {
        "kind": Rule(_acts, lambda action, shows: "other"),
        "at": _where("actions"),
        "to": _where("actions"),
        "text": Rule(_says),
        "direction": _where("actions"),
        "vector": _where("actions"),
        "app": _where("actions"),
        "status": _where("actions"),
        "ms": _where("actions"),
        "raw": DROPPED,
        "space": DROPPED,
        "boxes": DROPPED,
    },
    Observation: {
        "image": _where("screens"),
        "size": KEPT,
        "tree": _where("screens"),
        "activity": _where("screens"),
        "at": _where("screens"),
        "tree_missing": DROPPED,
    },
    Question: {"id": KEPT, "kind": KEPT, "text": _where("dialogue", ""), "options": _where("dialogue")},
    Reply: {
        "question_id": KEPT,
        "text": _where("dialogue", ""),
        "by": KEPT,
        "decision": _where("dialogue"),
        "shown_at": DROPPED,
        "first_key_at": DROPPED,
        "sent_at": DROPPED,
        "edits": DROPPED,
        "draft": DROPPED,
        "usage": DROPPED,
        "calls": _where("dialogue"),
    },
    Decision: {"verdict": KEPT, "by": KEPT, "action": KEPT, "note": DROPPED, "seconds": _where("method")},
}  # fmt: skip
"""What becomes of every field of a run. `Actor` is not in it: one that passes is `NOBODY`."""

NEVER: tuple[type, ...] = (Conditions, Forked, Prompt, Usage)
"""What no rater is ever shown: no field that passes holds one."""


def _cut(value: Any, shows: frozenset[str]) -> Any:
    """A value with what may pass of it; types that have no rules pass whole, within a field that does."""
    if isinstance(value, Actor):
        return NOBODY
    if isinstance(value, tuple) and value and type(value) is tuple:
        return tuple(_cut(one, shows) for one in value)
    rules = RULES.get(type(value))
    if rules is None:
        return value
    passed: dict[str, Any] = {}
    for name in value.__struct_fields__:
        rule = rules.get(name, DROPPED)
        if rule.passes(value, shows):
            passed[name] = _cut(getattr(value, name), shows)
        elif rule.instead is not None:
            passed[name] = rule.instead(value, shows)
    return type(value)(**passed)
