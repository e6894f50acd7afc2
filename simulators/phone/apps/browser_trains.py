"""The train site of the Browser: searching for a train, choosing class, seat and coach, booking, cancelling.

State, in `apps.browser`:
- `trains`: the timetable, each `{number, origin, destination, depart, arrive (HH:MM), days, classes: [{name, price}]}`.
  `days` are names such as Mon. Without any, the train runs every day.
- `journey`: the search, `{origin, destination, date (ISO, empty for today)}`. `station`: the typed station.
- `choice`: `{class, seat: Window | Aisle, coach: Standard | Quiet | Family, passenger}`. `passengers` and `payments`:
  names to choose from. `payment`: the chosen one.
- `bookings`, latest last, each `{number, train, origin, destination, date, depart, arrive, class, seat, coach, place,
  passenger, payment, total, placed, status: Booked | Cancelled}`.
"""

from __future__ import annotations

import zlib
from datetime import date, datetime, timedelta

from simulators.phone.app import App, AppContext, State
from simulators.phone.apps.browser_pages import TRAINS, day_name, money, site
from simulators.phone.kit.views import (
    Button,
    Chip,
    Column,
    Dialog,
    Field,
    ListView,
    Page,
    Row,
    Screen,
    Space,
    Text,
    View,
)
from simulators.phone.kit.widgets import actions, app_bar, badge, card, checkable, empty, inset, item, section


def _ticket(here: AppContext) -> State | None:
    return next((b for b in here.own["bookings"] if b["number"] == here.args["number"]), None)


def _departure_words(here: AppContext, ticket: State) -> str:
    suffix = ", cancelled" if ticket["status"] != "Booked" else ""
    return f"{day_name(str(ticket['date']), here.clock)}, {ticket['depart']}{suffix}"


TRAIN: State = {
    "number": "", "origin": "", "destination": "", "depart": "09:00", "arrive": "10:00", "days": [], "classes": [],
}  # fmt: skip
BOOKING: State = {
    "number": "", "train": "", "origin": "", "destination": "", "date": "", "depart": "", "arrive": "", "class": "",
    "seat": "", "coach": "", "place": "", "passenger": "", "payment": "", "total": 0.0, "placed": "",
    "status": "Booked",
}  # fmt: skip
FIRST_TRAINS: State = {
    "journey": {"origin": "Quayside", "destination": "", "date": ""},
    "choice": {"class": "", "seat": "", "coach": "Standard", "passenger": "Ines Varga"},
    "passengers": ["Ines Varga"],
    "payments": ["Tamarind card, ends 4417", "PennyPurse wallet"],
    "payment": "Tamarind card, ends 4417",
    "station": "",
    "bookings": [],
}
_SEATS, _COACHES = ("Window", "Aisle"), ("Standard", "Quiet", "Family")
_AHEAD = 14
"""Number of days on which a train can be booked."""


class Trains(App):
    """The train site of the Browser."""

    def screen_trains(self, here: AppContext) -> Screen:
        trip = here.own["journey"]
        rows: list[View | None] = [
            Text("Wagtail Trains", "headline", pad=(48, 16), lines=1),
            item("From", str(trip["origin"]) or "Choose a station", lead=badge("train"), id="from",
                 on=("station", "origin")),
            item("To", str(trip["destination"]) or "Choose a station", lead=badge("place"), id="to",
                 on=("station", "destination")),
            item("Date", day_name(travel_day(here), here.clock), lead=badge("clock"), on=("go", "dates"), id="date"),
            inset(Button("Swap stations", "text", "swap", on=("swap_stations",), id="swap")),
            inset(Button("Find trains", on=("find",), id="find"), 8, 24),
            section("My tickets"),
            *self.ticket_rows(here),
        ]  # fmt: skip
        return site(here, TRAINS, rows)

    def do_swap_stations(self, here: AppContext) -> None:
        trip = here.own["journey"]
        trip["origin"], trip["destination"] = trip["destination"], trip["origin"]

    def do_station(self, here: AppContext, end: str) -> None:
        here.own["station"] = ""
        here.go("stations", end=end)

    def screen_stations(self, here: AppContext) -> Screen:
        end, query = str(here.args["end"]), str(here.own["station"]).strip().casefold()
        names = sorted({str(t[key]) for t in here.own["trains"] for key in ("origin", "destination")})
        rows: list[View | None] = [
            item(name, lead=badge("train"), on=("choose_station", end, name), id="station")
            for name in names if query in name.casefold()
        ]  # fmt: skip
        field = Field(["station"], hint="Search stations", kind="search", id="station", action="Search")
        nothing = empty("train", "No such station", "Wagtail stops at no place of that name.")
        title = "From" if end == "origin" else "To"
        bar = Column([app_bar(title), inset(field, 0, 16)])
        return Page(ListView([*(rows or [nothing]), Space(60)], id="stations"), bar=bar)

    def do_choose_station(self, here: AppContext, end: str, name: str) -> None:
        trip = here.own["journey"]
        other = "destination" if end == "origin" else "origin"
        if trip[other] == name:
            trip[other] = trip[end]
        trip[end], here.own["station"] = name, ""
        here.close_screens()

    def screen_dates(self, here: AppContext) -> Screen:
        selected_day = travel_day(here)
        days = [(here.clock.date() + timedelta(days=ahead)).isoformat() for ahead in range(_AHEAD)]
        rows: list[View | None] = [
            checkable("radio", _long_day(day, here.clock), day == selected_day, ("choose_date", day)) for day in days
        ]
        return Page(ListView([*rows, Space(60)], id="dates"), bar=app_bar("Date"))

    def do_choose_date(self, here: AppContext, day: str) -> None:
        here.own["journey"]["date"] = day
        here.close_screens()

    def do_find(self, here: AppContext) -> None:
        trip = here.own["journey"]
        if not trip["origin"] or not trip["destination"]:
            here.toast("Choose both stations first")
            return
        here.go("found", origin=trip["origin"], destination=trip["destination"], date=travel_day(here))

    def screen_found(self, here: AppContext) -> Screen:
        args = here.args
        rows: list[View | None] = [
            Text(f"{args['origin']} to {args['destination']}", "title", pad=(48, 12), lines=1, id="title"),
            Text(day_name(str(args["date"]), here.clock), "body", "faint", pad=(48, 0), lines=1, id="date"),
        ]
        trains = _remaining_trains(here)
        rows += [_row(train, str(args["date"])) for train in trains]
        if not trains:
            rows.append(empty("train", "No trains", "No train goes there on this day any more."))
        return site(here, f"{TRAINS}/trains", rows, id="trains")

    def do_train(self, here: AppContext, number: str, day: str) -> None:
        here.own["choice"] = {"class": "", "seat": "", "coach": "Standard", "passenger": here.own["passengers"][0]}
        here.go("train", number=number, date=day)

    def screen_train(self, here: AppContext) -> Screen:
        train, choice = _train(here), here.own["choice"]
        if train is None:
            return site(here, TRAINS, [empty("train", "No such train", "It does not run any more.")])
        rows: list[View | None] = [
            Text(f"{train['depart']} to {train['arrive']}", "headline", pad=(48, 16, 48, 0), lines=1, id="times"),
            Text(f"{train['origin']} to {train['destination']}", "body", pad=(48, 0), lines=1, id="way"),
            Text(f"{_long_day(here.args['date'], here.clock)}, {_length(train)}, train {train['number']}", "body",
                 "faint", pad=(48, 0), lines=2, id="about"),
            section("Class"),
            *(checkable("radio", f"{c['name']} class, {money(c['price'])}", choice["class"] == c["name"],
                     ("pick", "class", c["name"])) for c in train["classes"]),
            section("Seat"), _chips("seat", _SEATS, str(choice["seat"])),
            section("Coach"), _chips("coach", _COACHES, str(choice["coach"])),
            section("Passenger"),
            item(str(choice["passenger"]), "Tap to change", lead=badge("person"), on=("go", "who"), id="passenger"),
            item(str(here.own["payment"]), "Pay with", lead=badge("card"), on=("go", "pay_with"), id="payment"),
        ]  # fmt: skip
        price = _price(train, str(choice["class"]))
        book = Button("Book" if price is None else f"Book, {money(price)}", on=("book",), id="book")
        return site(here, f"{TRAINS}/{train['number']}", rows, foot=actions(book), id="train")

    def do_pick(self, here: AppContext, what: str, name: str) -> None:
        here.own["choice"][what] = name

    def screen_who(self, here: AppContext) -> Screen:
        rows: list[View | None] = [
            checkable("radio", str(name), here.own["choice"]["passenger"] == name, ("pick_back", "passenger", name))
            for name in here.own["passengers"]
        ]
        return Dialog("Who travels?", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_pick_back(self, here: AppContext, what: str, name: str) -> None:
        here.own["choice"][what] = name
        here.close_screens()

    def screen_pay_with(self, here: AppContext) -> Screen:
        rows: list[View | None] = [
            checkable("radio", str(name), here.own["payment"] == name, ("pay_with", name))
            for name in here.own["payments"]
        ]
        return Dialog("Pay with", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_pay_with(self, here: AppContext, name: str) -> None:
        here.own["payment"] = name
        here.close_screens()

    def do_book(self, here: AppContext) -> None:
        train, choice = _train(here), here.own["choice"]
        missing = [what for what in ("class", "seat") if not choice[what]]
        price = _price(train, str(choice["class"])) if train else None
        if train is None or missing or price is None:
            here.toast(f"Choose a {' and a '.join(missing)} first" if missing else "This train cannot be booked")
            return
        number = f"T-{2040 + len(here.own['bookings']) + 1}"
        here.own["bookings"].append({
            "number": number, "train": train["number"], "origin": train["origin"],
            "destination": train["destination"], "date": here.args["date"], "depart": train["depart"],
            "arrive": train["arrive"], **choice, "place": _seat_words(number, choice), "payment": here.own["payment"],
            "total": price, "placed": here.clock.isoformat(), "status": "Booked",
        })  # fmt: skip
        while here.phone["nav"]["stacks"][self.id][-1]["screen"] not in ("trains", "home"):
            here.close_screens()
        here.go("ticket", number=number)
        here.toast("Booked")

    def ticket_rows(self, here: AppContext) -> list[View | None]:
        rows: list[View | None] = [
            item(f"{b['origin']} to {b['destination']}", _departure_words(here, b), lead=badge("receipt"), id="ticket",
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
        here.close_screens()
        here.toast("Ticket cancelled")


def travel_day(here: AppContext) -> str:
    """Return the day of the search: the chosen one, or today if none is chosen or it is past."""
    today = here.clock.date().isoformat()
    return max(str(here.own["journey"]["date"]), today)


def _long_day(day: str, clock: datetime) -> str:
    long_name = date.fromisoformat(day).strftime("%A, %d %B").replace(" 0", " ")
    return f"Today, {long_name}" if day == clock.date().isoformat() else long_name


def _remaining_trains(here: AppContext) -> list[State]:
    """Return the day's trains that have not left yet, by departure."""
    args, day = here.args, date.fromisoformat(here.args["date"])
    now = here.clock.strftime("%H:%M") if day == here.clock.date() else ""
    return sorted(
        (
            train for train in here.own["trains"]
            if (train["origin"], train["destination"]) == (args["origin"], args["destination"])
            and (not train["days"] or day.strftime("%a") in train["days"]) and train["depart"] > now
        ),
        key=lambda train: str(train["depart"]),
    )  # fmt: skip


def _train(here: AppContext) -> State | None:
    return next((t for t in here.own["trains"] if t["number"] == here.args["number"]), None)


def _price(train: State, name: str) -> float | None:
    return next((float(c["price"]) for c in train["classes"] if c["name"] == name), None)


def _length(train: State) -> str:
    start, end = (int(t[:2]) * 60 + int(t[3:]) for t in (train["depart"], train["arrive"]))
    hours, minutes = divmod((end - start) % 1440, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"


def _seat_words(number: str, choice: State) -> str:
    """Return coach and seat, derived from the booking's number."""
    seed = zlib.crc32(number.encode())
    coach = {"Standard": 3, "Quiet": 6, "Family": 8}.get(str(choice["coach"]), 3) + seed % 2
    return f"Coach {coach}, seat {seed % 18 + 1}{'A' if choice['seat'] == 'Window' else 'B'}"


def _row(train: State, day: str) -> View:
    least = min((float(c["price"]) for c in train["classes"]), default=0.0)
    words = [
        Text(f"{train['depart']} to {train['arrive']}", "strong", lines=1, id="times"),
        Text(f"{_length(train)}, train {train['number']}, from {money(least)}", "sub", "faint", lines=1, id="about"),
    ]
    return Column(list(words), pad=(48, 20), gap=8, on=("train", train["number"], day), id="train_row")


def _chips(what: str, names: tuple[str, ...], selected_name: str) -> View:
    chips: list[View | None] = [
        Chip(name, on=("pick", what, name), checkable=True, checked=name == selected_name, grow=1, id=what)
        for name in names
    ]
    return Row(chips, gap=16, pad=(48, 8))
