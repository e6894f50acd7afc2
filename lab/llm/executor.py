"""The seam where questions to models are answered on other threads or other machines, several at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from lab.llm.client import Llm, Message, ModelAnswer


class ModelQuestion(NamedTuple):
    """A question to a model, as `Llm.ask` is given it."""

    llm: Llm
    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None
    words: bool = False


class ModelExecutor(Protocol):
    """Answers questions beside the thread that asks them. It reads and writes no file."""

    @property
    def width(self) -> int:
        """How many questions it wants to have at a time, so that nobody in it waits for one; at least 1."""
        ...

    def submit(self, question: ModelQuestion) -> Future[ModelAnswer]:
        """Has a question answered as `Llm.ask` answers it; its future raises what that raises."""
        ...

    def close(self, *, at_once: bool = False) -> None:
        """Ends it; `at_once` what is under way is not waited for."""
        ...


@contextmanager
def ended(executor: ModelExecutor, stop: threading.Event) -> Iterator[ModelExecutor]:
    """Ends an executor; after an error `stop` is set, and nothing is waited for any more."""
    try:
        yield executor
    except BaseException:
        stop.set()
        executor.close(at_once=True)
        raise
    executor.close()
