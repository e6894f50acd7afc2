"""The parts of Contacts: rows, a person's page, the form, the keypad, the call."""

from __future__ import annotations

from datetime import datetime

from simulators.phone.app import AppContext, State
from simulators.phone.apps.contacts_calls import lasted, named
from simulators.phone.views import Act, Button, Column, Field, Icon, ListView, Page, Row, Space, Text, View
from simulators.phone.widgets import app_bar, avatar, badge, empty, icon_button, item

_KEYS = ("123", "456", "789", "*0#")


def person_row(person: State) -> View:
    name = str(person["name"])
    return item(name, str(person["company"] or person["number"]), lead=avatar(name), on=("open", name), id="contact")


def call_row(call: State, here: AppContext) -> View:
    """A recent call: tapping the row shows who it was, tapping the handset calls."""
    name, number, kind = str(call["name"]), str(call["number"]), str(call["kind"])
    then = datetime.fromisoformat(call["time"])
    days = (here.clock.date() - then.date()).days
    day = {0: "", 1: "Yesterday "}.get(days, then.strftime("%d %b ").lstrip("0"))
    words = f"{kind.title()}, {day}{then.strftime('%H:%M')}"
    who = Text(name or number, "item", "error" if kind == "missed" else "text", lines=1, id="name")
    about = Column([who, Text(words, "sub", "faint", lines=1, id="when")], gap=8, grow=1)
    again = icon_button("call", f"Call {name or number}", ("call", number), colour="primary", id="call")
    lead = avatar(name) if name else badge("person")
    return Row([lead, about, again], gap=36, pad=(48, 20, 24, 20), on=("open", name, number), id="recent")


def person_page(here: AppContext, name: str, number: str) -> Page:
    """Somebody's page; that of a bare number where the book has nobody of that name."""
    people: list[State] = here.own["people"]
    person = next((p for p in people if p["name"] == name), None)
    if person is None:
        return _number_page(here, number) if number else _gone()
    star = ("star", "Remove from favourites") if person["favourite"] else ("star_line", "Add to favourites")
    bar = app_bar(
        "",
        icon_button(star[0], star[1], ("favourite", name), id="favourite", colour="primary"),
        icon_button("edit", "Edit contact", ("edit", name), id="edit"),
        icon_button("delete", "Delete contact", ("go", "delete", {"name": name}), id="delete"),
    )
    phone, mail = str(person["number"]), str(person["email"])
    deeds = Row([_deed("call", "Call", ("call", phone), bool(phone)),
                 _deed("message", "Message", ("message", name), bool(phone)),
                 _deed("mail", "Mail", ("mail", mail), bool(mail))], gap=24, pad=(48, 16))  # fmt: skip
    rows: list[View | None] = [
        *_head(name, str(person["company"])),
        deeds,
        Space(24),
        item(phone, "Phone", lead=badge("call"), on=("call", phone), id="number") if phone else None,
        item(mail, "Mail", lead=badge("mail"), on=("mail", mail), id="email") if mail else None,
        *_last_calls(here, name),
    ]
    return Page(ListView([*rows, Space(60)], id="person"), bar=bar)


def _head(name: str, under: str) -> list[View | None]:
    face = Column([avatar(name, 220)], align="center", pad=(0, 0, 0, 16))
    return [face, Text(name, "headline", align="center", lines=2, id="name", pad=(48, 0)),
            Text(under, "sub", "faint", "center", lines=1, id="company", pad=(48, 0)) if under else None]  # fmt: skip


def _last_calls(here: AppContext, name: str) -> list[View | None]:
    calls = [call for call in reversed(here.own["calls"]) if call["name"] == name][:5]
    if not calls:
        return []
    heading = Text("Recent calls", "label", "primary", pad=(48, 16, 48, 0), lines=1)
    return [heading, *(_past(call, here) for call in calls)]


def _past(call: State, here: AppContext) -> View:
    then = datetime.fromisoformat(call["time"])
    day = "Today" if then.date() == here.clock.date() else then.strftime("%a, %d %b").replace(" 0", " ")
    duration = "" if call["kind"] == "missed" else f", {lasted(int(call['seconds']))}"
    return item(f"{day}, {then.strftime('%H:%M')}", f"{str(call['kind']).title()}{duration}", id="past")


def _number_page(here: AppContext, number: str) -> Page:
    contact_name = named(here, number)
    face = Column([Icon("person", 110, "on_soft", disc="soft", disc_size=220)], align="center", pad=(0, 0, 0, 16))
    add = Button("Create new contact", icon="add", on=("new", "", number), id="create")
    if contact_name:
        add = Button(f"Saved as {contact_name}", "tonal", on=("open", contact_name), id="saved")
    deeds = Row([_deed("call", "Call", ("call", number)), _deed("message", "Message", ("message", number))],
                gap=24, pad=(48, 16))  # fmt: skip
    title = Text(number, "headline", align="center", lines=1, id="number", pad=(48, 0))
    calls = [call for call in reversed(here.own["calls"]) if call["number"] == number][:5]
    rows: list[View | None] = [face, title, deeds, Column([add], pad=(48, 16)), *(_past(c, here) for c in calls)]
    return Page(ListView([*rows, Space(60)], id="person"), bar=app_bar(""))


def _gone() -> Page:
    return Page(empty("person", "No such contact", "It is not in this phone's contacts any more."), bar=app_bar(""))


def _deed(icon: str, label: str, on: Act, can: bool = True) -> View:
    """A way to reach somebody: a glyph above its word."""
    sign = Icon(icon, 64, "on_soft" if can else "outline")
    words = Text(label, "label", "on_soft" if can else "outline", "center", lines=1)
    return Column([Column([sign], align="center"), words], grow=1, fill="soft" if can else "container", radius=48,
                  pad=(8, 24, 8, 16), on=on, desc=label, cls="Button", id=label.lower(), enabled=can)  # fmt: skip


def entry_page(draft: State, wrong: str) -> Page:
    """The form for a new person, or for one that is changed."""
    new = not draft["of"]
    save = Button("Save", on=("save",), id="save")
    fields: list[View | None] = [
        Column([avatar(str(draft["name"]) or "?", 200)], align="center"),
        Field(["draft", "name"], hint="Name", id="name", kind="box", action="Next", submit=("next", "number")),
        Text(wrong, "sub", "error", lines=1, id="wrong") if wrong and draft["name"] else None,
        Field(
            ["draft", "number"],
            hint="Phone",
            id="number",
            kind="box",
            numeric=True,
            action="Next",
            submit=("next", "email"),
        ),
        Field(["draft", "email"], hint="Mail", id="email", kind="box", action="Next", submit=("next", "company")),
        Field(["draft", "company"], hint="Company", id="company", kind="box"),
    ]
    bar = app_bar("New contact" if new else "Edit contact", save)
    return Page(ListView([Column(fields, gap=36, pad=(48, 24)), Space(60)], id="form"), bar=bar)


def keypad(here: AppContext) -> View:
    """A number as it is typed, whose it is, and the keys."""
    number = str(here.own["dialled"])
    caption = named(here, number)
    if not caption and number:
        caption = "Not in your contacts"
    rows: list[View | None] = [Row([_key(ch) for ch in keys], gap=24, pad=(72, 0)) for keys in _KEYS]
    add = icon_button("add", "Add to contacts", ("new", "", number), id="add") if number else None
    rub = icon_button("backspace", "Backspace", ("dial", "backspace"), id="backspace") if number else None
    ring = Button("Call", icon="call", on=("call", number), id="call", grow=1)
    return Column(
        [
            Text(number or " ", "display", align="center", lines=1, id="digits", pad=(48, 0)),
            Text(caption or "Enter a number", "sub", "faint", "center", lines=1, id="known"),
            Space(grow=1), *rows, Row([_key("+"), _spot(add), _spot(rub)], gap=24, pad=(72, 0)), Space(24),
            Column([ring], pad=(72, 0)), Space(48),
        ],
        gap=20,
    )  # fmt: skip


def _key(ch: str) -> View:
    face = Text(ch, "headline", align="center", height=128)
    return Column([face], fill="high", radius=64, grow=1, on=("dial", ch), desc=ch, cls="Button", id="key")


def _spot(view: View | None) -> View:
    """A key's place, with a glyph in it or nothing."""
    return Column([view], align="center", grow=1)


def call_page(call: State, seconds: int | None) -> Page:
    """The call that goes on, or that there is none."""
    if not call:
        return Page(empty("call", "No call", "The call has ended."), bar=app_bar(""))
    name, number = str(call["name"]), str(call["number"])
    state = "Ringing…" if seconds is None else lasted(seconds)
    face = avatar(name, 300) if name else Icon("person", 150, "on_soft", disc="soft", disc_size=300)
    switches = Row([_switch("mic_off", "Mute", bool(call["mute"])), _switch("sound", "Speaker", bool(call["speaker"]))],
                   gap=24)  # fmt: skip
    end = Row([Icon("call_end", 72, "white"), Text("End call", "label", "white", lines=1)], gap=24, pad=(60, 40),
              fill="#c0392b", radius=76, on=("end",), desc="End call", cls="Button", id="end")  # fmt: skip
    body = Column(
        [
            Space(160), Column([face], align="center"), Space(40),
            Text(name or number, "headline", align="center", lines=2, id="name"),
            Text(number, "body", "faint", "center", lines=1, id="number") if name else None,
            Text(state, "title", "primary", "center", lines=1, id="state"),
            Space(grow=1), switches, Space(20), Column([end], align="center"), Space(60),
        ],
        gap=20, pad=(48, 0),
    )  # fmt: skip
    return Page(body, bar=app_bar("Call"))


def _switch(icon: str, label: str, on: bool) -> View:
    sign = Icon(icon, 64, "on_soft" if on else "text")
    words = Text(label, "label", "on_soft" if on else "text", "center", lines=1)
    return Column([Column([sign], align="center"), words], grow=1, fill="soft" if on else "high", radius=48,
                  pad=(8, 24, 8, 16), on=("toggle", ["call", label.lower()]), desc=label, cls="ToggleButton",
                  checkable=True, checked=on, id=label.lower())  # fmt: skip
