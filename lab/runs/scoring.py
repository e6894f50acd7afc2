"""Scorers of a run: its phone's environment, or the task's own rules on the phone's state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.core import task_checks
from lab.core.episode import EpisodeScore, Scorer
from lab.core.task import Task
from lab.core.trace import Step
from lab.runs.device_recovery import RecoveringDevice


def scorer_of(task: Task, device: RecoveringDevice, first: dict[str, Any] | None) -> Scorer:
    """Return the scorer of a run on this phone. `first` is the phone's first state, None for one without snapshots."""
    return EnvironmentScorer(device) if device.scorer else RuleScorer(task, first)


class RuleScorer:
    """Score by the task's checks."""

    def __init__(self, task: Task, first: dict[str, Any] | None) -> None:
        self._task, self._first = task, first

    def __call__(self, state: dict[str, Any] | None, steps: Sequence[Step]) -> EpisodeScore:
        if state is None or self._first is None:
            return EpisodeScore(reason="this phone's state cannot be checked")
        scored = task_checks.score(self._task, self._first, state, steps)
        return EpisodeScore(scored.score, scored.checks, scored.reason)


class EnvironmentScorer:
    """Ask the environment and return exactly its score."""

    def __init__(self, device: RecoveringDevice) -> None:
        self._device = device

    def __call__(self, state: dict[str, Any] | None, steps: Sequence[Step]) -> EpisodeScore:
        scored = self._device.score(steps)
        return EpisodeScore(scored.score, reason=scored.reason, by=self._device.scorer)
