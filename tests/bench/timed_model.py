"""A model's server that takes a fixed time for each answer and answers so many at a time; for bench and soak.

python -m tests.bench.timed_model SECONDS SLOTS    # prints its base URL, then the number of answers for each line read

It gives SLOTS / SECONDS answers a second, and no more. What it says is one JSON object, the same each time.
"""

from __future__ import annotations

import asyncio
import json
import sys

from tests.endpoint import completion

ANSWERS = [
    {"item": "open", "field": "state", "reason": "seen", "value": "completed", "step": 3},
    {"item": "pay", "field": "state", "reason": "seen", "value": "not_completed", "step": 3},
    {"item": "pay", "field": "why", "reason": "seen", "value": "It was never paid."},
    {"item": "", "field": "rating", "reason": "seen", "value": 40},
    {"item": "open", "field": "slip", "reason": "seen", "value": True},
]
"""What fits the sheet of `tests.lab.studies.test_judging.RUN_UNIT`."""


async def serve(seconds: float, slots: int) -> None:
    """Serves until standard input ends."""
    body = completion(json.dumps({"answers": ANSWERS}))
    reply = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    free = asyncio.Semaphore(slots)
    answered = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal answered
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.partition(b":")[2]))
                async with free:
                    await asyncio.sleep(seconds)
                    answered += 1
                writer.write(reply)
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
    asyncio.run(serve(float(sys.argv[1]), int(sys.argv[2])))
