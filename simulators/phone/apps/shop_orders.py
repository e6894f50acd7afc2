"""Addresses, payments and orders of a shop: choosing, adding, viewing, cancelling, buying again."""

from __future__ import annotations

from datetime import datetime

from simulators.phone.app import AppContext, State
from simulators.phone.apps.shop_trade import Trade, day, money, subtotal
from simulators.phone.apps.shop_views import sum_row, words_of
from simulators.phone.kit.views import (
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
from simulators.phone.kit.widgets import actions, app_bar, badge, card, empty, inset, item, marked, section

_SIGNS = {"Placed": "truck", "Delivered": "check", "Cancelled": "close"}


class Orders(Trade):
    """The screens around buying: address, payment, and orders."""

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
            marked(
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
        return [marked("radio", str(p), p == selected_payment, ("choose", "payment", p)) for p in here.own["payments"]]

    def screen_addresses(self, here: AppContext) -> Screen:
        return Sheet(Column([*self.address_choices(here), Space(24)]), title="Ship to")

    def screen_payments(self, here: AppContext) -> Screen:
        return Sheet(Column([*self.payment_choices(here), Space(24)]), title="Pay with")

    def do_choose(self, here: AppContext, what: str, name: str) -> None:
        here.own[what] = name
        if here.phone["nav"]["stacks"][self.id][-1]["screen"] in ("addresses", "payments"):
            here.back()

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
        here.back()
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
