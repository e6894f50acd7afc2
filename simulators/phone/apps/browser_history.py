"""Visits of web addresses, from the Browser or another app, and the Browser's history of them."""

from __future__ import annotations

from simulators.phone import nav
from simulators.phone.app import AppContext, State

WEATHER, TRAINS = "lark.example", "wagtail.example"
"""The two sites that have screens of their own."""


def plain_address(address: str) -> str:
    """Return an address without its scheme, `www.` and closing slash."""
    short = address.strip().removeprefix("https://").removeprefix("http://").removeprefix("www.").rstrip("/")
    host, slash, path = short.partition("/")
    return host.lower() + slash + path


def visit(phone: State, address: str) -> None:
    """Open an address in the Browser and add it to the history. `maps:NAME` opens that place in Maps."""
    app, colon, name = address.partition(":")
    if colon and app == "maps":
        nav.show(phone, "maps")
        AppContext(phone, "maps").go("place", name=name)
        return
    url = plain_address(address)
    nav.show(phone, "browser")
    here = AppContext(phone, "browser")
    remember(here, title_of(here, url), url)
    host, _, path = url.partition("/")
    if host == WEATHER:
        here.go("weather", **({"city": path} if path else {}))
    elif host == TRAINS:
        here.go("trains")
    else:
        here.go("page", url=url)


def page_at(here: AppContext, url: str) -> State | None:
    return next((page for page in here.own["pages"] if page["url"] == url), None)


def title_of(here: AppContext, url: str) -> str:
    """Return the Browser's title of an address."""
    page = page_at(here, url)
    host, _, path = url.partition("/")
    if page is not None:
        return str(page["title"])
    return f"Weather in {path}" if host == WEATHER and path else url


def remember(here: AppContext, title: str, url: str) -> None:
    """Add a visit to the top of the history. The same address twice in a row is one entry."""
    history: list[State] = here.own["history"]
    if history and history[0]["url"] == url:
        history.pop(0)
    history.insert(0, {"title": title, "url": url, "time": here.clock.isoformat()})
