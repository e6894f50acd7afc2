"""The order in which attempts at tasks are made: what waits for what before it, and what goes on side by side."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lab.core.seams import Agent
from lab.core.task import Task


class NumberedAttempt(NamedTuple):
    """Attempt `number` (from 1) at the task with that index in the batch (from 0)."""

    task: int
    number: int


class AttemptSeries:
    """Attempts that are made one after the other, at one place for as long as that is well.

    `agent` is the one that made the first of them, and makes the rest: it may remember; None before.
    """

    def __init__(self, attempts: Iterable[NumberedAttempt]) -> None:
        self.left = deque(attempts)
        self.agent: Agent | None = None

    def skip(self, task: int) -> int:
        """Leaves out what is left of a task; how many attempts that are."""
        others = [attempt for attempt in self.left if attempt.task != task]
        skipped = len(self.left) - len(others)
        self.left = deque(others)
        return skipped


def series_of(tasks: Sequence[Task], attempts: int, *, ordered: bool) -> list[AttemptSeries]:
    """All attempts at all tasks. `ordered`: an attempt at a task waits for the one before it.

    Mirror tasks always stand in one series, the first of them before its mirrors, since what an agent learns at one may
    help it at the next (MemGUI-Bench A.5.1).
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
    """The tasks' indices, mirrors beside the task that they mirror and after it; families as their first stands."""
    places = {task.id: place for place, task in reversed(list(enumerate(tasks)))}
    families: dict[int, list[int]] = {}
    for place in range(len(tasks)):
        families.setdefault(_first(tasks, places, place), []).append(place)
    return [sorted(family, key=lambda place: place != first) for first, family in families.items()]


def _first(tasks: Sequence[Task], places: dict[str, int], place: int) -> int:
    """The task that this one mirrors, and that one in turn; itself where that is not among them."""
    visited = {place}
    while (before := places.get(tasks[place].mirror_of)) is not None and before not in visited:
        visited.add(before)
        place = before
    return place


class AttemptQueue:
    """Series that workers take; one that is put back is dealt again before all others. Safe on any thread."""

    def __init__(self, series: Iterable[AttemptSeries]) -> None:
        self._waiting = deque(series)
        self._taken = 0
        self._closed = False
        self._changed = threading.Condition()

    def take(self) -> AttemptSeries | None:
        """The next one; waits while one that is taken might be put back. None once there is nothing left to do."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._taken or self._closed)
            if self._closed or not self._waiting:
                return None
            self._taken += 1
            return self._waiting.popleft()

    def done(self) -> None:
        """A series that was taken is over."""
        self._give_back()

    def put_back(self, series: AttemptSeries) -> None:
        """What is left of a series that was taken is dealt again."""
        self._give_back(series)

    def close(self) -> None:
        """Nothing is dealt any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def left(self) -> list[NumberedAttempt]:
        """The attempts that nobody has taken."""
        with self._changed:
            return [attempt for series in self._waiting for attempt in series.left]

    def _give_back(self, *series: AttemptSeries) -> None:
        with self._changed:
            self._taken -= 1
            self._waiting.extendleft(series)
            self._changed.notify_all()
