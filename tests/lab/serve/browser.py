"""A browser as the server sees one: cookies of its own, pages, and sockets that keep what was painted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from lab.serve.server import LabServer


class Browser:
    """A browser: its own cookies, and windows on rooms."""

    def __init__(self, server: LabServer) -> None:
        self.address = server.place.address
        self.session = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))

    async def get(self, path: str, **more: Any) -> tuple[int, str]:
        async with self.session.get(self.address + path, **more) as answer:
            return answer.status, await answer.text()

    async def begin(self, token: str) -> tuple[int, str]:
        """Presses the button of the greeting; gives where it leads, and the page there."""
        headers = {"Origin": self.address}
        async with self.session.post(f"{self.address}/r/{token}", headers=headers) as answer:
            return answer.status, str(answer.url.path) if answer.status == 200 else await answer.text()

    @asynccontextmanager
    async def window(self, room: str, **headers: str) -> AsyncIterator[Window]:
        """A window on a room: its page, then its socket."""
        _, page = await self.get(room)
        found = re.search(r'websocket-url="([^"]+)"', page)
        assert found, page
        given = {"Origin": self.address, **headers}
        url = f"{self.address}{found[1]}?width=100&height=30"
        async with self.session.ws_connect(url, headers=given) as opened:
            window = Window(opened, found[1].rsplit("/", 1)[1])
            reading = asyncio.create_task(window.read())
            try:
                yield window
            finally:
                reading.cancel()


class Window:
    """One socket, and all that was painted through it.

    It reads all the time, as a browser does, which answers a server's pings and its farewell whatever its page does.
    """

    def __init__(self, opened: aiohttp.ClientWebSocketResponse, id: str) -> None:
        self.socket, self.id = opened, id
        self.painted = ""
        self.told: list[str] = []
        self.code: int | None = None
        """With what the server closed it."""
        self._more = asyncio.Condition()
        self._over = False

    async def read(self) -> None:
        """Takes what comes until the socket is closed."""
        while not self._over:
            message = await self.socket.receive()
            async with self._more:
                self._take(message)
                self._more.notify_all()

    def _take(self, message: aiohttp.WSMessage) -> None:
        if message.type is aiohttp.WSMsgType.BINARY:
            self.painted += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", message.data.decode())
        elif message.type is aiohttp.WSMsgType.TEXT:
            self.told.append(message.data)
        else:
            self._over = True
            closed = message.type is aiohttp.WSMsgType.CLOSE
            self.code = message.data if closed else self.socket.close_code

    async def until(self, words: str) -> None:
        """Waits for words that are painted; each of a line is one run of characters."""
        await self._wait(lambda: words in self.painted or self._over)
        assert words in self.painted, f"closed with {self.code}; painted: {self.painted[-2000:]}"

    async def ended(self) -> int | None:
        """Waits until the server closed it; gives the code."""
        await self._wait(lambda: self._over)
        return self.code

    async def _wait(self, come: Callable[[], bool]) -> None:
        async with self._more:
            try:
                await asyncio.wait_for(self._more.wait_for(come), 180)
            except TimeoutError:
                raise AssertionError(f"nothing more comes; painted: {self.painted[-3000:]}") from None

    async def rest(self) -> None:
        """Waits until nothing more is painted for a moment."""
        seen = -1
        while seen != len(self.painted) and not self._over:
            seen = len(self.painted)
            await asyncio.sleep(0.01)

    async def keys(self, text: str) -> None:
        await self.socket.send_json(["stdin", text])
