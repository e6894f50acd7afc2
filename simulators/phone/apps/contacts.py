"""Contacts: the one book of people for the whole phone, and its calls.

State, `apps.contacts`:
- `people`, no two of one name: `{name, number, email, company, favourite}`.
- `calls`, the oldest first: `{name, number, kind: outgoing | incoming | missed, time, seconds}`; no name where nobody
  of that number is known; `seconds` is how long was spoken.
- `call`, the one that goes on: `{name, number, time, answered, mute, speaker}`, `answered` being a time or empty;
  nothing where there is none.
- `draft`, the person being written: `{name, number, email, company, of}`; `of` is whose entry it changes, if any.
- `dialled` and `query`, as typed; `tab` (Contacts | Recents | Keypad).

Other apps read `people(phone)`, and lead here by `show_person`, `start_call` and `start_entry`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any, ClassVar

from simulators.phone import nav
from simulators.phone.app import App, AppContext, State
from simulators.phone.apps import contacts_calls
from simulators.phone.apps.contacts_data import CALLS, PEOPLE
from simulators.phone.apps.contacts_views import call_page, call_row, entry_page, keypad, person_page, person_row
from simulators.phone.apps.mail import Mail
from simulators.phone.views import Button, Column, Dialog, Field, ListView, Page, Screen, Space, Text, View
from simulators.phone.widgets import app_bar, empty, fab, icon_button, inset, section, tabs

_BLANK: State = {"name": "", "number": "", "email": "", "company": "", "of": ""}


class Contacts(App):
    id, label, icon, colour, hue = "contacts", "Contacts", "person", "#2d7f8f", 190
    shapes: ClassVar[dict[str, State]] = {
        "people": {"name": "", "number": "", "email": "", "company": "", "favourite": False},
        "calls": {"name": "", "number": "", "kind": "outgoing", "time": "", "seconds": 0},
    }

    def first_state(self, rng: Random, clock: datetime) -> State:
        names = ("name", "number", "email", "company", "favourite")
        everybody = [dict(zip(names, person, strict=True)) for person in PEOPLE]
        numbers = {name: number for name, number, *_ in PEOPLE}
        calls = [
            {"name": name if name in numbers else "", "number": numbers.get(name, name), "kind": kind}
            | {"time": _then(clock, days, time), "seconds": seconds}
            for name, kind, days, time, seconds in reversed(CALLS)
        ]
        rng.shuffle(everybody)
        return {
            "people": everybody, "calls": calls, "call": {}, "draft": dict(_BLANK), "dialled": "", "query": "",
            "tab": "Contacts",
        }  # fmt: skip

    def screen_home(self, here: AppContext) -> Screen:
        tab = str(here.own["tab"])
        icons = {"Contacts": "person", "Recents": "clock", "Keypad": "keypad"}
        foot = tabs([(name, icon, ("tab", name)) for name, icon in icons.items()], tab)
        going = contacts_calls.banner(here)
        if tab == "Keypad":
            return Page(keypad(here), bar=Column([going, Space(24)]), foot=foot)
        if tab == "Recents":
            return self._recents(here, going, foot)
        field = Field(["query"], hint="Search contacts", kind="search", id="search", action="Search")
        top = Column([going, Text("Contacts", "headline", pad=(48, 24, 48, 16)), inset(field, 0, 20)])
        new = fab("add", "New contact", ("new",), "new_contact")
        return Page(ListView([*_book(here), Space(220)], id="people"), bar=top, foot=foot, fab=new)

    def _recents(self, here: AppContext, going: View | None, foot: View) -> Page:
        calls = here.own["calls"]
        rows: list[View | None] = [call_row(call, here) for call in reversed(calls)]
        nothing = empty("call", "No recent calls", "Calls that you make or miss stand here.")
        clear = icon_button("delete", "Clear call history", ("go", "clear")) if calls else None
        bar = Column([going, app_bar("Recent calls", clear, back=False)])
        return Page(ListView([*(rows or [nothing]), Space(60)], id="calls"), bar=bar, foot=foot)

    def do_tab(self, here: AppContext, name: str) -> None:
        here.focus(None)
        here.own["tab"] = name

    def screen_person(self, here: AppContext) -> Screen:
        return person_page(here, str(here.args["name"]), str(here.args.get("number", "")))

    def do_open(self, here: AppContext, name: str, number: str = "") -> None:
        here.go("person", name=name, number=number)

    def do_favourite(self, here: AppContext, name: str) -> None:
        person = person_of(here.phone, name)
        if person is not None:
            person["favourite"] = not person["favourite"]
            here.toast("Added to favourites" if person["favourite"] else "Removed from favourites")

    def do_message(self, here: AppContext, name: str) -> None:
        _lead(here.phone, "messages", "thread", {"name": name})

    def do_mail(self, here: AppContext, address: str) -> None:
        _lead(here.phone, "mail", "home", {})
        Mail().do_compose(AppContext(here.phone, "mail"), address)

    # -- writing people down --------------------------------------------------------------------------------

    def do_new(self, here: AppContext, name: str = "", number: str = "") -> None:
        here.own["draft"] = _BLANK | {"name": name, "number": number}
        here.go("edit")
        here.focus("name")

    def do_edit(self, here: AppContext, name: str) -> None:
        person = person_of(here.phone, name)
        if person is not None:
            here.own["draft"] = {key: person[key] for key in ("name", "number", "email", "company")} | {"of": name}
            here.go("edit")

    def screen_edit(self, here: AppContext) -> Screen:
        return entry_page(here.own["draft"], _wrong(here))

    def do_next(self, here: AppContext, field: str) -> None:
        here.focus(field)
        here.phone["keyboard"]["page"] = "numbers" if field == "number" else "letters"

    def do_save(self, here: AppContext) -> None:
        wrong = _wrong(here)
        if wrong:
            here.toast(wrong)
            return
        draft = {key: " ".join(str(value).split()) for key, value in here.own["draft"].items()}
        of = draft.pop("of")
        person = person_of(here.phone, of) if of else None
        if person is None:
            here.own["people"].append(draft | {"favourite": False})
        else:
            person |= draft
        for call in here.own["calls"]:
            if contacts_calls.digits(call["number"]) == contacts_calls.digits(draft["number"]) and draft["number"]:
                call["name"] = draft["name"]
        here.back()
        under = nav.stack(here.phone, self.id)[-1]
        if under["screen"] == "person":
            under["args"] = {"name": draft["name"], "number": ""}
        else:
            self.do_open(here, draft["name"])
        here.toast("Contact saved")

    def screen_delete(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        return Dialog(
            "Delete this contact?",
            Text(f"{name} is taken out of the phone's contacts.", "body", "faint"),
            [Button("Cancel", "text", on=("back",)), Button("Delete", "danger", on=("delete", name), id="delete")],
        )

    def do_delete(self, here: AppContext, name: str) -> None:
        here.own["people"] = [person for person in here.own["people"] if person["name"] != name]
        for call in here.own["calls"]:
            call["name"] = "" if call["name"] == name else call["name"]
        here.back(len(nav.stack(here.phone, self.id)) - 1)
        here.toast("Contact deleted")

    # -- calls ----------------------------------------------------------------------------------------------

    def do_call(self, here: AppContext, number: str) -> None:
        contacts_calls.begin(here, number)

    def do_dial(self, here: AppContext, key: str) -> None:
        number = str(here.own["dialled"])
        here.own["dialled"] = number[:-1] if key == "backspace" else number + key

    def screen_call(self, here: AppContext) -> Screen:
        return call_page(here.own["call"], contacts_calls.spoken(here))

    def do_end(self, here: AppContext) -> None:
        contacts_calls.end(here)
        here.back()

    def screen_clear(self, here: AppContext) -> Screen:
        return Dialog(
            "Clear call history?",
            Text("All recent calls are taken off this list.", "body", "faint"),
            [Button("Cancel", "text", on=("back",)), Button("Clear", "danger", on=("clear",), id="clear")],
        )

    def do_clear(self, here: AppContext) -> None:
        here.own["calls"] = []
        here.back()

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        contacts_calls.goes_on(here, after)


def people(phone: State) -> list[State]:
    """Everybody in the phone's book of people."""
    people_list: list[State] = phone["apps"]["contacts"]["people"]
    return people_list


def person_of(phone: State, name: str) -> State | None:
    """The person of that name, or None."""
    return next((person for person in people(phone) if person["name"] == name), None)


def show_person(phone: State, name: str, number: str = "") -> None:
    """Leads from another app to somebody's page, or to that of a number that nobody has."""
    _lead(phone, "contacts", "person", {"name": name, "number": number})


def start_call(phone: State, number: str) -> None:
    """Leads from another app to a call of that number."""
    _lead(phone, "contacts", "home", {})
    contacts_calls.begin(AppContext(phone, "contacts"), number)


def start_entry(phone: State, number: str, name: str = "") -> None:
    """Leads from another app to a new entry that has this number."""
    _lead(phone, "contacts", "home", {})
    Contacts().do_new(AppContext(phone, "contacts"), name, number)


def _lead(phone: State, app: str, screen: str, args: dict[str, Any]) -> None:
    """Brings an app to the front at one of its screens, over its first."""
    nav.show(phone, app)
    while nav.pop(phone, app):
        pass
    if screen != nav.stack(phone, app)[-1]["screen"]:
        nav.push(phone, app, screen, args)


def _then(clock: datetime, days: int, time: str) -> str:
    then = (clock - timedelta(days=days)).replace(hour=int(time[:2]), minute=int(time[3:]), second=0, microsecond=0)
    return then.isoformat()


def _book(here: AppContext) -> list[View | None]:
    """The rows of the book: favourites first, then everybody; those that are searched for, once each."""
    query = str(here.own["query"]).strip().casefold()
    everybody = sorted(here.own["people"], key=lambda p: str(p["name"]).casefold())
    if query:
        matching = [p for p in everybody if query in _words(p)]
        nothing = empty("search", "Nobody found", "No contact holds these words.")
        return [person_row(p) for p in matching] or [nothing]
    if not everybody:
        return [empty("person", "No contacts", "Add one with the button below.")]
    loved = [person_row(p) for p in everybody if p["favourite"]]
    head: list[View | None] = [section("Favourites"), *loved, section("All contacts")] if loved else []
    return [*head, *(person_row(p) for p in everybody)]


def _words(person: State) -> str:
    number = str(person["number"])
    return f"{person['name']} {number} {contacts_calls.digits(number)} {person['email']} {person['company']}".casefold()


def _wrong(here: AppContext) -> str:
    """What keeps the draft from being saved, or nothing."""
    draft = here.own["draft"]
    name = " ".join(str(draft["name"]).split())
    if not name:
        return "Enter a name first"
    if name != draft["of"] and person_of(here.phone, name) is not None:
        return "There is a contact of this name"
    return ""
