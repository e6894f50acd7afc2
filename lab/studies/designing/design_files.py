"""Designs as YAML: the parts of a task file, and files written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from lab.core.codec import convert, read_file, read_yaml
from lab.core.errors import LabError
from lab.core.task.design import SECTIONS, Design, Parts

_WIDTH = 120


def read_parts(path: Path) -> Parts:
    """Read a design's parts from a YAML file. Raise `LabError` with the file and the wrong field."""
    what = f"design file {path}"
    value = read_yaml(read_file(path, what), what).value
    if not isinstance(value, dict) or not value:
        raise LabError(what, f"holds none of {', '.join(SECTIONS)}.")
    parts: Parts = convert(value, Parts, what)
    return parts


def as_yaml(design: Design) -> str:
    """Return the four parts as YAML of a task file, empty ones omitted."""
    import yaml

    class Writer(yaml.SafeDumper):
        """Quotes every string but plain words: YAML readers disagree which bare words are numbers or booleans."""

    def text(writer: Writer, value: str) -> Any:
        bare = value.replace(" ", "").replace("_", "").isalpha() and value == value.strip()
        return writer.represent_scalar("tag:yaml.org,2002:str", value, style=None if bare else '"')

    Writer.add_representer(str, text)
    values = msgspec.to_builtins(design)
    sections = {name: values[name] for name in SECTIONS if values.get(name)}
    return yaml.dump(sections, Dumper=Writer, sort_keys=False, allow_unicode=True, width=_WIDTH)
