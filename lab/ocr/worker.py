"""OCR process: reads pictures from standard input and writes their lines to standard output. It ends when idle.

Each picture and each reply is 4 bytes of length (big-endian) and the data: a PNG or JPEG, and a JSON list of lines or
an object with `error`. `reader` starts the process.
"""

from __future__ import annotations

import os
import select
import struct
import sys
from typing import Any

import msgspec

from lab.ocr.engine import load_engine

LENGTH = struct.Struct(">I")
MOST_BYTES = 64 << 20
"""Maximum size of a picture in bytes."""
_NICE = 5
"""Niceness, so that the app that waits for it has priority."""


def main(idle: float) -> int:
    """Serve until the other side closes the pipe, or until `idle` seconds pass without a picture."""
    os.nice(_NICE)
    out = os.dup(1)
    os.dup2(2, 1)  # the output of libraries must not mix with replies
    engine = None
    while select.select([0], [], [], idle)[0]:
        data = received(0)
        if data is None:
            return 0
        try:
            engine = engine or load_engine()
            reply: Any = engine(data)
        except (ImportError, MemoryError, OSError, ValueError) as error:
            reply = {"error": f"{error}"[:200] or type(error).__name__}
        text = msgspec.json.encode(reply)
        write_message(out, text)
    return 0


def received(descriptor: int) -> bytes | None:
    """Read one message, or None if the other side closed the pipe or announces more than `MOST_BYTES`."""
    head = _read_exactly(descriptor, LENGTH.size)
    if head is None or (size := LENGTH.unpack(head)[0]) > MOST_BYTES:
        return None
    return _read_exactly(descriptor, size)


def write_message(descriptor: int, data: bytes) -> None:
    """Write one message."""
    view = memoryview(LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_exactly(descriptor: int, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        # `os.read` allocates what it is asked for, so do not trust the announced size.
        part = os.read(descriptor, min(1 << 20, size - len(parts)))
        if not part:
            return None
        parts += part
    return bytes(parts)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
