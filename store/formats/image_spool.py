"""Pictures found while reading a large file: converted to PNG and spooled to the disk."""

from __future__ import annotations

import hashlib
import struct
import tempfile
import weakref
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.run.step import Observation, Point
from lab.core.run.ui_tree import UiTree
from lab.core.values.safe_images import repair_picture, size_problem
from store.file.images import picture_kind, picture_size

_IN_MEMORY = 16 * 1024**2
"""Bytes of pictures kept in memory. Beyond, they are in an unnamed temporary file."""

_COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}
"""PNG's colour type by bytes per pixel (ISO 15948, table 9)."""
_MODES = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}


def png(pixels: bytes, width: int, height: int, depth: int) -> bytes:
    """Encode rows of 8-bit grey, grey with alpha, RGB or RGBA (`depth` 1 to 4) as PNG, with fast compression."""
    row = width * depth
    # Level 3 trades size for speed.
    packer = zlib.compressobj(3)
    rows = memoryview(pixels)
    packed = b"".join(
        # Each row begins with its filter type, 0 for none (ISO 15948, 9.2).
        part
        for y in range(height)
        for part in (packer.compress(b"\0"), packer.compress(rows[y * row : (y + 1) * row]))
    )
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOURS[depth], 0, 0, 0)
    body = [(b"IHDR", header), (b"IDAT", packed + packer.flush()), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in body
    )


class SpooledImage(NamedTuple):
    """A spooled picture: its sha256, and its size in pixels."""

    sha256: str
    size: Point


class Spool:
    """The pictures of one file by sha256, each stored once, most of them on the disk."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 (it closes with this object)
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0
        self.mended = 0
        """Number of pictures that were repaired or converted to PNG."""
        weakref.finalize(self, self._file.close)

    def add(self, data: bytes) -> SpooledImage | None:
        """Spool a picture's bytes. Return None if they are not a picture or too large."""
        if picture_kind(data) is None and (mended := repair_picture(data)):
            data = mended.data
            self.mended += 1
        size = picture_size(data)
        if size is None or picture_kind(data) is None or size_problem(size):
            return None
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 not in self._places:
            self._file.seek(self._end)
            self._file.write(data)
            self._places[sha256] = (self._end, len(data))
            self._end += len(data)
        return SpooledImage(sha256, size)

    def add_pixels(self, pixels: bytes, width: int, height: int, mode: str) -> SpooledImage | None:
        """Spool pixels of a PIL mode (L, LA, RGB, RGBA) as PNG. Return None if their number does not match."""
        depth = _MODES.get(mode)
        if depth is None or len(pixels) != width * height * depth or not pixels:
            return None
        return self.add(png(pixels, width, height, depth))

    def blob(self, sha256: str) -> Blob:
        start, length = self._places[sha256]
        self._file.seek(start)
        data = self._file.read(length)
        if len(data) != length:
            raise LabError("picture", "could not be read back from the temporary file")
        return Blob(data, picture_kind(data) or "")


class RunImages(Mapping[str, Blob]):
    """The pictures of one run in a file's spool, read on access."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._shown: dict[str, None] = {}

    def observation(self, shot: SpooledImage | None, tree: UiTree | None, size: Point | None) -> Observation:
        """Return an observation with a picture, which now belongs to this run, or with only the screen's `size`."""
        if shot is None:
            return Observation(size=size, tree=tree)
        self._shown[shot.sha256] = None
        return Observation(image=shot.sha256, size=shot.size, tree=tree)

    def __getitem__(self, sha256: str) -> Blob:
        if sha256 not in self._shown:
            raise KeyError(sha256)
        return self._spool.blob(sha256)

    def __iter__(self) -> Iterator[str]:
        return iter(self._shown)

    def __len__(self) -> int:
        return len(self._shown)

    def __contains__(self, sha256: object) -> bool:
        return sha256 in self._shown
