"""A call that goes on: it rings, is answered after a while, and ends."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from simulators.phone.app import AppContext, State
from simulators.phone.views import Icon, Row, Text, View

_RINGS = timedelta(seconds=6)
"""How long it rings before the other side answers."""


def digits(number: Any) -> str:
    """A number without what only parts it."""
    return "".join(ch for ch in str(number) if ch.isdecimal() or ch in "+*#")


def named(here: AppContext, number: str) -> str:
    """Whose number that is, or nothing."""
    number_digits = digits(number)
    people: list[State] = here.phone["apps"]["contacts"]["people"]
    return next((str(p["name"]) for p in people if number_digits and digits(p["number"]) == number_digits), "")


def begin(here: AppContext, number: str) -> None:
    """Calls a number; what is being said is ended first."""
    if not digits(number):
        here.toast("Enter a number first")
        return
    if here.own["call"]:
        end(here)
    call = {"name": named(here, number), "number": number}
    now = here.clock.isoformat()
    here.own["calls"].append(call | {"kind": "outgoing", "time": now, "seconds": 0})
    here.own["call"] = call | {"time": now, "answered": "", "mute": False, "speaker": False}
    here.go("call")


def end(here: AppContext) -> None:
    """Ends the call that goes on and writes down how long was spoken."""
    going = here.own["call"]
    if not going:
        return
    for call in here.own["calls"]:
        if call["time"] == going["time"]:
            call["seconds"] = spoken(here) or 0
    here.own["call"] = {}
    here.toast("Call ended")


def spoken(here: AppContext) -> int | None:
    """For how many seconds one has been speaking; None while it rings."""
    answered_at = here.own["call"].get("answered")
    return round((here.clock - datetime.fromisoformat(answered_at)).total_seconds()) if answered_at else None


def goes_on(here: AppContext, now: datetime) -> None:
    """The other side answers when it has rung long enough."""
    call = here.own["call"]
    if call and not call["answered"]:
        due = datetime.fromisoformat(call["time"]) + _RINGS
        if due <= now:
            call["answered"] = due.isoformat()


def lasted(seconds: int) -> str:
    """A length of time as 1:35."""
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def banner(here: AppContext) -> View | None:
    """A bar that leads back to the call, while there is one."""
    call = here.own["call"]
    if not call:
        return None
    words = Text(f"Call with {call['name'] or call['number']}", "label", "on_primary", lines=1, grow=1)
    return Row([Icon("call", 56, "on_primary"), words], gap=28, pad=(48, 24), fill="primary", on=("go", "call"),
               id="ongoing", desc="Return to call")  # fmt: skip
