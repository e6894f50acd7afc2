"""Tolerant, bounded parser of chat completions and responses requests into one shape.

`request_fields` lists the treatment of each field. Sources: OpenAI's API reference, and the requests of KnowU-Bench,
MobileWorld and tau2-bench.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import convert, encode, read_json
from lab.core.errors import LabError
from lab.core.run import input_limits
from lab.core.run.run_records import Blob
from lab.core.run.step import ToolCall
from simulators.users.endpoint.access import RequestRefused
from simulators.users.endpoint.request_fields import check_fields

BODY = "the request"
_PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
"""Supported picture types, each with its magic bytes."""
_PARTS_OF_TEXT = ("text", "input_text", "output_text", "refusal")
_PARTS_OF_PICTURES = ("image_url", "input_image")
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_LONGEST_STOP = 200


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """Function offered by the client. `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}


class ChatMessage(NamedTuple):
    """One message as shown and compared: text, pictures, function calls.

    In a function's result, `name` is the function's, if its id identifies the call.
    """

    role: str
    text: str = ""
    pictures: tuple[Blob, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    name: str = ""

    @property
    def is_system(self) -> bool:
        return self.role in ("system", "developer")


class AnswerForm(msgspec.Struct, frozen=True, omit_defaults=True):
    """JSON form of a text answer: an object, with a `schema` if the client gives one."""

    name: str = "answer"
    schema: dict[str, Any] = {}


class ChatRequest(NamedTuple):
    """Request of either API. `retry` is the client's count of earlier tries.

    `one_call`: the client accepts at most one function call. `must_call`: it accepts no text. `form`: the JSON that it
    accepts. `stops`: texts that end the answer. `usage`: a stream must end with its usage. `legacy`: it reads its call
    from `function_call`.
    """

    messages: tuple[ChatMessage, ...]
    model: str = ""
    session: str = ""
    tools: tuple[Tool, ...] = ()
    stream: bool = False
    retry: int = 0
    one_call: bool = False
    must_call: bool = False
    form: AnswerForm | None = None
    stops: tuple[str, ...] = ()
    usage: bool = False
    legacy: bool = False

    @property
    def system(self) -> str:
        """System prompt: all system messages before the dialogue, joined by blank lines."""
        return "\n\n".join(message.text for message in self.messages[: self.beginning] if message.text)

    @property
    def beginning(self) -> int:
        """Index of the first message that is not the system's."""
        return next((at for at, message in enumerate(self.messages) if not message.is_system), len(self.messages))

    @property
    def system_sha(self) -> str:
        """Hash of the system messages, or empty."""
        return self.hashes[self.beginning - 1] if self.beginning else ""

    @property
    def asked_from(self) -> int:
        """Index of the first message of the current question, after the last assistant message."""
        answers = [at for at, message in enumerate(self.messages) if message.role == "assistant"]
        return max(answers[-1] + 1 if answers else 0, self.beginning)

    @property
    def hashes(self) -> list[str]:
        """SHA-256 of each prefix of the messages, shortest first.

        Two requests with the same first messages have the same first hashes. They ignore call ids.
        """
        digests, before = [], ""
        for message in self.messages:
            before = hashlib.sha256(encode((before, *_identity(message)))).hexdigest()
            digests.append(before)
        return digests


def _identity(message: ChatMessage) -> tuple[Any, ...]:
    calls = [(call.name, call.arguments) for call in message.calls]
    return message.role, message.text.strip(), [picture.sha256 for picture in message.pictures], calls


# -- chat completions --------------------------------------------------------------------------------------------


class _Function(msgspec.Struct, frozen=True):
    name: str = ""
    arguments: str = ""
    description: str | None = None
    parameters: dict[str, Any] | None = None


class _Call(msgspec.Struct, frozen=True):
    id: str = ""
    function: _Function = _Function()


class _Message(msgspec.Struct, frozen=True):
    role: str
    content: str | list[str | dict[str, Any]] | None = None
    name: str | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None
    function_call: _Function | None = None


class _OfferedTool(msgspec.Struct, frozen=True):
    type: str = "function"
    function: _Function = _Function()


class _StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class _ChatBody(msgspec.Struct, frozen=True):
    messages: list[_Message]
    model: str = ""
    tools: list[_OfferedTool] | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    functions: list[_Function] | None = None
    function_call: Any = None
    response_format: dict[str, Any] | None = None
    stop: str | list[str] | None = None


def read_chat(data: bytes, session: str = "", retry: int = 0) -> ChatRequest:
    """Parse a body of `POST /chat/completions`. Raise `LabError` with the wrong field."""
    value = _read_object(data)
    check_fields("chat", value)
    body: _ChatBody = convert(value, _ChatBody, BODY)
    _check_count(body.messages, "messages")
    legacy = body.functions is not None
    offered = [tool.function for tool in _check_functions(body.tools or (), "tools")]
    _check_names(offered, "tools", ".function")
    _check_names(body.functions or (), "functions")
    if body.tool_choice is None and body.function_call is not None:
        # The older API names a function without saying that it is one.
        older = body.function_call
        choice = {"type": "function", "function": older} if isinstance(older, dict) else older
        field = "function_call"
    else:
        choice, field = body.tool_choice, "tool_choice"
    tools = _allowed_tools(offered + list(body.functions or ()), choice, field)
    names = {call.id: call.function.name for message in body.messages for call in message.tool_calls or () if call.id}
    request = ChatRequest(
        tuple(_message(message, f"messages[{at}]", names) for at, message in enumerate(body.messages)),
        body.model,
        session,
        tools.offered,
        bool(body.stream),
        retry,
        body.parallel_tool_calls is False or legacy,
        tools.must_call,
        _form(body.response_format, "response_format"),
        _parse_stops(body.stop),
        _wants_usage(body.stream_options, bool(body.stream)),
        legacy,
    )
    return _check_limits(request)


def _wants_usage(options: _StreamOptions | None, streams: bool) -> bool:
    if options is not None and not streams:
        raise RequestRefused("stream_options", "belongs to stream: true")
    return options is not None and bool(options.include_usage)


def _parse_stops(stop: str | list[str] | None) -> tuple[str, ...]:
    stops = (stop,) if isinstance(stop, str) else tuple(stop or ())
    if len(stops) > 4 or any(not one or len(one) > _LONGEST_STOP for one in stops):
        raise RequestRefused("stop", f"takes 4 texts of 1 to {_LONGEST_STOP} characters at most")
    return stops


def _form(asked: dict[str, Any] | None, field: str) -> AnswerForm | None:
    """Return the form of a `response_format`, or of `text.format` of responses, which is flat."""
    kind = (asked or {}).get("type", "text")
    if asked is None or kind == "text":
        return None
    if kind == "json_object":
        return AnswerForm()
    if kind != "json_schema":
        raise RequestRefused(f"{field}.type", f"{str(kind)[:40]!r} is none of text, json_object, json_schema")
    inner = asked.get("json_schema", asked)
    schema = inner.get("schema") if isinstance(inner, dict) else None
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise RequestRefused(f"{field}.json_schema.schema", "is no schema of an object")
    name = inner.get("name")
    return AnswerForm(name if isinstance(name, str) and name else "answer", schema)


def _check_limits(request: ChatRequest) -> ChatRequest:
    """Return the request unchanged. Raise `RequestRefused` (413) if it is more than a person can be asked."""
    asked = [(message.text, *(part for call in message.calls for part in (call.name, call.arguments)))
             for message in request.messages]  # fmt: skip
    characters = sum(len(text) for texts in asked for text in texts)
    if request.tools or request.form:
        characters += len(encode((request.tools, request.form)))
    pictures = [picture for message in request.messages for picture in message.pictures]
    for count, most, what in (
        (len(request.tools), input_limits.ENDPOINT_TOOLS, "functions"),
        (len(pictures), input_limits.ENDPOINT_PICTURES, "pictures"),
        (characters, input_limits.ENDPOINT_TEXT, "characters"),
    ):
        if count > most:
            raise RequestRefused("", f"has {count:,} {what}; a person can be asked {most:,} at most.", status=413)
    return request


def _read_object(data: bytes) -> dict[str, Any]:
    # Count before parsing: a small body can expand into millions of Python objects.
    values = data.count(b",") + data.count(b"[") + data.count(b"{")
    if len(data) > input_limits.ENDPOINT_VALUES and values - data.count(b"base64,") > input_limits.ENDPOINT_VALUES:
        value_count = f"more than {input_limits.ENDPOINT_VALUES:,} values, or commas and brackets in its texts"
        raise RequestRefused("", f"has {value_count}; no person can be asked that much.", status=413)
    value, notes = read_json(data, BODY)
    for place, original in notes:
        if original in ("nan", "inf", "-inf"):
            raise RequestRefused(place, f"{original} is no number of JSON")
        if original == "integer too large" and place in value:
            raise RequestRefused(place, "is too large a number")
    if not isinstance(value, dict):
        raise LabError(BODY, "is no JSON object")
    return value


def _check_count(messages: Sequence[object], field: str) -> None:
    if not messages:
        raise LabError(BODY, f"field {field}: there is no message")
    if len(messages) > input_limits.ENDPOINT_MESSAGES:
        problem = f"holds {len(messages):,} messages; a person can be asked {input_limits.ENDPOINT_MESSAGES:,} at most"
        raise RequestRefused(field, problem, status=413)


def _message(one: _Message, place: str, names: Mapping[str, str]) -> ChatMessage:
    """Convert a message. `names` maps call ids to functions."""
    _check_role(one.role, place)
    text, pictures = _content(one.content, f"{place}.content")
    called = [*(one.tool_calls or ()), *([_Call("", one.function_call)] if one.function_call is not None else [])]
    calls = tuple(
        ToolCall(call.function.name, call.function.arguments, call.id) for call in called if call.function.name
    )
    return ChatMessage(one.role, text, pictures, calls, one.name or names.get(one.tool_call_id or "", ""))


def _check_role(role: str, place: str) -> None:
    if role not in _ROLES:
        raise RequestRefused(f"{place}.role", f"{role[:40]!r} is none of {', '.join(_ROLES)}")


def _content(content: str | list[str | dict[str, Any]] | None, place: str) -> tuple[str, tuple[Blob, ...]]:
    """Return the text of all parts, joined by line feeds, and the pictures."""
    if content is None or isinstance(content, str):
        return content or "", ()
    texts: list[str] = []
    pictures: list[Blob] = []
    for at, part in enumerate(content):
        if isinstance(part, str):
            texts.append(part)
            continue
        kind = part.get("type")
        if kind in _PARTS_OF_TEXT:
            texts.append(_text(part.get("text", part.get("refusal")), f"{place}[{at}].text"))
        elif kind in _PARTS_OF_PICTURES:
            picture = _picture(part.get("image_url"), f"{place}[{at}].image_url")
            if isinstance(picture, str):
                texts.append(picture)
            else:
                pictures.append(picture)
        else:
            texts.append(f"({kind if isinstance(kind, str) else 'a part of no kind'}: not shown here)")
    return "\n".join(texts), tuple(pictures)


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise LabError(BODY, f"field {place}: is no text")
    return value


def _picture(value: Any, place: str) -> Blob | str:
    """Return the bytes of a `data:` picture, or a note for one at another address, which is never fetched."""
    url = _text(value.get("url") if isinstance(value, dict) else value, place)
    head, comma, encoded = url.partition(",")
    if not head.startswith("data:"):
        return f"(a picture at {url[:200]}: not fetched)"
    try:
        data = base64.b64decode(encoded.strip(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise LabError(BODY, f"field {place}: is no base64") from error
    # Checked after decoding: the limit is on the picture, not on its base64.
    if not comma or not data or len(data) > input_limits.PICTURE_BYTES:
        raise LabError(BODY, f"field {place}: is no picture of at most {input_limits.PICTURE_BYTES:,} bytes")
    mime = next((mime for mime, begins in _PICTURES.items() if data.startswith(begins)), "")
    return Blob(data, mime) if mime else "(a picture that is no PNG or JPEG: not shown here)"


class _AllowedTools(NamedTuple):
    """Callable functions. `must_call`: the answer must call one."""

    offered: tuple[Tool, ...]
    must_call: bool


def _check_functions(tools: Sequence[Any], field: str) -> list[Any]:
    """Return the tools unchanged. Raise `RequestRefused` for one that is not a function, with its index."""
    for at, tool in enumerate(tools):
        if tool.type != "function":
            raise RequestRefused(f"{field}[{at}].type", f"{tool.type[:40]!r}: a person calls functions alone")
    return list(tools)


def _check_names(functions: Sequence[Any], field: str, inner: str = "") -> None:
    for at, function in enumerate(functions):
        if not function.name:
            raise RequestRefused(f"{field}[{at}]{inner}.name", "a function needs a name")


def _allowed_tools(functions: Sequence[Any], choice: Any, field: str = "tool_choice") -> _AllowedTools:
    """Return the functions that the client's choice allows. Raise `RequestRefused` if it requires an unknown one."""
    tools = tuple(Tool(function.name, function.description or "", function.parameters or {}) for function in functions)
    if choice in (None, "auto"):
        return _AllowedTools(tools, False)
    if choice == "none":
        return _AllowedTools((), False)
    names, must_call = _chosen_names(choice, field)
    kept = tools if names is None else tuple(tool for tool in tools if tool.name in names)
    if must_call and (not kept or (names is not None and len({tool.name for tool in kept}) < len(names))):
        raise RequestRefused(field, "a function must be called that is not offered")
    return _AllowedTools(kept, must_call)


def _chosen_names(choice: Any, field: str) -> tuple[set[str] | None, bool]:
    """Return the names that a choice allows (None for all), and True if one of them must be called.

    Chat completions name functions inside `function`, responses beside `type`. `allowed_tools` names several.
    """
    if choice == "required":
        return None, True
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        inner = choice.get("allowed_tools", choice)
        allowed = inner.get("tools") if isinstance(inner, dict) else None
        if isinstance(allowed, list):
            names = {name for one in allowed if isinstance(one, dict) and isinstance(name := _function_name(one), str)}
            return names, inner.get("mode") == "required"
    if (
        isinstance(choice, dict)
        and choice.get("type") == "function"
        and isinstance(name := _function_name(choice), str)
    ):
        return {name}, True
    raise RequestRefused(field, "is none of none, auto, required, a function, or allowed functions")


def _function_name(choice: dict[str, Any]) -> Any:
    inner = choice.get("function", choice)
    return inner.get("name") if isinstance(inner, dict) else None


# -- responses ---------------------------------------------------------------------------------------------------


class _Item(msgspec.Struct, frozen=True):
    type: str = "message"
    role: str = "user"
    content: str | list[str | dict[str, Any]] | None = None
    name: str = ""
    arguments: str = ""
    call_id: str = ""
    output: Any = None


class _OfferedFunction(msgspec.Struct, frozen=True):
    type: str = "function"
    name: str = ""
    description: str | None = None
    parameters: dict[str, Any] | None = None


class _TextOptions(msgspec.Struct, frozen=True):
    format: dict[str, Any] | None = None
    verbosity: str | None = None


class _ResponsesBody(msgspec.Struct, frozen=True):
    input: str | list[_Item]
    model: str = ""
    instructions: str | None = None
    tools: list[_OfferedFunction] | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    text: _TextOptions | None = None


def read_responses(data: bytes, session: str = "", retry: int = 0) -> ChatRequest:
    """Parse a body of `POST /responses` into the same shape. Raise `LabError` with the wrong field."""
    value = _read_object(data)
    check_fields("responses", value)
    body: _ResponsesBody = convert(value, _ResponsesBody, BODY)
    if body.stream_options is not None and not body.stream:
        raise RequestRefused("stream_options", "belongs to stream: true")
    items = [_Item(content=body.input)] if isinstance(body.input, str) else body.input
    _check_count(items, "input")
    messages = [ChatMessage("system", body.instructions)] if body.instructions else []
    messages += _items(items)
    offered = _check_functions(body.tools or (), "tools")
    _check_names(offered, "tools")
    tools = _allowed_tools(offered, body.tool_choice)
    request = ChatRequest(
        tuple(messages),
        body.model,
        session,
        tools.offered,
        bool(body.stream),
        retry,
        body.parallel_tool_calls is False,
        tools.must_call,
        _form(body.text.format, "text.format") if body.text is not None else None,
    )
    return _check_limits(request)


def _items(items: Sequence[_Item]) -> list[ChatMessage]:
    """Convert input items to messages, with the function calls of one answer in one message, as in a chat."""
    names = {one.call_id: one.name for one in items if one.type == "function_call" and one.call_id}
    messages: list[ChatMessage] = []
    items = [one for one in items if one.type != "reasoning"]  # another model's reasoning, hidden from people
    for at, one in enumerate(items):
        message = _item(one, f"input[{at}]", names)
        if one.type == "function_call" and at and items[at - 1].type == "function_call":
            messages[-1] = messages[-1]._replace(calls=(*messages[-1].calls, *message.calls))
        else:
            messages.append(message)
    return messages


def _item(one: _Item, place: str, names: Mapping[str, str]) -> ChatMessage:
    if one.type == "function_call":
        return ChatMessage("assistant", calls=(ToolCall(one.name, one.arguments, one.call_id),))
    if one.type == "function_call_output":
        text = one.output if isinstance(one.output, str) else encode(one.output).decode()
        return ChatMessage("tool", text, name=names.get(one.call_id, ""))
    if one.type != "message":
        raise RequestRefused(f"{place}.type", f"{one.type[:40]!r} is nothing that a person can be told")
    _check_role(one.role, place)
    text, pictures = _content(one.content, f"{place}.content")
    return ChatMessage(one.role, text, pictures)
