"""Pages of the Browser: their invented content, their frame, and the history of visits.

A page is an address, a title, a line for the results, and parts: `#` begins a heading, `>` a link as `> text | url`.
Weather is a city's days from today on: sky, low, high (degrees Celsius), rain (percent), wind (km/h), wet hours.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from simulators.phone import nav
from simulators.phone.app import AppContext, State
from simulators.phone.kit.views import Icon, ListView, Page, Row, Space, Text, View
from simulators.phone.kit.widgets import icon_button

PAGES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("lark.example", "Lark Weather", "The forecast for today and the days to come, city by city", ()),
    ("wagtail.example", "Wagtail Trains", "Timetables and train tickets, with seats to choose", ()),
    ("canalmuseum.example", "Canal Museum", "Two centuries of boats, locks and lanterns in a warehouse by the water", (
        "The museum stands in the old customs warehouse. Boats, locks and lanterns on three floors.",
        "# Now showing", "Night on the water: paintings by lamplight, until the end of the season.",
        "# Your visit", "The cafe is on the ground floor. Bags go into the lockers.",
        "> Opening hours and the way there | maps:Canal Museum",
        "> Children's programme | canalmuseum.example/children")),
    ("canalmuseum.example/children", "Children at the Canal Museum", "Paper boats, a treasure hunt, and a quiet room", (
        "Paper boats are folded every Sunday afternoon. The treasure hunt takes about an hour.",
        "> Back to the museum | canalmuseum.example")),
    ("softmatter.example", "Institute of Soft Matter", "Polymers, films, foams and gels: research and seminars", (
        "The institute studies what is neither quite solid nor quite liquid.",
        "# Seminars", "Every Wednesday at 16:00, in room 0.14. Visitors are welcome.",
        "> The way there | maps:Institute of Soft Matter")),
    ("slowkitchen.example/lemon-rice", "Lemon rice in twenty minutes", "A pan, two lemons, a handful of nuts", (
        "# You need", "300 g cooked rice, 2 lemons, 40 g peanuts, mustard seeds, turmeric, oil.",
        "# How", "Warm the seeds in oil until they jump. Add nuts and turmeric, then rice and the juice of the lemons.",
        "> More recipes | slowkitchen.example")),
    ("slowkitchen.example", "Slow Kitchen", "Recipes without hurry", (
        "Food that waits for you.",
        "> Lemon rice in twenty minutes | slowkitchen.example/lemon-rice",
        "> 家常番茄面 | slowkitchen.example/fanqie")),
    ("slowkitchen.example/fanqie", "家常番茄面", "两个番茄，一把挂面，十五分钟", (
        "# 材料", "番茄两个，鸡蛋一个，挂面一把，葱少许。",
        "# 做法", "番茄炒软，加水煮开，下面条，最后淋入蛋液，撒上葱花。",
        "> Slow Kitchen | slowkitchen.example")),
    ("yinhu.example", "银湖公园", "湖边散步、租船与茶室", (
        "公园环绕银湖，步道全长六公里。茶室在南门旁边。",
        "# 租船", "天气好的时候可以租小船，请带好身份证件。",
        "> 在地图上查看 | maps:银湖公园")),
    ("harbourpost.example/ferry", "New ferry from the quay", "Harbour Post: the ferry calls at the canal garden too", (
        "From this month the harbour ferry also calls at the canal garden. It takes bicycles for free.",
        "> Harbour Post | harbourpost.example")),
    ("harbourpost.example", "Harbour Post", "News from the harbour and the streets behind it", (
        "> New ferry from the quay | harbourpost.example/ferry",
        "> Night market finds a new home | harbourpost.example/market")),
    ("harbourpost.example/market", "Night market finds a new home", "Harbour Post: stalls move to Old Foundry Lane", (
        "The night market moves to Old Foundry Lane. Sixty stalls have signed up so far.",
        "> Where it is | maps:Night Market",
        "> Harbour Post | harbourpost.example")),
)  # fmt: skip

_Day = tuple[str, int, int, int, int, tuple[int, ...]]
_SUN, _HALF, _GREY, _WET, _STORM = "Sunny", "Partly cloudy", "Cloudy", "Rain", "Storm"

CITIES: dict[str, tuple[_Day, ...]] = {
    "Singapore": (
        (_HALF, 25, 32, 20, 9, ()), (_STORM, 24, 30, 80, 22, (14, 15, 16)), (_WET, 24, 29, 70, 14, (9, 10, 17)),
        (_HALF, 25, 32, 30, 10, ()), (_SUN, 26, 33, 10, 8, ()), (_GREY, 25, 31, 40, 11, ()),
        (_WET, 24, 30, 75, 16, (15, 16, 17, 18))),
    "Penang": ((_SUN, 25, 33, 10, 7, ()), (_HALF, 25, 32, 20, 9, ()), (_WET, 24, 30, 65, 13, (16, 17)),
               (_GREY, 25, 31, 35, 10, ()), (_HALF, 25, 32, 25, 8, ()), (_SUN, 26, 33, 5, 6, ()),
               (_HALF, 25, 32, 20, 9, ())),
    "Larkmoor": ((_GREY, 6, 11, 30, 18, ()), (_WET, 5, 9, 85, 26, (8, 9, 10, 11, 12)), (_HALF, 4, 10, 20, 15, ()),
                 (_SUN, 3, 12, 5, 9, ()), (_SUN, 4, 13, 5, 8, ()), (_GREY, 6, 11, 40, 17, ()),
                 (_WET, 5, 9, 70, 24, (17, 18, 19))),
    "Saltcombe": ((_SUN, 9, 16, 5, 20, ()), (_HALF, 9, 15, 15, 22, ()), (_GREY, 8, 14, 35, 25, ()),
                  (_WET, 8, 12, 80, 30, (7, 8, 9, 13)), (_HALF, 8, 14, 20, 21, ()), (_SUN, 9, 16, 5, 16, ()),
                  (_SUN, 10, 17, 5, 14, ())),
    "Highfell": (("Snow", -3, 1, 70, 20, (6, 7, 8)), (_GREY, -2, 3, 30, 15, ()), (_SUN, -4, 4, 5, 8, ()),
                 (_SUN, -3, 5, 5, 7, ()), (_HALF, -1, 6, 15, 10, ()), (_WET, 1, 6, 60, 18, (12, 13)),
                 (_GREY, 0, 5, 35, 14, ())),
    "银湾": ((_HALF, 14, 21, 20, 12, ()), (_SUN, 13, 22, 5, 9, ()), (_WET, 14, 18, 75, 16, (10, 11, 12, 13)),
           (_GREY, 14, 19, 40, 13, ()), (_HALF, 14, 21, 20, 11, ()), (_SUN, 15, 23, 5, 8, ()),
           (_SUN, 15, 24, 5, 8, ())),
}  # fmt: skip

TIMETABLE: tuple[tuple[str, str, str, str, str, float, float], ...] = (
    ("W102", "Quayside", "Larkmoor", "07:12", "08:54", 14.5, 24.0),
    ("W114", "Quayside", "Larkmoor", "10:12", "11:54", 12.0, 21.0),
    ("W126", "Quayside", "Larkmoor", "15:42", "17:24", 14.5, 24.0),
    ("W134", "Quayside", "Larkmoor", "17:42", "19:24", 16.0, 27.5),
    ("W138", "Quayside", "Larkmoor", "19:12", "21:01", 13.5, 23.0),
    ("W103", "Larkmoor", "Quayside", "06:40", "08:22", 14.5, 24.0),
    ("W121", "Larkmoor", "Quayside", "16:10", "17:52", 14.5, 24.0),
    ("W139", "Larkmoor", "Quayside", "20:05", "21:47", 12.0, 21.0),
    ("W210", "Quayside", "Saltcombe", "08:30", "09:41", 8.5, 15.0),
    ("W224", "Quayside", "Saltcombe", "14:30", "15:41", 8.5, 15.0),
    ("W211", "Saltcombe", "Quayside", "18:05", "19:16", 8.5, 15.0),
    ("W301", "Quayside", "银湾", "09:05", "12:20", 31.0, 52.0),
    ("W317", "Quayside", "银湾", "16:25", "19:40", 34.5, 58.0),
    ("W302", "银湾", "Quayside", "13:30", "16:45", 31.0, 52.0),
    ("W410", "Larkmoor", "Highfell", "09:20", "10:35", 9.0, 16.5),
)  # fmt: skip


def first_pages() -> list[dict[str, Any]]:
    return [
        {"url": url, "title": title, "about": about, "body": [_parse_part(part) for part in parts]}
        for url, title, about, parts in PAGES
    ]


def _parse_part(part: str) -> dict[str, str]:
    if part.startswith("# "):
        return {"kind": "head", "text": part[2:], "url": ""}
    if part.startswith("> "):
        text, _, url = part[2:].partition(" | ")
        return {"kind": "link", "text": text, "url": url}
    return {"kind": "text", "text": part, "url": ""}


def first_weather(clock: datetime) -> list[dict[str, Any]]:
    return [
        {
            "city": city,
            "date": (clock + timedelta(days=ahead)).date().isoformat(),
            "sky": sky,
            "low": low,
            "high": high,
            "rain": rain,
            "wind": wind,
            "wet": list(wet),
        }
        for city, days in CITIES.items()
        for ahead, (sky, low, high, rain, wind, wet) in enumerate(days)
    ]


def first_trains() -> list[dict[str, Any]]:
    return [
        {
            "number": number,
            "origin": origin,
            "destination": destination,
            "depart": depart,
            "arrive": arrive,
            "days": [],
            "classes": [{"name": "Second", "price": second}, {"name": "First", "price": first}],
        }
        for number, origin, destination, depart, arrive, second, first in TIMETABLE
    ]


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
