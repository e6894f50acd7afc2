"""A person's keymap: bindings by id, checked keys, and what a moved key displaces.

Textual ignores an unknown id or key, and drops a binding whose key goes to another. Here an unknown id or key is an
error, and bindings that share a widget with a moved one keep their own keys.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pkgutil import walk_packages
from typing import NamedTuple

import msgspec
from textual.binding import Binding, BindingsMap
from textual.dom import DOMNode
from textual.keys import Keys

from lab.core.errors import LabError
from lab.core.settings import folder, source_of
from lab.core.text.plain_text import plain
from lab.core.text.suggestion import suggestion
from lab.core.values.made_files import make_folder, write_bytes
from screens.key_names import typed_character

FOLLOWS = {"run.end": "run.pause", "home.quit": "app.quit"}
"""Bindings that move with another: the second press of one key, or the same action in another room."""
_HELD = frozenset({"ctrl", "shift", "alt", "meta", "super", "hyper"})


class NamedBinding(NamedTuple):
    """A binding by its id with its default keys, its word in the footer, and its tooltip."""

    id: str
    keys: str
    word: str
    tooltip: str


class Keymap(NamedTuple):
    """A checked keymap.

    `keys` are keys by binding id for Textual. `lost` has a sentence for each binding without a key.
    """

    keys: dict[str, str]
    lost: tuple[str, ...]


class _Bindings(NamedTuple):
    """Every named binding by id, and the bindings of each key, once per distinct set that a widget has."""

    named: dict[str, NamedBinding]
    by_key: list[dict[str, list[str]]]


def named_bindings() -> dict[str, NamedBinding]:
    """Return every binding of every screen by id, sorted."""
    return _bindings().named


def _bindings() -> _Bindings:
    """Return the screens' bindings, from a cache file if possible.

    Importing all screens takes most of a second. The file's name holds a hash of the screens' files and of Textual's
    version. If the file cannot be read or written, import the screens.
    """
    path = folder("cache") / f"bindings-{_files_stamp()}.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Bindings)
    except (OSError, msgspec.MsgspecError):
        bindings = _read_bindings()
    # Written beside and renamed, so that another process never reads half a file.
    part = path.with_suffix(f".{os.getpid()}")
    try:
        make_folder(path.parent)
        for old in path.parent.glob("bindings-*"):
            old.unlink(missing_ok=True)
        write_bytes(part, msgspec.json.encode(bindings))
        part.replace(path)
    except OSError:
        # A cache folder that cannot be written must not keep the app from starting.
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return bindings


def _files_stamp() -> str:
    """Return a hash that changes with Textual's version and with any file of the screens."""
    root = Path(__file__).parent
    files = ((str(path), path.stat()) for path in sorted(root.rglob("*.py")))
    parts = [version("textual"), *(f"{path} {stat.st_mtime_ns} {stat.st_size}" for path, stat in files)]
    return sha256("\n".join(parts).encode()).hexdigest()[:16]


def _read_bindings() -> _Bindings:
    """Import all screens and read their bindings."""
    named_bindings_by_id: dict[str, NamedBinding] = {}
    for kind in _node_classes():
        for binding in kind.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id:
                named_binding = NamedBinding(binding.id, binding.key, binding.description, binding.tooltip)
                # Rooms may share an id, such as `run.pause`. Its first binding describes all.
                named_bindings_by_id.setdefault(binding.id, named_binding)
    by_key: list[dict[str, list[str]]] = []
    for bindings in _binding_maps():
        stand = {
            key: [named_binding.id for named_binding in ones if named_binding.id]
            for key, ones in bindings.key_to_bindings.items()
        }
        stand = {key: ids for key, ids in stand.items() if ids}
        if stand and stand not in by_key:
            by_key.append(stand)
    return _Bindings(dict(sorted(named_bindings_by_id.items())), by_key)


def keymap_of(keymap: Mapping[str, str]) -> Keymap:
    """Check a keymap of the settings. Raise `LabError` if it names an unknown binding or key."""
    if not keymap:
        return Keymap({}, ())
    bindings, maps = _bindings()
    for id, keys in keymap.items():
        _check_entry(id, keys, bindings)
    new_keys = {id: ",".join(key.strip() for key in keys.split(",")) for id, keys in keymap.items()}
    new_keys |= {id: new_keys[other] for id, other in FOLLOWS.items() if other in new_keys and id not in new_keys}
    unmoved_keys: dict[str, str] = {}
    sentences: dict[str, str] = {}
    for by_key in maps:
        for others in by_key.values():
            if not new_keys.keys().isdisjoint(others):
                unmoved_keys |= {other: bindings[other].keys for other in others if other not in new_keys}
        sentences |= _lost_sentences(by_key, new_keys, bindings)
    return Keymap(new_keys | unmoved_keys, tuple(sentences.values()))


def _check_entry(id: str, keys: str, bindings: Mapping[str, NamedBinding]) -> None:
    if id not in bindings:
        problem = f"field keymap: {plain(id)!r} is no binding{suggestion(id, bindings)}"
        raise LabError(source_of("keymap")[0], problem, "`hitlab settings keys` lists them.")
    for key in keys.split(","):
        if not _is_key(key.strip()):
            problem = f"field keymap: {plain(id)} = {plain(keys)!r}: {plain(key.strip())!r} is no key"
            raise LabError(
                source_of("keymap")[0], problem, "Keys are written as ctrl+x, f12, enter, A or question_mark."
            )


def _is_key(key: str) -> bool:
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    return (
        last != ""
        and set(modifiers) <= _HELD
        and (len(last) == 1 or last in _named_keys() or bool(typed_character(last)))
    )


def _named_keys() -> frozenset[str]:
    return frozenset(key.value for key in Keys)


def _lost_sentences(
    by_key: Mapping[str, list[str]], new_keys: Mapping[str, str], bindings: Mapping[str, NamedBinding]
) -> dict[str, str]:
    """Return a sentence by binding id for each binding of one widget that has lost its last key to another."""
    moved_keys = {key: id for id, keys in new_keys.items() for key in keys.split(",") if key in by_key}
    ids_here = {id for ids in by_key.values() for id in ids}
    sentences = {}
    for key, id in moved_keys.items():
        for other in by_key[key]:
            if id in ids_here and other not in new_keys and set(bindings[other].keys.split(",")) <= set(moved_keys):
                sentences[other] = f"{bindings[other].word} ({other}) has no key: {id} stands on {key}."
    return sentences


def _binding_maps() -> Iterator[BindingsMap]:
    for kind in _node_classes():
        bindings_map = getattr(kind, "_merged_bindings", None)
        if bindings_map is not None:
            yield bindings_map


def _node_classes() -> Iterator[type[DOMNode]]:
    """Import all modules of `screens`, and yield their widgets, screens and the app."""
    import screens

    for module in walk_packages(screens.__path__, "screens."):
        if not module.name.endswith(".__main__"):
            import_module(module.name)
    queue, seen = [DOMNode], set[type[DOMNode]]()
    while queue:
        for kind in queue.pop().__subclasses__():
            if kind not in seen:
                seen.add(kind)
                queue.append(kind)
    yield from sorted((kind for kind in seen if kind.__module__.startswith("screens.")), key=str)
