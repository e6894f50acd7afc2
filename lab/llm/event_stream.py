"""A model server's reply in pieces (server-sent events): bounded, and handed to the provider's client in few.

A model sends a piece for each token, and a client makes some thousand values of each. Nobody looks at an answer before
it is whole, so pieces that only add words to the answer are put together here, and handed on as one piece: once
something else follows, the reply ends, or the connection is cut.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx

from lab.core import limits
from lab.core.errors import LabError
from lab.core.json_size import check_values
from lab.llm.attempt import TooLarge

KIND = "text/event-stream"
"""How a server names such a reply."""
_DATA, _COMMENT = b"data:", b":"
"""How a line begins that says something, and one that only keeps the connection alive."""
_DONE = b"data: [DONE]\n\n"
_WORDS = ("content", "reasoning_content", "reasoning", "refusal")
"""What pieces add to."""
_ROLE = "role"


class EventStream(httpx.SyncByteStream):
    """The events of a reply, those that add words put together; raises `TooLarge`, or `ReadTimeout` after `seconds`.

    What came before the connection was cut is handed on before the cut is raised.
    """

    def __init__(self, reply: httpx.Response, seconds: float | None) -> None:
        self._reply = reply
        self._until = time.monotonic() + seconds if seconds is not None else None
        self._newest: dict[str, Any] | None = None
        """The newest event that is held; its words stand in `_words`, with those of the events before it."""
        self._words: dict[str, list[str]] = {}
        self._passed = 0

    def __iter__(self) -> Iterator[bytes]:
        try:
            for line in self._lines():
                if line.startswith(_COMMENT):
                    continue
                event = _added_words(line)
                if event is not None:
                    self._add(event)
                elif line.strip() or self._newest is None:  # an empty line ends an event
                    yield from self._held()
                    yield self._counted(line)
        except httpx.HTTPError:
            yield from self._held()
            raise
        yield from self._held()

    def _lines(self) -> Iterator[bytes]:
        size, rest = 0, bytearray()
        for piece in self._reply.iter_raw():
            size += len(piece)
            if size > limits.MODEL_REPLY_BYTES:
                raise TooLarge(f"its reply is larger than the {limits.MODEL_REPLY_BYTES // limits.MB} MB that are read")
            if self._until is not None and time.monotonic() > self._until:
                raise httpx.ReadTimeout("the reply did not end in time", request=self._reply.request)
            rest += piece
            if b"\n" in piece:
                *lines, rest = rest.split(b"\n")
                yield from (bytes(line) + b"\n" for line in lines)
        if rest:
            yield bytes(rest)

    def _counted(self, line: bytes) -> bytes:
        self._passed += 1
        if self._passed > limits.MODEL_EVENTS:
            raise TooLarge(f"its reply comes in more than the {limits.MODEL_EVENTS:,} lines that are read")
        return line

    def _add(self, event: dict[str, Any]) -> None:
        """Holds an event that adds words."""
        for name, words in event["choices"][0]["delta"].items():
            if words is not None:
                self._words.setdefault(name, []).append(words)
        self._newest = event

    def _held(self) -> Iterator[bytes]:
        """All that is held as one event: the newest one, with the words of all."""
        if self._newest is not None:
            words = {name: "".join(parts[-1:] if name == _ROLE else parts) for name, parts in self._words.items()}
            self._newest["choices"][0]["delta"] = words
            yield b"data: " + json.dumps(self._newest).encode() + b"\n\n"
            self._newest, self._words = None, {}

    def close(self) -> None:
        self._reply.close()


def _added_words(line: bytes) -> dict[str, Any] | None:
    """A line as an event that only adds words to the answer; None where it says anything else, or is none."""
    event = _json(line[len(_DATA) :]) if line.startswith(_DATA) else None
    choices = event.get("choices") if isinstance(event, dict) else None
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        return None
    choice = choices[0]
    delta = choice.get("delta")
    if not isinstance(delta, dict) or choice.get("finish_reason") or choice.get("logprobs"):
        return None
    only = all(words is None or (isinstance(words, str) and name in (_ROLE, *_WORDS)) for name, words in delta.items())
    return event if only else None


def one_event(body: bytes) -> bytes:
    """A whole completion of a server that sends no pieces though it was asked to, as the one piece of a stream."""
    answer = _json(body)
    try:
        choices = [{"delta": choice["message"], **choice} for choice in answer["choices"]]
        event = {**answer, "object": "chat.completion.chunk", "choices": choices}
    except (TypeError, KeyError):
        return body
    return b"data: " + json.dumps(event).encode() + b"\n\n" + _DONE


def _json(data: bytes) -> Any:
    try:
        check_values(data, "its reply")
        return json.loads(data)
    except LabError as error:
        raise TooLarge(f"its reply {error.message}") from error
    except (ValueError, RecursionError):
        return None
