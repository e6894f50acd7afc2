"""The Browser through taps and typing: searching, links, history, bookmarks, the weather, and train tickets."""

from __future__ import annotations

from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action
from simulators.phone.phone import Phone
from tests.simulators.phone.test_touch import app, front, labels, node, opened, tap, tap_id


def type_in(phone: Phone, field: str, text: str) -> None:
    phone.perform(Action("input_text", at=node(phone, field).bounds.center, text=text))


def browser(phone: Phone) -> Any:
    return app(phone, "browser")


def see(phone: Phone, label: str) -> None:
    """Scrolls down until a label is there."""
    for _ in range(8):
        if label in labels(phone):
            return
        phone.perform(Action("scroll", direction="down"))
    raise AssertionError((label, labels(phone)))


def test_a_search_finds_pages_whose_links_lead_on_and_back_goes_page_by_page() -> None:
    phone = opened("Browser")
    type_in(phone, "Search or type web address", "lemon rice")
    phone.perform(Action("keyboard_enter"))
    tap(phone, "Lemon rice in twenty minutes")
    tap(phone, "More recipes")
    tap(phone, "家常番茄面")
    assert "材料" in labels(phone)
    urls = [visit["url"] for visit in browser(phone)["history"]][:4]
    assert urls == [
        "slowkitchen.example/fanqie",
        "slowkitchen.example",
        "slowkitchen.example/lemon-rice",
        "search?q=lemon rice",
    ]
    phone.perform(Action("navigate_back"))
    assert "Food that waits for you." in labels(phone)
    tap(phone, "Home page")
    assert {"Browser", "Bookmarks"} <= labels(phone)


def test_an_address_is_opened_and_one_that_nobody_answers_says_so() -> None:
    phone = opened("Browser")
    type_in(phone, "Search or type web address", "https://www.CanalMuseum.example/")
    phone.perform(Action("keyboard_enter"))
    assert "Night on the water: paintings by lamplight, until the end of the season." in labels(phone)
    tap(phone, "Address bar")
    phone.perform(Action("input_text", text="parcel-fee.example/pay"))
    phone.perform(Action("keyboard_enter"))
    assert {"This site cannot be reached", "parcel-fee.example/pay"} <= labels(phone)
    assert browser(phone)["history"][0]["url"] == "parcel-fee.example/pay"


def test_bookmarks_and_history_are_kept_and_removed() -> None:
    phone = opened("Browser")
    tap(phone, "Harbour Post")
    tap(phone, "Add bookmark")
    assert {"title": "Harbour Post", "url": "harbourpost.example"} in browser(phone)["bookmarks"]
    tap(phone, "More options")
    tap(phone, "Bookmarks")
    tap(phone, "Remove Canal Museum")
    assert "canalmuseum.example" not in {mark["url"] for mark in browser(phone)["bookmarks"]}
    phone.perform(Action("navigate_back"))
    tap(phone, "More options")
    tap(phone, "History")
    tap(phone, "Remove Lemon rice in twenty minutes")
    assert [visit["title"] for visit in browser(phone)["history"]] == ["Harbour Post", "Harbour Post"]
    tap(phone, "Clear history")
    tap(phone, "Clear")
    assert browser(phone)["history"] == []
    assert "No history" in labels(phone)


def test_the_weather_follows_from_the_state_and_the_phone_clock() -> None:
    phone = Phone(clock="2026-03-10T14:05:00+08:00")
    phone.lay({"apps": {"browser": {"weather": [
        {"city": "Larkmoor", "date": "2026-03-10", "sky": "Rain", "low": 4, "high": 9, "rain": 90, "wet": [16, 17]},
        {"city": "Larkmoor", "date": "2026-03-14", "sky": "Snow", "low": -6, "high": -1, "rain": 55, "wind": 30},
        {"city": "Larkmoor", "date": "2026-03-09", "sky": "Sunny"},
    ]}}})  # fmt: skip
    phone.perform(Action("open_app", app="Browser"))
    type_in(phone, "Search or type web address", "weather in larkmoor")
    phone.perform(Action("keyboard_enter"))
    tap(phone, "Rain, 4 to 9 °C, rain 90%")
    assert {"Falls between 16:00 and 18:00", "Cloudy now", "14:00 Cloudy", "16:00 Rain"} <= labels(phone)
    tap(phone, "Saturday, 14 March")
    assert {"Larkmoor, Saturday, 14 March", "Low -6 °C, high -1 °C", "Wind 30 km/h"} <= labels(phone)
    assert browser(phone)["history"][0] == browser(phone)["history"][0] | {"title": "Weather in Larkmoor"}


def test_the_city_search_filters_at_once() -> None:
    phone = opened("Browser")
    tap(phone, "Lark Weather", id="title")
    type_in(phone, "Search cities", "银")
    assert "银湾" in labels(phone)
    assert "Singapore" not in labels(phone)
    type_in(phone, "Search cities", "xyz")
    assert "No such city" in labels(phone)


def test_a_train_is_looked_for_chosen_booked_and_cancelled() -> None:
    phone = opened("Browser")
    tap(phone, "Wagtail Trains", id="title")
    tap(phone, "Find trains")
    assert "Choose both stations first" in labels(phone)
    tap(phone, "To")
    tap(phone, "Larkmoor")
    tap(phone, "Date")
    tap(phone, "Friday, 13 March")
    tap(phone, "Find trains")
    assert {"Quayside to Larkmoor", "07:12 to 08:54"} <= labels(phone)
    tap(phone, "17:42 to 19:24")
    tap(phone, "Book")
    assert browser(phone)["bookings"] == []
    tap(phone, "First class, $27.50")
    tap(phone, "Aisle")
    tap(phone, "Quiet")
    tap(phone, "Book, $27.50")
    [booked] = browser(phone)["bookings"]
    wanted = {
        "train": "W134",
        "date": "2026-03-13",
        "depart": "17:42",
        "class": "First",
        "seat": "Aisle",
        "coach": "Quiet",
    }
    assert booked == booked | wanted | {"passenger": "Ines Varga", "total": 27.5, "status": "Booked"}
    assert {"Train W134, First class", booked["place"]} <= labels(phone)
    tap(phone, "Cancel ticket")
    tap(phone, "Cancel ticket")
    assert browser(phone)["bookings"][0]["status"] == "Cancelled"
    phone.perform(Action("navigate_back"))
    assert "Friday, 13 March, 17:42, cancelled" in labels(phone)


def test_the_timetable_is_the_states_and_trains_that_left_are_gone() -> None:
    phone = Phone(clock="2026-03-10T12:00:00+08:00")
    classes = [{"name": "Second", "price": 7}]
    train = {"origin": "Quayside", "destination": "Larkmoor", "classes": classes, "arrive": "18:00"}
    phone.lay({"apps": {"browser": {
        "trains": [
            train | {"number": "A1", "depart": "11:50"}, train | {"number": "A2", "depart": "12:10"},
            train | {"number": "A3", "depart": "13:00", "days": ["Sat"]},
        ],
        "journey": {"destination": "Larkmoor"},
    }}})  # fmt: skip
    phone.perform(Action("open_app", app="Browser"))
    tap(phone, "Wagtail Trains", id="title")
    tap(phone, "Find trains")
    assert "5 h 50 min, train A2, from $7.00" in labels(phone)
    assert not {"5 h 00 min, train A3, from $7.00", "6 h 10 min, train A1, from $7.00"} & labels(phone)


def test_an_overlay_with_what_a_train_has_not_is_refused() -> None:
    with pytest.raises(LabError, match="wheels"):
        Phone().lay({"apps": {"browser": {"trains": [{"number": "A1", "wheels": 8}]}}})


def test_a_link_to_a_place_opens_maps() -> None:
    phone = opened("Browser")
    tap(phone, "Canal Museum", id="title")
    tap(phone, "Opening hours and the way there")
    assert front(phone) == "com.hitlab.maps/.Place"
    assert "Today: 10:00 to 18:00" in labels(phone)
    tap_id(phone, "hours")
    assert "Monday Closed" in labels(phone)
