"""Navigation: the app in front, each app's stack of screens, the recent apps, the focus.

`nav` holds `app`, `stacks` (app -> list of `{screen, args}`), `recents` (latest first) and `overview`. `focus` is the
id of the field with the cursor. While it is set, the keyboard is on the screen.
"""

from __future__ import annotations

from typing import Any

State = dict[str, Any]
LAUNCHER = "launcher"


def home_state(root_screens: dict[str, str]) -> State:
    """Return the navigation state of a phone that shows its home screen."""
    stacks = {app: [{"screen": screen, "args": {}}] for app, screen in root_screens.items()}
    return {"app": LAUNCHER, "stacks": stacks, "recents": [], "overview": False}


def stack(state: State, app: str) -> list[State]:
    """Return the app's open screens, topmost last."""
    entries: list[State] = state["nav"]["stacks"][app]
    return entries


def scope(state: State, app: str, depth: int) -> str:
    """Return the key prefix under which a screen's lists store their scroll offsets."""
    return f"{app}/{depth}/{stack(state, app)[depth]['screen']}"


def focus(state: State, field: str | None) -> None:
    state["focus"] = field
    state["keyboard"] = {"page": "letters", "shift": "off", "fresh": False}


def push(state: State, app: str, screen: str, args: State) -> None:
    """Open a screen on top of an app's stack, with its lists at their start."""
    focus(state, None)
    screens = stack(state, app)
    screens.append({"screen": screen, "args": args})
    _forget(state, app, len(screens) - 1)


def pop(state: State, app: str) -> bool:
    """Close an app's topmost screen. Return False if it is the app's only one."""
    focus(state, None)
    screens = stack(state, app)
    if len(screens) == 1:
        return False
    screens.pop()
    _forget(state, app, len(screens))
    return True


def _forget(state: State, app: str, depth: int) -> None:
    for key in [k for k in state["scroll"] if k.startswith(f"{app}/{depth}/")]:
        del state["scroll"][key]


def show(state: State, app: str) -> None:
    """Bring an app to the front with its stack unchanged."""
    focus(state, None)
    nav = state["nav"]
    state["shade"], nav["overview"] = False, False
    nav["app"] = app
    if app != LAUNCHER:
        nav["recents"] = [app, *(a for a in nav["recents"] if a != app)]


def press_back(state: State) -> None:
    """Perform the back button: close the topmost of keyboard, shade, overview, screen, app."""
    nav = state["nav"]
    if state["focus"] is not None:
        focus(state, None)
    elif state["shade"]:
        state["shade"] = False
    elif nav["overview"]:
        nav["overview"] = False
    elif not pop(state, nav["app"]):
        nav["app"] = LAUNCHER


def overview(state: State) -> None:
    """Open or close the list of recent apps."""
    focus(state, None)
    state["shade"] = False
    state["nav"]["overview"] = not state["nav"]["overview"]
