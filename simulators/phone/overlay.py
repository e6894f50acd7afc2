"""Merging a task's values into the phone's state, and rejecting a state that the phone cannot show."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from lab.core.errors import LabError
from lab.core.text.suggestion import list_sentence
from simulators.phone import nav
from simulators.phone.app import AppContext, State, copy
from simulators.phone.installed import APPS, moment
from simulators.phone.kit.theme import NAV_BAR
from simulators.phone.stage import app_windows, shade_window, windows

_STRICT = 2
"""Levels of the state whose keys are fixed: the phone's own and the list of apps. So is the first in an app's state."""


_KINDS = {
    dict: "a mapping",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}
"""Words for a value's type. A null in the state accepts several types and is not checked."""

_TIMES = ("time", "edited", "placed")
"""Keys whose empty default is the phone's clock."""

_SHOWN: set[bytes] = set()
"""SHA-256 digests of the states, and of the apps with what they show of the phone, that were laid out successfully."""
_MOST_SHOWN = 10_000

_NOTE: State = {"id": 0, "app": "", "title": "", "text": "", "screen": "", "args": {}, "time": "", "heads_up": False}


def merge(state: State, overlay: Mapping[str, Any]) -> State:
    """Return a copy of `state` with `overlay` merged in: mappings key by key, everything else replaced.

    Lists of an app are checked only if the overlay mentions that app.
    """
    out: State = copy(state)
    _merge(out, overlay, "", 0)
    if not 0 <= out["battery"] <= 100:
        raise LabError("field phone", f"'battery' is a share of 0 to 100, not {out['battery']}")
    _fill(out, "notifications", _NOTE | {"time": out["clock"]}, "")
    for number, note in enumerate(out["notifications"], 1):
        if note["app"] not in APPS:
            raise LabError(
                "field phone",
                f"'notifications[{number - 1}].app' is no app: {note['app']!r}",
                list_sentence(sorted(APPS)),
            )
        note["id"] = note["id"] or number
    for app in map(APPS.__getitem__, overlay.get("apps", ())):
        for path, shape in app.shapes.items():
            defaults = {key: out["clock"] if key in _TIMES and value == "" else value for key, value in shape.items()}
            _fill(out["apps"][app.id], path, defaults, f"apps.{app.id}.")
    return out


def _fill(state: State, path: str, shape: State, place: str) -> None:
    """Add missing keys to each entry of the lists at `path`. Raise `LabError` if an entry has an unknown key."""
    name, _, rest = path.partition(".")
    entries = state[name]
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        where = f"{place}{name}[{index}]"
        if not isinstance(entry, dict):
            raise LabError("field phone", f"{where!r} is no mapping but {entry!r}")
        if rest:
            _fill(entry, rest, shape, f"{where}.")
            continue
        for key in entry:
            if key not in shape:
                raise LabError("field phone", f"'{where}.{key}' is nothing this phone has", list_sentence(shape))
            _same_kind(shape[key], entry[key], f"{where}.{key}")
        for key, value in shape.items():
            if key not in entry:
                entry[key] = copy(value)


def _merge(below: State, above: Mapping[str, Any], place: str, depth: int) -> None:
    for key, value in above.items():
        path = f"{place}{key}"
        strict = depth < _STRICT or (depth == _STRICT and place.startswith("apps."))
        if strict and key not in below and place not in ("scroll.", "nav.stacks."):
            raise LabError("field phone", f"{path!r} is nothing this phone has", list_sentence(sorted(map(str, below))))
        old = below.get(key)
        if isinstance(old, dict) and isinstance(value, Mapping):
            _merge(old, value, f"{path}.", depth + 1)
        else:
            if strict:
                _same_kind(old, value, path)
            below[key] = copy(value)


def _same_kind(old: Any, value: Any, path: str) -> None:
    """Raise `LabError` if a value's type differs from the phone's. An integer counts as a number."""
    # `type` and not `isinstance`: a bool is an int to Python.
    whole = type(old) is float and type(value) is int
    if type(old) in _KINDS and type(old) is not type(value) and not whole:
        raise LabError("field phone", f"{path!r} is {_KINDS[type(old)]}, not {value!r}")


def check(state: Any, like: State, what: str, *, whole: bool) -> None:
    """Raise `LabError` if a state lacks keys of `like`, or if one of its screens cannot be shown."""
    if not isinstance(state, dict):
        raise LabError(what, "is no mapping")
    if whole:
        _same_keys(state, like, what)
    try:
        moment(state["clock"], f"{what}, clock")
        _lay_out_all(state, like)
    except LabError:
        raise
    # A state is arbitrary JSON from a file: a screen that reads it may fail in any of these ways.
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise LabError(what, f"holds something that cannot be shown ({type(error).__name__}: {error})") from error


def _same_keys(state: State, like: State, what: str) -> None:
    for place, have, want in (("", state, like), ("apps.", state.get("apps"), like["apps"])):
        if not isinstance(have, dict):
            raise LabError(what, f"field {place}: is no mapping")
        for key in want:
            if key not in have:
                raise LabError(what, f"field {place}{key}: is not there")
        for key in have:
            if key not in want:
                raise LabError(what, f"field {place}{key}: is nothing this phone has")


def _lay_out_all(state: State, like: State) -> None:
    """Lay out the front, and each app that differs from `like`: its open screens and its first one.

    A state that was laid out before is skipped, as the first state of each attempt is. So is an app.
    """
    digest = _digest(state)
    if digest in _SHOWN:
        return
    windows(state, APPS)
    front = "" if state["nav"]["overview"] else state["nav"]["app"]
    of_all = _shared_state(state)
    common, common_digest = of_all == _shared_state(like), _digest(of_all)
    shown = [digest]
    for app in APPS.values():
        own, stack = state["apps"][app.id], nav.stack(state, app.id)
        if common and own == like["apps"][app.id] and stack == like["nav"]["stacks"].get(app.id):
            continue
        app_digest = _digest([app.id, common_digest, own, stack])
        if app_digest in _SHOWN:
            continue
        app.screen(app.root, AppContext(state, app.id))
        if stack and app.id != front:
            app_windows(state, APPS, NAV_BAR.top, app.id)
        shown.append(app_digest)
    shade_window(state, APPS)
    # Bounds the memory of a long process.
    if len(_SHOWN) >= _MOST_SHOWN:
        _SHOWN.clear()
    _SHOWN.update(shown)


def _digest(value: Any) -> bytes:
    return hashlib.sha256(msgspec.json.encode(value)).digest()


def _shared_state(state: State) -> tuple[Any, ...]:
    """Return the parts of the phone that every app's screens may show."""
    return state["clock"], state["apps"]["settings"], state["apps"]["contacts"]
