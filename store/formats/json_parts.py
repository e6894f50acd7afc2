"""Reading of large JSON files in parts: the values of one run at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import StorableValue, read_json
from lab.core.errors import LabError
from lab.core.values.json_size import check_items
from store.formats.files import BLANK, SNIFFED
from store.formats.values import Notes

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[][{},]', re.S)
_CLOSING = {"{": "}", "[": "]"}


class SplitObject(NamedTuple):
    """An object's fields, and the items of one list field, decoded lazily.

    `notes` are changes made to the other fields to store them. `items` yields a `StorableValue` for each item, or a
    `LabError` if it cannot be read.
    """

    rest: dict[str, Any]
    notes: Notes
    items: Iterator[StorableValue | LabError]


def first_value(data: bytes) -> tuple[Any, bool]:
    """Return the JSON object or list at the start of a text, and True if it is cut off.

    Of a cut-off value only the complete parts are returned. Return None if the text starts with neither. This is for
    detection only: nothing is cleaned, and the rest is ignored.
    """
    text = data.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not text.startswith(("{", "[")):
        return None, False
    decoder = json.JSONDecoder()
    try:
        return decoder.raw_decode(text)[0], False
    except RecursionError:
        return None, False
    # Cut off or invalid: try again with all brackets closed.
    except ValueError:
        pass
    try:
        return decoder.raw_decode(_close_brackets(text))[0], True
    except (ValueError, RecursionError):
        return None, False


def _close_brackets(text: str) -> str:
    """Return cut-off JSON without its last, unfinished value, all brackets closed."""
    open_brackets: list[str] = []
    end = 0
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in _CLOSING:
            open_brackets.append(_CLOSING[sign])
        elif sign in ("}", "]") and open_brackets:
            open_brackets.pop()
        elif sign != ",":
            continue
        end = token.start() if sign == "," else token.end()
    return text[:end] + "".join(reversed(open_brackets))


def is_list(data: bytes) -> bool:
    """Return True if JSON starts like a list."""
    return data[:SNIFFED].lstrip(BLANK).startswith(b"[")


def split_object(data: bytes, field: str, what: str) -> SplitObject:
    """Split an object into the items of `field` and the rest. Raise `LabError` if it is not such an object.

    JSON that only the tolerant reader accepts (NaN, invalid UTF-8) is read as a whole instead.
    """
    # Counts values in the bytes, before any of them takes memory.
    check_items(data, what, levels=2)
    try:
        raw_fields = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=dict[str, msgspec.Raw])
        parts = msgspec.json.decode(raw_fields.pop(field, None) or b"null", type=list[msgspec.Raw] | None)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return _split_whole(data, field, what)
    rest: dict[str, Any] = {}
    notes: Notes = []
    for name, part in raw_fields.items():
        rest[name], changes = read_json(bytes(part), f"{what} field {name}")
        notes += [(f"{name}.{place}" if place else name, original) for place, original in changes]
    return SplitObject(rest, notes, _decode_parts(parts or [], f"{what} field {field}"))


def list_items(data: bytes, what: str) -> Iterator[StorableValue | LabError]:
    """Return an iterator over the items of a JSON list, decoded lazily. Raise `LabError` if it is not a list."""
    check_items(data, what)
    try:
        parts = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        value, notes = read_json(data, what)
        if not isinstance(value, list):
            raise LabError(what, "is no list") from None
        return _split_items(value, notes, "")
    return _decode_parts(parts, what)


def _decode_parts(parts: list[msgspec.Raw], what: str) -> Iterator[StorableValue | LabError]:
    for i, part in enumerate(parts):
        try:
            yield read_json(bytes(part), f"{what}[{i}]")
        except LabError as error:
            yield error


def _split_whole(data: bytes, field: str, what: str) -> SplitObject:
    value, notes = read_json(data, what)
    if not isinstance(value, dict):
        raise LabError(what, "holds no mapping of fields")
    items = value.pop(field, None)
    if items is None:
        items = []
    if not isinstance(items, list):
        raise LabError(what, f"field {field}: is no list")
    outside = [note for note in notes if not note[0].startswith(f"{field}[")]
    return SplitObject(value, outside, _split_items(items, notes, field))


def _split_items(items: list[Any], notes: Notes, field: str) -> Iterator[StorableValue | LabError]:
    for i, item in enumerate(items):
        here = f"{field}[{i}]"
        own = [(place[len(here) :].lstrip("."), original) for place, original in notes if place.startswith(here)]
        yield StorableValue(item, own)
