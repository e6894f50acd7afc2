"""The current call: it rings, is answered after a while, and ends."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from simulators.phone.app import AppContext, State
from simulators.phone.kit.views import Icon, Row, Text, View

_RINGS = timedelta(seconds=6)
"""Ringing time before the other side answers."""


def digits(number: Any) -> str:
    """Return the digits and `+*#` of a number, without separators."""
    return "".join(ch for ch in str(number) if ch.isdecimal() or ch in "+*#")


def named(here: AppContext, number: str) -> str:
    """Return the name of a number's owner, empty if nobody has it."""
    number_digits = digits(number)
    people: list[State] = here.phone["apps"]["contacts"]["people"]
    return next((str(p["name"]) for p in people if number_digits and digits(p["number"]) == number_digits), "")


def begin(here: AppContext, number: str) -> None:
    """Call a number, after ending the current call."""
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
    """End the current call and record its duration."""
    going = here.own["call"]
    if not going:
        return
    for call in here.own["calls"]:
        if call["time"] == going["time"]:
            call["seconds"] = spoken(here) or 0
    here.own["call"] = {}
    here.toast("Call ended")


def spoken(here: AppContext) -> int | None:
    """Return the seconds since the call was answered, or None while it rings."""
    answered_at = here.own["call"].get("answered")
    return round((here.clock - datetime.fromisoformat(answered_at)).total_seconds()) if answered_at else None


def goes_on(here: AppContext, now: datetime) -> None:
    """Answer the call after it has rung long enough."""
    call = here.own["call"]
    if call and not call["answered"]:
        due = datetime.fromisoformat(call["time"]) + _RINGS
        if due <= now:
            call["answered"] = due.isoformat()


def lasted(seconds: int) -> str:
    """Return a duration as 1:35."""
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def banner(here: AppContext) -> View | None:
    """Return a bar that leads back to the current call, or None if there is none."""
    call = here.own["call"]
    if not call:
        return None
    words = Text(f"Call with {call['name'] or call['number']}", "label", "on_primary", lines=1, grow=1)
    return Row([Icon("call", 56, "on_primary"), words], gap=28, pad=(48, 24), fill="primary", on=("go", "call"),
               id="ongoing", desc="Return to call")  # fmt: skip
