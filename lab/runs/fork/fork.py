"""Fork a stored run at any step: a new run with the same beginning, a different continuation and a known parent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.run.episode import ForkOverrides
from lab.core.run.run_records import Imported
from lab.core.run.step import ENDING, Action, Decision, Point, Proposed, Question, Reply
from lab.core.run.trace import AnyEvent, Asked, Conditions, Forked, Started, Trace, fold
from lab.core.run.ui_tree import UiTree
from lab.core.seams import Agent
from lab.core.task.task import Actor, Persona, compose_name
from lab.core.values.ids_and_clock import now, uuid7
from lab.core.values.whole_number import whole_number
from lab.runs.fork.incomplete_action import action_problem
from lab.runs.session import ForkStart, Session
from lab.runs.spec import Spec, is_playbook, stored_spec
from store.store import Store

Log = Literal["clean", "noise", "none"]


class ForkChange(NamedTuple):
    """Changes of a fork. None means as in the parent.

    `say` and `decision` reply to the step's question. `action` replaces the agent's proposal at the step. `agent`,
    `persona`, `log` and `user` are names as in `hitlab live`. `reads` turns OCR for a model as the agent on or off.
    `agent_name` and `agent_version` rename the agent from there on.
    """

    say: str | None = None
    decision: Literal["accept", "reject"] | None = None
    action: Action | None = None
    agent: str | None = None
    persona: str | None = None
    log: Log | None = None
    user: str | None = None
    reads: bool | None = None
    agent_name: str = ""
    agent_version: str = ""

    @property
    def replies(self) -> bool:
        return self.say is not None or self.decision is not None

    @property
    def reproposes(self) -> bool:
        """True if the step must be proposed again, by the new agent."""
        return any(part is not None for part in (self.agent, self.persona, self.log, self.reads))


NO_CHANGE = ForkChange()


def parse_fork_place(store: Store, text: str) -> tuple[str, int]:
    """Parse `ID@STEP` into run and step (from 0). The text counts steps from 1, as `hitlab replay` does."""
    run, at, number = text.partition("@")
    if not at:
        raise LabError(f"fork {text}", "says no step", "Write ID@STEP; `hitlab runs show ID` counts the steps.", code=2)
    step = whole_number(number)
    if not step:
        raise LabError(f"fork {text}", f"step {number!r} is no number from 1 on", code=2)
    return store.runs.find(run), step - 1


def fork_run(
    store: Store,
    run: str,
    index: int,
    change: ForkChange = NO_CHANGE,
    *,
    person: str,
    pace: float = 0.0,
    gate: Literal["pass", "ask"] | None = None,
    breaks: Sequence[str] = (),
    spec: Spec | None = None,
    agent: Agent | None = None,
) -> Session:
    """Return a session, not yet started, that continues a run from step `index` (from 0). The shared part is on disk.

    `spec` describes the run if the file does not have all of it (a live run's own). `agent` replaces the one that the
    spec names. Raise `LabError` if the run cannot be forked there. Then nothing is stored.
    """
    events = list(store.runs.events(run))
    try:
        trace = fold(events)
    except ValueError as error:
        raise LabError(f"run {run}", f"is damaged in {store.path} ({error}).") from error
    _check_states(store, trace)
    _check_step(trace, index)
    _check_action(trace, change.action)
    turn = _ForkPoint(trace, events, index, change)
    spec = _fork_spec(spec or stored_spec(trace, "forked", agent=change.agent, reads=change.reads), trace, change)
    spec = spec._replace(person=person, seat="developer", pace=pace, gate=gate or spec.gate, breaks=tuple(breaks))
    shared_events = events[: turn.shared]
    first = shared_events[0]
    assert isinstance(first, Started)
    by = Actor("human", person)
    first = msgspec.structs.replace(
        first,
        trace=uuid7(),
        parent=run,
        persona=spec.persona,
        conditions=_fork_conditions(first.conditions, spec),
        forked=Forked(index, shared_events[-1].seq, tuple(changes(change)), by, now()),
    )
    # Built before the fork is stored, because only the session knows its agent, user and OCR engine.
    session = Session(store, spec, agent=agent, beginning=ForkStart([first, *shared_events[1:]], turn.overrides(by)))
    is_renamed = bool(change.agent_name or change.agent_version)
    by_playbook = agent is None and is_playbook(spec.agent)  # a run that was begun by rules goes on by a playbook
    first = msgspec.structs.replace(
        first,
        task=spec.task if by_playbook else first.task,
        agent=session.agent_actor if change.agent is not None or by_playbook or is_renamed else first.agent,
        user=session.user.actor if change.user is not None else first.user,
        conditions=msgspec.structs.replace(
            first.conditions,
            reads=session.reads,
            user_sha=first.conditions.user_sha if change.user is None else session.user_sha,
            shadows=spec.shadows,
        ),
    )
    store.runs.add(Imported([first, *shared_events[1:]], {}, []))
    return session


def rewind_run(session: Session, index: int, agent: Agent | None = None) -> Session:
    """Return a live run's fork at step `index` (from 0), not yet started. The run itself ends as stopped."""
    spec = session.spec
    breaks = [point.spec for point in session.breakpoints.all]
    run, person, pace = session.trace_id, spec.person, spec.pace
    again = fork_run(session.store, run, index, person=person, pace=pace, breaks=breaks, spec=spec, agent=agent)
    for point in session.breakpoints.all:
        if not point.on:
            again.breakpoints.toggle(point.spec)
    again.gate.asking = session.gate.asking
    session.stop(f"rewound to step {index + 1} as run {again.trace_id}")
    return again


def changes(change: ForkChange) -> list[tuple[str, str]]:
    """Return what a fork changes, as pairs of a name and words."""
    words = []
    if change.replies:
        decision = f"{change.decision}: " if change.decision and change.say else change.decision or ""
        words.append(("reply", f"{decision}{change.say or ''}"))
    if change.action is not None:
        words.append(("action", _action_text(change.action)))
    if change.reads is not None:
        words.append(("reads", "words from pictures" if change.reads else "no words from pictures"))
    name = compose_name(change.agent_name, change.agent_version, "", ()).strip()
    settings = {
        "agent": change.agent,
        "agent name": name or None,
        "persona": change.persona,
        "log": change.log,
        "user": change.user,
    }
    return words + [(name, value) for name, value in settings.items() if value is not None]


def _action_text(action: Action) -> str:
    parts = [action.kind, action.text, action.app, action.direction, action.status]
    at = f"at {action.at[0]}, {action.at[1]}" if action.at is not None else ""
    return " ".join(part for part in (*parts, at) if part)


class _ForkPoint:
    """The step at which a run is forked: the number of shared events, and the overrides."""

    def __init__(self, trace: Trace, events: list[AnyEvent], index: int, change: ForkChange) -> None:
        self.index = index
        self.change = change
        self.asked = next((e for e in events if isinstance(e, Asked) and e.index == index), None)
        self.step = trace.steps[index] if index < len(trace.steps) else None
        # The fork shares the parent's question unless the step is proposed again or acted otherwise.
        shares_question = self.asked is not None and change.action is None and (change.replies or not change.reproposes)
        last: AnyEvent | None = trace.steps[index - 1] if index else events[0]
        last = self.asked if shares_question else last
        assert last is not None
        self.shared = last.seq + 1
        self.shares_question = shares_question
        self._check_reply(trace)

    def overrides(self, by: Actor) -> ForkOverrides:
        """Return the overrides of proposal, decision and reply at this step."""
        reply = self._build_reply(by) if self.change.replies else None
        action = self.change.action
        if action is None:
            return ForkOverrides(reply=reply)
        proposed = self.step.proposed if self.step else self.asked.proposed if self.asked else None
        if proposed is None:
            proposed = Proposed(action, by=by)
            return ForkOverrides(proposed, Decision("approve", by, action, "fork"), reply)
        return ForkOverrides(proposed, Decision("amend", by, action, "fork"), reply)

    @property
    def _question(self) -> Question | None:
        """The question that a reply would answer, None if there is none."""
        return self.asked.question if self.shares_question and self.asked is not None else None

    def _build_reply(self, by: Actor) -> Reply:
        question = self._question.id if self._question else f"q{self.index}"
        at = now()
        return Reply(question, self.change.say or "", by, self.change.decision, shown_at=at, sent_at=at, edits=0)

    def _check_reply(self, trace: Trace) -> None:
        """Raise `LabError` if there is a reply and this step asks nothing that it could answer."""
        if not self.change.replies:
            return
        what, action = f"run {trace.id}, step {self.index + 1}", self.change.action
        if self._question is None and (action is None or action.kind != "ask_user"):
            asking = [step.index + 1 for step in trace.steps if step.question is not None]
            asking += [trace.asked.index + 1] if trace.asked else []
            hint = f"This run asks at step {', '.join(map(str, asking))}." if asking else "This run asks nothing."
            raise LabError(what, "asks nothing that could be answered", hint)
        kind = self._question.kind if self._question else "propose" if trace.task.kind == "proactive" else "ask"
        if kind == "ask" and self.change.decision is not None:
            raise LabError(what, "asks for words: there is nothing to accept or to reject", "Answer with --say.")


def screen_before(store: Store, run: str, index: int) -> tuple[UiTree | None, Point | None]:
    """Return elements and size of the screen before step `index` (from 0) of a run, or None if unknown."""
    trace = store.runs.trace(run)
    if index < len(trace.steps):
        before = trace.steps[index].before
    elif trace.asked is not None and trace.asked.index == index:
        before = trace.asked.before
    elif trace.ended is not None and trace.ended.final is not None and index == len(trace.steps):
        before = trace.ended.final
    else:
        return None, trace.device.size
    return before.tree, before.size


def _check_states(store: Store, trace: Trace) -> None:
    """Raise `LabError` if a redaction left out the phone's states."""
    if trace.state is None and trace.source is None:
        stones = store.erasure.replaced_by(trace.id)
        if any(stone.counts.get("states") for stone in stones):
            problem = "was redacted, which leaves out the phone's states; it cannot be forked"
            raise LabError(f"run {trace.id}", problem, "A new run begins where the task does.")


def _check_step(trace: Trace, index: int) -> None:
    """Raise `LabError` if a run has no such step, or if the phone's state before it was not stored."""
    what = f"run {trace.id}"
    # For its checks alone. The empty agent skips that of a program, which the fork may replace.
    stored_spec(trace, "forked", agent="")
    last = trace.steps[-1].action if trace.steps else None
    has_ended = last is not None and last.kind in ENDING
    steps = len(trace.steps)
    if index > steps or (index == steps and has_ended):
        raise LabError(what, f"has no step {index + 1} to be forked at; its steps are 1 to {steps + (not has_ended)}")
    before = trace.steps[index - 1] if index else None
    if before is not None and before.state is None:
        raise LabError(what, f"kept nothing of the phone's state after step {index}; it cannot be forked there")


def _check_action(trace: Trace, action: Action | None) -> None:
    """Raise `LabError` if the other action is incomplete."""
    wrong = action_problem(action, trace.device.size) if action is not None else ""
    if action is not None and wrong:
        raise LabError(f"action {action.kind}", wrong, "`hitlab settings schema action` says what it may hold.", code=2)


def _fork_spec(spec: Spec, trace: Trace, change: ForkChange) -> Spec:
    spec = spec._replace(persona=_fork_persona(trace, change))
    reads = spec.reads if change.reads is None else change.reads
    spec = spec._replace(agent=change.agent or spec.agent, user=change.user or spec.user, reads=reads)
    if change.agent is None and not (change.agent_name or change.agent_version):
        return spec
    return spec._replace(agent_name=change.agent_name, agent_version=change.agent_version)


def _fork_persona(trace: Trace, change: ForkChange) -> Persona | None:
    """Return the fork's persona with the history that its agent sees."""
    from simulators import library, task_variation

    if change.persona is None and change.log is None:
        return trace.persona
    name = change.persona or (trace.persona.id if trace.persona else "")
    if not name:
        raise LabError(f"run {trace.id}", "has no persona, and so no log", "Name one with --persona.")
    log = change.log or (trace.persona.log_source if trace.persona else trace.task.log)
    return task_variation.world(trace.conditions.vary).persona(library.persona(name, log))


def _fork_conditions(first: Conditions, spec: Spec) -> Conditions:
    """Return the fork's conditions: the parent's except for what changed."""
    log = spec.persona.log_source if spec.persona else "none"
    return msgspec.structs.replace(first, seat=spec.seat, gate=spec.gate, log=log)
