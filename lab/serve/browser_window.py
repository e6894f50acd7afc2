"""One browser window on one person's room: passes its input to the app and the app's output back."""

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
"""Maximum bytes of a browser's message. A longer one ends the connection."""
_KEYS_A_SECOND, _KEYS_AT_ONCE = 60.0, 240.0
"""Input limit of a window: ten times a person's typing speed. More is delayed, so that a flood does not delay others.
"""
_LONGEST_WAIT = 5.0
"""Seconds of uninterrupted delay. A sender that exceeds them is not a person and is disconnected."""
_MOST_DROPPED, _FORGIVEN = 500, 5
"""Dropped pings and the like after which a window is closed. Each accepted one reduces the count."""
_PASTE = "\x1b[200~"
"""Beginning of a bracketed paste, which an app handles in one piece."""
_MOVE = re.compile(r"(?:\x1b\[<(?:32|33|34|35);\d+;\d+[Mm])+")
"""Mouse movement. It is dropped under load, because the next event contains the position, too."""
_SIZES = ((20, 500), (8, 200))
"""Minimum and maximum columns and rows of a browser's terminal."""


class BrowserWindow:
    """An open window on a person's room. `run` lasts until it is closed or the person leaves the app."""

    def __init__(self, room_link: RoomLink, process: AppProcess, socket: web.WebSocketResponse) -> None:
        self.link = room_link
        self.pictures = ""
        """Address of the app's page of pictures, once the app has sent it."""
        self.looks = 0
        """Number of pending requests for pictures."""
        self.closed = False
        """True if the server closed the window."""
        self._process = process
        self._socket = socket
        self._allowance = Allowance(_KEYS_A_SECOND, _KEYS_AT_ONCE)
        self._dropped = 0
        self._waited = 0.0
        """Seconds of delay since the last message without one."""

    @property
    def pid(self) -> int:
        """Process id of the app."""
        return self._process.pid

    async def run(self, columns: int, rows: int) -> None:
        """Start the app and pass data both ways. The app has ended when this returns."""
        await self._process.start(*clamped(columns, rows))
        painting = asyncio.create_task(self._paint())
        try:
            await self._listen()
        finally:
            painting.cancel()
            with suppress(asyncio.CancelledError):
                await painting
            # Shielded, because a cancelled request must not leave its app behind.
            await asyncio.shield(self._process.stop())

    async def close(self, code: int) -> None:
        """Close the window's connection. `run` then ends, or never starts."""
        self.closed = True
        await self._socket.close(code=code)

    async def _paint(self) -> None:
        """Send the app's output to the browser. Close the connection with the code `left` at its end."""
        try:
            async for packet in self._process.packets():
                if packet.kind == b"D":
                    await self._socket.send_bytes(packet.payload)
                elif packet.kind == b"M":
                    await self._handle_meta(packet.payload)
            await self._socket.close(code=CLOSE_CODES["left"])
        except ConnectionError:
            return  # the browser is gone; `_listen` ends

    async def _handle_meta(self, payload: bytes) -> None:
        """Handle JSON from the app: the address of its page of pictures, and True in `seen` if there is one to show."""
        about: dict[str, Any] = msgspec.json.decode(payload)
        if about.get("type") == "pictures":
            self.pictures = str(about.get("address", self.pictures))
            if "seen" in about:
                await self._socket.send_json(["pictures", about["seen"] is True])

    async def _listen(self) -> None:
        async for message in self._socket:
            if message.type in (WSMsgType.PING, WSMsgType.PONG):
                if await self._accepts() and message.type is WSMsgType.PING:
                    await self._socket.pong(message.data)
                continue
            if message.type is not WSMsgType.TEXT:
                # 1003: unsupported kind of data (RFC 6455).
                await self._socket.close(code=1003)
                return
            try:
                kind, *rest = msgspec.json.decode(message.data, type=list[Any])
                await self._handle_message(kind, *rest)
            except (msgspec.DecodeError, ValueError, TypeError, KeyError, RecursionError):
                # 1007: invalid payload (RFC 6455).
                await self._socket.close(code=1007)
                return

    async def _accepts(self) -> bool:
        """Return True if a ping or the like is accepted. Drop excess ones, and close the window after a flood."""
        await asyncio.sleep(0)  # let other windows run
        if self._allowance.allows():
            self._dropped = max(0, self._dropped - _FORGIVEN)
            return True
        self._dropped += 1
        if self._dropped > _MOST_DROPPED:
            await self._socket.close(code=1008, message=b"more than a browser sends")
        return False

    async def _wait_turn(self, cost: float, *, drop: bool = False) -> bool:
        """Wait for the cost of a message. Return False if it is dropped or the window is closed for flooding.

        Yield to other windows even without a delay.
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

    async def _handle_message(self, kind: str, about: Any = None) -> None:
        """Handle one message of the page: input, size or focus."""
        if kind not in ("stdin", "resize") and not await self._accepts():
            return
        is_move = kind == "stdin" and isinstance(about, str) and _MOVE.fullmatch(about) is not None
        if kind in ("stdin", "resize") and not await self._wait_turn(
            _cost(about) if kind == "stdin" else 1, drop=is_move
        ):
            return
        if kind == "stdin":
            await self._process.type(str(about))
        elif kind == "resize":
            await self._process.resize(*clamped(int(about["width"]), int(about["height"])))
        elif kind in ("focus", "blur"):
            await self._process.send_message({"type": kind})
        elif kind == "ping":
            await self._socket.send_json(["pong", str(about)[:32]])


def _cost(message: Any) -> float:
    """Return a message's cost in the allowance: each key costs the app time, a paste hardly more than one key."""
    text = str(message)
    return 1 + len(text) // (256 if text.startswith(_PASTE) else 4)


def clamped(columns: int, rows: int) -> tuple[int, int]:
    """Clamp a terminal's size to what an app can paint."""
    (least, most), (lowest, highest) = _SIZES
    return max(least, min(most, columns)), max(lowest, min(highest, rows))
