"""One answer of a model that a judge paid for: at which stage, by which model, and what it took; never its words."""

from __future__ import annotations

from typing import NamedTuple


class JudgeCall(NamedTuple):
    """One paid answer. `stage` is the method's own name of it, `once` whether it serves all runs of the judge.

    `model` is empty where that was not kept; tokens and US dollars are None where the provider does not tell them.
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
    """A stage without what a repaired question adds to its name."""
    return stage.partition(",")[0]
