"""A run batch: attempts at tasks, side by side at several places, dealt again where a phone breaks one off."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from lab.core.errors import LabError
from lab.core.seams import Agent, Closable, Remembering
from lab.core.trace import AnyEvent
from lab.llm.remote_model import RemoteModel
from lab.runs.attempt_queue import AttemptQueue, AttemptSeries, NumberedAttempt, series_of
from lab.runs.attempt_worker import AttemptWorker, PlaceBroken, WorkerTerms
from lab.runs.pass_rates import Attempt, BrokenRun, RefusedAttempt, TaskResult, attempt_of, task_result
from lab.runs.run_acts import archive_runs
from lab.runs.run_places import RunPlace
from lab.runs.session import Session
from lab.runs.spec import Spec, agent_of, brief_of, is_playbook
from store.store import Store

STUCK_AFTER = 60.0
"""Seconds after which a phone that does not answer is taken out, where there are others."""
_LOOK = 0.5
"""Seconds between two looks at threads: a wait without an end may not hear a Ctrl-C that comes right before it."""
_PATIENCE = 5.0
"""Seconds in which runs that are stopped have to end."""


class BatchWatcher(Protocol):
    """Who is told how a batch goes on; on any thread."""

    def watch(self, task: str, number: int) -> Callable[[AnyEvent | None], None]:
        """What is given each event of an attempt that begins now."""

    def done(self, task: str, attempt: Attempt) -> None:
        """An attempt is over."""

    def skip(self, count: int) -> None:
        """So many attempts are not needed any more."""

    def warn(self, sentence: str) -> None:
        """Something went otherwise than was asked."""


class BatchTerms(NamedTuple):
    """How a batch is made: `attempts` per task, `jobs` of all side by side.

    A phone is stuck that has not answered for `stuck_after` seconds; None is `STUCK_AFTER` where there are several
    places, and waiting for as long as it takes where there is one.
    """

    agent: str = "playbook"
    attempts: int = 1
    until_pass: bool = False
    jobs: int = 1
    stuck_after: float | None = None


class Batch:
    """All attempts at all tasks, and what came of them, also where it is interrupted.

    Each worker has an agent of its own, so that none works two phones at once. Where agents learn, all attempts at a
    task are made by one of them, in order. `broken` are runs that a phone broke off: each is archived in the file and
    counts as no attempt, and its attempt is dealt again. `refused` are attempts that an environment did not begin, and
    an error ends the batch where it begins none. `interrupted` is whether Ctrl-C ended it, `lost` what was not made
    because no place was left.
    """

    def __init__(
        self, store: Store, specs: Sequence[Spec], terms: BatchTerms, places: Sequence[RunPlace], watcher: BatchWatcher,
        remote: RemoteModel | None = None,
    ) -> None:  # fmt: skip
        """`remote` asks the agents' model elsewhere. A `LabError` where there is no such agent; nothing has begun."""
        self.store, self.specs, self.terms, self.watcher = store, specs, terms, watcher
        self.interrupted = False
        self.broken: list[BrokenRun] = []
        self.crashes: list[tuple[Exception, str]] = []
        self.lost: list[NumberedAttempt] = []
        self.refused: list[RefusedAttempt] = []
        self.stuck_after = terms.stuck_after or (STUCK_AFTER if len(places) > 1 else None)
        self._remote = remote
        first = self._agent()
        self.learns = isinstance(first, Remembering)
        series = series_of([spec.task for spec in specs], terms.attempts, ordered=self.learns or terms.until_pass)
        self.width = max(1, min(terms.jobs, len(places), len(series)))
        """How many attempts are made side by side."""
        self._queue = AttemptQueue(series)
        self._spare = list(places[self.width :])
        self._at_work = self.width
        """Workers that have a place."""
        agents = [first, *(self._agent() for _ in range(1, self.width))]
        self._agents: list[Agent] = [agent for agent in agents if agent is not None]
        how = WorkerTerms(terms.until_pass, self.stuck_after)
        self._workers = [
            AttemptWorker(store, specs, self, place, agent, how) for place, agent in zip(places, agents, strict=False)
        ]
        self._lock = threading.RLock()
        self._under_way: dict[NumberedAttempt, Session] = {}
        self._attempts: list[list[Attempt]] = [[] for _ in specs]
        self._begun: set[int] = set()
        self._stopping = self._told_unread = False
        self._error: Exception | None = None
        self._refusal: LabError | None = None
        """Why the first of those that are refused was."""

    def _agent(self) -> Agent | None:
        """An agent of a worker's own; None for playbooks, which are their tasks'."""
        return None if is_playbook(self.terms.agent) else agent_of(self.terms.agent, self.store, asker=self._remote)

    def play(self) -> None:
        """Makes all attempts; Ctrl-C ends those under way as stopped, and begins no other."""
        threads = [threading.Thread(target=self._work, args=(worker,), daemon=True) for worker in self._workers]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(_LOOK)
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
        self.lost = [] if self.interrupted else self._queue.left()

    @property
    def outliving(self) -> list[str]:
        """Processes of agents' programs that go on though these are ended, in words."""
        return [words for agent in self._agents for words in getattr(agent, "outliving", ())]

    def results(self) -> tuple[TaskResult, ...]:
        """What came of the tasks that were begun, in their own order, each one's attempts by their numbers."""
        return tuple(
            task_result(spec.task.id, spec.task.kind, sorted(self._attempts[at], key=lambda one: one.attempt))
            for at, spec in enumerate(self.specs)
            if at in self._begun
        )

    # -- what workers do ------------------------------------------------------------------------------------------

    def _work(self, worker: AttemptWorker) -> None:
        """Makes one series after the other, until none is left, or no phone for this worker."""
        try:
            while (series := self._queue.take()) is not None:
                if not self._whole(worker, series):
                    self._queue.put_back(series)
                    return
                self._queue.done()
        except Exception as error:  # noqa: BLE001 - it is raised again where the batch was asked for
            self._error = self._error or error
            self._stop("another run failed")

    def _whole(self, worker: AttemptWorker, series: AttemptSeries) -> bool:
        """Makes a series to its end, at spare places where its own breaks; False where there is none."""
        while True:
            try:
                worker.make(series)
            except PlaceBroken as broken:
                place = self._other_place(worker.place, broken)
                if place is None:
                    return False
                worker.place = place
            else:
                return True

    def _other_place(self, place: RunPlace, breakdown: PlaceBroken) -> RunPlace | None:
        """A spare one in place of one that is taken out, which is told; None where there is none."""
        with self._lock:
            other = self._spare.pop(0) if self._spare else None
            self._at_work -= other is None
            alone = "Its attempt waits to be dealt again" if self._at_work else "It was the last one"
        then = f"{other.shown} takes its place" if other is not None else alone
        why = breakdown.reason if breakdown.reason.endswith((".", "?", "!")) else f"{breakdown.reason}."
        self.watcher.warn(f"{place.shown} is taken out: {why} {then}.")
        return other

    def watch(self, attempt: NumberedAttempt) -> Callable[[AnyEvent | None], None]:
        """What is given each event of an attempt's run."""
        return self.watcher.watch(self.specs[attempt.task].task.id, attempt.number)

    def skip(self, count: int) -> None:
        """So many attempts are not needed any more."""
        self.watcher.skip(count)

    def begin(self, attempt: NumberedAttempt, session: Session) -> bool:
        """Starts an attempt's run; False where nothing is begun any more."""
        with self._lock:
            if self._stopping:
                return False
            self._begun.add(attempt.task)
            session.start()
            self._under_way[attempt] = session
            return True

    def end(self, attempt: NumberedAttempt, session: Session, agent: Agent | None) -> Attempt | None:
        """Keeps what came of a run that is over, and has the agent remember it; None where that is done already."""
        with self._lock:
            if self._under_way.pop(attempt, None) is None:
                return None
        self._tell_unread(session)
        if session.crash is not None:
            self.crashes.append((session.crash, session.crash_log))
        failure = session.failure or (self._remote.lost if self._remote is not None else None)
        if failure is not None:
            raise failure
        ended_attempt = attempt_of(self.store.runs.trace(session.trace_id))
        with self._lock:
            self._attempts[attempt.task].append(ended_attempt)
        self.watcher.done(session.spec.task.id, ended_attempt)
        if isinstance(agent, Remembering) and not self._stopping:
            self._remember(agent, session)
        return ended_attempt

    def break_off(self, attempt: NumberedAttempt, session: Session, place: RunPlace, reason: str) -> None:
        """Archives a run that its phone broke off: it counts as no attempt."""
        with self._lock:
            if self._under_way.pop(attempt, None) is None:
                return
        archive_runs(self.store, [session.trace_id], session.spec.person)
        task = session.spec.task.id
        with self._lock:
            self.broken.append(BrokenRun(session.trace_id, task, attempt.number, place.shown, reason))

    def refuse(self, attempt: NumberedAttempt, place: RunPlace, error: LabError) -> None:
        """Counts an attempt that its environment does not begin as not run, and tells why."""
        task = self.specs[attempt.task].task.id
        with self._lock:
            self._refusal = self._refusal or error
            self.refused.append(RefusedAttempt(task, attempt.number, place.shown, error.sentence))
        self.watcher.warn(f"{task}: attempt {attempt.number} is not run: {error.sentence}")

    def _remember(self, agent: Remembering, session: Session) -> None:
        """An agent with a memory is told how the run ended; one that fails at remembering goes on without."""
        spec, trace = session.spec, self.store.runs.trace(session.trace_id)
        try:
            agent.remember(brief_of(spec.task, spec.persona), trace.steps, trace.status)
        except LabError as error:
            self.watcher.warn(f"{spec.task.id}: nothing was remembered: {error.sentence}")

    def _tell_unread(self, session: Session) -> None:
        """Says once what is to be installed so that words are read, where a picture asked for it."""
        lack = session.words.lack
        with self._lock:
            told_before, self._told_unread = self._told_unread, self._told_unread or lack is not None
        if lack is not None and not told_before:
            self.watcher.warn(lack.sentence)

    def _stop(self, reason: str) -> None:
        """Ends every run that is under way as stopped, and keeps it; nothing is begun after it."""
        with self._lock:
            self._stopping = True
            under_way = list(self._under_way.items())
        self._queue.close()
        until = time.monotonic() + _PATIENCE
        try:
            for _, session in under_way:
                session.stop(reason)
            for attempt, session in under_way:
                session.join(max(0.0, until - time.monotonic()))
                self.end(attempt, session, None)
        except LabError as error:
            self._error = self._error or error
