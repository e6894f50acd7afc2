"""The protocols: questions for people, as data in one YAML file each, and users' own files beside them."""

from __future__ import annotations

from pathlib import Path

from annotators.protocol import load_protocol
from lab.core.errors import LabError
from lab.core.study.protocol import Protocol
from lab.core.text.suggestion import suggestion

HERE = Path(__file__).parent


def names() -> list[str]:
    """Return the names of all built-in protocols, sorted."""
    return [*_files()]


def protocols() -> dict[str, Protocol]:
    """Return all built-in protocols by id."""
    return {id: load_protocol(path) for id, path in _files().items()}


def protocol(name: str) -> Protocol:
    """Return a built-in protocol by its id, or one from a YAML file. Raise `LabError` if it is neither.

    A built-in name has priority over a file of that name, so that a stray file in the working folder never changes a
    study.
    """
    return load_protocol(file_of(name))


def file_of(name: str) -> Path:
    """Return the file of a built-in protocol, or the path of one. Raise `LabError` if the name is neither."""
    files = _files()
    if name in files:
        return files[name]
    path = Path(name)
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1 or path.is_file():
        return path
    raise LabError(
        f"protocol {name!r}",
        f"there is none of that name{suggestion(name, files)}",
        "`hitlab study protocols` lists them; a YAML file of yours does as well.",
    )


def _files() -> dict[str, Path]:
    return {path.stem: path for path in sorted(HERE.glob("*.yaml"))}
