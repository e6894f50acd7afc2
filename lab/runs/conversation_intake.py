"""Takes the endpoint's requests in: to which conversation each belongs, what waits, and whether it was asked before.

A request belongs to the conversation whose messages its own go on from. One that is the same as what waits is the same
question again where its client left the line before, or says that it tries again; while the client of the first is on
the line, an equal request on another connection is a conversation of its own: benchmarks play one task several times
at once. One that is the same as what was answered and may not have arrived is the same question again, too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from lab.core.codec import decode
from lab.core.errors import LabError
from lab.core.ids_and_clock import now
from lab.core.limits import ENDPOINT_WAITING
from lab.core.screen_clock import duration_words
from lab.core.step import Reply
from lab.core.task import Actor
from lab.core.trace import Answered, Trace
from lab.runs.conversation_run import (
    CLIENT,
    JUDGE,
    SERVER,
    Turn,
    ask,
    begin_conversation,
    close_conversation,
    facts_of,
    finish_turn,
    waiting_turn,
)
from lab.runs.running_servers import RunningServer, departures, server_notes
from simulators.users.endpoint.access import TooManyWait
from simulators.users.endpoint.chat_reply import Answer, answer_of
from simulators.users.endpoint.chat_request import ChatRequest
from simulators.users.endpoint.known_tasks import KnownTask, prompt_sha, task_of, unknown_task
from simulators.users.endpoint.request_kinds import JudgeRules, RequestKind, kind_of
from store.store import Store

_LOOKS = 0.1
"""Seconds between two looks at what was committed, by this process or another."""
_REPEATED = 900.0
"""Seconds after its answer in which a request may be tried again: clients wait 600 for one try."""
_ARRIVED = 60.0
"""Seconds after which an answer that an earlier server gave counts as arrived."""
_LOOKS_FOR_SILENCE = 1.0
"""Seconds between two looks for conversations that went silent."""
_REMEMBERED = 2_000
"""Conversations of the file that are known again after a start."""


class NotAnswered(Exception):
    """A question was closed, and gets no answer."""


@dataclass
class LastTurn:
    """The newest question of a conversation, and who waits for its answer."""

    turn: Turn
    answer: Future[Answer] = field(default_factory=Future)
    answered_at: str = ""
    arrived: bool = False
    """Whether the whole answer was written to a client that was still there."""
    clients: int = 0
    """How many clients wait on the line for the answer."""
    left_at: str = ""
    """When the last client left the line (UTC); empty while one is there, and where another server may hold it."""
    heard_at: float = field(default_factory=time.monotonic)
    """When a client was there last, in seconds of this process's clock."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def deliver(self) -> None:
        """Says that the answer arrived."""
        self.arrived = True

    def join(self) -> None:
        """Says that a client waits on the line from now on."""
        with self._lock:
            self.clients += 1
            self.left_at = ""

    def leave(self) -> None:
        """Says that a client waits no more."""
        with self._lock:
            self.clients -= 1
            self.heard_at = time.monotonic()
            self.left_at = "" if self.clients else now()

    @property
    def silence(self) -> float:
        """For how many seconds no client was heard of: none waits on the line, and none asked on after the answer."""
        if self.answered_at:
            return _age(self.answered_at)
        return 0.0 if self.clients else time.monotonic() - self.heard_at

    @property
    def recent(self) -> bool:
        """Whether its answer is so new that a client may still try to fetch it."""
        return bool(self.answered_at) and _age(self.answered_at) < _REPEATED


@dataclass
class Conversation:
    """What is remembered of a conversation; its events are in the file."""

    run: str
    session: str
    first: str
    """The hash of its first request's messages."""
    last: LastTurn
    turns: int = 1
    ended: bool = False


class Intake:
    """Takes requests in, for all threads of a server; `look` is called by `watch`'s own thread.

    `people` are the study codes that conversations are dealt to, evenly. A conversation whose client is silent for
    `close_after` seconds is ended; 0 waits for good. `on_asked` is called with each new question
    once it is committed, on the thread that took it in; it must not block.
    """

    def __init__(
        self,
        store: Store,
        people: Sequence[Actor],
        rules: JudgeRules,
        known_tasks: Sequence[KnownTask] = (),
        *,
        user_sha: str = "",
        close_after: float = 0.0,
    ) -> None:
        self.store, self.close_after = store, close_after
        self.on_asked: Callable[[Turn, KnownTask], None] = lambda turn, about: None
        self._people, self._rules, self._known, self._user_sha = people, rules, known_tasks, user_sha
        self._lock = threading.RLock()
        self._by_sha: dict[tuple[str, str], list[Conversation]] = {}
        """By session and hash of its newest request: the conversations, the oldest first."""
        self._sessions: dict[str, list[Conversation]] = {}
        self._by_run: dict[str, Conversation] = {}
        self._waiting: dict[str, Conversation] = {}
        """Those of `_by_run` whose newest question has no answer."""
        self.note: RunningServer | None = None
        """Where it is said which clients wait on the line; None says it nowhere."""
        self._noted: tuple[tuple[str, ...], dict[str, str]] = (), {}
        self._row = store.conversations.last_row()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._restore()

    @property
    def waiting(self) -> int:
        """How many questions wait for an answer of which a client was told nothing yet."""
        return len(self._waiting)

    # -- requests --------------------------------------------------------------------------------------------

    def receive(self, request: ChatRequest) -> LastTurn:
        """The question that a request asks, committed on return; the same one again where it is a retry.

        Raises `LabError` where it cannot be kept, `TooManyWait` where too many wait.
        """
        with self._lock:
            self.look()
            hashes = request.hashes
            again = self._asked_before(request, hashes[-1])
            if again is not None:
                again.last.heard_at = time.monotonic()
                return again.last
            if len(self._waiting) >= ENDPOINT_WAITING:
                self._close_forsaken()
            kind = kind_of(request, self._rules)
            conversation = None if kind == "judge" else self._continued(request, hashes)
            if conversation is None or not self.store.runs.holds(conversation.run):  # it may have been erased
                return self._begin(request, kind, hashes)
            return self._go_on(conversation, request, kind)

    def _asked_before(self, request: ChatRequest, sha: str) -> Conversation | None:
        """The conversation in which the same question waits, or was answered without arriving.

        Of several that are alike, one whose client left comes first.
        """
        asked = [
            conversation
            for conversation in reversed(self._by_sha.get((request.session, sha), []))
            if request.retry > 0 or not conversation.last.clients
            if not conversation.last.answer.done()
            or (conversation.last.recent and (request.retry > 0 or not conversation.last.arrived))
        ]
        return min(asked, key=lambda one: (one.last.clients > 0, one.last.arrived), default=None)

    def _close_forsaken(self) -> None:
        """Ends the conversation whose client left its question longest ago; `TooManyWait` where all are there."""
        forsaken = [one for one in self._waiting.values() if one.last.left_at]
        if not forsaken:
            raise TooManyWait("endpoint", f"{ENDPOINT_WAITING:,} questions wait already.")
        one = min(forsaken, key=lambda one: one.last.left_at)
        close_conversation(self.store, one.run, SERVER, silence=duration_words(int(_age(one.last.left_at))))
        self.look()

    def _continued(self, request: ChatRequest, hashes: Sequence[str]) -> Conversation | None:
        """The conversation that a request goes on with: the one whose messages and answer its own begin with."""
        for at in range(request.asked_from - 1, request.beginning, -1):
            before = request.messages[at]
            if before.role != "assistant":
                continue
            there = [one for one in self._by_sha.get((request.session, hashes[at - 1]), ()) if _goes_on(one)]
            exact = [one for one in there if _same(one, before.text)]
            if there:
                return (exact or there)[-1]
        return self._in_session(request, hashes) if request.session else None

    def _in_session(self, request: ChatRequest, hashes: Sequence[str]) -> Conversation | None:
        """A session's newest conversation, for a client that never sends what was said before.

        A first question that comes again is the task played again.
        """
        theirs = self._sessions.get(request.session, [])
        if not theirs or request.asked_from > request.beginning:
            return None
        newest = theirs[-1]
        sends_all = any(one.turns > 1 and one.last.turn.facts.has_history for one in theirs)
        same = newest.last.turn.facts.system_sha == request.system_sha and newest.first != hashes[-1]
        return newest if same and not sends_all and _goes_on(newest) else None

    def _begin(self, request: ChatRequest, kind: RequestKind, hashes: Sequence[str]) -> LastTurn:
        question_text = "\n".join(message.text for message in request.messages[request.asked_from :])
        about = task_of(self._known, request.session, request.system) if kind != "judge" else None
        if about is None:
            name = self.store.conversations.task_named(CLIENT, prompt_sha(request.system, question_text))
            about = KnownTask(unknown_task(kind, request.system, question_text, name))
        user = self._dealt(JUDGE if kind == "judge" else CLIENT)
        turn = begin_conversation(self.store, request, kind, about, user, self._user_sha)
        last = LastTurn(turn)
        conversation = Conversation(turn.run, request.session, hashes[-1], last)
        self._remember(conversation)
        self.on_asked(turn, about)
        return last

    def _go_on(self, conversation: Conversation, request: ChatRequest, kind: RequestKind) -> LastTurn:
        if not self.store.conversations.is_finished(conversation.run):
            finish_turn(self.store, conversation.run)
        earlier_messages = min(conversation.last.turn.facts.messages + 1, request.asked_from)
        turn = ask(self.store, conversation.run, request, kind, conversation.turns, earlier_messages=earlier_messages)
        self._forget(conversation)
        conversation.last, conversation.turns = LastTurn(turn), conversation.turns + 1
        self._remember(conversation)
        first = next(self.store.runs.events(conversation.run))
        self.on_asked(turn, KnownTask(first.task, first.persona))  # type: ignore[union-attr]  # the first is Started
        return conversation.last

    def _dealt(self, prefix: str) -> Actor:
        """Who gets a new conversation: the one who has the fewest that are open."""
        if len(self._people) == 1:
            return self._people[0]
        open_counts = self.store.conversations.open_by_person(prefix)
        return min(self._people, key=lambda person: open_counts.get(person.id, 0))

    def _remember(self, one: Conversation) -> None:
        key = one.session, one.last.turn.facts.sha
        self._by_sha.setdefault(key, []).append(one)
        self._by_run[one.run] = one
        theirs = self._sessions.setdefault(one.session, [])
        if one.session and one not in theirs:
            theirs.append(one)
        if not one.last.answer.done():
            self._waiting[one.run] = one

    def _forget(self, one: Conversation) -> None:
        key = one.session, one.last.turn.facts.sha
        there = self._by_sha.get(key, [])
        if one in there:
            there.remove(one)
        if not there:
            self._by_sha.pop(key, None)

    # -- answers ---------------------------------------------------------------------------------------------

    def watch(self) -> None:
        """Looks for answers from now on, on a thread of its own, until `close`."""
        self._thread = threading.Thread(target=self._watch, name="endpoint", daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        silence_at = time.monotonic()
        while not self._stop.wait(_LOOKS):
            with suppress(LabError):  # the file is busy or gone for a moment; the next look finds what came
                self.look()
                self._tell_lines()
                if time.monotonic() - silence_at >= _LOOKS_FOR_SILENCE:
                    silence_at = time.monotonic()
                    if self.note is not None:
                        self.note.touch()
                    if self.close_after:
                        self.close_silent()

    def _tell_lines(self) -> None:
        """Writes to the note which clients wait on the line and which left, where that changed."""
        if self.note is None:
            return
        with self._lock:
            lasts = [(one.run, one.last) for one in self._waiting.values()]
        here = tuple(run for run, last in lasts if last.clients)
        lines = here, {run: last.left_at for run, last in lasts if last.left_at}
        if lines != self._noted:
            self._noted = lines
            self.note.write(*lines)

    def close(self) -> None:
        """Looks no more; what waits stays in the file."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(5)
        if self.note is not None:
            self.note.close({one.run: one.last.left_at or now() for one in self._waiting.values()})

    def look(self) -> None:
        """Takes the answers that were committed since the last look to those who wait for them."""
        with self._lock:
            newest = self.store.conversations.last_row()
            if newest == self._row:
                return
            since = self._row if newest > self._row else 0  # a file that was wiped counts its rows anew
            for event in self.store.conversations.committed_after(since):
                conversation = self._by_run.get(event.run)
                if conversation is not None and event.kind == "ended":
                    self._end(conversation)
                elif conversation is not None and conversation.run in self._waiting:
                    answered_event = _answered(event.body)
                    if answered_event.reply.question_id == conversation.last.turn.question.id:
                        self._answer(conversation, answered_event.reply, answered_event.at)
            self._row = newest

    def close_silent(self) -> None:
        """Ends the conversations whose clients are silent for longer than `close_after`.

        Nothing that a client sends says that it is done. One that comes back begins a new conversation, in which what
        was said before stands before its question; its answer of the last minutes is there for it still.
        """
        with self._lock:
            self.look()
            silent = [one for one in self._by_run.values() if not one.ended and one.last.silence > self.close_after]
            for one in silent:
                with suppress(LabError):  # somebody else ended it just now, or it was erased
                    close_conversation(self.store, one.run, SERVER, silence=duration_words(self.close_after))
            self.look()

    def _answer(self, conversation: Conversation, reply: Reply, at: str) -> None:
        conversation.last.answered_at = at
        conversation.ended = _ends(conversation.last.turn, reply)
        self._waiting.pop(conversation.run, None)
        turn = conversation.last.turn
        conversation.last.answer.set_result(answer_of(reply, turn.facts.stops))

    def _end(self, one: Conversation) -> None:
        """A conversation is over; a question that waited in it was closed unanswered."""
        one.ended = True
        if self._waiting.pop(one.run, None) is not None:
            self._forget(one)
            one.last.answer.set_exception(NotAnswered())

    # -- after a start ---------------------------------------------------------------------------------------

    def _restore(self) -> None:
        """Remembers the conversations of the file, the oldest first: what waits there is waited for again."""
        rows = [row for prefix in (CLIENT, JUDGE) for row in self.store.conversations.rows(prefix, _REMEMBERED)]
        for row in sorted(rows, key=lambda row: row.started):
            if row.kind == "ended" and _age(row.at) > _REPEATED:
                continue
            with suppress(LabError):  # a run that is damaged, or was erased meanwhile, is nobody's conversation
                conversation = _remembered(self.store.runs.trace(row.run))
                if conversation is not None:
                    self._remember(conversation)
        elsewhere = {run for note in server_notes(self.store.path, "endpoint") if note.runs_now for run in note.here}
        gone = departures(self.store.path)
        for one in self._waiting.values():
            if one.run not in elsewhere:
                one.last.left_at = gone.left.get(one.run) or now()

    def waiting_turns(self) -> list[tuple[Turn, KnownTask]]:
        """What waits for an answer, the oldest first, each with its task."""
        with self._lock:
            turns = [one.last.turn for one in self._waiting.values()]
        traces = [(turn, self.store.runs.trace(turn.run)) for turn in turns]
        return [(turn, KnownTask(trace.task, trace.persona)) for turn, trace in traces]


def _remembered(trace: Trace) -> Conversation | None:
    """A stored conversation as it is remembered; None where nothing was asked in it."""
    actions = [step.proposed.action for step in trace.steps]
    if trace.asked is None and not trace.steps:
        return None
    turn = waiting_turn(trace)
    reply = trace.answered.reply if trace.answered else trace.steps[-1].reply if trace.steps and not turn else None
    if turn is None:
        turn = Turn(trace.id, trace.asked, facts_of(trace.asked)) if trace.asked else _turn_of_step(trace)
    last = LastTurn(turn)
    if trace.ended is not None and reply is None:
        return None
    if reply is not None:
        at = reply.sent_at or trace.steps[-1].at
        last.answer.set_result(answer_of(reply, turn.facts.stops))
        last.answered_at, last.arrived = at, _age(at) > _ARRIVED
    first = turn.facts.sha if not actions else str(actions[0].raw["sha"])
    turns = len(trace.steps) + (trace.asked is not None)
    return Conversation(trace.id, turn.facts.session, first, last, turns, trace.ended is not None)


def _turn_of_step(trace: Trace) -> Turn:
    from lab.core.trace import Asked

    step = trace.steps[-1]
    assert step.question is not None
    asked_event = Asked(index=step.index, question=step.question, proposed=step.proposed, before=step.before)
    return Turn(trace.id, asked_event, facts_of(asked_event))


def _answered(body: str) -> Answered:
    event: Answered = decode(body, Answered, "an answer")
    return event


def _ends(turn: Turn, reply: Reply) -> bool:
    token = not reply.calls and any(token in reply.text for token in turn.facts.ended_by)
    return turn.facts.kind == "judge" or token


def _goes_on(one: Conversation) -> bool:
    return one.last.answer.done() and not one.ended


def _same(one: Conversation, text: str) -> bool:
    """Whether a client's copy of an answer is the one that it was sent."""
    return one.last.answer.exception() is None and one.last.answer.result().content.strip() == text.strip()


def _age(at: str) -> float:
    """Seconds since a time in UTC; endless where it is none."""
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    except (ValueError, TypeError):
        return float("inf")
