"""A phone that is waited for: while it is away, or talks nonsense, whoever needs it waits, and is told why."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from lab.core.errors import LabError
from lab.core.seams import (
    Attached,
    Device,
    EnvironmentScore,
    Frame,
    Scoring,
    Screen,
    Trouble,
    Turning,
    Typing,
    WaitCancelled,
)
from lab.core.step import Action, Question, Reply
from lab.core.trace import DeviceInfo, Step

Answer = TypeVar("Answer")
Tell = Callable[[Trouble | None], None]

_FIRST, _MOST = 0.25, 2.0
"""Seconds before it is asked again: at first, and at most."""


class RecoveringDevice:
    """A device around another one. What only looks is asked again until it is well; what acts is done once.

    `tell` is called, from any thread, with what troubles the phone when that begins or changes, and with None when it
    is well again; `posed` with how it is turned and shown. Once `stop` is set whoever waits gets `WaitCancelled`.
    """

    def __init__(
        self,
        device: Device,
        stop: threading.Event,
        tell: Tell,
        on_posture: Callable[[str, str], None] = lambda state, sentence: None,
    ) -> None:
        self.device = device
        self.trouble: Trouble | None = None
        """What troubles it now."""
        self._stop, self._tell = stop, tell
        self._lock = threading.RLock()
        self._why: dict[str, Trouble | None] = {"away": None, "failing": None, "streaming": None}
        self._closed = False
        self._asked_at: float | None = None
        if isinstance(device, Attached):
            device.on_line = self._on_line
        if isinstance(device, Turning):
            device.on_posture = on_posture

    @property
    def info(self) -> DeviceInfo:
        return self.device.info

    @property
    def via(self) -> str:
        """How its pictures come, in a few words; empty where there is only one way."""
        return self.device.via if isinstance(self.device, Attached) else ""

    @property
    def typed_by(self) -> str:
        """How the newest text was typed; empty where there is only one way."""
        return self.device.typed_by if isinstance(self.device, Typing) else ""

    @property
    def waited(self) -> float:
        """Seconds for which the run has waited for the phone to answer; 0 while it does not wait."""
        asked_at = self._asked_at
        return 0.0 if asked_at is None else time.monotonic() - asked_at

    @property
    def scorer(self) -> str:
        """The environment that scores what is done on it; empty where there is none."""
        return self.device.scorer if isinstance(self.device, Scoring) else ""

    def hear(self, question: Question, reply: Reply) -> None:
        """Tells a phone that scores what was replied, once."""
        if isinstance(self.device, Scoring):
            self.device.hear(question, reply)

    def score(self, steps: Sequence[Step]) -> EnvironmentScore:
        """What the environment says of the run, which is waited for; a `LabError` where there is none."""
        device = self.device
        if not isinstance(device, Scoring):
            raise LabError("the phone", "belongs to no environment that scores.")
        return self._patiently(lambda: device.score(steps))

    def observe(self) -> Screen:
        screen = self._patiently(self.device.observe)
        self._note(away=None, failing=None, streaming=None)
        return screen

    def snapshot(self) -> dict[str, Any] | None:
        return self._patiently(self.device.snapshot)

    def restore(self, state: dict[str, Any]) -> None:
        self.device.restore(state)

    def perform(self, action: Action) -> None:
        """Does it once, for what was begun may have happened: a `LabError` says so where the phone went away."""
        try:
            with self._waiting(action.kind != "wait"):
                self.device.perform(action)
        except Trouble as trouble:
            self._note(failing=trouble)
            effect = "It may or may not have been done" if trouble.sent else "Nothing was done"
            raise LabError(trouble.title, f"{trouble.message.rstrip('.')}. {effect}", trouble.hint) from trouble

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        """The phone's pictures; begun anew where they end in trouble, which is told until one comes again.

        It is told a moment later, for by then it is known whether the phone itself is away, which says more.
        """
        pause, reported = _FIRST, False
        while not stop.is_set() and not self._closed:
            try:
                for frame in self.device.frames(stop):
                    if reported:
                        self._note(streaming=None)
                    pause, reported = _FIRST, False
                    yield frame
                return
            except Trouble as trouble:
                if not stop.wait(pause) and not reported and self._why["away"] is None:
                    reported = True
                    self._note(streaming=trouble)
                pause = min(2 * pause, _MOST)

    def close(self) -> None:
        self._closed = True
        self.device.close()

    def _patiently(self, ask: Callable[[], Answer]) -> Answer:
        pause = _FIRST
        with self._waiting():
            while True:
                try:
                    return ask()
                except Trouble as trouble:
                    if self._stop.is_set():
                        raise WaitCancelled from trouble
                    self._note(failing=trouble)
                    if self._stop.wait(pause):
                        raise WaitCancelled from trouble
                    pause = min(2 * pause, _MOST)

    @contextmanager
    def _waiting(self, counts: bool = True) -> Iterator[None]:
        """Counts how long it is waited for the phone within; not where the phone is told to wait."""
        self._asked_at = time.monotonic() if counts else None
        try:
            yield
        finally:
            self._asked_at = None

    def _on_line(self, away: Trouble | None) -> None:
        self._note(away=away)

    def _note(self, **troubles: Trouble | None) -> None:
        """Keeps what is known, and tells of it where it reads otherwise than before."""
        with self._lock:
            self._why.update(troubles)
            now = next((why for why in self._why.values() if why is not None), None)
            before, self.trouble = self.trouble, now
            if (now and now.sentence) == (before and before.sentence) or self._closed:
                return
            self._tell(now)
