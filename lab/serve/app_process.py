"""One person's app in its own process, controlled by the packets of Textual's web driver.

A packet is a kind (`D` terminal data, `M` JSON about the terminal, `P` packed bytes), four bytes of length
(big-endian), and the payload. Source: `textual.drivers.web_driver`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from lab.core.settings import BROWSER_DRIVER

_READY = b"__GANGLION__\n"
"""Line after which packets begin."""
_MOST_PACKET = 16_000_000
_EXIT_SECONDS = 10.0
"""Seconds that an app has to exit by itself after a request."""

Kind = Literal[b"D", b"M", b"P"]


class Packet(NamedTuple):
    """Packet from an app: bytes for the terminal, or JSON about it."""

    kind: bytes
    payload: bytes


class AppProcess:
    """Process that runs one app. It ends with `stop`, or by itself if this process dies."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._command = command
        self._environment = dict(environment or {})
        self._process: Process | None = None

    async def start(self, columns: int, rows: int) -> None:
        """Start the app in a terminal of this size. Raise `OSError` if no process can be started."""
        size = {"COLUMNS": str(columns), "LINES": str(rows), "ROWS": str(rows)}
        look = {"TEXTUAL_COLOR_SYSTEM": "truecolor", "TEXTUAL_FPS": "30", "TEXTUAL_DRIVER": BROWSER_DRIVER}
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=os.environ | look | size | self._environment,
            start_new_session=True,  # Ctrl+C stops the server, which then stops the apps
        )

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def packets(self) -> AsyncIterator[Packet]:
        """Yield the app's packets until it ends or writes something else."""
        assert self._process is not None
        output = self._process.stdout
        assert output is not None
        try:
            while (line := await output.readline()) != _READY:
                if not line:
                    return
            while True:
                head = await output.readexactly(5)
                size = int.from_bytes(head[1:], "big")
                if size > _MOST_PACKET:
                    return
                yield Packet(head[:1], await output.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            return

    async def type(self, text: str) -> None:
        """Send typed keys or mouse events as a terminal would."""
        await self._send(b"D", text.encode("utf-8", "replace"))

    async def resize(self, columns: int, rows: int) -> None:
        await self.send_message({"type": "resize", "width": columns, "height": rows})

    async def send_message(self, about: dict[str, object]) -> None:
        """Send JSON about the terminal: its size or focus."""
        await self._send(b"M", msgspec.json.encode(about))

    async def _send(self, kind: Kind, payload: bytes) -> None:
        """Write a packet. Ignore it if the app has ended."""
        assert self._process is not None
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(ConnectionError, RuntimeError):
            stdin.write(kind + len(payload).to_bytes(4, "big") + payload)
            await stdin.drain()

    def hang_up(self) -> None:
        """Close the app's input. The app takes that for the end of the server and exits."""
        assert self._process is not None
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def stop(self) -> int:
        """Ask the app to exit, then kill it. Return its exit code."""
        process = self._process
        assert process is not None
        if process.returncode is None:
            await self.send_message({"type": "quit"})
            self.hang_up()
            drain = asyncio.create_task(self._drain())
            # None first: let the app exit by itself.
            for number in (None, signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    if number is not None:
                        process.send_signal(number)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), _EXIT_SECONDS)
                    break
            drain.cancel()
        return process.returncode if process.returncode is not None else -1

    async def _drain(self) -> None:
        """Discard the remaining output. An app blocked on a full pipe could not exit."""
        assert self._process is not None
        output = self._process.stdout
        assert output is not None
        while await output.read(65_536):
            pass
