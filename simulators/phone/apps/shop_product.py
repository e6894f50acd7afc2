"""A shop's product page: picture, price, stars, delivery, variants, quantity, and the button to the cart."""

from __future__ import annotations

from typing import ClassVar

from simulators.phone.app import AppContext, State
from simulators.phone.apps.shop_search import pairs
from simulators.phone.apps.shop_trade import Trade, day, money
from simulators.phone.apps.shop_views import art, stars, stock
from simulators.phone.kit.views import Button, Chip, ListView, Page, Row, Screen, Space, Text, View
from simulators.phone.kit.widgets import app_bar, badge, empty, icon_button, inset, item, marked, section, stepper


class Product(Trade):
    """The choice of a product's variants and quantity."""

    chips: ClassVar[bool] = False
    """True if variants are small buttons, two in a row."""

    def do_product(self, here: AppContext, name: str) -> None:
        """Open a product with the first choice of each variant."""
        product = self.product(here, name)
        groups = product["variants"] if product else []
        here.own["choice"] = {"variants": {g["name"]: g["choices"][0]["name"] for g in groups}, "quantity": 1}
        here.go("product", name=name)

    def screen_product(self, here: AppContext) -> Screen:
        product, choice = self.product(here, here.args["name"]), here.own["choice"]
        if product is None:
            return Page(empty("bag", "No longer sold", "The shop has taken it away."), bar=app_bar(""))
        variants = {g["name"]: choice["variants"].get(g["name"], "") for g in product["variants"]}
        each = self.price(product, variants)
        picture = art(product, height=520, radius=52, colour=variants.get("Colour", ""))
        rows: list[View | None] = [
            inset(picture, 0, 16),
            Text(str(product["name"]), "headline", pad=(48, 0), id="name"),
            Text(money(each), "headline", "primary", pad=(48, 0), id="price"),
            Text(str(product["about"]), "body", "faint", pad=(48, 0), id="about"),
            self._facts(here, product, each),
        ]
        for group in product["variants"]:
            rows.append(section(str(group["name"])))
            rows += self._choices(group, variants[group["name"]])
        return Page(
            ListView([*rows, Space(60)], id="product"), bar=self._bar(here), foot=self._foot(here, product, each)
        )

    def _bar(self, here: AppContext) -> View:
        count = sum(int(e["quantity"]) for e in here.own["cart"]["items"])
        desc = f"{self.words.cart.capitalize()}, {count} item{'s' if count != 1 else ''}"
        return app_bar("", icon_button("bag", desc, ("go", "cart"), id="open_cart"))

    def _facts(self, here: AppContext, product: State, each: float) -> View:
        """Return the stars, and the arrival and fee of the chosen delivery if the product is bought alone."""
        delivery, stock_words = self.delivery(here), stock(product)
        fee = self.fee_of(here, each * int(here.own["choice"]["quantity"]))
        cost = money(fee) if fee else "free"
        arrives = f"Arrives {day(self.arrival(here, [product['name']]))}, {delivery['name'].lower()} {cost}"
        if int(product["stock"]) < 1:
            arrives = "It cannot be ordered now"
        text = stars(product)
        return item(f"{text}, {stock_words.lower()}", arrives, lead=badge("truck"), id="facts")

    def _choices(self, group: State, selected_name: str) -> list[View | None]:
        """Return the choices of one variant, as small buttons or as a list."""
        if not self.chips:
            return [_row(group["name"], choice, choice["name"] == selected_name) for choice in group["choices"]]
        return pairs([_chip(group["name"], choice, choice["name"] == selected_name) for choice in group["choices"]])

    def _foot(self, here: AppContext, product: State, each: float) -> View:
        quantity = int(here.own["choice"]["quantity"])
        count = stepper(str(quantity), ("count", -1), ("count", 1), "of this product", wide=110)
        label = f"{self.words.add}  {money(each * quantity)}"
        there = int(product["stock"]) > 0
        add = Button(label if there else "Out of stock", on=("add", product["name"]), enabled=there, grow=1, id="add")
        add.desc = self.words.add
        return Row([count, add], gap=24, pad=(48, 20, 48, 28))

    def do_pick(self, here: AppContext, group: str, label: str) -> None:
        here.own["choice"]["variants"][group] = label

    def do_count(self, here: AppContext, by: int) -> None:
        choice, product = here.own["choice"], self.product(here, here.args["name"])
        most = max(1, int(product["stock"])) if product else 1
        if int(choice["quantity"]) + by > most:
            here.toast("No more of this in stock")
        choice["quantity"] = min(most, max(1, int(choice["quantity"]) + by))

    def do_add(self, here: AppContext, name: str) -> None:
        choice = here.own["choice"]
        if self.put(here, name, dict(choice["variants"]), int(choice["quantity"])):
            here.back()
            here.toast(f"In your {self.words.cart} now")
        else:
            here.toast("No more of this in stock")


def _choice_words(choice: State) -> str:
    """Return a choice with its surcharge."""
    return f"{choice['name']}  +{money(choice['surcharge'])}" if choice["surcharge"] else str(choice["name"])


def _chip(group: str, choice: State, selected: bool) -> View:
    return Chip(_choice_words(choice), on=("pick", group, choice["name"]), selected=selected, checkable=True,
                checked=selected, cls="RadioButton", desc=str(choice["name"]), id="choice", grow=1)  # fmt: skip


def _row(group: str, choice: State, selected: bool) -> View:
    row = marked("radio", _choice_words(choice), selected, ("pick", group, choice["name"]))
    row.desc, row.pad = str(choice["name"]), (48, 10)
    return row
