"""Makes attempts at one place, one after the other, each from the phone's first state; notices a stuck phone."""

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

_LOOK = 0.25
"""Seconds between two looks at a run whose phone may be stuck."""


class PlaceBroken(Exception):
    """The phone at a place cannot be had, or does not answer any more; `reason` says what is known of it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AttemptRefused(Exception):
    """The environment is there and does not begin an attempt, as `error` says."""

    def __init__(self, error: LabError) -> None:
        super().__init__(error.sentence)
        self.error = error


class AttemptKeeper(Protocol):
    """Keeps what comes of attempts, and says whether there are to be more."""

    def watch(self, attempt: NumberedAttempt) -> Callable[[AnyEvent | None], None]:
        """What is given each event of an attempt's run."""

    def begin(self, attempt: NumberedAttempt, session: Session) -> bool:
        """Starts an attempt's run; False where nothing is begun any more."""

    def end(self, attempt: NumberedAttempt, session: Session, agent: Agent | None) -> Attempt | None:
        """What came of a run that is over; None where it was ended from outside."""

    def break_off(self, attempt: NumberedAttempt, session: Session, place: RunPlace, reason: str) -> None:
        """A run that its phone broke off is no attempt."""

    def refuse(self, attempt: NumberedAttempt, place: RunPlace, error: LabError) -> None:
        """An attempt that its environment does not begin is not run."""

    def skip(self, count: int) -> None:
        """So many attempts are not needed any more."""


class WorkerTerms(NamedTuple):
    """`stuck_after` is in seconds; None waits for a phone for as long as it takes."""

    until_pass: bool = False
    stuck_after: float | None = None


class _KeptPhone(NamedTuple):
    """The embedded phone of the task whose attempts are made, and its first state."""

    task: int
    place: RunPlace
    phone: Device
    first: dict[str, Any]


class AttemptWorker:
    """Makes series of attempts at its place, which may be changed between two of them."""

    def __init__(
        self, store: Store, specs: Sequence[Spec], keeper: AttemptKeeper, place: RunPlace, agent: Agent | None,
        terms: WorkerTerms,
    ) -> None:  # fmt: skip
        """`agent` makes those that no agent has begun; None has each run build its own from its spec."""
        self.place = place
        self._store, self._specs, self._keeper = store, specs, keeper
        self._agent, self._terms = agent, terms
        self._kept: _KeptPhone | None = None

    def make(self, series: AttemptSeries) -> None:
        """Makes what is left of a series; `PlaceBroken` leaves in it the attempt that was broken off, and all after."""
        series.agent = series.agent or self._agent
        while series.left:
            attempt = series.left[0]
            try:
                ended_attempt = self._made(attempt, series.agent)
            except AttemptRefused as refused:
                self._keeper.refuse(attempt, self.place, refused.error)
                series.left.popleft()
                continue
            if ended_attempt is None:
                return
            series.left.popleft()
            if self._terms.until_pass and ended_attempt.passed:
                self._keeper.skip(series.skip(attempt.task))

    def _made(self, attempt: NumberedAttempt, agent: Agent | None) -> Attempt | None:
        spec = self.place.spec(self._specs[attempt.task])._replace(attempt=attempt.number)
        phone: Device | None = None
        try:
            phone = self._phone(attempt.task, spec)
            session = Session(self._store, spec, agent=agent, device=phone)
        except LabError as error:
            if phone is not None:
                phone.close()
            elif self.place.environment and not isinstance(error, Trouble):
                raise AttemptRefused(error) from error
            if self._terms.stuck_after is None or not _of_phone(error, self.place):
                raise
            raise PlaceBroken(error.sentence) from error
        session.on_event = self._keeper.watch(attempt)
        if not self._keeper.begin(attempt, session):
            phone.close()
            return None
        self._attend(attempt, session)
        ended_attempt = self._keeper.end(attempt, session, agent)
        self._put_back(session)
        return ended_attempt

    def _phone(self, task: int, spec: Spec) -> Device:
        """The phone where the task begins: the embedded one is kept for all attempts, and put back before each."""
        kept_phone = self._kept
        if kept_phone is None or (kept_phone.task, kept_phone.place) != (task, self.place):
            phone = phone_of(spec)
            first = phone.snapshot() if spec.device == EMBEDDED and not spec.environment else None
            if first is None:
                return phone  # a run lets go of it when it is over
            kept_phone = self._kept = _KeptPhone(task, self.place, phone, first)
        kept_phone.phone.restore(kept_phone.first)
        return kept_phone.phone

    def _attend(self, attempt: NumberedAttempt, session: Session) -> None:
        """Waits until the run is over; ends one whose phone has not answered for too long."""
        limit = self._terms.stuck_after
        while not session.join(None if limit is None else _LOOK):
            if limit is None or session.device.waited < limit:
                continue
            trouble = session.device.trouble
            reason = trouble.sentence if trouble is not None else f"{self.place.shown}: does not answer."
            if session.give_up(f"broken off after {limit:g} s without its phone: {reason}"):
                self._keeper.break_off(attempt, session, self.place, reason)
                session.device.close()
                raise PlaceBroken(reason)

    def _put_back(self, session: Session) -> None:
        """Leaves a served phone as the attempt found it, where it is there."""
        if self.place.harness and session.first is not None:
            from lab.devices.harness import Harness

            with suppress(LabError):  # whoever comes next puts it back, too, and says why it cannot
                Harness(self.place.harness, harness_token()).restore(session.first)


def _of_phone(error: LabError, place: RunPlace) -> bool:
    """Whether a run could not be built for want of its phone; an environment may also refuse the task itself."""
    return isinstance(error, Trouble) or place.device != EMBEDDED
