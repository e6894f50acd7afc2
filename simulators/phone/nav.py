"""Where on the phone one is: the app in front, each app's stack of screens, the recent apps, the focus.

`nav` holds `app`, `stacks` (app -> list of `{screen, args}`), `recents` (latest first) and `overview`.
`focus` is the id of the field with the cursor; the keyboard is there while it is set.
"""

from __future__ import annotations

from typing import Any

State = dict[str, Any]
LAUNCHER = "launcher"


def first(root_screens: dict[str, str]) -> State:
    """A phone that shows its home screen."""
    stacks = {app: [{"screen": screen, "args": {}}] for app, screen in root_screens.items()}
    return {"app": LAUNCHER, "stacks": stacks, "recents": [], "overview": False}


def stack(state: State, app: str) -> list[State]:
    """The app's screens, the one in front last."""
    entries: list[State] = state["nav"]["stacks"][app]
    return entries


def scope(state: State, app: str, depth: int) -> str:
    """The name under which a screen's lists remember where they stand."""
    return f"{app}/{depth}/{stack(state, app)[depth]['screen']}"


def focus(state: State, field: str | None) -> None:
    state["focus"] = field
    state["keyboard"] = {"page": "letters", "shift": "off", "fresh": False}


def push(state: State, app: str, screen: str, args: State) -> None:
    """Opens a screen over the one in front; its lists begin where lists begin."""
    focus(state, None)
    screens = stack(state, app)
    screens.append({"screen": screen, "args": args})
    _forget(state, app, len(screens) - 1)


def pop(state: State, app: str) -> bool:
    """Closes the screen in front; False where it is the app's first."""
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
    """Brings an app to the front as it was left."""
    focus(state, None)
    nav = state["nav"]
    state["shade"], nav["overview"] = False, False
    nav["app"] = app
    if app != LAUNCHER:
        nav["recents"] = [app, *(a for a in nav["recents"] if a != app)]


def back(state: State) -> None:
    """The back button: what lies uppermost goes first."""
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
    """The recent apps, or away from them again."""
    focus(state, None)
    state["shade"] = False
    state["nav"]["overview"] = not state["nav"]["overview"]
