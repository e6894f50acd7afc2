"""Bytes to values and back: strict with our own bytes, tolerant with a stranger's.

Our own bytes are decoded with msgspec. Unknown fields and newer versions raise a `LabError`.

In a stranger's bytes NaN and infinities become missing, a BOM is dropped, lone surrogates are escaped reversibly, and
integers that no column can hold become text. `StorableValue.notes` lists each change with its place.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from lab.core.errors import LabError
from lab.core.run import input_limits
from lab.core.text.suggestion import did_you_mean, suggestion
from lab.core.text.text_encoding import utf8_text
from lab.core.values.json_size import check_values

T = TypeVar("T")

MARK = "\u241b"
"""The symbol for escape. It precedes an escaped surrogate. Where it stands for itself, it is doubled."""

_SURROGATE = re.compile("[\ud800-\udfff\u241b]")
_ESCAPED = re.compile("\u241b(u[0-9a-f]{4}|\u241b)")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_INT_BITS = 63
_PIECE = 1024**2
_SMALL_INT = 2**53
_SHELL_PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Paths of a shell's pipes: `/dev/fd/63` is its `<(...)`. A program writes into them, so that they end."""
_SHORT_YAML = 64 * 1024
"""Largest YAML file, in bytes, whose value is cached."""
_msgspec_lock = threading.RLock()
"""Lock around msgspec calls: it inspects a type at first use, and crashes if two threads do so at once."""


class StorableValue(NamedTuple):
    """A stranger's value, made storable. `notes` holds (place, original) of each change."""

    value: Any
    notes: list[tuple[str, str]]


def escape_surrogates(text: str) -> str:
    """Escape lone surrogates as `␛udc80` and double `␛`. Almost every text is returned unchanged."""
    if MARK not in text and text.isascii():
        return text
    # Two escapes of JSON may make one whole character. Only lone halves are escaped.
    paired_text = _PAIR.sub(lambda m: m[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _SURROGATE.sub(lambda m: MARK + (MARK if m[0] == MARK else f"u{ord(m[0]):04x}"), paired_text)


def unescape_surrogates(text: str) -> str:
    """Invert `escape_surrogates`."""
    return _ESCAPED.sub(lambda m: MARK if m[1] == MARK else chr(int(m[1][1:], 16)), text)


def storable(text: str) -> str:
    """Return `text` as a column can hold it, escaped as `encode` does if UTF-8 cannot encode it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return escape_surrogates(text)
    return text


class _Cleaner:
    """Make a decoded value storable in one walk. It counts values, because aliases may repeat them without end."""

    def __init__(self, what: str, deepest: int = input_limits.DEPTH) -> None:
        self.what = what
        self.deepest = deepest
        self.notes: list[tuple[str, str]] = []
        self.seen = 0

    def clean(self, value: Any, place: str, depth: int = 0) -> Any:
        """Return `value` in storable form.

        The inline checks skip the recursion and the place's text for clean values.
        """
        match value:
            case str():
                return self._clean_text(value, place)
            case bool() | None:
                return value
            case int():
                return self._clean_int(value, place)
            case float():
                if value != value or value in (float("inf"), float("-inf")):
                    self.notes.append((place, str(value)))
                    return None
                return value
            case dict():
                self._check_size(len(value), depth)
                return {
                    k if _is_clean(k) else self._clean_text(str(k), place): v
                    if _is_clean(v)
                    else self.clean(v, f"{place}.{k}" if place else str(k), depth + 1)
                    for k, v in value.items()
                }
            case list() | tuple():
                self._check_size(len(value), depth)
                return [self.clean(v, f"{place}[{i}]", depth + 1) for i, v in enumerate(value)]
        self.notes.append((place, type(value).__name__))
        return self._clean_text(str(value), place)

    def _check_size(self, more: int, depth: int) -> None:
        self.seen += more
        if self.seen > input_limits.JSON_VALUES:
            raise LabError(self.what, f"holds more than the {input_limits.JSON_VALUES:,} values that are read")
        if depth >= self.deepest:
            raise LabError(self.what, "is nested too deeply to be read")

    def _clean_text(self, text: str, place: str) -> str:
        escaped = escape_surrogates(text)
        if escaped != text:
            self.notes.append((place, "lone surrogate"))
        return escaped

    def _clean_int(self, value: int, place: str) -> int | str:
        if value.bit_length() <= _INT_BITS:
            return value
        self.notes.append((place, "integer too large"))
        return str(value)


def _is_clean(value: Any) -> bool:
    kind = type(value)
    return value is None or (kind is str and value.isascii()) or (kind is int and -_SMALL_INT < value < _SMALL_INT)


_JSON = json.JSONDecoder(parse_constant=float)
"""Shared decoder. `json.loads` would build one for each line of a file."""


class _RepeatedKey(Exception):
    """Raised for a key that an object has twice."""


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _RepeatedKey
    return value


_UNIQUE_JSON = json.JSONDecoder(parse_constant=float, object_pairs_hook=_unique_pairs)
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?P<key>\s*:)?|[{}\[\]]')


def _repeated_key(text: str) -> str:
    """Return the first repeated key of a JSON text with its line, in words."""
    open_objects: list[set[str]] = []
    for token in _JSON_TOKEN.finditer(text):
        if token[0] in "{[":
            open_objects.append(set())
        elif token[0] in "}]":
            open_objects.pop()
        elif token["key"]:
            key = _JSON.decode(token[0][: token.start("key") - token.start()])
            if key in open_objects[-1]:
                line = text.count("\n", 0, token.start()) + 1
                return f"{f'line {line}: ' if chr(10) in text.strip() else ''}{key!r} stands twice in one object"
            open_objects[-1].add(key)
    return "a key stands twice in one object"


def read_json(data: bytes, what: str, *, by_hand: bool = False) -> StorableValue:
    """Parse a stranger's JSON into a storable value.

    Raise `LabError`, with `what` as the file's name, if it is not JSON. In a file that people write (`by_hand`) a key
    must not stand twice in one object, since the first value would be dropped without a word.
    """
    text = utf8_text(data, what)
    check_values(data, what)
    try:
        value = (_UNIQUE_JSON if by_hand else _JSON).decode(text)
    except _RepeatedKey as error:
        raise LabError(what, _repeated_key(text)) from error
    except json.JSONDecodeError as error:
        raise LabError(what, f"is not JSON (line {error.lineno}, column {error.colno}: {error.msg})") from error
    except RecursionError as error:
        raise LabError(what, "is nested too deeply to be read") from error
    except ValueError as error:
        raise LabError(what, f"holds a number that cannot be read ({str(error).partition(';')[0]})") from error
    return _clean_value(value, what)


def read_yaml(data: bytes, what: str) -> StorableValue:
    """Parse a person's YAML into a JSON-shaped value: times and dates stay text, `yes` and `off` stay words.

    Bytes, nodes, depth, aliases and merges are bounded before any value is built. Small files are cached, because Home
    and every run read those of the program, and a parse takes milliseconds.
    """
    if len(data) > input_limits.YAML_BYTES:
        raise LabError(what, f"has more than the {input_limits.YAML_BYTES:,} bytes of YAML that are read")
    # Not cached, because 256 large values would take much memory.
    if len(data) > _SHORT_YAML:
        return _parse_yaml(data, what)
    value, notes = _cached_yaml(data, what)
    return StorableValue(msgspec.json.decode(value), list(notes))


@lru_cache(maxsize=256)
def _cached_yaml(data: bytes, what: str) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    """Return the value as JSON, so that each reader decodes a copy of its own. An error is not cached."""
    value, notes = _parse_yaml(data, what)
    return msgspec.json.encode(value), tuple(notes)


def _parse_yaml(data: bytes, what: str) -> StorableValue:
    import yaml

    text = utf8_text(data, what)
    try:
        # Before the loader, which would follow the nesting into a crash.
        _check_events(text, what)
        loader = _plain_loader()(text)
        node = loader.get_single_node()
        _ExpandedYaml(what).count(node)
        value = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        if "nesting depth" in str(error.problem):  # newer versions of libyaml have a bound of their own
            raise LabError(what, "is nested too deeply to be read") from error
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise LabError(what, f"is not YAML ({place}{error.problem})") from error
    except yaml.YAMLError as error:
        raise LabError(what, f"is not YAML ({' '.join(str(error).split())})") from error
    except RecursionError as error:
        raise LabError(what, "is nested too deeply to be read") from error
    except (ValueError, KeyError, AttributeError, TypeError) as error:  # a number of 5,000 digits, `!!bool maybe`
        raise LabError(what, "holds a value that cannot be read as what it says it is") from error
    return _clean_value(value, what)


def _clean_value(value: Any, what: str) -> StorableValue:
    cleaner = _Cleaner(what)
    return StorableValue(cleaner.clean(value, ""), cleaner.notes)


def _check_events(text: str, what: str) -> None:
    """Raise `LabError` for a YAML text that nests too deeply or has too many nodes.

    It runs before a loader composes the text: deep nesting would crash the process inside libyaml.
    """
    import yaml

    depth = node_count = 0
    for event in yaml.parse(text, Loader=_plain_loader()):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > input_limits.DEPTH:
                raise LabError(what, "is nested too deeply to be read")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        node_count += isinstance(event, yaml.NodeEvent)
        if node_count > input_limits.YAML_NODES:
            raise _too_many_nodes(what)


def _too_many_nodes(what: str) -> LabError:
    return LabError(
        what,
        f"holds more than the {input_limits.YAML_NODES:,} values that are read, with what its aliases and "
        "merges repeat",
    )


class _ExpandedYaml:
    """Count a YAML document's values with its aliases and merges expanded, visiting each node once."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.sizes: dict[int, int] = {}
        self.open: set[int] = set()

    def count(self, node: Any) -> int:
        """Return the number of values in a node. Raise `LabError` if it is too large or the node contains itself."""
        if node is None or not isinstance(node.value, list):
            return 1
        if (earlier_size := self.sizes.get(id(node))) is not None:
            return earlier_size
        if id(node) in self.open:
            raise LabError(self.what, f"line {node.start_mark.line + 1}: is an alias of what it stands in")
        self.open.add(id(node))
        self._check_keys(node)
        size = 1
        for part in node.value:
            for inner in part if isinstance(part, tuple) else (part,):
                size += self.count(inner)
                if size > input_limits.YAML_NODES:
                    raise _too_many_nodes(self.what)
        self.open.remove(id(node))
        self.sizes[id(node)] = size
        return size

    def _check_keys(self, node: Any) -> None:
        """Raise `LabError` for a key that stands twice, of which a loader would drop the first silently."""
        seen = set[str]()
        for part in node.value:
            key = part[0].value if isinstance(part, tuple) else None
            if not isinstance(key, str):
                continue
            if key in seen and key != "<<":
                raise LabError(self.what, f"line {part[0].start_mark.line + 1}: {key!r} stands twice in one mapping")
            seen.add(key)


_loader_class: Any = None


def _plain_loader() -> Any:
    """Return PyYAML's safe loader without surprising types: 18:00, 007 and +86 stay text, and `no` is not false."""
    global _loader_class
    if _loader_class is None:
        import yaml

        base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's reads the same, several times as fast
        PlainLoader: Any = type("PlainLoader", (base,), {"yaml_implicit_resolvers": {}})
        add = PlainLoader.add_implicit_resolver
        add("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
        add("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
        add("tag:yaml.org,2002:int", re.compile(r"^-?(?:0|[1-9][0-9]*)$"), list("-0123456789"))
        number = r"^[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|[0-9]+e[-+]?[0-9]+|\.(?:inf|nan))$"
        add("tag:yaml.org,2002:float", re.compile(number, re.I), list("-+.0123456789"))
        add("tag:yaml.org,2002:merge", re.compile(r"^<<$"), ["<"])
        _loader_class = PlainLoader
    return _loader_class


def encode(value: Any) -> bytes:
    """Encode one of our structs, or any JSON-shaped value, as compact JSON with keys in declared order.

    Lone surrogates, which a model's output may have and UTF-8 cannot encode, are escaped.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # Only now the slow walk: few texts have lone surrogates.
        return msgspec.json.encode(_Cleaner("text", sys.maxsize).clean(msgspec.to_builtins(value), ""))


def sha_of(value: Any) -> str:
    """Return the SHA-256 of a value's JSON, in hexadecimal. It serves as the value's version."""
    return hashlib.sha256(encode(value)).hexdigest()


def decode(data: bytes | str, kind: type[T] | Any, what: str, *, newest: int | None = None) -> T:
    """Decode our own bytes as `kind`. Raise `LabError` that names `what` and the field if they do not fit.

    `newest` is the highest version `v` that this program knows. A newer row raises before its fields are decoded.
    """
    check_values(data, what)
    try:
        if newest is not None:
            with _msgspec_lock:
                # The version first: a newer row would otherwise fail at an unknown field, with a worse sentence.
                version = msgspec.json.decode(data, type=_Versioned).v
            if version > newest:
                raise LabError(
                    what,
                    f"was written by a newer hitlab (version {version}; this one knows {newest}).",
                    "Upgrade hitlab to open it.",
                )
        with _msgspec_lock:
            return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise LabError(what, reason_of(str(error), kind)) from error
    except UnicodeError as error:
        raise LabError(what, "is not UTF-8 text") from error
    except RecursionError:
        raise LabError(what, "is nested too deeply to be read") from None


def convert(value: Any, kind: type[T] | Any, what: str, *, rename: Callable[[str], str] = str) -> T:
    """Convert a value of `read_yaml` or `read_json` to `kind`. Raise `LabError` with all faults if it does not fit."""
    try:
        with _msgspec_lock:
            return msgspec.convert(value, type=kind)
    except msgspec.ValidationError as error:
        # msgspec stops at the first fault, but a person wants to see all. One more than is listed shows that there are
        # more.
        faults = list(islice(_faults(value, kind, ""), FAULTS_TOLD + 1))
        reasons = faults if len(faults) > 1 else [reason_of(str(error), kind)]
        raise LabError(what, faults_words([rename(reason) for reason in reasons])) from error


FAULTS_TOLD = 10
"""Upper bound of the faults that one error lists."""


def faults_words(faults: Sequence[str]) -> str:
    """Return a single fault unchanged. Of several give the number, and list at most `FAULTS_TOLD`."""
    if len(faults) == 1:
        return faults[0]
    more = len(faults) > FAULTS_TOLD
    return f"{FAULTS_TOLD if more else len(faults)}{' faults and more' if more else ' faults'}: " + "; ".join(
        faults[:FAULTS_TOLD]
    )


def _faults(value: Any, kind: Any, place: str) -> Iterator[str]:
    """Yield each part of a value that does not fit `kind`, in the words of `convert`. List positions count from 1."""
    # A tagged union is left to msgspec, which reads the tag first.
    is_struct = isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind.__struct_config__.tag is None
    if is_struct and isinstance(value, dict):
        yield from _struct_faults(value, kind, place)
    elif get_origin(kind) is tuple and get_args(kind)[1:] == (...,) and isinstance(value, list):
        for number, one in enumerate(value, 1):
            yield from _faults(one, get_args(kind)[0], f"{place}[{number}]")
    else:
        try:
            with _msgspec_lock:
                msgspec.convert(value, type=kind)
        except msgspec.ValidationError as error:
            reason = reason_of(str(error), kind)
            inner, colon, rest = reason.removeprefix("field ").partition(": ")
            is_inner = reason.startswith("field ") and bool(colon)
            spot = f"{place}.{inner}" if is_inner and place else inner if is_inner else place
            words = rest if is_inner else f"{reason}{_quote_hint(str(error), spot)}"
            yield f"field {spot}: {words}" if spot else reason


def _struct_faults(value: dict[Any, Any], kind: type[msgspec.Struct], place: str) -> Iterator[str]:
    hints = get_type_hints(kind)
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    before = f"{place}." if place else ""
    for name, part in value.items():
        if name in fields:
            yield from _faults(part, hints[fields[name].name], f"{before}{name}")
        elif kind.__struct_config__.forbid_unknown_fields:
            yield f"field {before}{name}: there is none of that name{_suggest_field(str(name), list(fields))}"
    for name, field in fields.items():
        if field.required and name not in value:
            yield f"field {before}{name}: is not there"


def reason_of(message: str, kind: Any) -> str:
    """Return msgspec's error as a sentence: the field first, and the allowed choices for a wrong one.

    An unknown field or choice gets a suggestion.
    """
    # msgspec's errors have no structure, so their text is parsed.
    match = re.match(r"(?s)(.*?) - at (key|`key` in )?`\$?\.?(.*?)`$", message)
    reason, of_key, place = (match[1], match[2], match[3]) if match else (message, None, "")
    field_match = re.match(r"(?s)Object (contains unknown|missing required) field `(.*)`$", reason)
    if field_match:
        unknown = field_match[1] == "contains unknown"
        near = _suggest_field(field_match[2], _field_names(kind, place)) if unknown else ""
        place = f"{place}.{field_match[2]}" if place else field_match[2]
        reason = f"there is none of that name{near}" if unknown else "is not there"
    elif of_key:
        reason = f"each key there must be text ({reason})"
        place = place or "names"
    elif reason.startswith("Invalid enum value ") and (choices := _allowed_choices(kind, place)):
        value, names = reason.removeprefix("Invalid enum value "), [str(one) for one in choices]
        reason = f"{value} is none of {', '.join(names)}{suggestion(value.strip(_QUOTE), names)}"
    words = f"{_reword(reason)}{_quote_hint(reason, place)}"
    return f"field {place}: {words}" if place else words


def _quote_hint(reason: str, place: str) -> str:
    """Return the advice to put a number in quotes if text is expected, else an empty text.

    It is also empty without a field name.
    """
    name = re.split(r"\W", place)[-1]
    quotable = re.fullmatch(r"Expected `str(?: \| null)?`, got `(?:int|float|bool)`", reason)
    return f'; write it in quotes, as in {name}: "1"' if quotable and name else ""


_NOUNS = {
    "object": "a mapping", "array": "a list", "str": "text", "int": "a whole number", "float": "a number",
    "bool": "true or false", "null": "null (nothing)",
}  # fmt: skip
"""Names for msgspec's types in the terms of YAML and JSON."""
_BOUNDS = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}
_EXPECTED = re.compile(
    r"Expected `(?P<types>[\w| ]+)`(?: of (?P<most>at most )?length (?P<sign><=|>=)? ?(?P<length>\d+)"
    r"| (?P<bound><=|>=|<|>) (?P<limit>\S+)| matching regex (?P<pattern>.+)| that's a multiple of (?P<step>\S+))?"
    r"(?:, got (?:`(?P<got>\w+)`|(?P<count>\d+)))?\Z",
    re.DOTALL,
)


def _reword(reason: str) -> str:
    """Reword msgspec's message about a value in terms of YAML or JSON. Return other messages unchanged."""
    if reason == "Input data was truncated":
        return "the JSON ends too early"
    if reason.startswith("Invalid enum value "):
        return f"{reason.removeprefix('Invalid enum value ')} is none of its choices"
    match = _EXPECTED.match(reason)
    if match is None:
        return reason.replace("JSON is malformed: ", "it is not JSON: ", 1)
    types = [_NOUNS.get(name, name) for name in match["types"].split(" | ")]
    words = f"must be {' or '.join(types)}"
    if match["length"]:
        unit = "characters" if "str" in match["types"] else "entries"
        bound = "at most " if match["most"] else f"{_BOUNDS[match['sign']]} " if match["sign"] else ""
        words += f" of {bound}{match['length']} {unit if match['length'] != '1' else unit[:-1].replace('ie', 'y')}"
    elif match["bound"]:
        words += f" of {_BOUNDS[match['bound']]} {match['limit']}"
    elif match["pattern"]:
        words += f" that matches {match['pattern']}"
    elif match["step"]:
        words += f" that is a multiple of {match['step']}"
    if match["got"]:
        return f"{words}, not {_NOUNS.get(match['got'], match['got'])}"
    return f"{words}, not {match['count']}" if match["count"] else words


_NAME_FIELDS = ("says", "name", "title", "ask")
"""Fields that hold a thing's name. Each kind of thing uses another one, and people often write the wrong one."""


def _suggest_field(name: str, fields: Sequence[str]) -> str:
    """Return a suggestion for an unknown field, as the end of a sentence, empty if none is near."""
    same = [field for field in _NAME_FIELDS if field in fields][:1] if name in (*_NAME_FIELDS, "label", "text") else []
    return did_you_mean(same) or suggestion(name, fields)


_QUOTE = "'"


def _allowed_choices(kind: Any, place: str) -> list[Any]:
    """Return the values that a field of `kind` may have."""
    from msgspec import inspect

    return [value for one in _types_at(kind, place) if isinstance(one, inspect.LiteralType) for value in one.values]


def _field_names(kind: Any, place: str) -> list[str]:
    """Return the names of the fields of an object in `kind`."""
    return [field.encode_name for one in _types_at(kind, place) for field in getattr(one, "fields", ())]


def _types_at(kind: Any, place: str) -> list[Any]:
    """Return the possible types of a part of `kind`. `place` has msgspec's form (`raters[...].kind`)."""
    from msgspec import inspect

    with _msgspec_lock:
        types: list[Any] = [inspect.type_info(kind)]
    for part in re.findall(r"[^.\[\]]+", place.replace("[...]", ".#")):
        types = [inner for one in _expand_unions(types) for inner in _types_of_part(one, part)]
    return _expand_unions(types)


def _expand_unions(types: list[Any]) -> list[Any]:
    """Replace each union in `types` by its members."""
    return [inner for one in types for inner in getattr(one, "types", (one,))]


def _types_of_part(one: Any, part: str) -> list[Any]:
    """Return the types of a part of a value: a field by its name, an element of a list or mapping by `#`."""
    fields = [field.type for field in getattr(one, "fields", ()) if field.encode_name == part]
    inner = [getattr(one, name) for name in ("item_type", "value_type") if hasattr(one, name)]
    return fields or inner or list(getattr(one, "item_types", ()))


_NO_NAME = "is no name of a file (it holds a NUL)"


def read_file(path: Path, what: str | None = None, *, most: int = 256 * 1024 * 1024) -> bytes:
    """Return the bytes of a file. Raise `LabError` if it cannot be read or has more than `most` bytes."""
    name = what or str(path)
    try:
        status = path.stat()
        if status.st_size > most:
            raise LabError(name, f"is {status.st_size:,} bytes, more than the {most:,} that are read")
        _check_ends(path, status, name)
        data = path.read_bytes() if stat.S_ISREG(status.st_mode) else _read_at_most(path, most + 1)
        if len(data) > most:
            # A pipe's size is unknown before, and a file may have grown since.
            raise LabError(name, f"has more than the {most:,} bytes that are read")
        return data
    except FileNotFoundError as error:
        raise LabError(name, "is not there") from error
    except IsADirectoryError as error:
        raise LabError(name, "is a folder, not a file") from error
    except OSError as error:
        raise LabError(name, f"cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise LabError(name, _NO_NAME) from error


def open_lines(path: Path, what: str) -> BinaryIO:
    """Open a file or a shell's pipe to read it line by line. Raise `LabError` if it cannot be read or may never end."""
    try:
        _check_ends(path, path.stat(), what)
        return path.open("rb")
    except FileNotFoundError as error:
        raise LabError(what, "is not there") from error
    except IsADirectoryError as error:
        raise LabError(what, "is a folder, not a file") from error
    except OSError as error:
        raise LabError(what, f"cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise LabError(what, _NO_NAME) from error


def _check_ends(path: Path, status: os.stat_result, name: str) -> None:
    """Raise `LabError` for a source that may never end: a named pipe without a writer, or a device."""
    if str(path).startswith(_SHELL_PIPES) or stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return
    if stat.S_ISFIFO(status.st_mode):
        raise LabError(name, "is a pipe, and nobody may ever write into it", "Name a file, or use <(...).")
    # /dev/null ends at once.
    if not os.path.samefile(path, os.devnull):
        raise LabError(name, "is a device, not a file")


def _read_at_most(path: Path, most: int) -> bytes:
    """Read up to `most` bytes of a device or a pipe, whose size is unknown."""
    data = bytearray()
    with path.open("rb") as file:
        while len(data) < most and (more := file.read(min(_PIECE, most - len(data)))):
            data += more
    return bytes(data)


class _Versioned(msgspec.Struct):
    v: int = 1
