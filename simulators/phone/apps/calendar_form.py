"""Writing an event down: its form, and the dialogs in which day, time, guests and reminder are chosen."""

from __future__ import annotations

from datetime import date, datetime

from simulators.phone import nav
from simulators.phone.app import App, AppContext, State
from simulators.phone.apps import calendar_days
from simulators.phone.apps.calendar_views import event_form
from simulators.phone.pickers import month_grid, stepped, time_fields, time_of, two_digits
from simulators.phone.views import Button, Column, Dialog, ListView, Page, Screen, Space, View
from simulators.phone.widgets import app_bar, avatar, empty, marked


class Form(App):
    """The writing half of Calendar."""

    def do_new(self, here: AppContext) -> None:
        day, clock = str(here.own["day"]), here.clock
        hour = clock.hour + 1 if day == clock.date().isoformat() and clock.hour < 22 else 9
        fresh = self.shapes["events"] | {"date": day, "start": f"{hour:02d}:00", "end": f"{hour + 1:02d}:00"}
        here.own["draft"] = fresh | {"guests": [], "of": {}}
        here.go("edit")
        here.focus("event_title")

    def do_edit(self, here: AppContext, event_key: State) -> None:
        event = calendar_days.found(here, event_key)
        if event is not None:
            here.own["draft"] = event | {"guests": list(event["guests"]), "of": calendar_days.key(event)}
            here.go("edit")

    def screen_edit(self, here: AppContext) -> Screen:
        draft = here.own["draft"]
        return event_form(
            draft, _wrong(draft), calendar_days.clashes(here, draft, calendar_days.found(here, draft["of"]))
        )

    def do_next(self, here: AppContext, field: str) -> None:
        here.focus(field)

    def do_save(self, here: AppContext) -> None:
        draft = here.own["draft"]
        wrong = _wrong(draft)
        if wrong:
            here.toast(wrong)
            return
        words = {name: str(draft[name]).strip() for name in ("title", "place", "note")}
        event = {name: value for name, value in draft.items() if name != "of"} | words
        event["title"] = event["title"] or "(No title)"
        old = calendar_days.found(here, draft["of"])
        if old is None:
            here.own["events"].append(event)
        else:
            old.clear()
            old |= event
        here.back()
        under = nav.stack(here.phone, here.app)[-1]
        if under["screen"] == "event":
            under["args"] = calendar_days.key(event)
        here.own["day"] = event["date"]
        here.toast(f"Saved for {calendar_days.when(event)}")

    # -- day and time ---------------------------------------------------------------------------------------

    def do_date(self, here: AppContext) -> None:
        here.own["picker"]["month"] = here.own["draft"]["date"]
        here.go("date")

    def screen_date(self, here: AppContext) -> Screen:
        month = date.fromisoformat(here.own["picker"]["month"])
        selected_day = calendar_days.day_of(here.own["draft"])
        grid = month_grid(month, selected_day, here.clock.date(), lambda day: ("choose_day", day.isoformat()),
                          lambda by: ("month", by))  # fmt: skip
        return Dialog("Choose a day", grid, [Button("Cancel", "text", on=("back",))])

    def do_month(self, here: AppContext, by: int) -> None:
        month = date.fromisoformat(here.own["picker"]["month"])
        months = 12 * month.year + month.month - 1 + by
        here.own["picker"]["month"] = date(months // 12, months % 12 + 1, 1).isoformat()

    def do_choose_day(self, here: AppContext, day: str) -> None:
        here.own["draft"]["date"] = day
        here.back()

    def do_time(self, here: AppContext, part: str) -> None:
        hour, _, minute = str(here.own["draft"][part]).partition(":")
        here.own["picker"] |= {"part": part, "hour": hour, "minute": minute}
        here.go("time", part=part)

    def screen_time(self, here: AppContext) -> Screen:
        title = "Starts at" if here.args["part"] == "start" else "Ends at"
        fields = time_fields(["picker"], lambda part, by: ("step", part, by))
        return Dialog(title, fields, [Button("Cancel", "text", on=("back",)), Button("OK", on=("set_time",), id="ok")])

    def do_step(self, here: AppContext, part: str, by: int) -> None:
        here.own["picker"][part] = stepped(part, here.own["picker"][part], by)

    def edited(self, here: AppContext, field: str) -> None:
        """Times keep their last two digits."""
        if field in ("hour", "minute"):
            here.own["picker"][field] = two_digits(here.own["picker"][field])

    def do_set_time(self, here: AppContext) -> None:
        """Takes the time over; the end keeps its distance from a start that is moved."""
        draft, picker = here.own["draft"], here.own["picker"]
        time = time_of(picker["hour"], picker["minute"])
        if time is None:
            here.toast("Enter an hour from 0 to 23 and a minute from 0 to 59")
            return
        if picker["part"] == "start" and draft["start"] < draft["end"]:
            draft["end"] = _moved(draft, time)
        draft[picker["part"]] = time
        here.back()

    # -- guests and reminder --------------------------------------------------------------------------------

    def screen_guests(self, here: AppContext) -> Screen:
        guests = here.own["draft"]["guests"]
        contact_names = {str(person["name"]) for person in here.phone["apps"]["contacts"]["people"]}
        names = sorted(contact_names | set(map(str, guests)), key=str.casefold)
        rows: list[View | None] = [
            marked("checkbox", name, name in guests, ("guest", name), lead=avatar(name)) for name in names
        ]
        nobody = empty("people", "No contacts", "Guests are chosen from the phone's contacts.")
        done_button = Button("Done", on=("back",), id="done")
        return Page(ListView([*(rows or [nobody]), Space(40)], id="guests"), bar=app_bar("Guests", done_button))

    def do_guest(self, here: AppContext, name: str) -> None:
        guests = here.own["draft"]["guests"]
        here.own["draft"]["guests"] = [g for g in guests if g != name] if name in guests else [*guests, name]

    def screen_reminder(self, here: AppContext) -> Screen:
        selected_minutes = here.own["draft"]["reminder"]
        rows: list[View | None] = [
            marked("radio", words, minutes == selected_minutes, ("remind", minutes))
            for minutes, words in calendar_days.REMINDERS.items()
        ]
        return Dialog("Reminder", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_remind(self, here: AppContext, minutes: int) -> None:
        here.own["draft"]["reminder"] = minutes
        here.back()


def _moved(draft: State, start: str) -> str:
    """The end of a draft whose start is moved, so that it lasts as long as before; not beyond the day."""
    day = f"{draft['date']}T"
    lasts = datetime.fromisoformat(day + draft["end"]) - datetime.fromisoformat(day + draft["start"])
    end = datetime.fromisoformat(day + start) + lasts
    last = datetime.fromisoformat(day + start).replace(hour=23, minute=59)
    return min(end, last).strftime("%H:%M")


def _wrong(draft: State) -> str:
    """What keeps the draft from being saved, or nothing."""
    return "It ends before it begins" if not draft["all_day"] and draft["end"] <= draft["start"] else ""
