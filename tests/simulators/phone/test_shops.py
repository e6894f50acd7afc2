"""The two shops: search, filters, variants, stock, cart, delivery, coupons, addresses, orders and their end."""

from __future__ import annotations

from typing import Any

import pytest

from lab.core.run.step import Action
from simulators.phone.phone import Phone
from tests.simulators.phone.test_touch import app, labels, node, opened, tap, tap_id

BOTH = pytest.mark.parametrize(("shop", "label"), [("marrowby", "Marrowby"), ("quillbarn", "Quillbarn")])
ADD = {"marrowby": "Add to cart", "quillbarn": "Put in bag"}


def searched(label: str, words: str) -> Phone:
    phone = opened(label)
    tap_id(phone, "search")
    phone.perform(Action("input_text", text=words))
    phone.perform(Action("keyboard_enter"))
    return phone


def products(phone: Phone) -> list[str]:
    return [n.text for n in phone.current_screen().tree.find(id="product") if n.text]


def product(phone: Phone, shop: str, name: str) -> Any:
    return next(p for p in app(phone, shop)["products"] if p["name"] == name)


def bought(shop: str, label: str) -> Phone:
    """A phone on which two blue umbrellas were bought."""
    phone = searched(label, "umbrella")
    tap(phone, "Storm umbrella")
    tap(phone, "Blue")
    tap(phone, "More of this product")
    tap(phone, ADD[shop])
    tap(phone, "Cart" if shop == "marrowby" else "Bag")
    for button in ("checkout", "place_order") if shop == "marrowby" else ("continue", "continue", "pay"):
        tap_id(phone, button)
    return phone


@BOTH
def test_a_word_finds_products_at_once(shop: str, label: str) -> None:
    phone = searched(label, "scarf")
    assert set(products(phone)) == {p["name"] for p in app(phone, shop)["products"] if "scarf" in p["name"]}
    phone = searched(label, "乌龙")
    assert products(phone) == ["高山乌龙茶"]
    assert "Nothing found" in labels(searched(label, "zeppelin"))


@BOTH
def test_price_stars_and_colour_narrow_a_list_down_and_come_off_again(shop: str, label: str) -> None:
    phone = searched(label, "scarf")
    all_of_them = len(products(phone))
    tap(phone, "Filter")
    tap_id(phone, "high")
    phone.perform(Action("input_text", text="33"))
    phone.perform(Action("navigate_back"))
    tap(phone, "4 and up")
    tap(phone, "Blue")
    tap_id(phone, "show")
    assert products(phone) == ["Cotton scarf"]
    assert app(phone, shop)["filters"] | {"high": "33", "stars": "4", "colour": "Blue"} == app(phone, shop)["filters"]
    for said in ("Remove filter Up to $33.00", "Remove filter 4 stars and up", "Remove filter Blue"):
        tap(phone, said)
    assert len(products(phone)) == all_of_them
    tap(phone, "Filter")
    tap(phone, "Red")
    tap(phone, "Clear")
    assert not app(phone, shop)["filters"]["colour"]


@BOTH
def test_sorting_by_price_and_by_stars(shop: str, label: str) -> None:
    phone = searched(label, "scarf")
    known = {p["name"]: p for p in app(phone, shop)["products"]}
    tap(phone, "Sort")
    tap(phone, "Price, low to high")
    prices = [known[name]["price"] for name in products(phone)]
    assert prices == sorted(prices)
    tap(phone, "Sort")
    tap(phone, "Best rated")
    ratings = [known[name]["rating"] for name in products(phone)]
    assert ratings == sorted(ratings, reverse=True)


@BOTH
def test_buying_takes_from_the_stock_and_cancelling_gives_back(shop: str, label: str) -> None:
    phone = bought(shop, label)
    state, there = app(phone, shop), product(Phone(), shop, "Storm umbrella")
    order = state["orders"][-1]
    price = there["price"]
    fee = 0.0 if shop == "marrowby" else 6.5
    assert order["items"] == [
        {"product": "Storm umbrella", "quantity": 2, "variants": {"Colour": "Blue"}, "price": price}
    ]
    assert (order["fee"], order["total"]) == (fee, 2 * price + fee)
    assert state["cart"]["items"] == []
    assert product(phone, shop, "Storm umbrella")["stock"] == there["stock"] - 2
    tap_id(phone, "cancel")
    tap_id(phone, "keep")
    assert app(phone, shop)["orders"][-1]["status"] == "Placed"
    tap_id(phone, "cancel")
    tap_id(phone, "confirm_cancel")
    assert app(phone, shop)["orders"][-1]["status"] == "Cancelled"
    assert product(phone, shop, "Storm umbrella")["stock"] == there["stock"]
    assert not phone.current_screen().tree.find(id="cancel")


@BOTH
def test_what_should_have_arrived_is_delivered_and_can_be_bought_again(shop: str, label: str) -> None:
    phone = bought(shop, label)
    arrives = app(phone, shop)["orders"][-1]["arrives"]
    assert arrives == ("2026-03-12" if shop == "marrowby" else "2026-03-15")
    phone.lay({"clock": "2026-03-20T09:00:00+08:00"})
    assert "Delivered" in labels(phone)
    tap(phone, "Buy again")
    assert app(phone, shop)["cart"]["items"] == app(phone, shop)["orders"][-1]["items"]


@BOTH
def test_no_more_than_there_are_can_be_bought(shop: str, label: str) -> None:
    phone = Phone()
    goods = [{"name": "Last lamp", "price": 10.0, "stock": 2}, {"name": "Gone lamp", "price": 5.0, "stock": 0}]
    phone.lay({"apps": {shop: {"products": goods}}})
    phone.perform(Action("open_app", app=label))
    tap(phone, "Last lamp")
    for _ in range(4):
        tap(phone, "More of this product")
    assert app(phone, shop)["choice"]["quantity"] == 2
    tap(phone, ADD[shop])
    tap(phone, "Last lamp")
    tap(phone, ADD[shop])
    assert [e["quantity"] for e in app(phone, shop)["cart"]["items"]] == [2]
    phone.perform(Action("navigate_back"))
    tap(phone, "Gone lamp")
    assert not node(phone, ADD[shop]).enabled


@BOTH
def test_the_cart_counts_up_and_down_and_empties(shop: str, label: str) -> None:
    phone = Phone()
    entry = {"product": "Stoneware mug", "quantity": 1, "variants": {"Colour": "Grey"}, "price": 12.5}
    phone.lay({"apps": {shop: {"cart": {"items": [entry]}}}})
    phone.perform(Action("open_app", app=label))
    tap(phone, "Cart" if shop == "marrowby" else "Bag")
    tap(phone, "More")
    assert app(phone, shop)["cart"]["items"][0]["quantity"] == 2
    tap(phone, "Less")
    tap(phone, "Remove")
    assert app(phone, shop)["cart"]["items"] == []
    assert {"Your cart is empty", "Your bag is empty"} & labels(phone)


def test_delivery_is_free_from_a_sum_on_at_one_of_them() -> None:
    phone = searched("Marrowby", "cotton scarf")
    tap(phone, "Cotton scarf")
    tap(phone, "Add to cart")
    tap(phone, "Cart")
    assert {"$3.90", "$27.00 more for free delivery", "$21.90"} <= labels(phone)
    tap(phone, "More")
    tap(phone, "More")
    assert "Free" in labels(phone)
    assert "$54.00" in labels(phone)


def test_a_coupon_takes_off_its_share_from_a_sum_on_at_the_other() -> None:
    phone = searched("Quillbarn", "radio")
    tap(phone, "Kitchen radio")
    tap(phone, "Put in bag")
    tap(phone, "Bag")
    tap_id(phone, "continue")
    tap(phone, "Express  $10.90")
    tap_id(phone, "continue")
    tap(phone, "Coupon code")
    phone.perform(Action("input_text", text="quill"))
    assert "No such coupon" in labels(phone)
    phone.perform(Action("input_text", text="10"))
    assert "It takes $60.00 or more" in labels(phone)
    for _ in range(3):
        phone.perform(Action("navigate_back"))
    tap(phone, "More")
    tap_id(phone, "continue")
    tap_id(phone, "continue")
    assert {"10% off", "-$9.10"} <= labels(phone)
    tap_id(phone, "pay")
    order = app(phone, "quillbarn")["orders"][-1]
    assert (order["coupon"], order["discount"], order["fee"], order["total"]) == ("QUILL10", 9.1, 10.9, 92.8)
    assert order["arrives"] == "2026-03-12"


def test_a_new_address_is_kept_and_chosen() -> None:
    phone = Phone()
    phone.lay({"nav": {"app": "marrowby", "stacks": {"marrowby": [{"screen": "home", "args": {}}]}}})
    entry = {"product": "Stoneware mug", "quantity": 1, "variants": {"Colour": "Grey"}, "price": 12.5}
    phone.lay({"apps": {"marrowby": {"cart": {"items": [entry]}}}})
    tap(phone, "Cart")
    tap_id(phone, "checkout")
    tap_id(phone, "address")
    tap(phone, "Add an address")
    assert not node(phone, "Save address").enabled
    phone.perform(Action("input_text", text="Clara"))
    phone.perform(Action("keyboard_enter"))
    phone.perform(Action("input_text", text="8 Quay Street"))
    tap(phone, "Save address")
    state = app(phone, "marrowby")
    assert state["address"] == "Clara"
    assert {"name": "Clara", "line": "8 Quay Street"} in state["addresses"]


def test_the_shops_sell_the_same_things_at_other_prices() -> None:
    states = Phone().snapshot()["apps"]
    one, other = ({p["name"]: p["price"] for p in states[shop]["products"]} for shop in ("marrowby", "quillbarn"))
    both = one.keys() & other.keys()
    assert len(both) > 20
    assert both < one.keys()
    assert both < other.keys()
    assert {one[name] < other[name] for name in both} == {True, False}


def test_a_product_says_what_its_delivery_costs_if_it_is_bought_alone() -> None:
    phone = searched("Marrowby", "wool blanket")
    tap(phone, "Wool blanket")
    assert any(text.endswith("courier free") for text in labels(phone))
    phone = searched("Marrowby", "cotton scarf")
    tap(phone, "Cotton scarf")
    assert any(text.endswith("courier $3.90") for text in labels(phone))
