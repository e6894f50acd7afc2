"""The questions that are asked of people, as data: one YAML file a protocol, and users' own beside them."""

from __future__ import annotations

from pathlib import Path

from annotators.protocol import load_protocol
from lab.errors import LabError
from lab.study import Protocol

HERE = Path(__file__).parent


def protocols() -> dict[str, Protocol]:
    """Every built-in protocol by its id."""
    return {path.stem: load_protocol(path) for path in sorted(HERE.glob("*.yaml"))}


def protocol(name: str) -> Protocol:
    """A built-in protocol by its id, or one from a YAML file; `LabError` where it is neither."""
    built_in = HERE / f"{name}.yaml"
    if built_in.parent == HERE and built_in.is_file():
        return load_protocol(built_in)
    if name.endswith((".yaml", ".yml")):
        return load_protocol(Path(name))
    known = ", ".join(path.stem for path in sorted(HERE.glob("*.yaml")))
    raise LabError("protocol", f"{name!r} is none of {known}, nor a YAML file")
