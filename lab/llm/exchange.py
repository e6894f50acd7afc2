"""One request as sent to a model's server, and the server's own reply, independent of the client."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeGuard

from lab.llm.refused_parameters import SentRequest, adapted
from lab.llm.server_words import server_words, words_of_value

if TYPE_CHECKING:
    import httpx  # 7 MB: only where a model is asked

_PLACEHOLDER = "."
"""Content that a provider's client gets in place of the answer. hitlab reads the real one itself."""


class Exchange:
    """Record of one try. The transport fills it in, on the thread that asks."""

    def __init__(self, changes: frozenset[str] = frozenset()) -> None:
        self.changes = changes
        """Changes to the client's request, learned from earlier refusals of the server."""
        self.sent = SentRequest()
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}
        self.completion: dict[str, Any] | None = None
        """Chat completion as sent or joined from pieces, or None if the server sent none."""
        self._body = b""
        self._error: Any = None
        self._failed = False

    def send(self, request: httpx.Request) -> httpx.Request:
        """Return the request as it is sent, with the learned changes."""
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
        self.sent = SentRequest.from_body(body)
        return request

    def receive(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        """Store a reply, with its body unless that is streamed."""
        self.status, self.headers, self._body = status, headers, body
        self.completion = self._error = None
        self._failed = status >= HTTPStatus.MULTIPLE_CHOICES

    def complete(self, completion: dict[str, Any]) -> dict[str, Any]:
        """Store a chat completion. Return its replacement for the client: the token counts and a placeholder."""
        self.completion = completion
        usage = completion.get("usage")
        message = {"role": "assistant", "content": _PLACEHOLDER}
        return {
            "id": "x", "object": "chat.completion", "created": 0, "model": str(completion.get("model") or "x"),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            **({"usage": _counts(usage)} if isinstance(usage, dict) else {}),
        }  # fmt: skip

    def fail(self, value: Any) -> None:
        """Store an error that arrived with a successful status. `value` is None if it is not JSON."""
        self._error = (error_in(value) or value) if isinstance(value, dict) else value
        self._failed = True

    @property
    def error_status(self) -> int | None:
        """Status of the refusal: that of the reply, or the number that an error inside it names."""
        if not isinstance(self._error, dict):
            return self.status
        code = self._error.get("code") or self._error.get("status")
        number = int(code) if isinstance(code, str) and code.isdecimal() and len(code) == 3 else code
        return number if isinstance(number, int) and 400 <= number < 600 else self.status

    @property
    def words(self) -> str:
        """Server's own reason why there is no answer, empty if it gave none."""
        return server_words(self._body) if self._error is None else words_of_value(self._error)

    @property
    def has_error(self) -> bool:
        """True if the server refused to answer, by its status or in its reply."""
        return self._failed


def error_in(value: Mapping[str, Any]) -> Any:
    """Return the error in a reply or a piece of one, or in its first choice. Providers break off a reply with it.

    MiniMax puts it into `base_resp`, which a reply with an answer has, too.
    """
    choices = value.get("choices")
    if not choices:
        return value.get("error") or value.get("base_resp")
    choice = choices[0] if isinstance(choices, list) else None
    return value.get("error") or (choice.get("error") if isinstance(choice, dict) else None)


def is_completion(value: Any) -> TypeGuard[dict[str, Any]]:
    """Return True for a chat completion, or a piece of one, that holds no error."""
    return isinstance(value, dict) and "choices" in value and not error_in(value)


def _counts(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole numbers of a usage object. Other values cannot be counted."""
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
    """Record what this thread sends and receives in `exchange`."""
    token = _current.set(exchange)
    try:
        yield
    finally:
        _current.reset(token)


def current_exchange() -> Exchange | None:
    """Return this thread's exchange, or None if foreign code called litellm."""
    return _current.get()
