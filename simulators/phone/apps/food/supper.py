"""Suppertide, a second food delivery app: other kitchens and prices, a basket, and a chosen delivery time.

State, `apps.supper`: as `apps.food`, without `categories`, and with `kitchen` (the shown kind of kitchen, "" for all),
`when` ("As soon as possible" or a time such as 18:30) and `cutlery`. An order has `when` and `cutlery`, too. Its `eta`
is the chosen time, if one was chosen.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any, ClassVar

from simulators.phone.app import AppContext, State
from simulators.phone.apps.food.food_app import (
    FoodApp,
    FoodWords,
    address_bar,
    cart_row,
    dish_row,
    item_words,
    matches,
    money,
    subtotal,
)
from simulators.phone.apps.food.food_menu import Restaurant, catalogue
from simulators.phone.kit.views import (
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
from simulators.phone.kit.widgets import app_bar, badge, checkable, empty, icon_button, inset, item, section, tabs

SOON = "As soon as possible"


class Supper(FoodApp):
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
        """Return the kitchens nearby, all or of one kind."""
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
        """Return the search for dishes and kitchens."""
        query = str(here.own["query"]).strip().casefold()
        field = Field(["query"], hint="Search dishes and kitchens", kind="outline", id="search", action="Search")
        box: View = field
        if query:
            field.grow = 1
            box = Row([field, icon_button("close", "Clear search", ("clear_search",), id="clear_search")], gap=8)
        bar = Column([Text("Search", "headline", pad=(48, 24, 48, 16)), inset(box, 0, 20)])
        hint = empty("search", "What shall it be?", "A dish, a kitchen, or a word such as chicken.")
        rows = _search_rows(here, query) if query else [hint]
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
        """Return the basket. The delivery fee appears only at checkout."""
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
        here.close_screens()

    def screen_checkout(self, here: AppContext) -> Screen:
        """Return the checkout: address, time and payment before the order."""
        if not here.own["cart"]["items"]:
            return Page(self.nothing(), bar=app_bar("Checkout"))
        when = item("When", str(here.own["when"]), lead=badge("clock"), trail=Icon("next", 48), on=("go", "times"),
                    id="when")  # fmt: skip
        cutlery = checkable("switch", "Cutlery", bool(here.own["cutlery"]), ("toggle", ["cutlery"]), lead=badge("bowl"))
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
            checkable("radio", when, when == here.own["when"], ("choose", "when", when))
            for when in [SOON, *_delivery_times(here)]
        ]
        return Sheet(Column([*rows, Space(24)]), title="When shall it come?")

    def new_order(self, here: AppContext) -> State:
        order = super().new_order(here)
        when = str(here.own["when"])
        return order | {"when": when, "cutlery": here.own["cutlery"], "eta": order["eta"] if when == SOON else when}

    def do_order(self, here: AppContext) -> None:
        if here.own["when"] not in (SOON, *_delivery_times(here)):
            here.own["when"] = SOON
            here.toast("That time has passed: choose another")
            return
        super().do_order(here)
        here.own["when"] = SOON


def _delivery_times(here: AppContext) -> list[str]:
    """Return the next half hours until midnight at which a kitchen can deliver."""
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


def _search_rows(here: AppContext, query: str) -> list[View | None]:
    """Return dishes, then kitchens, that match a query."""
    places, dishes = matches(here, query)
    if not dishes and not places:
        return [empty("search", "Nothing found", "No dish and no kitchen holds these words.")]
    rows: list[View | None] = [section("Dishes"), *dishes] if dishes else []
    return rows + ([section("Kitchens"), *map(_kitchen_row, places)] if places else [])


OPTIONS: dict[str, list[list[Any]]] = {
    "Size": [["Regular", 0.0], ["Large", 3.0], ["Family", 9.0]],
    "Cup": [["Small", 0.0], ["Medium", 1.0], ["Large", 1.8]],
    "Spice": [["Mild", 0.0], ["Medium", 0.0], ["Hot", 0.0]],
    "Sugar": [["No sugar", 0.0], ["Half sugar", 0.0], ["Full sugar", 0.0]],
    "Milk": [["Whole milk", 0.0], ["Oat milk", 0.6]],
    "Side": [["Rice", 0.0], ["Bread", 0.5], ["Greens", 1.5]],
    "辣度": [["不辣", 0.0], ["微辣", 0.0], ["中辣", 0.0]],
    "份量": [["小份", 0.0], ["大份", 5.0]],
}
EXTRAS: dict[str, float] = {
    "Soft egg": 1.2, "Extra tofu": 1.8, "Pickles": 0.8, "Crispy shallots": 0.6, "Extra cheese": 2.0,
    "Garlic bread": 3.0, "Vanilla cream": 1.2, "Extra shot": 1.0, "米饭": 0.8, "加香菜": 0.0,
}  # fmt: skip
KITCHENS: tuple[str, ...] = ("Home cooking", "Grill", "家常菜", "Rice", "Noodles", "Pies", "Sweets")
"""Kinds of kitchen, in the order of the chips."""

_HOT = ("Size", "Spice")
_ZH = ("份量", "辣度")
_TOPS = ("Soft egg", "Crispy shallots")
_TOFU = ("Soft egg", "Extra tofu")
_DAN = ("Soft egg", "Pickles")

RESTAURANTS: tuple[Restaurant, ...] = (
    ("Nonna Petra's Table", "Home cooking", "soup", 4.8, 45, 3.5, (
        ("For the table", (
            ("Slow tomato beans", "soup", 9.5, "White beans, tomato, sage", ("Size",), ("Garlic bread",)),
            ("Baked pasta shells", "noodles", 13.0, "Ricotta, spinach, a crisp top", ("Size",), ("Extra cheese",)),
            ("Lemon roast chicken", "plate", 16.5, "Half a bird, potatoes, lemon", ("Size", "Side"), ()),
            ("Stuffed peppers", "plate", 12.0, "Rice, herbs, yoghurt", ("Size", "Side"), ()),
        )),
        ("Soups", (
            ("White bean soup", "soup", 7.2, "Beans, rosemary, olive oil", ("Size",), ("Garlic bread",)),
            ("Little meatball soup", "soup", 8.8, "Clear broth, tiny meatballs", ("Size",), ()),
        )),
        ("Sweet", (
            ("Apple slice", "cake", 4.5, "Warm apples under a lattice", (), ("Vanilla cream",)),
            ("Rice pudding", "cake", 4.0, "Cinnamon, lemon peel", (), ()),
        )),
    )),
    ("Saffron Attic", "Rice", "rice", 4.6, 35, 2.8, (
        ("Rice pots", (
            ("Saffron chicken rice", "rice", 13.8, "Chicken, saffron, almonds", _HOT, _TOPS),
            ("Coconut chicken rice", "rice", 12.4, "Chicken thigh, coconut rice, sambal", _HOT, _TOPS),
            ("Lentil and onion rice", "rice", 9.0, "Brown lentils, dark onions", ("Size",), ("Pickles",)),
            ("Turmeric fish rice", "rice", 12.9, "Grilled fish, turmeric, lime leaf", _HOT, ()),
        )),
        ("On the side", (
            ("Cucumber yoghurt", "salad", 3.8, "Cold, with dried mint", (), ()),
            ("Warm flatbreads", "flat", 3.2, "Three, brushed with butter", (), ()),
        )),
    )),
    ("Rice Almanac", "Rice", "rice", 4.6, 40, 1.2, (
        ("Rice sets", (
            ("Coconut chicken rice", "rice", 10.9, "Chicken thigh, coconut rice, sambal", _HOT, _TOPS),
            ("Sweet soy tofu rice", "rice", 10.8, "Fried tofu, long beans, sweet soy", _HOT, _TOFU),
            ("Black pepper beef rice", "rice", 13.9, "Beef, black pepper, onion", _HOT, ("Soft egg",)),
        )),
        ("On sticks", (
            ("Peanut skewers", "skewers", 9.8, "Six sticks, peanut sauce", ("Spice",), ("Pickles",)),
        )),
    )),
    ("Copper Ladle", "Noodles", "noodles", 4.8, 35, 4.2, (
        ("Noodle bowls", (
            ("Smoked broth noodles", "noodles", 11.8, "Slow broth, spring onion, a soft egg", _HOT, _TOPS),
            ("Sesame dan noodles", "noodles", 11.9, "Sesame, crushed peanuts, chilli oil", _HOT, _DAN),
            ("Forest mushroom noodles", "noodles", 12.6, "Four mushrooms, miso butter", _HOT, ("Extra tofu",)),
        )),
        ("Small plates", (
            ("Charred greens", "plate", 5.4, "With garlic and black vinegar", (), ()),
            ("Pan-fried parcels", "dumplings", 8.1, "Six parcels, cabbage and tofu", ("Spice",), ("Pickles",)),
        )),
    )),
    ("外婆的灶台", "家常菜", "dumplings", 4.9, 40, 2.5, (
        ("家常小炒", (
            ("番茄炒蛋", "plate", 8.8, "番茄，鸡蛋，一点糖", ("份量",), ("米饭",)),
            ("红烧狮子头", "plate", 15.8, "四只，文火慢炖", _ZH, ("米饭",)),
            ("清蒸鲈鱼", "plate", 22.0, "整条，葱丝，姜丝", (), ("米饭",)),
            ("蒜蓉青菜", "salad", 7.5, "时令青菜，蒜蓉", ("份量",), ()),
        )),
        ("汤和点心", (
            ("冬瓜排骨汤", "soup", 11.5, "冬瓜，排骨，薏米", ("份量",), ()),
            ("三鲜蒸饺", "dumplings", 8.9, "八只，虾仁，韭菜，鸡蛋", (), ()),
            ("芝麻汤圆", "soup", 5.5, "六只，黑芝麻", (), ()),
        )),
    )),
    ("Cinder Yard", "Grill", "skewers", 4.4, 50, 3.9, (
        ("From the coals", (
            ("Charred corn and beans", "plate", 10.5, "Smoked salt, lime", ("Spice",), ()),
            ("Paprika skewers", "skewers", 12.5, "Eight sticks, chicken", ("Spice", "Side"), ("Pickles",)),
            ("Coal potatoes", "plate", 6.0, "Soured cream, chives", ("Size",), ("Extra cheese",)),
        )),
        ("Drinks", (
            ("Smoked plum cooler", "drink", 4.2, "Plum, soda, mint", ("Cup", "Sugar"), ()),
        )),
    )),
    ("The Pie Ledger", "Pies", "flat", 4.5, 30, 2.0, (
        ("Pies", (
            ("Leek and potato pie", "flat", 9.8, "Soft leeks, nutmeg", ("Size", "Side"), ()),
            ("Beef and barley pie", "flat", 12.2, "Slow beef, dark gravy", ("Size", "Side"), ()),
            ("Mushroom pie", "flat", 10.4, "Chestnut mushrooms, thyme", ("Size", "Side"), ()),
        )),
    )),
    ("Marzipan Corner", "Sweets", "cake", 4.7, 25, 1.8, (
        ("Cakes", (
            ("Lemon drizzle square", "cake", 3.9, "Sharp and soft", (), ("Vanilla cream",)),
            ("Almond tart", "cake", 5.2, "Short crust, apricot", (), ("Vanilla cream",)),
        )),
        ("Cups", (
            ("Cinnamon latte", "coffee", 5.2, "Cinnamon bark, steamed milk", ("Cup", "Milk", "Sugar"), ("Extra shot",)),
            ("Hot chocolate", "coffee", 4.8, "Dark, thick", ("Cup",), ("Vanilla cream",)),
        )),
    )),
)  # fmt: skip
