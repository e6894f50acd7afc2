"""Maps through taps and typing: places, hours, saved places, ways by each mode, departures, being led."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from lab.core.run.step import Action
from simulators.phone.apps.maps_routes import MODES, changes, departures, legs, total
from simulators.phone.apps.maps_views import first_lines, first_places
from simulators.phone.phone import Phone
from tests.simulators.phone.test_touch import app, labels, node, opened, tap, tap_id

TOWN: dict[str, Any] = {
    "places": first_places(),
    "lines": first_lines(),
    "routes": [],
    "speeds": {"Walk": 80, "Bike": 230, "Car": 420},
}


def type_in(phone: Phone, field: str, text: str) -> None:
    phone.perform(Action("input_text", at=node(phone, field).bounds.center, text=text))


def test_a_search_finds_places_by_name_kind_and_label() -> None:
    phone = opened("Maps")
    type_in(phone, "Search places", "museum")
    assert "Canal Museum" in labels(phone)
    assert "Copper Ladle" not in labels(phone)
    tap(phone, "Canal Museum")
    assert {"Now closed, opens 10:00", "Today: 10:00 to 18:00", "Museum, 4.7 stars"} <= labels(phone)
    phone.perform(Action("navigate_back"))
    type_in(phone, "Search places", "work")
    assert "Institute of Soft Matter" in labels(phone)
    type_in(phone, "Search places", "xyz")
    assert "Nothing found" in labels(phone)


def test_hours_say_whether_a_place_is_open_and_when_it_opens_next() -> None:
    place = {"name": "Kite Shop", "hours": {"Tue": "10:00-15:30", "Thu": "11:00-16:00"}}
    for clock, words in (
        ("2026-03-10T09:00:00+08:00", "Now closed, opens 10:00"),
        ("2026-03-10T12:00:00+08:00", "Now open until 15:30"),
        ("2026-03-10T15:30:00+08:00", "Now closed, opens Thursday 11:00"),
        ("2026-03-11T08:00:00+08:00", "Now closed, opens tomorrow 11:00"),
    ):
        phone = Phone(clock=clock)
        phone.lay({"apps": {"maps": {"places": [place]}}})
        phone.perform(Action("open_app", app="Maps"))
        type_in(phone, "Search places", "kite")
        tap(phone, "Kite Shop")
        assert words in labels(phone)


def test_a_place_is_saved_under_a_label_and_removed() -> None:
    phone = opened("Maps")
    type_in(phone, "Search places", "library")
    tap(phone, "Lantern Road Library")
    tap(phone, "Save")
    tap(phone, "Work")
    saved = {entry["label"]: entry["place"] for entry in app(phone, "maps")["saved"]}
    assert saved == {"Home": "Block 14 Heron Walk", "Work": "Lantern Road Library"}
    tap(phone, "Saved", id="save")
    type_in(phone, "Another name", "Reading")
    tap(phone, "Save")
    assert app(phone, "maps")["saved"][-1] == {"label": "Reading", "place": "Lantern Road Library"}
    phone.perform(Action("navigate_back"))
    tap(phone, "Edit")
    tap(phone, "Remove Reading")
    assert [entry["label"] for entry in app(phone, "maps")["saved"]] == ["Home"]


def test_a_way_is_chosen_by_mode_and_departure_and_started() -> None:
    phone = opened("Maps")
    tap(phone, "Directions to Work")
    found = {mode: total(legs(TOWN, "Block 14 Heron Walk", "Institute of Soft Matter", mode)) for mode in MODES}
    assert {f"{mode}, {minutes} min" for mode, minutes in found.items()} <= labels(phone)
    tap(phone, f"Bike, {found['Bike']} min")
    tap_id(phone, "depart")
    tap(phone, "09:05 to 09:25")
    tap(phone, "Start")
    [trip] = app(phone, "maps")["trips"]
    wanted = {"origin": "Block 14 Heron Walk", "destination": "Institute of Soft Matter", "mode": "Bike", "minutes": 20}
    assert trip == trip | wanted | {"status": "Under way", "lines": []}
    assert datetime.fromisoformat(trip["depart"]).strftime("%H:%M") == "09:05"
    assert {"Ride to Institute of Soft Matter", "Leave at 09:05", "Arrive at 09:25"} <= labels(phone)
    tap(phone, "End navigation")
    assert app(phone, "maps")["trips"][0]["status"] == "Ended"


def test_a_bus_way_has_legs_changes_and_real_departures() -> None:
    way = legs(TOWN, "Harbour Pool", "Airport Terminal 2", "Bus")
    assert [leg["how"] for leg in way] == ["Walk", "Bus", "Walk"]
    assert way[1]["line"] == "22"
    now = datetime.fromisoformat("2026-03-10T08:50:00+08:00")
    leaves = departures(TOWN, way, now)
    at_stop = [(then.hour * 60 + then.minute + way[0]["minutes"] - 330) % 20 for then in leaves]
    assert at_stop == [0] * 5
    assert all(then >= now for then in leaves)
    with_change = legs(TOWN, "银湖公园", "Harbour Pool", "Bus")
    assert changes(with_change) == 1
    assert total(with_change) == sum(leg["minutes"] for leg in with_change) + 3


def test_what_the_state_says_of_a_way_goes_before_what_is_worked_out() -> None:
    phone = Phone()
    phone.lay({"apps": {"maps": {"routes": [{
        "origin": "Block 14 Heron Walk", "destination": "Canal Museum", "mode": "Walk",
        "legs": [{"minutes": 41}],
    }]}}})  # fmt: skip
    phone.perform(Action("open_app", app="Maps"))
    type_in(phone, "Search places", "museum")
    tap(phone, "Canal Museum")
    tap(phone, "Directions")
    tap(phone, "Walk, 41 min")
    assert "41 min from Block 14 Heron Walk" in labels(phone)


def test_without_location_the_start_must_be_chosen() -> None:
    phone = Phone()
    phone.lay({"apps": {"settings": {"location": False}}})
    phone.perform(Action("open_app", app="Maps"))
    tap(phone, "Directions to Work")
    assert "Choose a start and a place." in labels(phone)
    tap(phone, "Choose a start")
    tap(phone, "Canal Garden")
    assert app(phone, "maps")["way"]["origin"] == "Canal Garden"
    tap(phone, "Swap start and destination")
    assert app(phone, "maps")["way"]["destination"] == "Canal Garden"
