"""Join a streamed answer. It is used only when it is whole.

A stream that ends before the model gave a finish reason was cut, and the question is tried again like after any broken
reply. With a finish reason the answer is whole, even if the rest (token counts, end of the stream) never arrives. It
was paid for, so it is not asked for again.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

STREAMED = {"stream": True, "stream_options": {"include_usage": True}}
"""Request options for a streamed answer. The last piece contains the token counts."""


class CutStream(Exception):
    """A stream ended before the answer was whole. `answer` is the part that arrived, with its token counts."""

    def __init__(self, answer: Any) -> None:
        super().__init__("the stream was cut")
        self.answer = answer


def whole_answer(litellm: ModuleType, stream: Any, model: str) -> Any:
    """Return the response joined from a stream. Raise `CutStream` from the error that cut it."""
    try:
        for _ in stream:
            pass  # litellm keeps what came
    except Exception as error:  # noqa: BLE001 - litellm raises what its providers raise
        if not stream.received_finish_reason:
            raise CutStream(_joined(litellm, stream, model)) from getattr(error, "original_exception", error)
    return _joined(litellm, stream, model)


def _joined(litellm: ModuleType, stream: Any, model: str) -> Any:
    """Return the pieces as one response. Without token counts in a piece the usage is unknown, not estimated."""
    pieces = stream.chunks
    if not pieces:
        return None
    answer = litellm.stream_chunk_builder(pieces)
    if not any(getattr(piece, "usage", None) for piece in pieces):
        answer.usage = None
        return answer
    try:
        answer._hidden_params["response_cost"] = litellm.completion_cost(answer, model=model)
    except Exception:  # noqa: BLE001 - litellm raises plain exceptions for models of which it knows no price
        answer._hidden_params["response_cost"] = None
    return answer
