"""Views that the Browser's screens share."""

from __future__ import annotations

from datetime import date, datetime

from simulators.phone.app import AppContext
from simulators.phone.kit.views import Icon, ListView, Page, Row, Space, Text, View
from simulators.phone.kit.widgets import icon_button


def money(amount: float) -> str:
    return f"${amount:.2f}"


def day_name(day: str, clock: datetime) -> str:
    """Return a date as Today, Tomorrow, or `Friday, 13 March`."""
    then = date.fromisoformat(day)
    ahead = (then - clock.date()).days
    if ahead in (0, 1):
        return ("Today", "Tomorrow")[ahead]
    return then.strftime("%A, %d %B").replace(" 0", " ")


def site(here: AppContext, url: str, rows: list[View | None], *, foot: View | None = None, id: str = "page") -> Page:
    """Return a web page: its address on top, its content below."""
    bookmarked = any(mark["url"] == url for mark in here.own["bookmarks"])
    star = icon_button(
        "bookmark" if bookmarked else "bookmark_off", "Remove bookmark" if bookmarked else "Add bookmark",
        ("bookmark", url), colour="primary" if bookmarked else "faint", id="bookmark",
    )  # fmt: skip
    lock = Icon("globe", 44)
    words = Row(
        [lock, Text(url, "body", lines=1, grow=1, id="url")], gap=20, pad=(32, 20), fill="high", radius=60, grow=1,
        on=("edit_address",), id="url_bar", desc="Address bar",
    )  # fmt: skip
    home = icon_button("home", "Home page", ("home",), id="home")
    more = icon_button("more", "More options", ("go", "menu"), id="more")
    bar = Row([home, words, star, more], pad=(8, 16, 8, 16))
    return Page(ListView([*rows, Space(60)], id=id, gap=8), bar=bar, foot=foot)
