"""The OCR process: pictures come by standard input, their lines go by standard output; it ends when nobody asks.

Each picture and each reply is 4 bytes of length (big-endian) and that many bytes: a PNG or JPEG, a JSON list of lines
or an object with `error`. `reader` starts it.
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
"""The largest picture, in bytes, that is taken."""
_NICE = 5
"""It gives way to the app that waits for it."""


def main(idle: float) -> int:
    """Serves until the other side closes, or for `idle` seconds nothing comes."""
    os.nice(_NICE)
    out = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no reply
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
        sent(out, text)
    return 0


def received(descriptor: int) -> bytes | None:
    """One message; None where the other side closed, or announces more than `MOST_BYTES`."""
    head = _exactly(descriptor, LENGTH.size)
    if head is None or (size := LENGTH.unpack(head)[0]) > MOST_BYTES:
        return None
    return _exactly(descriptor, size)


def sent(descriptor: int, data: bytes) -> None:
    """Writes one message."""
    view = memoryview(LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(descriptor, view) :]


def _exactly(descriptor: int, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = os.read(descriptor, min(1 << 20, size - len(parts)))
        if not part:
            return None
        parts += part
    return bytes(parts)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
