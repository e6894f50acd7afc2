"""One request to a model's server as it went over the wire, and what the server said, whatever a client makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from lab.llm.refused_parameters import SentRequest, adapted
from lab.llm.server_words import server_words, words_of_value

if TYPE_CHECKING:
    import httpx  # 7 MB: only where a model is asked

_PLACEHOLDER = "."
"""What a provider's client is given in place of an answer, which is read beside it."""


class Exchange:
    """What is known of one try. The transport fills it in, on the thread that asks."""

    def __init__(self, changes: frozenset[str] = frozenset()) -> None:
        self.changes = changes
        """How the request differs from what the client makes, by what its server refused before."""
        self.sent = SentRequest()
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}
        self.completion: dict[str, Any] | None = None
        """The chat completion, as the server sent it or as its pieces make it; None where it sent none."""
        self._body = b""
        self._error: Any = None
        self._failed = False

    def send(self, request: httpx.Request) -> httpx.Request:
        """The request as it goes out."""
        import httpx

        try:
            body = json.loads(request.content)
        except (httpx.RequestNotRead, ValueError):  # a file on its way, or no JSON
            return request
        if not isinstance(body, dict) or not request.url.path.endswith("/chat/completions"):
            return request
        if self.changes:
            body = adapted(body, self.changes)
            headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"content-length"]
            content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
            request = httpx.Request(
                request.method, request.url, headers=headers, content=content, extensions=request.extensions
            )
        self.sent = SentRequest.of(body)
        return request

    def receive(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        """A reply came, with its body unless that comes in pieces."""
        self.status, self.headers, self._body = status, headers, body
        self.completion = self._error = None
        self._failed = status >= HTTPStatus.MULTIPLE_CHOICES

    def complete(self, completion: dict[str, Any]) -> dict[str, Any]:
        """Takes a chat completion; gives what the client is handed in its place: its tokens and a word."""
        self.completion = completion
        usage = completion.get("usage")
        message = {"role": "assistant", "content": _PLACEHOLDER}
        return {
            "id": "x", "object": "chat.completion", "created": 0, "model": str(completion.get("model") or "x"),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            **({"usage": _counts(usage)} if isinstance(usage, dict) else {}),
        }  # fmt: skip

    def fail(self, value: Any) -> None:
        """Takes what came in place of an answer though the status says that all is well; None where it is no JSON."""
        self._error = (value.get("error") or value) if isinstance(value, dict) else value
        self._failed = True

    @property
    def error_status(self) -> int | None:
        """The status of what the server refuses: of the reply, or the number that an error inside it names."""
        if not isinstance(self._error, dict):
            return self.status
        code = self._error.get("code") or self._error.get("status")
        number = int(code) if isinstance(code, str) and code.isdecimal() and len(code) == 3 else code
        return number if isinstance(number, int) and 400 <= number < 600 else self.status

    @property
    def words(self) -> str:
        """The server's own words for why there is no answer; empty where it said none."""
        return server_words(self._body) if self._error is None else words_of_value(self._error)

    @property
    def has_error(self) -> bool:
        """Whether the server said that it does not answer, by its status or in what it sent."""
        return self._failed


def _counts(usage: Mapping[str, Any]) -> dict[str, Any]:
    """The whole numbers of what a server says that an answer took; nothing else of it can be counted."""
    counts: dict[str, Any] = {name: part for name, part in usage.items() if _is_count(part)}
    for name in ("prompt_tokens", "completion_tokens"):
        counts.setdefault(name, 0)
    counts["total_tokens"] = counts["prompt_tokens"] + counts["completion_tokens"]
    for name in ("prompt_tokens_details", "completion_tokens_details"):
        if isinstance(details := usage.get(name), dict):
            counts[name] = {key: part for key, part in details.items() if _is_count(part)}
    return counts


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@contextmanager
def recorded(exchange: Exchange) -> Iterator[None]:
    """Within it, what this thread sends and gets is taken down."""
    token = _current.set(exchange)
    try:
        yield
    finally:
        _current.reset(token)


def current_exchange() -> Exchange | None:
    """The exchange that is under way on this thread; None where litellm is called by another's code."""
    return _current.get()
