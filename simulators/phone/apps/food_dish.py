"""Page of a food app's dish: its options, extras and quantity, and the button to the cart."""

from __future__ import annotations

from simulators.phone.app import AppContext
from simulators.phone.apps.food_cart import Cart
from simulators.phone.apps.food_views import money
from simulators.phone.kit.views import Art, Button, Column, Dialog, Row, Screen, Sheet, Text, View
from simulators.phone.kit.widgets import inset, marked, section, stepper


class Dish(Cart):
    """The choice of a dish's options. The apps add the ways to the dish."""

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
        self.put(here, restaurant, dish)
        here.back()
        here.toast(f"Added to {self.words.cart}")

    def screen_other_cart(self, here: AppContext) -> Screen:
        text = f"Your {self.words.cart} holds dishes from {here.own['cart']['restaurant']}. They are taken out."
        start = Button("Start new", "text", on=("start_cart", here.args["restaurant"], here.args["dish"]))
        title = f"Start a new {self.words.cart}?"
        return Dialog(title, Text(text, "body", "faint"), [Button("Cancel", "text", on=("back",)), start])

    def do_start_cart(self, here: AppContext, restaurant: str, dish: str) -> None:
        here.own["cart"] = {"restaurant": "", "items": [], "remark": ""}
        self.put(here, restaurant, dish)
        here.back(2)
        here.toast(f"Added to {self.words.cart}")


def _option(kind: str, title: str, label: str, checked: bool, on: tuple[str, ...]) -> View:
    row = marked(kind, title, checked, on)
    row.desc = label
    row.pad = (48, 10)
    return row
