"""On which terms a judge goes about a study, how far it is, and what became of it."""

from __future__ import annotations

from typing import NamedTuple

from annotators.validation.study_split import Split


class JudgeTerms(NamedTuple):
    """How a judge goes about it: how often each unit, how many questions at a time, for how many US dollars at most."""

    runs: int = 1
    concurrency: int = 4
    budget: float | None = None
    swaps: bool = True
    """Whether the sides of a pair are exchanged in every second run."""
    split: Split | None = None
    """Which part of the study is judged; all of it where none is named."""
    dev_share: float | None = None
    """The share of units that is to be dev, where the study is not split yet; None: the usual one."""
    examples: int = 0
    """How many settled units of dev the question tells with their right answers."""
    hides_outcome: bool = False
    """Whether no question tells how a run ended, though the study shows it."""


class JudgeProgress(NamedTuple):
    """How far a job is: sheets handed in of those that were to do, questions asked and found again, dollars spent."""

    done: int
    total: int
    asked: int
    found: int
    spent: float


class FailedSheet(NamedTuple):
    """A sheet that is not done, and why."""

    unit: str
    run: int
    why: str


class JudgingDone(NamedTuple):
    """What became of a job. `unusable` sheets were handed in without an answer, with the reason."""

    progress: JudgeProgress
    unusable: int
    failed: tuple[FailedSheet, ...]
    ended: str
    """Why it ended before all was done; empty where it did not."""
    unpriced: int = 0
    """Answers whose cost nobody knows."""
    without: tuple[str, ...] = ()
    """What the model's server refused, and answers were given without."""
