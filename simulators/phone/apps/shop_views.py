"""Views that the shops' screens share."""

from __future__ import annotations

from simulators.phone.app import State
from simulators.phone.apps.shop_trade import money
from simulators.phone.kit.views import Act, Art, Column, Row, Text, View
from simulators.phone.kit.widgets import quantity_row

LOW = 5
"""Stock at and below which the shop shows the number left."""


def art(product: State, *, height: int, width: int | None = None, radius: int = 44, colour: str = "") -> Art:
    """Return a product's picture, in the given colour or its first."""
    first = next((g["choices"][0]["name"] for g in product["variants"] if g["name"] == "Colour" and g["choices"]), "")
    key = f"{product['picture']}/{product['name']}@{colour or first}"
    return Art("dish", key, height=height, width=width, radius=radius)


def stars(product: State) -> str:
    return f"{product['rating']} stars ({product['reviews']})"


def stock(product: State) -> str:
    """Return the availability of a product in words."""
    count = int(product["stock"])
    return "Out of stock" if count < 1 else f"Only {count} left" if count <= LOW else "In stock"


def words_of(entry: State) -> str:
    """Return the variants of a cart's item in words."""
    return ", ".join(str(choice) for choice in entry["variants"].values())


def goods_row(product: State, open_it: Act, colour: str = "") -> View:
    """Return a product in a list."""
    lacks = int(product["stock"]) < 1
    words = Column(
        [
            Text(str(product["name"]), "strong", lines=1, id="product"),
            Text(
                "Out of stock" if lacks else stars(product), "sub", "error" if lacks else "faint", lines=1, id="rating"
            ),
            Text(money(product["price"]), "item", "primary", lines=1, bold=True, id="price"),
        ],
        gap=8,
        grow=1,
    )
    picture = art(product, height=220, width=220, colour=colour)
    return Row([picture, words], gap=36, pad=(48, 16), on=open_it, id="product_item")


def cart_row(entry: State, index: int) -> View:
    """Return an item in the cart, with its quantity."""
    variants = words_of(entry)
    words = Column(
        [
            Text(str(entry["product"]), "strong", lines=1, id="product"),
            Text(variants, "sub", "faint", lines=1, id="variants") if variants else None,
            Text(money(entry["price"] * entry["quantity"]), "item", "primary", lines=1, id="price"),
        ],
        grow=1,
    )
    return quantity_row(words, int(entry["quantity"]), index)


def sum_row(label: str, amount: str, *, bold: bool = False) -> View:
    return Row([Text(label, "body", bold=bold, grow=1), Text(amount, "body", align="right", width=280, bold=bold)])
