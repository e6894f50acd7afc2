"""Screens of a shop: search and filters, a product's page, address and payment, orders."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from simulators.phone.app import AppContext, State
from simulators.phone.apps.shops.shop_trade import (
    Trade,
    art,
    day,
    goods_row,
    money,
    stars,
    stock,
    subtotal,
    sum_row,
    words_of,
)
from simulators.phone.kit.views import (
    Button,
    Chip,
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
    actions,
    app_bar,
    badge,
    card,
    checkable,
    empty,
    icon_button,
    inset,
    item,
    section,
    stepper,
)

SORTS = ("Best match", "Price, low to high", "Price, high to low", "Best rated", "Sent soonest")
STARS = ("3", "4", "4.5")
NO_FILTERS: State = {"low": "", "high": "", "stars": "", "colour": "", "in_stock": False}


class Shop(Trade):
    """Screens that the shops share. Each shop places the search field, the results and the checkout."""

    chips: ClassVar[bool] = False
    """True if variants are small buttons, two in a row."""

    def matching_products(self, here: AppContext, category: str = "") -> list[State]:
        """Return the products that match the words, the category and the filters, sorted."""
        words = str(here.own["query"]).casefold().split()
        products = [
            p
            for p in here.own["products"]
            if category in ("", p["category"]) and (category or _mentions(p, words)) and _passes(p, here.own["filters"])
        ]
        keys: dict[str, Any] = {
            SORTS[1]: lambda p: p["price"],
            SORTS[2]: lambda p: -p["price"],
            SORTS[3]: lambda p: -p["rating"],
            SORTS[4]: lambda p: p["days"],
        }
        return sorted(products, key=keys.get(here.own["sort"], lambda _: 0))

    def results(self, here: AppContext, category: str = "") -> list[View | None]:
        """Return the filter row, the number of products, and the products."""
        products = self.matching_products(here, category)
        count = f"{len(products)} product{'s' if len(products) != 1 else ''}"
        rows: list[View | None] = [self._narrow(here, category), Text(count, "sub", "faint", pad=(48, 0), id="count")]
        if not products:
            hint = "Loosen the filters." if self.active(here) else "Try another word."
            return [*rows, empty("search", "Nothing found", hint)]
        return rows + [self.shelf_row(here, product) for product in products]

    def shelf_row(self, here: AppContext, product: State) -> View:
        """Return a product in a list."""
        return goods_row(product, ("product", product["name"]), str(here.own["filters"]["colour"]))

    def search_box(self, here: AppContext, field: Field) -> View:
        """Return the search field, with a button to clear it if it is not empty."""
        if not str(here.own["query"]):
            return inset(field, 0, 20)
        field.grow = 1
        clear = icon_button("close", "Clear search", ("clear_search",), id="clear_search")
        return inset(Row([field, clear], gap=8), 0, 20)

    def do_clear_search(self, here: AppContext) -> None:
        here.own["query"] = ""
        here.focus("search")

    def _narrow(self, here: AppContext, category: str) -> View:
        """Return the filter and sort buttons, and a chip for each active filter, which a tap removes."""
        more = {"category": category}
        chips: list[View | None] = [
            Chip("Filter", icon="filter", on=("go", "filter", more), id="filter", desc="Filter", cls="Button"),
            Chip("Sort", icon="sort", on=("go", "sort"), id="sort", desc="Sort", cls="Button"),
        ]
        for key, label in self.active(here):
            chips.append(Chip(label, icon="close", on=("unfilter", key), id="active", desc=f"Remove filter {label}"))
        return ListView([Space(32), *chips, Space(32)], id="narrow", across=True, gap=16)

    def active(self, here: AppContext) -> list[tuple[str, str]]:
        """Return the active filters: key and label."""
        f = here.own["filters"]
        low, high = amount(f["low"]), amount(f["high"])
        texts = [
            ("low", f"From {money(low)}" if low is not None else ""),
            ("high", f"Up to {money(high)}" if high is not None else ""),
            ("stars", f"{f['stars']} stars and up" if f["stars"] else ""),
            ("colour", str(f["colour"])),
            ("in_stock", "In stock" if f["in_stock"] else ""),
        ]
        return [(key, label) for key, label in texts if label]

    def do_unfilter(self, here: AppContext, key: str) -> None:
        here.own["filters"][key] = NO_FILTERS[key]

    def do_clear_filters(self, here: AppContext) -> None:
        here.own["filters"] = dict(NO_FILTERS)

    def do_filter(self, here: AppContext, key: str, value: str) -> None:
        """Set a filter, or clear it if it has that value."""
        filters = here.own["filters"]
        filters[key] = "" if filters[key] == value else value

    def do_category(self, here: AppContext, name: str) -> None:
        """Open a category with no filters."""
        here.own["filters"] = dict(NO_FILTERS)
        here.go("category", name=name)

    def screen_category(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        return Page(ListView([*self.results(here, name), Space(60)], id="results"), bar=app_bar(name))

    def screen_filter(self, here: AppContext) -> Screen:
        """Return the sheet of all filters. They apply at once."""
        category, f = str(here.args.get("category", "")), here.own["filters"]
        low = Field(["filters", "low"], hint="From", id="low", numeric=True, action="Next", submit=("next",), grow=1)
        high = Field(["filters", "high"], hint="Up to", id="high", numeric=True, grow=1)
        colours = sorted({c["name"] for p in here.own["products"] for c in _colours(p)})
        rows: list[View | None] = [
            section("Price"),
            Row([low, high], gap=32, pad=(48, 16)),
            section("Stars"),
            *pairs([_choice(f"{s} and up", f["stars"] == s, ("filter", "stars", s)) for s in STARS]),
            section("Colour"),
            *pairs([_choice(c, f["colour"] == c, ("filter", "colour", c)) for c in colours]),
            checkable("switch", "Only what is in stock", bool(f["in_stock"]), ("toggle", ["filters", "in_stock"])),
        ]
        count = len(self.matching_products(here, category))
        foot = actions(
            Button("Clear", "outlined", on=("clear_filters",), id="clear"),
            Button(f"Show {count}", on=("back",), id="show", desc=f"Show {count} products"),
        )
        return Page(ListView([*rows, Space(60)], id="filters", gap=8), bar=app_bar("Filter"), foot=foot)

    def do_next(self, here: AppContext) -> None:
        here.focus("high")

    def screen_sort(self, here: AppContext) -> Screen:
        rows: list[View | None] = [checkable("radio", s, s == here.own["sort"], ("sort", s)) for s in SORTS]
        return Sheet(Column([*rows, Space(24)]), title="Sort by")

    def do_sort(self, here: AppContext, name: str) -> None:
        here.own["sort"] = name
        here.close_screens()

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
        if self.add_to_cart(here, name, dict(choice["variants"]), int(choice["quantity"])):
            here.close_screens()
            here.toast(f"In your {self.words.cart} now")
        else:
            here.toast("No more of this in stock")

    def address_row(self, here: AppContext) -> View:
        """Return the address with the way to the others."""
        name = str(here.own["address"])
        line = next((str(a["line"]) for a in here.own["addresses"] if a["name"] == name), "")
        return item(f"Ship to {name}", line, lead=badge("place"), trail=Icon("next", 48), on=("go", "addresses"),
                    id="address")  # fmt: skip

    def address_choices(self, here: AppContext) -> list[View | None]:
        """Return all addresses, and the way to a new one."""
        selected_name = here.own["address"]
        rows: list[View | None] = [
            checkable(
                "radio",
                str(a["name"]),
                a["name"] == selected_name,
                ("choose", "address", a["name"]),
                sub=str(a["line"]),
            )
            for a in here.own["addresses"]
        ]
        return [*rows, item("Add an address", lead=badge("add"), on=("new_address",), id="add_address")]

    def payment_choices(self, here: AppContext) -> list[View | None]:
        """Return all ways to pay."""
        selected_payment = here.own["payment"]
        return [
            checkable("radio", str(p), p == selected_payment, ("choose", "payment", p)) for p in here.own["payments"]
        ]

    def screen_addresses(self, here: AppContext) -> Screen:
        return Sheet(Column([*self.address_choices(here), Space(24)]), title="Ship to")

    def screen_payments(self, here: AppContext) -> Screen:
        return Sheet(Column([*self.payment_choices(here), Space(24)]), title="Pay with")

    def do_choose(self, here: AppContext, what: str, name: str) -> None:
        here.own[what] = name
        if here.phone["nav"]["stacks"][self.id][-1]["screen"] in ("addresses", "payments"):
            here.close_screens()

    def do_new_address(self, here: AppContext) -> None:
        here.own["draft"] = {"name": "", "line": ""}
        here.go("new_address")
        here.focus("address_name")

    def screen_new_address(self, here: AppContext) -> Screen:
        name = Field(["draft", "name"], hint="Name, as Home", id="address_name", action="Next", submit=("line",))
        line = Field(["draft", "line"], hint="Street and number", id="address_line")
        whole = all(str(text).strip() for text in here.own["draft"].values())
        save = Button("Save address", on=("save_address",), enabled=whole, id="save_address")
        rows: list[View | None] = [inset(name, 16, 16), inset(line, 16, 16)]
        return Page(ListView(rows, id="new_address"), bar=app_bar("New address"), foot=actions(save))

    def do_line(self, here: AppContext) -> None:
        here.focus("address_line")

    def do_save_address(self, here: AppContext) -> None:
        """Save the new address and ship to it. It replaces one of the same name."""
        entry = {key: str(text).strip() for key, text in here.own["draft"].items()}
        other_addresses = [a for a in here.own["addresses"] if a["name"] != entry["name"]]
        here.own["addresses"], here.own["address"] = [*other_addresses, entry], entry["name"]
        here.close_screens()
        here.toast("Address saved")

    def orders_list(self, here: AppContext) -> ListView:
        """Return the orders, latest first."""
        rows: list[View | None] = [inset(self._card(here, order)) for order in reversed(here.own["orders"])]
        nothing = empty("receipt", f"No {self.words.orders.lower()} yet", "What you buy is shown here.")
        return ListView([*(rows or [nothing]), Space(40)], id="orders", gap=24)

    def _card(self, here: AppContext, order: State) -> View:
        things = ", ".join(f"{e['quantity']} x {e['product']}" for e in order["items"])
        total = Text(money(order["total"]), "strong", align="right", width=240, lines=1)
        order_time = datetime.fromisoformat(order["placed"])
        rows: list[View | None] = [
            Row([Text(str(order["number"]), "strong", lines=1, grow=1, id="number"), total]),
            Text(things, "body", "faint", lines=2),
            Text(f"{self.status(here, order)}, bought {day(order_time.date())}", "sub", "faint", lines=1, id="status"),
        ]
        return card(rows, on=("go", "order", {"number": order["number"]}), id="order", pad=36)

    def screen_order(self, here: AppContext) -> Screen:
        number = str(here.args["number"])
        order = self.order(here, number)
        if order is None:
            return Page(empty("receipt", "No such order", "It is not on this phone."), bar=app_bar(number))
        status = self.status(here, order)
        rows: list[View | None] = [
            item(
                status,
                _arrival_words(status, order),
                lead=badge(_SIGNS.get(status, "receipt")),
                strong=True,
                id="status",
            ),
            section("Items"),
            *[_item_row(entry) for entry in order["items"]],
            item(f"Ship to {order['address']}", str(order["delivery"]), lead=badge("place"), id="address"),
            item("Paid with", str(order["payment"]), lead=badge("card"), id="payment"),
            inset(card(_sum_rows(order), pad=32), 16),
        ]
        again = Button("Buy again", "tonal", on=("again", number), id="again")
        cancel = Button(f"Cancel {self.words.order}", "outlined", on=("go", "cancel", {"number": number}), id="cancel")
        foot = actions(cancel, again) if status == "Placed" else actions(again)
        title = f"{self.words.order.capitalize()} {number}"
        return Page(ListView([*rows, Space(60)], id="order"), bar=app_bar(title), foot=foot)

    def screen_cancel(self, here: AppContext) -> Screen:
        number = str(here.args["number"])
        keep = Button("Keep it", "text", on=("back",), id="keep")
        end = Button(f"Cancel {self.words.order}", "danger", on=("cancel", number), id="confirm_cancel")
        return Dialog(
            f"Cancel {number}?", Text("Nothing is sent, and you get the money back.", "body", "faint"), [keep, end]
        )


def pairs(views: list[View]) -> list[View | None]:
    """Return views in rows of two."""
    rows: list[View | None] = []
    for i in range(0, len(views), 2):
        two: list[View | None] = [*views[i : i + 2]]
        if len(two) == 1:
            two.append(Space(1, grow=1))
        rows.append(inset(Row(two, gap=24)))
    return rows


def _choice(label: str, selected: bool, on: tuple[str, ...]) -> View:
    return Chip(label, on=on, selected=selected, checkable=True, checked=selected, cls="CheckBox", grow=1, id="choice")


def amount(text: str) -> float | None:
    """Parse a typed amount of money, or None if it is not a number."""
    try:
        value = float(str(text).strip().lstrip("$").replace(",", "."))
    except ValueError:
        return None
    return value if 0 <= value < 1e9 else None


def _colours(product: State) -> list[State]:
    return [choice for group in product["variants"] if group["name"] == "Colour" for choice in group["choices"]]


def _mentions(product: State, words: list[str]) -> bool:
    """Return True if a product's text contains each word."""
    text = f"{product['name']} {product['category']} {product['about']}".casefold()
    return all(word in text for word in words)


def _passes(product: State, filters: State) -> bool:
    low, high = amount(filters["low"]), amount(filters["high"])
    return (
        (low is None or float(product["price"]) >= low)
        and (high is None or float(product["price"]) <= high)
        and (not filters["stars"] or float(product["rating"]) >= float(filters["stars"]))
        and (not filters["colour"] or any(c["name"] == filters["colour"] for c in _colours(product)))
        and (not filters["in_stock"] or int(product["stock"]) > 0)
    )


_SIGNS = {"Placed": "truck", "Delivered": "check", "Cancelled": "close"}


def _arrival_words(status: str, order: State) -> str:
    arrives = day(order["arrives"]) if order["arrives"] else "soon"
    return {"Placed": f"Arrives on {arrives}", "Delivered": f"Arrived on {arrives}"}.get(
        status, "The money is paid back"
    )


def _item_row(entry: State) -> View:
    cost = Text(money(entry["price"] * entry["quantity"]), "item", align="right", width=220)
    return item(f"{entry['quantity']} x {entry['product']}", words_of(entry), trail=cost, id="item")


def _sum_rows(order: State) -> list[View | None]:
    rows: list[View | None] = [sum_row("Goods", money(subtotal(order["items"])))]
    if order["discount"]:
        rows.append(sum_row(f"Coupon {order['coupon']}", f"-{money(order['discount'])}"))
    rows += [sum_row("Delivery", money(order["fee"]) if order["fee"] else "Free"), Line()]
    return [*rows, sum_row("Total", money(order["total"]), bold=True)]


def _choice_words(choice: State) -> str:
    """Return a choice with its surcharge."""
    return f"{choice['name']}  +{money(choice['surcharge'])}" if choice["surcharge"] else str(choice["name"])


def _chip(group: str, choice: State, selected: bool) -> View:
    return Chip(_choice_words(choice), on=("pick", group, choice["name"]), selected=selected, checkable=True,
                checked=selected, cls="RadioButton", desc=str(choice["name"]), id="choice", grow=1)  # fmt: skip


def _row(group: str, choice: State, selected: bool) -> View:
    row = checkable("radio", _choice_words(choice), selected, ("pick", group, choice["name"]))
    row.desc, row.pad = str(choice["name"]), (48, 10)
    return row
