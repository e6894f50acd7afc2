"""Intake of the endpoint's requests: assign each to a conversation, queue questions, and recognize retries.

A request belongs to the conversation whose messages its own continue. A request equal to a waiting question is a retry
if that question's client disconnected, or if it declares itself a retry. While the first client is connected, an equal
request on another connection starts a conversation of its own, because benchmarks play one task several times at once.
A request equal to an answered question, whose answer may not have arrived, is a retry, too.
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
from lab.core.run.input_limits import ENDPOINT_WAITING
from lab.core.run.screen_clock import duration_words
from lab.core.run.step import Reply
from lab.core.run.trace import Answered, Trace
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now
from lab.runs.descriptions import CLIENT, JUDGE
from lab.runs.endpoint.conversation_run import (
    SERVER,
    Turn,
    begin_conversation,
    close_conversation,
    commit_question,
    facts_of,
    finish_turn,
    waiting_turn,
)
from lab.runs.endpoint.running_servers import RunningServer, departures, server_notes
from simulators.users.endpoint.access import TooManyWait
from simulators.users.endpoint.chat_reply import Answer, answer_of
from simulators.users.endpoint.chat_request import ChatRequest
from simulators.users.endpoint.known_tasks import KnownTask, prompt_sha, task_of, unknown_task
from simulators.users.endpoint.request_kinds import JudgeRules, RequestKind, kind_of
from store.store import Store

_POLL = 0.1
"""Seconds between two polls for answers, which this or another process may commit."""
_RETRY_SECONDS = 900.0
"""Seconds after its answer in which a request may be a retry. Clients wait 600 for one try."""
_DELIVERED_SECONDS = 60.0
"""Seconds after which an earlier server's answer counts as delivered."""
_SILENCE_POLL = 1.0
"""Seconds between two polls for silent conversations."""
_MOST_LOADED = 2_000
"""Number of stored conversations to load at start."""


class NotAnswered(Exception):
    """Raised if a question was closed without an answer."""


@dataclass
class LastTurn:
    """The newest question of a conversation, and the clients that wait for its answer."""

    turn: Turn
    answer: Future[Answer] = field(default_factory=Future)
    answered_at: str = ""
    arrived: bool = False
    """True if the whole answer was written to a client that was still connected."""
    clients: int = 0
    """Number of clients connected and waiting for the answer."""
    left_at: str = ""
    """Time at which the last client disconnected (UTC).

    Empty while one is connected, or if another server may hold it.
    """
    heard_at: float = field(default_factory=time.monotonic)
    """Time at which a client was last connected, in seconds of this process's clock."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def deliver(self) -> None:
        """Record that the answer was delivered."""
        self.arrived = True

    def join(self) -> None:
        """Record that a client connected and waits."""
        with self._lock:
            self.clients += 1
            self.left_at = ""

    def leave(self) -> None:
        """Record that a client disconnected."""
        with self._lock:
            self.clients -= 1
            self.heard_at = time.monotonic()
            self.left_at = "" if self.clients else now()

    @property
    def silence(self) -> float:
        """Seconds without a client: none is connected, and none continued after the answer."""
        if self.answered_at:
            return _seconds_since(self.answered_at)
        return 0.0 if self.clients else time.monotonic() - self.heard_at

    @property
    def recent(self) -> bool:
        """True if its answer is so new that a client may still retry to fetch it."""
        return bool(self.answered_at) and _seconds_since(self.answered_at) < _RETRY_SECONDS


@dataclass
class Conversation:
    """State of a conversation in memory. Its events are in the file."""

    run: str
    session: str
    first: str
    """Hash of its first request's messages."""
    last: LastTurn
    turns: int = 1
    ended: bool = False


class Intake:
    """Accept requests from all threads of a server. `watch` runs `deliver_answers` on a thread of its own.

    New conversations are dealt evenly to `people`, by study code. A conversation whose client is silent for
    `close_after` seconds is ended (0: never). `on_asked` is called with each new question after its commit, on the
    thread that received it. It must not block.
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
        self._people, self._rules, self._known_tasks, self._user_sha = people, rules, known_tasks, user_sha
        self._lock = threading.RLock()
        self._by_sha: dict[tuple[str, str], list[Conversation]] = {}
        """Conversations by session and hash of their newest request, the oldest first."""
        self._sessions: dict[str, list[Conversation]] = {}
        self._by_run: dict[str, Conversation] = {}
        self._waiting: dict[str, Conversation] = {}
        """Conversations of `_by_run` whose newest question has no answer."""
        self.note: RunningServer | None = None
        """Note file that publishes which clients are connected. None publishes nothing."""
        self._published: tuple[tuple[str, ...], dict[str, str]] = (), {}
        self._last_row = store.conversations.last_row()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._load_conversations()

    @property
    def waiting(self) -> int:
        """Number of questions without an answer."""
        return len(self._waiting)

    # -- requests --------------------------------------------------------------------------------------------

    def receive(self, request: ChatRequest) -> LastTurn:
        """Return a request's question, already committed. For a retry it is the same one again.

        Raise `LabError` if it cannot be stored, and `TooManyWait` if too many wait.
        """
        with self._lock:
            self.deliver_answers()
            hashes = request.hashes
            retried = self._find_retry(request, hashes[-1])
            if retried is not None:
                retried.last.heard_at = time.monotonic()
                return retried.last
            if len(self._waiting) >= ENDPOINT_WAITING:
                self._close_longest_left()
            kind = kind_of(request, self._rules)
            conversation = None if kind == "judge" else self._find_continued(request, hashes)
            if conversation is None or not self.store.runs.has_run(conversation.run):  # it may have been erased
                return self._start_conversation(request, kind, hashes)
            return self._continue_conversation(conversation, request, kind)

    def _find_retry(self, request: ChatRequest, sha: str) -> Conversation | None:
        """Return the conversation in which the same question waits or its answer may not have arrived, or None if new.

        Of several equal ones, one without a connected client comes first.
        """
        candidates = [
            conversation
            for conversation in reversed(self._by_sha.get((request.session, sha), []))
            if request.retry > 0 or not conversation.last.clients
            if not conversation.last.answer.done()
            or (conversation.last.recent and (request.retry > 0 or not conversation.last.arrived))
        ]
        return min(candidates, key=lambda one: (one.last.clients > 0, one.last.arrived), default=None)

    def _close_longest_left(self) -> None:
        """End the conversation whose client left first. Raise `TooManyWait` if all clients are connected."""
        forsaken = [one for one in self._waiting.values() if one.last.left_at]
        if not forsaken:
            raise TooManyWait("endpoint", f"{ENDPOINT_WAITING:,} questions wait already.")
        one = min(forsaken, key=lambda one: one.last.left_at)
        close_conversation(self.store, one.run, SERVER, silence=duration_words(int(_seconds_since(one.last.left_at))))
        self.deliver_answers()

    def _find_continued(self, request: ChatRequest, hashes: Sequence[str]) -> Conversation | None:
        """Return the conversation whose messages and answer a request continues, or None if there is none."""
        for at in range(request.asked_from - 1, request.beginning, -1):
            # From the latest answer back, which finds the longest match first.
            before = request.messages[at]
            if before.role != "assistant":
                continue
            candidates = [one for one in self._by_sha.get((request.session, hashes[at - 1]), ()) if _may_continue(one)]
            exact = [one for one in candidates if _is_same_answer(one, before.text)]
            if candidates:
                return (exact or candidates)[-1]
        return self._find_in_session(request, hashes) if request.session else None

    def _find_in_session(self, request: ChatRequest, hashes: Sequence[str]) -> Conversation | None:
        """Return a session's newest conversation, for a client that never sends the history.

        A repeat of the first question starts the task again.
        """
        theirs = self._sessions.get(request.session, [])
        if not theirs or request.asked_from > request.beginning:
            return None
        newest = theirs[-1]
        sends_all = any(one.turns > 1 and one.last.turn.facts.has_history for one in theirs)
        same = newest.last.turn.facts.system_sha == request.system_sha and newest.first != hashes[-1]
        return newest if same and not sends_all and _may_continue(newest) else None

    def _start_conversation(self, request: ChatRequest, kind: RequestKind, hashes: Sequence[str]) -> LastTurn:
        question_text = "\n".join(message.text for message in request.messages[request.asked_from :])
        about = task_of(self._known_tasks, request.session, request.system) if kind != "judge" else None
        if about is None:
            name = self.store.conversations.task_by_hash(CLIENT, prompt_sha(request.system, question_text))
            about = KnownTask(unknown_task(kind, request.system, question_text, name))
        user = self._next_person(JUDGE if kind == "judge" else CLIENT)
        turn = begin_conversation(self.store, request, kind, about, user, self._user_sha)
        last = LastTurn(turn)
        conversation = Conversation(turn.run, request.session, hashes[-1], last)
        self._remember(conversation)
        self.on_asked(turn, about)
        return last

    def _continue_conversation(self, conversation: Conversation, request: ChatRequest, kind: RequestKind) -> LastTurn:
        # The process that answered may have ended before it committed the step.
        if not self.store.conversations.is_finished(conversation.run):
            finish_turn(self.store, conversation.run)
        earlier_messages = min(conversation.last.turn.facts.messages + 1, request.asked_from)
        turn = commit_question(
            self.store, conversation.run, request, kind, conversation.turns, earlier_messages=earlier_messages
        )
        self._forget(conversation)
        conversation.last, conversation.turns = LastTurn(turn), conversation.turns + 1
        self._remember(conversation)
        first = next(self.store.runs.events(conversation.run))
        self.on_asked(turn, KnownTask(first.task, first.persona))  # type: ignore[union-attr]  # the first is Started
        return conversation.last

    def _next_person(self, prefix: str) -> Actor:
        """Return the person with the fewest open conversations."""
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
        same_request = self._by_sha.get(key, [])
        if one in same_request:
            same_request.remove(one)
        if not same_request:
            self._by_sha.pop(key, None)

    # -- answers ---------------------------------------------------------------------------------------------

    def watch(self) -> None:
        """Start to poll for answers on a thread of its own, until `close`."""
        self._thread = threading.Thread(target=self._poll_answers, name="endpoint", daemon=True)
        self._thread.start()

    def _poll_answers(self) -> None:
        silence_at = time.monotonic()
        while not self._stop.wait(_POLL):
            with suppress(LabError):  # the file is busy or gone for a moment; the next look finds what came
                self.deliver_answers()
                self._publish_clients()
                if time.monotonic() - silence_at >= _SILENCE_POLL:
                    silence_at = time.monotonic()
                    if self.note is not None:
                        self.note.touch()
                    if self.close_after:
                        self.close_silent()

    def _publish_clients(self) -> None:
        """Write to the note which clients are connected and which left, if that changed."""
        if self.note is None:
            return
        with self._lock:
            lasts = [(one.run, one.last) for one in self._waiting.values()]
        connected = tuple(run for run, last in lasts if last.clients)
        lines = connected, {run: last.left_at for run, last in lasts if last.left_at}
        if lines != self._published:
            self._published = lines
            self.note.write(*lines)

    def close(self) -> None:
        """Stop polling. Waiting questions stay in the file."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(5)
        if self.note is not None:
            self.note.close({one.run: one.last.left_at or now() for one in self._waiting.values()})

    def deliver_answers(self) -> None:
        """Deliver newly committed answers to the clients that wait for them."""
        with self._lock:
            newest = self.store.conversations.last_row()
            if newest == self._last_row:
                return
            since = self._last_row if newest > self._last_row else 0  # a file that was wiped counts its rows anew
            for event in self.store.conversations.committed_after(since):
                conversation = self._by_run.get(event.run)
                if conversation is not None and event.kind == "ended":
                    self._mark_ended(conversation)
                elif conversation is not None and conversation.run in self._waiting:
                    answered_event = _decode_answer(event.body)
                    if answered_event.reply.question_id == conversation.last.turn.question.id:
                        self._deliver_answer(conversation, answered_event.reply, answered_event.at)
            self._last_row = newest

    def close_silent(self) -> None:
        """End the conversations whose clients have been silent longer than `close_after`.

        No client signals that it is done. One that comes back begins a new conversation, with the history before its
        question. It can still fetch an answer of the last minutes.
        """
        with self._lock:
            self.deliver_answers()
            silent = [one for one in self._by_run.values() if not one.ended and one.last.silence > self.close_after]
            for one in silent:
                with suppress(LabError):  # somebody else ended it just now, or it was erased
                    close_conversation(self.store, one.run, SERVER, silence=duration_words(self.close_after))
            self.deliver_answers()

    def _deliver_answer(self, conversation: Conversation, reply: Reply, at: str) -> None:
        conversation.last.answered_at = at
        conversation.ended = _ends_conversation(conversation.last.turn, reply)
        self._waiting.pop(conversation.run, None)
        turn = conversation.last.turn
        conversation.last.answer.set_result(answer_of(reply, turn.facts.stops))

    def _mark_ended(self, one: Conversation) -> None:
        """Mark a conversation as ended. A waiting question was closed without an answer."""
        one.ended = True
        if self._waiting.pop(one.run, None) is not None:
            self._forget(one)
            one.last.answer.set_exception(NotAnswered())

    # -- after a start ---------------------------------------------------------------------------------------

    def _load_conversations(self) -> None:
        """Load the file's conversations, the oldest first, and wait again for their open questions."""
        rows = [row for prefix in (CLIENT, JUDGE) for row in self.store.conversations.rows(prefix, _MOST_LOADED)]
        for row in sorted(rows, key=lambda row: row.started):
            if row.kind == "ended" and _seconds_since(row.at) > _RETRY_SECONDS:
                continue
            with suppress(LabError):  # a run that is damaged, or was erased meanwhile, is nobody's conversation
                conversation = _load_conversation(self.store.runs.trace(row.run))
                if conversation is not None:
                    self._remember(conversation)
        # Another running server may hold these clients' connections.
        elsewhere = {run for note in server_notes(self.store.path, "endpoint") if note.runs_now for run in note.here}
        departed = departures(self.store.path)
        for one in self._waiting.values():
            if one.run not in elsewhere:
                one.last.left_at = departed.left.get(one.run) or now()

    def waiting_turns(self) -> list[tuple[Turn, KnownTask]]:
        """Return the waiting questions with their tasks, the oldest first."""
        with self._lock:
            turns = [one.last.turn for one in self._waiting.values()]
        traces = [(turn, self.store.runs.trace(turn.run)) for turn in turns]
        return [(turn, KnownTask(trace.task, trace.persona)) for turn, trace in traces]


def _load_conversation(trace: Trace) -> Conversation | None:
    """Return the state of a stored conversation, or None if it has no question to answer or to repeat."""
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
        last.answered_at, last.arrived = at, _seconds_since(at) > _DELIVERED_SECONDS
    first = turn.facts.sha if not actions else str(actions[0].raw["sha"])
    turns = len(trace.steps) + (trace.asked is not None)
    return Conversation(trace.id, turn.facts.session, first, last, turns, trace.ended is not None)


def _turn_of_step(trace: Trace) -> Turn:
    from lab.core.run.trace import Asked

    step = trace.steps[-1]
    assert step.question is not None
    asked_event = Asked(index=step.index, question=step.question, proposed=step.proposed, before=step.before)
    return Turn(trace.id, asked_event, facts_of(asked_event))


def _decode_answer(body: str) -> Answered:
    event: Answered = decode(body, Answered, "an answer")
    return event


def _ends_conversation(turn: Turn, reply: Reply) -> bool:
    token = not reply.calls and any(token in reply.text for token in turn.facts.ended_by)
    return turn.facts.kind == "judge" or token


def _may_continue(one: Conversation) -> bool:
    return one.last.answer.done() and not one.ended


def _is_same_answer(one: Conversation, text: str) -> bool:
    """Return True if a client's copy of an answer equals the one it was sent."""
    return one.last.answer.exception() is None and one.last.answer.result().content.strip() == text.strip()


def _seconds_since(at: str) -> float:
    """Return the seconds since a time in UTC, infinity if it is invalid."""
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    except (ValueError, TypeError):
        return float("inf")
