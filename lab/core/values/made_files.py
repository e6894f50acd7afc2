"""Create all files and folders of hitlab, readable by their owner alone because they hold people's data.

The setting `file_mode` changes the mode. Everything that hitlab writes goes through here. An existing file keeps its
mode.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Literal

PRIVATE, UMASK = "private", "umask"
_OCTAL = re.compile(r"0?(?:o)?([0-7]{3})")
_READ, _SEARCH = 0o444, 0o111
_modes: dict[Literal["file", "folder"], int | None] = {"file": 0o600, "folder": 0o700}
"""Modes of new files and folders. None leaves them to the umask."""


def is_file_mode(setting: str) -> bool:
    """Return True for a valid `file_mode`: `private`, `umask`, or an octal number with which the owner may write."""
    match = _OCTAL.fullmatch(setting)
    return setting in (PRIVATE, UMASK) or (match is not None and int(match[1], 8) & 0o600 == 0o600)


def set_file_mode(setting: str) -> None:
    """Set the mode of all new files. New folders get the same, searchable by whoever may read them."""
    match = _OCTAL.fullmatch(setting)
    mode = int(match[1], 8) if match else 0o600
    # Whoever may read a folder may also search it.
    folder = mode | ((mode & _READ) >> 2)
    _modes.update({"file": None, "folder": None} if setting == UMASK else {"file": mode, "folder": folder})


def open_file(path: Path, how: Literal["x", "w", "xb", "wb"], **terms: Any) -> IO[Any]:
    """Open a file for writing as `open` does. A new file gets the mode in force."""
    return open(path, how, opener=_open_with_mode, **terms)


def open_descriptor(path: Path, flags: int) -> int:
    """Open a file as `os.open` does. `flags` decide if it must be new and if links are followed."""
    return _open_with_mode(os.fspath(path), flags | os.O_CREAT)


def make_file(path: Path) -> None:
    """Create an empty file for a library to write into. Ignore an existing file and any error."""
    with suppress(OSError):
        os.close(_open_with_mode(os.fspath(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL))


def write_bytes(path: Path, data: bytes) -> None:
    with open_file(path, "wb") as file:
        file.write(data)


def write_text(path: Path, text: str, errors: str = "strict") -> None:
    with open_file(path, "w", encoding="utf-8", errors=errors) as file:
        file.write(text)


def make_folder(path: Path, *, there: bool = True) -> None:
    """Create a folder and its missing parents. With `there` false, raise `FileExistsError` if it exists."""
    missing = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    if not missing and not there:
        raise FileExistsError(17, os.strerror(17), str(path))
    for folder in reversed(missing):
        mode = _modes["folder"]
        try:
            folder.mkdir(mode=0o777 if mode is None else mode)
        except FileExistsError:
            # Another process may have made it meanwhile.
            if not there or not folder.is_dir():
                raise
            continue
        if mode is not None and stat.S_IMODE(folder.stat().st_mode) != mode:
            folder.chmod(mode)  # the umask took more away


def _open_with_mode(path: str, flags: int) -> int:
    mode = _modes["file"]
    if mode is None or not flags & os.O_CREAT:
        return os.open(path, flags, 0o666)
    # O_EXCL tells a new file from an old one, whose mode must stay.
    try:
        handle = os.open(path, flags | os.O_EXCL, mode)
    except FileExistsError:
        if flags & os.O_EXCL:
            raise
        return os.open(path, flags, mode)
    # The umask may have taken bits away that the setting grants.
    os.fchmod(handle, mode)
    return handle
