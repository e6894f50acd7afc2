"""A live run, built from a spec and driven on a thread. Only the session appends and shows its events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import msgspec

from lab.agents.person import PersonAgent
from lab.core.codec import encode
from lab.core.crash_log import write_crash_log
from lab.core.errors import LabError
from lab.core.redaction.password_redaction import without_password_texts
from lab.core.run import episode
from lab.core.run.episode import EpisodeScore, Scorer
from lab.core.run.mailbox import Mailbox
from lab.core.run.run_control import RunControl
from lab.core.run.run_records import Blob
from lab.core.run.step import Action, Decision, Observation, Proposed, Question, Reply
from lab.core.run.trace import (
    PHONE,
    AnyEvent,
    Asked,
    Conditions,
    Ended,
    Flagged,
    Paused,
    Resumed,
    Started,
    Step,
    Trace,
    fold,
)
from lab.core.seams import (
    Agent,
    Closable,
    Device,
    Interruptible,
    Screen,
    SupportsConfigHash,
    SupportsErrorLog,
    SupportsIntroduction,
    SupportsOcr,
    SupportsPictures,
    Trouble,
    User,
    WaitCancelled,
)
from lab.core.task import task_checks
from lab.core.task.task import Actor, Task
from lab.core.text.read_text import ReadText
from lab.core.values.ids_and_clock import monotonic_ms, now, uuid7
from lab.runs.breakpoints import REASON, Breakpoints, BreakpointStop
from lab.runs.device_recovery import RecoveringDevice
from lab.runs.resume import breakpoint_step, interrupted_step, restore_phone
from lab.runs.screen_words import ScreenWords, engine_here
from lab.runs.shadows import Shadows
from lab.runs.spec import PERSON, USER_FORMS, Spec, agent_of, brief_of, check_phone, phone_of, unknown_form
from simulators.users.human import HumanGate, HumanUser
from store.store import Store

_POLL = 0.5
"""Seconds between two polls of the loop. A join without timeout may miss a Ctrl-C that comes right before it."""


class ForkStart(NamedTuple):
    """Start of a fork: its first events, and the overrides of its own first step."""

    events: Sequence[AnyEvent]
    overrides: episode.ForkOverrides = episode.NOTHING


class Session:
    """One live run. A daemon thread iterates the loop, and each event is committed and then shown.

    `on_event` is called after each commit, in order, on the thread that committed. It must not block. If an event
    cannot be written, `failure` is set, `on_event` is called with None, and the run stops. `stopped_at` is the
    breakpoint at which it waits. If nobody is `attended` to continue it, the run is left open there.
    """

    def __init__(
        self,
        store: Store,
        spec: Spec,
        resume: Trace | None = None,
        *,
        agent: Agent | None = None,
        device: Device | None = None,
        beginning: ForkStart | None = None,
        run_id: str = "",
    ) -> None:
        """`agent` and `device` replace those that the spec names. A device given here is not reset.

        An agent given here outlives the run, and one from the spec is closed with it. `beginning` is a fork's. `run_id`
        is a new run's id if it was announced before the run began.
        """
        resume = fold(beginning.events) if beginning else resume
        earlier = list(beginning.events) if beginning else list(store.runs.events(resume.id)) if resume else []
        self.store = store
        self.spec = spec
        self.trace_id = resume.id if resume else run_id or uuid7()
        self.person = Actor("human", spec.person)
        self.control = RunControl(spec.pace)
        self.questions: Mailbox[Question, Reply] = Mailbox()
        self.decisions: Mailbox[Proposed, Decision] = Mailbox()
        self.turns: Mailbox[Screen, Action | Proposed] = Mailbox()
        self.gate = HumanGate(
            self.person,
            self.decisions,
            lambda: self.control.taken_over,
            asking=spec.gate == "ask",
            stops=self._stop_at_breakpoint,
        )
        self.words = ScreenWords(self.picture)
        self.breakpoints = Breakpoints(spec.breaks, packages(), self.words.tree)
        self.stopped_at: BreakpointStop | None = None
        self.attended = True
        self.read_ms: int | None = None
        """Milliseconds for which the person read their part before the run. None if they were not given that time."""
        self.begins_paused = ""
        """Reason for a pause from the first moment on. Empty if the phone may act at once."""
        self.on_event: Callable[[AnyEvent | None], None] = lambda event: None
        self.failure: LabError | None = None
        self.crash: Exception | None = None
        """The exception that ended the run, if it was not a `LabError`. Its traceback is in the crash log."""
        self.crash_log = ""
        self.over = False
        self.spent = max((event.ms or 0.0 for event in earlier), default=0.0)
        """Milliseconds of this run in earlier sittings, up to its last event."""
        self._began_ms = monotonic_ms()
        self._lock = threading.RLock()
        self._blobs: dict[str, Blob] = {}
        self._seq = resume.last if resume else -1
        self._resume = resume
        self._overrides = beginning.overrides if beginning else None
        self._passed_step = breakpoint_step(earlier)
        self._one_turn = False
        self.person_agent = PersonAgent(self.person, self.turns, self.control.stop)
        self._connect_agent(agent)
        self._status = ""
        self.user = user_of(spec, self.person, self.questions)
        self.shadows = Shadows(store, self.trace_id, spec.shadows if store.kit() is None else ())
        """Models that are asked the same as the user.

        None for a kit, which must not contain what its rater may not see.
        """
        self._begun = self._waits_for_phone = self._is_paused = False
        # Postures that were reported before the run began, to record at its start.
        self._postures: list[tuple[str, str]] = []
        self.first = self._begin_phone(device, resume)
        self._scorer = scorer_of(spec.task, self.device, self.first)
        self._thread = threading.Thread(target=self._drive, name=f"run {self.trace_id[:8]}", daemon=True)

    def _connect_agent(self, lent: Agent | None) -> None:
        """Take the lent or the spec's agent, give it what it can use of this run, and let it introduce itself."""
        spec = self.spec
        self.agent = lent or (
            self.person_agent if spec.agent == PERSON else agent_of(spec.agent, self.store, spec.task)
        )
        self._agent_lent = lent is not None
        if isinstance(self.agent, Interruptible):
            self.agent.stop = self.control.stop
        if isinstance(self.agent, SupportsPictures):
            self.agent.keep = self._hold_blob
        if isinstance(self.agent, SupportsOcr):
            self.agent.read = self.words.read if spec.reads else _read_nothing
        if isinstance(self.agent, SupportsIntroduction):
            self.agent.introduce()

    def _begin_phone(self, lent: Device | None, resume: Trace | None) -> dict[str, Any] | None:
        """Wrap the lent or the spec's device and return its first state. On failure close what is not lent."""
        self.device = RecoveringDevice(
            lent or phone_of(self.spec), self.control.stop, self._on_trouble, self._record_posture
        )
        phone = self.device.device
        try:
            return restore_phone(self.store, phone, resume) if resume else phone.snapshot()
        except BaseException:
            if lent is None:
                self.device.close()
            self._close_agent()
            raise

    @property
    def agent_actor(self) -> Actor:
        """The agent, under the name given for it."""
        return self.spec.name_agent(self.agent.actor)

    @property
    def left_in_takeover(self) -> bool:
        """True if a resumed run was left during a take-over."""
        steps = self._resume.steps if self._resume and self._overrides is None else ()
        return bool(steps) and steps[-1].proposed.by is not None and self.agent is not self.person_agent

    # -- running ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start or resume the run on its own thread. Started or Resumed is durable on return."""
        self._began_ms = monotonic_ms()
        try:
            if self._resume is None:
                self.append(self._start_event())
            elif self._overrides is None or self._resume.paused:
                self.append(Resumed(by=self.person))
            if self._resume is not None and self._overrides is None and self.agent_actor != self._resume.agent:
                self.append(Resumed(by=self.agent_actor))  # who goes on; a recording's words are then found by its name
            if self.begins_paused:
                self.pause(self.begins_paused)
        except LabError:
            self._release()
            raise
        with self._lock:
            self._begun = True
            for posture in self._postures:
                self._record_posture(*posture)
            self._on_trouble(self.device.trouble)
        self._thread.start()

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end of the loop. Return True if it has ended."""
        if timeout is None:
            while self._thread.is_alive():
                self._thread.join(_POLL)
        else:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def append(self, event: AnyEvent) -> None:
        """Commit one event with the blobs it refers to, then show it. Nothing follows the end."""
        with self._lock:
            if self.over:
                return
            if isinstance(event, Ended) and isinstance(self.agent, SupportsErrorLog):
                event = msgspec.structs.replace(event, stderr=self.agent.take_errors())
            event = msgspec.structs.replace(
                event, seq=self._seq + 1, at=now(), ms=self.spent + monotonic_ms() - self._began_ms
            )
            try:
                self.store.runs.append_event(self.trace_id, event, self._blobs)
            except LabError as error:
                self._fail(error)
                raise
            self._seq += 1
            self._blobs = {}
            self._status = event.status if isinstance(event, Ended) else ""
            self.over = isinstance(event, Ended)
            self._is_paused = isinstance(event, Paused) or (self._is_paused and not isinstance(event, Resumed))
            self.on_event(event)
            if isinstance(event, Asked):
                self.shadows.ask(event.index)
            if isinstance(event, Step) and self._one_turn:
                self._one_turn = False
                self.control.pause()  # a turn that asked nobody to act has not used up what was allowed
                self.append(Paused(by=self.person, reason="one turn"))

    def _drive(self) -> None:
        try:
            parties = episode.Parties(self.agent, self.user, self.gate, self.device, self.person_agent)
            unfinished = self._pending_turn()
            history = list(self._resume.steps) if self._resume else []
            brief = brief_of(self.spec.task, self.spec.persona)
            limit = self.spec.step_limit
            scorer, crashed = self._scorer, self._record_crash
            for event in episode.run(brief, parties, self.control, self, scorer, history, unfinished, limit, crashed):
                if self.over:
                    return
                self.append(event)
        except WaitCancelled:
            return  # it was left, or ended, while it waited for the phone
        except LabError as error:
            if not self.over:  # else it is kept in `failure` by append
                self._fail(error)
        finally:
            if self.over or self.control.stop.is_set():
                self._release()

    def _record_crash(self, error: Exception) -> None:
        self.crash, self.crash_log = error, write_crash_log(error)

    def _release(self) -> None:
        """Release the phone, and the agent if it is the run's own."""
        self.device.close()
        self.words.close()
        self._close_agent()

    def _close_agent(self) -> None:
        if isinstance(self.agent, Closable) and not self._agent_lent:
            self.agent.close(self._status)

    def _on_trouble(self, trouble: Trouble | None) -> None:
        """Pause the run while the phone is unavailable, and resume it afterwards. Called on any thread."""
        with self._lock, suppress(LabError):  # kept in `failure` by append
            if not self._begun or self.over or (trouble is None and not self._waits_for_phone):
                return
            self._waits_for_phone = trouble is not None
            if trouble is not None:
                self.append(Paused(by=PHONE, reason=trouble.sentence, state=trouble.state))
            elif not self.control.paused:
                self.append(Resumed(by=PHONE))

    def _record_posture(self, state: str, sentence: str) -> None:
        """Record the phone's posture without pausing or resuming the run. Called on any thread."""
        with self._lock, suppress(LabError):  # kept in `failure` by append
            if not self._begun:
                self._postures.append((state, sentence))
            elif not self.over:
                event = Paused if self._is_paused else Resumed
                self.append(event(by=PHONE, reason=sentence, state=state))

    def _fail(self, error: LabError) -> None:
        self.failure = error
        self.over = True
        self.control.stop_run()
        self.on_event(None)

    # -- what people at the run do ---------------------------------------------------------------------------

    def pause(self, reason: str = "") -> None:
        """Pause the phone. The event is committed at once, also while a question is open."""
        self.control.pause()
        self.append(Paused(by=self.person, reason=reason))

    def resume_run(self) -> None:
        """Resume the phone, also after a single turn. An action that waits at a breakpoint is approved."""
        self._check_phone()
        with self._lock:
            stop, self.stopped_at = self.stopped_at, None
            self._one_turn = False
            self._resume_phone()
        if stop is not None:
            self.gate.approve(stop.proposed)

    def _resume_phone(self) -> None:
        self.append(Resumed(by=self.person))
        self.control.resume()

    def one_turn(self) -> None:
        """Let one turn pass (at a breakpoint the waiting one), then pause again."""
        self._check_phone()
        with self._lock:
            stop, self.stopped_at = self.stopped_at, None
            self.append(Resumed(by=self.person))
            self._one_turn = True
        self.control.one_turn()
        if stop is not None:
            self.gate.approve(stop.proposed)

    def _check_phone(self) -> None:
        trouble = self.device.trouble
        if trouble is not None:
            raise LabError(trouble.title, trouble.message, "The run goes on by itself when the phone is well.")

    @contextmanager
    def _stop_at_breakpoint(self, proposed: Proposed, screen: Screen, history: Sequence[Step]) -> Iterator[bool]:
        """Yield True and pause if a breakpoint matches. Resume after the person's decision."""
        met = self.breakpoints.find_match(proposed, screen, history) if len(history) != self._passed_step else None
        if met is None:
            yield False
            return
        stop = BreakpointStop(len(history), met, proposed, self.breakpoints.matches_by_ocr(met, screen))
        with self._lock:
            self.stopped_at = stop
            self.control.pause()
            self.append(Paused(by=self.person, reason=REASON + stop.words))
            # Nobody can continue it, so the run is left open here.
            self.over = self.over or not self.attended
        if self.over:
            self.control.stop_run()
            raise WaitCancelled
        yield True
        with self._lock:
            if self.stopped_at is stop and not self.over:
                self._check_phone()
                self.stopped_at = None
                self._resume_phone()

    def take_over(self, by_person: bool) -> None:
        """Let the person act in the agent's place, or return it to the agent."""
        self.control.take_over(by_person)
        # Release the thread that waits in the other's place: for the person's turn, or for the gate's decision.
        self.turns.withdraw() if not by_person else self.decisions.withdraw()

    def flag(self, index: int, on: bool = True) -> None:
        """Flag step `index` (from 0) as a slip, or remove the flag. The event is committed at once."""
        self.append(Flagged(index=index, by=self.person, on=on))

    def stop(self, reason: str = "") -> None:
        """End the run as stopped, whatever agent or person is doing."""
        # Before the halt, at which the loop would record an end without the reason.
        self.append(Ended(status="stopped", reason=reason or f"ended by {self.person.id}"))
        self.control.stop_run()

    def give_up(self, reason: str) -> bool:
        """End the run as failed, whatever it waits for. Return False if it was already over."""
        with self._lock:
            if self.over:
                return False
            # Before the halt, at which the loop would record another end.
            self.append(Ended(status="failed", reason=reason))
        self.control.stop_run()
        return True

    def leave(self) -> None:
        """Leave a run open for a later resume, without waiting for blocked threads.

        A run not yet begun leaves nothing.
        """
        with self._lock:
            if not self.over and self._seq >= 0:
                self.append(Paused(by=self.person, reason="left"))
            self.over = True
            has_begun = self._begun
        if not has_begun:
            self._release()
        self.control.stop_run()

    def save_draft(self, question: Question, text: str) -> None:
        """Store what a person has typed and not sent."""
        self.store.runs.save_draft(self.trace_id, question.id, text)

    def draft(self, question: Question) -> str:
        """Return the stored draft: what was typed before and not sent."""
        return self.store.runs.draft(self.trace_id, question.id)

    def question_times(self, question: Question) -> tuple[str, str] | None:
        """Return when an earlier sitting showed a question and when typing began (UTC).

        None the first time, which an empty draft records.
        """
        times = self.store.runs.draft_times(self.trace_id, question.id)
        if times is None:
            self.save_draft(question, "")
        return times

    # -- what the loop needs (episode.BlobKeeper) ------------------------------------------------------------------

    def screen(self, screen: Screen) -> Observation:
        """Hold a screenshot's bytes for the next commit, and return the observation."""
        return Observation(
            self._hold_blob(Blob(screen.png, "image/png")),
            screen.size,
            without_password_texts(screen.tree),
            screen.activity,
            screen.at,
            screen.tree_missing,
        )

    def state(self, state: dict[str, Any] | None) -> str | None:
        """Hold the phone's state for the next commit, and return its sha256."""
        return None if state is None else self._hold_blob(Blob(encode(state), "application/json"))

    def picture(self, sha256: str) -> bytes | None:
        """Return the bytes of a picture of this run, committed or about to be."""
        blob = self._blobs.get(sha256) or self.store.runs.blob(sha256)
        return blob.data if blob else None

    def _hold_blob(self, blob: Blob) -> str:
        sha = blob.sha256
        with self._lock:
            self._blobs[sha] = blob
        return sha

    # -- building --------------------------------------------------------------------------------------------

    def _start_event(self) -> Started:
        spec = self.spec
        return Started(
            trace=self.trace_id,
            task=spec.task,
            agent=self.agent_actor,
            persona=spec.persona,
            user=self.user.actor,
            device=self.device.info,
            conditions=Conditions(
                seat=spec.seat,
                mirror=spec.mirror,
                log=spec.persona.log_source if spec.persona else "none",
                seed=spec.seed,
                gate=spec.gate,
                vary=spec.vary,
                quick=spec.quick,
                user_sha=self.user_sha,
                read_ms=self.read_ms,
                reads=self.reads,
                user_screens=spec.user_screens,
                shadows=spec.shadows,
                step_limit=spec.step_limit,
            ),
            attempt=spec.attempt,
            state=self.state(self.first),
        )

    @property
    def user_sha(self) -> str:
        """Hash of the prompt and parameters of a model as the user. Empty for other users."""
        return self.user.config_sha if isinstance(self.user, SupportsConfigHash) else ""

    @property
    def reads(self) -> str:
        """Engine that reads words for the agent. Empty if none does, or if the agent does not use it."""
        return engine_here() if self.spec.reads and isinstance(self.agent, SupportsOcr) else ""

    def _pending_turn(self) -> episode.PendingTurn | None:
        """Return the turn under way in an interrupted run.

        An action that may not have happened is first closed as a step.
        """
        trace = self._resume
        if trace is None:
            return None
        if trace.acting is not None:
            step = interrupted_step(trace.acting, self.state(self.device.snapshot()))
            self.append(step)
            self._resume = msgspec.structs.replace(trace, steps=(*trace.steps, step), acting=None)
        if trace.asked is not None and trace.answered is None:
            self.shadows.ask(trace.asked.index)
        return episode.PendingTurn(trace.asked, trace.answered, self._overrides or episode.NOTHING)


def _read_nothing(screen: Screen) -> ReadText | None:
    """Return nothing, for an agent without OCR."""
    return None


def packages() -> dict[str, str]:
    """Return the embedded phone's packages by app name."""
    from simulators.phone.installed import APPS

    return {app.label.casefold(): app.package for app in APPS.values()}


def user_of(spec: Spec, person: Actor, questions: Mailbox[Question, Reply]) -> User:
    """Return the user that a spec names. Raise `LabError` if the name is invalid."""
    kind, _, file = spec.user.partition(":")
    if kind == "human" and not file:
        return HumanUser(person, questions)
    if kind == "script":
        from simulators.library import script, scripts
        from simulators.task_variation import world
        from simulators.users.scripted import Script, Scripted, Unscripted

        if spec.environment and not file:
            return Scripted(Script("unprepared"))  # an environment's tasks come without a script of ours
        if file in ("", spec.task.id) and spec.task.id not in scripts():
            return Unscripted(spec.task.id)
        return Scripted(world(spec.vary).script(script(file or spec.task.id)))
    if kind == "model" and file:
        from lab.core.settings import load
        from simulators.users.model import SEEING_SHOWS, USER_SHOWS, model_user

        shows = SEEING_SHOWS if spec.user_screens else USER_SHOWS
        return model_user(file, load(), spec.task, spec.persona, shows)
    raise LabError("user", unknown_form(spec.user, USER_FORMS), code=2)


def check_spec(store: Store | None, spec: Spec) -> None:
    """Raise `LabError` if a run cannot be made from this spec: invalid agent or user, or a harness without a phone.

    Nothing is started, and the phone is only checked when the run is built. `store` is None if the run's file does not
    exist yet.
    """
    check_phone(spec)
    user_of(spec, Actor("human", spec.person), Mailbox())
    if spec.agent != PERSON:
        agent = agent_of(spec.agent, store, spec.task)
        if isinstance(agent, Closable):
            agent.close("")


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
