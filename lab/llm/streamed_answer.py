"""An answer that comes in pieces, put together: it is used only when it is whole.

A stream that ends before the model has said why it stops was cut, and the question is tried again like any other that
came back broken. Where the model has said that, the answer is whole, even if what should follow (how many tokens it
took, the end of the stream) never came: it was paid for, and is not asked for again.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

STREAMED = {"stream": True, "stream_options": {"include_usage": True}}
"""What a question says besides, where its answer is to come in pieces: the last piece tells what it took."""


class CutStream(Exception):
    """A stream ended before the answer was whole; `answer` is what had come, with the tokens that it told by then."""

    def __init__(self, answer: Any) -> None:
        super().__init__("the stream was cut")
        self.answer = answer


def whole_answer(litellm: ModuleType, stream: Any, model: str) -> Any:
    """The response that the pieces of a stream are; raises `CutStream` from what cut it."""
    try:
        for _ in stream:
            pass  # litellm keeps what came
    except Exception as error:  # noqa: BLE001 - litellm raises what its providers raise
        if not stream.received_finish_reason:
            raise CutStream(_joined(litellm, stream, model)) from getattr(error, "original_exception", error)
    return _joined(litellm, stream, model)


def _joined(litellm: ModuleType, stream: Any, model: str) -> Any:
    """The pieces that came as one response; tokens that no piece tells are unknown, and not estimated."""
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
