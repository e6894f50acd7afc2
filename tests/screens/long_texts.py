"""Texts of any length whose every word stands nowhere else, and what is painted of them while keys scroll."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import product
from typing import Any, NamedTuple

import pytest
from textual.widget import Widget

from tests.crossed import IN_SOAK
from tests.screens.resting import app_at_rest, press
from tests.screens.runs import painted

SMALL_TO_TALL, NARROW_TO_WIDE = [(64, 18), (120, 40)], [(80, 24), (200, 60)]
HAN = 0x4E00
_MOST = 1000
"""Keys after which a text was surely read to its end."""


def passes(language: str, sizes: list[tuple[int, int]]) -> pytest.MarkDecorator:
    """A test's passes, each of one app whose terminal is given its sizes one after the other (`at_sizes`).

    In `make test` there is one, in a language at two sizes: the tests take turns, so that there are as many of each.
    In a soak each language is read at each size.
    """
    cases = list(product(("en", "zh"), (SMALL_TO_TALL, NARROW_TO_WIDE))) if IN_SOAK else [(language, sizes)]
    named = ["-".join([words, *(f"{width}x{height}" for width, height in at)]) for words, at in cases]
    return pytest.mark.parametrize(("language", "sizes"), cases, ids=named)


def longest(language: str, sizes: list[tuple[int, int]]) -> int:
    """Characters of a text that is longer than any pane at those sizes; of 5,000 in a soak alone.

    Chinese ones have twice the cells.
    """
    return 5000 if IN_SOAK else (5000 if (200, 60) in sizes else 2500) // (2 if language == "zh" else 1)


async def at_sizes(pilot: Any, sizes: list[tuple[int, int]]) -> AsyncIterator[tuple[int, int]]:
    """Gives the terminal one size after the other; what was read at the last one begins at its top again.

    What a key scrolls is there at once: half-way places hold no other words.
    """
    pilot.app.animation_level = "none"
    for size in sizes:
        if pilot.app.size != size:
            await pilot.resize_terminal(*size)
        await _stands(pilot, size)
        for text in pilot.app.screen.query("TextPage, #play-text"):
            text.scroll_to(y=0, animate=False)
        await _stands(pilot, size)
        yield size


async def _stands(pilot: Any, size: tuple[int, int]) -> None:
    """Waits until the screen has this size, and three looks at it with nothing left to do show the same."""
    same, before = 0, None
    for _ in range(2000):
        await app_at_rest(pilot.app)
        now = painted(pilot.app) if pilot.app.size == size else None
        same, before = (same + 1 if now is not None and now == before else 0), now
        if same == 2:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the screen does not come to rest")


class Words(NamedTuple):
    """A text of so many characters, made of pieces that stand nowhere else."""

    text: str
    pieces: tuple[str, ...]


def words(language: str, length: int, place: int) -> Words:
    """The text of one place (from 0, Chinese up to 3), each with pieces of its own."""
    if language == "zh":
        text = "".join(chr(HAN + place * 5000 + at) for at in range(length))
        return Words(text, tuple(text))
    pieces = tuple(f"{chr(103 + place)}{at:03x}" for at in range(max(1, length // 5)))
    return Words(" ".join(pieces), pieces)


def area(app: Any, widget: Widget) -> str:
    """What is painted where a widget stands, without spaces and line ends."""
    left, top, width, height = widget.region
    rows = painted(app).split("\n")[top : top + height]
    return "".join(_columns(row, left, width).replace(" ", "") for row in rows)


def _columns(row: str, left: int, width: int) -> str:
    """The characters of a row that begin in these columns; an ideograph takes two."""
    at, found = 0, []
    for character in row:
        if left <= at < left + width:
            found.append(character)
        at += 2 if ord(character) >= HAN else 1
    return "".join(found)


async def read(
    app: Any, pilot: Any, widget: Widget, key: str = "pagedown", mark: str = "↓", *, quick: bool = True
) -> str:
    """All that is painted where a widget stands while a key scrolls it, as long as its border says that more comes.

    Not `quick` where what scrolls is laid out anew for it: only an idle screen is then painted whole.
    """
    seen = now = area(app, widget)
    for _ in range(_MOST):
        if mark not in now:
            return seen
        await (press(pilot, key) if quick else pilot.press(key))
        now = area(app, widget) if quick else await _moved(app, widget, now)
        seen += now
    raise AssertionError(f"the text has no end:\n{painted(app)}")


async def _moved(app: Any, widget: Widget, before: str) -> str:
    """What is painted there once it is another part than before, and stands."""
    last = before
    for _ in range(2000):
        await app_at_rest(app)
        now = area(app, widget)
        if now == last != before:
            return now
        last = now
        await asyncio.sleep(0.01)
    raise AssertionError("the key moved nothing")


async def whole(app: Any, pilot: Any, page: Any) -> str:
    """All of a pane's text: by tab to it, by plus to the whole screen, to its end, and back to all panes."""
    for _ in range(12):
        if page.has_focus:
            break
        await pilot.press("tab")
    assert page.has_focus
    await pilot.press("plus")
    seen = await read(app, pilot, page)
    await pilot.press("plus")
    return seen


async def turned(app: Any, pilot: Any, widget: Widget, key: str, *, quick: bool = False) -> str:
    """All that is painted where a widget stands until a key changes nothing any more."""
    seen, still = "", 0
    while still < 3:
        now = area(app, widget)
        still = still + 1 if now in seen else 0
        seen += now
        await (press(pilot, key) if quick else pilot.press(key))
    return seen


def lost(text: Words, seen: str) -> list[str]:
    """The pieces that were not seen."""
    return [piece for piece in text.pieces if piece not in seen]


def in_view(app: Any, *widgets: Widget) -> bool:
    """Whether all rows of each stand on the terminal."""
    return all(
        widget.display and widget.region.height and widget.region in app.screen.region.shrink((0, 0, 1, 0))
        and widget.parent.region.contains_region(widget.region)  # type: ignore[union-attr]
        for widget in widgets
    )  # fmt: skip
