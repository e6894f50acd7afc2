"""Fallbacks of an imported run, found in its events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lab.core.run_records import Imported
from lab.core.step import Action
from lab.core.trace import Started, Step
from store.formats.fallbacks import Fallbacks
from store.formats.jsonl.reader import Blobs
from store.formats.pictures import Pictures
from store.run_rows import referenced_blobs

_THINKING = frozenset({"knowu", "androidworld", "mobile_use", "memgui", "aitz", "appagent", "androidlab", "droidrun"})
"""Formats whose steps have a field for the agent's thought."""
_TOUCHES = frozenset({"click", "double_tap", "long_press", "drag"})
_OFF_SCREEN = frozenset(
    {
        "unknown", "error_env", "error", "mcp", "grid", "remember", "memory_add", "memory_update", "memory_delete",
        "take_screenshot", "screenshot", "zoom", "get_state", "get_clickables", "list_packages", "get_memory",
        "cursor_position", "call_api", "snapshot", "no_action", "script", "key", "hold_key", "mouse_move",
        "left_mouse_down", "left_mouse_up", "middle_click", "right_click", "back_click", "forward_click",
    }
)  # fmt: skip
"""Action names of sources that do nothing on the phone's screen, so that `other` is not a fallback."""
_TOOLS = frozenset({"tau2", "inspect"})
"""Formats whose agents call tools of any name."""


def find_fallbacks(run: Imported, has_blob: Callable[[str], bool]) -> Fallbacks:
    """Return what a run's reader could not use, by the same rules for every format.

    `has_blob` returns True if a picture's bytes are already in the file.
    """
    found = Fallbacks()
    started = run.events[0]
    if not isinstance(started, Started):
        return found
    if isinstance(run.images, Blobs):  # hitlab's own format loses nothing else
        _add_missing_blobs(found, run, has_blob)
        return found
    if started.source is None:
        return found
    format, path = started.source.format, started.source.path
    steps = [event for event in run.events if isinstance(event, Step)]
    if not started.task.instruction.strip():
        found.add("goal", f"{started.task.id} in {path}")
    if steps and format in _THINKING and started.agent.kind == "model" and not any(s.proposed.thought for s in steps):
        found.add("thought", f"{started.task.id} in {path}")
    for step in steps:
        place = f"step {step.index + 1} of {path}"
        if isinstance(why := step.extra.get("screenshot"), str) and not isinstance(run.images, Pictures):
            found.add("picture", place, why)  # `incomplete_runs` counts missing files
        _add_step(found, step, place, format)
    return found


def _add_missing_blobs(found: Fallbacks, run: Imported, has_blob: Callable[[str], bool]) -> None:
    """Count pictures and phone states that events refer to but no `blob` line holds."""
    counted = set(run.images)
    for event in run.events:
        for sha256 in sorted(referenced_blobs(event) - counted):
            counted.add(sha256)
            if not has_blob(sha256):
                found.add("picture", f"event {event.seq} of run {run.id}", f"no blob line for {sha256[:12]}")


def _add_step(found: Fallbacks, step: Step, place: str, format: str) -> None:
    action = step.proposed.action
    if why := step.extra.get("tree") or step.extra.get("ui_state"):
        found.add("tree", place, str(why))
    if (time := step.extra.get("timestamp")) and not step.at:
        found.add("time", place, str(time))
    for field, value in step.extra.get("missing") or ():
        found.add("value", f"{place} field {field}", str(value))
    if action.kind == "other" and format not in _TOOLS and source_action_name(action).lower() not in _OFF_SCREEN:
        found.add("action", place, _action_words(action))
    if action.kind in _TOUCHES and action.at is None:
        found.add("place", place, _action_words(action))


def source_action_name(action: Action) -> str:
    """Return the source's name of an action, guessed from its raw form, empty if none."""
    raw: Any = action.raw
    for _ in range(3):
        if isinstance(raw, dict):
            names = ("action_type", "action", "name", "operation", "function", "type")
            raw = next((raw[key] for key in names if raw.get(key)), "")
        elif isinstance(raw, list):
            raw = raw[0] if raw else ""
    text = raw if isinstance(raw, str) else action.text or ""
    return text.partition("(")[0].strip()


def _action_words(action: Action) -> str:
    """Return an action's original words, shortened for a sentence."""
    words = action.raw if isinstance(action.raw, str) else source_action_name(action)
    return " ".join(words.split())[:60]
