"""Blinding: remove from a run what a rater must not see. Raters' screens and kits get their runs only through here.

The fields are removed from the events themselves, so that no screen, search or copy can show them. `RULES` names every
field of every event, and a field without a rule is removed. People are always hidden. Times and durations are hidden
with the method, because its pace identifies a model. A field that passes is not altered: a screenshot, a thought or a
question that names the method itself cannot be blinded here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import msgspec

from lab.core.run.step import Action, Decision, Observation, Prompt, Proposed, Question, Reply, Usage
from lab.core.run.trace import (
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
from lab.core.study.protocol import Show
from lab.core.study.study import Play, Unit
from lab.core.task.playbook import Playbook, apply_changes
from lab.core.task.task import Actor, LogEntry, Persona, Rubric, Task, Tdg

NOBODY = Actor("script", "hidden")
"""Actor in place of a hidden agent or person."""
FAILED = "The act failed."
"""Text in place of an error, whose own words may name the method."""


def blind_event(event: AnyEvent, shows: Collection[Show]) -> AnyEvent:
    """Return an event with only the parts that `shows` names. Its position in the run (`seq`, steps) stays."""
    blind_event: AnyEvent = _blind_value(event, frozenset(shows))
    return blind_event


def blind_unit(unit: Unit, shows: Collection[Show]) -> Unit:
    """Return a unit without the designers' words and its source. The questions and the gold stay.

    The gold stays because a pilot unit shows it after submission. A person who reads the file itself can read it
    before.
    """
    task = _blind_value(unit.task, frozenset(shows)) if unit.task is not None else None
    play = blind_play(unit.play) if unit.play is not None else None
    return msgspec.structs.replace(unit, hidden={}, task=task, play=play, cluster=_mask_id(unit.cluster, "group"))


_DESIGNED: dict[str, Any] = {
    "golden": (), "golden_steps": None, "tdg": Tdg(), "units": (), "branches": (), "rubric": Rubric(),
    "rule_weight": None,
}  # fmt: skip
"""Blank values for the parts of a task that only its rating needs. Playing and checking a task do without them."""


def blind_play(play: Play) -> Play:
    """Return a play without its task's rating parts, and with only its own playbook, whose description is removed.

    A task whose names a seed changes (`vary`) stays whole, because the run must have it as that world does.
    """
    task, name = play.task, play.agent.partition(":")[2]
    wrong = tuple(
        Playbook(one.name, "", moves=one.moves or apply_changes(task.playbook, one.changes))
        for one in task.playbooks
        if one.name == name
    )
    designed = {} if play.vary else _DESIGNED
    blind_task = msgspec.structs.replace(task, playbook=() if wrong else task.playbook, playbooks=wrong, **designed)
    return msgspec.structs.replace(play, task=blind_task)


class Rule(NamedTuple):
    """Rule of one field: `passes` decides by the struct that holds the field, `instead` gives the replacement.

    Without `instead` the field gets its default. A value that passes is filtered in turn. A replacement is final.
    """

    passes: Callable[[Any, frozenset[str]], bool]
    instead: Callable[[Any, frozenset[str]], Any] | None = None


KEPT = Rule(lambda owner, shows: True)
DROPPED = Rule(lambda owner, shows: False)


def _if_shown(show: Show, *blank: Any) -> Rule:
    """Return a rule that passes if `show` is shown. `blank` is the replacement for a field without a default."""
    return Rule(lambda owner, shows: show in shows, (lambda owner, shows: blank[0]) if blank else None)


def _blind_agent(started: Started, shows: frozenset[str]) -> Actor:
    """Return the agent if the method is shown, without its name if it is a person."""
    if "method" not in shows:
        return NOBODY
    return Actor("human", "hidden") if started.agent.kind == "human" else started.agent


def _blind_error(step: Step, shows: frozenset[str]) -> str | None:
    return FAILED if step.error is not None and "actions" in shows else None


def _text_passes(action: Action, shows: frozenset[str]) -> bool:
    """Return True if an action's text passes.

    A question is dialogue. The text of an unparsed action may name the method, so it passes only as one bare word.
    """
    if action.kind == "other" and "method" not in shows:
        return "actions" in shows and (action.text or "").isidentifier()
    return "actions" in shows and (action.kind != "ask_user" or "dialogue" in shows)


def _kind_passes(action: Action, shows: frozenset[str]) -> bool:
    return "actions" in shows or (action.kind == "ask_user" and "dialogue" in shows)


def _log_source_passes(persona: Persona, shows: frozenset[str]) -> bool:
    return "log" in shows and bool(persona.log)


def _mask_id(id: str, word: str) -> str:
    """Return a hash of an id. It only shows if two ids are equal."""
    return f"{word}-{hashlib.sha256(id.encode(errors='backslashreplace')).hexdigest()[:8]}" if id else ""


_EVENT: dict[str, Rule] = {"seq": KEPT, "at": _if_shown("method"), "ms": _if_shown("method"), "v": KEPT}

RULES: dict[type, dict[str, Rule]] = {
    Started: _EVENT | {
        "trace": KEPT,
        "task": KEPT,
        "agent": Rule(DROPPED.passes, _blind_agent),
        "persona": Rule(lambda started, shows: bool({"persona", "log"} & shows)),
        "user": DROPPED,
        "device": KEPT,
        "conditions": DROPPED,
        "attempt": DROPPED,
        "parent": DROPPED,
        "source": _if_shown("method"),
        "state": DROPPED,
        "forked": DROPPED,
    },
    Asked: _EVENT | {
        "index": KEPT,
        "question": KEPT,
        "proposed": KEPT,
        "before": KEPT,
        "decision": _if_shown("actions"),
    },
    Answered: _EVENT | {"index": KEPT, "reply": KEPT},
    Acting: _EVENT | {"index": KEPT, "action": KEPT},
    Step: _EVENT | {
        "index": KEPT,
        "proposed": KEPT,
        "before": KEPT,
        "decision": _if_shown("actions"),
        "question": _if_shown("dialogue"),
        "reply": _if_shown("dialogue"),
        "error": Rule(lambda step, shows: {"actions", "method"} <= shows, _blind_error),
        "accepted": Rule(lambda step, shows: {"actions", "golden"} <= shows),
        "extra": DROPPED,
        "typed_by": DROPPED,
        "state": DROPPED,
        "started": _if_shown("method"),
        "ended": _if_shown("method"),
    },
    Paused: _EVENT | {"by": KEPT, "reason": DROPPED, "state": DROPPED},
    Resumed: _EVENT | {"by": KEPT, "reason": DROPPED, "state": DROPPED},
    Flagged: _EVENT | {"index": KEPT, "by": KEPT, "flag": KEPT, "on": KEPT},
    Ended: _EVENT | {
        "status": _if_shown("outcome", "completed"),
        "score": _if_shown("outcome"),
        "reason": _if_shown("reason"),
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
            lambda task, shows: _mask_id(task.id, "task"),
        ),
        "kind": KEPT,
        "title": DROPPED,
        "instruction": _if_shown("instruction"),
        "persona": DROPPED,
        "log": DROPPED,
        "time": _if_shown("context"),
        "place": _if_shown("context"),
        "budget": DROPPED,
        "policy": _if_shown("policy"),
        "phone": DROPPED,
        "golden": _if_shown("golden"),
        "tdg": DROPPED,
        "units": DROPPED,
        "branches": DROPPED,
        "rubric": _if_shown("rubric"),
        "checks": DROPPED,
        "apps": DROPPED,
        "golden_steps": _if_shown("golden"),
        "playbook": DROPPED,
        "playbooks": DROPPED,
        "rule_weight": DROPPED,
        "mirror_of": DROPPED,
        "traits": DROPPED,
    },
    Persona: {
        "id": Rule(lambda persona, shows: "persona" in shows, lambda persona, shows: _mask_id(persona.id, "person")),
        "name": _if_shown("persona", ""),
        "facts": _if_shown("persona"),
        "log": _if_shown("log"),
        "log_source": Rule(_log_source_passes),
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
        "thought": _if_shown("thoughts"),
        "prompt": DROPPED,
        "raw": DROPPED,
        "usage": DROPPED,
        "by": DROPPED,
        "instruction": _if_shown("thoughts"),
        "thinking": DROPPED,
        "thinking_source": DROPPED,
        "stderr": DROPPED,
    },
    Action: {
        "kind": Rule(_kind_passes, lambda action, shows: "other"),
        "at": _if_shown("actions"),
        "to": _if_shown("actions"),
        "text": Rule(_text_passes),
        "direction": _if_shown("actions"),
        "vector": _if_shown("actions"),
        "app": _if_shown("actions"),
        "status": _if_shown("actions"),
        "ms": _if_shown("actions"),
        "raw": DROPPED,
        "space": DROPPED,
        "boxes": DROPPED,
    },
    Observation: {
        "image": _if_shown("screens"),
        "size": KEPT,
        "tree": _if_shown("screens"),
        "activity": _if_shown("screens"),
        "at": _if_shown("screens"),
        "tree_missing": DROPPED,
    },
    Question: {"id": KEPT, "kind": KEPT, "text": _if_shown("dialogue", ""), "options": _if_shown("dialogue")},
    Reply: {
        "question_id": KEPT,
        "text": _if_shown("dialogue", ""),
        "by": KEPT,
        "decision": _if_shown("dialogue"),
        "shown_at": DROPPED,
        "first_key_at": DROPPED,
        "sent_at": DROPPED,
        "edits": DROPPED,
        "draft": DROPPED,
        "usage": DROPPED,
        "calls": _if_shown("dialogue"),
    },
    Decision: {"verdict": KEPT, "by": KEPT, "action": KEPT, "note": DROPPED, "seconds": _if_shown("method")},
}  # fmt: skip
"""The rule of every field of a run. `Actor` has none, because an actor within a field that passes becomes `NOBODY`."""

NEVER: tuple[type, ...] = (Conditions, Forked, Prompt, Usage)
"""Types that no rater ever sees: no field that passes holds one."""


def _blind_value(value: Any, shows: frozenset[str]) -> Any:
    """Return a value with only the parts that pass. Types without rules pass whole within a field that passes."""
    if isinstance(value, Actor):
        return NOBODY
    # The exact type: a NamedTuple is a value, not a sequence of values.
    if isinstance(value, tuple) and value and type(value) is tuple:
        return tuple(_blind_value(one, shows) for one in value)
    rules = RULES.get(type(value))
    if rules is None:
        return value
    passed: dict[str, Any] = {}
    for name in value.__struct_fields__:
        # A field that is added without a rule is hidden, not leaked.
        rule = rules.get(name, DROPPED)
        if rule.passes(value, shows):
            passed[name] = _blind_value(getattr(value, name), shows)
        elif rule.instead is not None:
            passed[name] = rule.instead(value, shows)
    return type(value)(**passed)
