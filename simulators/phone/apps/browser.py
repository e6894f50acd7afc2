"""Browser: an address bar, search results, small pages with links, a history, bookmarks, and a weather site.

State, `apps.browser`:
- `address`: the typed address or query. `pages`, each `{url, title, about, body: [{kind: text | head | link, text,
  url}]}`. A link to `maps:NAME` opens that place in Maps.
- `history`, latest first, each `{title, url, time}`. `bookmarks`, each `{title, url}`.
- `weather`, one entry per city and day, each `{city, date (ISO), sky: Sunny | Partly cloudy | Cloudy | Rain | Storm |
  Snow, low, high (degrees Celsius), rain (percent), wind (km/h), wet: hours with rain or snow}`. The hours'
  temperatures follow from low and high. `city`: the typed query of the weather site.
- The train tickets' state: see `browser_trains`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import ClassVar

from simulators.phone.app import AppContext, State
from simulators.phone.apps.browser_pages import (
    WEATHER,
    day_name,
    first_pages,
    first_trains,
    first_weather,
    page_at,
    remember,
    site,
    title_of,
    visit,
)
from simulators.phone.apps.browser_trains import BOOKING, FIRST_TRAINS, TRAIN, Trains
from simulators.phone.kit.views import (
    Button,
    Column,
    Dialog,
    Field,
    Icon,
    ListView,
    Page,
    Row,
    Screen,
    Sheet,
    Space,
    Text,
    View,
)
from simulators.phone.kit.widgets import app_bar, badge, card, empty, icon_button, inset, item, section

FORECAST: State = {
    "city": "", "date": "", "sky": "Sunny", "low": 20, "high": 26, "rain": 10, "wind": 10, "wet": [],
}  # fmt: skip
_ICONS = {"Sunny": "sun", "Partly cloudy": "sun_cloud", "Cloudy": "cloud", "Rain": "rain", "Storm": "storm",
          "Snow": "snow"}  # fmt: skip
_FALLING = ("Rain", "Storm", "Snow")
_WORDS = ("weather", "forecast", "rain", "天气", "temperature")
_COLDEST, _WARMEST = 5, 15


def _cities(here: AppContext) -> list[str]:
    return sorted({str(day["city"]) for day in here.own["weather"]})


def _day(here: AppContext, city: str, date: str) -> State | None:
    return next((d for d in here.own["weather"] if d["city"] == city and d["date"] == date), None)


def _icon(day: State) -> str:
    return _icon_of(str(day["sky"]))


def _icon_of(sky: str) -> str:
    return _ICONS.get(sky, "cloud")


def _summary(day: State) -> str:
    return f"{day['sky']}, {day['low']} to {day['high']} °C, rain {day['rain']}%"


def _facts(day: State) -> list[View | None]:
    wet = [int(hour) for hour in day["wet"]]
    when = f"Falls between {min(wet):02}:00 and {max(wet) + 1:02}:00" if wet else "No rain expected"
    if not wet and day["sky"] in _FALLING:
        when = "Falls now and then all day"
    return [
        Text(f"Low {day['low']} °C, high {day['high']} °C", "body", "faint", lines=1, id="range"),
        Text(f"Chance of rain {day['rain']}%", "body", "faint", lines=1, id="rain"),
        Text(f"Wind {day['wind']} km/h", "body", "faint", lines=1, id="wind"),
        Text(when, "body", "faint", id="when"),
    ]


def _sky(day: State, hour: int) -> str:
    """Return the sky at an hour. Rain or snow falls only in the wet hours, the others are cloudy."""
    sky, wet = str(day["sky"]), day["wet"]
    if not wet:
        return sky
    falling = sky if sky in _FALLING else "Rain"
    return falling if hour in wet else "Cloudy" if sky in _FALLING else sky


def _degrees(day: State, hour: int) -> int:
    """Return the temperature at an hour: coldest before dawn, warmest in the afternoon, linear in between."""
    low, high = int(day["low"]), int(day["high"])
    if _COLDEST <= hour <= _WARMEST:
        share = (hour - _COLDEST) / (_WARMEST - _COLDEST)
    else:
        share = 1 - ((hour - _WARMEST) % 24) / (24 - _WARMEST + _COLDEST)
    return round(low + (high - low) * share)


def _hours(day: State, first: int) -> View:
    cells: list[View | None] = []
    for hour in range(first, 24):
        sky, degrees = _sky(day, hour), f"{_degrees(day, hour)}°"
        cells.append(
            Column(
                [Text(f"{hour:02}:00", "small", "faint", "center", lines=1),
                 Column([Icon(_icon_of(sky), 76, "primary")], align="center"),
                 Text(degrees, "strong", align="center", lines=1)],
                width=200, desc=f"{hour:02}:00 {sky}", id="hour", gap=4,
            )
        )  # fmt: skip
    return ListView([Space(24), *cells, Space(24)], id="hours", across=True)


_HINT = "Search or type web address"


class Browser(Trains):
    id, label, icon, colour, hue = "browser", "Browser", "globe", "#3468b8", 214
    shapes: ClassVar[dict[str, State]] = {
        "pages": {"url": "", "title": "", "about": "", "body": []},
        "pages.body": {"kind": "text", "text": "", "url": ""},
        "history": {"title": "", "url": "", "time": ""},
        "bookmarks": {"title": "", "url": ""},
        "weather": FORECAST,
        "trains": TRAIN,
        "trains.classes": {"name": "", "price": 0.0},
        "bookings": BOOKING,
    }

    def first_state(self, rng: Random, clock: datetime) -> State:
        pages, trains = first_pages(), first_trains()
        rng.shuffle(pages)
        rng.shuffle(trains)
        visits = (
            ("Lemon rice in twenty minutes", "slowkitchen.example/lemon-rice", 15),
            ("Harbour Post", "harbourpost.example", 38),
        )
        return {
            "address": "",
            "pages": pages,
            "history": [
                {"title": title, "url": url, "time": (clock - timedelta(hours=hours)).isoformat()}
                for title, url, hours in visits
            ],
            "bookmarks": [
                {"title": "Lark Weather", "url": "lark.example"},
                {"title": "Wagtail Trains", "url": "wagtail.example"},
                {"title": "Canal Museum", "url": "canalmuseum.example"},
            ],
            "weather": first_weather(clock),
            "city": "",
            "trains": trains,
        } | FIRST_TRAINS  # fmt: skip

    def screen_home(self, here: AppContext) -> Screen:
        query = str(here.own["address"]).strip()
        field = Field(["address"], hint=_HINT, kind="search", id="address", action="Search", submit=("search",))
        more = icon_button("more", "More options", ("go", "menu"), id="more")
        head = Row([Text("Browser", "headline", grow=1, lines=1), more], pad=(48, 16, 24, 8))
        rows = self._suggestions(here, query) if query else self._start_rows(here)
        return Page(ListView([*rows, Space(60)], id="list"), bar=Column([head, inset(field, 0, 20)]))

    def _start_rows(self, here: AppContext) -> list[View | None]:
        marks = [_link(m["title"], m["url"], "bookmark") for m in here.own["bookmarks"]]
        lately = [_link(v["title"], v["url"], "history") for v in here.own["history"][:3]]
        if not marks and not lately:
            return [empty("globe", "Nothing yet", "Pages that you keep or visit stand here.")]
        return [
            section("Bookmarks") if marks else None,
            *marks,
            section("Visited lately") if lately else None,
            *lately,
        ]

    def _suggestions(self, here: AppContext, query: str) -> list[View | None]:
        words = query.casefold()
        titles = {str(e["url"]): str(e["title"]) for e in (*here.own["history"], *here.own["bookmarks"])}
        fitting = [(title, url) for url, title in titles.items() if words in f"{title} {url}".casefold()]
        search = item(query, "Search the web", lead=badge("search"), on=("search",), id="suggestion")
        return [search, *(_link(title, url, "history") for title, url in fitting[:6])]

    def screen_address(self, here: AppContext) -> Screen:
        field = Field(["address"], hint=_HINT, kind="search", id="address", action="Search", submit=("search",), grow=1)
        back = icon_button("back", "Navigate up", ("back",), colour="text", id="up")
        query = str(here.own["address"]).strip()
        rows = self._suggestions(here, query) if query else self._start_rows(here)
        return Page(ListView([*rows, Space(60)], id="list"), bar=Row([back, field], gap=8, pad=(16, 20, 32, 20)))

    def do_edit_address(self, here: AppContext) -> None:
        here.own["address"] = ""
        here.go("address")
        here.focus("address")

    def do_home(self, here: AppContext) -> None:
        here.close_screens(len(here.phone["nav"]["stacks"][self.id]) - 1)

    def do_search(self, here: AppContext) -> None:
        """Open the typed address, or search for the typed words."""
        query = str(here.own["address"]).strip()
        if not query:
            return
        here.own["address"] = ""
        if here.phone["nav"]["stacks"][self.id][-1]["screen"] == "address":
            here.close_screens()
        if "." in query and " " not in query:
            visit(here.phone, query)
        else:
            remember(here, f"Search: {query}", f"search?q={query}")
            here.go("results", query=query)

    def do_visit(self, here: AppContext, url: str) -> None:
        if url.startswith("search?q="):
            here.go("results", query=url.removeprefix("search?q="))
        else:
            here.own["address"] = ""
            visit(here.phone, url)

    def do_follow(self, here: AppContext, url: str) -> None:
        """Follow a link in a list, and close the list."""
        here.close_screens()
        self.do_visit(here, url)

    def screen_results(self, here: AppContext) -> Screen:
        query = str(here.args["query"])
        rows: list[View | None] = [self.weather_answer(here, query)]
        rows += [
            Column(
                [Text(str(page["title"]), "strong", "primary", lines=1, id="title"),
                 Text(str(page["url"]), "small", "faint", lines=1, id="url"),
                 Text(str(page["about"]), "body", lines=2, id="about")],
                pad=(48, 20), on=("visit", page["url"]), id="result",
            )
            for page in _matching_pages(here, query)
        ]  # fmt: skip
        if not any(rows):
            rows = [empty("search", "Nothing found", f"No page says anything about {query}.")]
        return site(here, query, rows, id="results")

    def screen_page(self, here: AppContext) -> Screen:
        url = str(here.args["url"])
        page = page_at(here, url)
        if page is None:
            notice = empty("globe", "This site cannot be reached", f"Nothing answers at {url}.")
            again = Column([Button("Reload", "tonal", on=("reload",), id="reload")], align="center", pad=(0, 40))
            return site(here, url, [notice, again])
        rows: list[View | None] = [Text(str(page["title"]), "headline", pad=(48, 20), id="title")]
        rows += [_part_view(part) for part in page["body"]]
        return site(here, url, rows)

    def do_reload(self, here: AppContext) -> None:
        here.toast("Still nothing there")

    def do_bookmark(self, here: AppContext, url: str) -> None:
        marks = here.own["bookmarks"]
        if any(mark["url"] == url for mark in marks):
            here.own["bookmarks"] = [mark for mark in marks if mark["url"] != url]
            here.toast("Bookmark removed")
        else:
            marks.append({"title": title_of(here, url), "url": url})
            here.toast("Bookmark added")

    def screen_menu(self, here: AppContext) -> Screen:
        return Sheet(
            Column([
                item("History", lead=badge("history"), on=("instead", "history"), id="history"),
                item("Bookmarks", lead=badge("bookmark"), on=("instead", "bookmarks"), id="bookmarks"),
                item("Weather", lead=badge("sun_cloud"), on=("follow", "lark.example"), id="weather"),
                item("Train tickets", lead=badge("train"), on=("follow", "wagtail.example"), id="trains"),
            ])
        )  # fmt: skip

    def do_instead(self, here: AppContext, screen: str) -> None:
        here.close_screens()
        here.go(screen)

    def screen_history(self, here: AppContext) -> Screen:
        rows: list[View | None] = []
        day = ""
        for visited in here.own["history"]:
            then = datetime.fromisoformat(visited["time"] or here.phone["clock"])
            if then.date().isoformat() != day:
                day = then.date().isoformat()
                rows.append(
                    section(
                        "Today" if then.date() == here.clock.date() else then.strftime("%A, %d %B").replace(" 0", " ")
                    )
                )
            remove = icon_button(
                "close", f"Remove {visited['title']}", ("unvisit", visited["url"], visited["time"]), id="remove"
            )
            rows.append(_link(visited["title"], visited["url"], "history", remove, then.strftime("%H:%M ")))
        clear = icon_button("delete", "Clear history", ("go", "clear"), id="clear") if rows else None
        nothing = empty("history", "No history", "Pages that you visit are listed here.")
        return Page(ListView([*(rows or [nothing]), Space(60)], id="history"), bar=app_bar("History", clear))

    def do_unvisit(self, here: AppContext, url: str, time: str) -> None:
        here.own["history"] = [v for v in here.own["history"] if (v["url"], v["time"]) != (url, time)]

    def screen_clear(self, here: AppContext) -> Screen:
        return Dialog(
            "Clear the history?",
            Text("The list of the pages that you visited is deleted.", "body", "faint"),
            [Button("Cancel", "text", on=("back",)), Button("Clear", "danger", on=("clear",), id="clear")],
        )

    def do_clear(self, here: AppContext) -> None:
        here.own["history"] = []
        here.close_screens()
        here.toast("History cleared")

    def screen_bookmarks(self, here: AppContext) -> Screen:
        rows: list[View | None] = [
            _link(
                m["title"],
                m["url"],
                "bookmark",
                icon_button("close", f"Remove {m['title']}", ("bookmark", m["url"]), id="remove"),
            )
            for m in here.own["bookmarks"]
        ]
        nothing = empty("bookmark", "No bookmarks", "The ribbon beside an address keeps the page.")
        return Page(ListView([*(rows or [nothing]), Space(60)], id="bookmarks"), bar=app_bar("Bookmarks"))

    def weather_answer(self, here: AppContext, query: str) -> View | None:
        """Return today's weather if a query asks for that of a known city, else None."""
        folded_query = query.casefold()
        city = next((c for c in _cities(here) if c.casefold() in folded_query), None)
        if city is None or not any(word in folded_query for word in _WORDS):
            return None
        today = _day(here, city, here.clock.date().isoformat())
        if today is None:
            return None
        body = [Text(f"Weather in {city}", "strong", lines=1), Text(_summary(today), "body", "faint")]
        return inset(card(list(body), on=("visit", f"{WEATHER}/{city}"), id="answer"), 8, 16)

    def screen_weather(self, here: AppContext) -> Screen:
        if "city" not in here.args:
            return self._city_page(here)
        city = str(here.args["city"])
        days = sorted((d for d in here.own["weather"] if d["city"] == city), key=lambda d: str(d["date"]))
        days = [d for d in days if d["date"] >= here.clock.date().isoformat()]
        url = f"{WEATHER}/{city}"
        if not days:
            return site(here, url, [empty("cloud", "No forecast", f"Lark Weather does not know {city}.")])
        rows: list[View | None] = [Text(city, "headline", pad=(48, 16), lines=1, id="city")]
        if days[0]["date"] == here.clock.date().isoformat():
            rows += [self._now_panel(here, days[0]), section("Today by the hour"), _hours(days[0], here.clock.hour)]
        rows.append(section("Days to come"))
        rows += [
            item(day_name(str(d["date"]), here.clock), _summary(d), lead=badge(_icon(d)), id="day", sub_lines=2,
                 on=("go", "weather_day", {"city": city, "date": d["date"]}))
            for d in days if d["date"] > here.clock.date().isoformat()
        ]  # fmt: skip
        return site(here, url, rows)

    def _now_panel(self, here: AppContext, today: State) -> View:
        hour = here.clock.hour
        words = Column([
            Text(f"{_degrees(today, hour)} °C", "display", id="temperature"),
            Text(f"{_sky(today, hour)} now", "body", lines=1),
        ], grow=1)  # fmt: skip
        panel = card([Row([words, Icon(_icon_of(_sky(today, hour)), 200, "primary")]), *_facts(today)])
        return inset(panel, 8, 16)

    def _city_page(self, here: AppContext) -> Screen:
        query = str(here.own["city"]).strip().casefold()
        today = here.clock.date().isoformat()
        field = Field(["city"], hint="Search cities", kind="search", id="city", action="Search")
        cities = [city for city in _cities(here) if query in city.casefold()]
        rows: list[View | None] = [
            Text("Lark Weather", "headline", pad=(48, 16), lines=1),
            inset(field, 0, 16),
        ]
        for city in cities:
            day = _day(here, city, today)
            rows.append(item(city, _summary(day) if day else "No forecast for today", id="city_row", sub_lines=2,
                             lead=badge(_icon(day) if day else "cloud"), on=("city", city)))  # fmt: skip
        if not cities:
            rows.append(empty("search", "No such city", "Lark Weather knows no city of that name."))
        return site(here, WEATHER, rows)

    def do_city(self, here: AppContext, city: str) -> None:
        here.own["city"] = ""
        visit(here.phone, f"{WEATHER}/{city}")

    def screen_weather_day(self, here: AppContext) -> Screen:
        city, date = str(here.args["city"]), str(here.args["date"])
        day = _day(here, city, date)
        if day is None:
            return site(here, f"{WEATHER}/{city}", [empty("cloud", "No forecast", "This day has none.")])
        rows: list[View | None] = [
            Text(f"{city}, {day_name(date, here.clock)}", "headline", pad=(48, 16), id="title"),
            inset(card([Text(str(day["sky"]), "title", lines=1, id="sky"), *_facts(day)])),
            section("By the hour"),
            _hours(day, 0),
        ]
        return site(here, f"{WEATHER}/{city}", rows)


def _link(title: str, url: str, icon: str, trail: View | None = None, before: str = "") -> View:
    where = "Search" if url.startswith("search?q=") else url
    return item(str(title), before + where, lead=badge(icon), trail=trail, on=("visit", url), id="link")


def _part_view(part: State) -> View:
    match part["kind"]:
        case "head":
            return Text(str(part["text"]), "title", pad=(48, 20, 48, 0))
        case "link":
            return Text(
                str(part["text"]), "label", "primary", lines=2, on=("visit", part["url"]), id="link", pad=(48, 16)
            )
        case _:
            return Text(str(part["text"]), "body", pad=(48, 8))


def _matching_pages(here: AppContext, query: str) -> list[State]:
    """Return the pages with matching words, best first. A page's title counts twice."""
    # A single CJK character is a word, a single Latin letter is not.
    words = [word for word in query.casefold().split() if len(word) > 1 or not word.isascii()]

    def score(page: State) -> int:
        text = " ".join(
            [str(page["title"]), str(page["about"]), str(page["url"]), *(str(p["text"]) for p in page["body"])]
        )
        return sum((word in text.casefold()) + (word in str(page["title"]).casefold()) for word in words)

    pages = [page for page in here.own["pages"] if score(page)]
    return sorted(pages, key=lambda page: (-score(page), str(page["title"])))
