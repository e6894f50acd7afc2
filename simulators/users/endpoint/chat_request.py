"""What a client asks of the endpoint: chat completions and responses, decoded tolerantly, bounded, as one shape.

What becomes of each field stands in `request_fields`. Sources: OpenAI's API reference; the requests of KnowU-Bench,
MobileWorld and tau2-bench.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from lab.core import limits
from lab.core.codec import convert, encode, read_json
from lab.core.errors import LabError
from lab.core.run_records import Blob
from lab.core.step import ToolCall
from simulators.users.endpoint.access import RequestRefused
from simulators.users.endpoint.request_fields import check_fields

BODY = "the request"
_PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
"""The pictures that are shown, each with what its bytes begin with."""
_PARTS_OF_TEXT = ("text", "input_text", "output_text", "refusal")
_PARTS_OF_PICTURES = ("image_url", "input_image")
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_LONGEST_STOP = 200


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A function that the client offers: `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}


class ChatMessage(NamedTuple):
    """One message as it is shown and compared: its text, its pictures, the functions that it calls.

    The `name` of a function's result is the function's, where its id tells which call it belongs to.
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
    """How a client takes an answer of words: as a JSON object, of a `schema` where it has one."""

    name: str = "answer"
    schema: dict[str, Any] = {}


class ChatRequest(NamedTuple):
    """A request of either API. `retry` counts the tries before this one, as the client says it.

    `one_call` is whether the client takes no more than one function call in an answer, `must_call` whether no words.
    `form` is the JSON that it takes, `stops` what its answer ends before, `usage` whether a stream tells its usage,
    `legacy` whether a call stands in `function_call`.
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
        """The system prompt: all system messages before the dialogue, one below the other."""
        return "\n\n".join(message.text for message in self.messages[: self.beginning] if message.text)

    @property
    def beginning(self) -> int:
        """Where the dialogue begins: the place of the first message that is not the system's."""
        return next((at for at, message in enumerate(self.messages) if not message.is_system), len(self.messages))

    @property
    def system_sha(self) -> str:
        """The hash of the system's messages; empty without any."""
        return self.hashes[self.beginning - 1] if self.beginning else ""

    @property
    def asked_from(self) -> int:
        """Where what is asked now begins: behind the last message that answered something."""
        answers = [at for at, message in enumerate(self.messages) if message.role == "assistant"]
        return max(answers[-1] + 1 if answers else 0, self.beginning)

    @property
    def hashes(self) -> list[str]:
        """For each beginning of the messages, the first alone to all of them, its SHA-256.

        Two requests whose messages begin alike have equal ones as far as that goes. Ids of calls are not in them.
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
    """A body of `POST /chat/completions`; a `LabError` names the field that is wrong."""
    value = _object(data)
    check_fields("chat", value)
    body: _ChatBody = convert(value, _ChatBody, BODY)
    _check_count(body.messages, "messages")
    legacy = body.functions is not None
    tools = _kept(
        [tool.function for tool in _functions(body.tools or (), "tools")] + list(body.functions or ()),
        _chosen(body.function_call) if legacy and body.tool_choice is None else body.tool_choice,
    )
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
        _stops(body.stop),
        _tells_usage(body.stream_options, bool(body.stream)),
        legacy,
    )
    return _bounded(request)


def _tells_usage(options: _StreamOptions | None, streams: bool) -> bool:
    if options is not None and not streams:
        raise RequestRefused("stream_options", "belongs to stream: true")
    return options is not None and bool(options.include_usage)


def _stops(stop: str | list[str] | None) -> tuple[str, ...]:
    stops = (stop,) if isinstance(stop, str) else tuple(stop or ())
    if len(stops) > 4 or any(not one or len(one) > _LONGEST_STOP for one in stops):
        raise RequestRefused("stop", f"takes 4 texts of 1 to {_LONGEST_STOP} characters at most")
    return stops


def _form(asked: dict[str, Any] | None, field: str) -> AnswerForm | None:
    """The form of a `response_format`, or of `text.format` of responses, which is flat."""
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


def _bounded(request: ChatRequest) -> ChatRequest:
    """The same; `RequestRefused` with 413 where it is more than a person can be asked."""
    asked = [(message.text, *(part for call in message.calls for part in (call.name, call.arguments)))
             for message in request.messages]  # fmt: skip
    characters = sum(len(text) for texts in asked for text in texts)
    if request.tools or request.form:
        characters += len(encode((request.tools, request.form)))
    pictures = [picture for message in request.messages for picture in message.pictures]
    for count, most, what in (
        (len(request.tools), limits.ENDPOINT_TOOLS, "functions"),
        (len(pictures), limits.ENDPOINT_PICTURES, "pictures"),
        (characters, limits.ENDPOINT_TEXT, "characters"),
    ):
        if count > most:
            raise RequestRefused("", f"has {count:,} {what}; a person can be asked {most:,} at most.", status=413)
    return request


def _object(data: bytes) -> dict[str, Any]:
    values = data.count(b",") + data.count(b"[") + data.count(b"{")
    if len(data) > limits.ENDPOINT_VALUES and values - data.count(b"base64,") > limits.ENDPOINT_VALUES:
        value_count = f"more than {limits.ENDPOINT_VALUES:,} values, or commas and brackets in its texts"
        raise RequestRefused("", f"has {value_count}; no person can be asked that much.", status=413)
    value = read_json(data, BODY).value
    if not isinstance(value, dict):
        raise LabError(BODY, "is no JSON object")
    return value


def _check_count(messages: Sequence[object], field: str) -> None:
    if not messages:
        raise LabError(BODY, f"field {field}: there is no message")
    if len(messages) > limits.ENDPOINT_MESSAGES:
        problem = f"holds {len(messages):,} messages; a person can be asked {limits.ENDPOINT_MESSAGES:,} at most"
        raise RequestRefused(field, problem, status=413)


def _message(one: _Message, place: str, names: Mapping[str, str]) -> ChatMessage:
    """A message of a body; `names` are the functions that were called, by their calls' ids."""
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
    """The text of all parts, a line feed between two, and the pictures."""
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
    """The bytes of a `data:` picture; for one that stands elsewhere, which nobody fetches, words that say so."""
    url = _text(value.get("url") if isinstance(value, dict) else value, place)
    head, comma, encoded = url.partition(",")
    if not head.startswith("data:"):
        return f"(a picture at {url[:200]}: not fetched)"
    try:
        data = base64.b64decode(encoded.strip(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise LabError(BODY, f"field {place}: is no base64") from error
    if not comma or not data or len(data) > limits.PICTURE_BYTES:
        raise LabError(BODY, f"field {place}: is no picture of at most {limits.PICTURE_BYTES:,} bytes")
    mime = next((mime for mime, begins in _PICTURES.items() if data.startswith(begins)), "")
    return Blob(data, mime) if mime else "(a picture that is no PNG or JPEG: not shown here)"


class _Kept(NamedTuple):
    """The functions that may be called, and whether one must be."""

    offered: tuple[Tool, ...]
    must_call: bool


def _functions(tools: Sequence[Any], field: str) -> list[Any]:
    """The same; `RequestRefused` for a tool that is no function, by its place."""
    for at, tool in enumerate(tools):
        if tool.type != "function":
            raise RequestRefused(f"{field}[{at}].type", f"{tool.type[:40]!r}: a person calls functions alone")
    return list(tools)


def _chosen(function_call: Any) -> Any:
    """A `function_call` of the older API as a `tool_choice`."""
    if isinstance(function_call, dict):
        return {"type": "function", "function": function_call}
    return function_call


def _kept(functions: Sequence[Any], choice: Any) -> _Kept:
    """The functions that a client lets a person call; `RequestRefused` where its choice names none of them."""
    tools = tuple(
        Tool(function.name, function.description or "", function.parameters or {})
        for function in functions
        if function.name
    )
    if choice in (None, "auto"):
        return _Kept(tools, False)
    if choice == "none":
        return _Kept((), False)
    names, must_call = _choice(choice)
    kept = tools if names is None else tuple(tool for tool in tools if tool.name in names)
    if must_call and (not kept or (names is not None and len({tool.name for tool in kept}) < len(names))):
        raise RequestRefused("tool_choice", "a function must be called that is not offered")
    return _Kept(kept, must_call)


def _choice(choice: Any) -> tuple[set[str] | None, bool]:
    """The functions that a choice names, None for all, and whether one must be called.

    Chat completions name functions within `function`, responses beside `type`; `allowed_tools` names some of them.
    """
    if choice == "required":
        return None, True
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        inner = choice.get("allowed_tools", choice)
        allowed = inner.get("tools") if isinstance(inner, dict) else None
        if isinstance(allowed, list):
            names = {name for one in allowed if isinstance(one, dict) and isinstance(name := _name(one), str)}
            return names, inner.get("mode") == "required"
    if isinstance(choice, dict) and choice.get("type") == "function" and isinstance(name := _name(choice), str):
        return {name}, True
    raise RequestRefused("tool_choice", "is none of none, auto, required, a function, or allowed functions")


def _name(choice: dict[str, Any]) -> Any:
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


class _ResponsesBody(msgspec.Struct, frozen=True):
    input: str | list[_Item]
    model: str = ""
    instructions: str | None = None
    tools: list[_OfferedFunction] | None = None
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    text: _TextOptions | None = None


def read_responses(data: bytes, session: str = "", retry: int = 0) -> ChatRequest:
    """A body of `POST /responses` as the same request; a `LabError` names the field that is wrong."""
    value = _object(data)
    check_fields("responses", value)
    body: _ResponsesBody = convert(value, _ResponsesBody, BODY)
    if body.stream_options is not None and not body.stream:
        raise RequestRefused("stream_options", "belongs to stream: true")
    items = [_Item(content=body.input)] if isinstance(body.input, str) else body.input
    _check_count(items, "input")
    messages = [ChatMessage("system", body.instructions)] if body.instructions else []
    messages += _items(items)
    tools = _kept(_functions(body.tools or (), "tools"), body.tool_choice)
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
    return _bounded(request)


def _items(items: Sequence[_Item]) -> list[ChatMessage]:
    """An input as messages: functions that were called in one answer stand in one message, as in a chat."""
    names = {one.call_id: one.name for one in items if one.type == "function_call" and one.call_id}
    messages: list[ChatMessage] = []
    items = [one for one in items if one.type != "reasoning"]  # another model's, of which a person is told nothing
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
