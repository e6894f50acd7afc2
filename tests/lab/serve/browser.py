"""A browser as the server sees one: cookies of its own, pages, and sockets that keep what was painted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
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
            yield Window(opened, found[1].rsplit("/", 1)[1])


class Window:
    """One socket, and all that was painted through it."""

    def __init__(self, opened: aiohttp.ClientWebSocketResponse, id: str) -> None:
        self.socket, self.id = opened, id
        self.painted = ""
        self.told: list[str] = []

    async def until(self, words: str) -> None:
        """Waits for words that are painted; each of a line is one run of characters."""
        while words not in self.painted:
            assert await self._next(), f"closed with {self.socket.close_code}; painted: {self.painted[-2000:]}"

    async def ended(self) -> int | None:
        """Waits until the server closed it; gives the code."""
        while await self._next():
            pass
        return self.socket.close_code

    async def _next(self) -> bool:
        try:
            message = await asyncio.wait_for(self.socket.receive(), 60)
        except TimeoutError:
            raise AssertionError(f"nothing more comes; painted: {self.painted[-3000:]}") from None
        if message.type is aiohttp.WSMsgType.BINARY:
            text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", message.data.decode())
            self.painted += text
        elif message.type is aiohttp.WSMsgType.TEXT:
            self.told.append(message.data)
        else:
            return False
        return True

    async def rest(self) -> None:
        """Reads what is painted, until nothing more comes for a moment."""
        while True:
            try:
                message = await asyncio.wait_for(self.socket.receive(), 0.01)
            except TimeoutError:
                return
            if message.type is aiohttp.WSMsgType.CLOSED:
                return

    async def keys(self, text: str) -> None:
        await self.socket.send_json(["stdin", text])
