"""One browser window on one person's room: what it types goes to the app, what the app paints comes back."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import Any

import msgspec
from aiohttp import WSMsgType, web

from lab.serve.allowance import Allowance
from lab.serve.app_process import AppProcess
from lab.serve.open_links import RoomLink
from lab.serve.pages import CLOSE_CODES

MOST_MESSAGE = 65_536
"""Bytes of one message of a browser; a longer one ends the connection."""
_KEYS_A_SECOND, _KEYS_AT_ONCE = 60.0, 240.0
"""What a window may send: ten times as much as a person types; more waits, so that no flood takes others' time."""
_LONGEST_WAIT = 5.0
"""Seconds for which a window is let wait without a pause; whoever sends more is no person, and is cut off."""
_MOST_DROPPED, _FORGIVEN = 500, 5
"""Pings and the like that are dropped until a window is closed; each that is heeded takes some off."""
_PASTE = "\x1b[200~"
"""With what a terminal begins what was pasted, which an app takes in one piece."""
_MOVE = re.compile(r"(?:\x1b\[<(?:32|33|34|35);\d+;\d+[Mm])+")
"""A mouse that moves: where too much comes these are dropped, for the next says it, too."""
_SIZES = ((20, 500), (8, 200))
"""Least and most columns and rows of a browser's terminal."""


class BrowserWindow:
    """One open window on a person's room; `run` lasts until it is closed, or the app is left."""

    def __init__(self, room_link: RoomLink, process: AppProcess, socket: web.WebSocketResponse) -> None:
        self.link = room_link
        self.pictures = ""
        """Where the app's page of pictures is, once it said so."""
        self.looks = 0
        """How many requests for its pictures are open."""
        self.closed = False
        """Whether it was closed from here."""
        self._process = process
        self._socket = socket
        self._allowance = Allowance(_KEYS_A_SECOND, _KEYS_AT_ONCE)
        self._dropped = 0
        self._waited = 0.0
        """Seconds for which what came had to wait, one after the other."""

    @property
    def pid(self) -> int:
        """The app's process."""
        return self._process.pid

    async def run(self, columns: int, rows: int) -> None:
        """Starts the app and carries both ways; the app is gone when this ends."""
        await self._process.start(*clamped(columns, rows))
        painting = asyncio.create_task(self._paint())
        try:
            await self._listen()
        finally:
            painting.cancel()
            with suppress(asyncio.CancelledError):
                await painting
            await asyncio.shield(self._process.stop())

    async def close(self, code: int) -> None:
        """Closes the window's connection; `run` then ends, or never begins."""
        self.closed = True
        await self._socket.close(code=code)

    async def _paint(self) -> None:
        """What the app writes, to the browser; at its end the browser is told that it was left."""
        try:
            async for packet in self._process.packets():
                if packet.kind == b"D":
                    await self._socket.send_bytes(packet.payload)
                elif packet.kind == b"M":
                    await self._take_meta(packet.payload)
            await self._socket.close(code=CLOSE_CODES["left"])
        except ConnectionError:
            return  # the browser is gone; `_listen` ends

    async def _take_meta(self, payload: bytes) -> None:
        """JSON of the app about itself: where its page of pictures is, and whether there is something to look at."""
        about: dict[str, Any] = msgspec.json.decode(payload)
        if about.get("type") == "pictures":
            self.pictures = str(about.get("address", self.pictures))
            if "seen" in about:
                await self._socket.send_json(["pictures", about["seen"] is True])

    async def _listen(self) -> None:
        async for message in self._socket:
            if message.type in (WSMsgType.PING, WSMsgType.PONG):
                if await self._allows() and message.type is WSMsgType.PING:
                    await self._socket.pong(message.data)
                continue
            if message.type is not WSMsgType.TEXT:
                await self._socket.close(code=1003)
                return
            try:
                kind, *rest = msgspec.json.decode(message.data, type=list[Any])
                await self._take_message(kind, *rest)
            except (msgspec.DecodeError, ValueError, TypeError, KeyError, RecursionError):
                await self._socket.close(code=1007)
                return

    async def _allows(self) -> bool:
        """Whether a ping or the like is heeded; what is too much is dropped, and a flood of it closes the window."""
        await asyncio.sleep(0)  # others have their turn in between
        if self._allowance.allows():
            self._dropped = max(0, self._dropped - _FORGIVEN)
            return True
        self._dropped += 1
        if self._dropped > _MOST_DROPPED:
            await self._socket.close(code=1008, message=b"more than a browser sends")
        return False

    async def _waits(self, cost: float, *, drop: bool = False) -> bool:
        """Waits as long as what came costs; False where it is dropped, or its window sends too much and is closed.

        Others have their turn in between even where nothing waits.
        """
        wait = self._allowance.wait(cost)
        if wait and drop:
            return False
        self._waited = self._waited + wait if wait else 0.0
        if self._waited > _LONGEST_WAIT:
            await self._socket.close(code=1008, message=b"more than a person sends")
            return False
        await asyncio.sleep(wait)
        return True

    async def _take_message(self, kind: str, about: Any = None) -> None:
        """One message of the page: what was typed, its size, its focus."""
        if kind not in ("stdin", "resize") and not await self._allows():
            return
        is_move = kind == "stdin" and isinstance(about, str) and _MOVE.fullmatch(about) is not None
        if kind in ("stdin", "resize") and not await self._waits(_cost(about) if kind == "stdin" else 1, drop=is_move):
            return
        if kind == "stdin":
            await self._process.type(str(about))
        elif kind == "resize":
            await self._process.resize(*clamped(int(about["width"]), int(about["height"])))
        elif kind in ("focus", "blur"):
            await self._process.tell({"type": kind})
        elif kind == "ping":
            await self._socket.send_json(["pong", str(about)[:32]])


def _cost(message: Any) -> float:
    """What a message takes of a window's allowance: each key costs the app time, a paste little more than one."""
    text = str(message)
    return 1 + len(text) // (256 if text.startswith(_PASTE) else 4)


def clamped(columns: int, rows: int) -> tuple[int, int]:
    """A terminal's size within what an app can be asked to paint."""
    (least, most), (lowest, highest) = _SIZES
    return max(least, min(most, columns)), max(lowest, min(highest, rows))
