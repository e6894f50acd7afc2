"""The base class of the phone's apps, and the context that their screens and handlers receive."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import Any, ClassVar

import msgspec

from simulators.phone import nav
from simulators.phone.kit.views import Act, Screen

State = dict[str, Any]


class AppContext:
    """Context of a screen or handler: the phone's state, the app's own state and the screen's arguments."""

    def __init__(self, phone: State, app: str, args: State | None = None) -> None:
        self.phone = phone
        self.app = app
        self.own: State = phone["apps"][app]
        self.args: State = args or {}

    @property
    def clock(self) -> datetime:
        return datetime.fromisoformat(self.phone["clock"])

    @property
    def settings(self) -> State:
        state: State = self.phone["apps"]["settings"]
        return state

    def go(self, screen: str, **args: Any) -> None:
        """Open a screen on top of this one."""
        nav.push(self.phone, self.app, screen, args)

    def close_screens(self, steps: int = 1) -> None:
        """Close this screen, or the topmost `steps` screens."""
        for _ in range(steps):
            nav.pop(self.phone, self.app)

    def toast(self, text: str) -> None:
        """Show a toast. The next action removes it."""
        self.phone["toast"] = text

    def focus(self, field: str | None) -> None:
        """Move the cursor into a field of this screen, or None removes it."""
        nav.focus(self.phone, field)

    def notify(self, title: str, text: str, screen: str, args: State | None = None, heads_up: bool = True) -> None:
        """Post a notification that opens `screen` of this app."""
        notes: list[State] = self.phone["notifications"]
        number = 1 + max((n.get("id", 0) for n in notes), default=0)
        entry = {"id": number, "app": self.app, "title": title, "text": text, "screen": screen, "args": args or {}}
        notes.append(entry | {"time": self.phone["clock"], "heads_up": heads_up})

    def read(self, path: Sequence[str | int]) -> Any:
        """Return the value at a path below the app's own state, or None if the path does not exist."""
        value: Any = self.own
        for key in path:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def set(self, path: Sequence[str | int], value: Any) -> None:
        """Set a value below the app's own state. All keys of the path but the last must exist."""
        place: Any = self.own
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value


def moment(entry: State, clock: datetime) -> datetime:
    """Return the time of a mail, a message or a post, with an offset. An entry without a time is of now."""
    then = datetime.fromisoformat(entry["time"]) if entry["time"] else clock
    return then if then.tzinfo else then.replace(tzinfo=clock.tzinfo)


class App:
    """Base class of an app: name, icon, first state, a `screen_*` method per screen and a `do_*` method per act.

    Screens are pure functions of `AppContext`. Handlers change `here.own` and call `here.go`, `back`, `toast`.
    """

    id: ClassVar[str]
    label: ClassVar[str]
    icon: ClassVar[str]
    colour: ClassVar[str]
    hue: ClassVar[int]
    root: ClassVar[str] = "home"
    shapes: ClassVar[dict[str, State]] = {}
    """Default values of the entries of each list in the app's state, by dotted path."""

    @property
    def package(self) -> str:
        return f"com.hitlab.{self.id}"

    def first_state(self, rng: Random, clock: datetime) -> State:
        """Return the app's state on an untouched phone. `rng` shuffles what has no natural order."""
        return {}

    def screen(self, name: str, here: AppContext) -> Screen:
        """Return the screen of that name."""
        screen: Screen = getattr(self, f"screen_{name}")(here)
        return screen

    def act(self, here: AppContext, act: Act) -> None:
        """Perform one act of this app."""
        name, *args = act
        match name:
            case "go":
                here.go(args[0], **(args[1] if len(args) > 1 else {}))
            case "back":
                here.close_screens()
            case "set":
                here.set(args[0], args[1])
            case "toggle":
                here.set(args[0], not here.read(args[0]))
            case _:
                getattr(self, f"do_{name}")(here, *args)

    def react_to_notification(self, here: AppContext) -> None:
        """React to a notification that opened one of this app's screens."""

    def edited(self, here: AppContext, field: str) -> None:
        """React to typing in a field of this app."""

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        """React to the phone's clock, which advanced from `before` to `after`."""


def copy(value: Any) -> Any:
    """Return a deep copy of a JSON value."""
    return msgspec.json.decode(msgspec.json.encode(value))
