"""Interface for answering model questions on other threads or machines, several at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from lab.llm.client import Llm, Message, ModelAnswer


class ModelQuestion(NamedTuple):
    """Arguments of one `Llm.ask`."""

    llm: Llm
    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None
    words: bool = False


class ModelExecutor(Protocol):
    """Answers questions away from the thread that asks. It reads and writes no file."""

    @property
    def width(self) -> int:
        """Number of questions, at least 1, that keeps all of its workers busy."""
        ...

    def submit(self, question: ModelQuestion) -> Future[ModelAnswer]:
        """Answer a question like `Llm.ask`. The future raises what that raises."""
        ...

    def close(self, *, at_once: bool = False) -> None:
        """Close the executor. With `at_once`, do not wait for questions in progress."""
        ...


@contextmanager
def closing_executor(executor: ModelExecutor, stop: threading.Event) -> Iterator[ModelExecutor]:
    """Close an executor at the end. After an error, set `stop` and do not wait."""
    try:
        yield executor
    except BaseException:
        stop.set()
        executor.close(at_once=True)
        raise
    executor.close()
