"""A model's server that takes a fixed time for each answer and answers so many at a time; for bench and soak.

python -m tests.bench.timed_model SECONDS SLOTS [agent]

It prints its base URL, then the number of answers for each line read. It gives SLOTS / SECONDS answers a second, and
no more. What it says is one JSON object: the same sheet each time, or with `agent` the next act, by a run's step.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable

from tests.endpoint import completion

ANSWERS = [
    {"item": "open", "field": "state", "reason": "seen", "value": "completed", "step": 3},
    {"item": "pay", "field": "state", "reason": "seen", "value": "not_completed", "step": 3},
    {"item": "pay", "field": "why", "reason": "seen", "value": "It was never paid."},
    {"item": "", "field": "rating", "reason": "seen", "value": 40},
    {"item": "open", "field": "slip", "reason": "seen", "value": True},
]
"""What fits the sheet of `tests.lab.studies.test_judging.RUN_UNIT`."""


_APPS = ("Messages", "Contacts", "Mail", "Calendar", "Clock", "Maps", "Food", "Notes")
_STEP, _WANTED = re.compile(rb"This is step (\d+) of at most (\d+)"), re.compile(rb"Open the app (\w+)")


def sheet(request: bytes) -> str:
    """A judge's sheet."""
    return json.dumps({"answers": ANSWERS})


def act(request: bytes) -> str:
    """An agent's act: opens one app after the other, last the one that its task names, and is done by its budget."""
    step, wanted = _STEP.search(request), _WANTED.search(request)
    assert step is not None
    assert wanted is not None
    number, budget = int(step[1]), int(step[2])
    if number == budget:
        return json.dumps({"thought": "it is open", "action": "status", "status": "complete"})
    app = wanted[1].decode() if number == budget - 1 else _APPS[number % len(_APPS)]
    return json.dumps({"thought": "on the way", "action": "open_app", "app": app})


async def serve(seconds: float, slots: int, said: Callable[[bytes], str]) -> None:
    """Serves until standard input ends."""
    free = asyncio.Semaphore(slots)
    answered = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal answered
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
                request = await reader.readexactly(int(length.partition(b":")[2]))
                async with free:
                    await asyncio.sleep(seconds)
                    answered += 1
                body = completion(said(request))
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
                writer.write(b"content-length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()
        except (OSError, EOFError, asyncio.CancelledError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, limit=1 << 22)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1\n")
    sys.stdout.flush()
    while await asyncio.to_thread(sys.stdin.readline):
        sys.stdout.write(f"{answered}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1]), int(sys.argv[2]), act if sys.argv[3:] == ["agent"] else sheet))
