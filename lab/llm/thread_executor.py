"""Questions answered on threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

from lab.llm.client import Llm, Message, ModelAnswer


class ThreadExecutor:
    """Asks models on `width` threads; once `stop` is set, what is under way raises `WaitCancelled` soon."""

    def __init__(self, width: int, stop: threading.Event) -> None:
        self.width = width
        self._stop = stop
        self._pool = ThreadPoolExecutor(width, thread_name_prefix="judge")

    def submit(
        self, llm: Llm, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Future[ModelAnswer]:
        """Has a question answered on the next free thread."""
        return self._pool.submit(llm.ask, messages, self._stop, schema)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=error is not None)
