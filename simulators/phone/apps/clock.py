"""Clock: alarms, timer and stopwatch.

State, `apps.clock`:
- `alarms`, each `{time: "HH:MM", label, days: ["Mon", ...], on}`. Without days an alarm rings once.
- `draft`: the alarm in the form, `{hour, minute, label (as typed), days, index}`. `index` is null for a new alarm.
- `timer`: `{minutes (as typed), left (seconds), ends (a time or null)}`.
- `stopwatch`: `{passed (seconds), started (a time or null), laps (seconds)}`. `tab`: Alarm | Timer | Stopwatch.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any, ClassVar

from simulators.phone.app import App, AppContext, State
from simulators.phone.kit.pickers import WEEKDAYS, time_fields
from simulators.phone.kit.views import (
    Button,
    Chip,
    Column,
    Dialog,
    Field,
    ListView,
    Mark,
    Meter,
    Page,
    Row,
    Screen,
    Space,
    Text,
    View,
)
from simulators.phone.kit.widgets import actions, app_bar, card, empty, fab, icon_button, inset, item, tabs


class ClockApp(App):
    id, label, icon, colour, hue = "clock", "Clock", "clock", "#4a4fb8", 238
    shapes: ClassVar[dict[str, State]] = {"alarms": {"time": "07:00", "label": "", "days": [], "on": True}}

    def first_state(self, rng: Random, clock: datetime) -> State:
        work = list(DAYS[:5])
        return {
            "alarms": [
                {"time": "06:40", "label": "Train", "days": work, "on": True},
                {"time": "07:30", "label": "Swim", "days": ["Sat"], "on": True},
                {"time": "14:50", "label": "Group meeting", "days": ["Fri"], "on": True},
                {"time": "22:30", "label": "Read, then sleep", "days": [], "on": False},
            ],
            "draft": {"hour": "07", "minute": "00", "label": "", "days": [], "index": None},
            "timer": {"minutes": "10", "left": 0, "ends": None},
            "stopwatch": {"passed": 0, "started": None, "laps": []},
            "tab": "Alarm",
        }

    def screen_home(self, here: AppContext) -> Screen:
        tab = str(here.own["tab"])
        foot = tabs([(name, name.lower(), ("tab", name)) for name in ("Alarm", "Timer", "Stopwatch")], tab)
        bar = Text(tab if tab != "Alarm" else "Alarms", "headline", pad=(48, 32, 48, 24), id="title")
        if tab == "Timer":
            return Page(timer_body(here), bar=bar, foot=foot)
        if tab == "Stopwatch":
            return Page(stopwatch_body(here), bar=bar, foot=foot)
        order = sorted(range(len(here.own["alarms"])), key=lambda i: str(here.own["alarms"][i]["time"]))
        rows: list[View | None] = [inset(alarm_card(here.own["alarms"][i], i)) for i in order]
        nothing = empty("alarm", "No alarms", "Add one with the button below.")
        new = fab("add", "Add alarm", ("new",), "add_alarm")
        return Page(ListView([*(rows or [nothing]), Space(220)], id="alarms", gap=24), bar=bar, foot=foot, fab=new)

    def do_tab(self, here: AppContext, name: str) -> None:
        here.focus(None)
        here.own["tab"] = name

    def do_new(self, here: AppContext) -> None:
        here.own["draft"] = {"hour": "07", "minute": "00", "label": "", "days": [], "index": None}
        here.go("alarm")

    def do_edit(self, here: AppContext, index: int) -> None:
        alarm = here.own["alarms"][index]
        hour, _, minute = str(alarm["time"]).partition(":")
        words = {"label": alarm.get("label", ""), "days": list(alarm.get("days", []))}
        here.own["draft"] = {"hour": hour, "minute": minute, **words, "index": index}
        here.go("alarm")

    def screen_alarm(self, here: AppContext) -> Screen:
        index = here.own["draft"]["index"]
        remove = (
            icon_button("delete", "Delete alarm", ("go", "delete", {"index": index})) if index is not None else None
        )
        bar = app_bar("Add alarm" if index is None else "Edit alarm", remove)
        foot = actions(Button("Cancel", "outlined", on=("back",)), Button("Save", on=("save",), id="save"))
        return Page(ListView([alarm_form(here.own["draft"])], id="alarm"), bar=bar, foot=foot)

    def edited(self, here: AppContext, field: str) -> None:
        """Trim typed times to their last digits."""
        draft, timer = here.own["draft"], here.own["timer"]
        if field in ("hour", "minute"):
            draft[field] = "".join(ch for ch in str(draft[field]) if ch.isdecimal())[-2:]
        if field == "timer_minutes":
            timer["minutes"] = "".join(ch for ch in str(timer["minutes"]) if ch.isdecimal())[-3:]

    def do_step(self, here: AppContext, part: str, by: int) -> None:
        draft = here.own["draft"]
        most = 24 if part == "hour" else 60
        draft[part] = f"{(_number(draft[part]) + by) % most:02d}"

    def do_day(self, here: AppContext, day: str) -> None:
        days = here.own["draft"]["days"]
        here.own["draft"]["days"] = [d for d in DAYS if (d in days) != (d == day)]

    def do_save(self, here: AppContext) -> None:
        draft = here.own["draft"]
        hour, minute = _number(draft["hour"]), _number(draft["minute"])
        if hour > 23 or minute > 59 or not draft["hour"] or not draft["minute"]:
            here.toast("Enter an hour from 0 to 23 and a minute from 0 to 59")
            return
        alarm = {
            "time": f"{hour:02d}:{minute:02d}",
            "label": str(draft["label"]).strip(),
            "days": draft["days"],
            "on": True,
        }
        if draft["index"] is None:
            here.own["alarms"].append(alarm)
        else:
            here.own["alarms"][draft["index"]] = alarm
        here.close_screens()
        here.toast(f"Alarm set for {alarm['time']}, {days_words(alarm['days']).lower()}")

    def screen_delete(self, here: AppContext) -> Screen:
        alarm = here.own["alarms"][here.args["index"]]
        name = f"{alarm['time']} {alarm.get('label', '')}".strip()
        return Dialog(
            "Delete this alarm?",
            Text(name, "body", "faint"),
            [Button("Cancel", "text", on=("back",)), Button("Delete", "danger", on=("delete", here.args["index"]))],
        )

    def do_delete(self, here: AppContext, index: int) -> None:
        here.close_screens(len(here.phone["nav"]["stacks"][self.id]) - 1)
        del here.own["alarms"][index]
        here.toast("Alarm deleted")

    def do_minutes(self, here: AppContext, minutes: int) -> None:
        here.focus(None)
        here.own["timer"]["minutes"] = str(max(1, min(999, minutes)))

    def do_start_timer(self, here: AppContext) -> None:
        timer = here.own["timer"]
        here.focus(None)
        seconds_left = timer["left"] or 60 * _number(timer["minutes"])
        if not seconds_left:
            here.toast("Enter the minutes first")
            return
        timer |= {"left": seconds_left, "ends": (here.clock + timedelta(seconds=seconds_left)).isoformat()}

    def do_pause_timer(self, here: AppContext) -> None:
        timer = here.own["timer"]
        if timer["ends"]:
            time_left = datetime.fromisoformat(timer["ends"]) - here.clock
            timer |= {"left": max(1, round(time_left.total_seconds())), "ends": None}

    def do_reset_timer(self, here: AppContext) -> None:
        here.own["timer"] |= {"left": 0, "ends": None}

    def do_run(self, here: AppContext) -> None:
        """Start or stop the stopwatch."""
        watch = here.own["stopwatch"]
        if watch["started"]:
            elapsed = here.clock - datetime.fromisoformat(watch["started"])
            watch |= {"passed": watch["passed"] + round(elapsed.total_seconds()), "started": None}
        else:
            watch["started"] = here.clock.isoformat()

    def do_lap(self, here: AppContext, seconds: int) -> None:
        here.own["stopwatch"]["laps"].append(seconds)

    def do_clear(self, here: AppContext) -> None:
        here.own["stopwatch"] = {"passed": 0, "started": None, "laps": []}

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        """Ring due timers and alarms. An alarm that does not repeat turns off."""
        timer = here.own["timer"]
        if timer["ends"] and datetime.fromisoformat(timer["ends"]) <= after:
            timer |= {"left": 0, "ends": None}
            here.notify("Timer done", "Your timer has run out.", "home")
        for alarm in here.own["alarms"]:
            if alarm.get("on") and _is_due(alarm, before, after):
                alarm["on"] = bool(alarm.get("days"))
                here.notify(f"Alarm {alarm['time']}", str(alarm.get("label") or "It is time."), "home")


def _is_due(alarm: dict[str, Any], before: datetime, after: datetime) -> bool:
    """Return True if an alarm is due after `before` and not after `after`."""
    hour, minute, *_ = (_number(part) for part in f"{alarm['time']}:0".split(":"))
    # Alarms repeat weekly: a longer span has no other days.
    for days in range(min(7, (after.date() - before.date()).days) + 1):
        day = before + timedelta(days=days)
        at = day.replace(hour=hour % 24, minute=minute % 60, second=0, microsecond=0)
        if before < at <= after and (not alarm.get("days") or DAYS[at.weekday()] in alarm["days"]):
            return True
    return False


def _number(text: Any) -> int:
    digits = "".join(ch for ch in str(text) if ch.isdecimal())
    return int(digits) if digits else 0


DAYS = WEEKDAYS


def days_words(days: Sequence[str]) -> str:
    """Return the days of an alarm in words."""
    if not days:
        return "Once"
    if len(days) == 7:
        return "Every day"
    if list(days) == list(DAYS[:5]):
        return "Mon to Fri"
    return ", ".join(days)


def clock_words(seconds: float) -> str:
    """Return a duration as 12:05 or 1:02:05."""
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
        return _running_timer(here)
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


def _running_timer(here: AppContext) -> View:
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
