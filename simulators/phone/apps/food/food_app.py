"""Base of the food apps: a dish's page, the cart, address and payment, orders, and the views they share."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, ClassVar, NamedTuple

from simulators.phone import nav
from simulators.phone.app import App, AppContext, State
from simulators.phone.kit.views import (
    Art,
    Button,
    Column,
    Dialog,
    Field,
    Icon,
    Line,
    ListView,
    Page,
    Row,
    Screen,
    Sheet,
    Space,
    Text,
    View,
)
from simulators.phone.kit.widgets import (
    app_bar,
    badge,
    card,
    checkable,
    empty,
    inset,
    item,
    quantity_row,
    section,
    stepper,
    tabs,
)


class FoodWords(NamedTuple):
    """Words of one food app, and the prefix of its order numbers."""

    cart: str = "cart"
    deliver: str = "Deliver to"
    pay: str = "Pay with"
    note: str = "Note to the restaurant"
    place: str = "Place order"
    number: str = "N-"
    first: int = 1041


def subtotal(items: list[dict[str, Any]]) -> float:
    """Return the price of all dishes."""
    return round(sum(float(entry["price"]) * int(entry["quantity"]) for entry in items), 2)


def _sum(label: str, amount: float, *, bold: bool = False) -> View:
    return Row(
        [Text(label, "body", bold=bold, grow=1), Text(money(amount), "body", align="right", width=260, bold=bold)]
    )


def cart_row(entry: dict[str, Any], index: int) -> View:
    """Return a dish in the cart, with its quantity."""
    words = Column(
        [
            Text(str(entry["dish"]), "strong", lines=1, id="dish"),
            Text(item_words(entry), "sub", "faint", lines=2, id="options") if item_words(entry) else None,
            Text(money(entry["price"] * entry["quantity"]), "item", "primary", lines=1, id="price"),
        ],
        grow=1,
    )
    return quantity_row(words, int(entry["quantity"]), index)


def order_card(order: dict[str, Any], here: AppContext) -> View:
    """Return an order in the list of orders."""
    order_time = datetime.fromisoformat(order.get("placed") or here.phone["clock"])
    dishes = ", ".join(f"{entry['quantity']} x {entry['dish']}" for entry in order["items"])
    head = Row(
        [
            Text(str(order["restaurant"]), "strong", lines=1, grow=1),
            Text(money(order["total"]), "strong", align="right", width=200),
        ]
    )
    when = f"{order_time.strftime('%a, %d %b, %H:%M')}   {order.get('status', '')}"
    rows: list[View | None] = [head, Text(dishes, "body", "faint", lines=2), Text(when, "sub", "faint", lines=1)]
    return card(rows, on=("go", "order", {"number": order["number"]}), id="order", pad=36)


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


class FoodApp(App):
    """A dish's options, the cart and the orders. Each app adds the ways to a dish."""

    words: ClassVar[FoodWords] = FoodWords()

    def do_dish(self, here: AppContext, restaurant: str, dish: str) -> None:
        """Open a dish with the first choice of each option."""
        menu_entry = self.dish(here, restaurant, dish)
        groups = here.own["option_groups"]
        options = {name: groups[name][0][0] for name in menu_entry["options"]}
        here.own["choice"] = {"options": options, "extras": [], "quantity": 1}
        here.go("dish", restaurant=restaurant, dish=dish)

    def screen_dish(self, here: AppContext) -> Screen:
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
        add.desc = f"Add to {self.words.cart}"
        count = stepper(str(choice["quantity"]), ("count", -1), ("count", 1), "of this dish", wide=110)
        return Sheet(Column(rows), foot=Row([count, add], gap=32, pad=(48, 20, 48, 28)))

    def do_pick(self, here: AppContext, group: str, label: str) -> None:
        here.own["choice"]["options"][group] = label

    def do_extra(self, here: AppContext, extra: str) -> None:
        extras = here.own["choice"]["extras"]
        here.own["choice"]["extras"] = [e for e in extras if e != extra] if extra in extras else [*extras, extra]

    def do_count(self, here: AppContext, by: int) -> None:
        choice = here.own["choice"]
        choice["quantity"] = min(20, max(1, int(choice["quantity"]) + by))

    def do_add(self, here: AppContext, restaurant: str, dish: str) -> None:
        cart = here.own["cart"]
        if cart["items"] and cart["restaurant"] != restaurant:
            here.go("other_cart", restaurant=restaurant, dish=dish)
            return
        self.add_to_cart(here, restaurant, dish)
        here.close_screens()
        here.toast(f"Added to {self.words.cart}")

    def screen_other_cart(self, here: AppContext) -> Screen:
        text = f"Your {self.words.cart} holds dishes from {here.own['cart']['restaurant']}. They are taken out."
        start = Button("Start new", "text", on=("start_cart", here.args["restaurant"], here.args["dish"]))
        title = f"Start a new {self.words.cart}?"
        return Dialog(title, Text(text, "body", "faint"), [Button("Cancel", "text", on=("back",)), start])

    def do_start_cart(self, here: AppContext, restaurant: str, dish: str) -> None:
        here.own["cart"] = {"restaurant": "", "items": [], "remark": ""}
        self.add_to_cart(here, restaurant, dish)
        here.close_screens(2)
        here.toast(f"Added to {self.words.cart}")

    def restaurant(self, here: AppContext, name: str) -> State:
        """Return the restaurant of that name."""
        return next(dict(place) for place in here.own["restaurants"] if place["name"] == name)

    def dish(self, here: AppContext, restaurant: str, name: str) -> State:
        """Return a dish of a restaurant."""
        parts = self.restaurant(here, restaurant)["sections"]
        return next(dict(dish) for part in parts for dish in part["dishes"] if dish["name"] == name)

    def price(self, here: AppContext, dish: State) -> float:
        """Return the price of one dish with its current choice."""
        choice = here.own["choice"]
        total = float(dish["price"])
        for group, label in choice["options"].items():
            total += sum(float(more) for name, more in here.own["option_groups"].get(group, []) if name == label)
        total += sum(float(here.own["extra_prices"].get(extra, 0)) for extra in choice["extras"])
        return round(total, 2)

    def add_to_cart(self, here: AppContext, restaurant: str, dish: str) -> None:
        """Add the chosen dish to the cart. The same choice again raises the quantity."""
        choice, cart = here.own["choice"], here.own["cart"]
        cart["restaurant"] = restaurant
        price = self.price(here, self.dish(here, restaurant, dish))
        entry = {"dish": dish, "quantity": choice["quantity"], "options": dict(choice["options"])}
        entry |= {"extras": list(choice["extras"]), "price": price}
        for other in cart["items"]:
            if {**other, "quantity": 0} == {**entry, "quantity": 0}:
                other["quantity"] += entry["quantity"]
                return
        cart["items"].append(entry)

    def cart_button(self, here: AppContext) -> View | None:
        """Return the button to the cart, or None if it is empty."""
        items = here.own["cart"]["items"]
        count = sum(int(entry["quantity"]) for entry in items)
        if not count:
            return None
        label = f"View {self.words.cart}  {count} item{'s' if count > 1 else ''}  {money(subtotal(items))}"
        button = Button(label, icon="cart", on=("go", "cart"), id=f"view_{self.words.cart}")
        return Column([button], pad=(48, 16))

    def do_tab(self, here: AppContext, name: str) -> None:
        """Switch the tab, without stacking one over the other."""
        while nav.pop(here.phone, self.id):
            continue
        if name != self.root:
            here.go(name)

    def screen_cart(self, here: AppContext) -> Screen:
        cart = here.own["cart"]
        if not cart["items"]:
            return Page(self.nothing(), bar=app_bar("Cart"))
        rows: list[View | None] = [section(str(cart["restaurant"]))]
        rows += [cart_row(entry, index) for index, entry in enumerate(cart["items"])]
        rows += [self.remark(), *self.places(here), self.sums(here)]
        return Page(ListView([*rows, Space(60)], id="cart"), bar=app_bar("Cart"), foot=self.place_button(here))

    def nothing(self) -> View:
        """Return the placeholder of an empty cart."""
        return empty("cart", f"Your {self.words.cart} is empty", "Dishes you add are shown here.")

    def remark(self) -> View:
        """Return the field for a note to the restaurant."""
        return inset(Field(["cart", "remark"], hint=self.words.note, id="remark", many=True), 24, 24)

    def places(self, here: AppContext) -> list[View | None]:
        """Return the rows of address and payment, each leading to the alternatives."""
        address = str(here.own["address"])
        line = next((str(a["line"]) for a in here.own["addresses"] if a["name"] == address), "")
        return [
            item(f"{self.words.deliver} {address}", line, lead=badge("place"), trail=Icon("next", 48),
                 on=("go", "addresses"), id="address"),
            item(self.words.pay, str(here.own["payment"]), lead=badge("card"), trail=Icon("next", 48),
                 on=("go", "payments"), id="payment"),
        ]  # fmt: skip

    def place_button(self, here: AppContext) -> View:
        """Return the button that places the order."""
        label = f"{self.words.place}  {money(self.total(here))}"
        return Column([Button(label, on=("order",), id="place_order")], pad=(48, 16, 48, 28))

    def _fee(self, here: AppContext) -> float:
        name = here.own["cart"]["restaurant"]
        return next((float(place["fee"]) for place in here.own["restaurants"] if place["name"] == name), 0.0)

    def total(self, here: AppContext) -> float:
        """Return the price of dishes and delivery."""
        return round(subtotal(here.own["cart"]["items"]) + self._fee(here), 2)

    def sums(self, here: AppContext) -> View:
        """Return the prices of dishes and delivery, and their total."""
        lines = (("Dishes", subtotal(here.own["cart"]["items"])), ("Delivery", self._fee(here)))
        rows: list[View | None] = [_sum(label, amount) for label, amount in lines]
        return inset(card([*rows, Line(), _sum("Total", self.total(here), bold=True)], pad=32), 24, 0)

    def do_quantity(self, here: AppContext, index: int, by: int) -> None:
        items = here.own["cart"]["items"]
        items[index]["quantity"] = int(items[index]["quantity"]) + by
        if items[index]["quantity"] < 1:
            del items[index]

    def screen_addresses(self, here: AppContext) -> Screen:
        rows: list[View | None] = [
            checkable(
                "radio",
                str(a["name"]),
                a["name"] == here.own["address"],
                ("choose", "address", a["name"]),
                sub=str(a["line"]),
            )
            for a in here.own["addresses"]
        ]
        return Sheet(Column([*rows, Space(24)]), title=self.words.deliver)

    def screen_payments(self, here: AppContext) -> Screen:
        rows: list[View | None] = [
            checkable("radio", str(name), name == here.own["payment"], ("choose", "payment", name))
            for name in here.own["payments"]
        ]
        return Sheet(Column([*rows, Space(24)]), title=self.words.pay)

    def do_choose(self, here: AppContext, what: str, name: str) -> None:
        here.own[what] = name
        here.close_screens()

    def new_order(self, here: AppContext) -> State:
        """Return an order of the cart's items, with address and payment."""
        cart = here.own["cart"]
        place = self.restaurant(here, cart["restaurant"])
        numbers = [int("".join(filter(str.isdecimal, str(o.get("number", "")))) or 0) for o in here.own["orders"]]
        arrives = here.clock + timedelta(minutes=int(place["minutes"]))
        return {
            "number": f"{self.words.number}{max([self.words.first, *numbers]) + 1}",
            "restaurant": cart["restaurant"],
            "items": cart["items"],
            "remark": str(cart["remark"]).strip(),
            "address": here.own["address"],
            "payment": here.own["payment"],
            "total": self.total(here),
            "placed": here.clock.isoformat(),
            "eta": arrives.strftime("%H:%M"),
            "status": "Preparing",
        }

    def do_order(self, here: AppContext) -> None:
        order = self.new_order(here)
        here.own["orders"].append(order)
        here.own["cart"] = {"restaurant": "", "items": [], "remark": ""}
        while nav.pop(here.phone, self.id):
            continue
        here.go("order", number=order["number"])
        here.notify("Order placed", f"{order['restaurant']} brings it at about {order['eta']}", "order",
                    {"number": order["number"]}, heads_up=False)  # fmt: skip

    def screen_order(self, here: AppContext) -> Screen:
        number = here.args["number"]
        order: dict[str, Any] = next((o for o in here.own["orders"] if o.get("number") == number), {})
        if not order:
            return Page(empty("receipt", "No such order", "It is not on this phone."), bar=app_bar("Order"))
        delivered = order.get("status") == "Delivered"
        title = "Delivered" if delivered else "Order placed"
        when = f"Arrived at {order['eta']}" if delivered else f"Arrives at about {order['eta']}"
        hero = card(
            [
                Column(
                    [Icon("check" if delivered else "bike", 110, "on_soft", disc="surface", disc_size=200)],
                    align="center",
                ),
                Text(title, "headline", "on_soft", "center", id="status"),
                Text(when, "title", "on_soft", "center", id="eta"),
                Text(f"{order['status']}", "body", "on_soft", "center"),
            ],
            fill="soft",
            gap=12,
        )
        rows: list[View | None] = [inset(hero, 8, 12), section(str(order["restaurant"]))]
        rows += [
            item(f"{entry['quantity']} x {entry['dish']}", item_words(entry),
                 trail=Text(money(entry["price"] * entry["quantity"]), "item", align="right", width=190))
            for entry in order["items"]
        ]  # fmt: skip
        if order.get("remark"):
            rows.append(item(self.words.note, str(order["remark"]), lead=badge("edit"), sub_lines=3))
        rows += [
            item(f"{self.words.deliver} {order['address']}", "", lead=badge("place")),
            item(str(order["payment"]), f"Total {money(order['total'])}", lead=badge("card")),
        ]
        return Page(ListView([*rows, Space(60)], id="order"), bar=app_bar(f"Order {number}"))

    def screen_orders(self, here: AppContext) -> Screen:
        rows: list[View | None] = [inset(order_card(order, here)) for order in reversed(here.own["orders"])]
        nothing = empty("receipt", "No orders yet", "What you order is shown here.")
        bar = Text("Orders", "headline", pad=(48, 32, 48, 24))
        tabs = self.tab_bar("Orders")
        return Page(ListView([*(rows or [nothing]), Space(40)], id="orders", gap=24), bar=bar, foot=tabs)

    def tab_bar(self, current: str) -> View:
        """Return the app's tabs."""
        return tab_bar(current)


def _option(kind: str, title: str, label: str, checked: bool, on: tuple[str, ...]) -> View:
    row = checkable(kind, title, checked, on)
    row.desc = label
    row.pad = (48, 10)
    return row
