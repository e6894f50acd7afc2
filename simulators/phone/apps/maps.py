"""Maps: places with their hours, saved places, ways by bus, bike, car or on foot, and being led there.

State, `apps.maps`:
- `places`, each `{name, kind, address, x, y (metres east and south), phone, rating, hours: {Mon: "09:00-18:00", ...}
  (a day without is closed; without any it never closes), about}`; `position`, the name of the place where the phone is;
- `saved`, each `{label: as Home, place: its name}`; `query` (what is searched), `label` (what is typed);
- `lines`, each `{name, every (minutes), first, last (HH:MM), stops: [{name, x, y}]}`; `speeds`, metres in a minute by
  mode; `routes`, ways that are not to be worked out, each `{origin, destination, mode, legs: [{how, line, origin,
  destination, minutes, stops}]}`;
- `way` `{origin, destination, mode, depart (ISO, or empty for the next)}`, what is being looked at;
- `trips`, those that were started, the latest last, each `{origin, destination, mode, lines: [names], minutes, depart,
  arrive, started, status: Under way | Ended}`.
"""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import ClassVar

from simulators.phone.app import AppContext, State
from simulators.phone.apps.contacts import start_call
from simulators.phone.apps.maps_data import first_lines, first_places
from simulators.phone.apps.maps_views import hours_on, map_of, open_words, place_of, place_row
from simulators.phone.apps.maps_way import TRIP, Ways
from simulators.phone.views import Button, Chip, Column, Dialog, Field, ListView, Page, Row, Screen, Space, Text, View
from simulators.phone.widgets import app_bar, badge, empty, icon_button, item, marked

_LABELS = ("Home", "Work", "Favourite")
_DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NEARBY = ("Cafe", "Restaurant", "Park", "Museum", "Pharmacy", "Library")


class Maps(Ways):
    id, label, icon, colour, hue = "maps", "Maps", "place", "#2f8f5b", 150
    shapes: ClassVar[dict[str, State]] = {
        "places": {"name": "", "kind": "Place", "address": "", "x": 2400, "y": 2300, "phone": "", "rating": 0.0,
                   "hours": {}, "about": ""},
        "saved": {"label": "", "place": ""},
        "lines": {"name": "", "every": 10, "first": "06:00", "last": "23:00", "stops": []},
        "lines.stops": {"name": "", "x": 0, "y": 0},
        "routes": {"origin": "", "destination": "", "mode": "Walk", "legs": []},
        "routes.legs": {"how": "", "line": "", "origin": "", "destination": "", "minutes": 0, "stops": 0},
        "trips": TRIP,
    }  # fmt: skip

    def first_state(self, rng: Random, clock: datetime) -> State:
        places = first_places()
        rng.shuffle(places)
        return {
            "places": places,
            "position": "Block 14 Heron Walk",
            "saved": [
                {"label": "Home", "place": "Block 14 Heron Walk"},
                {"label": "Work", "place": "Institute of Soft Matter"},
            ],
            "query": "",
            "label": "",
            "lines": first_lines(),
            "speeds": {"Walk": 80, "Bike": 230, "Car": 420},
            "routes": [],
            "way": {"origin": "", "destination": "", "mode": "Bus", "depart": ""},
            "trips": [],
        }

    def screen_home(self, here: AppContext) -> Screen:
        query = str(here.own["query"]).strip()
        field = Field(["query"], hint="Search places", kind="search", id="search", action="Search", grow=1)
        more = icon_button("history", "History of trips", ("go", "trips"), id="trips")
        bar = Row([field, more], gap=8, pad=(36, 24, 16, 20))
        if query:
            places = _found(here, query)
            nothing = empty("search", "Nothing found", "No place has these words.")
            rows: list[View | None] = [place_row(here, place) for place in places] or [nothing]
            return Page(ListView([*rows, Space(60)], id="results"), bar=bar)
        return Page(ListView(self._start(here), id="list"), bar=bar)

    def _start(self, here: AppContext) -> list[View | None]:
        saved_rows: list[View | None] = [
            item(str(entry["label"]), str(entry["place"]), lead=badge("home" if entry["label"] == "Home" else "star"),
                 on=("place", entry["place"]), id="saved",
                 trail=icon_button("turn", f"Directions to {entry['label']}", ("directions", entry["place"]),
                                   colour="primary", id="directions"))
            for entry in here.own["saved"]
        ]  # fmt: skip
        kinds: list[View | None] = [
            Chip(kind, on=("nearby", kind), id="kind")
            for kind in _NEARBY
            if any(place["kind"] == kind for place in here.own["places"])
        ]
        nothing = Text("Save a place on its page.", "body", "faint", pad=(48, 16))
        return [
            map_of(here, 640, wide=4200),
            Column([ListView([Space(36), *kinds, Space(36)], id="kinds", across=True, gap=16)], pad=(0, 16, 0, 0)),
            Row([Text("Saved places", "label", "primary", grow=1, lines=1),
                 Button("Edit", "text", on=("go", "saved"), id="edit")], pad=(48, 8, 24, 0)),
            *(saved_rows or [nothing]),
            Space(60),
        ]  # fmt: skip

    def do_nearby(self, here: AppContext, kind: str) -> None:
        here.own["query"] = kind

    def do_place(self, here: AppContext, name: str) -> None:
        here.own["query"] = ""
        here.go("place", name=name)

    def screen_place(self, here: AppContext) -> Screen:
        place = place_of(here, str(here.args["name"]))
        if place is None:
            return Page(empty("place", "No such place", "Maps does not know it."), bar=app_bar(str(here.args["name"])))
        name, stars = str(place["name"]), f", {place['rating']} stars" if place["rating"] else ""
        label = next((str(e["label"]) for e in here.own["saved"] if e["place"] == name), "")
        go = Button("Directions", icon="turn", on=("directions", name), id="directions", grow=1)
        keep = Button(
            "Saved" if label else "Save", "tonal", "star", on=("go", "save", {"name": name}), id="save", grow=1
        )
        today = hours_on(place, here.clock.weekday())
        rows: list[View | None] = [
            map_of(here, 520, place),
            Text(name, "headline", pad=(48, 16, 48, 0), lines=2, id="name"),
            Text(f"{place['kind']}{stars}", "body", "faint", pad=(48, 0), lines=1, id="kind"),
            Row([go, keep], gap=24, pad=(48, 20)),
            item(f"Now {open_words(place, here.clock)}", f"Today: {today}", lead=badge("clock"), id="hours",
                 on=("go", "hours", {"name": name})),
            item(str(place["address"]), "Address", lead=badge("place"), id="address", on=("copied", "Address")),
            item(str(place["phone"]), "Number", lead=badge("phone"), id="phone", on=("call", place["phone"]))
            if place["phone"] else None,
            item(label, "Saved as", lead=badge("star"), id="label") if label else None,
            Text(str(place["about"]), "body", "faint", pad=(48, 16)) if place["about"] else None,
            Space(60),
        ]  # fmt: skip
        return Page(ListView(rows, id="place"), bar=app_bar(name))

    def do_call(self, here: AppContext, number: str) -> None:
        start_call(here.phone, number)

    def do_copied(self, here: AppContext, what: str) -> None:
        here.toast(f"{what} copied")

    def screen_hours(self, here: AppContext) -> Screen:
        place = place_of(here, str(here.args["name"]))
        today = here.clock.weekday()
        rows: list[View | None] = [
            Row([Text(day, "strong" if i == today else "item", grow=1, lines=1),
                 Text(hours_on(place, i) if place else "", "strong" if i == today else "item", "faint", "right")],
                pad=(48, 16), desc=f"{day} {hours_on(place, i)}" if place else day, id="day")
            for i, day in enumerate(_DAY_NAMES)
        ]  # fmt: skip
        return Page(ListView([*rows, Space(60)], id="hours"), bar=app_bar("Opening hours", sub=str(here.args["name"])))

    def screen_save(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        label = next((str(e["label"]) for e in here.own["saved"] if e["place"] == name), "")
        rows: list[View | None] = [
            marked("radio", preset, preset == label, ("save", name, preset)) for preset in _LABELS
        ]
        field = Field(["label"], hint="Another name", id="label", submit=("save_named", name))
        keep = Button("Save", "text", on=("save_named", name), id="save")
        remove = Button("Remove", "danger", on=("unsave", name), id="remove") if label else None
        buttons = [b for b in (remove, Button("Cancel", "text", on=("back",)), keep) if b is not None]
        return Dialog("Save this place", Column([*rows, field], gap=8), buttons)

    def do_save(self, here: AppContext, name: str, label: str) -> None:
        """Keeps a place under a label; there is one Home and one Work."""
        saved = [
            e for e in here.own["saved"] if e["place"] != name and (label not in _LABELS[:2] or e["label"] != label)
        ]
        here.own["saved"] = [*saved, {"label": label, "place": name}]
        here.own["label"] = ""
        here.back()
        here.toast(f"Saved as {label}")

    def do_save_named(self, here: AppContext, name: str) -> None:
        label = str(here.own["label"]).strip()
        if label:
            self.do_save(here, name, label)

    def do_unsave(self, here: AppContext, name: str) -> None:
        here.own["saved"] = [e for e in here.own["saved"] if e["place"] != name]
        here.back()
        here.toast("Removed from saved places")

    def screen_saved(self, here: AppContext) -> Screen:
        rows: list[View | None] = [
            item(str(e["label"]), str(e["place"]), lead=badge("star"), id="saved",
                 on=("go", "save", {"name": e["place"]}),
                 trail=icon_button("delete", f"Remove {e['label']}", ("drop", e["place"]), id="remove"))
            for e in here.own["saved"]
        ]  # fmt: skip
        nothing = empty("star", "No saved places", "Save a place on its page.")
        return Page(ListView([*(rows or [nothing]), Space(60)], id="saved"), bar=app_bar("Saved places"))

    def do_drop(self, here: AppContext, name: str) -> None:
        here.own["saved"] = [e for e in here.own["saved"] if e["place"] != name]
        here.toast("Removed from saved places")


def _found(here: AppContext, query: str) -> list[State]:
    words = query.casefold()
    labels = {str(e["place"]): str(e["label"]) for e in here.own["saved"]}
    return sorted(
        (
            place for place in here.own["places"]
            if words in f"{place['name']} {place['kind']} {place['address']} {labels.get(place['name'], '')}".casefold()
        ),
        key=lambda place: str(place["name"]),
    )  # fmt: skip
