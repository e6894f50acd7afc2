"""Contacts: the one book of people for the whole phone.

State, `apps.contacts`: `people`, each `{name, number, email, company, favourite}` in no order of their own; `query`
(what is searched).
"""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import ClassVar

from simulators.phone.app import App, Here, State
from simulators.phone.apps.contacts_data import PEOPLE
from simulators.phone.views import Column, Field, ListView, Page, Screen, Space, Text, View
from simulators.phone.widgets import avatar, empty, inset, item


class Contacts(App):
    id, label, icon, colour, hue = "contacts", "Contacts", "person", "#2d7f8f", 190
    shapes: ClassVar[dict[str, State]] = {
        "people": {"name": "", "number": "", "email": "", "company": "", "favourite": False},
    }

    def first_state(self, rng: Random, clock: datetime) -> State:
        names = ("name", "number", "email", "company", "favourite")
        people = [dict(zip(names, person, strict=True)) for person in PEOPLE]
        rng.shuffle(people)
        return {"people": people, "query": ""}

    def screen_home(self, here: Here) -> Screen:
        query = str(here.own["query"]).strip().casefold()
        rows: list[View | None] = [
            item(person["name"], person["number"], lead=avatar(person["name"]), id="contact")
            for person in sorted(here.own["people"], key=lambda p: str(p["name"]))
            if query in f"{person['name']} {person['number']}".casefold()
        ]
        field = Field(["query"], hint="Search contacts", kind="search", id="search", action="Search")
        top = Column([Text("Contacts", "headline", pad=(48, 24, 48, 16)), inset(field, 0, 20)])
        nothing = empty("person", "No contacts", "Nobody is in this book.")
        return Page(ListView([*(rows or [nothing]), Space(220)], id="people"), bar=top)


def people(phone: State) -> list[State]:
    """Everybody in the phone's book of people."""
    found: list[State] = phone["apps"]["contacts"]["people"]
    return found
