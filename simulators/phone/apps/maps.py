"""Maps: places with their hours, saved places, routes by bus, bike, car or on foot, and navigation.

State, `apps.maps`:
- `places`, each `{name, kind, address, x, y (metres east and south), phone, rating, hours: {Mon: "09:00-18:00", ...},
  about}`. A place is closed on a day without hours. Without any hours it never closes. `position`: the name of the
  phone's place.
- `saved`, each `{label (such as Home), place (its name)}`. `query`: the typed search. `label`: the typed label.
- `lines`, each `{name, every (minutes), first, last (HH:MM), stops: [{name, x, y}]}`. `speeds`: metres in a minute by
  mode. `routes`: given routes that replace computed ones, each `{origin, destination, mode, legs: [{how, line,
  origin, destination, minutes, stops}]}`.
- `way`: the shown route, `{origin, destination, mode, depart (ISO, empty for the next departure)}`.
- `trips`: started trips, latest last, each `{origin, destination, mode, lines: [names], minutes, depart, arrive,
  started, status: Under way | Ended}`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import ClassVar

from simulators.phone.app import App, AppContext, State
from simulators.phone.apps.contacts import start_call
from simulators.phone.apps.maps_routes import MODES, changes, departures, legs, metres, total
from simulators.phone.apps.maps_views import (
    first_lines,
    first_places,
    hours_on,
    map_of,
    map_of_way,
    open_words,
    place_of,
    place_row,
    position,
)
from simulators.phone.kit.views import (
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
    actions,
    app_bar,
    badge,
    card,
    checkable,
    empty,
    icon_button,
    inset,
    item,
    section,
)

TRIP: State = {
    "origin": "", "destination": "", "mode": "Walk", "lines": [], "minutes": 0, "depart": "", "arrive": "",
    "started": "", "status": "Ended",
}  # fmt: skip
_ICONS = {"Walk": "walk", "Bus": "bus", "Bike": "bike", "Car": "car"}
_DOES = {"Walk": "Walk", "Bike": "Ride", "Car": "Drive"}


def _legs(here: AppContext) -> list[State]:
    way = here.own["way"]
    return legs(here.own, str(way["origin"]), str(way["destination"]), str(way["mode"]))


def _departure(here: AppContext, route_legs: list[State]) -> datetime:
    """Return the chosen departure if it is not past, else the next one."""
    departure = here.own["way"]["depart"]
    if departure and datetime.fromisoformat(departure) >= here.clock - timedelta(minutes=1):
        return datetime.fromisoformat(departure)
    return next(iter(departures(here.own, route_legs, here.clock, 1)), here.clock)


def _time(moment: str) -> str:
    return datetime.fromisoformat(moment).strftime("%H:%M") if moment else ""


def _day(here: AppContext, moment: str) -> str:
    then = datetime.fromisoformat(moment or here.phone["clock"])
    return f"today {then.strftime('%H:%M')}" if then.date() == here.clock.date() else then.strftime("%d %b").lstrip("0")


def _leg_words(leg: State) -> str:
    if leg["how"] == "Bus":
        return f"Bus {leg['line']} to {leg['destination']}"
    return f"{_DOES.get(leg['how'], leg['how'])} to {leg['destination']}"


def _leg_row(leg: State) -> View:
    stops = (
        f", {leg['stops']} {'stop' if leg['stops'] == 1 else 'stops'}" if leg["how"] == "Bus" and leg["stops"] else ""
    )
    return item(
        _leg_words(leg), f"{leg['minutes']} min{stops} from {leg['origin']}", lead=badge(_ICONS[leg["how"]]), id="leg"
    )


_LABELS = ("Home", "Work", "Favourite")
_DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NEARBY = ("Cafe", "Restaurant", "Park", "Museum", "Pharmacy", "Library")


class Maps(App):
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
            places = _matching_places(here, query)
            nothing = empty("search", "Nothing found", "No place has these words.")
            rows: list[View | None] = [place_row(here, place) for place in places] or [nothing]
            return Page(ListView([*rows, Space(60)], id="results"), bar=bar)
        return Page(ListView(self._start_rows(here), id="list"), bar=bar)

    def _start_rows(self, here: AppContext) -> list[View | None]:
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
            checkable("radio", preset, preset == label, ("save", name, preset)) for preset in _LABELS
        ]
        field = Field(["label"], hint="Another name", id="label", submit=("save_named", name))
        keep = Button("Save", "text", on=("save_named", name), id="save")
        remove = Button("Remove", "danger", on=("unsave", name), id="remove") if label else None
        buttons = [b for b in (remove, Button("Cancel", "text", on=("back",)), keep) if b is not None]
        return Dialog("Save this place", Column([*rows, field], gap=8), buttons)

    def do_save(self, here: AppContext, name: str, label: str) -> None:
        """Save a place under a label. Home and Work exist only once."""
        saved = [
            e for e in here.own["saved"] if e["place"] != name and (label not in _LABELS[:2] or e["label"] != label)
        ]
        here.own["saved"] = [*saved, {"label": label, "place": name}]
        here.own["label"] = ""
        here.close_screens()
        here.toast(f"Saved as {label}")

    def do_save_named(self, here: AppContext, name: str) -> None:
        label = str(here.own["label"]).strip()
        if label:
            self.do_save(here, name, label)

    def do_unsave(self, here: AppContext, name: str) -> None:
        here.own["saved"] = [e for e in here.own["saved"] if e["place"] != name]
        here.close_screens()
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

    def do_directions(self, here: AppContext, name: str) -> None:
        at = position(here)
        start = str(at["name"]) if at and at["name"] != name else ""
        here.own["way"] |= {"origin": start, "destination": name, "depart": ""}
        here.own["query"] = ""
        here.go("route")

    def screen_route(self, here: AppContext) -> Screen:
        way, route_legs = here.own["way"], _legs(here)
        ends = [
            item(str(way["origin"]) or "Choose a start", "From", lead=badge("place"), on=("end", "origin"), id="from"),
            item(str(way["destination"]) or "Choose a place", "To", lead=badge("star"), on=("end", "destination"),
                 id="to", trail=icon_button("swap", "Swap start and destination", ("swap_ends",), id="swap")),
        ]  # fmt: skip
        chips = [self._mode(here, mode) for mode in MODES]
        rows: list[View | None] = [*ends, Row(chips[:2], gap=16, pad=(48, 8)), Row(chips[2:], gap=16, pad=(48, 0))]
        if not route_legs:
            nothing = (
                "Choose a start and a place." if not (way["origin"] and way["destination"]) else "There is no way."
            )
            rows.append(Text(nothing, "body", "faint", "center", pad=(48, 60)))
            return Page(ListView(rows, id="route"), bar=app_bar("Directions"))
        leave = _departure(here, route_legs)
        rows += [self._summary(here, route_legs, leave), map_of_way(here, 460, route_legs), section("Step by step")]
        rows += [_leg_row(leg) for leg in route_legs]
        start = actions(Button("Start", icon="turn", on=("start",), id="start"))
        return Page(ListView([*rows, Space(60)], id="route"), bar=app_bar("Directions"), foot=start)

    def _mode(self, here: AppContext, mode: str) -> View:
        way = here.own["way"]
        route_legs = legs(here.own, str(way["origin"]), str(way["destination"]), mode)
        label = f"{mode}, {total(route_legs)} min" if route_legs else mode
        return Chip(
            label, _ICONS[mode], on=("mode", mode), checkable=True, checked=way["mode"] == mode, grow=1, id="mode"
        )

    def _summary(self, here: AppContext, route_legs: list[State], leave: datetime) -> View:
        minutes, way = total(route_legs), here.own["way"]
        many = changes(route_legs)
        words = f"{minutes} min"
        if way["mode"] == "Bus":
            words += ", no change" if not many else f", {many} {'change' if many == 1 else 'changes'}"
        else:
            words += f", {metres(here.own, way['origin'], way['destination']) / 1000:.1f} km"
        arrive = leave + timedelta(minutes=minutes)
        times = item(f"Leave {leave.strftime('%H:%M')}, arrive {arrive.strftime('%H:%M')}", "Tap for other times",
                     lead=badge("clock"), on=("go", "departures"), id="depart")  # fmt: skip
        return Column([Text(words, "headline", pad=(48, 16, 48, 0), lines=1, id="summary"), times])

    def do_mode(self, here: AppContext, mode: str) -> None:
        here.own["way"] |= {"mode": mode, "depart": ""}

    def do_swap_ends(self, here: AppContext) -> None:
        way = here.own["way"]
        way |= {"origin": way["destination"], "destination": way["origin"], "depart": ""}

    def do_end(self, here: AppContext, end: str) -> None:
        here.own["query"] = ""
        here.go("pick", end=end)

    def screen_pick(self, here: AppContext) -> Screen:
        end, words = str(here.args["end"]), str(here.own["query"]).strip().casefold()
        at = position(here)
        rows: list[View | None] = []
        if at is not None and not words:
            rows.append(
                item("Your location", str(at["name"]), lead=badge("place"), on=("pick", end, at["name"]), id="here")
            )
        rows += [
            item(str(e["label"]), str(e["place"]), lead=badge("star"), on=("pick", end, e["place"]), id="saved")
            for e in here.own["saved"] if words in f"{e['label']} {e['place']}".casefold()
        ]  # fmt: skip
        rows += [
            place_row(here, place, ("pick", end, place["name"]))
            for place in sorted(here.own["places"], key=lambda p: str(p["name"]))
            if words in f"{place['name']} {place['kind']} {place['address']}".casefold()
        ]
        field = Field(["query"], hint="Search places", kind="search", id="search", action="Search")
        bar = Column([app_bar("From" if end == "origin" else "To"), inset(field, 0, 16)])
        nothing = empty("search", "Nothing found", "No place has these words.")
        return Page(ListView([*(rows or [nothing]), Space(60)], id="places"), bar=bar)

    def do_pick(self, here: AppContext, end: str, name: str) -> None:
        here.own["way"] |= {end: name, "depart": ""}
        here.own["query"] = ""
        here.close_screens()

    def screen_departures(self, here: AppContext) -> Screen:
        route_legs = _legs(here)
        minutes, departure = total(route_legs), _departure(here, route_legs)
        rows: list[View | None] = []
        for leave in departures(here.own, route_legs, here.clock):
            arrive = leave + timedelta(minutes=minutes)
            words = f"{leave.strftime('%H:%M')} to {arrive.strftime('%H:%M')}"
            rows.append(checkable("radio", words, leave == departure, ("depart", leave.isoformat())))
        return Dialog("Leave at", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_depart(self, here: AppContext, time: str) -> None:
        here.own["way"]["depart"] = time
        here.close_screens()

    def do_start(self, here: AppContext) -> None:
        way, route_legs = here.own["way"], _legs(here)
        leave, minutes = _departure(here, route_legs), total(route_legs)
        for trip in here.own["trips"]:
            trip["status"] = "Ended"
        here.own["trips"].append({
            "origin": way["origin"], "destination": way["destination"], "mode": way["mode"],
            "lines": [leg["line"] for leg in route_legs if leg["line"]], "minutes": minutes,
            "depart": leave.isoformat(),
            "arrive": (leave + timedelta(minutes=minutes)).isoformat(), "started": here.clock.isoformat(),
            "status": "Under way",
        })  # fmt: skip
        here.go("navigate")

    def screen_navigate(self, here: AppContext) -> Screen:
        trip = here.own["trips"][-1] if here.own["trips"] else TRIP
        if trip["status"] != "Under way":
            return Page(empty("turn", "Not under way", "Start a way to be led."), bar=app_bar("Navigation"))
        route_legs = legs(here.own, str(trip["origin"]), str(trip["destination"]), str(trip["mode"]))
        first = route_legs[0] if route_legs else None
        panel = card([
            Text(_leg_words(first) if first else str(trip["destination"]), "title", lines=2, id="next_step"),
            Text(f"Leave at {_time(trip['depart'])}", "body", "faint", lines=1, id="leave"),
        ], fill="soft")  # fmt: skip
        foot = Column([
            Text(f"Arrive at {_time(trip['arrive'])}", "title", pad=(48, 16, 48, 0), lines=1, id="arrival"),
            Text(f"{trip['minutes']} min to {trip['destination']}", "body", "faint", pad=(48, 0), lines=1, id="left"),
            actions(Button("End navigation", "tonal", on=("end_trip",), id="end")),
        ])  # fmt: skip
        body = ListView([inset(panel, 0, 16), map_of_way(here, 1000, route_legs)], id="way")
        return Page(body, bar=app_bar("Navigation"), foot=foot)

    def do_end_trip(self, here: AppContext) -> None:
        here.own["trips"][-1]["status"] = "Ended"
        here.close_screens()
        here.toast("Navigation ended")

    def screen_trips(self, here: AppContext) -> Screen:
        rows: list[View | None] = [
            item(f"To {trip['destination']}",
                 f"{trip['mode']}, {_day(here, trip['started'])}, {trip['status'].lower()}",
                 lead=badge(_ICONS.get(trip["mode"], "turn")), on=("directions", trip["destination"]), id="trip")
            for trip in reversed(here.own["trips"])
        ]  # fmt: skip
        nothing = empty("turn", "No trips yet", "Ways that you start are listed here.")
        return Page(ListView([*(rows or [nothing]), Space(60)], id="trips"), bar=app_bar("Your trips"))


def _matching_places(here: AppContext, query: str) -> list[State]:
    words = query.casefold()
    labels = {str(e["place"]): str(e["label"]) for e in here.own["saved"]}
    return sorted(
        (
            place for place in here.own["places"]
            if words in f"{place['name']} {place['kind']} {place['address']} {labels.get(place['name'], '')}".casefold()
        ),
        key=lambda place: str(place["name"]),
    )  # fmt: skip
