"""One model answer that a judge paid for: its stage, its model and its cost, without its text."""

from __future__ import annotations

from typing import NamedTuple


class JudgeCall(NamedTuple):
    """One paid answer. `stage` is the method's own name for it, `once` is true if it serves all runs of the judge.

    `model` is empty if it was not recorded. Tokens and cost (US dollars) are None if the provider does not report them.
    """

    judge: str
    unit: str
    run: int
    stage: str
    model: str
    once: bool
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None


def stage_name(stage: str) -> str:
    """Return a stage's name without the suffix of a repaired question."""
    return stage.partition(",")[0]
