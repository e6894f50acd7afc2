"""Read JSON lines that people and their programs write: one object a line. A JSON list of objects works too."""

from __future__ import annotations

from typing import NamedTuple

from lab.core.codec import StorableValue, read_json
from lab.core.errors import LabError

_SEPARATORS = (b",", b";", b"\t")


class JsonLine(NamedTuple):
    """One value of a file, its place there, and the changes that made it storable."""

    where: str
    value: StorableValue


def json_lines(data: bytes, what: str) -> list[JsonLine]:
    """Return each value of a file with its place. Raise `LabError` that names the invalid line."""
    if is_list(data):
        items, notes = read_json(data, what, by_hand=True)
        return [JsonLine(f"{what}, item {i}", StorableValue(item, _notes_of(notes, i))) for i, item in enumerate(items)]
    lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    if not lines:
        raise LabError(what, "holds no line")
    check_no_table(lines[0][1], what)
    return [JsonLine(where := f"{what}, line {number}", read_json(line, where, by_hand=True)) for number, line in lines]


def is_list(data: bytes) -> bool:
    """Return True if a text begins like a JSON list of objects."""
    opening = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    return opening.startswith(b"[") and opening[1:].lstrip()[:1] in (b"{", b"]", b"")


def check_no_table(line: bytes, what: str) -> None:
    """Raise `LabError` if a first line looks like a table's header: names between commas, semicolons or tabs."""
    text = line.removeprefix(b"\xef\xbb\xbf").strip()
    if text[:1] not in (b"{", b"[") and b"{" not in text and any(separator in text for separator in _SEPARATORS):
        hint = 'Write one object a line: {"unit": "019a", "field": "state", "value": "yes"}.'
        raise LabError(what, "is a table (CSV), and JSON lines are read here.", hint)


def _notes_of(notes: list[tuple[str, str]], i: int) -> list[tuple[str, str]]:
    """Return the notes of one item of a list, with places relative to it."""
    start = f"[{i}]"
    return [(place[len(start) :].lstrip("."), why) for place, why in notes if place.startswith(start)]
