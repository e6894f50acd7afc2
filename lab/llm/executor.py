"""The seam where questions to models are answered on other threads or other machines, several at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Protocol, Self

from lab.llm.client import Llm, Message, ModelAnswer


class ModelExecutor(Protocol):
    """Answers questions beside the thread that asks them. It reads and writes no file."""

    @property
    def width(self) -> int:
        """How many questions it wants to have at a time, so that nobody in it waits for one; at least 1."""
        ...

    def submit(
        self, llm: Llm, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Future[ModelAnswer]:
        """Has a question answered as `Llm.ask` answers it; its future raises what that raises."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends it: after an error nothing is waited for any more."""
        ...
