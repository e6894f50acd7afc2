"""The way in Maps: from where, to where, how and when; then being led there. Its state: see `maps`."""

from __future__ import annotations

from datetime import datetime, timedelta

from simulators.phone.app import App, AppContext, State
from simulators.phone.apps.maps_routes import MODES, changes, departures, legs, metres, total
from simulators.phone.apps.maps_views import map_of_way, place_row, position
from simulators.phone.views import Button, Chip, Column, Dialog, Field, ListView, Page, Row, Screen, Space, Text, View
from simulators.phone.widgets import actions, app_bar, badge, card, empty, icon_button, inset, item, marked, section

TRIP: State = {
    "origin": "", "destination": "", "mode": "Walk", "lines": [], "minutes": 0, "depart": "", "arrive": "",
    "started": "", "status": "Ended",
}  # fmt: skip
_ICONS = {"Walk": "walk", "Bus": "bus", "Bike": "bike", "Car": "car"}
_DOES = {"Walk": "Walk", "Bike": "Ride", "Car": "Drive"}


class Ways(App):
    """The part of Maps that is about getting there."""

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
        leave = _leave(here, route_legs)
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
        here.back()

    def screen_departures(self, here: AppContext) -> Screen:
        route_legs = _legs(here)
        minutes, departure = total(route_legs), _leave(here, route_legs)
        rows: list[View | None] = []
        for leave in departures(here.own, route_legs, here.clock):
            arrive = leave + timedelta(minutes=minutes)
            rows.append(marked("radio", f"{leave.strftime('%H:%M')} to {arrive.strftime('%H:%M')}", leave == departure,
                               ("depart", leave.isoformat())))  # fmt: skip
        return Dialog("Leave at", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_depart(self, here: AppContext, time: str) -> None:
        here.own["way"]["depart"] = time
        here.back()

    def do_start(self, here: AppContext) -> None:
        way, route_legs = here.own["way"], _legs(here)
        leave, minutes = _leave(here, route_legs), total(route_legs)
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
        here.back()
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


def _legs(here: AppContext) -> list[State]:
    way = here.own["way"]
    return legs(here.own, str(way["origin"]), str(way["destination"]), str(way["mode"]))


def _leave(here: AppContext, route_legs: list[State]) -> datetime:
    """The time that was chosen, where it is not over, else the next."""
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
