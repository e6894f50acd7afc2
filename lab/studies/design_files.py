"""A design as YAML: what a task file can hold, and what a designer writes by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from lab.core.codec import convert, read_file, read_yaml
from lab.core.design import SECTIONS, Design, Parts
from lab.core.errors import LabError

_WIDTH = 120


def read_parts(path: Path) -> Parts:
    """The parts that a YAML file holds; a `LabError` names the file and the field that is wrong."""
    what = f"design file {path}"
    value = read_yaml(read_file(path, what), what).value
    if not isinstance(value, dict) or not value:
        raise LabError(what, f"holds none of {', '.join(SECTIONS)}.")
    parts: Parts = convert(value, Parts, what)
    return parts


def as_yaml(design: Design) -> str:
    """The four parts as a task file holds them, those that are empty left out."""
    import yaml

    class Writer(yaml.SafeDumper):
        """Quotes whatever is not words alone: which bare words are numbers, readers do not agree on."""

    def text(writer: Writer, value: str) -> Any:
        bare = value.replace(" ", "").replace("_", "").isalpha() and value == value.strip()
        return writer.represent_scalar("tag:yaml.org,2002:str", value, style=None if bare else '"')

    Writer.add_representer(str, text)
    values = msgspec.to_builtins(design)
    sections = {name: values[name] for name in SECTIONS if values.get(name)}
    return yaml.dump(sections, Dumper=Writer, sort_keys=False, allow_unicode=True, width=_WIDTH)
