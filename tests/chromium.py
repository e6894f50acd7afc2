"""A real Chromium, driven by Playwright: rooms as their pages show them, by what the terminal in them has painted."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Frame, Page, ViewportSize

WIDE, PHONE = (1280, 800), (390, 844)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = ("--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")
_TERMINAL = """
Object.defineProperty(Object.prototype, "terminal", { configurable: true, set(made) {
  window.xterm = made;
  Object.defineProperty(this, "terminal", { value: made, writable: true, configurable: true });
} });
"""
"""Lets a page's own script keep its terminal to itself, and this one find it."""
_PAINTED = """() => {
  const lines = window.xterm && window.xterm.buffer ? window.xterm.buffer.active : { length: 0 };
  return Array.from(lines, (_, y) => lines.getLine(y).translateToString(true, 0, window.xterm.cols)).join("\\n");
}"""


def found() -> str:
    """The Chromium of this machine; empty where there is none."""
    return next(filter(None, map(shutil.which, _NAMES)), "")


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    """A headless Chromium; skips the test where there is none, or nothing that drives it."""
    if not found():
        pytest.skip("No Chromium is on the PATH: what a browser shows is not looked at.")
    try:
        from playwright.async_api import async_playwright
    except ModuleNotFoundError:
        pytest.skip("Playwright's package is not installed: what a browser shows is not looked at.")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found(), args=_FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def person(
    browser: Browser, size: tuple[int, int] = WIDE, *, language: str = "en"
) -> AsyncIterator[BrowserContext]:
    """A browser of somebody's own, with cookies of its own; of the size of a phone, one that a finger points in.

    Its pixels are those of the page: to canvases Chromium would say another number than it draws by.
    """
    small = size == PHONE
    viewport: ViewportSize = {"width": size[0], "height": size[1]}
    context = await browser.new_context(viewport=viewport, is_mobile=small, has_touch=small, locale=language)
    await context.add_init_script(_TERMINAL)
    try:
        yield context
    finally:
        await context.close()


class Room:
    """A page with a terminal in it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def painted(self) -> str:
        """What the terminal shows, a line each; empty before there is one."""
        return str(await self.page.evaluate(_PAINTED))

    async def until(self, *words: str) -> None:
        """Waits until all these words are painted."""

        async def there() -> bool:
            painted = await self.painted()
            return all(one in painted for one in words)

        await until(there, self.painted)

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.page.keyboard.press(key)

    async def place(self, words: str) -> tuple[float, float]:
        """Where in the page these words begin, in its pixels; they must be painted."""
        lines = (await self.painted()).split("\n")
        row = next(y for y, line in enumerate(lines) if words in line)
        box = await self.page.locator(".xterm-screen").bounding_box()
        size = await self.page.evaluate("() => [window.xterm.cols, window.xterm.rows]")
        assert box is not None
        column = lines[row].index(words) + len(words) / 2
        return box["x"] + column * box["width"] / size[0], box["y"] + (row + 0.5) * box["height"] / size[1]

    async def pictures(self) -> Frame:
        """The page of pictures beside the terminal, once it is there."""
        frame: list[Frame] = []

        async def there() -> bool:
            frame[:] = [one for one in self.page.frames if "/phone/" in one.url]
            return bool(frame)

        await until(there)
        return frame[0]


async def until(holds: Callable[[], Awaitable[bool]], tell: Callable[[], Awaitable[str]] | None = None) -> None:
    """Waits until something holds; what `tell` says is told where it never does."""
    end = time.monotonic() + 180
    while not await holds():
        assert time.monotonic() < end, await tell() if tell is not None else ""
        await asyncio.sleep(0.05)
