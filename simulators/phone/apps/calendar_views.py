"""Views of Calendar: an event in a list, its page, its form."""

from __future__ import annotations

from collections.abc import Sequence

from simulators.phone.app import AppContext, State
from simulators.phone.apps.calendar_days import REMINDERS, clashes, day_of, hours, key, stands, when
from simulators.phone.kit.pickers import day_words, short_day
from simulators.phone.kit.views import Act, Button, Column, Field, ListView, Page, Row, Space, Text, View
from simulators.phone.kit.widgets import app_bar, avatar, badge, icon_button, item, marked

ANSWERS = {"open": "Invitation", "accepted": "Accepted", "declined": "Declined", "maybe": "Maybe"}


def event_card(event: State, here: AppContext, dated: bool = False) -> View:
    """Return an event in a list: its title, hours and place, and its problem if it has one."""
    ink = "text" if stands(event) else "outline"
    about = hours(event) if not dated else when(event)
    place = f" · {event['place']}" if event["place"] else ""
    words: list[View | None] = [
        Text(str(event["title"]), "strong", ink, lines=1, id="title"),
        Text(about + place, "sub", "faint" if stands(event) else "outline", lines=1, id="when"),
        _event_status(event, here),
    ]
    edge = Space(14, width=14, height=96, radius=7, fill="primary" if stands(event) else "outline")
    ground = "soft" if event["answer"] == "open" and not event["cancelled"] else "container"
    return Row([edge, Column(words, gap=4, grow=1)], gap=28, pad=(28, 16, 36, 16), fill=ground, radius=36,
               on=("open", key(event)), id="event")  # fmt: skip


def _event_status(event: State, here: AppContext) -> View | None:
    """Return an event's status: cancelled, declined, clashing or unanswered, or None if there is nothing to report."""
    if event["cancelled"]:
        return Text("Cancelled", "sub", "error", lines=1, bold=True, id="state")
    if event["answer"] == "declined":
        return Text("Declined", "sub", "outline", lines=1, id="state")
    others = clashes(here, event)
    if others:
        return Text(f"Clashes with {others[0]['title']}", "sub", "error", lines=1, bold=True, id="clash")
    if event["answer"] in ("open", "maybe"):
        words = f"{ANSWERS[event['answer']]} from {event['organiser']}" if event["organiser"] else "Invitation"
        return Text(words, "sub", "primary", lines=1, bold=True, id="state")
    return None


def event_page(event: State, here: AppContext) -> Page:
    """Return the page of an event."""
    event_key = key(event)
    own = not event["answer"]
    edit = icon_button("edit", "Edit event", ("edit", event_key), id="edit") if own else None
    remove = icon_button("delete", "Delete event", ("go", "delete", event_key), id="delete")
    others = clashes(here, event)
    guests = [str(name) for name in event["guests"]]
    answer = "Not answered" if event["answer"] == "open" else ANSWERS.get(str(event["answer"]), "")
    lines: list[View | None] = [
        Text(str(event["title"]), "headline", lines=3, id="title", pad=(48, 0, 48, 16)),
        Text("Cancelled", "strong", "error", pad=(48, 0), id="state") if event["cancelled"] else None,
        item(day_words(day_of(event), year=True), hours(event), lead=badge("clock"), id="when"),
        item(str(event["place"]), "Place", lead=badge("place"), id="place", sub_lines=1) if event["place"] else None,
        *[item(f"Clashes with {o['title']}", hours(o), lead=badge("info"), on=("open", key(o)), id="clash")
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
    day = day_of(draft)
    times = Row([_cell("Starts", str(draft["start"]), ("time", "start")),
                 _cell("Ends", str(draft["end"]), ("time", "end"))], gap=24, pad=(48, 8))  # fmt: skip
    names = ", ".join(map(str, draft["guests"])) or "Nobody"
    rows: list[View | None] = [
        _field("title", "Title", submit="event_place"),
        item("Date", short_day(day, year=True), lead=badge("today"), on=("date",), id="date"),
        None if draft["all_day"] else times,
        Text(wrong, "sub", "error", pad=(48, 0), lines=1, bold=True, id="wrong") if wrong else None,
        *[Text(f"Clashes with {o['title']} ({hours(o)})", "sub", "error", pad=(48, 0), lines=1, id="clash")
          for o in others],
        marked("switch", "All day", bool(draft["all_day"]), ("toggle", ["draft", "all_day"])),
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
