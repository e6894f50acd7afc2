"""Marrowby, a general store with groceries. Delivery is free from a certain sum. State: as in shop_trade.py."""

from __future__ import annotations

from datetime import datetime
from random import Random

from simulators.phone.app import AppContext, State
from simulators.phone.apps.shops.shop import NO_FILTERS, SORTS, Shop, pairs
from simulators.phone.apps.shops.shop_goods import CATEGORIES, goods
from simulators.phone.apps.shops.shop_trade import ShopWords, cart_row, day, money, subtotal, sum_row
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
from simulators.phone.kit.widgets import app_bar, badge, card, empty, inset, item, section, tabs


class Marrowby(Shop):
    id, label, icon, colour, hue = "marrowby", "Marrowby", "store", "#3f7d3a", 112
    words = ShopWords("cart", "Add to cart", "order", "Orders", "Place order", "MB-", 3120)
    chips = True

    def first_state(self, rng: Random, clock: datetime) -> State:
        return {
            "products": goods(rng, 0),
            "categories": [{"name": name, "picture": picture} for name, picture in CATEGORIES],
            "query": "",
            "filters": dict(NO_FILTERS),
            "sort": SORTS[0],
            "choice": {"variants": {}, "quantity": 1},
            "cart": {"items": [], "coupon": ""},
            "deliveries": [{"name": "Courier", "fee": 3.9, "days": 1}],
            "delivery": "Courier",
            "threshold": 45.0,
            "coupons": [],
            "addresses": [
                {"name": "Home", "line": "Block 14 Heron Walk, #07-21"},
                {"name": "Lab", "line": "Institute of Soft Matter, 3 Lantern Road, level 4"},
            ],
            "address": "Home",
            "draft": {"name": "", "line": ""},
            "payments": ["Tamarind card, ends 4417", "PennyPurse wallet"],
            "payment": "Tamarind card, ends 4417",
            "orders": [],
        }

    def _tabs(self, here: AppContext, current: str) -> View:
        entries = (("Shop", "store", "home"), ("Cart", "cart", "cart"), ("Orders", "receipt", "orders"))
        return tabs([(label, icon, ("tab", screen)) for label, icon, screen in entries], current)

    def screen_home(self, here: AppContext) -> Screen:
        """Return the search results, or the categories and the best rated products."""
        field = Field(["query"], hint="Search Marrowby", kind="search", id="search", action="Search")
        bar = Column([Text("Marrowby", "headline", "primary", pad=(48, 24, 48, 12)), self.search_box(here, field)])
        if str(here.own["query"]).strip():
            rows = self.results(here)
        else:
            best = sorted(here.own["products"], key=lambda p: -p["rating"])[:6]
            tiles: list[View] = [_tile(category) for category in here.own["categories"]]
            rows = [*self._notice(here), section("Categories"), *pairs(tiles), section("Best rated")]
            rows += [self.shelf_row(here, product) for product in best]
        return Page(ListView([*rows, Space(60)], id="feed", gap=12), bar=bar, foot=self._tabs(here, "Shop"))

    def _notice(self, here: AppContext) -> list[View | None]:
        """Return a note with the sum from which delivery is free."""
        free = float(here.own["threshold"])
        if not free:
            return []
        words = Text(f"Free delivery from {money(free)}", "strong", "on_soft", grow=1, id="notice")
        return [inset(card([Row([Icon("truck", 64, "on_soft"), words], gap=28)], fill="soft", pad=28))]

    def screen_cart(self, here: AppContext) -> Screen:
        bar, items = Text("Cart", "headline", pad=(48, 32, 48, 24)), here.own["cart"]["items"]
        if not items:
            nothing = empty("cart", "Your cart is empty", "What you add is shown here.")
            return Page(nothing, bar=bar, foot=self._tabs(here, "Cart"))
        rows: list[View | None] = [cart_row(entry, index) for index, entry in enumerate(items)]
        rows.append(inset(card(self._sums(here), pad=32), 24))
        button = Button(f"Checkout  {money(self.total(here))}", on=("go", "checkout"), id="checkout")
        foot = Column([Column([button], pad=(48, 16)), self._tabs(here, "Cart")])
        return Page(ListView([*rows, Space(60)], id="cart"), bar=bar, foot=foot)

    def _sums(self, here: AppContext) -> list[View | None]:
        fee, free = self.fee(here), float(here.own["threshold"])
        goods_sum = subtotal(here.own["cart"]["items"])
        rows: list[View | None] = [
            sum_row("Goods", money(goods_sum)),
            sum_row("Delivery", money(fee) if fee else "Free"),
        ]
        if fee and free:
            rows.append(Text(f"{money(free - goods_sum)} more for free delivery", "sub", "faint", lines=1))
        return [*rows, Line(), sum_row("Total", money(self.total(here)), bold=True)]

    def screen_checkout(self, here: AppContext) -> Screen:
        """Return the checkout: all choices before buying, on one page."""
        items = here.own["cart"]["items"]
        if not items:
            nothing = empty("cart", "Your cart is empty", "What you add is shown here.")
            return Page(nothing, bar=app_bar("Checkout"))
        arrives = day(self.arrival(here, [e["product"] for e in items]))
        rows: list[View | None] = [
            self.address_row(here),
            item("Pay with", str(here.own["payment"]), lead=badge("card"), trail=Icon("next", 48),
                 on=("go", "payments"), id="payment"),
            item(f"Arrives {arrives}", self.delivery(here)["name"], lead=badge("truck"), id="arrives"),
            section("Items"),
            *[item(f"{e['quantity']} x {e['product']}", ", ".join(e["variants"].values()), id="item") for e in items],
            inset(card(self._sums(here), pad=32), 16),
        ]  # fmt: skip
        button = Button(f"{self.words.place}  {money(self.total(here))}", on=("order",), id="place_order")
        foot = Column([button], pad=(48, 16, 48, 28))
        return Page(ListView([*rows, Space(60)], id="checkout"), bar=app_bar("Checkout"), foot=foot)

    def screen_orders(self, here: AppContext) -> Screen:
        bar = Text("Orders", "headline", pad=(48, 32, 48, 24))
        return Page(self.orders_list(here), bar=bar, foot=self._tabs(here, "Orders"))


def _tile(category: State) -> View:
    """Return a category as a picture and its name."""
    picture = Art("dish", f"{category['picture']}/{category['name']}", height=120, width=120, radius=36)
    name = Text(str(category["name"]), "strong", lines=1, grow=1)
    return Row([picture, name], gap=24, pad=16, fill="container", radius=44, grow=1, on=("category", category["name"]),
               desc=str(category["name"]), id="category")  # fmt: skip
