"""Noshwell, a food delivery app: searching, choosing, ordering.

State, `apps.food`:
- `restaurants`, each `{name, category, picture, rating, minutes, fee, sections: [{name, dishes}]}`. A dish is `{name,
  picture, price, about, options: [group names], extras: [names]}`. `categories`, each `{name, picture}`.
- `option_groups`: lists of [choice, surcharge] by group. `extra_prices`: prices by extra.
- `query`: the typed search. `choice`: `{options, extras, quantity}` of the open dish.
- `cart`: `{restaurant, items, remark}`. An item is `{dish, quantity, options: {group: choice}, extras, price}`, with
  the price of one, surcharges included.
- `addresses`, each `{name, line}`. `address`: the name of the chosen one. `payments`: names. `payment`: the chosen one.
- `orders`, latest last, each `{number, restaurant, items, remark, address, payment, total, placed, eta, status}`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import ClassVar

from simulators.phone.app import AppContext, State
from simulators.phone.apps.food.food_app import FoodApp, address_bar, dish_row, matches, money, place_card, tab_bar
from simulators.phone.apps.food.food_menu import CATEGORIES, EXTRAS, OPTIONS, catalogue
from simulators.phone.kit.views import (
    Art,
    Column,
    Field,
    ListView,
    Page,
    Screen,
    Space,
    Text,
    View,
)
from simulators.phone.kit.widgets import app_bar, empty, inset, section


class Food(FoodApp):
    id, label, icon, colour, hue = "food", "Noshwell", "bowl", "#e0632c", 20
    shapes: ClassVar[dict[str, State]] = {
        "restaurants": {"name": "", "category": "", "picture": "plate", "rating": 4.5, "minutes": 30, "fee": 0.0,
                        "sections": []},
        "restaurants.sections": {"name": "", "dishes": []},
        "restaurants.sections.dishes": {"name": "", "picture": "plate", "price": 0.0, "about": "", "options": [],
                                        "extras": []},
        "categories": {"name": "", "picture": "plate"},
        "addresses": {"name": "", "line": ""},
        "orders": {"number": "", "restaurant": "", "items": [], "remark": "", "address": "", "payment": "",
                   "total": 0.0, "placed": "", "eta": "", "status": "Delivered"},
        "orders.items": {"dish": "", "quantity": 1, "options": {}, "extras": [], "price": 0.0},
    }  # fmt: skip

    def first_state(self, rng: Random, clock: datetime) -> State:
        restaurants = catalogue(rng)
        return {
            "restaurants": restaurants,
            "categories": [{"name": name, "picture": picture} for name, picture in CATEGORIES],
            "option_groups": {name: [list(pair) for pair in pairs] for name, pairs in OPTIONS.items()},
            "extra_prices": dict(EXTRAS),
            "query": "",
            "choice": {"options": {}, "extras": [], "quantity": 1},
            "cart": {"restaurant": "", "items": [], "remark": ""},
            "addresses": [
                {"name": "Home", "line": "Block 14 Heron Walk, #07-21"},
                {"name": "Lab", "line": "Institute of Soft Matter, 3 Lantern Road, level 4"},
                {"name": "Climbing hall", "line": "22 Old Foundry Lane, front desk"},
            ],
            "address": "Home",
            "payments": ["Tamarind card, ends 4417", "PennyPurse wallet", "Cash on delivery"],
            "payment": "Tamarind card, ends 4417",
            "orders": [_past_order(clock)],
        }

    def screen_home(self, here: AppContext) -> Screen:
        query = str(here.own["query"]).strip().casefold()
        field = Field(["query"], hint="Dishes or restaurants", kind="search", id="search", action="Search")
        bar = Column([address_bar(here), inset(field, 0, 20)])
        if query:
            return Page(
                ListView([*_search_rows(here, query), Space(80)], id="results"), bar=bar, foot=self.foot(here, "Home")
            )
        kinds: list[View | None] = [
            Column(
                [Art("dish", f"{c['picture']}/{c['name']}", height=168, radius=84, width=168),
                 Text(str(c["name"]), "small", align="center", lines=1)],
                on=("go", "category", {"name": c["name"]}), desc=str(c["name"]), id="category", width=252, gap=8,
                align="center",
            )
            for c in here.own["categories"]
        ]  # fmt: skip
        places: list[View | None] = [inset(place_card(place)) for place in here.own["restaurants"]]
        rows: list[View | None] = [
            Column([ListView([Space(20), *kinds, Space(20)], id="categories", across=True)]),
            section("All restaurants"),
            *places,
            Space(40),
        ]
        return Page(ListView(rows, id="feed", gap=28), bar=bar, foot=self.foot(here, "Home"))

    def foot(self, here: AppContext, tab: str) -> View:
        """Return the tabs, below the cart button if the cart is not empty."""
        return Column([self.cart_button(here), tab_bar(tab)])

    def screen_category(self, here: AppContext) -> Screen:
        name = here.args["name"]
        places: list[View | None] = [
            inset(place_card(place)) for place in here.own["restaurants"] if place["category"] == name
        ]
        nothing = empty("bowl", "Nothing here yet", "No restaurant near you cooks this.")
        rows = places or [nothing]
        return Page(ListView([*rows, Space(40)], id="restaurants", gap=28), bar=app_bar(str(name)))

    def screen_menu(self, here: AppContext) -> Screen:
        place = self.restaurant(here, here.args["restaurant"])
        about = f"{place['minutes']} min   Delivery {money(place['fee'])}   {place['rating']} stars"
        rows: list[View | None] = [
            inset(Art("dish", f"{place['picture']}/{place['name']}", height=380, radius=52)),
            Column(
                [Text(str(place["name"]), "headline", id="name"), Text(about, "sub", "faint", lines=1)], pad=(48, 20)
            ),
        ]
        for part in place["sections"]:
            rows.append(section(str(part["name"])))
            rows += [dish_row(place, dish) for dish in part["dishes"]]
        bar = app_bar(str(place["name"]))
        return Page(ListView([*rows, Space(60)], id="menu"), bar=bar, foot=self.cart_button(here))


def _search_rows(here: AppContext, query: str) -> list[View | None]:
    """Return the restaurants and dishes that match a query."""
    places, dishes = matches(here, query)
    if not places and not dishes:
        return [empty("search", "Nothing found", "Try another word.")]
    rows: list[View | None] = (
        [section("Restaurants"), *(inset(place_card(place)) for place in places)] if places else []
    )
    return rows + ([section("Dishes"), *dishes] if dishes else [])


def _past_order(clock: datetime) -> State:
    """Return an order of last week."""
    order_time = (clock - timedelta(days=6)).replace(hour=12, minute=20, second=0, microsecond=0)
    item = {"dish": "Sunday garden bowl", "quantity": 1, "options": {"Base": "Brown rice", "Size": "Regular"}}
    return {
        "number": "N-1041",
        "restaurant": "Greenhouse No. 9",
        "items": [item | {"extras": [], "price": 14.0}],
        "remark": "",
        "address": "Lab",
        "payment": "Tamarind card, ends 4417",
        "total": 16.5,
        "placed": order_time.isoformat(),
        "eta": (order_time + timedelta(minutes=25)).isoformat()[11:16],
        "status": "Delivered",
    }
