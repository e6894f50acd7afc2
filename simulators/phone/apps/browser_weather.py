"""The weather site of the Browser: a search for cities, today with its hours, and the days to come.

State, in `apps.browser`: `weather`, one entry per city and day, each `{city, date (ISO), sky: Sunny | Partly cloudy |
Cloudy | Rain | Storm | Snow, low, high (degrees Celsius), rain (percent), wind (km/h), wet: hours in which it falls}`;
the hours' temperatures follow from low and high. `city` is what is searched.
"""

from __future__ import annotations

from simulators.phone.app import App, AppContext, State
from simulators.phone.apps.browser_history import WEATHER, visit
from simulators.phone.apps.browser_views import day_name, site
from simulators.phone.views import Column, Field, Icon, ListView, Row, Screen, Space, Text, View
from simulators.phone.widgets import badge, card, empty, inset, item, section

FORECAST: State = {
    "city": "", "date": "", "sky": "Sunny", "low": 20, "high": 26, "rain": 10, "wind": 10, "wet": [],
}  # fmt: skip
_ICONS = {"Sunny": "sun", "Partly cloudy": "sun_cloud", "Cloudy": "cloud", "Rain": "rain", "Storm": "storm",
          "Snow": "snow"}  # fmt: skip
_FALLING = ("Rain", "Storm", "Snow")
_WORDS = ("weather", "forecast", "rain", "天气", "temperature")
_COLDEST, _WARMEST = 5, 15


class Weather(App):
    """The part of the Browser that is the weather site."""

    def weather_answer(self, here: AppContext, query: str) -> View | None:
        """Today's weather, where a search asks for that of a city that is known."""
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
            return self._choose(here)
        city = str(here.args["city"])
        days = sorted((d for d in here.own["weather"] if d["city"] == city), key=lambda d: str(d["date"]))
        days = [d for d in days if d["date"] >= here.clock.date().isoformat()]
        url = f"{WEATHER}/{city}"
        if not days:
            return site(here, url, [empty("cloud", "No forecast", f"Lark Weather does not know {city}.")])
        rows: list[View | None] = [Text(city, "headline", pad=(48, 16), lines=1, id="city")]
        if days[0]["date"] == here.clock.date().isoformat():
            rows += [self._now(here, days[0]), section("Today by the hour"), _hours(days[0], here.clock.hour)]
        rows.append(section("Days to come"))
        rows += [
            item(day_name(str(d["date"]), here.clock), _summary(d), lead=badge(_icon(d)), id="day", sub_lines=2,
                 on=("go", "weather_day", {"city": city, "date": d["date"]}))
            for d in days if d["date"] > here.clock.date().isoformat()
        ]  # fmt: skip
        return site(here, url, rows)

    def _now(self, here: AppContext, today: State) -> View:
        hour = here.clock.hour
        words = Column([
            Text(f"{_degrees(today, hour)} °C", "display", id="temperature"),
            Text(f"{_sky(today, hour)} now", "body", lines=1),
        ], grow=1)  # fmt: skip
        panel = card([Row([words, Icon(_icon_of(_sky(today, hour)), 200, "primary")]), *_facts(today)])
        return inset(panel, 8, 16)

    def _choose(self, here: AppContext) -> Screen:
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
    """The sky at an hour: what falls does so in the wet hours, and the others are then only cloudy."""
    sky, wet = str(day["sky"]), day["wet"]
    if not wet:
        return sky
    falling = sky if sky in _FALLING else "Rain"
    return falling if hour in wet else "Cloudy" if sky in _FALLING else sky


def _degrees(day: State, hour: int) -> int:
    """Coldest before dawn, warmest in the afternoon, a straight line between."""
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
