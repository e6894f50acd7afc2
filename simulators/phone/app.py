"""What an app is, and what its screens and handlers are given."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import Any, ClassVar

import msgspec

from simulators.phone import nav
from simulators.phone.views import Act, Screen

State = dict[str, Any]


class AppContext:
    """The place an app's screen stands in: the phone's state, the app's own, and the screen's arguments."""

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
        """Opens a screen over this one."""
        nav.push(self.phone, self.app, screen, args)

    def back(self, steps: int = 1) -> None:
        """Closes this screen, or several."""
        for _ in range(steps):
            nav.pop(self.phone, self.app)

    def toast(self, text: str) -> None:
        """Says something for as long as nothing else is done."""
        self.phone["toast"] = text

    def focus(self, field: str | None) -> None:
        """Puts the cursor into a field of this screen, or takes it away."""
        nav.focus(self.phone, field)

    def notify(self, title: str, text: str, screen: str, args: State | None = None, heads_up: bool = True) -> None:
        """Posts a notification that opens `screen` of this app."""
        notes: list[State] = self.phone["notifications"]
        number = 1 + max((n.get("id", 0) for n in notes), default=0)
        entry = {"id": number, "app": self.app, "title": title, "text": text, "screen": screen, "args": args or {}}
        notes.append(entry | {"time": self.phone["clock"], "heads_up": heads_up})

    def read(self, path: Sequence[str | int]) -> Any:
        """The value below the app's own state, or None where the path leads nowhere."""
        value: Any = self.own
        for key in path:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def set(self, path: Sequence[str | int], value: Any) -> None:
        """Puts a value below the app's own state, at a path that is there up to its last key."""
        place: Any = self.own
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value


class App:
    """One app: its name and icon, its first state, a `screen_*` method per screen, a `do_*` method per act.

    Screens are pure functions of `AppContext`. Handlers change `here.own` and call `here.go`, `back`, `toast`.
    """

    id: ClassVar[str]
    label: ClassVar[str]
    icon: ClassVar[str]
    colour: ClassVar[str]
    hue: ClassVar[int]
    root: ClassVar[str] = "home"
    shapes: ClassVar[dict[str, State]] = {}
    """For each list of the app's state, by dotted path, what an entry holds where nothing else is said."""

    @property
    def package(self) -> str:
        return f"com.hitlab.{self.id}"

    def first_state(self, rng: Random, clock: datetime) -> State:
        """The app's state on a phone that nobody has touched; `rng` shuffles what has no order of its own."""
        return {}

    def screen(self, name: str, here: AppContext) -> Screen:
        """The screen of that name."""
        screen: Screen = getattr(self, f"screen_{name}")(here)
        return screen

    def act(self, here: AppContext, act: Act) -> None:
        """Does one act of this app."""
        name, *args = act
        match name:
            case "go":
                here.go(args[0], **(args[1] if len(args) > 1 else {}))
            case "back":
                here.back()
            case "set":
                here.set(args[0], args[1])
            case "toggle":
                here.set(args[0], not here.read(args[0]))
            case _:
                getattr(self, f"do_{name}")(here, *args)

    def opened(self, here: AppContext) -> None:
        """Called after a notification opened one of this app's screens."""

    def edited(self, here: AppContext, field: str) -> None:
        """Called after a field of this app was typed into."""

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        """Called when the phone's clock went on."""


def copy(value: Any) -> Any:
    """A JSON value of one's own."""
    return msgspec.json.decode(msgspec.json.encode(value))
