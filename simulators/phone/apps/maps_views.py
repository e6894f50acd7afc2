"""Views that the screens of Maps share: pieces of the map, rows of places, opening hours in words.

The file also holds the invented town: places with their hours, and bus lines. A place is its name, kind, address,
metres east and south, number, stars, hours and a line about it. Hours are spans of days as `Mon-Fri 09:00-18:00`,
separated by `;`. A place without any never closes. A line is its name, minutes between two buses, first and last bus,
and its stops.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from simulators.phone.app import AppContext, State
from simulators.phone.kit.views import Act, Art, View
from simulators.phone.kit.widgets import badge, item

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

PLACES: tuple[tuple[str, str, str, int, int, str, float, str, str], ...] = (
    ("Block 14 Heron Walk", "Home", "14 Heron Walk", 900, 3300, "", 0.0, "", "A tall house with a garden on its roof."),
    ("Institute of Soft Matter", "Research", "3 Lantern Road", 3900, 1250, "+65 5550 4000", 4.6,
     "Mon-Fri 07:00-21:00", "Seminars on Wednesdays. The desk is in the hall."),
    ("Canal Museum", "Museum", "1 Lock Street", 2500, 1950, "+65 5550 7300", 4.7,
     "Tue-Fri 10:00-18:00;Sat-Sun 10:00-17:00", "Boats, locks and lanterns in the old customs warehouse."),
    ("Canal Garden", "Park", "Canal Path, north gate", 1900, 2500, "", 4.8, "Mon-Sun 06:00-22:00",
     "Magnolias, benches, and a path along the water."),
    ("银湖公园", "Park", "银湖路 8 号", 3850, 650, "", 4.7, "Mon-Sun 05:30-22:30", "湖边步道六公里，南门有茶室。"),
    ("Foundry Climbing Hall", "Sport", "22 Old Foundry Lane", 3000, 3400, "+65 5550 2214", 4.5,
     "Mon-Fri 12:00-23:00;Sat-Sun 09:00-21:00", "Ropes, boulders, and good coffee."),
    ("Night Market", "Market", "Old Foundry Lane", 2750, 3700, "", 4.4, "Fri-Sun 18:00-23:30",
     "Sixty stalls under lamps."),
    ("Quayside Station", "Station", "1 Quay Square", 600, 1900, "", 4.1, "", "Trains to Larkmoor, Saltcombe and 银湾."),
    ("Little Crane Coffee", "Cafe", "9 Lantern Road", 3700, 1450, "+65 5550 6120", 4.6,
     "Mon-Fri 07:30-18:30;Sat-Sun 08:30-17:00", "Small room, large cups."),
    ("竹影小馆", "Restaurant", "竹影巷 5 号", 2200, 900, "+65 5550 8118", 4.5, "Mon-Sun 11:00-21:30",
     "川味小馆，点心很好。"),
    ("Copper Ladle", "Restaurant", "40 Mill Street", 1700, 1400, "+65 5550 3303", 4.4, "Tue-Sun 11:30-22:00",
     "Noodles and broths."),
    ("Quayside Dental", "Doctor", "12 Quay Square", 800, 1700, "+65 5550 4410", 4.2, "Mon-Fri 08:30-17:30",
     "Third floor, ring twice."),
    ("Lantern Road Library", "Library", "17 Lantern Road", 4300, 1400, "+65 5550 9001", 4.8,
     "Mon-Fri 09:00-20:00;Sat 10:00-16:00", "Reading rooms, and a quiet garden."),
    ("Heron Pharmacy", "Pharmacy", "2 Heron Walk", 1100, 3100, "+65 5550 1199", 4.3,
     "Mon-Fri 08:00-20:00;Sat 09:00-14:00", "Prescriptions in ten minutes."),
    ("Harbour Pool", "Sport", "5 Pier Road", 300, 1300, "+65 5550 5656", 4.2, "Mon-Sun 06:30-21:00",
     "Two pools, one outside."),
    ("小雨书店", "Bookshop", "银湖路 21 号", 3400, 1050, "+65 5550 7788", 4.9, "Tue-Sun 10:30-20:00",
     "旧书、茶和一只猫。"),
    ("Airport Terminal 2", "Airport", "Airport Road", 5600, 4200, "+65 5550 0500", 4.0, "", "Departures on level 3."),
)  # fmt: skip

LINES: tuple[tuple[str, int, str, str, tuple[tuple[str, int, int], ...]], ...] = (
    ("14", 10, "05:40", "23:50", (("Heron Walk", 980, 3250), ("Canal Garden", 1850, 2600), ("Lock Street", 2480, 2080),
                                  ("Bookshop Corner", 3400, 1200), ("Lantern Road", 3880, 1300))),
    ("7", 12, "06:00", "23:30", (("Quay Square", 680, 1850), ("Mill Street", 1650, 1500), ("Lock Street", 2480, 2080),
                                 ("Old Foundry Lane", 2900, 3450))),
    ("22", 20, "05:30", "00:10", (("Quay Square", 680, 1850), ("Lock Street", 2480, 2080),
                                  ("Old Foundry Lane", 2900, 3450), ("Airport", 5550, 4150))),
    ("5", 15, "06:30", "22:45", (("Heron Walk", 980, 3250), ("Old Foundry Lane", 2900, 3450), ("Library", 4250, 1480),
                                 ("Silver Lake", 3850, 760))),
)  # fmt: skip


def hours(text: str) -> dict[str, str]:
    """Return opening hours by day, parsed from spans of days."""
    opening_hours: dict[str, str] = {}
    for span in filter(None, text.split(";")):
        days, _, times = span.partition(" ")
        first, _, last = days.partition("-")
        for day in DAYS[DAYS.index(first) : DAYS.index(last or first) + 1]:
            opening_hours[day] = times
    return opening_hours


def first_places() -> list[dict[str, Any]]:
    names = ("name", "kind", "address", "x", "y", "phone", "rating", "hours", "about")
    return [dict(zip(names, place, strict=True)) | {"hours": hours(place[7])} for place in PLACES]


def first_lines() -> list[dict[str, Any]]:
    return [
        {"name": name, "every": every, "first": first, "last": last,
         "stops": [{"name": stop, "x": x, "y": y} for stop, x, y in stops]}
        for name, every, first, last, stops in LINES
    ]  # fmt: skip


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
