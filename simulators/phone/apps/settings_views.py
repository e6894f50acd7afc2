"""Views that the pages of Settings share."""

from __future__ import annotations

from simulators.phone.views import Act, Column, ListView, Meter, Page, Row, Space, Text, View
from simulators.phone.widgets import app_bar, inset, marked, stepper


def page(title: str, rows: list[View | None]) -> Page:
    return Page(ListView([*rows, Space(60)], id="list"), bar=app_bar(title))


def main_switch(title: str, on: bool, key: str) -> View:
    """Return the one large switch of a page."""
    row = marked("switch", title, on, ("switch", key))
    row.fill, row.radius, row.pad = "soft" if on else "high", 60, (48, 28)
    return inset(row, 12, 24)


def words(text: str) -> View:
    return Text(text, "body", "faint", pad=(48, 24))


def level(value: int, most: int, key: str, title: str) -> View:
    """Return a slider with buttons for one step. A tap on its bar opens all levels at once."""
    less: Act = ("level", key, -1)
    bar = Column(
        [Meter(value / most)], grow=1, on=("go", "volume", {"key": key, "what": title}), desc=f"{title} slider",
        id=key, cls="SeekBar", pad=(0, 44),
    )  # fmt: skip
    return Row([bar, stepper(str(value), less, ("level", key, 1), title.lower())], gap=40, pad=(48, 16))
