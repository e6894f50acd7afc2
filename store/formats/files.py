"""Reading of untrusted files: limited in size, packed or not, never outside the given folder."""

from __future__ import annotations

import gzip
import os
import re
import stat
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from lab.core.codec import escape_surrogates
from lab.core.errors import LabError
from lab.core.run.input_limits import JSON_BYTES, UNPACKED_AT_LEAST, UNPACKED_PER_BYTE

SNIFFED = 64 * 1024
"""Bytes of a file that are read to recognize its format."""

BLANK = b"\xef\xbb\xbf \t\r\n"
"""Bytes that may precede a text: byte order mark and blanks."""

PICTURE = "(?:png|jpe?g|webp|gif|bmp|avif)"
"""Pattern for file name extensions of pictures."""

_PIECE = 1024**2
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_within(root: Path, path: Path) -> BufferedReader:
    """Open a regular file below `root` for reading. Raise `LabError` for anything else.

    Links are resolved first. Then each folder from `root` down is opened without following links. If a file is replaced
    by a link meanwhile, the open fails instead of leaving the root.
    """
    try:
        top = root.resolve()
        place = path.resolve(strict=True)
        if not place.is_relative_to(top):
            raise LabError(str(path), "is a link that leads out of the folder; it is not followed")
        return _open_below(top, place.relative_to(top).parts, path)
    except FileNotFoundError as error:
        raise LabError(str(path), "is not there") from error
    except (OSError, RuntimeError) as error:
        raise LabError(
            str(path), f"cannot be read ({getattr(error, 'strerror', None) or 'a circle of links'})"
        ) from error


def _open_below(top: Path, parts: tuple[str, ...], path: Path) -> BufferedReader:
    folder = os.open(top, _FOLDER)
    try:
        for part in parts[:-1]:
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        # O_NONBLOCK (in `_FILE`) keeps a pipe from blocking the open before its type is checked.
        handle = os.open(parts[-1] if parts else ".", _FILE, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise LabError(str(path), "is not a file")
    return os.fdopen(handle, "rb")


def read_within(root: Path, path: Path, *, most: int = JSON_BYTES) -> bytes:
    """Return the bytes of a regular file below `root`. Raise `LabError` for a link that leads out of it."""
    with open_within(root, path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise LabError(str(path), f"is {size:,} bytes, more than the {most:,} that are read")
        try:
            data = file.read(size)  # a file that grows meanwhile is read up to its earlier size
        except OSError as error:
            raise LabError(str(path), f"cannot be read ({error.strerror})") from error
    return data


def files_by_number(folder: Path, pattern: re.Pattern[str]) -> dict[int, Path]:
    """Return a folder's files by number, the first group of `pattern` in their names, the last file for each."""
    if not folder.is_dir():
        return {}
    matched_paths = ((match, path) for path in sorted(folder.iterdir()) if (match := pattern.search(path.name)))
    return {int(match[1]): path for match, path in matched_paths}


def unreadable_reason(path: Path, error: LabError) -> str:
    """Return the reason why a run's file could not be read, as stored in the run."""
    return escape_surrogates(f"{path.name} {error.message}")


def read_unpacked(root: Path, path: Path, *, most: int = JSON_BYTES) -> bytes:
    """Return the bytes of a file below `root`, unpacked if its name ends in `.gz`.

    Raise `LabError` after `most` bytes, or if the ratio of compression is implausible for text.
    """
    if path.suffix != ".gz":
        return read_within(root, path, most=most)
    data = bytearray()
    with open_within(root, path) as file:
        packed_size = os.fstat(file.fileno()).st_size
        # Guards against a gzip bomb, whose packed size is far below the limit of `most`.
        most_unpacked = max(UNPACKED_AT_LEAST, UNPACKED_PER_BYTE * packed_size)
        for piece in _unpack(file, path):
            data += piece
            if len(data) > most:
                raise LabError(str(path), f"unpacks to more than the {most:,} bytes that are read")
            if len(data) > most_unpacked:
                raise LabError(
                    str(path),
                    f"unpacks from {packed_size:,} bytes to more than {most_unpacked:,}, as no recorded run does",
                )
    return bytes(data)


def read_beginning(path: Path, count: int, root: Path) -> bytes:
    """Return the first `count` bytes of a file below `root`, unpacked if its name ends in `.gz`."""
    with open_within(root, path) as file:
        if path.suffix == ".gz":
            return next(_unpack(file, path, count), b"")
        try:
            return file.read(count)
        except OSError as error:
            raise LabError(str(path), f"cannot be read ({error.strerror})") from error


_PACKED_BY = ((b"PK\3\4", "zip"), (b"7z\xbc\xaf\x27\x1c", "7z"), (b"Rar!\x1a\x07", "rar"), (b"BZh", "bzip2"),
              (b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"))  # fmt: skip
# Position of the magic `ustar` in a tar header (POSIX.1-1988).
_TAR = slice(257, 262)


def packed_kind(path: Path, root: Path) -> str:
    """Return the kind of archive that a file below `root` is (zip, tar, also gzipped, 7z, rar ...), empty if none."""
    with open_within(root, path) as file:
        opening = file.read(SNIFFED)
    if kind := next((kind for mark, kind in _PACKED_BY if opening.startswith(mark)), ""):
        return kind
    if opening.startswith(b"\x1f\x8b"):
        try:
            # 31 means a gzip header with the largest window. 512 bytes are a tar header.
            opening = zlib.decompressobj(31).decompress(opening, 512)
        except zlib.error:
            return ""
    return "tar" if opening[_TAR] == b"ustar" else ""


def _unpack(gzip_file: BufferedReader, path: Path, size: int = _PIECE) -> Iterator[bytes]:
    try:
        with gzip.open(gzip_file) as file:
            while piece := file.read(size):
                yield piece
    except (EOFError, zlib.error) as error:
        raise LabError(str(path), f"is cut short or damaged ({error})") from error
    except OSError as error:
        raise LabError(str(path), f"cannot be unpacked ({error.strerror or error})") from error
