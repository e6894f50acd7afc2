"""One thing done beside a stream of pictures, on a thread of its own: a dump of the tree, a sign of life."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from lab.core.errors import LabError

Result = TypeVar("Result")


class SideThread(Generic[Result]):
    """Runs one job at a time; its result waits to be taken. A job that ends in `LabError` has the result None."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._done: list[Result | None] = []
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Whether a job runs, or its result was not taken yet."""
        return self._thread is not None

    def start(self, job: Callable[[], Result]) -> None:
        """Begins a job; nothing where one is not over yet."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, args=(job,), name=self._name, daemon=True)
            self._thread.start()

    def take(self) -> tuple[Result | None] | None:
        """The finished job's result, once; None while there is none."""
        if self._thread is None or self._thread.is_alive():
            return None
        self._thread = None
        return (self._done.pop() if self._done else None,)

    def _run(self, job: Callable[[], Result]) -> None:
        try:
            self._done.append(job())
        except LabError:
            self._done.append(None)
