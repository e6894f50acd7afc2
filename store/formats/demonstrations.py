"""Shared parts of the readers of published demonstrations: actor, end, and lookup of pictures."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from lab.core.codec import escape_surrogates
from lab.core.run.step import Action
from lab.core.run.trace import Ended
from lab.core.task.task import Actor
from store.formats.files import PICTURE

ANNOTATOR = Actor("human", "annotator")
"""Agent of a demonstration whose source names none."""

_PICTURE = re.compile(rf"\.{PICTURE}\Z", re.I)
_MOST_NAMES = 200_000
_PARTS = 64


def episode_bytes(value: Any) -> bytes:
    """Return a demonstration's canonical encoding, independent of its file's layout. The id is computed from it."""
    return msgspec.json.encode(value, order="deterministic")


def demonstration_end(
    actions: Iterable[Action], stated: int | None, reason: str = "", impossible: bool = False
) -> Ended:
    """Return the end of a demonstration: completed, unless the source has no steps or fewer than it states."""
    action_list = list(actions)
    if not action_list:
        return Ended(status="failed", reason="the source holds no steps")
    if stated is not None and len(action_list) < stated and action_list[-1].kind not in ("status", "answer"):
        return Ended(status="stopped", reason=f"the source holds {len(action_list)} of {stated} steps")
    if impossible or action_list[-1].status == "infeasible":
        return Ended(status="completed", reason=reason or "impossible, as the source says")
    return Ended(status="completed", reason=reason)


class ImageFinder:
    """Finds pictures that a file refers to, never outside `root`."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = os.path.abspath(root)
        self._folder = os.path.abspath(folder)
        self._by_name: dict[str, list[str]] | None = None
        self._known_folders: dict[str, bool] = {}

    def find(self, reference: Any, extra: dict[str, Any], near: Iterable[str] = ()) -> Path | None:
        """Return the file that `reference` names, or None if there is none, with the reason in `extra["screenshot"]`.

        It is searched relative to the file's folder, its parents up to the root, the folders `near`, and by name only.
        """
        if not isinstance(reference, str) or not reference.strip():
            return None
        # Paths may come from Windows. A stranger's reference may also have any length.
        parts = PurePosixPath(reference.replace("\\", "/")).parts[-_PARTS:]
        name = parts[-1] if parts else ""
        for place in self._candidate_paths(parts, name, near):
            if os.path.isfile(place):
                return Path(place)
        if name not in ("", "/", "..") and (path := self._find_by_name(parts)) is not None:
            return Path(path)
        leads_out = parts[:1] == ("/",) or ".." in parts or ":" in (parts or ("",))[0]
        why = "leads out of the folder; it is not followed" if leads_out else "is not there"
        extra["screenshot"] = escape_surrogates(f"{reference} {why}")
        return None

    def _candidate_paths(self, parts: tuple[str, ...], name: str, near: Iterable[str]) -> Iterator[str]:
        below = [os.path.join(self._folder, *parts)] if parts[:1] != ("/",) else []
        above = self._folder
        while below and above != self._root and above.startswith(self._root):
            above = os.path.dirname(above)
            below.append(os.path.join(above, *parts))
        for place in [
            *below,
            *(os.path.join(self._folder, way, name) for way in near if name and self._folder_exists(way)),
        ]:
            clean = os.path.normpath(place)
            # Drops paths that leave the root by `..`.
            if clean.startswith(self._root + os.sep):
                yield clean

    def _folder_exists(self, way: str) -> bool:
        """Return True if a folder exists, cached because it is asked for each of its files."""
        if way not in self._known_folders:
            self._known_folders[way] = os.path.isdir(os.path.join(self._folder, way))
        return self._known_folders[way]

    def _find_by_name(self, parts: tuple[str, ...]) -> str | None:
        """Return the file below the root whose path ends most like `parts`, or None if several match equally."""
        if self._by_name is None:
            self._by_name = self._index_pictures()
        shared = {path: _shared_suffix(path, parts) for path in self._by_name.get(parts[-1], [])}
        best = [path for path, count in shared.items() if count == max(shared.values())]
        return best[0] if len(best) == 1 else None

    def _index_pictures(self) -> dict[str, list[str]]:
        index: dict[str, list[str]] = {}
        name_count = 0
        for folder, below, names in os.walk(self._root):
            below.sort()
            name_count += len(names) + 1
            # Bounds the walk if the root is a very large folder.
            if name_count > _MOST_NAMES:
                break
            for name in names:
                if _PICTURE.search(name):
                    index.setdefault(name, []).append(os.path.join(folder, name))
        return index


def _shared_suffix(path: str, parts: tuple[str, ...]) -> int:
    theirs = Path(path).parts
    count = 0
    while count < min(len(theirs), len(parts)) and theirs[-1 - count] == parts[-1 - count]:
        count += 1
    return count
