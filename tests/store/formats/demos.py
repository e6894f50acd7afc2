"""What the tests of demonstrations share: a small picture, and one run or one refusal read from a path."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from lab.core.run.run_records import Imported
from lab.core.run.trace import Trace, fold
from store.formats import FailedRun, KnownRun, read

TRACES = Path(__file__).parents[3].parent / "shared" / "traces"
JPEG = b"\xff\xd8\xff\xc0\x00\x11\x08\x00\xc8\x00\x64\x03" + bytes(9) + b"\xff\xd9"
"""As much of a JPEG of 100 by 200 pixels as its size is told by."""


def png(width: int = 100, height: int = 200, salt: str = "") -> bytes:
    """A black PNG; `salt` makes its bytes its own."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = (b"\0" + bytes(width)) * height
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
            chunk(b"tEXt", b"salt\0" + salt.encode()),
            chunk(b"IDAT", zlib.compress(rows)),
            chunk(b"IEND", b""),
        ]
    )


def every(path: Path, format: str | None = None) -> list[Imported]:
    """All runs below a path, none of which may be refused."""
    found = list(read(path, format))
    runs = [one for one in found if isinstance(one, Imported)]
    assert runs == found, [one for one in found if not isinstance(one, Imported)]
    return runs


def only(path: Path, format: str | None = None) -> tuple[Imported, Trace]:
    """The one run below a path."""
    (run,) = every(path, format)
    return run, fold(run.events)


def failures(path: Path, format: str | None = None) -> list[str]:
    """What is said of the runs below a path that are refused, each in one line."""
    said = [one.error for one in read(path, format) if isinstance(one, FailedRun)]
    assert not any("\n" in error for error in said)
    return said


def known_again(path: Path, format: str | None = None) -> bool:
    """Whether every run below a path has the same id when it is read again, and is then known by it."""
    ids = {run.id for run in every(path, format)}
    again = list(read(path, format, known=ids.__contains__))
    return bool(again) and all(isinstance(one, KnownRun) and one.id in ids for one in again)
