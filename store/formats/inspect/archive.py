"""Entries of an Inspect `.eval` file, read into memory within limits and never written by their names.

Newer versions of Inspect pack them with Zstandard, which Python's zipfile supports only from 3.14 on. The optional
package `zstandard` does.

The zip is untrusted. An entry's stated size is not believed. Entries that overlap, are encrypted, damaged or packed in
an unsupported way are refused one by one, and unpacking stops beyond a limit.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, BinaryIO

from lab.core.errors import LabError
from lab.core.run.input_limits import UNPACKED_AT_LEAST, UNPACKED_PER_BYTE
from store.formats.files import open_within

_MOST = 512 * 1024**2
_MOST_INDEX = 16 * 1024**2
"""Maximum bytes of a zip's index, which Python reads completely: enough for about 150,000 samples."""
_PIECE = 1024**2
_HEADER = 30
"""Minimum bytes of an entry's local header."""

# Flag bit 0 of an entry: encrypted (APPNOTE 4.4.4).
_ENCRYPTED = 0x1
# Compression method of APPNOTE 4.4.5.
_ZSTANDARD = 93
_SUPPORTED_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD})
_OTHER_METHODS = {9: "Deflate64", 12: "bzip2", 14: "LZMA", 95: "xz"}
_LOCAL = struct.Struct("<4s22xHH")
_END, _END_LARGE = b"PK\5\6", b"PK\6\6"
# The end record and its comment of up to 65,535 bytes, with the zip64 record before it.
_TAIL = 2**16 + 128
_WINDOW = 128 * 1024**2
"""Maximum memory for unpacking one entry."""


class Entries:
    """A zip open for reading. Leaving the `with` block closes it."""

    def __init__(self, root: Path, path: Path) -> None:
        self._what = str(path)
        self._file = open_within(root, path)
        try:
            self._open()
        except BaseException:
            self._file.close()
            raise

    def _open(self) -> None:
        size = os.fstat(self._file.fileno()).st_size
        try:
            _check_index(self._file, size, self._what)
            self._zip = zipfile.ZipFile(self._file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, UnicodeDecodeError) as error:
            raise LabError(self._what, f"is no zip file, or cut short ({error})") from error
        except OSError as error:
            raise LabError(self._what, f"cannot be read ({error.strerror or error})") from error
        infos = self._zip.infolist()
        self._counts = Counter(info.filename for info in infos)
        self._ends = _entry_ends(infos, size)
        self.names = list(self._counts)

    def __enter__(self) -> Entries:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._file.close()

    def read(self, name: str) -> bytes:
        """Return the bytes of an entry. Raise `LabError` if it is missing or refused."""
        what = f"{self._what}#{name}"
        if name not in self._counts:
            raise LabError(what, "is not there")
        info = self._zip.getinfo(name)
        if self._counts[name] > 1:
            raise LabError(what, "stands in the zip more than once, so that nobody can tell which is meant")
        self._check_entry(info, what)
        pieces: list[bytes] = []
        size = 0
        try:
            for piece in self._unpack(info, what):
                size += len(piece)
                # Checked while unpacking, because the stated size may be wrong.
                if size > min(_MOST, info.file_size):
                    raise LabError(what, "unpacks to more than it says, or than is read")
                pieces.append(piece)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise LabError(what, f"is damaged ({error})") from error
        except OSError as error:
            raise LabError(what, f"cannot be read ({error.strerror or error})") from error
        return b"".join(pieces)

    def _unpack(self, info: zipfile.ZipInfo, what: str) -> Iterator[bytes]:
        if info.compress_type == _ZSTANDARD:
            yield from _unpack_zstandard(self._file, info, what)
            return
        with self._zip.open(info) as file:
            while piece := file.read(_PIECE):
                yield piece

    def _check_entry(self, info: zipfile.ZipInfo, what: str) -> None:
        if info.flag_bits & _ENCRYPTED:
            raise LabError(what, "is locked with a password; it is not read")
        if info.compress_type not in _SUPPORTED_METHODS:
            way = _OTHER_METHODS.get(info.compress_type, f"method {info.compress_type}")
            raise LabError(
                what,
                f"is packed with {way}, which is not read here.",
                "`inspect log convert` writes it again as JSON.",
            )
        if info.file_size > _MOST:
            raise LabError(what, f"is {info.file_size:,} bytes unpacked, more than the {_MOST:,} that are read")
        if info.file_size > max(UNPACKED_AT_LEAST, UNPACKED_PER_BYTE * info.compress_size):
            raise LabError(what, f"would grow from {info.compress_size:,} bytes to {info.file_size:,}; it is not read")
        begins = info.header_offset + _HEADER + len(info.filename.encode(errors="surrogateescape"))
        if begins + info.compress_size > self._ends[info.header_offset]:
            raise LabError(what, "overlaps another entry; it is not read")


def _check_index(file: BinaryIO, size: int, what: str) -> None:
    """Raise `LabError` if the index stated at a zip's end is larger than any log's."""
    file.seek(max(0, size - _TAIL))
    tail = file.read(_TAIL)
    ends = [(tail.rfind(_END), "<12xI"), (tail.rfind(_END_LARGE), "<40xQ")]
    for at, form in ends:
        if at < 0 or at + struct.calcsize(form) > len(tail):
            continue
        [index] = struct.unpack_from(form, tail, at)
        # 0xFFFFFFFF refers to the zip64 record, which is checked as well.
        if _MOST_INDEX < index != 0xFFFFFFFF:
            raise LabError(what, f"has an index of {index:,} bytes, more than the {_MOST_INDEX:,} that are read")


def _entry_ends(infos: list[zipfile.ZipInfo], size: int) -> dict[int, int]:
    """Map the start of each entry to the latest possible end, the next entry's start.

    Entries that share a start get no room at all, so that both are refused.
    """
    starts = sorted({info.header_offset for info in infos})
    shared = Counter(info.header_offset for info in infos)
    ends = dict(zip(starts, [*starts, size][1:], strict=True))
    return {start: start if shared[start] > 1 else end for start, end in ends.items()}


def _unpack_zstandard(file: BinaryIO, info: zipfile.ZipInfo, what: str) -> Iterator[bytes]:
    """Yield the bytes of an entry packed with Zstandard. Raise `LabError` if the zip's checksum differs."""
    try:
        zstandard = import_module("zstandard")
    except ImportError:
        raise LabError(
            what,
            "is packed with Zstandard, which needs an extra.",
            'pip install "hitlab[inspect]" brings it; `inspect log convert` writes such a log again as JSON.',
        ) from None
    checksum = 0
    reader = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(
        _FilePart(file, _data_offset(file, info), info.compress_size), read_across_frames=True
    )
    try:
        while piece := reader.read(_PIECE):
            checksum = zlib.crc32(piece, checksum)
            yield piece
    except zstandard.ZstdError as error:
        raise LabError(what, f"is damaged ({error})") from error
    if checksum != info.CRC:
        raise LabError(what, "is damaged (its checksum is another)")


def _data_offset(file: IO[bytes], info: zipfile.ZipInfo) -> int:
    """Return the offset of an entry's data, after its local header."""
    file.seek(info.header_offset)
    head = file.read(_LOCAL.size)
    if len(head) < _LOCAL.size or not head.startswith(b"PK\3\4"):
        raise zipfile.BadZipFile("there is no entry where the zip says one is")
    _, name, extra = _LOCAL.unpack(head)
    return info.header_offset + _LOCAL.size + int(name) + int(extra)


class _FilePart:
    """The `size` bytes of a file from `start` on, to be read once."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        file.seek(start)
        self._file = file
        self._left = size

    def read(self, count: int = -1) -> bytes:
        data = self._file.read(self._left if count < 0 else min(count, self._left))
        self._left -= len(data)
        return data
