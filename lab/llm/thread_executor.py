"""Questions answered on threads of this process."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from lab.llm.client import ModelAnswer
from lab.llm.executor import ModelQuestion


class ThreadExecutor:
    """Asks models on `width` threads; once `stop` is set, what is under way raises `WaitCancelled` soon."""

    def __init__(self, width: int, stop: threading.Event) -> None:
        self.width = width
        self._stop = stop
        self._pool = ThreadPoolExecutor(width, thread_name_prefix="judge")

    def submit(self, question: ModelQuestion) -> Future[ModelAnswer]:
        """Has a question answered on the next free thread."""
        llm, messages, schema, words = question
        return self._pool.submit(llm.ask, messages, self._stop, schema, words=words)

    def close(self, *, at_once: bool = False) -> None:
        """Ends its threads once they have answered; `at_once` what waits for a thread is not asked."""
        self._pool.shutdown(wait=True, cancel_futures=at_once)
