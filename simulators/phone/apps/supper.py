"""Suppertide, a food delivery app beside Noshwell: other kitchens and prices, a basket, and a time of one's choice.

State, `apps.supper`: as `apps.food`, but without `categories`. Besides there are `kitchen` (the kind of kitchen that is
looked at, "" for all), `when` ("As soon as possible" or a time as 18:30) and `cutlery`. An order also holds `when` and
`cutlery`; its `eta` is the time chosen, where one was.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import ClassVar

from simulators.phone.app import AppContext, State
from simulators.phone.apps.food_cart import cart_row, subtotal
from simulators.phone.apps.food_dish import Dish
from simulators.phone.apps.food_menu import catalogue
from simulators.phone.apps.food_views import FoodWords, address_bar, dish_row, item_words, matches, money
from simulators.phone.apps.supper_menu import EXTRAS, KITCHENS, OPTIONS, RESTAURANTS
from simulators.phone.views import (
    Art,
    Button,
    Chip,
    Column,
    Dialog,
    Field,
    Icon,
    ListView,
    Page,
    Row,
    Screen,
    Sheet,
    Space,
    Text,
    View,
)
from simulators.phone.widgets import app_bar, badge, empty, icon_button, inset, item, marked, section, tabs

SOON = "As soon as possible"


class Supper(Dish):
    id, label, icon, colour, hue = "supper", "Suppertide", "pot", "#2f7f79", 175
    words = FoodWords("basket", "Bring to", "Payment", "Note for the kitchen", "Confirm order", "ST-", 2206)
    shapes: ClassVar[dict[str, State]] = {
        "restaurants": {"name": "", "category": "", "picture": "plate", "rating": 4.5, "minutes": 30, "fee": 0.0,
                        "sections": []},
        "restaurants.sections": {"name": "", "dishes": []},
        "restaurants.sections.dishes": {"name": "", "picture": "plate", "price": 0.0, "about": "", "options": [],
                                        "extras": []},
        "addresses": {"name": "", "line": ""},
        "orders": {"number": "", "restaurant": "", "items": [], "remark": "", "address": "", "payment": "",
                   "total": 0.0, "placed": "", "eta": "", "status": "Delivered", "when": SOON, "cutlery": False},
        "orders.items": {"dish": "", "quantity": 1, "options": {}, "extras": [], "price": 0.0},
    }  # fmt: skip

    def first_state(self, rng: Random, clock: datetime) -> State:
        return {
            "restaurants": catalogue(rng, RESTAURANTS),
            "option_groups": {name: [list(pair) for pair in pairs] for name, pairs in OPTIONS.items()},
            "extra_prices": dict(EXTRAS),
            "query": "",
            "kitchen": "",
            "choice": {"options": {}, "extras": [], "quantity": 1},
            "cart": {"restaurant": "", "items": [], "remark": ""},
            "addresses": [
                {"name": "Home", "line": "Block 14 Heron Walk, #07-21"},
                {"name": "Jonas", "line": "5 Sailcloth Row, top bell"},
            ],
            "address": "Home",
            "payments": ["Tamarind card, ends 4417", "PennyPurse wallet", "Cash at the door"],
            "payment": "PennyPurse wallet",
            "when": SOON,
            "cutlery": False,
            "orders": [],
        }

    def tab_bar(self, current: str) -> View:
        entries = (("Browse", "home", "home"), ("Search", "search", "search"), ("Basket", "basket", "cart"),
                   ("Orders", "receipt", "orders"))  # fmt: skip
        return tabs([(label, icon, ("tab", screen)) for label, icon, screen in entries], current)

    def screen_home(self, here: AppContext) -> Screen:
        """The kitchens near one, all or of one kind."""
        selected_kind = str(here.own["kitchen"])
        kinds = [kind for kind in KITCHENS if any(p["category"] == kind for p in here.own["restaurants"])]
        chips: list[View | None] = [
            Chip(kind or "All", on=("kitchen", kind), selected=kind == selected_kind, id="kitchen")
            for kind in ("", *kinds)
        ]
        places = [p for p in here.own["restaurants"] if selected_kind in ("", p["category"])]
        rows: list[View | None] = [_kitchen_row(place) for place in places]
        nothing = empty("pot", "Nothing here yet", "No kitchen near you cooks this.")
        bar = Column(
            [
                Text("Suppertide", "headline", "primary", pad=(48, 24, 48, 0)),
                address_bar(here, self.words.deliver),
                ListView([Space(40), *chips, Space(40)], id="kitchens", across=True, gap=16),
                Space(16),
            ]
        )
        return Page(ListView([*(rows or [nothing]), Space(40)], id="feed"), bar=bar, foot=self.tab_bar("Browse"))

    def do_kitchen(self, here: AppContext, kind: str) -> None:
        here.own["kitchen"] = kind

    def screen_search(self, here: AppContext) -> Screen:
        """Dishes and kitchens by a word."""
        query = str(here.own["query"]).strip().casefold()
        field = Field(["query"], hint="Search dishes and kitchens", kind="outline", id="search", action="Search")
        box: View = field
        if query:
            field.grow = 1
            box = Row([field, icon_button("close", "Clear search", ("clear_search",), id="clear_search")], gap=8)
        bar = Column([Text("Search", "headline", pad=(48, 24, 48, 16)), inset(box, 0, 20)])
        hint = empty("search", "What shall it be?", "A dish, a kitchen, or a word such as chicken.")
        rows = _found(here, query) if query else [hint]
        return Page(ListView([*rows, Space(60)], id="results"), bar=bar, foot=self.tab_bar("Search"))

    def do_clear_search(self, here: AppContext) -> None:
        here.own["query"] = ""
        here.focus("search")

    def screen_menu(self, here: AppContext) -> Screen:
        place = self.restaurant(here, here.args["restaurant"])
        rows: list[View | None] = [item(_kind(place), _delivery(place), lead=badge("bike"), id="about")]
        for part in place["sections"]:
            rows.append(section(str(part["name"])))
            rows += [dish_row(place, dish) for dish in part["dishes"]]
        foot = self.cart_button(here) or self.tab_bar("Browse")
        return Page(ListView([*rows, Space(60)], id="menu"), bar=app_bar(str(place["name"])), foot=foot)

    def screen_cart(self, here: AppContext) -> Screen:
        """The basket; what it costs to bring is said at checkout."""
        cart, bar = here.own["cart"], Text("Basket", "headline", pad=(48, 32, 48, 24))
        if not cart["items"]:
            return Page(self.nothing(), bar=bar, foot=self.tab_bar("Basket"))
        rows: list[View | None] = [section(str(cart["restaurant"]))]
        rows += [cart_row(entry, index) for index, entry in enumerate(cart["items"])]
        more = ("go", "menu", {"restaurant": cart["restaurant"]})
        rows.append(item("Add more dishes", lead=badge("add"), on=more, id="more_dishes"))
        rows.append(item("Empty the basket", lead=badge("delete"), on=("go", "empty_cart"), id="empty_basket"))
        label = f"Go to checkout  {money(subtotal(cart['items']))}"
        button = Column([Button(label, on=("go", "checkout"), id="checkout")], pad=(48, 16))
        foot = Column([button, self.tab_bar("Basket")])
        return Page(ListView([*rows, Space(60)], id="basket"), bar=bar, foot=foot)

    def screen_empty_cart(self, here: AppContext) -> Screen:
        buttons = [Button("Cancel", "text", on=("back",)), Button("Empty", "danger", on=("empty_cart",))]
        return Dialog("Empty the basket?", Text("All dishes are taken out.", "body", "faint"), buttons)

    def do_empty_cart(self, here: AppContext) -> None:
        here.own["cart"] = {"restaurant": "", "items": [], "remark": ""}
        here.back()

    def screen_checkout(self, here: AppContext) -> Screen:
        """Where, when, how: the last look before it is bought."""
        if not here.own["cart"]["items"]:
            return Page(self.nothing(), bar=app_bar("Checkout"))
        when = item("When", str(here.own["when"]), lead=badge("clock"), trail=Icon("next", 48), on=("go", "times"),
                    id="when")  # fmt: skip
        cutlery = marked("switch", "Cutlery", bool(here.own["cutlery"]), ("toggle", ["cutlery"]), lead=badge("bowl"))
        address, payment = self.places(here)
        dishes = [
            item(f"{entry['quantity']} x {entry['dish']}", item_words(entry), id="item")
            for entry in here.own["cart"]["items"]
        ]
        rows = [address, when, payment, cutlery, self.remark(), section("Dishes"), *dishes, self.sums(here)]
        bar = app_bar("Checkout", sub=str(here.own["cart"]["restaurant"]))
        return Page(ListView([*rows, Space(60)], id="checkout"), bar=bar, foot=self.place_button(here))

    def screen_times(self, here: AppContext) -> Screen:
        rows: list[View | None] = [
            marked("radio", when, when == here.own["when"], ("choose", "when", when)) for when in [SOON, *_times(here)]
        ]
        return Sheet(Column([*rows, Space(24)]), title="When shall it come?")

    def new_order(self, here: AppContext) -> State:
        order = super().new_order(here)
        when = str(here.own["when"])
        return order | {"when": when, "cutlery": here.own["cutlery"], "eta": order["eta"] if when == SOON else when}

    def do_order(self, here: AppContext) -> None:
        if here.own["when"] not in (SOON, *_times(here)):
            here.own["when"] = SOON
            here.toast("That time has passed: choose another")
            return
        super().do_order(here)
        here.own["when"] = SOON


def _times(here: AppContext) -> list[str]:
    """The next half hours at which a kitchen can still be done, until midnight."""
    first = here.clock + timedelta(minutes=40)
    first = first.replace(minute=0, second=0, microsecond=0) + timedelta(minutes=30 * -(-first.minute // 30))
    slots = [first + timedelta(minutes=30 * i) for i in range(8)]
    return [slot.strftime("%H:%M") for slot in slots if slot.date() == here.clock.date()]


def _kind(place: State) -> str:
    return f"{place['category']}, {place['rating']} stars"


def _delivery(place: State) -> str:
    return f"{place['minutes']} min, delivery {money(place['fee'])}"


def _kitchen_row(place: State) -> View:
    name = str(place["name"])
    picture = Art("dish", f"{place['picture']}/{name}", height=208, width=208, radius=104)
    words = Column(
        [
            Text(name, "strong", lines=1, id="name"),
            Text(_kind(place), "sub", "faint", lines=1),
            Text(_delivery(place), "sub", "primary", lines=1),
        ],
        grow=1,
    )
    return Row([picture, words], gap=36, pad=(48, 16), on=("go", "menu", {"restaurant": name}), id="restaurant")


def _found(here: AppContext, query: str) -> list[View | None]:
    """Dishes first, then kitchens, that hold the words searched."""
    places, dishes = matches(here, query)
    if not dishes and not places:
        return [empty("search", "Nothing found", "No dish and no kitchen holds these words.")]
    rows: list[View | None] = [section("Dishes"), *dishes] if dishes else []
    return rows + ([section("Kitchens"), *map(_kitchen_row, places)] if places else [])
