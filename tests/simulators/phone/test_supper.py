"""Suppertide: looking by kitchen and by word, choosing, the basket, checkout with a time, and the orders."""

from __future__ import annotations

from lab.core.run.step import Action
from simulators.phone.phone import Phone
from tests.simulators.phone.test_touch import app, labels, opened, tap, tap_id

PETRA = "Nonna Petra's Table"


def basket() -> Phone:
    """A phone with a dish in the basket of Suppertide."""
    phone = opened("Suppertide")
    tap(phone, PETRA)
    tap(phone, "Slow tomato beans")
    tap(phone, "Family")
    tap(phone, "More of this dish")
    tap(phone, "Add to basket")
    return phone


def test_a_kind_of_kitchen_leaves_only_its_kitchens() -> None:
    phone = opened("Suppertide")
    tap(phone, "Home cooking", id="kitchen")
    names = {n.text for n in phone.current_screen().tree.find(id="name")}
    assert names == {p["name"] for p in app(phone, "supper")["restaurants"] if p["category"] == "Home cooking"}
    tap(phone, "All", id="kitchen")
    assert len(phone.current_screen().tree.find(id="name")) > len(names)


def test_searching_finds_dishes_and_kitchens_at_once_and_says_so_where_there_is_none() -> None:
    phone = opened("Suppertide")
    tap(phone, "Search")
    tap_id(phone, "search")
    phone.perform(Action("input_text", text="coconut"))
    assert {n.text for n in phone.current_screen().tree.find(id="about")} == {"Saffron Attic", "Rice Almanac"}
    phone.perform(Action("input_text", text="zzz"))
    assert "Nothing found" in labels(phone)


def test_the_same_dish_costs_otherwise_than_at_noshwell() -> None:
    states = Phone().snapshot()["apps"]
    prices = [
        {
            (p["name"], d["name"]): d["price"]
            for p in states[id]["restaurants"]
            for s in p["sections"]
            for d in s["dishes"]
        }
        for id in ("food", "supper")
    ]
    both = prices[0].keys() & prices[1].keys()
    assert len(both) > 4
    assert {prices[0][key] < prices[1][key] for key in both} == {True, False}


def test_an_order_goes_through_basket_and_checkout_and_comes_when_it_shall() -> None:
    phone = basket()
    assert app(phone, "supper")["cart"]["items"][0] == {
        "dish": "Slow tomato beans", "quantity": 2, "options": {"Size": "Family"}, "extras": [], "price": 18.5,
    }  # fmt: skip
    tap_id(phone, "view_basket")
    tap_id(phone, "checkout")
    tap(phone, "When")
    tap(phone, "10:30")
    tap(phone, "Cutlery")
    tap(phone, "Payment")
    tap(phone, "Cash at the door")
    tap(phone, "Bring to Home")
    tap(phone, "Jonas")
    tap(phone, "Note for the kitchen")
    phone.perform(Action("input_text", text="Ring twice"))
    phone.perform(Action("navigate_back"))
    tap_id(phone, "place_order")
    state = app(phone, "supper")
    order = state["orders"][-1]
    assert order["total"] == 2 * 18.5 + 3.5
    told = {"when": "10:30", "eta": "10:30", "cutlery": True, "payment": "Cash at the door", "address": "Jonas"}
    assert order | told | {"remark": "Ring twice", "number": "ST-2207"} == order
    assert state["cart"]["items"] == []
    assert state["when"] == "As soon as possible"
    assert "Arrives at about 10:30" in labels(phone)


def test_a_time_that_has_passed_is_not_ordered_for() -> None:
    phone = basket()
    tap_id(phone, "view_basket")
    tap_id(phone, "checkout")
    tap(phone, "When")
    tap(phone, "09:30")
    phone.lay({"clock": "2026-03-10T12:00:00+08:00"})
    tap_id(phone, "place_order")
    assert app(phone, "supper")["orders"] == []
    assert phone.snapshot()["toast"] == "That time has passed: choose another"


def test_emptying_the_basket_is_asked_first() -> None:
    phone = basket()
    tap_id(phone, "view_basket")
    tap(phone, "Empty the basket")
    tap(phone, "Cancel")
    assert app(phone, "supper")["cart"]["items"]
    tap(phone, "Empty the basket")
    tap(phone, "Empty")
    assert not app(phone, "supper")["cart"]["items"]
    assert "Your basket is empty" in labels(phone)


def test_a_dish_of_another_kitchen_begins_another_basket() -> None:
    phone = basket()
    phone.perform(Action("navigate_back"))
    tap(phone, "Saffron Attic")
    tap(phone, "Warm flatbreads")
    tap(phone, "Add to basket")
    assert "Start a new basket?" in labels(phone)
    tap(phone, "Start new")
    assert [e["dish"] for e in app(phone, "supper")["cart"]["items"]] == ["Warm flatbreads"]


def test_a_laid_order_is_shown() -> None:
    phone = Phone()
    item = {"dish": "Apple slice", "quantity": 3, "price": 4.5}
    order = {"number": "ST-1", "restaurant": PETRA, "items": [item], "total": 17.0, "eta": "18:30"}
    phone.lay({"apps": {"supper": {"orders": [order]}}})
    phone.perform(Action("open_app", app="Suppertide"))
    tap(phone, "Orders")
    tap(phone, "3 x Apple slice")
    assert {"Delivered", "Arrived at 18:30", "$13.50"} <= labels(phone)
