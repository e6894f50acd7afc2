"""What readers of published demonstrations share: a stranger's words and lists, and the pictures that paths name."""

from __future__ import annotations

import ast
import json
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from lab.errors import LabError
from lab.task import Actor
from lab.trace import Ended
from lab.turn import Action, Point
from lab.wire import escape_surrogates, read_json
from store.formats.geometry import point

ANNOTATOR = Actor("human", "annotator")
"""Who demonstrated, where a source does not say."""

Notes = list[tuple[str, str]]
_MOST_NAMES = 200_000
_MOST_LITERAL = 1024**2
_PARTS = 64


def words(value: Any) -> str:
    """Text as it stands, a number as text; empty for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def names_of(value: Any) -> tuple[str, ...]:
    """A list of names, or one name alone, without those that are empty."""
    items = value if isinstance(value, list) else [value]
    return tuple(name for item in items if (name := words(item).strip()))


def literal(value: Any) -> Any:
    """What a text spells as JSON or as a Python literal (never run); what spells neither stays as it is."""
    if not isinstance(value, str) or len(value) > _MOST_LITERAL:
        return value
    try:
        return read_json(value.encode("utf-8", "surrogatepass"), "text").value
    except LabError:
        pass
    if not value.lstrip().startswith(("[", "(", "{")):
        return value
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spelled = ast.literal_eval(value.strip())
        return read_json(json.dumps(spelled).encode(), "text").value
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, LabError):
        return value


def numbers(value: Any) -> list[Any]:
    """A list of numbers, also where it is spelled as text; empty where it is none."""
    spelled = literal(value)
    return list(spelled) if isinstance(spelled, list) else []


def moved(at: Point | None, to: Point | None) -> Point | None:
    """The way from one pixel to another; None where either is not known, or no screen is that large."""
    return point(to[0] - at[0], to[1] - at[1]) if at and to else None


def missing(notes: Notes, place: str) -> list[list[str]]:
    """What the tolerant reader changed below `place`, with what stood there."""
    return [[at[len(place) :].lstrip("."), stood] for at, stood in notes if at.startswith(place)]


def without(source: dict[str, Any], taken: Iterable[str]) -> dict[str, Any]:
    """The source's fields that have no place of their own, verbatim, without those that are null."""
    gone = set(taken)
    return {key: value for key, value in source.items() if key not in gone and value is not None}


def episode_bytes(value: Any) -> bytes:
    """One demonstration's bytes, the same however its file is laid out: what its id is made of."""
    return msgspec.json.encode(value, order="deterministic")


def ended(actions: Iterable[Action], told: int | None, reason: str = "", impossible: bool = False) -> Ended:
    """How a demonstration ends: completed, unless its source tells of more steps than it holds, or holds none."""
    done = list(actions)
    if not done:
        return Ended(status="failed", reason="the source holds no steps")
    if told is not None and len(done) < told and done[-1].kind not in ("status", "answer"):
        return Ended(status="stopped", reason=f"the source holds {len(done)} of {told} steps")
    if impossible or done[-1].status == "infeasible":
        return Ended(status="completed", reason=reason or "impossible, as the source says")
    return Ended(status="completed", reason=reason)


class Shots:
    """Finds the pictures that a file below `root` names, and never one from outside it."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = os.path.abspath(root)
        self._folder = os.path.abspath(folder)
        self._by_name: dict[str, list[str]] | None = None
        self._ways: dict[str, bool] = {}

    def find(self, said: Any, extra: dict[str, Any], near: Iterable[str] = ()) -> Path | None:
        """The file that `said` names, from the folder upwards, then below it in `near`, then by its name alone.

        Where there is none, `extra` says so as `screenshot`.
        """
        if not isinstance(said, str) or not said.strip():
            return None
        parts = PurePosixPath(said.replace("\\", "/")).parts[-_PARTS:]
        name = parts[-1] if parts else ""
        for place in self._places(parts, name, near):
            if os.path.isfile(place):
                return Path(place)
        if name not in ("", "/", "..") and (found := self._named(parts)) is not None:
            return Path(found)
        leads_out = parts[:1] == ("/",) or ".." in parts or ":" in (parts or ("",))[0]
        why = "leads out of the folder; it is not followed" if leads_out else "is not there"
        extra["screenshot"] = escape_surrogates(f"{said} {why}")
        return None

    def _places(self, parts: tuple[str, ...], name: str, near: Iterable[str]) -> Iterator[str]:
        below = [os.path.join(self._folder, *parts)] if parts[:1] != ("/",) else []
        above = self._folder
        while below and above != self._root and above.startswith(self._root):
            above = os.path.dirname(above)
            below.append(os.path.join(above, *parts))
        for place in [*below, *(os.path.join(self._folder, way, name) for way in near if name and self._there(way))]:
            clean = os.path.normpath(place)
            if clean.startswith(self._root + os.sep):
                yield clean

    def _there(self, way: str) -> bool:
        """Whether a folder is there; looked up once, for each of its files is asked for."""
        if way not in self._ways:
            self._ways[way] = os.path.isdir(os.path.join(self._folder, way))
        return self._ways[way]

    def _named(self, parts: tuple[str, ...]) -> str | None:
        """The one file below the root whose path ends most like `parts`; None where several do."""
        if self._by_name is None:
            self._by_name = self._index()
        shared = {path: _shared(path, parts) for path in self._by_name.get(parts[-1], [])}
        best = [path for path, count in shared.items() if count == max(shared.values())]
        return best[0] if len(best) == 1 else None

    def _index(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        seen = 0
        for folder, below, names in os.walk(self._root):
            below.sort()
            seen += len(names) + 1
            if seen > _MOST_NAMES:
                break
            for name in names:
                if name.lower().endswith((".png", ".jpg", ".jpeg")):
                    found.setdefault(name, []).append(os.path.join(folder, name))
        return found


def _shared(path: str, parts: tuple[str, ...]) -> int:
    theirs = Path(path).parts
    count = 0
    while count < min(len(theirs), len(parts)) and theirs[-1 - count] == parts[-1 - count]:
        count += 1
    return count
