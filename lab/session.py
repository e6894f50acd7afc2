"""Builds a run from a spec and drives it; the only one that appends a run's events, and shows each after its commit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from lab import checks, episode
from lab.agents.person import PersonAgent
from lab.control import Control
from lab.errors import LabError
from lab.mailbox import Mailbox
from lab.seams import Agent, Brief, Device, Screen, User
from lab.stamp import monotonic_ms, now, uuid7
from lab.task import Actor, Persona, Task
from lab.trace import (
    Acting,
    Action,
    AnyEvent,
    Blob,
    Conditions,
    Decision,
    Ended,
    Observation,
    Paused,
    Proposed,
    Question,
    Reply,
    Resumed,
    Started,
    Step,
    Trace,
)
from lab.wire import decode, encode
from simulators.human import HumanGate, HumanUser
from store.store import Store


class Spec(NamedTuple):
    """What a run is made of. `agent` is `rule` or `recorded:ID`; `user` is `human`, `script` or `script:FILE`."""

    task: Task
    persona: Persona | None = None
    agent: str = "rule"
    user: str = "human"
    person: str = "P01"
    seat: Literal["participant", "rater", "designer", "developer"] = "developer"
    mirror: bool = True
    gate: Literal["pass", "ask"] = "pass"
    seed: int = 0
    pace: float = 0.0
    attempt: int = 1


def brief_of(task: Task, persona: Persona | None) -> Brief:
    """All that an agent may know of a task: the exposed log for personalized and proactive ones, no facts ever."""
    log: tuple[str, ...] = ()
    if persona is not None and task.kind != "general":
        log = tuple(entry.exposed for entry in persona.log)
    return Brief(task.kind, task.instruction, log, task.time, task.place, task.budget)


class Session:
    """One live run: a daemon thread iterates the loop, each event is committed and then shown.

    `on_event` is called after each commit, in order, on the thread that committed; it must not block.
    `failure` is set, and `on_event` called with None, when an event could not be written: the run stops there.
    """

    def __init__(
        self,
        store: Store,
        spec: Spec,
        resume: Trace | None = None,
        *,
        agent: Agent | None = None,
        device: Device | None = None,
    ) -> None:
        """`agent` and `device` stand in for what the spec names; a device given here is not laid out anew."""
        self.store = store
        self.spec = spec
        self.trace_id = resume.id if resume else uuid7()
        self.person = Actor("human", spec.person)
        self.control = Control(spec.pace)
        self.questions: Mailbox[Question, Reply] = Mailbox()
        self.decisions: Mailbox[Proposed, Decision] = Mailbox()
        self.turns: Mailbox[Screen, Action] = Mailbox()
        self.gate = HumanGate(self.person, self.decisions, lambda: self.control.taken_over, asking=spec.gate == "ask")
        self.on_event: Callable[[AnyEvent | None], None] = lambda event: None
        self.failure: LabError | None = None
        self.over = False
        self.spent = max((event.ms or 0.0 for event in store.events(resume.id)), default=0.0) if resume else 0.0
        """Milliseconds for which this run went on in earlier sittings, as far as its last event tells."""
        self._began = monotonic_ms()
        self._lock = threading.RLock()
        self._blobs: dict[str, Blob] = {}
        self._seq = resume.last if resume else -1
        self._resume = resume
        self._one_turn = False
        self.agent = agent or _agent(spec.agent, store)
        self.user = self._user()
        self.device = device or _phone(spec)
        self.first = self._first_state()
        self._thread = threading.Thread(target=self._drive, name=f"run {self.trace_id[:8]}", daemon=True)

    # -- running ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begins (or goes on with) the run on a thread of its own; Started or Resumed is durable on return."""
        self._began = monotonic_ms()
        if self._resume is None:
            self.append(self._started())
        else:
            self.append(Resumed(by=self.person))
        self._thread.start()

    def join(self, timeout: float | None = None) -> bool:
        """Waits until the loop is over; True when it is."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def append(self, event: AnyEvent) -> None:
        """Makes one event durable, with the bytes it refers to, and then shows it; nothing follows the end."""
        with self._lock:
            if self.over:
                return
            event = msgspec.structs.replace(
                event, seq=self._seq + 1, at=now(), ms=self.spent + monotonic_ms() - self._began
            )
            try:
                self.store.append_event(self.trace_id, event, self._blobs)
            except LabError as error:
                self._fail(error)
                raise
            self._seq += 1
            self._blobs = {}
            self.over = isinstance(event, Ended)
            self.on_event(event)
            if isinstance(event, Step) and self._one_turn:
                self._one_turn = False
                self.append(Paused(by=self.person, reason="one turn"))

    def _drive(self) -> None:
        try:
            seats = episode.Seats(
                self.agent, self.user, self.gate, self.device, PersonAgent(self.person, self.turns, self.control.stop)
            )
            unfinished = self._cut_off()
            history = list(self._resume.steps) if self._resume else []
            brief = brief_of(self.spec.task, self.spec.persona)
            for event in episode.run(brief, seats, self.control, self, self._judge, history, unfinished):
                if self.over:
                    return
                self.append(event)
        except LabError:
            return  # kept in `failure` by append
        finally:
            if self.over or self.control.stop.is_set():
                self.device.close()

    def _fail(self, error: LabError) -> None:
        self.failure = error
        self.over = True
        self.control.halt()
        self.on_event(None)

    # -- what people at the run do ---------------------------------------------------------------------------

    def pause(self, reason: str = "") -> None:
        """The phone stands still; recorded at once, also while a question is open."""
        self.control.pause()
        self.append(Paused(by=self.person, reason=reason))

    def go_on(self) -> None:
        """The phone moves again."""
        self.append(Resumed(by=self.person))
        self.control.resume()

    def one_turn(self) -> None:
        """One turn passes, then the phone stands still again."""
        with self._lock:
            self.append(Resumed(by=self.person))
            self._one_turn = True
        self.control.one_turn()

    def take_over(self, taken: bool) -> None:
        """The person acts in the agent's place, or gives it back."""
        self.control.take_over(taken)
        self.turns.withdraw() if not taken else self.decisions.withdraw()

    def stop(self, reason: str = "") -> None:
        """Ends the run as an event, now, whatever agent or person is doing."""
        self.control.halt()
        self.append(Ended(status="stopped", reason=reason or f"ended by {self.person.id}"))

    def leave(self) -> None:
        """Leaves a run open, to be resumed later; never waits for whoever is blocked."""
        with self._lock:
            if not self.over:
                self.append(Paused(by=self.person, reason="left"))
            self.over = True
        self.control.halt()

    def save_draft(self, question: Question, text: str) -> None:
        """Keeps what a person has typed and not sent."""
        self.store.save_draft(self.trace_id, question.id, text)

    def draft(self, question: Question) -> str:
        """What was typed before and not sent."""
        return self.store.draft(self.trace_id, question.id)

    # -- what the loop needs (episode.Keep) ------------------------------------------------------------------

    def screen(self, screen: Screen) -> Observation:
        """Keeps a screenshot's bytes for the next commit."""
        return Observation(
            self._keep(Blob(screen.png, "image/png")), screen.size, screen.tree, screen.activity, screen.at
        )

    def state(self, state: dict[str, Any] | None) -> str | None:
        """Keeps the phone's state for the next commit."""
        return None if state is None else self._keep(Blob(encode(state), "application/json"))

    def _keep(self, blob: Blob) -> str:
        sha = blob.sha256
        with self._lock:
            self._blobs[sha] = blob
        return sha

    def _judge(self, state: dict[str, Any] | None, steps: Sequence[Step]) -> episode.Verdict:
        if state is None or self.first is None:
            return episode.Verdict(reason="this phone's state cannot be checked")
        scored = checks.score(self.spec.task, self.first, state, steps)
        return episode.Verdict(scored.score, scored.checks, scored.reason)

    # -- building --------------------------------------------------------------------------------------------

    def _started(self) -> Started:
        spec = self.spec
        return Started(
            trace=self.trace_id,
            task=spec.task,
            agent=self.agent.actor,
            persona=spec.persona,
            user=self.user.actor,
            device=self.device.info,
            conditions=Conditions(
                seat=spec.seat,
                mirror=spec.mirror,
                log=spec.persona.log_source if spec.persona else "none",
                seed=spec.seed,
                gate=spec.gate,
            ),
            attempt=spec.attempt,
            state=self.state(self.first),
        )

    def _user(self) -> User:
        kind, _, file = self.spec.user.partition(":")
        if kind == "human" and not file:
            return HumanUser(self.person, self.questions)
        if kind == "script":
            from simulators.library import script
            from simulators.scripted import Scripted

            return Scripted(script(file or self.spec.task.id))
        raise LabError("user", f"{self.spec.user!r} is none of human, script, script:FILE", code=2)

    def _first_state(self) -> dict[str, Any] | None:
        if self._resume is None:
            return self.device.snapshot()
        first = self._load_state(self._resume.state)
        last = next((step.state for step in reversed(self._resume.steps) if step.state), self._resume.state)
        state = self._load_state(last)
        if state is not None:
            self.device.restore(state)
        return first

    def _load_state(self, sha: str | None) -> dict[str, Any] | None:
        if sha is None:
            return None
        blob = self.store.blob(sha)
        if blob is None:
            raise LabError(f"run {self.trace_id}", "its phone's state is not in this file", "Was it packed without?")
        state: dict[str, Any] = decode(blob.data, dict[str, Any], f"state {sha[:8]}")
        return state

    def _cut_off(self) -> episode.Unfinished | None:
        """What a run cut off in mid-turn leaves: an act that may not have happened is closed as a step without one."""
        trace = self._resume
        if trace is None:
            return None
        if trace.acting is not None:
            self._close_act(trace.acting)
        return episode.Unfinished(trace.asked, trace.answered)

    def _close_act(self, acting: Acting) -> None:
        assert self._resume is not None
        step = Step(
            index=acting.index,
            proposed=Proposed(acting.action),
            error="the run was cut off while acting; the phone was put back to before the act",
            state=self.state(self.device.snapshot()),
            started=acting.at,
            ended=now(),
        )
        self.append(step)
        self._resume = msgspec.structs.replace(self._resume, steps=(*self._resume.steps, step), acting=None)


def resume_spec(trace: Trace, **changes: Any) -> Spec:
    """The spec that a stored run was made from, with what a person now asks for laid over it."""
    if trace.ended is not None:
        raise LabError(f"run {trace.id}", f"has ended ({trace.ended.status}); only an open run can be resumed")
    if trace.source is not None or trace.state is None:
        raise LabError(f"run {trace.id}", "was not made on the embedded phone; it cannot be resumed here")
    user = trace.user
    spec = Spec(
        task=trace.task,
        persona=trace.persona,
        agent=trace.agent.id,
        user="human" if user is None or user.kind == "human" else f"script:{user.id}",
        person=user.id if user is not None and user.kind == "human" else Spec._field_defaults["person"],
        seat=trace.conditions.seat,
        mirror=trace.conditions.mirror,
        gate=trace.conditions.gate,
        seed=trace.conditions.seed,
        attempt=trace.attempt,
    )
    return spec._replace(**{k: v for k, v in changes.items() if v is not None})


def _agent(name: str, store: Store) -> Agent:
    kind, _, source = name.partition(":")
    if kind == "rule" and not source:
        from lab.agents.rule import RuleAgent

        return RuleAgent()
    if kind == "recorded" and source:
        from lab.agents.recorded import RecordedAgent

        found = store.find(source)
        return RecordedAgent(store.trace(found).steps, f"recorded:{found}")
    raise LabError("agent", f"{name!r} is none of rule, recorded:ID", code=2)


def _phone(spec: Spec) -> Device:
    from simulators.phone.phone import Phone

    phone = Phone(spec.seed, clock=spec.task.time) if spec.task.time else Phone(spec.seed)
    phone.lay(spec.task.phone)
    return phone
