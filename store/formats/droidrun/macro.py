"""Assignment of the phone's actions (macro.json) to the tool calls that made them.

Macro actions belong to calls in order. If the lists do not match (loops, failed calls, actions of the tools
themselves), the longest common sequence is used. Remaining macro actions become steps of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from store.formats.droidrun.calls import DroidrunCall

_MOST_CELLS = 2_000_000
_TAPS = frozenset({"tap"})
_TYPES = frozenset({"input_text"})
_SWIPES = frozenset({"swipe", "drag"})
_KEYS = frozenset({"key_press", "button_press", "system_button"})
_STARTS = frozenset({"start_app"})
_MADE_ACTIONS: dict[str, tuple[frozenset[str], ...]] = {
    **dict.fromkeys(("click", "tap", "tap_by_index", "tap_on_index", "tap_by_coordinates", "click_at"), (_TAPS,)),
    "click_area": (_TAPS,),
    "double_tap": (_TAPS, _TAPS),
    **dict.fromkeys(("long_press", "long_press_at"), (_SWIPES | {"tap", "long_press"},)),
    **dict.fromkeys(("type", "type_text", "input_text", "type_secret"), (_TAPS, _TYPES)),
    "type_text_direct": (_TYPES,),
    **dict.fromkeys(("swipe", "drag"), (_SWIPES,)),
    **dict.fromkeys(("system_button", "press_button", "press_key", "key_press"), (_KEYS,)),
    **dict.fromkeys(("back", "press_back", "home", "press_home"), (_KEYS,)),
    **dict.fromkeys(("open_app", "start_app", "launch_app"), (_STARTS,)),
    **dict.fromkeys(("wait", "sleep"), (frozenset({"wait"}),)),
}
"""Macro actions that each tool call makes."""
MACRO_KINDS = frozenset(kind for kinds in _MADE_ACTIONS.values() for made in kinds for kind in made)
"""Every kind of action that a macro records."""


def assign_macro(
    calls: Sequence[DroidrunCall], macro: Sequence[dict[str, Any]]
) -> tuple[list[list[int]], dict[int, list[int]]]:
    """Return the indices of each call's macro actions, and the others by the call that they follow (-1: none)."""
    units = [
        (i, action_kinds)
        for i, call in enumerate(calls)
        if call.succeeded is not False
        for action_kinds in _MADE_ACTIONS.get(call.name, ())
    ]
    pairs = _match(calls, units, macro)
    places_by_call: list[list[int]] = [[] for _ in calls]
    leftovers: dict[int, list[int]] = {}
    last = -1
    for j in range(len(macro)):
        if j in pairs:
            last = pairs[j]
            places_by_call[last].append(j)
        else:
            leftovers.setdefault(last, []).append(j)
    return places_by_call, leftovers


def is_recorded(call: DroidrunCall) -> bool:
    """Return True if a call leaves an action in the macro when it is run."""
    return call.name in _MADE_ACTIONS


def kind_of(action: dict[str, Any]) -> str:
    """Return the kind of a macro's action."""
    kind = action.get("action_type")
    return kind if isinstance(kind, str) else ""


def _match(
    calls: Sequence[DroidrunCall], units: list[tuple[int, frozenset[str]]], macro: Sequence[dict[str, Any]]
) -> dict[int, int]:
    """Return the call of each matched macro action: a heaviest common subsequence, weighted by `_match_weight`."""
    # The table would be too large: match by position only.
    if len(units) * len(macro) > _MOST_CELLS:
        return {
            j: unit[0] for j, (unit, action) in enumerate(zip(units, macro, strict=False)) if kind_of(action) in unit[1]
        }
    best = [[0] * (len(macro) + 1) for _ in range(len(units) + 1)]
    fits = [[_match_weight(calls[i], action_kinds, action) for action in macro] for i, action_kinds in units]
    # The usual dynamic program for a longest common subsequence, from the end.
    for a in range(len(units) - 1, -1, -1):
        row, below = best[a], best[a + 1]
        for b in range(len(macro) - 1, -1, -1):
            pair_score = fits[a][b] + below[b + 1] if fits[a][b] else 0
            row[b] = max(pair_score, below[b], row[b + 1])
    pairs: dict[int, int] = {}
    a = b = 0
    while a < len(units) and b < len(macro):
        if fits[a][b] and best[a][b] == fits[a][b] + best[a + 1][b + 1]:
            pairs[b] = units[a][0]
            a, b = a + 1, b + 1
        elif best[a][b] == best[a + 1][b]:
            a += 1
        else:
            b += 1
    return pairs


def _match_weight(call: DroidrunCall, action_kinds: frozenset[str], action: dict[str, Any]) -> int:
    """Return 0 if the call cannot make such an action, else a weight that grows with the certainty of the match."""
    if kind_of(action) not in action_kinds:
        return 0
    if action_kinds is _TYPES:
        return 4 if action.get("text") == call.args.get("text") else 2
    index, element = call.args.get("index"), action.get("element_index")
    if index is not None and element is not None:
        return 4 if index == element else 1
    if call.args.get("x") is not None and (action.get("x"), action.get("y")) == (call.args["x"], call.args.get("y")):
        return 4
    return 2
