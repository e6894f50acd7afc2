"""Terms of a judging job, its progress and its outcome."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from annotators.validation.study_split import Split


class JudgeTerms(NamedTuple):
    """Terms of a job: runs over each unit, concurrent questions, budget in US dollars."""

    runs: int = 1
    concurrency: int = 4
    budget: float | None = None
    swaps: bool = True
    """Exchange the sides of a pair in every second run."""
    split: Split | None = None
    """Part of the study to judge, None for all of it."""
    dev_share: float | None = None
    """Share of units for dev if the study is not split yet, None for the default."""
    examples: int = 0
    """Number of settled units of dev in the prompt as few-shot examples."""
    hides_outcome: bool = False
    """Hide how a run ended, though the study shows it."""


class JobProgress(NamedTuple):
    """Progress of a job: sheets handed in, all sheets, questions asked, answers found again, US dollars spent."""

    done: int
    total: int
    asked: int
    found: int
    spent: float


class FailedSheet(msgspec.Struct, frozen=True):
    """A sheet that was not handed in, and why."""

    unit: str
    run: int
    why: str


class JudgingDone(NamedTuple):
    """Outcome of a job. `unusable` sheets were handed in without an answer, with the reason."""

    progress: JobProgress
    unusable: int
    failed: tuple[FailedSheet, ...]
    ended: str
    """Reason why it ended early, empty if all was done."""
    unpriced: int = 0
    """Answers with an unknown cost."""
    without: tuple[str, ...] = ()
    """Request parameters that the model's server refused and that were left out."""
