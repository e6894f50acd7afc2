"""Pickers for a day or a time of day, which several apps' forms and dialogs use."""

from __future__ import annotations

from calendar import Calendar
from collections.abc import Callable, Collection, Sequence
from datetime import date

from simulators.phone.kit.views import Act, Column, Field, Row, Space, Text, View
from simulators.phone.kit.widgets import icon_button

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def day_words(day: date, year: bool = False) -> str:
    """Format a day as Tuesday, 10 March, optionally with the year."""
    return day.strftime(f"%A, %d %B{' %Y' if year else ''}").replace(" 0", " ")


def short_day(day: date, year: bool = False) -> str:
    """Format a day as Tue, 10 Mar, optionally with the year."""
    return day.strftime(f"%a, %d %b{' %Y' if year else ''}").replace(" 0", " ")


def month_grid(
    month: date,
    selected_day: date | None,
    today: date,
    on: Callable[[date], Act],
    turn: Callable[[int], Act],
    marked: Collection[date] = (),
) -> View:
    """Return a grid of the month that contains `month`, week by week, with a dot at `marked` days.

    `on` returns the act of a tap on a day, `turn` the act that moves by a number of months.
    """
    title = Text(month.strftime("%B %Y"), "strong", align="center", grow=1, lines=1, id="month")
    head = Row(
        [icon_button("prev", "Previous month", turn(-1)), title, icon_button("next", "Next month", turn(1))],
        gap=8,
    )
    names = Row([Text(name, "small", "faint", "center", grow=1, lines=1) for name in WEEKDAYS])
    weeks = [
        Row([_day(day, day == selected_day, day == today, day in marked, on) if day.month == month.month
             else Space(grow=1) for day in week])
        for week in Calendar().monthdatescalendar(month.year, month.month)
    ]  # fmt: skip
    return Column([head, names, *weeks], gap=4)


def week_strip(days: Sequence[date], selected_day: date, today: date, on: Callable[[date], Act],
               marked: Collection[date] = ()) -> View:  # fmt: skip
    """Return the days of a week side by side, each below its weekday."""
    cells: list[View | None] = []
    for day in days:
        cell = _day(day, day == selected_day, day == today, day in marked, on)
        cells.append(Column([Text(WEEKDAYS[day.weekday()], "small", "faint", "center", lines=1), cell], grow=1))
    return Row(cells)


def _day(day: date, selected: bool, today: bool, marked: bool, on: Callable[[date], Act]) -> View:
    ink = "on_primary" if selected else "primary" if today else "text"
    number = Text(str(day.day), "body", ink, "center", bold=selected or today, width=96, height=76)
    dot = Space(14, width=14, height=14, radius=7, fill=ink if marked else "")
    face = Column([number, dot], align="center", fill="primary" if selected else "", radius=48, width=96, height=104)
    return Column([face], align="center", grow=1, on=on(day), desc=day_words(day, year=True), cls="Button",
                  selected=selected, id="day")  # fmt: skip


def time_fields(bind: Sequence[str | int], step: Callable[[str, int], Act]) -> View:
    """Return hour and minute as fields between arrows, bound to `hour` and `minute` below `bind`."""
    colon = Text(":", "display", align="center", width=80)
    hour, minute = _time_field(bind, "hour", step), _time_field(bind, "minute", step)
    return Row([Space(grow=1), hour, colon, minute, Space(grow=1)])


def _time_field(bind: Sequence[str | int], name: str, step: Callable[[str, int], Act]) -> View:
    field = Field(
        [*bind, name], kind="box", style="display", id=name, desc=name.title(), numeric=True, fresh=True,
        align="center", width=320, action="Done",
    )  # fmt: skip
    up = icon_button("up", f"Next {name}", step(name, 1), id=f"{name}_up")
    down = icon_button("down", f"Previous {name}", step(name, -1), id=f"{name}_down")
    return Column([up, field, down], align="center", gap=8, width=340)


def two_digits(text: object) -> str:
    """Return the last two digits of a typed hour or minute."""
    return "".join(ch for ch in str(text) if ch.isdecimal())[-2:]


def time_of(hour: object, minute: object) -> str | None:
    """Return a time as HH:MM, or None if hour and minute are not a valid time."""
    parts = two_digits(hour), two_digits(minute)
    if not all(parts) or int(parts[0]) > 23 or int(parts[1]) > 59:
        return None
    return f"{int(parts[0]):02d}:{int(parts[1]):02d}"


def stepped(part: str, value: object, by: int) -> str:
    """Return an hour or minute moved by `by` steps, wrapping around."""
    return f"{(int(two_digits(value) or 0) + by) % (24 if part == 'hour' else 60):02d}"
