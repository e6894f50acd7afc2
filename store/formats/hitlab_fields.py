"""Fields that hitlab adds to exports under the key `hitlab`, for what a format cannot express."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from lab.core.run.step import Action
from lab.core.task.task import Actor

HITLAB_KEY = "hitlab"
"""Key of hitlab's own fields in a format."""
EXPORTED = "hitlab_run"
"""Key in the first step's `extra` for the id of the exported run that an import came from (`store.runs.lineage`)."""
_FIELDS = ("kind", "at", "to", "text", "direction", "vector", "app", "status", "ms", "boxes")


def with_hitlab_fields(action: Action, fields: Any) -> Action:
    """Return an action completed by hitlab's fields of an export, unchanged if they are not valid."""
    if not isinstance(fields, dict) or not set(fields) <= set(_FIELDS):
        return action
    try:
        return msgspec.convert({**_field_values(action), **fields, "raw": action.raw, "space": action.space}, Action)
    except msgspec.ValidationError:
        return action


def missing_fields(action: Action, reread_action: Action, unless: Iterable[str] = ()) -> dict[str, Any]:
    """Return the fields to add beside an action's spelling so that reading gives the same action.

    `reread_action` is the action read without them. Boxes and a movement derived from a direction may be added by the
    reader.
    """
    own_values, reread_values = _field_values(action), _field_values(reread_action)
    free = {*unless, *(() if action.vector else ("vector",))}
    return {name: own_values[name] for name in _FIELDS if own_values[name] != reread_values[name] and name not in free}


def agent_of(fields: Any, otherwise: Actor) -> Actor:
    """Return the agent that hitlab wrote into an export, else `otherwise`."""
    try:
        return msgspec.convert(fields, Actor)
    except msgspec.ValidationError:
        return otherwise


def exported_run_field(fields: dict[str, Any]) -> dict[str, str]:
    """Return the id of the exported run, for the first step's `extra`, empty if the file is not hitlab's."""
    run = fields.get("run")
    return {EXPORTED: run} if isinstance(run, str) and run else {}


def _field_values(action: Action) -> dict[str, Any]:
    return {name: msgspec.to_builtins(getattr(action, name)) for name in _FIELDS}
