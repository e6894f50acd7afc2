"""Texts of the desk above and below its field: the current request and its keys."""

from __future__ import annotations

from typing import Literal, NamedTuple

from lab.core.instruction_wording import focused_field, name_of
from lab.core.plain_text import plain
from lab.core.step import Action
from lab.core.ui_tree import UiTree
from lab.runs.descriptions import action_words
from screens.record.pending_act import held_words, next_variant

Stage = Literal["keys", "text", "secret", "line", "finish", "reason", "nodes"]
Wanted = Literal["input_text", "open_app", "answer", "note"]

_ASKS: dict[Wanted, str] = {
    "input_text": "Text to type",
    "open_app": "Which app? Its name, as the phone has it:",
    "answer": "Your answer:",
    "note": "Why, in a few words (may stay empty):",
}


class RecordState(NamedTuple):
    """State of the desk: its stage, the held action, the kind of text it asks for, and if it may act."""

    stage: Stage
    held: Action | None
    wanted: Wanted
    ready: bool
    quick: bool
    moved: bool = False
    """True if the phone's screen changed under the held action."""
    still: bool = False
    """True while the recording is paused."""


def request_words(state: RecordState, tree: UiTree) -> str:
    """Return the request to the person, in a line or two."""
    match state.stage:
        case "line" if state.held is not None:
            hold_line = f"Held: {held_words(state.held, tree)}"
            return f"The phone has moved on: is this still what you mean? {hold_line}" if state.moved else hold_line
        case "text" | "secret" if state.wanted == "input_text":
            field = focused_field(tree)
            return _ASKS["input_text"] + (
                f" into {plain(name_of(field), lines=False)}:" if field else ", though no field has the cursor:"
            )
        case "text" | "secret":
            return _ASKS[state.wanted]
        case "finish":
            return "How does it end?"
        case "reason":
            return "Why is it impossible?"
        case "nodes":
            return "What do you tap?"
    if not state.ready:
        return "The phone stands still." if state.still else "The phone is at it ..."
    return "Touch the phone, which acts at once, or:" if state.quick else "Touch the phone, or:"


def key_hint(state: RecordState, *, nodes: str, other: str) -> str:
    """Return the keys of a stage. `nodes` lists what can be tapped, and `other` varies a touch."""
    match state.stage:
        case "line":
            return f"Enter does it and records this line; {{run.back}} drops it.{_variant_hint(state.held, other)}"
        case "text":
            return "{reply.enter} takes it; {run.back} goes back."
        case "secret":
            return "Enter takes it; {run.back} goes back."
        case "nodes":
            return "Words find it; Enter, or a digit, takes it; {run.back} goes back."
        case "finish" | "reason":
            return "{run.back} goes back."
    return f"{nodes} lists what can be tapped." if state.ready else ""


def _variant_hint(action: Action | None, key: str) -> str:
    """Return the key's hint for the next variant of the same touch; empty if there is none."""
    other = next_variant(action) if action is not None else None
    if other is None:
        return ""
    words = other.direction or ("longer" if other.kind == "wait" else action_words(other).partition(" (")[0])
    return f" {key}: {words}."
