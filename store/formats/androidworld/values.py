"""Values of a pickle that was read without running code: stand-ins, arrays from bytes, conversion to JSON."""

from __future__ import annotations

import datetime
import math
import re
import struct
from typing import Any, NamedTuple

from lab.core.codec import escape_surrogates
from lab.core.errors import LabError
from store.formats.image_spool import SpooledImage

_MOST_VALUES = 2_000_000
_MOST_TEXT = 128 * 1024**2
"""Maximum numbers of values, and of characters, in one run's JSON: a pickle may refer to one value a million times."""
_DEEPEST = 100
# Larger integers do not fit into a signed 64-bit integer.
_INT_BITS = 63
_MAX_NUMBERS = 4096
"""Maximum number of an array's elements that are stored as numbers."""

_RESPONSE_FIELDS = ("status_code", "reason", "elapsed", "_content")
"""Fields stored of a model's HTTP response. Headers, cookies and the request with its API key are dropped."""

# Pictures inside prompts, which are stored as pictures already.
_INLINE = re.compile(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=\s]{1024,}")
_STRUCT_CODES = {"b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q",
          "f2": "e", "f4": "f", "f8": "d"}  # fmt: skip


class Global(NamedTuple):
    """The name of an object in a Python module, which is never imported."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class LargeBytes:
    """A long byte string. `data` is None once a picture was made of it, or if too many were in memory."""

    __slots__ = ("data", "size")

    def __init__(self, data: bytes | None, size: int) -> None:
        self.data = data
        self.size = size


class ForeignObject:
    """Stand-in for an object of an unknown class, with its arguments and state."""

    __slots__ = ("args", "items", "kind", "state")

    def __init__(self, kind: Any, args: Any = ()) -> None:
        self.kind = kind
        self.args = args
        self.state: Any = None
        self.items: list[Any] = []

    @property
    def fields(self) -> dict[Any, Any]:
        """Attributes by name. Attributes in slots are in the second part of a pair."""
        parts = self.state if isinstance(self.state, tuple) else (self.state,)
        return {key: value for part in parts if isinstance(part, dict) for key, value in part.items()}


class Dtype:
    """Element type of an array in numpy's notation: `u1`, `f8`, `U5`. `order` is `<`, `>` or `|`."""

    __slots__ = ("code", "order")

    def __init__(self, code: str) -> None:
        self.order, self.code = (code[0], code[1:]) if code[:1] in ("<", ">", "|", "=") else ("|", code)

    @property
    def width(self) -> int | None:
        """Bytes of one element, or None if undefined (objects, fields)."""
        count = self.code[1:]
        if self.code[:1] not in "biufcSUmM" or not count.isdigit() or len(count) > 6:
            return None
        return int(count) * (4 if self.code[0] == "U" else 1)

    def numbers(self, data: bytes) -> list[Any] | None:
        """Return the values in `data`, or None if they are not plain numbers or text."""
        order = ">" if self.order == ">" else "<"
        each = self.width
        if not each or len(data) % each:
            return None
        if self.code[0] == "U":
            decoder = "utf-32-be" if order == ">" else "utf-32-le"
            return [data[i : i + each].decode(decoder, "replace").rstrip("\0") for i in range(0, len(data), each)]
        code = _STRUCT_CODES.get(self.code)
        return list(struct.unpack(f"{order}{len(data) // each}{code}", data)) if code else None


class Array:
    """A numpy array: its picture if it is one, else the values of a small one. `shape` is empty for a scalar."""

    __slots__ = ("dtype", "numbers", "picture", "shape")

    def __init__(self) -> None:
        self.shape: tuple[int, ...] = ()
        self.dtype = ""
        self.numbers: list[Any] | None = None
        self.picture: SpooledImage | None = None


def fields_of(value: Any) -> dict[Any, Any] | None:
    """Return the fields of a mapping or a stand-in, or None for anything else."""
    if isinstance(value, dict):
        return value
    return value.fields if isinstance(value, ForeignObject) else None


def shot_of(value: Any) -> SpooledImage | None:
    """Return the picture that a value represents, or None if it is not one."""
    image = value.picture if isinstance(value, Array) else value.state if isinstance(value, ForeignObject) else value
    return image if isinstance(image, SpooledImage) else None


class Shaper:
    """Converts a pickle's values to JSON within limits, so that aliases cannot inflate it.

    `notes` lists changes by place.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.notes: list[list[str]] = []
        self._values = 0
        self._text = 0

    def shape(self, value: Any, place: str = "", depth: int = 0) -> Any:
        """Return `value` as JSON, with descriptions of pictures and long bytes. Raise `LabError` if it is too large."""
        self._values += 1
        if self._values > _MOST_VALUES:
            raise LabError(self.what, f"holds more than {_MOST_VALUES:,} values in one run")
        if depth > _DEEPEST:
            raise LabError(self.what, "is nested too deeply to be read")
        match value:
            case None | bool():
                return value
            case str():
                return self._counted_text(value, place)
            case int():
                if value.bit_length() <= _INT_BITS:
                    return value
                self.notes.append([place, "integer too large"])
                return str(value)
            case float():
                if math.isfinite(value):
                    return value
                self.notes.append([place, str(value)])
                return None
            case Global() | SpooledImage():
                return str(value) if isinstance(value, Global) else f"picture {value.size[0]}x{value.size[1]}, left out"
            case dict():
                return self._shape_mapping(value, place, depth)
            case list() | tuple():
                return [self.shape(one, f"{place}[{i}]", depth + 1) for i, one in enumerate(value)]
        return self._shape_object(value, place, depth)

    def _shape_mapping(self, value: dict[Any, Any], place: str, depth: int) -> dict[str, Any]:
        pairs = (
            (self._counted_text(key if isinstance(key, str) else str(key), place), member)
            for key, member in value.items()
        )
        return {key: self.shape(member, f"{place}.{key}" if place else key, depth + 1) for key, member in pairs}

    def _shape_object(self, value: Any, place: str, depth: int) -> Any:
        match value:
            case datetime.datetime() | datetime.date() | datetime.time():
                return value.isoformat()
            case datetime.timedelta():
                return value.total_seconds()
            case bytes():
                return self._shape_bytes(value, place)
            case LargeBytes():
                return f"{value.size:,} bytes, left out"
            case Array():
                return self._shape_array(value, place, depth)
            case ForeignObject():
                return self._shape_stand_in(value, place, depth)
            case Dtype():
                return f"dtype {value.order}{value.code}"
        return type(value).__name__

    def _counted_text(self, text: str, place: str) -> str:
        self._text += len(text)
        if self._text > _MOST_TEXT:
            raise LabError(self.what, f"holds more than {_MOST_TEXT:,} characters in one run")
        if len(text) > 1024 and "base64," in text:
            text = _INLINE.sub(lambda match: f"{match[0].partition(',')[0]},({len(match[0]):,} characters)", text)
        escaped = escape_surrogates(text)
        if escaped != text:
            self.notes.append([place, "lone surrogate"])
        return escaped

    def _shape_bytes(self, value: bytes, place: str) -> str:
        try:
            return self._counted_text(value.decode(), place)
        except UnicodeDecodeError:
            return f"{len(value):,} bytes, left out"

    def _shape_array(self, value: Array, place: str, depth: int) -> Any:
        if value.picture is not None:
            return self.shape(value.picture, place, depth)
        if value.numbers is None or len(value.numbers) > _MAX_NUMBERS:
            return f"array of {value.dtype}, {'x'.join(map(str, value.shape))}, left out"
        numbers = value.numbers
        for length in reversed(value.shape[1:]):
            numbers = [numbers[i : i + length] for i in range(0, len(numbers), length)] if length else []
        return self.shape(numbers[0] if not value.shape and numbers else numbers, place, depth + 1)

    def _shape_stand_in(self, value: ForeignObject, place: str, depth: int) -> Any:
        name = str(value.kind) if isinstance(value.kind, Global) else "object"
        # Its headers hold the API key.
        if name.startswith("requests.") and name.endswith("Request"):
            return "a request, left out"
        shaped: dict[str, Any] = {"class": self._counted_text(name, place)}
        state = value.state
        if name == "requests.models.Response":
            state = {key: member for key, member in value.fields.items() if key in _RESPONSE_FIELDS}
        for key, part in (("args", value.args), ("state", state), ("items", value.items)):
            if part:
                shaped[key] = self.shape(part, f"{place}.{key}" if place else key, depth + 1)
        return shaped
