"""Routes through the town: their legs, their duration, and their departures.

An entry of `routes` takes precedence over a route computed from metres, speeds and bus lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from math import ceil, hypot
from typing import Any

State = dict[str, Any]
MODES = ("Walk", "Bus", "Bike", "Car")
_DETOUR = 1.25
"""Ratio of the distance along streets to the straight line."""
_RIDE, _STOP, _CHANGE = 330, 1, 3
"""Bus: metres a minute, minutes at a stop, minutes for a change."""
_DAY = 24 * 60


def legs(own: State, origin: str, destination: str, mode: str) -> list[State]:
    """Return the legs of a route, each `{how, line, origin, destination, minutes, stops}`. Empty if there is none."""
    phrase = next(
        (
            r
            for r in own["routes"]
            if (r["origin"], r["destination"], r["mode"]) == (origin, destination, mode) and r["legs"]
        ),
        None,
    )
    if phrase is not None:
        return _legs(phrase)
    start, end = _spot(own, origin), _spot(own, destination)
    if start is None or end is None or origin == destination:
        return []
    if mode == "Bus":
        return min(_rides(own, start, end), key=lambda way: total(way), default=[])
    return [_leg(mode, start, end, _minutes(own, start, end, mode))]


def total(way: list[State]) -> int:
    """Return the minutes of a route, changes between buses included."""
    rides = _count_rides(way)
    return sum(int(leg["minutes"]) for leg in way) + _CHANGE * max(0, rides - 1)


def _legs(route: State) -> list[State]:
    """Return the legs from the state, with missing values filled in: a leg starts at the end of the last."""
    way: list[State] = []
    for number, leg in enumerate(route["legs"], 1):
        last = number == len(route["legs"])
        way.append({
            "how": leg.get("how") or route["mode"], "line": leg.get("line", ""), "stops": leg.get("stops", 0),
            "minutes": leg["minutes"],
            "origin": leg.get("origin") or (way[-1]["destination"] if way else route["origin"]),
            "destination": leg.get("destination") or (route["destination"] if last else "the next stop"),
        })  # fmt: skip
    return way


def _count_rides(way: list[State]) -> int:
    return len([leg for leg in way if leg["how"] == "Bus"])


def changes(way: list[State]) -> int:
    return max(0, _count_rides(way) - 1)


def departures(own: State, way: list[State], after: datetime, count: int = 5) -> list[datetime]:
    """Return departure times, earliest first: at once, or in time for the bus."""
    walk = 0
    for leg in way:
        if leg["how"] == "Bus":
            line = next((line for line in own["lines"] if line["name"] == leg["line"]), None)
            return list(_buses(line, after, walk, count)) if line else [after]
        walk += int(leg["minutes"])
    return [after + timedelta(minutes=15 * n) for n in range(count)]


def _buses(line: State, after: datetime, walk: int, count: int) -> Iterator[datetime]:
    """Yield the times to leave for the next buses of a line that is `walk` minutes away."""
    first, last = (int(t[:2]) * 60 + int(t[3:]) for t in (line["first"], line["last"]))
    span, every = (last - first) % _DAY, max(1, int(line["every"]))
    # Buses of yesterday may run past midnight.
    day = after.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
    bus_count = 0
    for ahead in range(3):
        for since in range(0, span + 1, every):
            leave = day + timedelta(days=ahead, minutes=first + since - walk)
            if leave >= after and bus_count < count:
                bus_count += 1
                yield leave


def _rides(own: State, start: State, end: State) -> Iterator[list[State]]:
    """Yield each route with one bus, or with two that share a stop."""
    for line in own["lines"]:
        on, off = _nearest(line, start), _nearest(line, end)
        if on["name"] != off["name"]:
            yield [*_walk_legs(own, start, on), _ride(line, on, off), *_walk_legs(own, off, end)]
        for other in own["lines"]:
            out = _nearest(other, end)
            for stop in line["stops"]:
                shared = next((s for s in other["stops"] if s["name"] == stop["name"]), None)
                if other is not line and shared and stop["name"] not in (on["name"], out["name"]):
                    yield [
                        *_walk_legs(own, start, on), _ride(line, on, stop), _ride(other, shared, out),
                        *_walk_legs(own, out, end),
                    ]  # fmt: skip


def _ride(line: State, on: State, off: State) -> State:
    names = [stop["name"] for stop in line["stops"]]
    first, last = sorted((names.index(on["name"]), names.index(off["name"])))
    way = line["stops"][first : last + 1]
    metres = sum(_metres(a, b) for a, b in pairwise(way))
    leg = _leg("Bus", on, off, ceil(metres / _RIDE) + _STOP * (last - first))
    return leg | {"line": str(line["name"]), "stops": last - first}


def _walk_legs(own: State, start: State, end: State) -> list[State]:
    minutes = _minutes(own, start, end, "Walk")
    return [_leg("Walk", start, end, minutes)] if minutes else []


def _leg(how: str, start: State, end: State, minutes: int) -> State:
    return {"how": how, "line": "", "origin": start["name"], "destination": end["name"], "minutes": minutes, "stops": 0}


def _spot(own: State, name: str) -> State | None:
    return next((place for place in own["places"] if place["name"] == name), None)


def _nearest(line: State, spot: State) -> State:
    nearest: State = min(line["stops"], key=lambda stop: _metres(stop, spot))
    return nearest


def _metres(a: State, b: State) -> float:
    return _DETOUR * hypot(float(a["x"]) - float(b["x"]), float(a["y"]) - float(b["y"]))


def _minutes(own: State, start: State, end: State, mode: str) -> int:
    return ceil(_metres(start, end) / float(own["speeds"][mode]))


def metres(own: State, origin: str, destination: str) -> int:
    """Return the distance along the streets."""
    start, end = _spot(own, origin), _spot(own, destination)
    return round(_metres(start, end)) if start and end else 0
