"""Cost estimates of questions to a model."""

from __future__ import annotations

from annotators.judging.question import JudgeQuestion, JudgeView
from annotators.judging.sheet_answer import asked_places
from lab.core.run.run_records import Blob

_CHARACTERS = 3.5
"""Characters of text in one token, roughly."""
_PIXELS = 750
"""Pixels of a picture in one token, roughly."""
_ENTRY = 60
"""Tokens of one answer with its reason, roughly."""


def tokens_sent(question: JudgeQuestion) -> int:
    """Estimate the prompt tokens of a question."""
    return round(sum(_estimate_tokens(part) for message in question.messages for part in message.parts))


def tokens_back(view: JudgeView) -> int:
    """Estimate the completion tokens of an answer that fills in a whole sheet."""
    return _ENTRY * max(1, sum(1 for _ in asked_places(view)))


def dollars(prompt_tokens: int, answer_tokens: int, prices: tuple[float, float]) -> float:
    """Return US dollars, by prices for a million tokens sent and received."""
    return (prompt_tokens * prices[0] + answer_tokens * prices[1]) / 1e6


def _estimate_tokens(part: str | Blob) -> float:
    if isinstance(part, str):
        return len(part.encode()) / _CHARACTERS
    from lab.core.values.safe_images import open_picture

    with open_picture(part.data) as picture:
        return picture.width * picture.height / _PIXELS
