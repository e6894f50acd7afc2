"""A protocol as a file: read, checked, and given its keys. Its version is the hash of what it holds."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from lab.errors import LabError
from lab.study import Field, Protocol
from lab.wire import convert, read_file, read_yaml


def load_protocol(path: Path) -> Protocol:
    """A protocol from a YAML file; a `LabError` names the file and the field that is wrong."""
    what = f"protocol file {path}"
    value = read_yaml(read_file(path, what), what).value
    if isinstance(value, dict):
        value.setdefault("id", path.stem)
    found: Protocol = convert(value, Protocol, what)
    check_protocol(found, what)
    return replace(found, fields=tuple(map(_keyed, found.fields)))


def _keyed(field: Field) -> Field:
    """Options that name no key have their number, so that digits suffice."""
    if len(field.options) > 9:
        return field
    options = tuple(replace(option, key=option.key or str(number)) for number, option in enumerate(field.options, 1))
    return replace(field, options=options)


def check_protocol(protocol: Protocol, what: str) -> None:
    """Raises `LabError` where ids repeat, a condition or precedence leads nowhere, or a field cannot be answered."""
    ids = [field.id for field in protocol.fields]
    if not ids:
        raise LabError(what, "field fields: there is none")
    for id in ids:
        if ids.count(id) > 1:
            raise LabError(what, f"field fields: {id!r} is there twice")
    for field in protocol.fields:
        if field.kind in ("nominal", "ordinal") and not field.options and protocol.targets != "branches":
            raise LabError(what, f"field fields.{field.id}: has no options")
        if field.show_if and field.show_if.partition("=")[0] not in ids:
            raise LabError(
                what, f"field fields.{field.id}.show_if: there is no field {field.show_if.partition('=')[0]!r}"
            )
        if field.after and field.after not in ids:
            raise LabError(what, f"field fields.{field.id}.after: there is no field {field.after!r}")
