"""What our writers add beside a format's own words, where those cannot say all of an act: under one key, `hitlab`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from lab.core.step import Action
from lab.core.task import Actor

OURS = "hitlab"
"""The key of what we add to a format."""
EXPORTED = "hitlab_run"
"""Where the first step of a run that was read from an export of ours keeps which run that was (`store.lineage`)."""
_KEPT = ("kind", "at", "to", "text", "direction", "vector", "app", "status", "ms", "boxes")


def with_ours(action: Action, fields: Any) -> Action:
    """An action that was read, with what we wrote beside it; as it was where that is none of ours."""
    if not isinstance(fields, dict) or not set(fields) <= set(_KEPT):
        return action
    try:
        return msgspec.convert({**_values(action), **fields, "raw": action.raw, "space": action.space}, Action)
    except msgspec.ValidationError:
        return action


def beside(action: Action, reread_action: Action, unless: Iterable[str] = ()) -> dict[str, Any]:
    """What must stand beside an action's spelling so that it is read again as it is.

    `reread_action` is how it would be. Boxes of a touch, and a movement that follows from a direction, may be more than
    there was.
    """
    own_values, reread_values = _values(action), _values(reread_action)
    free = {*unless, *(() if action.vector else ("vector",))}
    return {name: own_values[name] for name in _KEPT if own_values[name] != reread_values[name] and name not in free}


def agent_of(fields: Any, otherwise: Actor) -> Actor:
    """Who acted, where we wrote it ourselves."""
    try:
        return msgspec.convert(fields, Actor)
    except msgspec.ValidationError:
        return otherwise


def exported_from(fields: dict[str, Any]) -> dict[str, str]:
    """Which run was exported, for the first step's `extra`, where we wrote it ourselves."""
    run = fields.get("run")
    return {EXPORTED: run} if isinstance(run, str) and run else {}


def _values(action: Action) -> dict[str, Any]:
    return {name: msgspec.to_builtins(getattr(action, name)) for name in _KEPT}
