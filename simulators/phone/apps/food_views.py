"""Views that the food apps' screens share, and the words in which the apps differ."""

from __future__ import annotations

from typing import Any, NamedTuple

from simulators.phone.app import AppContext, State
from simulators.phone.kit.views import Art, Column, Icon, Row, Text, View
from simulators.phone.kit.widgets import card, tabs


class FoodWords(NamedTuple):
    """Words of one food app, and the prefix of its order numbers."""

    cart: str = "cart"
    deliver: str = "Deliver to"
    pay: str = "Pay with"
    note: str = "Note to the restaurant"
    place: str = "Place order"
    number: str = "N-"
    first: int = 1041


def money(amount: float) -> str:
    return f"${amount:.2f}"


def address_bar(here: AppContext, deliver: str = FoodWords().deliver) -> View:
    """Return the delivery address. A tap chooses another."""
    name = str(here.own["address"])
    line = next((str(a["line"]) for a in here.own["addresses"] if a["name"] == name), "")
    words = Column([Text(f"{deliver} {name}", "strong", lines=1), Text(line, "sub", "faint", lines=1)], grow=1)
    return Row(
        [Icon("place", 64, "primary"), words, Icon("down", 56)], gap=28, pad=(48, 20), on=("go", "addresses"),
        id="address", desc="Choose address",
    )  # fmt: skip


def tab_bar(current: str) -> View:
    entries = [("Home", "home", ("tab", "home")), ("Orders", "receipt", ("tab", "orders"))]
    return tabs([(label, icon, act) for label, icon, act in entries], current)


def place_card(place: dict[str, Any]) -> View:
    """Return a restaurant in a list."""
    name = str(place["name"])
    about = f"{place['category']}   {place['minutes']} min   Delivery {money(place['fee'])}"
    stars = Row([Icon("star", 44, "primary"), Text(str(place["rating"]), "strong", width=90)], gap=10)
    words = Column(
        [Row([Text(name, "strong", lines=1, grow=1, id="name"), stars], gap=12), Text(about, "sub", "faint", lines=1)],
        pad=(36, 12, 36, 20),
    )
    picture = Art("dish", f"{place['picture']}/{name}", height=264, radius=52)
    return card([picture, words], on=("go", "menu", {"restaurant": name}), id="restaurant", pad=0)


def dish_row(place: dict[str, Any], dish: dict[str, Any], *, named: bool = False) -> View:
    """Return a dish in a menu, or (`named`) with its restaurant in search results."""
    words = Column(
        [
            Text(str(dish["name"]), "strong", lines=1, id="dish"),
            Text(str(place["name"]) if named else str(dish["about"]), "sub", "faint", lines=1, id="about"),
            Text(money(dish["price"]), "item", "primary", lines=1, bold=True, id="price"),
        ],
        gap=8,
        grow=1,
    )
    picture = Art("dish", f"{dish['picture']}/{dish['name']}", height=220, width=220, radius=44)
    return Row([words, picture], gap=32, pad=(48, 16), on=("dish", place["name"], dish["name"]), id="menu_item")


def matches(here: AppContext, query: str) -> tuple[list[State], list[View]]:
    """Return the restaurants, and the rows of the dishes, that match a query."""
    places = [place for place in here.own["restaurants"] if query in f"{place['name']} {place['category']}".casefold()]
    dishes = [
        dish_row(place, dish, named=True)
        for place in here.own["restaurants"]
        for part in place["sections"]
        for dish in part["dishes"]
        if query in f"{dish['name']} {dish['about']}".casefold()
    ]
    return places, dishes


def item_words(entry: dict[str, Any]) -> str:
    """Return the options and extras of an item in words."""
    return ", ".join([*map(str, entry.get("options", {}).values()), *map(str, entry.get("extras", []))])
