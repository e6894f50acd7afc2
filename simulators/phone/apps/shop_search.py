"""A shop's search: by word, category, price, stars, colour and stock, sorted as chosen."""

from __future__ import annotations

from typing import Any

from simulators.phone.app import AppContext, State
from simulators.phone.apps.shop_trade import Trade, money
from simulators.phone.apps.shop_views import goods_row
from simulators.phone.kit.views import (
    Button,
    Chip,
    Column,
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
from simulators.phone.kit.widgets import actions, app_bar, empty, icon_button, inset, marked, section

SORTS = ("Best match", "Price, low to high", "Price, high to low", "Best rated", "Sent soonest")
STARS = ("3", "4", "4.5")
NO_FILTERS: State = {"low": "", "high": "", "stars": "", "colour": "", "in_stock": False}


class Search(Trade):
    """The search for goods. Each shop places the field and the results."""

    def found(self, here: AppContext, category: str = "") -> list[State]:
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
        products = self.found(here, category)
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
            marked("switch", "Only what is in stock", bool(f["in_stock"]), ("toggle", ["filters", "in_stock"])),
        ]
        count = len(self.found(here, category))
        foot = actions(
            Button("Clear", "outlined", on=("clear_filters",), id="clear"),
            Button(f"Show {count}", on=("back",), id="show", desc=f"Show {count} products"),
        )
        return Page(ListView([*rows, Space(60)], id="filters", gap=8), bar=app_bar("Filter"), foot=foot)

    def do_next(self, here: AppContext) -> None:
        here.focus("high")

    def screen_sort(self, here: AppContext) -> Screen:
        rows: list[View | None] = [marked("radio", s, s == here.own["sort"], ("sort", s)) for s in SORTS]
        return Sheet(Column([*rows, Space(24)]), title="Sort by")

    def do_sort(self, here: AppContext, name: str) -> None:
        here.own["sort"] = name
        here.back()


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
