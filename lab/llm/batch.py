"""Provider batches: many questions in one file, answered within a day at about half the price.

Batches use OpenAI's file and batch API through litellm. A question and its result share a `custom_id`. Each batch
carries our mark in its metadata, which finds a batch again if the reply to its creation was lost.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import IO, Any, NamedTuple

from lab.core.codec import read_json
from lab.core.errors import LabError
from lab.core.run import input_limits
from lab.core.run.step import Usage
from lab.core.text.plain_text import plain
from lab.llm.attempt import CallResult, without_secrets
from lab.llm.client import OPENAI_PROVIDERS, Llm, Message, ModelAnswer, NoModelAnswer
from lab.llm.server_words import words_of_value

ENDPOINT = "/v1/chat/completions"
MARK = "hitlab"
"""Name of our mark in a batch's metadata."""
_ENDED = ("completed", "failed", "expired", "cancelled")
_LISTED = 100
"""Number of newest batches that are searched for a mark."""


class BatchState(NamedTuple):
    """State of a batch. `files` hold its results once it has `ended`, and `why` is the reason of a failure."""

    id: str
    status: str
    ended: bool
    answered: int = 0
    total: int = 0
    files: tuple[str, ...] = ()
    why: str = ""


class BatchAnswer(NamedTuple):
    """One result of a batch: an answer, or why there is none.

    `missing` is a paid reply without a usable answer. Its `said` is empty if the reply was empty.
    """

    custom_id: str
    answer: ModelAnswer | None
    why: str = ""
    missing: NoModelAnswer | None = None


class BatchApi:
    """One model's batches. Every method raises `NoModelAnswer` if the provider fails several tries."""

    def __init__(self, llm: Llm, stop: threading.Event) -> None:
        self._llm, self._stop = llm, stop

    def check(self) -> None:
        """Raise `LabError` if litellm supports no batches of the model's provider."""
        provider = self._llm.provider()
        if not self._llm.speaks_openai():
            raise LabError(
                f"model {self._llm.model}", f"has no batches here (provider {plain(provider or 'unknown')}).",
                f"Without --batch it is asked at once. Batches are there for {', '.join(OPENAI_PROVIDERS)}.", code=2,
            )  # fmt: skip

    def line(self, custom_id: str, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> bytes:
        """Return a question as a line of a batch file. Its body equals that of a single request."""
        body = self._llm.body(messages, schema, batch=True)
        question = {"custom_id": custom_id, "method": "POST", "url": ENDPOINT, "body": body}
        return json.dumps(question, ensure_ascii=False).encode() + b"\n"

    def upload(self, questions: IO[bytes]) -> str:
        """Upload a file of questions from its beginning. Return its id."""

        def call(litellm: ModuleType, seconds: float) -> Any:
            # A retry reads the file again.
            questions.seek(0)
            file = ("questions.jsonl", questions, "application/jsonl")
            return litellm.create_file(file=file, purpose="batch", **self._options(seconds))

        return self._llm.patiently(call, lambda file: _text(file.id), self._stop).text

    def begin(self, file: str, mark: str) -> str:
        """Start a batch. Return its id.

        Try only once, because the batch may have started despite an error. `find` finds it then.
        """
        request = {"completion_window": "24h", "endpoint": ENDPOINT, "input_file_id": file, "metadata": {MARK: mark}}
        return self._llm.patiently(
            lambda litellm, seconds: litellm.create_batch(**request, **self._options(seconds)),
            lambda batch: _text(batch.id), self._stop, tries=1,
        ).text  # fmt: skip

    def find(self, mark: str) -> str:
        """Return the id of the batch that carries a mark, empty if none of the newest does."""
        batch_id = ""

        def read(page: Any) -> CallResult:
            nonlocal batch_id
            for batch in getattr(page, "data", None) or []:
                if (getattr(batch, "metadata", None) or {}).get(MARK) == mark:
                    batch_id = str(batch.id)
            return _text("looked")

        call = lambda litellm, seconds: litellm.list_batches(limit=_LISTED, **self._options(seconds))  # noqa: E731
        self._llm.patiently(call, read, self._stop)
        return batch_id

    def state(self, batch: str) -> BatchState:
        """Return the batch's current state."""
        state = BatchState(batch, "", False)

        def read(response: Any) -> CallResult:
            nonlocal state
            state = _state(batch, response, self._llm.terms.key_env)
            return _text("looked")

        call = lambda litellm, seconds: litellm.retrieve_batch(batch_id=batch, **self._options(seconds))  # noqa: E731
        self._llm.patiently(call, read, self._stop)
        return state

    def results(self, file: str) -> Iterator[BatchAnswer]:
        """Yield the results in a file. Skip lines that belong to no question."""
        for line in self._lines(file):
            try:
                value, _ = read_json(line, "a batch's result")
            except LabError:
                continue
            if isinstance(value, dict) and isinstance(value.get("custom_id"), str):
                yield self._result(value)

    def _result(self, value: dict[str, Any]) -> BatchAnswer:
        reply = value.get("response")
        body = reply.get("body") if isinstance(reply, dict) else None
        status = reply.get("status_code") if isinstance(reply, dict) else None
        if not isinstance(body, dict) or status not in (None, 200) or value.get("error"):
            words = words_of_value(value.get("error") or body)
            self._llm.learn_refusal(words, status)
            why = without_secrets(f"HTTP {status}: {words}" if words else f"HTTP {status}", self._llm.terms.key_env)
            return BatchAnswer(value["custom_id"], None, why)
        try:
            return BatchAnswer(value["custom_id"], self._llm.read_body(body))
        except NoModelAnswer as error:
            return BatchAnswer(value["custom_id"], None, error.message, error)

    def _lines(self, file: str) -> Iterator[bytes]:
        """Yield the lines of a provider's file as they arrive. Raise `LabError` if one is too long."""
        rest = b""
        for piece in self._pieces(file):
            *lines, rest = (rest + piece).split(b"\n")
            yield from (line for line in lines if line.strip())
            if len(rest) > input_limits.MODEL_REPLY_BYTES:
                raise LabError("batch", f"file {plain(file)} has a line that is longer than any answer.")
        if rest.strip():
            yield rest

    def _pieces(self, file: str) -> Iterator[bytes]:
        pieces: list[Iterator[bytes]] = []

        def read(response: Any) -> CallResult:
            pieces.append(iter(response.stream_iterator))
            return _text("open")

        call = lambda litellm, seconds: litellm.file_content(file_id=file, stream=True, **self._options(seconds))  # noqa: E731
        self._llm.patiently(call, read, self._stop)
        return pieces[-1]

    def _options(self, seconds: float) -> dict[str, Any]:
        options = self._llm.options(seconds)
        options.pop("num_retries", None)
        return {"custom_llm_provider": self._llm.provider(), **options}


def _text(text: str) -> CallResult:
    return CallResult(text, Usage(tries=0))


def _state(batch: str, response: Any, key_env: str) -> BatchState:
    status = str(getattr(response, "status", ""))
    counts = getattr(response, "request_counts", None)
    files = [getattr(response, name, None) for name in ("output_file_id", "error_file_id")]
    errors = getattr(getattr(response, "errors", None), "data", None) or []
    why = "; ".join(str(getattr(error, "message", "")) for error in errors[:3])
    return BatchState(
        batch, status, status in _ENDED, getattr(counts, "completed", 0) or 0, getattr(counts, "total", 0) or 0,
        tuple(file for file in files if file), plain(without_secrets(why, key_env), lines=False)[:200],
    )  # fmt: skip
