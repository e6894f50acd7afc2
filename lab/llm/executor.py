"""Model questions away from the thread that asks: on other threads, or on other machines (`cluster_executor.py`).

The seam is narrower than `concurrent.futures.Executor`. That takes any function, but a worker gets a question as data,
without the local `stop`, and says how many questions keep it busy.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from lab.core.errors import LabError
from lab.core.seams import WaitCancelled
from lab.llm.client import Llm, Message, ModelAnswer, NoModelAnswer

_POLL = 0.05
"""Seconds between two polls of `stop`."""


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


class ThreadExecutor:
    """Ask models on `width` threads. Once `stop` is set, pending questions soon raise `WaitCancelled`."""

    def __init__(self, width: int, stop: threading.Event) -> None:
        self.width = width
        self._stop = stop
        self._pool = ThreadPoolExecutor(width, thread_name_prefix="judge")

    def submit(self, question: ModelQuestion) -> Future[ModelAnswer]:
        """Answer a question on the next free thread."""
        llm, messages, schema, words = question
        return self._pool.submit(llm.ask, messages, self._stop, schema, words=words)

    def close(self, *, at_once: bool = False) -> None:
        """Close the threads after their answers. With `at_once`, drop the questions that wait for a thread."""
        self._pool.shutdown(wait=True, cancel_futures=at_once)


class ModelAsker(Protocol):
    """Answers questions to one model: the model's own client, or an executor through `RemoteModel`."""

    def ask(
        self,
        messages: Sequence[Message],
        stop: threading.Event,
        schema: Mapping[str, Any] | None = None,
        *,
        words: bool = False,
    ) -> ModelAnswer:
        """Return the model's answer, in plain `words` or with a JSON object in it.

        Raise `NoModelAnswer` if there is none, `WaitCancelled` soon after `stop` is set.
        """
        ...


class RemoteModel:
    """One model, asked by an executor. Thread-safe. `lost` is the reason if the executor failed."""

    def __init__(self, llm: Llm, executor: ModelExecutor) -> None:
        self.lost: LabError | None = None
        self._llm, self._executor = llm, executor

    def ask(
        self,
        messages: Sequence[Message],
        stop: threading.Event,
        schema: Mapping[str, Any] | None = None,
        *,
        words: bool = False,
    ) -> ModelAnswer:
        """Ask like `Llm.ask`. Do not wait for a pending question once `stop` is set."""
        try:
            answer = self._executor.submit(ModelQuestion(self._llm, messages, schema, words))
            while not wait([answer], _POLL).done:
                if stop.is_set():
                    raise WaitCancelled
            return answer.result()
        except NoModelAnswer:
            raise
        except LabError as error:
            hint = "Runs that were over before are in the file; the same line begins each of them anew."
            self.lost = LabError(error.title, error.message, hint, code=error.code)
            raise self.lost from error
