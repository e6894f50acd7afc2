"""Wrap a device: block and report the reason while it is disconnected or answers garbage."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from lab.core.errors import LabError
from lab.core.run.step import Action, Question, Reply
from lab.core.run.trace import DeviceInfo, Step
from lab.core.seams import (
    Device,
    EnvironmentScore,
    Frame,
    ReportsTypingMethod,
    Screen,
    SupportsConnectionState,
    SupportsPosture,
    SupportsScoring,
    Trouble,
    WaitCancelled,
)

Answer = TypeVar("Answer")
TroubleCallback = Callable[[Trouble | None], None]

_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 2.0
"""First and longest pause before a retry, in seconds."""


class RecoveringDevice:
    """A device around another one. It retries what only reads, and performs actions once.

    `tell` is called from any thread with the phone's trouble when it begins or changes, and with None when it is over.
    `on_posture` is called with rotation and display state. Once `stop` is set, every wait raises `WaitCancelled`.
    """

    def __init__(
        self,
        device: Device,
        stop: threading.Event,
        tell: TroubleCallback,
        on_posture: Callable[[str, str], None] = lambda state, sentence: None,
    ) -> None:
        self.device = device
        self.trouble: Trouble | None = None
        """The current trouble, None if the phone works."""
        self._stop, self._report = stop, tell
        self._lock = threading.RLock()
        # In this order the first reason is reported: a lost connection explains the others.
        self._troubles: dict[str, Trouble | None] = {"away": None, "failing": None, "streaming": None}
        self._closed = False
        self._asked_at: float | None = None
        if isinstance(device, SupportsConnectionState):
            device.on_line = self._report_connection
        if isinstance(device, SupportsPosture):
            device.on_posture = on_posture

    @property
    def info(self) -> DeviceInfo:
        return self.device.info

    @property
    def via(self) -> str:
        """Source of its pictures in a few words. Empty if there is only one."""
        return self.device.via if isinstance(self.device, SupportsConnectionState) else ""

    @property
    def typed_by(self) -> str:
        """Method by which the newest text was typed. Empty if there is only one."""
        return self.device.typed_by if isinstance(self.device, ReportsTypingMethod) else ""

    @property
    def waited(self) -> float:
        """Seconds for which the run has waited for an answer of the phone. 0 while it does not wait."""
        asked_at = self._asked_at
        return 0.0 if asked_at is None else time.monotonic() - asked_at

    @property
    def scorer(self) -> str:
        """The environment that scores the phone's runs. Empty if there is none."""
        return self.device.scorer if isinstance(self.device, SupportsScoring) else ""

    def receive_reply(self, question: Question, reply: Reply) -> None:
        """Report the reply to a phone that scores, once."""
        if isinstance(self.device, SupportsScoring):
            self.device.receive_reply(question, reply)

    def score(self, steps: Sequence[Step]) -> EnvironmentScore:
        """Wait for the environment's score of the run. Raise `LabError` if the phone has no environment."""
        device = self.device
        if not isinstance(device, SupportsScoring):
            raise LabError("the phone", "belongs to no environment that scores.")
        return self._retry(lambda: device.score(steps))

    def observe(self) -> Screen:
        screen = self._retry(self.device.observe)
        self._record_trouble(away=None, failing=None, streaming=None)
        return screen

    def snapshot(self) -> dict[str, Any] | None:
        return self._retry(self.device.snapshot)

    def restore(self, state: dict[str, Any]) -> None:
        self.device.restore(state)

    def perform(self, action: Action) -> None:
        """Perform an action once. Raise `LabError` if the phone disconnects. It may have happened by then."""
        try:
            with self._measure_wait(action.kind != "wait"):
                self.device.perform(action)
        except Trouble as trouble:
            self._record_trouble(failing=trouble)
            effect = "It may or may not have been done" if trouble.sent else "Nothing was done"
            raise LabError(trouble.title, f"{trouble.message.rstrip('.')}. {effect}", trouble.hint) from trouble

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        """Yield the phone's pictures. After a failure it starts again, and reports the trouble until one arrives.

        It reports a moment later. By then it is known if the phone itself is disconnected, which is the better reason.
        """
        pause, reported = _FIRST_PAUSE, False
        while not stop.is_set() and not self._closed:
            try:
                for frame in self.device.frames(stop):
                    if reported:
                        self._record_trouble(streaming=None)
                    pause, reported = _FIRST_PAUSE, False
                    yield frame
                return
            except Trouble as trouble:
                if not stop.wait(pause) and not reported and self._troubles["away"] is None:
                    reported = True
                    self._record_trouble(streaming=trouble)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def close(self) -> None:
        self._closed = True
        self.device.close()

    def _retry(self, ask: Callable[[], Answer]) -> Answer:
        pause = _FIRST_PAUSE
        with self._measure_wait():
            while True:
                try:
                    return ask()
                except Trouble as trouble:
                    if self._stop.is_set():
                        raise WaitCancelled from trouble
                    self._record_trouble(failing=trouble)
                    if self._stop.wait(pause):
                        raise WaitCancelled from trouble
                    pause = min(2 * pause, _LONGEST_PAUSE)

    @contextmanager
    def _measure_wait(self, counts: bool = True) -> Iterator[None]:
        """Measure how long the phone takes to answer, except during a wait action (`counts` false)."""
        self._asked_at = time.monotonic() if counts else None
        try:
            yield
        finally:
            self._asked_at = None

    def _report_connection(self, away: Trouble | None) -> None:
        self._record_trouble(away=away)

    def _record_trouble(self, **troubles: Trouble | None) -> None:
        """Store what is known of each trouble, and report the first one if its words changed."""
        with self._lock:
            self._troubles.update(troubles)
            now = next((why for why in self._troubles.values() if why is not None), None)
            before, self.trouble = self.trouble, now
            if (now and now.sentence) == (before and before.sentence) or self._closed:
                return
            # Under the lock, so that reports keep their order.
            self._report(now)
