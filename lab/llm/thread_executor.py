"""Executor that asks models on threads of this process."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from lab.llm.client import ModelAnswer
from lab.llm.executor import ModelQuestion


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
