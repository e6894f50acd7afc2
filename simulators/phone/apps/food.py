"""Noshwell, a food delivery app: looking, choosing, ordering.

State, `apps.food`:
- `restaurants`, each `{name, category, picture, rating, minutes, fee, sections: [{name, dishes}]}`, a dish being
  `{name, picture, price, about, options: [group names], extras: [names]}`; `categories`, each `{name, picture}`;
  `option_groups` (group -> list of [choice, surcharge]) and `extra_prices` (extra -> price).
- `query` (what is searched); `choice` (`{options, extras, quantity}` of the dish that is open).
- `cart`: `{restaurant, items, remark}`, an item being `{dish, quantity, options: {group: choice}, extras, price}`
  with `price` for one, all surcharges in it.
- `addresses`, each `{name, line}`, and `address`, the name of the one chosen; `payments` (names), and `payment`.
- `orders`, the latest last: `{number, restaurant, items, remark, address, payment, total, placed, eta, status}`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import ClassVar

from simulators.phone.app import Here, State
from simulators.phone.apps.food_cart import Cart
from simulators.phone.apps.food_menu import CATEGORIES, EXTRAS, OPTIONS, catalogue
from simulators.phone.apps.food_views import address_bar, dish_row, money, place_card, tab_bar
from simulators.phone.views import (
    Art,
    Button,
    Column,
    Dialog,
    Field,
    ListView,
    Page,
    Row,
    Screen,
    Sheet,
    Space,
    Text,
    View,
)
from simulators.phone.widgets import app_bar, empty, inset, marked, section, stepper


class Food(Cart):
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
            "orders": [_earlier(clock)],
        }

    def screen_home(self, here: Here) -> Screen:
        query = str(here.own["query"]).strip().casefold()
        field = Field(["query"], hint="Dishes or restaurants", kind="search", id="search", action="Search")
        bar = Column([address_bar(here), inset(field, 0, 20)])
        if query:
            return Page(
                ListView([*_found(here, query), Space(80)], id="results"), bar=bar, foot=self.foot(here, "Home")
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

    def foot(self, here: Here, tab: str) -> View:
        """The tabs, and above them the way to a cart that is not empty."""
        return Column([self.cart_button(here), tab_bar(tab)])

    def screen_category(self, here: Here) -> Screen:
        name = here.args["name"]
        places: list[View | None] = [
            inset(place_card(place)) for place in here.own["restaurants"] if place["category"] == name
        ]
        nothing = empty("bowl", "Nothing here yet", "No restaurant near you cooks this.")
        rows = places or [nothing]
        return Page(ListView([*rows, Space(40)], id="restaurants", gap=28), bar=app_bar(str(name)))

    def screen_menu(self, here: Here) -> Screen:
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

    def do_dish(self, here: Here, restaurant: str, dish: str) -> None:
        """Opens a dish with the first choice of each of its options."""
        chosen = self.dish(here, restaurant, dish)
        groups = here.own["option_groups"]
        options = {name: groups[name][0][0] for name in chosen["options"]}
        here.own["choice"] = {"options": options, "extras": [], "quantity": 1}
        here.go("dish", restaurant=restaurant, dish=dish)

    def screen_dish(self, here: Here) -> Screen:
        restaurant, name = here.args["restaurant"], here.args["dish"]
        dish, choice = self.dish(here, restaurant, name), here.own["choice"]
        rows: list[View | None] = [
            inset(Art("dish", f"{dish['picture']}/{name}", height=360, radius=52), 0, 16),
            Text(str(name), "headline", pad=(48, 0), id="name"),
            Text(f"{dish['about']}", "body", "faint", pad=(48, 0), id="about"),
        ]
        for group in dish["options"]:
            rows.append(section(str(group)))
            for label, more in here.own["option_groups"][group]:
                title = f"{label}  +{money(more)}" if more else str(label)
                rows.append(
                    _option("radio", title, label, choice["options"].get(group) == label, ("pick", group, label))
                )
        if dish["extras"]:
            rows.append(section("Extras"))
        for extra in dish["extras"]:
            more = here.own["extra_prices"].get(extra, 0)
            title = f"{extra}  +{money(more)}" if more else str(extra)
            rows.append(_option("checkbox", title, extra, extra in choice["extras"], ("extra", extra)))
        each = self.price(here, dish)
        add = Button(f"Add  {money(each * choice['quantity'])}", on=("add", restaurant, name), grow=1, id="add")
        add.desc = "Add to cart"
        count = stepper(str(choice["quantity"]), ("count", -1), ("count", 1), "of this dish", wide=110)
        return Sheet(Column(rows), foot=Row([count, add], gap=32, pad=(48, 20, 48, 28)))

    def do_pick(self, here: Here, group: str, label: str) -> None:
        here.own["choice"]["options"][group] = label

    def do_extra(self, here: Here, extra: str) -> None:
        extras = here.own["choice"]["extras"]
        here.own["choice"]["extras"] = [e for e in extras if e != extra] if extra in extras else [*extras, extra]

    def do_count(self, here: Here, by: int) -> None:
        choice = here.own["choice"]
        choice["quantity"] = min(20, max(1, int(choice["quantity"]) + by))

    def do_add(self, here: Here, restaurant: str, dish: str) -> None:
        cart = here.own["cart"]
        if cart["items"] and cart["restaurant"] != restaurant:
            here.go("other_cart", restaurant=restaurant, dish=dish)
            return
        self.put(here, restaurant, dish)
        here.back()
        here.toast("Added to cart")

    def screen_other_cart(self, here: Here) -> Screen:
        text = f"Your cart holds dishes from {here.own['cart']['restaurant']}. They are taken out."
        start = Button("Start new", "text", on=("start_cart", here.args["restaurant"], here.args["dish"]))
        return Dialog("Start a new cart?", Text(text, "body", "faint"), [Button("Cancel", "text", on=("back",)), start])

    def do_start_cart(self, here: Here, restaurant: str, dish: str) -> None:
        here.own["cart"] = {"restaurant": "", "items": [], "remark": ""}
        self.put(here, restaurant, dish)
        here.back(2)
        here.toast("Added to cart")


def _option(kind: str, title: str, label: str, checked: bool, on: tuple[str, ...]) -> View:
    row = marked(kind, title, checked, on)
    row.desc = label
    row.pad = (48, 10)
    return row


def _found(here: Here, query: str) -> list[View | None]:
    """Restaurants and dishes that hold the words searched."""
    places, dishes = [], []
    for place in here.own["restaurants"]:
        if query in f"{place['name']} {place['category']}".casefold():
            places.append(inset(place_card(place)))
        for part in place["sections"]:
            for dish in part["dishes"]:
                if query in f"{dish['name']} {dish['about']}".casefold():
                    dishes.append(dish_row(place, dish, named=True))
    if not places and not dishes:
        return [empty("search", "Nothing found", "Try another word.")]
    rows: list[View | None] = [section("Restaurants"), *places] if places else []
    return rows + ([section("Dishes"), *dishes] if dishes else [])


def _earlier(clock: datetime) -> State:
    """An order of last week."""
    placed = (clock - timedelta(days=6)).replace(hour=12, minute=20, second=0, microsecond=0)
    item = {"dish": "Sunday garden bowl", "quantity": 1, "options": {"Base": "Brown rice", "Size": "Regular"}}
    return {
        "number": "N-1041",
        "restaurant": "Greenhouse No. 9",
        "items": [item | {"extras": [], "price": 14.0}],
        "remark": "",
        "address": "Lab",
        "payment": "Tamarind card, ends 4417",
        "total": 16.5,
        "placed": placed.isoformat(),
        "eta": (placed + timedelta(minutes=25)).isoformat()[11:16],
        "status": "Delivered",
    }
