"""File copy to a phone by adb's sync service (format: AOSP's packages/modules/adb/SYNC.TXT).

adbutils has a copy too, but without a deadline: a phone that hangs would hold its run.
"""

from __future__ import annotations

import struct
import time

from lab.core.seams import Trouble
from lab.core.text.plain_text import plain
from lab.devices.adb.shell import Open
from lab.devices.adb.socket_io import Deadline, exactly, hang_up, send
from lab.devices.scrcpy.scrcpy_stream import WHO

_CHUNK = 1 << 16
_MODE = 0o100644
_MOST_WORDS = 1 << 12


def push(open: Open, data: bytes, place: str, deadline: Deadline) -> None:
    """Write `data` to the path `place` on the phone. Raise `Trouble` if adb refuses or it takes too long."""
    line = open("sync:", deadline.seconds_left)
    try:
        where = f"{place},{_MODE}".encode()
        send(line, _frame(b"SEND", where), deadline, WHO, sent=True)
        for at in range(0, len(data), _CHUNK):
            send(line, _frame(b"DATA", data[at : at + _CHUNK]), deadline, WHO, sent=True)
        send(line, struct.pack("<4sI", b"DONE", int(time.time())), deadline, WHO, sent=True)
        status, length = struct.unpack("<4sI", exactly(line, 8, deadline, WHO, sent=True))
        if status != b"OKAY":
            words = exactly(line, min(length, _MOST_WORDS), deadline, WHO) if status == b"FAIL" else b"nonsense"
            reply = plain(words.decode(errors="replace"), lines=False)
            raise Trouble(WHO, f"its server could not be laid on the phone ({reply}).", sent=True)
    finally:
        hang_up(line)


def _frame(kind: bytes, data: bytes) -> bytes:
    return struct.pack("<4sI", kind, len(data)) + data
