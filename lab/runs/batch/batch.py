"""Run batch: make attempts at tasks side by side at several places, and deal those again that a phone breaks off."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from lab.core.errors import LabError
from lab.core.run.trace import AnyEvent
from lab.core.seams import Agent, Closable, Device, SupportsMemory, Trouble
from lab.core.settings import EMBEDDED
from lab.llm.executor import RemoteModel
from lab.runs.batch.attempt_queue import AttemptQueue, AttemptSeries, NumberedAttempt, series_of
from lab.runs.batch.pass_rates import Attempt, BrokenRun, RefusedAttempt, TaskResult, attempt_of, task_result
from lab.runs.batch.run_places import RunPlace
from lab.runs.listing.run_acts import archive_runs
from lab.runs.session import Session
from lab.runs.spec import Spec, agent_of, brief_of, harness_token, is_playbook, phone_of
from store.store import Store

STUCK_AFTER = 60.0
"""Seconds after which a silent phone is taken out, if there are others."""
_POLL = 0.5
"""Seconds between two polls of threads. A join without timeout may miss a Ctrl-C that comes right before it."""
_STOP_SECONDS = 5.0
"""Seconds that stopped runs have to end."""


class BatchWatcher(Protocol):
    """Observer of a batch's progress. Called on any thread."""

    def watch(self, task: str, number: int) -> Callable[[AnyEvent | None], None]:
        """Return the callback for the events of a new attempt."""

    def finish_attempt(self, task: str, attempt: Attempt) -> None:
        """Report a finished attempt."""

    def skip(self, count: int) -> None:
        """Report that `count` attempts are no longer needed."""

    def warn(self, sentence: str) -> None:
        """Report a deviation from what was requested."""


class BatchTerms(NamedTuple):
    """Options of a batch: `attempts` per task, and `jobs` side by side.

    A phone is stuck if it has not answered for `stuck_after` seconds. None means `STUCK_AFTER` with several places, and
    no limit with one.
    """

    agent: str = "playbook"
    attempts: int = 1
    until_pass: bool = False
    jobs: int = 1
    stuck_after: float | None = None


class Batch:
    """All attempts at all tasks and their results, also after an interruption.

    Each worker has an agent of its own, so that none operates two phones at once. With agents that learn, one worker
    makes all attempts at a task in order. `broken` are runs that a phone broke off: each is archived and does not
    count, and its attempt is dealt again. `refused` are attempts that an environment did not begin. If it begins none,
    the batch raises its error. `interrupted` is true after Ctrl-C. `lost` are attempts that were not made because no
    place was left.
    """

    def __init__(
        self, store: Store, specs: Sequence[Spec], terms: BatchTerms, places: Sequence[RunPlace], watcher: BatchWatcher,
        remote: RemoteModel | None = None,
    ) -> None:  # fmt: skip
        """`remote` asks the agents' model elsewhere. Raise `LabError` for an unknown agent, before anything starts."""
        self.store, self.specs, self.terms, self.watcher = store, specs, terms, watcher
        self.interrupted = False
        self.broken: list[BrokenRun] = []
        self.crashes: list[tuple[Exception, str]] = []
        self.lost: list[NumberedAttempt] = []
        self.refused: list[RefusedAttempt] = []
        self.stuck_after = terms.stuck_after or (STUCK_AFTER if len(places) > 1 else None)
        self._remote = remote
        first = self._new_agent()
        self.learns = isinstance(first, SupportsMemory)
        series = series_of([spec.task for spec in specs], terms.attempts, ordered=self.learns or terms.until_pass)
        self.width = max(1, min(terms.jobs, len(places), len(series)))
        """Number of attempts that run side by side."""
        self._queue = AttemptQueue(series)
        self._spare = list(places[self.width :])
        self._at_work = self.width
        """Number of workers with a place."""
        agents = [first, *(self._new_agent() for _ in range(1, self.width))]
        self._agents: list[Agent] = [agent for agent in agents if agent is not None]
        worker_terms = WorkerTerms(terms.until_pass, self.stuck_after)
        # There may be more places than agents. The others are spare.
        self._workers = [
            AttemptWorker(store, specs, self, place, agent, worker_terms)
            for place, agent in zip(places, agents, strict=False)
        ]
        self._lock = threading.RLock()
        self._under_way: dict[NumberedAttempt, Session] = {}
        self._attempts: list[list[Attempt]] = [[] for _ in specs]
        self._begun: set[int] = set()
        self._stopping = self._warned_unread = False
        self._error: Exception | None = None
        self._refusal: LabError | None = None
        """Error of the first refused attempt."""

    def _new_agent(self) -> Agent | None:
        """Return a new agent for a worker, or None for playbooks, which belong to their tasks."""
        return None if is_playbook(self.terms.agent) else agent_of(self.terms.agent, self.store, asker=self._remote)

    def play(self) -> None:
        """Make all attempts. Ctrl-C stops those under way and begins no others."""
        threads = [threading.Thread(target=self._run_worker, args=(worker,), daemon=True) for worker in self._workers]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(_POLL)
        except KeyboardInterrupt:
            self.interrupted = True
            self._stop("interrupted")
        finally:
            self._queue.close()
            for agent in self._agents:
                if isinstance(agent, Closable):
                    agent.close()
        error = self._error or (None if self._begun or self.interrupted else self._refusal)
        if error is not None:
            raise error
        self.lost = [] if self.interrupted else self._queue.remaining()

    @property
    def outliving(self) -> list[str]:
        """Processes of agents' programs that outlive them, in words."""
        return [words for agent in self._agents for words in getattr(agent, "outliving", ())]

    def results(self) -> tuple[TaskResult, ...]:
        """Return the results of all begun tasks in their own order, with the attempts by number."""
        return tuple(
            task_result(spec.task.id, spec.task.kind, sorted(self._attempts[at], key=lambda one: one.attempt))
            for at, spec in enumerate(self.specs)
            if at in self._begun
        )

    # -- what workers do ------------------------------------------------------------------------------------------

    def _run_worker(self, worker: AttemptWorker) -> None:
        """Make one series after the other, until none is left or this worker has no phone."""
        try:
            while (series := self._queue.take()) is not None:
                if not self._finish_series(worker, series):
                    self._queue.put_back(series)
                    return
                self._queue.finish_series()
        except Exception as error:  # noqa: BLE001 - it is raised again where the batch was asked for
            self._error = self._error or error
            self._stop("another run failed")

    def _finish_series(self, worker: AttemptWorker, series: AttemptSeries) -> bool:
        """Make a series to its end, at spare places if its own breaks. Return False if there are no more."""
        while True:
            try:
                worker.run_series(series)
            except PlaceBroken as broken:
                place = self._replace_place(worker.place, broken)
                if place is None:
                    return False
                worker.place = place
            else:
                return True

    def _replace_place(self, place: RunPlace, breakdown: PlaceBroken) -> RunPlace | None:
        """Report a broken place and return a spare one, or None if there is none."""
        with self._lock:
            other = self._spare.pop(0) if self._spare else None
            self._at_work -= other is None
            consequence = "Its attempt waits to be dealt again" if self._at_work else "It was the last one"
        outcome = f"{other.display_name} takes its place" if other is not None else consequence
        why = breakdown.reason if breakdown.reason.endswith((".", "?", "!")) else f"{breakdown.reason}."
        self.watcher.warn(f"{place.display_name} is taken out: {why} {outcome}.")
        return other

    def watch(self, attempt: NumberedAttempt) -> Callable[[AnyEvent | None], None]:
        """Return the callback for the events of an attempt's run."""
        return self.watcher.watch(self.specs[attempt.task].task.id, attempt.number)

    def skip(self, count: int) -> None:
        """Report that `count` attempts are no longer needed."""
        self.watcher.skip(count)

    def begin(self, attempt: NumberedAttempt, session: Session) -> bool:
        """Start an attempt's run. Return False if no more runs may start."""
        with self._lock:
            if self._stopping:
                return False
            self._begun.add(attempt.task)
            session.start()
            self._under_way[attempt] = session
            return True

    def end(self, attempt: NumberedAttempt, session: Session, agent: Agent | None) -> Attempt | None:
        """Store the result of a finished run and let the agent remember it. Return None if that is done already."""
        with self._lock:
            if self._under_way.pop(attempt, None) is None:
                return None
        self._warn_unread(session)
        if session.crash is not None:
            self.crashes.append((session.crash, session.crash_log))
        failure = session.failure or (self._remote.lost if self._remote is not None else None)
        if failure is not None:
            raise failure
        ended_attempt = attempt_of(self.store.runs.trace(session.trace_id))
        with self._lock:
            self._attempts[attempt.task].append(ended_attempt)
        self.watcher.finish_attempt(session.spec.task.id, ended_attempt)
        if isinstance(agent, SupportsMemory) and not self._stopping:
            self._remember(agent, session)
        return ended_attempt

    def break_off(self, attempt: NumberedAttempt, session: Session, place: RunPlace, reason: str) -> None:
        """Archive a run that its phone broke off. It does not count as an attempt."""
        with self._lock:
            if self._under_way.pop(attempt, None) is None:
                return
        archive_runs(self.store, [session.trace_id], session.spec.person)
        task = session.spec.task.id
        with self._lock:
            self.broken.append(BrokenRun(session.trace_id, task, attempt.number, place.display_name, reason))

    def refuse(self, attempt: NumberedAttempt, place: RunPlace, error: LabError) -> None:
        """Count an attempt that its environment does not begin as refused, and report why."""
        task = self.specs[attempt.task].task.id
        with self._lock:
            self._refusal = self._refusal or error
            self.refused.append(RefusedAttempt(task, attempt.number, place.display_name, error.sentence))
        self.watcher.warn(f"{task}: attempt {attempt.number} is not run: {error.sentence}")

    def _remember(self, agent: SupportsMemory, session: Session) -> None:
        """Let an agent with a memory learn the run's end. If that fails, it continues without."""
        spec, trace = session.spec, self.store.runs.trace(session.trace_id)
        try:
            agent.remember(brief_of(spec.task, spec.persona), trace.steps, trace.status)
        except LabError as error:
            self.watcher.warn(f"{spec.task.id}: nothing was remembered: {error.sentence}")

    def _warn_unread(self, session: Session) -> None:
        """Report once what to install for OCR, if a picture needed it."""
        lack = session.words.missing_engine
        with self._lock:
            told_before, self._warned_unread = self._warned_unread, self._warned_unread or lack is not None
        if lack is not None and not told_before:
            self.watcher.warn(lack.sentence)

    def _stop(self, reason: str) -> None:
        """Stop every run under way and store its result. No more runs start."""
        with self._lock:
            self._stopping = True
            under_way = list(self._under_way.items())
        self._queue.close()
        until = time.monotonic() + _STOP_SECONDS
        try:
            for _, session in under_way:
                session.stop(reason)
            for attempt, session in under_way:
                session.join(max(0.0, until - time.monotonic()))
                # Without its agent, which does not remember a stopped run.
                self.end(attempt, session, None)
        except LabError as error:
            self._error = self._error or error


_WAIT_SECONDS = 0.25
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
        while not session.join(None if limit is None else _WAIT_SECONDS):
            if limit is None or session.device.waited < limit:
                continue
            trouble = session.device.trouble
            reason = trouble.sentence if trouble is not None else f"{self.place.display_name}: does not answer."
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
