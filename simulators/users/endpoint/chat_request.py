"""What a client asks of the endpoint: chat completions and responses, decoded tolerantly, bounded, as one shape.

What is not needed (temperature, seed, max_tokens, ...) is passed over: a person keeps to no such parameter. Sources:
OpenAI's API reference; the requests of KnowU-Bench, MobileWorld and tau2-bench.
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

BODY = "the request"
_PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
"""The pictures that are shown, each with what its bytes begin with."""
_PARTS_OF_TEXT = ("text", "input_text", "output_text", "refusal")
_PARTS_OF_PICTURES = ("image_url", "input_image")


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


class ChatRequest(NamedTuple):
    """A request of either API. `retry` counts the tries before this one, as the client says it.

    `one_call` is whether the client takes no more than one function call in an answer, `must_call` whether no words.
    """

    messages: tuple[ChatMessage, ...]
    model: str = ""
    session: str = ""
    tools: tuple[Tool, ...] = ()
    stream: bool = False
    retry: int = 0
    one_call: bool = False
    must_call: bool = False

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


class _OfferedTool(msgspec.Struct, frozen=True):
    function: _Function = _Function()


class _ChatBody(msgspec.Struct, frozen=True):
    messages: list[_Message]
    model: str = ""
    tools: list[_OfferedTool] | None = None
    stream: bool | None = None
    n: int | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None


def read_chat(data: bytes, session: str = "", retry: int = 0) -> ChatRequest:
    """A body of `POST /chat/completions`; a `LabError` names the field that is wrong."""
    body: _ChatBody = convert(_object(data), _ChatBody, BODY)
    if body.n not in (None, 1):
        raise LabError(BODY, f"field n: {body.n} answers are asked for, and a person gives one")
    _check_count(body.messages, "messages")
    names = {call.id: call.function.name for message in body.messages for call in message.tool_calls or () if call.id}
    return ChatRequest(
        tuple(_message(message, f"messages[{at}]", names) for at, message in enumerate(body.messages)),
        body.model,
        session,
        _tools((tool.function for tool in body.tools or ()), body.tool_choice),
        bool(body.stream),
        retry,
        body.parallel_tool_calls is False,
        _must_call(body.tool_choice),
    )


def _object(data: bytes) -> dict[str, Any]:
    value = read_json(data, BODY).value
    if not isinstance(value, dict):
        raise LabError(BODY, "is no JSON object")
    return value


def _check_count(messages: Sequence[object], field: str) -> None:
    if not messages:
        raise LabError(BODY, f"field {field}: there is no message")
    if len(messages) > limits.ENDPOINT_MESSAGES:
        raise LabError(BODY, f"field {field}: holds more than the {limits.ENDPOINT_MESSAGES:,} that are read")


def _message(one: _Message, place: str, names: Mapping[str, str]) -> ChatMessage:
    """A message of a body; `names` are the functions that were called, by their calls' ids."""
    text, pictures = _content(one.content, f"{place}.content")
    calls = tuple(
        ToolCall(call.function.name, call.function.arguments, call.id)
        for call in one.tool_calls or ()
        if call.function.name
    )
    return ChatMessage(one.role, text, pictures, calls, one.name or names.get(one.tool_call_id or "", ""))


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


def _tools(functions: Any, choice: Any) -> tuple[Tool, ...]:
    """The functions that may be called: none where the client forbids it for this answer, or the one that it names."""
    named = _named(choice)
    return tuple(
        Tool(function.name, function.description or "", function.parameters or {})
        for function in functions
        if function.name and choice != "none" and named in (None, function.name)
    )


def _must_call(choice: Any) -> bool:
    """Whether a client takes a function's call alone: any, or the one that it names."""
    return choice == "required" or _named(choice) is not None


def _named(choice: Any) -> Any:
    """The function that must be called, as chat completions (`function: {name}`) or responses (`name`) name it."""
    inner = choice.get("function", choice) if isinstance(choice, dict) and choice.get("type") == "function" else None
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


class _ResponsesBody(msgspec.Struct, frozen=True):
    input: str | list[_Item]
    model: str = ""
    instructions: str | None = None
    tools: list[_OfferedFunction] | None = None
    stream: bool | None = None
    previous_response_id: str | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None


def read_responses(data: bytes, session: str = "", retry: int = 0) -> ChatRequest:
    """A body of `POST /responses` as the same request; a `LabError` names the field that is wrong."""
    body: _ResponsesBody = convert(_object(data), _ResponsesBody, BODY)
    if body.previous_response_id:
        raise LabError(BODY, "field previous_response_id: responses are not kept; send the whole input")
    items = [_Item(content=body.input)] if isinstance(body.input, str) else body.input
    _check_count(items, "input")
    messages = [ChatMessage("system", body.instructions)] if body.instructions else []
    messages += _items(items)
    return ChatRequest(
        tuple(messages),
        body.model,
        session,
        _tools(body.tools or (), body.tool_choice),
        bool(body.stream),
        retry,
        body.parallel_tool_calls is False,
        _must_call(body.tool_choice),
    )


def _items(items: Sequence[_Item]) -> list[ChatMessage]:
    """An input as messages: functions that were called in one answer stand in one message, as in a chat."""
    names = {one.call_id: one.name for one in items if one.type == "function_call" and one.call_id}
    messages: list[ChatMessage] = []
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
    text, pictures = _content(one.content, f"{place}.content")
    return ChatMessage(one.role, text, pictures)
