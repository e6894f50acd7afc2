"""A served phone's folders, as far as a mapping from absolute path to bytes has any.

A folder is there because it always was, because a file is somewhere in it, or because it was made: an empty one is
the key `path/`.
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
"""Where the shell's user may write."""
_MOST_FILE, _MOST_ALL, _MOST_FILES = 64 << 20, 256 << 20, 10_000


def normal(path: str, within: str = "/") -> str:
    """The one name of a path: absolute, without `.` and `..`, and /sdcard for all that is the same."""
    path = posixpath.normpath(posixpath.join(within, path))
    path = "/" + path.lstrip("/")
    for name in _SAME:
        if path == name or path.startswith(name + "/"):
            return "/sdcard" + path[len(name) :]
    return path


def is_folder(files: Mapping[str, bytes], path: str) -> bool:
    """Whether a folder is at this (normal) path."""
    inside = path.rstrip("/") + "/"
    return path in _ALWAYS or any(name.startswith(inside) for name in list(files))


def entries(files: Mapping[str, bytes], path: str) -> list[str]:
    """The names in a folder, in order; empty where there is none."""
    inside = path.rstrip("/") + "/"
    below = [name[len(inside) :] for name in [*_ALWAYS, *list(files)] if name.startswith(inside)]
    return sorted({name.split("/")[0] for name in below if name})


def writable(path: str) -> bool:
    """Whether the shell's user may write a file here."""
    return any(path.startswith(name + "/") for name in _OURS)


def has_room(files: Mapping[str, bytes], path: str, size: int) -> bool:
    """Whether a file of `size` bytes still fits at this path."""
    others = [len(data) for name, data in list(files.items()) if name != path]
    return size <= _MOST_FILE and sum(others) + size <= _MOST_ALL and len(others) < _MOST_FILES


def make(files: MutableMapping[str, bytes], path: str) -> None:
    """Makes an empty folder at a (normal) path."""
    files.setdefault(path.rstrip("/") + "/", b"")
