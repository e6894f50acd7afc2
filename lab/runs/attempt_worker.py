"""Worker that makes attempts at one place, each from the phone's first state, and detects a stuck phone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from lab.core.errors import LabError
from lab.core.seams import Agent, Device, Trouble
from lab.core.settings import EMBEDDED
from lab.core.trace import AnyEvent
from lab.runs.attempt_queue import AttemptSeries, NumberedAttempt
from lab.runs.pass_rates import Attempt
from lab.runs.run_places import RunPlace
from lab.runs.session import Session
from lab.runs.spec import Spec, harness_token, phone_of
from store.store import Store

_POLL = 0.25
"""Seconds between two polls of a run whose phone may be stuck."""


class PlaceBroken(Exception):
    """Raised if the phone at a place is unavailable or stopped answering, with the `reason`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AttemptRefused(Exception):
    """Raised if a reachable environment does not begin an attempt, with its `error`."""

    def __init__(self, error: LabError) -> None:
        super().__init__(error.sentence)
        self.error = error


class AttemptKeeper(Protocol):
    """Receive the events and results of attempts, and decide if there are more."""

    def watch(self, attempt: NumberedAttempt) -> Callable[[AnyEvent | None], None]:
        """Return the callback for the events of an attempt's run."""

    def begin(self, attempt: NumberedAttempt, session: Session) -> bool:
        """Start an attempt's run. Return False if no more runs may start."""

    def end(self, attempt: NumberedAttempt, session: Session, agent: Agent | None) -> Attempt | None:
        """Return the result of a finished run, or None if it was ended from outside."""

    def break_off(self, attempt: NumberedAttempt, session: Session, place: RunPlace, reason: str) -> None:
        """Record a run that its phone broke off. It does not count as an attempt."""

    def refuse(self, attempt: NumberedAttempt, place: RunPlace, error: LabError) -> None:
        """Record an attempt that its environment did not begin."""

    def skip(self, count: int) -> None:
        """Record that `count` attempts are no longer needed."""


class WorkerTerms(NamedTuple):
    """Options of a worker. `stuck_after` is in seconds. None waits for a phone without limit."""

    until_pass: bool = False
    stuck_after: float | None = None


class _KeptPhone(NamedTuple):
    """The embedded phone for all attempts at one task, and its first state."""

    task: int
    place: RunPlace
    phone: Device
    first: dict[str, Any]


class AttemptWorker:
    """Make series of attempts at a place, which may change between series."""

    def __init__(
        self, store: Store, specs: Sequence[Spec], keeper: AttemptKeeper, place: RunPlace, agent: Agent | None,
        terms: WorkerTerms,
    ) -> None:  # fmt: skip
        """`agent` makes attempts in a series without an agent. None lets each run build its own from its spec."""
        self.place = place
        self._store, self._specs, self._keeper = store, specs, keeper
        self._agent, self._terms = agent, terms
        self._kept_phone: _KeptPhone | None = None

    def run_series(self, series: AttemptSeries) -> None:
        """Make the rest of a series. On `PlaceBroken` the interrupted attempt and all later ones stay in it."""
        series.agent = series.agent or self._agent
        while series.remaining:
            attempt = series.remaining[0]
            try:
                ended_attempt = self._make_attempt(attempt, series.agent)
            except AttemptRefused as refused:
                self._keeper.refuse(attempt, self.place, refused.error)
                series.remaining.popleft()
                continue
            if ended_attempt is None:
                return
            series.remaining.popleft()
            if self._terms.until_pass and ended_attempt.passed:
                self._keeper.skip(series.skip(attempt.task))

    def _make_attempt(self, attempt: NumberedAttempt, agent: Agent | None) -> Attempt | None:
        spec = self.place.spec(self._specs[attempt.task])._replace(attempt=attempt.number)
        phone: Device | None = None
        try:
            phone = self._phone_for(attempt.task, spec)
            session = Session(self._store, spec, agent=agent, device=phone)
        except LabError as error:
            if phone is not None:
                phone.close()
            elif self.place.environment and not isinstance(error, Trouble):
                # Not a `Trouble`: the environment is reachable, and it refuses this task.
                raise AttemptRefused(error) from error
            # With one place there is no other to try, so the error ends the batch.
            if self._terms.stuck_after is None or not _is_phone_error(error, self.place):
                raise
            raise PlaceBroken(error.sentence) from error
        session.on_event = self._keeper.watch(attempt)
        if not self._keeper.begin(attempt, session):
            phone.close()
            return None
        self._wait_for_end(attempt, session)
        ended_attempt = self._keeper.end(attempt, session, agent)
        self._restore_served(session)
        return ended_attempt

    def _phone_for(self, task: int, spec: Spec) -> Device:
        """Return the phone at the task's start.

        The embedded one is reused for all attempts and restored before each.
        """
        kept_phone = self._kept_phone
        if kept_phone is None or (kept_phone.task, kept_phone.place) != (task, self.place):
            phone = phone_of(spec)
            first = phone.snapshot() if spec.device == EMBEDDED and not spec.environment else None
            if first is None:
                return phone  # a run lets go of it when it is over
            kept_phone = self._kept_phone = _KeptPhone(task, self.place, phone, first)
        kept_phone.phone.restore(kept_phone.first)
        return kept_phone.phone

    def _wait_for_end(self, attempt: NumberedAttempt, session: Session) -> None:
        """Wait for the end of a run. End it if its phone has not answered for too long."""
        limit = self._terms.stuck_after
        while not session.join(None if limit is None else _POLL):
            if limit is None or session.device.waited < limit:
                continue
            trouble = session.device.trouble
            reason = trouble.sentence if trouble is not None else f"{self.place.shown}: does not answer."
            if session.give_up(f"broken off after {limit:g} s without its phone: {reason}"):
                self._keeper.break_off(attempt, session, self.place, reason)
                session.device.close()
                raise PlaceBroken(reason)

    def _restore_served(self, session: Session) -> None:
        """Restore a served phone to its state before the attempt, if it is reachable."""
        if self.place.harness and session.first is not None:
            from lab.devices.harness import Harness

            with suppress(LabError):  # whoever comes next puts it back, too, and says why it cannot
                Harness(self.place.harness, harness_token()).restore(session.first)


def _is_phone_error(error: LabError, place: RunPlace) -> bool:
    """Return True if a run could not be built for lack of its phone. An environment may also refuse the task itself."""
    return isinstance(error, Trouble) or place.device != EMBEDDED
