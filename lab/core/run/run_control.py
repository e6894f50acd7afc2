"""Control of one run from any thread: pause, resume, single turn, take over, stop."""

from __future__ import annotations

import math
import threading
import time

from lab.core.seams import WaitCancelled

_POLL = 0.05
"""Seconds between two polls of `stop`."""


class RunControl:
    """Control shared by the run's loop, which waits on it, and the people at the run, who set it. Thread-safe.

    `pace` is the minimum number of seconds between the starts of two turns, so that a person can follow.
    """

    def __init__(self, pace: float = 0.0) -> None:
        self.stop = threading.Event()
        self.pace = pace
        self._changed = threading.Condition()
        self._paused = False
        self._allowed_turns = 0
        self._turn_allowed = False
        self._taken_over = False
        self._last_turn = -math.inf

    @property
    def paused(self) -> bool:
        """True while the run is paused."""
        return self._paused

    @property
    def taken_over(self) -> bool:
        """True while a person acts in the agent's place."""
        return self._taken_over

    def pause(self) -> None:
        self._set_paused(paused=True)

    def resume(self) -> None:
        self._set_paused(paused=False)

    def one_turn(self) -> None:
        """Allow exactly one turn, then pause again."""
        with self._changed:
            self._paused = True
            self._allowed_turns += 1
            self._changed.notify_all()

    def take_over(self, by_person: bool) -> None:
        """Put a person in the agent's place from the next turn on, or give the place back."""
        with self._changed:
            self._taken_over = by_person
            self._changed.notify_all()

    def stop_run(self) -> None:
        """End the run: every wait on this control raises `WaitCancelled`."""
        self.stop.set()
        with self._changed:
            self._changed.notify_all()

    def begin_turn(self) -> None:
        """Block while paused and until the pace allows a turn. Raise `WaitCancelled` once stopped."""
        with self._changed:
            self._turn_allowed = False
            while not self.stop.is_set():
                if self._paused and not self._allowed_turns:
                    self._changed.wait(_POLL)
                    continue
                early = self._last_turn + self.pace - time.monotonic()
                if early > 0:
                    self._changed.wait(min(early, _POLL))
                    continue
                if self._paused:
                    self._allowed_turns -= 1
                    self._turn_allowed = True
                self._last_turn = time.monotonic()
                return
        raise WaitCancelled

    def before_act(self) -> None:
        """Block while paused, unless this turn was allowed. Raise `WaitCancelled` once stopped."""
        with self._changed:
            while not self.stop.is_set():
                if not self._paused or self._turn_allowed:
                    return
                # Paused within this turn, and then allowed one turn: it is this one.
                if self._allowed_turns:
                    self._allowed_turns -= 1
                    self._turn_allowed = True
                    return
                self._changed.wait(_POLL)
        raise WaitCancelled

    def _set_paused(self, *, paused: bool) -> None:
        with self._changed:
            self._paused = paused
            self._allowed_turns = 0
            self._turn_allowed = False
            self._changed.notify_all()
