"""Business of a shop: prices, the cart, its costs, orders and their end, and the views of products and sums.

State of a shop, `apps.marrowby` and `apps.quillbarn`:
- `products`, each `{name, category, picture, rating, reviews, about, price, stock, days, variants: [{name, choices:
  [{name, surcharge}]}]}`. `days` is the time until dispatch, `stock` the number left. `categories`, each `{name,
  picture}`.
- `query`: the typed search. `filters`: `{low, high, stars, colour, in_stock}`, texts as typed or chosen, "" for any.
  `sort`: one of `SORTS`. `choice`: `{variants: {group: choice}, quantity}` of the open product.
- `cart`: `{items: [{product, quantity, variants: {group: choice}, price}], coupon}`. `price` is that of one,
  surcharges included. `deliveries`, each `{name, fee, days}`. `delivery`: the name of the chosen one. `threshold`:
  the sum of goods from which delivery is free (0: never). `coupons`, each `{code, percent, minimum}`.
- `addresses`, each `{name, line}`. `address`: the chosen one. `payments`: names. `payment`: the chosen one. `draft`:
  `{name, line}` of a new address.
- `orders`, latest last, each `{number, items, address, payment, delivery, fee, coupon, discount, total, placed,
  arrives, status}`. `arrives` is a date. `status` is Placed or Cancelled. A placed order whose date has passed shows
  Delivered.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, ClassVar, NamedTuple

from simulators.phone import nav
from simulators.phone.app import App, AppContext, State
from simulators.phone.kit.views import Act, Art, Column, Row, Text, View
from simulators.phone.kit.widgets import quantity_row


class ShopWords(NamedTuple):
    """Words of one shop, and the prefix of its order numbers."""

    cart: str
    add: str
    order: str
    orders: str
    place: str
    number: str
    first: int


class Trade(App):
    """A shop's goods and money. The screens build on it."""

    words: ClassVar[ShopWords]
    shapes: ClassVar[dict[str, State]] = {
        "products": {"name": "", "category": "", "picture": "box", "rating": 4.5, "reviews": 0, "about": "",
                     "price": 0.0, "stock": 20, "days": 1, "variants": []},
        "products.variants": {"name": "", "choices": []},
        "products.variants.choices": {"name": "", "surcharge": 0.0},
        "categories": {"name": "", "picture": "box"},
        "cart.items": {"product": "", "quantity": 1, "variants": {}, "price": 0.0},
        "deliveries": {"name": "", "fee": 0.0, "days": 2},
        "coupons": {"code": "", "percent": 10, "minimum": 0.0},
        "addresses": {"name": "", "line": ""},
        "orders": {"number": "", "items": [], "address": "", "payment": "", "delivery": "", "fee": 0.0, "coupon": "",
                   "discount": 0.0, "total": 0.0, "placed": "", "arrives": "", "status": "Placed"},
        "orders.items": {"product": "", "quantity": 1, "variants": {}, "price": 0.0},
    }  # fmt: skip

    def do_tab(self, here: AppContext, name: str) -> None:
        """Switch the tab, without stacking one over another."""
        while nav.pop(here.phone, self.id):
            continue
        if name != self.root:
            here.go(name)

    def product(self, here: AppContext, name: str) -> State | None:
        """Return the product of that name, or None if the shop no longer has it."""
        return next((p for p in here.own["products"] if p["name"] == name), None)

    def price(self, product: State, variants: dict[str, str]) -> float:
        """Return the price of one product with its variants."""
        more = [
            float(choice["surcharge"])
            for group in product["variants"]
            for choice in group["choices"]
            if variants.get(group["name"]) == choice["name"]
        ]
        return round(float(product["price"]) + sum(more), 2)

    def delivery(self, here: AppContext) -> State:
        """Return the chosen delivery."""
        option: State = next(
            (d for d in here.own["deliveries"] if d["name"] == here.own["delivery"]), here.own["deliveries"][0]
        )
        return option

    def fee(self, here: AppContext) -> float:
        """Return the delivery fee of the cart."""
        return self.fee_of(here, subtotal(here.own["cart"]["items"]))

    def fee_of(self, here: AppContext, goods: float) -> float:
        """Return the delivery fee for goods of that sum."""
        free = float(here.own["threshold"])
        return 0.0 if free and goods >= free else float(self.delivery(here)["fee"])

    def coupon(self, here: AppContext) -> State | None:
        """Return the typed coupon, or None if it does not exist."""
        code = str(here.own["cart"]["coupon"]).strip().casefold()
        return next((c for c in here.own["coupons"] if code and c["code"].casefold() == code), None)

    def discount(self, here: AppContext) -> float:
        """Return the coupon's discount, 0 below its minimum."""
        coupon, goods = self.coupon(here), subtotal(here.own["cart"]["items"])
        if coupon is None or goods < float(coupon["minimum"]):
            return 0.0
        return round(goods * float(coupon["percent"]) / 100, 2)

    def total(self, here: AppContext) -> float:
        """Return the price of goods and delivery, less the coupon."""
        return round(subtotal(here.own["cart"]["items"]) - self.discount(here) + self.fee(here), 2)

    def arrival(self, here: AppContext, names: list[str], way: State | None = None) -> date:
        """Return the arrival of products ordered now, by the chosen delivery or another. The slowest decides."""
        products = [self.product(here, name) for name in names]
        slowest = max((int(p["days"]) for p in products if p), default=0)
        return here.clock.date() + timedelta(days=slowest + int((way or self.delivery(here))["days"]))

    def status(self, here: AppContext, order: State) -> str:
        """Return an order's status. Placed orders count as delivered after their arrival date."""
        if order["status"] == "Placed" and order["arrives"] and order["arrives"] < here.clock.date().isoformat():
            return "Delivered"
        return str(order["status"])

    def room(self, here: AppContext, name: str) -> int:
        """Return how many more of a product fit into the cart."""
        product = self.product(here, name)
        in_cart = sum(int(e["quantity"]) for e in here.own["cart"]["items"] if e["product"] == name)
        return int(product["stock"]) - in_cart if product else 0

    def add_to_cart(self, here: AppContext, name: str, variants: dict[str, str], quantity: int) -> bool:
        """Add a product to the cart. Return False if the stock is too low."""
        product = self.product(here, name)
        if product is None or self.room(here, name) < quantity:
            return False
        items = here.own["cart"]["items"]
        for entry in items:
            if entry["product"] == name and entry["variants"] == variants:
                entry["quantity"] += quantity
                return True
        items.append(
            {"product": name, "quantity": quantity, "variants": variants, "price": self.price(product, variants)}
        )
        return True

    def do_quantity(self, here: AppContext, index: int, by: int) -> None:
        items = here.own["cart"]["items"]
        entry = items[index]
        if by > 0 and self.room(here, entry["product"]) < by:
            here.toast("No more of this in stock")
            return
        entry["quantity"] += by
        if entry["quantity"] < 1:
            del items[index]
            here.toast(f"Taken out of the {self.words.cart}")

    def short_product(self, here: AppContext) -> str:
        """Return the first product in the cart that exceeds its stock, "" if there is none."""
        names = [str(entry["product"]) for entry in here.own["cart"]["items"]]
        return next((name for name in names if self.room(here, name) < 0), "")

    def do_order(self, here: AppContext) -> None:
        if lacking := self.short_product(here):
            here.toast(f"Not enough {lacking} in stock")
            return
        cart = here.own["cart"]
        coupon = self.coupon(here) if self.discount(here) else None
        order: dict[str, Any] = {
            "number": self._number(here),
            "items": cart["items"],
            "address": here.own["address"],
            "payment": here.own["payment"],
            "delivery": self.delivery(here)["name"],
            "fee": self.fee(here),
            "coupon": coupon["code"] if coupon else "",
            "discount": self.discount(here),
            "total": self.total(here),
            "placed": here.clock.isoformat(),
            "arrives": self.arrival(here, [e["product"] for e in cart["items"]]).isoformat(),
            "status": "Placed",
        }
        self._change_stock(here, order, -1)
        here.own["orders"].append(order)
        here.own["cart"] = {"items": [], "coupon": ""}
        while nav.pop(here.phone, self.id):
            continue
        here.go("order", number=order["number"])
        here.notify(f"{self.words.order.capitalize()} placed", f"{order['number']} arrives on {day(order['arrives'])}",
                    "order", {"number": order["number"]}, heads_up=False)  # fmt: skip

    def _number(self, here: AppContext) -> str:
        numbers = [int("".join(filter(str.isdecimal, str(o["number"]))) or 0) for o in here.own["orders"]]
        return f"{self.words.number}{max([self.words.first, *numbers]) + 1}"

    def _change_stock(self, here: AppContext, order: State, sign: int) -> None:
        """Take an order's goods from the stock (-1), or return them (1)."""
        for entry in order["items"]:
            product = self.product(here, entry["product"])
            if product is not None:
                product["stock"] += sign * int(entry["quantity"])

    def do_cancel(self, here: AppContext, number: str) -> None:
        order = self.order(here, number)
        here.close_screens()
        if order is not None and order["status"] == "Placed":
            order["status"] = "Cancelled"
            self._change_stock(here, order, 1)
            here.toast(f"{self.words.order.capitalize()} cancelled")

    def do_again(self, here: AppContext, number: str) -> None:
        """Add an order's items to the cart again at today's prices, as far as they are in stock."""
        order = self.order(here, number)
        entries = order["items"] if order else []
        unavailable = [
            e["product"]
            for e in entries
            if not self.add_to_cart(here, e["product"], dict(e["variants"]), e["quantity"])
        ]
        here.go("cart")
        if unavailable:
            here.toast(f"Not to be had: {', '.join(unavailable)}")

    def order(self, here: AppContext, number: str) -> State | None:
        """Return the order of that number, or None if there is none."""
        return next((o for o in here.own["orders"] if o["number"] == number), None)


def subtotal(items: list[dict[str, Any]]) -> float:
    """Return the price of all goods."""
    return round(sum(float(entry["price"]) * int(entry["quantity"]) for entry in items), 2)


def day(when: str | date) -> str:
    """Return a date as Thu, 12 Mar."""
    then = datetime.fromisoformat(when) if isinstance(when, str) else when
    return f"{then:%a}, {then.day} {then:%b}"


def money(amount: float) -> str:
    return f"${amount:.2f}"


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
