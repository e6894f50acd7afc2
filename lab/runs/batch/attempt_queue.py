"""Queue of attempts: what runs in order and what runs side by side."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lab.core.seams import Agent
from lab.core.task.task import Task


class NumberedAttempt(NamedTuple):
    """Attempt `number` (from 1) at the task with this index in the batch (from 0)."""

    task: int
    number: int


class AttemptSeries:
    """Attempts that run one after the other, at one place as long as it works.

    `agent` is the one that made the first attempt and makes the rest, because it may remember. It is None before.
    """

    def __init__(self, attempts: Iterable[NumberedAttempt]) -> None:
        self.remaining = deque(attempts)
        self.agent: Agent | None = None

    def skip(self, task: int) -> int:
        """Drop the remaining attempts at a task. Return their number."""
        others = [attempt for attempt in self.remaining if attempt.task != task]
        skipped = len(self.remaining) - len(others)
        self.remaining = deque(others)
        return skipped


def series_of(tasks: Sequence[Task], attempts: int, *, ordered: bool) -> list[AttemptSeries]:
    """Return all attempts at all tasks as series. `ordered` makes an attempt wait for the one before it.

    Mirror tasks are always in one series, after the task they mirror, because an agent's experience with one may help
    it with the next (MemGUI-Bench A.5.1).
    """
    series: list[AttemptSeries] = []
    for family in _families(tasks):
        family_attempts = [NumberedAttempt(task, number) for task in family for number in range(1, attempts + 1)]
        if ordered or len(family) > 1:
            series.append(AttemptSeries(family_attempts))
        else:
            series += [AttemptSeries([attempt]) for attempt in family_attempts]
    return series


def _families(tasks: Sequence[Task]) -> list[list[int]]:
    """Group the tasks' indices into families: a task and its mirrors after it, in the order of first members."""
    # Reversed, so that of equal ids the first task counts.
    places = {task.id: place for place, task in reversed(list(enumerate(tasks)))}
    families: dict[int, list[int]] = {}
    for place in range(len(tasks)):
        families.setdefault(_mirrored_task(tasks, places, place), []).append(place)
    return [sorted(family, key=lambda place: place != first) for first, family in families.items()]


def _mirrored_task(tasks: Sequence[Task], places: dict[str, int], place: int) -> int:
    """Return the task that this one mirrors, directly or in turn, or itself if that is not in the batch."""
    visited = {place}
    while (before := places.get(tasks[place].mirror_of)) is not None and before not in visited:
        visited.add(before)
        place = before
    return place


class AttemptQueue:
    """Series for workers to take. A series that is put back is dealt before all others. Thread-safe."""

    def __init__(self, series: Iterable[AttemptSeries]) -> None:
        self._waiting = deque(series)
        self._taken = 0
        self._closed = False
        self._changed = threading.Condition()

    def take(self) -> AttemptSeries | None:
        """Return the next series, or None once nothing is left. Block while a taken one might be put back."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._taken or self._closed)
            if self._closed or not self._waiting:
                return None
            self._taken += 1
            return self._waiting.popleft()

    def finish_series(self) -> None:
        """Report that a taken series is finished."""
        self._give_back()

    def put_back(self, series: AttemptSeries) -> None:
        """Return the rest of a taken series to the front of the queue."""
        self._give_back(series)

    def close(self) -> None:
        """Stop dealing series."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def remaining(self) -> list[NumberedAttempt]:
        """Return the attempts that no worker has taken."""
        with self._changed:
            return [attempt for series in self._waiting for attempt in series.remaining]

    def _give_back(self, *series: AttemptSeries) -> None:
        with self._changed:
            self._taken -= 1
            self._waiting.extendleft(series)
            self._changed.notify_all()
