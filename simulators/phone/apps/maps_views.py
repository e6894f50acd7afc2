"""Views that the screens of Maps share: pieces of the map, rows of places, opening hours in words."""

from __future__ import annotations

from datetime import datetime, timedelta

from simulators.phone.app import AppContext, State
from simulators.phone.apps.maps_data import DAYS
from simulators.phone.kit.views import Act, Art, View
from simulators.phone.kit.widgets import badge, item

_HERE, _THERE, _KEPT = "#2f6fd6", "#d6453a", "#c98a1b"
_ICONS = {
    "Home": "home", "Research": "info", "Museum": "star", "Park": "leaf", "Sport": "bolt", "Market": "cart",
    "Station": "train", "Cafe": "bowl", "Restaurant": "bowl", "Doctor": "add", "Library": "notes", "Pharmacy": "add",
    "Bookshop": "notes", "Airport": "plane",
}  # fmt: skip


def place_of(here: AppContext, name: str) -> State | None:
    return next((place for place in here.own["places"] if place["name"] == name), None)


def position(here: AppContext) -> State | None:
    """Return the place where the phone is, or None if it is unknown or the location is off."""
    return place_of(here, str(here.own["position"])) if here.settings["location"] else None


def icon_of(place: State) -> str:
    return _ICONS.get(str(place["kind"]), "place")


def place_row(here: AppContext, place: State, on: Act | None = None) -> View:
    return item(
        str(place["name"]), f"{place['kind']}, {open_words(place, here.clock)}", lead=badge(icon_of(place)),
        on=on or ("place", place["name"]), id="place",
    )  # fmt: skip


def map_of(here: AppContext, height: int, place: State | None = None, *, wide: int = 0, radius: int = 0) -> View:
    """Return the town around a place or the phone, with pins for both and for saved places."""
    at = position(here)
    middle = place or at or {"x": 2400, "y": 2300}
    pins = [_pin(saved_place, _KEPT) for saved_place in _saved_places(here)] if place is None else []
    pins += [_pin(spot, colour) for spot, colour in ((at, _HERE), (place, _THERE)) if spot is not None]
    key = f"{middle['x']},{middle['y']},{wide or 2600}|{';'.join(pins)}|"
    return Art("town", key, height=height, radius=radius, desc="Map", id="map")


def map_of_way(here: AppContext, height: int, way: list[State]) -> View:
    """Return the town with a route along the streets."""
    spots = [
        s for leg in way for s in (_place_or_stop(here, leg["origin"]), _place_or_stop(here, leg["destination"])) if s
    ]
    points = [f"{x},{y}" for x, y in _corners(spots)]
    xs, ys = [float(s["x"]) for s in spots] or [2400.0], [float(s["y"]) for s in spots] or [2300.0]
    wide = max(900, round(1.5 * max(max(xs) - min(xs), (max(ys) - min(ys)) * 1080 / max(1, height) + 300)))
    pins = [_pin(spots[0], _HERE), _pin(spots[-1], _THERE)] if spots else []
    middle = f"{(min(xs) + max(xs)) / 2:.0f},{(min(ys) + max(ys)) / 2:.0f},{wide}"
    return Art("town", f"{middle}|{';'.join(pins)}|{';'.join(points)}", height=height, desc="Map", id="map")


def _corners(spots: list[State]) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = []
    for spot in spots:
        x, y = float(spot["x"]), float(spot["y"])
        if points and points[-1] != (x, y):
            points.append((x, points[-1][1]))
        points.append((x, y))
    return points


def _place_or_stop(here: AppContext, name: str) -> State | None:
    """Return the place or bus stop of that name, or None if there is none."""
    stops = (stop for line in here.own["lines"] for stop in line["stops"] if stop["name"] == name)
    return place_of(here, name) or next(stops, None)


def _saved_places(here: AppContext) -> list[State]:
    places = (place_of(here, str(entry["place"])) for entry in here.own["saved"])
    return [place for place in places if place is not None]


def _pin(spot: State, colour: str) -> str:
    return f"{spot['x']},{spot['y']},{colour}"


def hours_on(place: State, day: int) -> str:
    """Return the hours of a weekday (0 is Monday)."""
    if not place["hours"]:
        return "Open all day"
    return str(place["hours"].get(DAYS[day], "")).replace("-", " to ") or "Closed"


def open_words(place: State, now: datetime) -> str:
    """Return in words until when a place is open, or when it opens next."""
    if not place["hours"]:
        return "always open"
    time = now.strftime("%H:%M")
    for ahead in range(8):
        then = now + timedelta(days=ahead)
        start, _, end = str(place["hours"].get(DAYS[then.weekday()], "")).partition("-")
        if not end or (ahead == 0 and time >= end):
            continue
        if ahead == 0 and time >= start:
            return f"open until {end}"
        day = "" if ahead == 0 else "tomorrow " if ahead == 1 else f"{then.strftime('%A')} "
        return f"closed, opens {day}{start}"
    return "closed"
