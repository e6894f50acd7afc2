"""A served phone's folders, derived from its mapping from absolute path to bytes.

A folder exists if it is built in, if a file is somewhere in it, or if it was created: an empty one is the key `path/`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, MutableMapping

_ALWAYS = (
    "/", "/data", "/data/local", "/data/local/tmp", "/sdcard", "/sdcard/Download", "/sdcard/Pictures", "/system",
    "/system/bin",
)  # fmt: skip
_SAME = ("/storage/emulated/0", "/storage/self/primary", "/mnt/sdcard", "/data/media/0")
"""Other names of /sdcard."""
_OURS = ("/data/local/tmp", "/sdcard")
"""Folders that the shell's user may write to."""
_MOST_FILE, _MOST_ALL, _MOST_FILES = 64 << 20, 256 << 20, 10_000


def normal(path: str, within: str = "/") -> str:
    """Return the canonical path: absolute, without `.` and `..`, and with /sdcard for its other names."""
    path = posixpath.normpath(posixpath.join(within, path))
    path = "/" + path.lstrip("/")
    for name in _SAME:
        if path == name or path.startswith(name + "/"):
            return "/sdcard" + path[len(name) :]
    return path


def is_folder(files: Mapping[str, bytes], path: str) -> bool:
    """Return True if a folder exists at this (canonical) path."""
    inside = path.rstrip("/") + "/"
    # `list` copies: other threads may add files during the iteration.
    return path in _ALWAYS or any(name.startswith(inside) for name in list(files))


def entries(files: Mapping[str, bytes], path: str) -> list[str]:
    """Return the sorted names in a folder. Empty if there is no such folder."""
    inside = path.rstrip("/") + "/"
    below = [name[len(inside) :] for name in [*_ALWAYS, *list(files)] if name.startswith(inside)]
    return sorted({name.split("/")[0] for name in below if name})


def writable(path: str) -> bool:
    """Return True if the shell's user may write a file here."""
    return any(path.startswith(name + "/") for name in _OURS)


def has_room(files: Mapping[str, bytes], path: str, size: int) -> bool:
    """Return True if a file of `size` bytes fits at this path."""
    others = [len(data) for name, data in list(files.items()) if name != path]
    return size <= _MOST_FILE and sum(others) + size <= _MOST_ALL and len(others) < _MOST_FILES


def make(files: MutableMapping[str, bytes], path: str) -> None:
    """Create an empty folder at a (canonical) path."""
    files.setdefault(path.rstrip("/") + "/", b"")
