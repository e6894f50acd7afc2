"""Arguments of a function call as form fields: from the function's JSON Schema, and back to JSON.

Texts, numbers, booleans and choices are fields of a form. All else is typed as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.text.suggestion import unknown_name
from simulators.users.endpoint.chat_request import AnswerForm, Tool

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
    """One argument of the form. `options` are the JSON texts of a choice's values, as a person types them."""

    name: str
    kind: FieldKind
    required: bool
    description: str = ""
    options: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Description of the expected input."""
        return " | ".join(self.options) if self.options else _WORDS[self.kind]


def fields_of(tool: Tool) -> list[ToolField]:
    """Return the arguments of a function, required ones first."""
    properties = tool.parameters.get("properties")
    required = tool.parameters.get("required")
    needed = {word for word in required if isinstance(word, str)} if isinstance(required, list) else set[str]()
    if not isinstance(properties, dict):
        return []
    fields = [_field(str(name), schema, str(name) in needed, tool) for name, schema in properties.items()]
    return sorted(fields[:_MOST_FIELDS], key=lambda field: not field.required)


def _field(name: str, schema: Any, required: bool, tool: Tool) -> ToolField:
    schema = _resolve(schema, tool)
    description = schema.get("description")
    options = _options(schema)
    kind: FieldKind = "choice" if options else _KINDS.get(str(schema.get("type")), "json")
    return ToolField(name, kind, required, description if isinstance(description, str) else "", options)


def _resolve(schema: Any, tool: Tool) -> dict[str, Any]:
    """Resolve a schema's references, and drop null from its alternatives."""
    for _ in range(8):  # references may be circular
        if not isinstance(schema, dict):
            return {}
        reference, either = schema.get("$ref"), schema.get("anyOf")
        if isinstance(reference, str):
            place, _, name = reference.removeprefix("#/").rpartition("/")
            definitions = tool.parameters.get(place)
            definition = definitions.get(name, {}) if isinstance(definitions, dict) else None
            schema = {**definition, **_without_key(schema, "$ref")} if isinstance(definition, dict) else {}
        elif isinstance(either, list):
            alternatives = [
                alternative
                for alternative in either
                if isinstance(alternative, dict) and alternative.get("type") != "null"
            ]
            if len(alternatives) != 1:
                return _without_key(schema, "type")
            schema = {**alternatives[0], **_without_key(schema, "anyOf")}
        else:
            return schema
    return {}


def _without_key(schema: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def _options(schema: Mapping[str, Any]) -> tuple[str, ...]:
    values = schema.get("enum") if "enum" in schema else [schema["const"]] if "const" in schema else None
    if not isinstance(values, list) or not 0 < len(values) <= 100:
        return ()
    return tuple(_json_text(value) for value in values if value is not None)


def _json_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def arguments_of(tool: Tool, texts: Mapping[str, str]) -> str:
    """Convert a form's texts to JSON, without empty optional fields. Raise `LabError` with the wrong field."""
    values: dict[str, Any] = {}
    for field in fields_of(tool):
        text = texts.get(field.name, "")
        if not text.strip():
            if field.required and not (field.kind == "text" and text):
                raise _field_error(tool, field, "is required")
            continue
        values[field.name] = _parse_value(tool, field, text)
    return json.dumps(values, ensure_ascii=False)


def _parse_value(tool: Tool, field: ToolField, text: str) -> Any:
    if field.kind == "text":
        return text
    if field.kind == "choice":
        if text.strip() not in field.options:
            raise _field_error(tool, field, f"{unknown_name(text.strip(), field.options)}")
        schema = _resolve(tool.parameters["properties"][field.name], tool)
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        return next(option for option in values if _json_text(option) == text.strip())
    try:
        value = _json(text)
    except (ValueError, RecursionError):
        raise _field_error(tool, field, f"{text.strip()[:60]!r} is not {_WORDS[field.kind]}") from None
    _check_kind(tool, field, value)
    return value


def _json(text: str) -> Any:
    """Parse JSON. Raise `ValueError` for NaN and infinity, too, which only Python accepts."""
    value = json.loads(text)
    json.dumps(value, allow_nan=False)
    return value


def _check_kind(tool: Tool, field: ToolField, value: Any) -> None:
    types = _TYPES.get(field.kind)
    # bool is a subclass of int in Python.
    if types and (not isinstance(value, types) or (isinstance(value, bool) and field.kind != "boolean")):
        raise _field_error(tool, field, f"{_json_text(value)[:60]!r} is not {_WORDS[field.kind]}")


def check_arguments(tool: Tool, arguments: str) -> None:
    """Raise `LabError` if arguments are not a JSON object, lack a required one, or have one of the wrong type."""
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
                raise _field_error(tool, field, "is required")
        elif field.kind == "choice":
            if _json_text(value) not in field.options:
                raise _field_error(tool, field, f"{unknown_name(_json_text(value), field.options)}")
        else:
            _check_kind(tool, field, value)


def form_tool(form: AnswerForm, beside: Sequence[Tool], description: str) -> Tool | None:
    """Return a form for a client that accepts JSON, or None if its schema has no fields."""
    # A function of the same name may be on offer too.
    name = form.name if form.name not in {tool.name for tool in beside} else f"{form.name} (answer)"
    tool = Tool(name, description, form.schema)
    return tool if fields_of(tool) else None


def check_form(form: AnswerForm, text: str) -> None:
    """Raise `LabError` if a text is not the JSON object that the client accepts, or does not match its schema."""
    try:
        value = _json(text)
    except (ValueError, RecursionError):
        raise LabError("the answer", "is no JSON, and the client takes a JSON object.") from None
    if not isinstance(value, dict):
        raise LabError("the answer", "is no JSON object, and the client takes one.")
    _FormCheck(form.schema).check(value, form.schema, "", _DEEPEST)


_DEEPEST, _MOST_STEPS = 100, 20_000
"""Limits on depth and number of compared values: an untrusted schema may be circular."""
_IS: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value == int(value),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}


class _FormCheck:
    """Comparison of a value with the subset of JSON Schema for structured outputs.

    Types, enums, objects, lists, references, anyOf.
    """

    def __init__(self, whole: Mapping[str, Any]) -> None:
        self._tool = Tool("", "", dict(whole))
        self._steps = 0

    def check(self, value: Any, schema: Any, place: str, depth: int) -> None:
        self._steps += 1
        if not depth or self._steps > _MOST_STEPS:
            return
        schema = _resolve(schema, self._tool)
        either = schema.get("anyOf")
        if isinstance(either, list) and either:
            if not any(self._fits(value, alternative, place, depth - 1) for alternative in either):
                raise _form_error(place, "is of none of its forms")
            return
        kinds = schema.get("type")
        known = [
            kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str) and kind in _IS
        ]
        if known and not any(_IS[kind](value) for kind in known):
            raise _form_error(place, f"{_json_text(value)[:60]!r} is no {' or '.join(known)}")
        options = schema.get("enum") if "enum" in schema else [schema["const"]] if "const" in schema else None
        if isinstance(options, list) and value not in options:
            raise _form_error(
                place, unknown_name(_json_text(value)[:60], [_json_text(option) for option in options[:100]])
            )
        if isinstance(value, dict):
            self._check_object(value, schema, place, depth - 1)
        elif isinstance(value, list) and isinstance(schema.get("items"), dict):
            for at, item in enumerate(value):
                self.check(item, schema["items"], f"{place}[{at}]", depth - 1)

    def _check_object(self, value: dict[str, Any], schema: dict[str, Any], place: str, depth: int) -> None:
        properties, required = schema.get("properties"), schema.get("required")
        properties = properties if isinstance(properties, dict) else {}
        for name in required if isinstance(required, list) else ():
            if isinstance(name, str) and name not in value:
                raise _form_error(f"{place}.{name}", "is required")
        for name, inner in value.items():
            if name in properties:
                self.check(inner, properties[name], f"{place}.{name}", depth)
            elif schema.get("additionalProperties") is False:
                raise _form_error(f"{place}.{name}", "is none of the client's fields")

    def _fits(self, value: Any, schema: Any, place: str, depth: int) -> bool:
        try:
            self.check(value, schema, place, depth)
        except LabError:
            return False
        return True


def _form_error(place: str, problem: str) -> LabError:
    field = f"field {place.lstrip('.')[:100]}: " if place else ""
    return LabError("the answer", f"{field}{problem}.", "The client takes JSON of a schema.")


def _field_error(tool: Tool, field: ToolField, problem: str) -> LabError:
    return LabError(f"function {tool.name}", f"field {field.name}: {problem}.")
