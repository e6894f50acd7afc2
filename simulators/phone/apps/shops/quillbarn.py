"""Quillbarn, a discount shop: delivery by speed, coupons, and a checkout in steps. State: as in shop_trade.py."""

from __future__ import annotations

from datetime import datetime
from random import Random

from simulators.phone.app import AppContext, State
from simulators.phone.apps.shops.shop import NO_FILTERS, SORTS, Shop
from simulators.phone.apps.shops.shop_goods import CATEGORIES, goods
from simulators.phone.apps.shops.shop_trade import ShopWords, art, cart_row, day, money, stars, stock, subtotal, sum_row
from simulators.phone.kit.views import (
    Art,
    Button,
    Column,
    Field,
    Icon,
    Line,
    ListView,
    Page,
    Row,
    Screen,
    Space,
    Text,
    View,
)
from simulators.phone.kit.widgets import app_bar, badge, card, checkable, empty, inset, item, section, tabs


class Quillbarn(Shop):
    id, label, icon, colour, hue = "quillbarn", "Quillbarn", "barn", "#8a3b6e", 322
    words = ShopWords("bag", "Put in bag", "purchase", "Purchases", "Pay now", "Q-", 70410)

    def first_state(self, rng: Random, clock: datetime) -> State:
        return {
            "products": goods(rng, 1),
            "categories": [{"name": name, "picture": picture} for name, picture in CATEGORIES],
            "query": "",
            "filters": dict(NO_FILTERS),
            "sort": SORTS[0],
            "choice": {"variants": {}, "quantity": 1},
            "cart": {"items": [], "coupon": ""},
            "deliveries": [{"name": "Standard", "fee": 6.5, "days": 3}, {"name": "Express", "fee": 10.9, "days": 0}],
            "delivery": "Standard",
            "threshold": 0.0,
            "coupons": [{"code": "QUILL10", "percent": 10, "minimum": 60.0}],
            "addresses": [
                {"name": "Home", "line": "Block 14 Heron Walk, #07-21"},
                {"name": "Parcel locker", "line": "Heron Walk station, exit C"},
            ],
            "address": "Home",
            "draft": {"name": "", "line": ""},
            "payments": ["PennyPurse wallet", "Tamarind card, ends 4417"],
            "payment": "PennyPurse wallet",
            "orders": [],
        }

    def _tabs(self, current: str) -> View:
        entries = (("Find", "search", "home"), ("Shelves", "shelves", "departments"), ("Bag", "bag", "cart"),
                   ("Bought", "receipt", "orders"))  # fmt: skip
        return tabs([(label, icon, ("tab", screen)) for label, icon, screen in entries], current)

    def screen_home(self, here: AppContext) -> Screen:
        """Return all products, or the search results."""
        field = Field(["query"], hint="What do you need?", kind="outline", id="search", action="Search")
        bar = Column([Space(28), self.search_box(here, field)])
        notes = self._coupon_notes(here) if not str(here.own["query"]).strip() else []
        rows = [*notes, *self.results(here)]
        return Page(ListView([*rows, Space(60)], id="feed"), bar=bar, foot=self._tabs("Find"))

    def _coupon_notes(self, here: AppContext) -> list[View | None]:
        rows: list[View | None] = []
        for c in here.own["coupons"]:
            what, least = f"{c['percent']}% off with {c['code']}", f"On {money(c['minimum'])} or more"
            rows.append(item(what, least, lead=badge("tag"), id="coupon_note"))
        return rows

    def shelf_row(self, here: AppContext, product: State) -> View:
        """Return a product as a price tag, with its price first."""
        rating = stars(product) if int(product["stock"]) > 0 else stock(product)
        words = Column(
            [
                Text(money(product["price"]), "title", "primary", lines=1, id="price"),
                Text(str(product["name"]), "item", lines=1, id="product"),
                Text(rating, "sub", "faint", lines=1, id="rating"),
            ],
            grow=1,
        )
        picture = art(product, height=240, width=240, radius=16, colour=str(here.own["filters"]["colour"]))
        row = Row([words, picture], gap=24, pad=(48, 12))
        return Column([row, Line(48)], on=("product", product["name"]), id="product_item")

    def screen_departments(self, here: AppContext) -> Screen:
        rows: list[View | None] = []
        for category in here.own["categories"]:
            name = str(category["name"])
            count = sum(1 for p in here.own["products"] if p["category"] == name)
            picture = Art("dish", f"{category['picture']}/{name}", height=120, width=120, radius=16)
            rows.append(item(name, f"{count} products", lead=picture, trail=Icon("next", 48), on=("category", name),
                             id="department"))  # fmt: skip
        bar = Text("Shelves", "headline", pad=(48, 32, 48, 24))
        return Page(ListView([*rows, Space(60)], id="departments"), bar=bar, foot=self._tabs("Shelves"))

    def screen_cart(self, here: AppContext) -> Screen:
        bar, items = Text("Bag", "headline", pad=(48, 32, 48, 24)), here.own["cart"]["items"]
        if not items:
            return Page(self._empty_notice(), bar=bar, foot=self._tabs("Bag"))
        rows: list[View | None] = [cart_row(entry, index) for index, entry in enumerate(items)]
        rows.append(Text("Delivery is chosen in the next step.", "sub", "faint", pad=(48, 24)))
        button = Button(f"Continue  {money(subtotal(items))}", on=("go", "shipping"), id="continue")
        foot = Column([Column([button], pad=(48, 16)), self._tabs("Bag")])
        return Page(ListView([*rows, Space(60)], id="bag"), bar=bar, foot=foot)

    def _empty_notice(self) -> View:
        return empty("bag", "Your bag is empty", "What you put in is shown here.")

    def screen_shipping(self, here: AppContext) -> Screen:
        """Return the first step of the checkout: address and speed."""
        names = [entry["product"] for entry in here.own["cart"]["items"]]
        if not names:
            return Page(self._empty_notice(), bar=app_bar("Delivery"))
        rows: list[View | None] = [section("Ship to"), *self.address_choices(here), section("How fast")]
        for way in here.own["deliveries"]:
            arrives = self.arrival(here, names, way)
            rows.append(checkable("radio", f"{way['name']}  {money(way['fee'])}", way["name"] == here.own["delivery"],
                               ("choose", "delivery", way["name"]), sub=f"Arrives {day(arrives)}"))  # fmt: skip
        foot = Column([Button("Continue to payment", on=("go", "paying"), id="continue")], pad=(48, 16, 48, 28))
        return Page(ListView([*rows, Space(60)], id="shipping"), bar=app_bar("Delivery", sub="Step 1 of 2"), foot=foot)

    def screen_paying(self, here: AppContext) -> Screen:
        """Return the second step of the checkout: payment, coupon, and the total."""
        if not here.own["cart"]["items"]:
            return Page(self._empty_notice(), bar=app_bar("Payment"))
        coupon = Field(["cart", "coupon"], hint="Coupon code", id="coupon")
        rows: list[View | None] = [
            section("Pay with"),
            *self.payment_choices(here),
            inset(coupon, 24, 8),
            self._coupon_answer(here),
            inset(card(self._sums(here), pad=32), 16),
        ]
        button = Button(f"{self.words.place}  {money(self.total(here))}", on=("order",), id="pay")
        foot = Column([button], pad=(48, 16, 48, 28))
        return Page(ListView([*rows, Space(60)], id="paying"), bar=app_bar("Payment", sub="Step 2 of 2"), foot=foot)

    def _coupon_answer(self, here: AppContext) -> View | None:
        """Return the shop's reply to the typed coupon, or None if nothing is typed."""
        if not str(here.own["cart"]["coupon"]).strip():
            return None
        coupon = self.coupon(here)
        text = "No such coupon" if coupon is None else f"{coupon['percent']}% off"
        if coupon is not None and not self.discount(here):
            text = f"It takes {money(coupon['minimum'])} or more"
        return Text(text, "sub", "faint", pad=(48, 0), id="coupon_said")

    def _sums(self, here: AppContext) -> list[View | None]:
        fee, off = self.fee(here), self.discount(here)
        rows: list[View | None] = [sum_row("Goods", money(subtotal(here.own["cart"]["items"])))]
        if off:
            rows.append(sum_row("Coupon", f"-{money(off)}"))
        rows.append(sum_row(f"{self.delivery(here)['name']} delivery", money(fee) if fee else "Free"))
        return [*rows, Line(), sum_row("To pay", money(self.total(here)), bold=True)]

    def screen_orders(self, here: AppContext) -> Screen:
        bar = Text("Purchases", "headline", pad=(48, 32, 48, 24))
        return Page(self.orders_list(here), bar=bar, foot=self._tabs("Bought"))
