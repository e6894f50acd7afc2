"""The arguments of a function that a person has the client call: fields from its JSON Schema, and back to JSON.

Only what a form can ask is a field of its own: texts, numbers, yes or no, choices. All else is typed as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.suggestion import none_of
from simulators.users.endpoint.chat_request import Tool

FieldKind = Literal["text", "integer", "number", "boolean", "choice", "json"]
_KINDS: dict[str, FieldKind] = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}
_TYPES: dict[FieldKind, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_WORDS = {
    "text": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "json": "JSON",
}
_MOST_FIELDS = 200


class ToolField(NamedTuple):
    """One argument as it is asked for; `options` are the JSON texts of a choice's values, as a person types them."""

    name: str
    kind: FieldKind
    required: bool
    description: str = ""
    options: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What is to be typed."""
        return " | ".join(self.options) if self.options else _WORDS[self.kind]


def fields_of(tool: Tool) -> list[ToolField]:
    """The arguments of a function, those that are required first."""
    properties = tool.parameters.get("properties")
    required = tool.parameters.get("required")
    needed = {word for word in required if isinstance(word, str)} if isinstance(required, list) else set[str]()
    if not isinstance(properties, dict):
        return []
    fields = [_field(str(name), schema, str(name) in needed, tool) for name, schema in properties.items()]
    return sorted(fields[:_MOST_FIELDS], key=lambda field: not field.required)


def _field(name: str, schema: Any, required: bool, tool: Tool) -> ToolField:
    schema = _resolved(schema, tool)
    description = schema.get("description")
    options = _options(schema)
    kind: FieldKind = "choice" if options else _KINDS.get(str(schema.get("type")), "json")
    return ToolField(name, kind, required, description if isinstance(description, str) else "", options)


def _resolved(schema: Any, tool: Tool) -> dict[str, Any]:
    """A schema without its reference, and without the null that a value may also be."""
    for _ in range(8):  # references may lead in a circle
        if not isinstance(schema, dict):
            return {}
        reference, either = schema.get("$ref"), schema.get("anyOf")
        if isinstance(reference, str):
            place, _, name = reference.removeprefix("#/").rpartition("/")
            definitions = tool.parameters.get(place)
            schema = (
                {**(definitions.get(name) or {}), **_without(schema, "$ref")} if isinstance(definitions, dict) else {}
            )
        elif isinstance(either, list):
            alternatives = [
                alternative
                for alternative in either
                if isinstance(alternative, dict) and alternative.get("type") != "null"
            ]
            if len(alternatives) != 1:
                return _without(schema, "type")
            schema = {**alternatives[0], **_without(schema, "anyOf")}
        else:
            return schema
    return {}


def _without(schema: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def _options(schema: Mapping[str, Any]) -> tuple[str, ...]:
    values = schema.get("enum") if "enum" in schema else [schema["const"]] if "const" in schema else None
    if not isinstance(values, list) or not 0 < len(values) <= 100:
        return ()
    return tuple(_shown(value) for value in values if value is not None)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def arguments_of(tool: Tool, texts: Mapping[str, str]) -> str:
    """The JSON of what was typed into a form; empty fields that may be left out are. A `LabError` names the field."""
    values: dict[str, Any] = {}
    for field in fields_of(tool):
        text = texts.get(field.name, "")
        if not text.strip():
            if field.required and not (field.kind == "text" and text):
                raise _wrong(tool, field, "is required")
            continue
        values[field.name] = _value(tool, field, text)
    return json.dumps(values, ensure_ascii=False)


def _value(tool: Tool, field: ToolField, text: str) -> Any:
    if field.kind == "text":
        return text
    if field.kind == "choice":
        if text.strip() not in field.options:
            raise _wrong(tool, field, f"{none_of(text.strip(), field.options)}")
        schema = _resolved(tool.parameters["properties"][field.name], tool)
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        return next(option for option in values if _shown(option) == text.strip())
    try:
        value = _json(text)
    except (ValueError, RecursionError):
        raise _wrong(tool, field, f"{text.strip()[:60]!r} is not {_WORDS[field.kind]}") from None
    _check_kind(tool, field, value)
    return value


def _json(text: str) -> Any:
    """JSON as every client reads it; a `ValueError` for NaN and numbers without end, too, which only Python's takes."""
    value = json.loads(text)
    json.dumps(value, allow_nan=False)
    return value


def _check_kind(tool: Tool, field: ToolField, value: Any) -> None:
    types = _TYPES.get(field.kind)
    if types and (not isinstance(value, types) or (isinstance(value, bool) and field.kind != "boolean")):
        raise _wrong(tool, field, f"{_shown(value)[:60]!r} is not {_WORDS[field.kind]}")


def check_arguments(tool: Tool, arguments: str) -> None:
    """Raises `LabError` where arguments are no JSON object, lack a required one, or hold one of another kind."""
    try:
        values = _json(arguments)
    except (ValueError, RecursionError):
        raise LabError(f"function {tool.name}", "its arguments are not JSON.") from None
    if not isinstance(values, dict):
        raise LabError(f"function {tool.name}", "its arguments are no JSON object.")
    for field in fields_of(tool):
        value = values.get(field.name)
        if value is None:
            if field.required and field.name not in values:
                raise _wrong(tool, field, "is required")
        elif field.kind == "choice":
            if _shown(value) not in field.options:
                raise _wrong(tool, field, f"{none_of(_shown(value), field.options)}")
        else:
            _check_kind(tool, field, value)


def _wrong(tool: Tool, field: ToolField, problem: str) -> LabError:
    return LabError(f"function {tool.name}", f"field {field.name}: {problem}.")
