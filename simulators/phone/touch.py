"""Actions to changes of state: the effects of a finger, a key and the clock."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from lab.core.errors import LabError
from lab.core.run.step import Action, Point
from simulators.phone import keyboard, nav, scrolling
from simulators.phone.app import AppContext, State
from simulators.phone.installed import APPS, app_id
from simulators.phone.kit.boxes import Box, Window
from simulators.phone.kit.theme import HEIGHT, STATUS_BAR, WIDTH
from simulators.phone.kit.views import Act, Field
from simulators.phone.stage import focus_chain, focused, windows
from simulators.phone.tree import hit

# Milliseconds by which an action, and a wait without a length, advance the phone's clock.
_ACT_MS, _WAIT_MS = 2000, 1000
_MIDDLE = (WIDTH // 2, HEIGHT // 2)


def perform(state: State, screen_windows: list[Window], action: Action) -> bool:
    """Perform `action` on `state`, which `screen_windows` shows. Return False if it is not an action on a phone."""
    if action.kind in ("ask_user", "answer", "status", "other"):
        return False
    state["toast"] = None
    coming = [note for note in state["notifications"] if note.get("heads_up")]
    _dispatch(state, screen_windows, action)
    # A heads-up lasts for one action. One that this action posts stays for the next.
    for note in coming:
        note["heads_up"] = False
    if state["focus"] is not None and action.kind not in ("scroll", "swipe", "drag", "wait"):
        scrolling.reveal(state, focus_chain(state, windows(state, APPS)))
    # The clock advances last, so alarms and timers show in the next observation.
    wait = _WAIT_MS if action.ms is None else max(0, action.ms)
    _advance(state, wait if action.kind == "wait" else _ACT_MS)
    return True


def _dispatch(state: State, screen_windows: list[Window], action: Action) -> None:
    at = action.at or _MIDDLE
    match action.kind:
        case "click":
            tap(state, screen_windows, at)
        case "double_tap":
            tap(state, screen_windows, at)
            tap(state, windows(state, APPS), at)
        case "long_press":
            long_press(state, screen_windows, at)
        case "drag" | "swipe" | "scroll":
            _move(state, screen_windows, action)
        case "input_text":
            if action.at is not None:
                tap(state, screen_windows, action.at)
                screen_windows = windows(state, APPS)
            _type(state, screen_windows, action.text or "")
        case "keyboard_enter":
            _enter(state, screen_windows)
        case "navigate_back":
            nav.press_back(state)
        case "navigate_home":
            nav.show(state, nav.LAUNCHER)
        case "press_recent":
            nav.overview(state)
        case "open_app":
            _open_app(state, action.app or action.text or "")


def _advance(state: State, ms: int) -> None:
    before = datetime.fromisoformat(state["clock"])
    after = before + timedelta(milliseconds=ms)
    state["clock"] = after.isoformat()
    for app in APPS.values():
        app.tick(AppContext(state, app.id), before, after)


def _open_app(state: State, name: str) -> None:
    if not name:
        raise LabError("open app", "the action names no app")
    nav.show(state, app_id(name))


def tap(state: State, screen_windows: list[Window], at: Point) -> None:
    """Perform a short touch: the act of the topmost box under it, or the cursor moves into its field."""
    target = hit(screen_windows, *at, lambda box: box.on is not None or box.field is not None)
    if target is None:
        return
    window, box = target
    if box is not None and box.field is not None and box.on is None:
        if box.field.enabled:
            nav.focus(state, box.field.id)
            state["keyboard"] |= {"fresh": box.field.fresh, "page": "numbers" if box.field.numeric else "letters"}
    elif box is not None and box.on is not None:
        act(state, window.owner, box.on, screen_windows)
    elif window.modal and not window.root.bounds.contains(*at) and window.outside:
        act(state, window.owner, window.outside, screen_windows)


def long_press(state: State, screen_windows: list[Window], at: Point) -> None:
    """Perform a long touch: the act of the topmost box with one, else a tap."""
    target = hit(screen_windows, *at, lambda box: box.long is not None or box.on is not None or box.field is not None)
    if target is not None and target[1] is not None:
        around = hit(screen_windows, *at, lambda box: box.long is not None)
        if around is not None and around[1] is not None and around[1].long is not None:
            act(state, around[0].owner, around[1].long, screen_windows)
            return
    tap(state, screen_windows, at)


def act(state: State, owner: str, what: Act, screen_windows: list[Window]) -> None:
    """Perform an act of an app, of the system or of the keyboard."""
    if owner == "keyboard":
        _press(state, what, screen_windows)
    elif owner == "system":
        _system(state, what)
    else:
        app = APPS[owner]
        entry = nav.stack(state, owner)[-1]
        app.act(AppContext(state, owner, entry["args"]), what)


def _system(state: State, what: Act) -> None:
    name, *args = what
    match name:
        case "nav_back":
            nav.press_back(state)
        case "nav_home":
            nav.show(state, nav.LAUNCHER)
        case "nav_overview":
            nav.overview(state)
        case "back":
            nav.press_back(state)
        case "resume":
            nav.show(state, args[0])
        case "forget_all":
            state["nav"]["recents"] = []
            nav.show(state, nav.LAUNCHER)
        case "setting":
            APPS["settings"].act(AppContext(state, "settings"), ("switch", args[0]))
        case "close_shade":
            state["shade"] = False
        case "clear_all":
            state["notifications"] = []
        case "dismiss":
            state["notifications"] = [n for n in state["notifications"] if n["id"] != args[0]]
        case "open_notification":
            _open_notification(state, args[0])


def _open_notification(state: State, number: Any) -> None:
    """Open a notification's screen over the app's first screen, and remove the notification."""
    note = next(n for n in state["notifications"] if n["id"] == number)
    state["notifications"] = [n for n in state["notifications"] if n["id"] != number]
    app = APPS[note["app"]]
    nav.show(state, app.id)
    stack = nav.stack(state, app.id)
    # The stack is cut to the first screen, so that Back leads there from the notification.
    while len(stack) > 1:
        nav.pop(state, app.id)
    screen = note.get("screen") or app.root
    if screen != app.root:
        AppContext(state, app.id).go(screen, **note.get("args") or {})
    app.react_to_notification(AppContext(state, app.id, stack[-1]["args"]))


def _field(state: State, screen_windows: list[Window]) -> Box | None:
    return focused(state, screen_windows) if state["focus"] is not None else None


def _press(state: State, what: Act, screen_windows: list[Window]) -> None:
    name, key = what
    if name == "page":
        state["keyboard"]["page"] = key
    elif key == "shift":
        keyboard.press_shift(state)
    elif key == "enter":
        _enter(state, screen_windows)
    else:
        _write(state, screen_windows, key)


def _write(state: State, screen_windows: list[Window], key: str) -> None:
    box = _field(state, screen_windows)
    if box is None or box.field is None:
        return
    here = _front_context(state)
    here.set(box.field.bind, keyboard.typed(_text_before(here, box.field, state), key, state))
    APPS[here.app].edited(here, box.field.id)


def _text_before(here: AppContext, field: Field, state: State) -> str:
    """Return the text that typing appends to. Empty if the first key replaces a fresh field's value."""
    fresh, state["keyboard"]["fresh"] = state["keyboard"]["fresh"], False
    return "" if fresh else str(here.read(field.bind) or "")


def _type(state: State, screen_windows: list[Window], text: str) -> None:
    """Type a text into the field with the cursor. Line feeds become spaces in a field of one line."""
    box = _field(state, screen_windows)
    if box is None or box.field is None:
        raise LabError("input text", "no text field has the cursor", "Tap a text field first.")
    here = _front_context(state)
    words = text if box.field.many else " ".join(text.splitlines())
    here.set(box.field.bind, _text_before(here, box.field, state) + words)
    APPS[here.app].edited(here, box.field.id)


def _enter(state: State, screen_windows: list[Window]) -> None:
    """Press enter: start a new line, or submit the field and (unless it sends a message) hide the keyboard."""
    box = _field(state, screen_windows)
    if box is None or box.field is None:
        return
    if box.field.action == "Enter":
        _write(state, screen_windows, "\n")
        return
    here = _front_context(state)
    if box.field.action != "Send":
        nav.focus(state, None)
    if box.field.submit is not None:
        APPS[here.app].act(here, box.field.submit)


def _front_context(state: State) -> AppContext:
    app = state["nav"]["app"]
    return AppContext(state, app, nav.stack(state, app)[-1]["args"])


def _move(state: State, screen_windows: list[Window], action: Action) -> None:
    """Perform a drag, swipe or scroll on the shade, the list under the finger, or the largest list."""
    vector = scrolling.vector(screen_windows, action)
    start = action.at
    down = vector[1] > abs(vector[0])
    if action.kind != "scroll" and start and start[1] < STATUS_BAR.bottom and down:
        nav.focus(state, None)
        state["shade"] = True
        return
    box = scrolling.list_at(screen_windows, start, across=abs(vector[0]) > abs(vector[1]))
    at_end = box is None or box.scroll is None or box.scroll.offset == box.scroll.limit
    if state["shade"] and vector[1] < 0 and at_end:
        state["shade"] = False
    elif box is not None:
        scrolling.move(state, box, vector)
