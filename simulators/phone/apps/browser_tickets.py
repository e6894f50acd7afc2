"""The tickets of the Browser's train site: the list, one ticket, cancelling it. Their state: see `browser_trains`."""

from __future__ import annotations

from simulators.phone.app import App, AppContext, State
from simulators.phone.apps.browser_history import TRAINS
from simulators.phone.apps.browser_views import day_name, money, site
from simulators.phone.views import Button, Column, Dialog, Screen, Text, View
from simulators.phone.widgets import badge, card, empty, inset, item


class Tickets(App):
    """The part of the train site that is about what was booked."""

    def ticket_rows(self, here: AppContext) -> list[View | None]:
        rows: list[View | None] = [
            item(f"{b['origin']} to {b['destination']}", _when(here, b), lead=badge("receipt"), id="ticket",
                 sub_lines=2, on=("go", "ticket", {"number": b["number"]}))
            for b in reversed(here.own["bookings"])
        ]  # fmt: skip
        return rows or [Text("No tickets yet.", "body", "faint", pad=(48, 16))]

    def screen_ticket(self, here: AppContext) -> Screen:
        ticket = _ticket(here)
        url = f"{TRAINS}/tickets"
        if ticket is None:
            return site(here, url, [empty("receipt", "No such ticket", "It was not booked with this phone.")])
        cancelled = ticket["status"] != "Booked"
        panel = card([
            Text(f"{ticket['depart']} to {ticket['arrive']}", "headline", lines=1, id="times"),
            Text(day_name(str(ticket["date"]), here.clock), "body", lines=1, id="date"),
            Text(f"Train {ticket['train']}, {ticket['class']} class", "body", "faint", lines=1, id="class"),
            Text(str(ticket["place"]), "body", "faint", lines=1, id="place"),
            Text(f"{ticket['seat']} seat, {str(ticket['coach']).lower()} coach", "body", "faint", lines=1, id="seat"),
        ])  # fmt: skip
        cancel = Button("Cancel ticket", "outlined", on=("go", "cancel_ticket", {"number": ticket["number"]}))
        rows: list[View | None] = [
            Text(f"{ticket['origin']} to {ticket['destination']}", "title", pad=(48, 16), lines=1, id="way"),
            inset(panel, 0, 16),
            item(str(ticket["passenger"]), "Passenger", lead=badge("person"), id="passenger"),
            item(money(ticket["total"]), str(ticket["payment"]), lead=badge("card"), id="paid"),
            item(str(ticket["status"]), f"Ticket {ticket['number']}", lead=badge("receipt"), id="status"),
            None if cancelled else inset(Column([cancel]), 16),
        ]
        return site(here, url, rows, id="ticket")

    def screen_cancel_ticket(self, here: AppContext) -> Screen:
        ticket = _ticket(here)
        text = f"{money(ticket['total'])} go back to {ticket['payment']}." if ticket else ""
        return Dialog(
            "Cancel this ticket?",
            Text(text, "body", "faint"),
            [Button("Keep it", "text", on=("back",)), Button("Cancel ticket", "danger", on=("cancel_ticket",))],
        )

    def do_cancel_ticket(self, here: AppContext) -> None:
        ticket = _ticket(here)
        if ticket is not None:
            ticket["status"] = "Cancelled"
        here.back()
        here.toast("Ticket cancelled")


def _ticket(here: AppContext) -> State | None:
    return next((b for b in here.own["bookings"] if b["number"] == here.args["number"]), None)


def _when(here: AppContext, ticket: State) -> str:
    suffix = ", cancelled" if ticket["status"] != "Booked" else ""
    return f"{day_name(str(ticket['date']), here.clock)}, {ticket['depart']}{suffix}"
