"""Calendar: days, months and an agenda of events, invitations, reminders, and a form to write an event.

State, `apps.calendar`:
- `events`, in no order, a new one last: `{title, date: YYYY-MM-DD, start: HH:MM, end: HH:MM, all_day, place, guests:
  [names], reminder, note, organiser, answer, cancelled}`. `reminder` is in minutes before the start, -1 for none.
  `organiser` is the person who invited, `answer` the owner's reply (`open`, `accepted`, `maybe`, `declined`, or empty
  for the owner's own event).
- `draft`: the event being written, with `of` (title, date and start of the event it changes, or nothing). `picker`: the
  date or time dialog `{part, month, hour, minute}`. `day`: the shown day. `tab` (Day | Month | Agenda). `query`: the
  typed search.

Events that overlap are marked as a clash, unless one is declined or cancelled. A due reminder is posted as a
notification. To stage a meeting that is about to begin, lay the event and a notification `{app: calendar, title, text,
screen: event, args: {title}}`. `args` may also hold `date` and `start`.

The first events are invented. A line of them is: weeks from this one, weekday (0: Monday), start, end (both empty: the
whole day), title, place, guests, organiser, and answer (`open`, `accepted`, `declined`, or empty for the owner's own).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from random import Random
from typing import Any, ClassVar

from simulators.phone import nav
from simulators.phone.app import App, AppContext, State, copy
from simulators.phone.kit.pickers import (
    day_words,
    month_grid,
    short_day,
    stepped,
    time_fields,
    time_of,
    two_digits,
    week_strip,
)
from simulators.phone.kit.views import (
    Act,
    Button,
    Chip,
    Column,
    Dialog,
    Field,
    ListView,
    Page,
    Row,
    Screen,
    Space,
    Text,
    View,
)
from simulators.phone.kit.widgets import (
    app_bar,
    avatar,
    badge,
    checkable,
    empty,
    fab,
    icon_button,
    inset,
    item,
    section,
    tabs,
)


def _moved_end(draft: State, start: str) -> str:
    """Return a draft's end after its start moved, with the same length but not past midnight."""
    day = f"{draft['date']}T"
    lasts = datetime.fromisoformat(day + draft["end"]) - datetime.fromisoformat(day + draft["start"])
    end = datetime.fromisoformat(day + start) + lasts
    # Events cannot span days.
    last = datetime.fromisoformat(day + start).replace(hour=23, minute=59)
    return min(end, last).strftime("%H:%M")


def _draft_error(draft: State) -> str:
    """Return the error that prevents saving the draft, empty if there is none."""
    return "It ends before it begins" if not draft["all_day"] and draft["end"] <= draft["start"] else ""


_EVENT: State = {
    "title": "", "date": "", "start": "09:00", "end": "10:00", "all_day": False, "place": "", "guests": [],
    "reminder": 10, "note": "", "organiser": "", "answer": "", "cancelled": False,
}  # fmt: skip


class Calendar(App):
    id, label, icon, colour, hue = "calendar", "Calendar", "calendar", "#2e7d4f", 146
    shapes: ClassVar[dict[str, State]] = {"events": _EVENT}

    def first_state(self, rng: Random, clock: datetime) -> State:
        monday = clock.date() - timedelta(days=clock.weekday())
        events = []
        for week, weekday, start, end, title, place, guests, organiser, answer in LINES:
            day = monday + timedelta(days=7 * week + weekday)
            event = {"title": title, "date": day.isoformat(), "place": place, "guests": list(guests)}
            times = {"start": start, "end": end} if start else {"all_day": True}
            events.append(copy(_EVENT) | event | times | {"organiser": organiser, "answer": answer})
        rng.shuffle(events)
        today = clock.date().isoformat()
        return {
            "events": events, "draft": copy(_EVENT) | {"date": today, "of": {}}, "day": today, "tab": "Day",
            "picker": {"part": "start", "month": today, "hour": "09", "minute": "00"}, "query": "",
        }  # fmt: skip

    # -- what is there --------------------------------------------------------------------------------------

    def screen_home(self, here: AppContext) -> Screen:
        tab = str(here.own["tab"])
        icons = {"Day": "today", "Month": "calendar", "Agenda": "list"}
        foot = tabs([(name, icon, ("set", ["tab"], name)) for name, icon in icons.items()], tab)
        day, today = date.fromisoformat(here.own["day"]), here.clock.date()
        search = icon_button("search", "Search events", ("go", "search"), id="search")
        now = Chip("Today", on=("day", today.isoformat()), id="today") if day != today and tab != "Agenda" else None
        title = "Agenda" if tab == "Agenda" else day.strftime("%B %Y")
        head = Row([Text(title, "headline", grow=1, lines=1, id="title"), now, search], gap=12, pad=(48, 20, 24, 12))
        parts = {"Day": self._day, "Month": self._month, "Agenda": self._agenda}
        new = fab("add", "New event", ("new",), "new_event")
        return Page(ListView([*parts[tab](here, day), Space(230)], id="events", gap=16), bar=head, foot=foot, fab=new)

    def _day(self, here: AppContext, day: date) -> list[View | None]:
        monday = day - timedelta(days=day.weekday())
        week = [monday + timedelta(days=n) for n in range(7)]
        strip = week_strip(week, day, here.clock.date(), _show_day_act, _busy_days(here))
        turns = Row([icon_button("prev", "Previous week", ("turn", -7)), Column([strip], grow=1),
                     icon_button("next", "Next week", ("turn", 7))], pad=(0, 0))  # fmt: skip
        return [turns, *self._day_rows(here, day)]

    def _month(self, here: AppContext, day: date) -> list[View | None]:
        def turned(by: int) -> tuple[Any, ...]:
            return ("day", _add_months(day, by).isoformat())

        grid = month_grid(day, day, here.clock.date(), _show_day_act, turned, _busy_days(here))
        return [Column([grid], pad=(24, 0)), *self._day_rows(here, day)]

    def _day_rows(self, here: AppContext, day: date) -> list[View | None]:
        cards: list[View | None] = [inset(event_card(event, here)) for event in events_on(here, day)]
        free = Text("Nothing on this day", "body", "faint", pad=(48, 20), id="free")
        return [section(day_heading(day, here.clock.date())), *(cards or [free])]

    def _agenda(self, here: AppContext, day: date) -> list[View | None]:
        today = here.clock.date()
        coming = [event for event in sorted_events(here.own["events"]) if event_day(event) >= today]
        invitations = [event for event in coming if event["answer"] == "open" and not event["cancelled"]]
        many = f"{len(invitations)} invitation{'s' if len(invitations) != 1 else ''} to answer"
        words = Button(many, "tonal", "mail", on=("go", "invitations"), id="invitations")
        rows: list[View | None] = [inset(words)] if invitations else []
        section_date = ""
        for event in coming:
            if event["date"] != section_date:
                section_date = event["date"]
                rows.append(section(day_heading(event_day(event), today)))
            rows.append(inset(event_card(event, here)))
        return rows or [empty("calendar", "Nothing coming", "Add an event with the button below.")]

    def do_day(self, here: AppContext, day: str) -> None:
        here.own["day"] = day

    def do_turn(self, here: AppContext, by: int) -> None:
        here.own["day"] = (date.fromisoformat(here.own["day"]) + timedelta(days=by)).isoformat()

    def screen_invitations(self, here: AppContext) -> Screen:
        invitations = [e for e in sorted_events(here.own["events"]) if e["answer"] == "open" and not e["cancelled"]]
        rows: list[View | None] = [inset(event_card(event, here, dated=True)) for event in invitations]
        nothing = empty("mail", "No invitations", "All of them are answered.")
        return Page(ListView([*(rows or [nothing]), Space(60)], id="events", gap=16), bar=app_bar("Invitations"))

    def screen_search(self, here: AppContext) -> Screen:
        query = str(here.own["query"]).strip().casefold()
        hits = [e for e in sorted_events(here.own["events"]) if query and query in _words(e)]
        rows: list[View | None] = [inset(event_card(event, here, dated=True)) for event in hits]
        nothing = empty("search", "Nothing found", "No event holds these words.") if query else None
        field = Field(["query"], hint="Title, place or guest", kind="search", id="query", action="Search")
        bar = Column([app_bar("Search events"), inset(field, 0, 20)])
        return Page(ListView([*(rows or [nothing]), Space(60)], id="events", gap=16), bar=bar)

    # -- one event ------------------------------------------------------------------------------------------

    def do_open(self, here: AppContext, event_key: State) -> None:
        here.go("event", **event_key)

    def screen_event(self, here: AppContext) -> Screen:
        event = find_event(here, here.args)
        if event is None:
            notice = empty("calendar", "No such event", "It is not in this calendar any more.")
            return Page(notice, bar=app_bar(""))
        return event_page(event, here)

    def do_person(self, here: AppContext, name: str) -> None:
        from simulators.phone.apps.contacts import show_person

        show_person(here.phone, name)

    def do_answer(self, here: AppContext, event_key: State, answer: str) -> None:
        event = find_event(here, event_key)
        if event is not None:
            event["answer"] = answer
            here.toast({"accepted": "Accepted", "maybe": "Answered maybe", "declined": "Declined"}[answer])

    def screen_delete(self, here: AppContext) -> Screen:
        event = find_event(here, here.args)
        words = f"{event['title']}, {event_time(event)}" if event else "It is gone already."
        remove = Button("Delete", "danger", on=("delete", here.args), id="delete")
        return Dialog("Delete this event?", Text(words, "body", "faint", lines=3),
                      [Button("Cancel", "text", on=("back",)), remove])  # fmt: skip

    def do_delete(self, here: AppContext, event_key: State) -> None:
        event = find_event(here, event_key)
        here.close_screens(2)
        if event is not None:
            here.own["events"] = [other for other in here.own["events"] if other is not event]
            here.toast("Event deleted")

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        remind_of_events(here, before, after)

    def do_new(self, here: AppContext) -> None:
        day, clock = str(here.own["day"]), here.clock
        hour = clock.hour + 1 if day == clock.date().isoformat() and clock.hour < 22 else 9
        fresh = self.shapes["events"] | {"date": day, "start": f"{hour:02d}:00", "end": f"{hour + 1:02d}:00"}
        here.own["draft"] = fresh | {"guests": [], "of": {}}
        here.go("edit")
        here.focus("event_title")

    def do_edit(self, here: AppContext, event_key: State) -> None:
        event = find_event(here, event_key)
        if event is not None:
            here.own["draft"] = event | {"guests": list(event["guests"]), "of": event_args(event)}
            here.go("edit")

    def screen_edit(self, here: AppContext) -> Screen:
        draft = here.own["draft"]
        return event_form(draft, _draft_error(draft), clashing_events(here, draft, find_event(here, draft["of"])))

    def do_next(self, here: AppContext, field: str) -> None:
        here.focus(field)

    def do_save(self, here: AppContext) -> None:
        draft = here.own["draft"]
        wrong = _draft_error(draft)
        if wrong:
            here.toast(wrong)
            return
        words = {name: str(draft[name]).strip() for name in ("title", "place", "note")}
        event = {name: value for name, value in draft.items() if name != "of"} | words
        event["title"] = event["title"] or "(No title)"
        old = find_event(here, draft["of"])
        if old is None:
            here.own["events"].append(event)
        else:
            old.clear()
            old |= event
        here.close_screens()
        under = nav.stack(here.phone, here.app)[-1]
        if under["screen"] == "event":
            under["args"] = event_args(event)
        here.own["day"] = event["date"]
        here.toast(f"Saved for {event_time(event)}")

    # -- day and time ---------------------------------------------------------------------------------------

    def do_date(self, here: AppContext) -> None:
        here.own["picker"]["month"] = here.own["draft"]["date"]
        here.go("date")

    def screen_date(self, here: AppContext) -> Screen:
        month = date.fromisoformat(here.own["picker"]["month"])
        selected_day = event_day(here.own["draft"])
        grid = month_grid(month, selected_day, here.clock.date(), lambda day: ("choose_day", day.isoformat()),
                          lambda by: ("month", by))  # fmt: skip
        return Dialog("Choose a day", grid, [Button("Cancel", "text", on=("back",))])

    def do_month(self, here: AppContext, by: int) -> None:
        month = date.fromisoformat(here.own["picker"]["month"])
        months = 12 * month.year + month.month - 1 + by
        here.own["picker"]["month"] = date(months // 12, months % 12 + 1, 1).isoformat()

    def do_choose_day(self, here: AppContext, day: str) -> None:
        here.own["draft"]["date"] = day
        here.close_screens()

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
        """Trim typed times to their last two digits."""
        if field in ("hour", "minute"):
            here.own["picker"][field] = two_digits(here.own["picker"][field])

    def do_set_time(self, here: AppContext) -> None:
        """Set the typed time. Moving the start keeps the event's length."""
        draft, picker = here.own["draft"], here.own["picker"]
        time = time_of(picker["hour"], picker["minute"])
        if time is None:
            here.toast("Enter an hour from 0 to 23 and a minute from 0 to 59")
            return
        if picker["part"] == "start" and draft["start"] < draft["end"]:
            draft["end"] = _moved_end(draft, time)
        draft[picker["part"]] = time
        here.close_screens()

    # -- guests and reminder --------------------------------------------------------------------------------

    def screen_guests(self, here: AppContext) -> Screen:
        guests = here.own["draft"]["guests"]
        contact_names = {str(person["name"]) for person in here.phone["apps"]["contacts"]["people"]}
        names = sorted(contact_names | set(map(str, guests)), key=str.casefold)
        rows: list[View | None] = [
            checkable("checkbox", name, name in guests, ("guest", name), lead=avatar(name)) for name in names
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
            checkable("radio", words, minutes == selected_minutes, ("remind", minutes))
            for minutes, words in REMINDERS.items()
        ]
        return Dialog("Reminder", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_remind(self, here: AppContext, minutes: int) -> None:
        here.own["draft"]["reminder"] = minutes
        here.close_screens()


def _show_day_act(day: date) -> tuple[Any, ...]:
    return ("day", day.isoformat())


def _busy_days(here: AppContext) -> set[date]:
    """Return the days that have events."""
    return {event_day(event) for event in here.own["events"]}


def _add_months(day: date, by: int) -> date:
    """Return the first day of the month `by` months later."""
    months = 12 * day.year + day.month - 1 + by
    return date(months // 12, months % 12 + 1, 1)


def _words(event: State) -> str:
    return " ".join(map(str, (event["title"], event["place"], event["note"], *event["guests"]))).casefold()


LINES: tuple[tuple[int, int, str, str, str, str, tuple[str, ...], str, str], ...] = (
    (-1, 2, "14:00", "15:00", "Beamline proposal", "Room 4.12", ("Noor Haddad", "Dr. Okafor"), "", ""),
    (-1, 4, "15:00", "16:30", "组会", "二楼会议室", ("林小雨", "Noor Haddad"), "陈伟", "accepted"),
    (0, 0, "09:30", "10:00", "Plan the week", "", (), "", ""),
    (0, 1, "11:00", "11:45", "Films with Noor", "X-ray bench", ("Noor Haddad",), "", ""),
    (0, 1, "17:30", "18:30", "Chinese class", "Library, room 3", (), "", ""),
    (0, 2, "11:00", "12:00", "Safety training", "Lecture hall 2", (), "Priya Raman", "open"),
    (0, 3, "10:00", "11:30", "Annealing oven", "Room 4.07", (), "", ""),
    (0, 3, "11:00", "12:00", "Budget talk", "Dr. Okafor's office", ("Priya Raman",), "Dr. Okafor", "open"),
    (0, 4, "15:00", "16:30", "组会", "二楼会议室", ("林小雨", "Noor Haddad"), "陈伟", "accepted"),
    (0, 4, "16:00", "16:45", "Call with Tomas", "", ("Tomas Brandt",), "", ""),
    (0, 5, "09:00", "11:30", "Climbing", "North Wall", ("Jonas Weil",), "", ""),
    (1, 0, "", "", "Mamá's birthday", "", (), "", ""),
    (1, 1, "14:00", "15:00", "Poster review", "Room 4.12", ("林小雨",), "林小雨", "accepted"),
    (1, 3, "09:00", "10:00", "Vendor visit", "Foyer", (), "Priya Raman", "declined"),
    (1, 4, "15:00", "16:30", "组会", "二楼会议室", ("林小雨", "Noor Haddad"), "陈伟", "open"),
    (2, 1, "16:30", "17:00", "Check-up", "Quayside Dental", (), "", ""),
)


REMINDERS = {-1: "None", 0: "At the start", 5: "5 minutes before", 10: "10 minutes before", 30: "30 minutes before",
             60: "1 hour before", 1440: "1 day before"}  # fmt: skip
"""Selectable reminders, in minutes before an event."""


def event_args(event: State) -> State:
    """Return the arguments that identify an event: title, date and start."""
    return {"title": event["title"], "date": event["date"], "start": event["start"]}


def find_event(here: AppContext, args: State) -> State | None:
    """Return the event that a screen's arguments name, or None if none matches. A title alone selects the first one."""
    criteria = {name: args[name] for name in ("title", "date", "start") if args.get(name)}
    events: list[State] = here.own["events"]
    return next((e for e in events if criteria and all(e[name] == value for name, value in criteria.items())), None)


def event_day(event: State) -> date:
    return date.fromisoformat(event["date"])


def events_on(here: AppContext, day: date) -> list[State]:
    """Return a day's events in order, all-day ones first."""
    return sorted_events([event for event in here.own["events"] if event["date"] == day.isoformat()])


def sorted_events(events: list[State]) -> list[State]:
    return sorted(events, key=lambda e: (e["date"], not e["all_day"], e["start"], e["end"], e["title"]))


def is_active(event: State) -> bool:
    """Return True if an event takes place for the owner: neither cancelled nor declined."""
    return not event["cancelled"] and event["answer"] != "declined"


def clashing_events(here: AppContext, event: State, but: State | None = None) -> list[State]:
    """Return the other events that overlap this one, without `but`."""
    if event["all_day"] or not is_active(event):
        return []
    return [
        other
        for other in events_on(here, event_day(event))
        if other is not event and other is not but and not other["all_day"] and is_active(other)
        and other["start"] < event["end"] and event["start"] < other["end"]
    ]  # fmt: skip


def event_hours(event: State) -> str:
    return "All day" if event["all_day"] else f"{event['start']} – {event['end']}"


def event_time(event: State) -> str:
    """Return day and hours in words."""
    return f"{short_day(event_day(event))}, {event_hours(event)}"


def day_heading(day: date, today: date) -> str:
    """Return a day as the heading of a list."""
    near = {0: "Today, ", 1: "Tomorrow, "}.get((day - today).days, "")
    return near + (short_day(day) if near else day_words(day))


def event_start(event: State, here: AppContext) -> datetime:
    """Return the start of an event, by the phone's clock."""
    hour, minute = str(event["start"]).split(":")
    day = event_day(event)
    return here.clock.replace(year=day.year, month=day.month, day=day.day, hour=int(hour), minute=int(minute),
                              second=0, microsecond=0)  # fmt: skip


def remind_of_events(here: AppContext, before: datetime, after: datetime) -> None:
    """Post the reminders that are due between two moments."""
    for event in sorted_events(here.own["events"]):
        if event["reminder"] < 0 or event["all_day"] or not is_active(event):
            continue
        start = event_start(event, here)
        if before < start - timedelta(minutes=event["reminder"]) <= after:
            where = f", {event['place']}" if event["place"] else ""
            here.notify(str(event["title"]), f"{event_hours(event)}{where}", "event", event_args(event))


ANSWERS = {"open": "Invitation", "accepted": "Accepted", "declined": "Declined", "maybe": "Maybe"}


def event_card(event: State, here: AppContext, dated: bool = False) -> View:
    """Return an event in a list: its title, hours and place, and its problem if it has one."""
    ink = "text" if is_active(event) else "outline"
    about = event_hours(event) if not dated else event_time(event)
    place = f" · {event['place']}" if event["place"] else ""
    words: list[View | None] = [
        Text(str(event["title"]), "strong", ink, lines=1, id="title"),
        Text(about + place, "sub", "faint" if is_active(event) else "outline", lines=1, id="when"),
        _event_status(event, here),
    ]
    edge = Space(14, width=14, height=96, radius=7, fill="primary" if is_active(event) else "outline")
    ground = "soft" if event["answer"] == "open" and not event["cancelled"] else "container"
    return Row([edge, Column(words, gap=4, grow=1)], gap=28, pad=(28, 16, 36, 16), fill=ground, radius=36,
               on=("open", event_args(event)), id="event")  # fmt: skip


def _event_status(event: State, here: AppContext) -> View | None:
    """Return an event's status: cancelled, declined, clashing or unanswered, or None if there is nothing to report."""
    if event["cancelled"]:
        return Text("Cancelled", "sub", "error", lines=1, bold=True, id="state")
    if event["answer"] == "declined":
        return Text("Declined", "sub", "outline", lines=1, id="state")
    others = clashing_events(here, event)
    if others:
        return Text(f"Clashes with {others[0]['title']}", "sub", "error", lines=1, bold=True, id="clash")
    if event["answer"] in ("open", "maybe"):
        words = f"{ANSWERS[event['answer']]} from {event['organiser']}" if event["organiser"] else "Invitation"
        return Text(words, "sub", "primary", lines=1, bold=True, id="state")
    return None


def event_page(event: State, here: AppContext) -> Page:
    """Return the page of an event."""
    event_key = event_args(event)
    own = not event["answer"]
    edit = icon_button("edit", "Edit event", ("edit", event_key), id="edit") if own else None
    remove = icon_button("delete", "Delete event", ("go", "delete", event_key), id="delete")
    others = clashing_events(here, event)
    guests = [str(name) for name in event["guests"]]
    answer = "Not answered" if event["answer"] == "open" else ANSWERS.get(str(event["answer"]), "")
    lines: list[View | None] = [
        Text(str(event["title"]), "headline", lines=3, id="title", pad=(48, 0, 48, 16)),
        Text("Cancelled", "strong", "error", pad=(48, 0), id="state") if event["cancelled"] else None,
        item(day_words(event_day(event), year=True), event_hours(event), lead=badge("clock"), id="when"),
        item(str(event["place"]), "Place", lead=badge("place"), id="place", sub_lines=1) if event["place"] else None,
        *[item(f"Clashes with {o['title']}", event_hours(o), lead=badge("info"), on=("open", event_args(o)), id="clash")
          for o in others],
        item(str(event["organiser"]), f"Invited you · {answer}", lead=avatar(str(event["organiser"]), 104),
             id="organiser") if event["organiser"] else None,
        *[item(name, "Guest", lead=avatar(name, 104), on=("person", name), id="guest") for name in guests],
        item(REMINDERS.get(event["reminder"], f"{event['reminder']} minutes before"), "Reminder", lead=badge("bell"),
             id="reminder") if not event["all_day"] else None,
        Text(str(event["note"]), "body", pad=(48, 20), id="note") if event["note"] else None,
    ]  # fmt: skip
    return Page(
        ListView([*lines, Space(40)], id="event"), bar=app_bar("", edit, remove), foot=_answer_foot(event, event_key)
    )


def _answer_foot(event: State, event_key: State) -> View | None:
    """Return an invitation's buttons (accept, maybe, decline) with the given answer filled, or None for others."""
    if not event["answer"] or event["cancelled"]:
        return None
    buttons: list[View | None] = []
    for word, answer in (("Accept", "accepted"), ("Maybe", "maybe"), ("Decline", "declined")):
        selected = event["answer"] == answer
        button = Button(
            word, "filled" if selected else "outlined", on=("answer", event_key, answer), id=word.lower(), grow=1
        )
        button.selected = selected
        buttons.append(button)
    return Row(buttons, gap=20, pad=(36, 16, 36, 24))


def event_form(draft: State, wrong: str, others: Sequence[State]) -> Page:
    """Return the form for a new or changed event."""
    day = event_day(draft)
    times = Row([_cell("Starts", str(draft["start"]), ("time", "start")),
                 _cell("Ends", str(draft["end"]), ("time", "end"))], gap=24, pad=(48, 8))  # fmt: skip
    names = ", ".join(map(str, draft["guests"])) or "Nobody"
    rows: list[View | None] = [
        _field("title", "Title", submit="event_place"),
        item("Date", short_day(day, year=True), lead=badge("today"), on=("date",), id="date"),
        None if draft["all_day"] else times,
        Text(wrong, "sub", "error", pad=(48, 0), lines=1, bold=True, id="wrong") if wrong else None,
        *[Text(f"Clashes with {o['title']} ({event_hours(o)})", "sub", "error", pad=(48, 0), lines=1, id="clash")
          for o in others],
        checkable("switch", "All day", bool(draft["all_day"]), ("toggle", ["draft", "all_day"])),
        _field("place", "Place"),
        item("Guests", names, lead=badge("people"), on=("go", "guests"), id="guests"),
        item("Reminder", REMINDERS.get(draft["reminder"], f"{draft['reminder']} minutes before"), lead=badge("bell"),
             on=("go", "reminder"), id="reminder") if not draft["all_day"] else None,
        _field("note", "Note", many=True),
    ]  # fmt: skip
    save = Button("Save", on=("save",), id="save")
    bar = app_bar("New event" if not draft["of"] else "Edit event", save)
    return Page(ListView([Space(8), *rows, Space(60)], id="form", gap=12), bar=bar)


def _field(name: str, hint: str, submit: str = "", many: bool = False) -> View:
    field = Field(["draft", name], hint=hint, id=f"event_{name}", kind="box", many=many)
    if submit:
        field.action, field.submit = "Next", ("next", submit)
    return Column([field], pad=(48, 4))


def _cell(label: str, value: str, on: Act) -> View:
    """Return half a row of the form: label and value."""
    return Column([Text(label, "small", "faint", lines=1), Text(value, "strong", lines=1, id=label.lower())], grow=1,
                  fill="container", radius=36, pad=(36, 12), on=on, desc=f"{label} {value}",
                  id=f"{label.lower()}_time")  # fmt: skip
