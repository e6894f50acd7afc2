"""The parts of the Clock's screens: an alarm as a card and as a form, the timer, the stopwatch."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from simulators.phone.app import AppContext
from simulators.phone.pickers import WEEKDAYS, time_fields
from simulators.phone.views import Button, Chip, Column, Field, ListView, Mark, Meter, Row, Space, Text, View
from simulators.phone.widgets import card, icon_button, item

DAYS = WEEKDAYS


def days_words(days: Sequence[str]) -> str:
    """On which days an alarm rings, in words."""
    if not days:
        return "Once"
    if len(days) == 7:
        return "Every day"
    if list(days) == list(DAYS[:5]):
        return "Mon to Fri"
    return ", ".join(days)


def clock_words(seconds: float) -> str:
    """A span as 12:05 or 1:02:05."""
    minutes, second = divmod(max(0, round(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute:02d}:{second:02d}"


def alarm_card(alarm: dict[str, Any], index: int) -> View:
    on = bool(alarm.get("on"))
    ink = "text" if on else "outline"
    words = Column(
        [
            Text(str(alarm["time"]), "display", ink, id="time"),
            Text(str(alarm.get("label") or "Alarm"), "item", ink, lines=1, id="label"),
            Text(days_words(alarm.get("days") or []), "sub", "faint" if on else "outline", lines=1, id="days"),
        ],
        grow=1,
    )
    switch = Mark(
        "switch", checked=on, on=("toggle", ["alarms", index, "on"]), checkable=True, id="switch", cls="Switch",
        desc=f"{alarm['time']} {alarm.get('label', '')}".strip(), width=176, height=160,
    )  # fmt: skip
    row = Row([words, switch], gap=24)
    return card([row], fill="soft" if on else "container", on=("edit", index), long=("go", "delete", {"index": index}),
                id="alarm", pad=36)  # fmt: skip


def alarm_form(draft: dict[str, Any]) -> View:
    quick: list[View | None] = [
        Chip(f":{minute}", on=("set", ["draft", "minute"], minute), selected=draft["minute"] == minute, grow=1,
             desc=f"{minute} minutes")
        for minute in ("00", "15", "30", "45")
    ]  # fmt: skip
    days: list[View | None] = [
        Chip(
            day,
            on=("day", day),
            checkable=True,
            checked=day in draft["days"],
            selected=day in draft["days"],
            grow=1,
            id="day",
        )
        for day in DAYS
    ]
    return Column(
        [
            time_fields(["draft"], lambda part, by: ("step", part, by)),
            Row(quick, gap=20),
            Field(["draft", "label"], hint="Label", id="label"),
            Row(
                [Text("Repeat", "strong", width=300), Text(days_words(draft["days"]), "sub", "faint", "right", grow=1)]
            ),
            Row(days, gap=8),
        ],
        gap=36,
        pad=(48, 12, 48, 60),
    )


def timer_body(here: AppContext) -> View:
    timer = here.own["timer"]
    if timer["ends"] or timer["left"]:
        return _running(here)
    field = Field(
        ["timer", "minutes"], kind="box", style="display", id="timer_minutes", desc="Minutes", numeric=True, fresh=True,
        align="center", width=400,
    )  # fmt: skip
    minutes = int(timer["minutes"] or 0)
    row = Row(
        [
            Space(grow=1),
            icon_button("minus", "One minute less", ("minutes", minutes - 1), disc="soft", colour="on_soft"),
            field,
            icon_button("add", "One minute more", ("minutes", minutes + 1), disc="soft", colour="on_soft"),
            Space(grow=1),
        ],
        gap=24,
    )
    quick: list[View | None] = [
        Chip(f"{n} min", on=("minutes", n), selected=minutes == n, grow=1) for n in (1, 5, 10, 30)
    ]
    start = Button("Start", icon="play", on=("start_timer",), id="start")
    unit = Text("minutes", "body", "faint", "center")
    body = Column([Space(60), row, unit, Row(quick, gap=20), Space(20), start], gap=28, pad=(48, 0))
    return ListView([body], id="timer")


def _running(here: AppContext) -> View:
    timer = here.own["timer"]
    seconds_left = float(timer["left"])
    if timer["ends"]:
        seconds_left = (datetime.fromisoformat(timer["ends"]) - here.clock).total_seconds()
    whole = max(60 * int(timer["minutes"] or 1), seconds_left, 1)
    go = Button("Pause", "tonal", "pause", on=("pause_timer",), grow=1)
    if not timer["ends"]:
        go = Button("Resume", "filled", "play", on=("start_timer",), grow=1)
    reset = Button("Reset", "outlined", "reset", on=("reset_timer",), grow=1)
    face = Text(clock_words(seconds_left), "giant", align="center", id="left")
    return Column(
        [Space(200), face, Meter(seconds_left / whole), Space(60), Row([reset, go], gap=24)], gap=24, pad=(48, 0)
    )


def stopwatch_body(here: AppContext) -> View:
    watch = here.own["stopwatch"]
    elapsed = int(watch["passed"])
    if watch["started"]:
        elapsed += round((here.clock - datetime.fromisoformat(watch["started"])).total_seconds())
    running = bool(watch["started"])
    go = (
        Button("Stop", "tonal", "pause", on=("run",), grow=1)
        if running
        else Button("Start", icon="play", on=("run",), grow=1)
    )
    other = Button("Lap", "outlined", "add", on=("lap", elapsed), grow=1)
    if not running:
        other = Button("Reset", "outlined", "reset", on=("clear",), enabled=bool(elapsed), grow=1)
    laps: list[View | None] = [
        item(f"Lap {n + 1}", trail=Text(clock_words(lap), "item", align="right", width=300))
        for n, lap in reversed(list(enumerate(watch["laps"])))
    ]
    face = Text(clock_words(elapsed), "giant", align="center", id="passed")
    top = Column([Space(160), face, Space(40), Row([other, go], gap=24), Space(40)], gap=16, pad=(48, 0))
    return Column([top, ListView(laps, id="laps", grow=1)])
