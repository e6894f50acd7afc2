"""Sequential reading of a file, unpacked on demand with bounded memory."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol

from lab.core.errors import LabError
from store.formats.files import open_within

MOST_UNPACKED = 64 * 1024**3
"""Maximum number of unpacked bytes of a file. Only one piece of them is in memory."""

_PIECE = 256 * 1024
_LONGEST_LINE = 1024**2


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


class FileStream:
    """Reads a file below `root` from the start, gzipped or not. Raises `LabError` if it is truncated or damaged."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path
        self.root = root
        self._buffer = b""
        self._position = 0
        self._unpacked_bytes = 0
        self._file: _Readable
        self._source_file: BinaryIO

    def __enter__(self) -> FileStream:
        self._source_file = open_within(self.root, self.path)
        try:
            # By content, because a packed file's name may lack `.gz`.
            packed = self._source_file.read(2) == b"\x1f\x8b"
            self._source_file.seek(0)
        except OSError as error:
            self._source_file.close()
            raise LabError(str(self.path), f"cannot be read ({error.strerror})") from error
        self._file = gzip.open(self._source_file) if packed else self._source_file
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        self._source_file.close()

    def read(self, count: int) -> bytes:
        """Return the next `count` bytes. Memory grows only with bytes that are really there."""
        end = self._position + count
        if end <= len(self._buffer):
            data = self._buffer[self._position : end]
            self._position = end
            return data
        return b"".join(self._pieces(count))

    def at_end(self) -> bool:
        """Return True at the end of the file."""
        if self._position == len(self._buffer):
            self._read()
        return not self._buffer

    def skip(self, count: int) -> None:
        """Skip the next `count` bytes."""
        for _ in self._pieces(count):
            pass

    def line(self) -> bytes:
        """Return the bytes up to the next line feed, without it."""
        end = self._buffer.find(b"\n", self._position, self._position + _LONGEST_LINE)
        if end >= 0:
            line_bytes, self._position = self._buffer[self._position : end], end + 1
            return line_bytes
        # The line crosses the end of the buffer: continue byte by byte.
        parts: list[bytes] = []
        while (byte := self.read(1)) != b"\n" and len(parts) < _LONGEST_LINE:
            parts.append(byte)
        if byte == b"\n":
            return b"".join(parts)
        raise LabError(str(self.path), f"holds a line of more than {_LONGEST_LINE:,} bytes")

    def number(self, form: str, size: int) -> int:
        """Return the next `size` bytes as a number in a `struct` format."""
        unpacked: int = struct.unpack(form, self.read(size))[0]
        return unpacked

    def _pieces(self, count: int) -> Iterator[bytes]:
        while count:
            if self._position == len(self._buffer):
                self._refill()
            piece = self._buffer[self._position : self._position + count]
            self._position += len(piece)
            count -= len(piece)
            yield piece

    def _refill(self) -> None:
        self._read()
        if not self._buffer:
            raise LabError(str(self.path), "is cut short: it ends in the middle of something")

    def _read(self) -> None:
        """Read the next piece of the file into the empty buffer, which stays empty at the end of the file."""
        try:
            self._buffer, self._position = self._file.read(_PIECE), 0
        except (EOFError, zlib.error) as error:
            raise LabError(str(self.path), f"is cut short or damaged ({error})") from error
        except OSError as error:
            raise LabError(str(self.path), f"cannot be unpacked ({error.strerror or error})") from error
        self._unpacked_bytes += len(self._buffer)
        if self._unpacked_bytes > MOST_UNPACKED:
            raise LabError(str(self.path), f"unpacks to more than the {MOST_UNPACKED:,} bytes that are read")
