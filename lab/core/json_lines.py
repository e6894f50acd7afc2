"""Files of JSON lines that people and their programs write: one object a line; a JSON list of them is taken, too."""

from __future__ import annotations

from typing import NamedTuple

from lab.core.codec import StorableValue, read_json
from lab.core.errors import LabError

_SEPARATORS = (b",", b";", b"\t")


class JsonLine(NamedTuple):
    """One value of a file, where it stands there, and what of it could not be kept as it stood."""

    where: str
    value: StorableValue


def json_lines(data: bytes, what: str) -> list[JsonLine]:
    """Each value of a file and where it stands; a `LabError` names the line that is none, or says what the file is."""
    if is_list(data):
        items, notes = read_json(data, what)
        return [JsonLine(f"{what}, item {i}", StorableValue(item, _notes_of(notes, i))) for i, item in enumerate(items)]
    lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    if not lines:
        raise LabError(what, "holds no line")
    check_no_table(lines[0][1], what)
    return [JsonLine(where := f"{what}, line {number}", read_json(line, where)) for number, line in lines]


def is_list(data: bytes) -> bool:
    """Whether a text begins as a JSON list of objects does."""
    opening = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    return opening.startswith(b"[") and opening[1:].lstrip()[:1] in (b"{", b"]", b"")


def check_no_table(line: bytes, what: str) -> None:
    """Raises `LabError` where a first line is that of a table: names between commas, semicolons or tabs."""
    text = line.removeprefix(b"\xef\xbb\xbf").strip()
    if text[:1] not in (b"{", b"[") and b"{" not in text and any(separator in text for separator in _SEPARATORS):
        hint = 'Write one object a line: {"unit": "019a", "field": "state", "value": "yes"}.'
        raise LabError(what, "is a table (CSV), and JSON lines are read here.", hint)


def _notes_of(notes: list[tuple[str, str]], i: int) -> list[tuple[str, str]]:
    """What was changed in one item of a list."""
    start = f"[{i}]"
    return [(place[len(start) :].lstrip("."), why) for place, why in notes if place.startswith(start)]
