"""A stranger's files: read up to a limit, unpacked up to a limit, and never from outside the folder that was named."""

from __future__ import annotations

import gzip
import re
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

from lab.errors import LabError
from lab.wire import escape_surrogates, read_file

MOST_JSON = 1024**3
"""The most bytes of one JSON file that are read, packed or not."""

MOST_PICTURE = 64 * 1024**2
_PIECE = 1024**2


def read_within(root: Path, path: Path, *, most: int = MOST_JSON) -> bytes:
    """The bytes of a regular file below `root`; a link that leads out of it is refused."""
    check_within(root, path)
    return read_file(path, most=most)


def check_within(root: Path, path: Path) -> None:
    """Raises `LabError` where `path` is no regular file, or really stands outside `root`."""
    try:
        if not path.resolve(strict=True).is_relative_to(root.resolve()):
            raise LabError(str(path), "is a link that leads out of the folder; it is not followed")
        if not stat.S_ISREG(path.stat().st_mode):
            raise LabError(str(path), "is not a file")
    except FileNotFoundError as error:
        raise LabError(str(path), "is not there") from error
    except (OSError, RuntimeError) as error:
        raise LabError(
            str(path), f"cannot be read ({getattr(error, 'strerror', None) or 'a circle of links'})"
        ) from error


def numbered(folder: Path, named: re.Pattern[str]) -> dict[int, Path]:
    """A folder's files by the number that is the first group of `named`, found in their names; the last of each."""
    if not folder.is_dir():
        return {}
    found = ((match, path) for path in sorted(folder.iterdir()) if (match := named.search(path.name)))
    return {int(match[1]): path for match, path in found}


def unread(path: Path, error: LabError) -> str:
    """Why a file of a run could not be read, as the run keeps it."""
    return escape_surrogates(f"{path.name} {error.message}")


def unpacked(path: Path, *, most: int = MOST_JSON) -> bytes:
    """The bytes of a file, unpacked where its name ends in `.gz`; stops with a `LabError` after `most` bytes."""
    if path.suffix != ".gz":
        return read_file(path, most=most)
    pieces: list[bytes] = []
    size = 0
    for piece in _pieces(path):
        size += len(piece)
        if size > most:
            raise LabError(str(path), f"unpacks to more than the {most:,} bytes that are read")
        pieces.append(piece)
    return b"".join(pieces)


def beginning(path: Path, count: int) -> bytes:
    """The first `count` bytes of a file, unpacked where its name ends in `.gz`; a pipe would be waited for for ever."""
    if not path.is_file():
        raise LabError(str(path), "is not a file")
    if path.suffix == ".gz":
        return next(_pieces(path, count), b"")
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise LabError(str(path), f"cannot be read ({error.strerror})") from error


def _pieces(path: Path, size: int = _PIECE) -> Iterator[bytes]:
    try:
        with gzip.open(path) as file:
            while piece := file.read(size):
                yield piece
    except (EOFError, zlib.error) as error:
        raise LabError(str(path), f"is cut short or damaged ({error})") from error
    except OSError as error:
        raise LabError(str(path), f"cannot be unpacked ({error.strerror or error})") from error
