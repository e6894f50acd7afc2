"""An endpoint conversation as a run: its events, each question's facts, a reply and the end.

Every event is on disk before anything is sent. Servers and whoever answers meet in the file, so they may be different
processes. Of two answers to the same question the second is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from lab.core.codec import convert
from lab.core.errors import LabError
from lab.core.run.input_limits import ENDPOINT_CALLS
from lab.core.run.run_records import Blob, Imported
from lab.core.run.step import Action, Observation, Prompt, Proposed, Question, Reply, ToolCall
from lab.core.run.trace import Answered, AnyEvent, Asked, Conditions, Ended, Started, Step, Trace
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.runs.descriptions import CLIENT, JUDGE, is_conversation
from simulators.users.endpoint.chat_request import AnswerForm, ChatMessage, ChatRequest, Tool
from simulators.users.endpoint.known_tasks import KnownTask
from simulators.users.endpoint.request_kinds import RequestKind, holds_tag, stop_tokens
from simulators.users.endpoint.tool_arguments import check_arguments, check_form
from store.store import Store

SERVER = Actor("script", "endpoint")
"""Actor that ends a conversation when nobody else does."""
_ANSWERED = "was answered already."
_LONGEST_NAME = 60


class TurnFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """Facts of a question besides its text. Stored in its action's `raw`, which no rater sees.

    `sha` is the hash of all messages up to here, `messages` their number, and `system_sha` the hash of the system
    messages alone. `system` is the system prompt if it differs from the task's policy. `before` is the dialogue before
    this run, as pairs of role and text. `ended_by` are the tokens that end the conversation.
    """

    kind: RequestKind
    sha: str
    messages: int
    system_sha: str = ""
    model: str = ""
    session: str = ""
    system: str = ""
    before: tuple[tuple[str, str], ...] = ()
    tools: tuple[Tool, ...] = ()
    ended_by: tuple[str, ...] = ()
    has_history: bool = True
    """True if the client sent the dialogue before the question, as most do."""
    one_call: bool = False
    """True if the client accepts only one function call in an answer."""
    must_call: bool = False
    """True if the client accepts only function calls and no text."""
    form: AnswerForm | None = None
    """JSON form that the client requires in place of text."""
    stops: tuple[str, ...] = ()
    """Stop sequences: an answer ends before the first of these."""


class Turn(NamedTuple):
    """A question of a conversation, as needed to answer it. `asked` is its event."""

    run: str
    asked: Asked
    facts: TurnFacts

    @property
    def question(self) -> Question:
        return self.asked.question


def client_of(request: ChatRequest, kind: RequestKind) -> Actor:
    """Return the actor of a client, of which only the session and the requested model are known."""
    name = (request.session or request.model or "client")[:_LONGEST_NAME]
    parts = [f"session {request.session}"] if request.session else []
    parts += [f"asks for {request.model}"] if request.model else []
    words = f"endpoint client ({', '.join(parts)})" if parts else "endpoint client"
    return Actor("script", (JUDGE if kind == "judge" else CLIENT) + name, words[:200])


def begin_conversation(
    store: Store, request: ChatRequest, kind: RequestKind, about: KnownTask, user: Actor, user_sha: str = ""
) -> Turn:
    """Commit the run of a new conversation together with its first question."""
    pictured = any(message.pictures for message in request.messages)
    log = about.persona.log_source if about.persona else "none"
    started = Started(
        trace=uuid7(),
        task=about.task,
        agent=client_of(request, kind),
        persona=about.persona,
        user=user,
        conditions=Conditions(seat="participant", mirror=pictured, log=log, user_sha=user_sha),
        seq=0,
        at=now(),
        ms=0.0,
    )
    turn, pictures = _build_turn(started, request, kind, 0, request.beginning)
    asked_event = msgspec.structs.replace(turn.asked, seq=1, at=(at := now()), ms=_ms_between(started.at, at))
    store.runs.add(Imported([started, asked_event], pictures, []))
    return turn._replace(asked=asked_event)


def commit_question(
    store: Store, run: str, request: ChatRequest, kind: RequestKind, index: int, *, earlier_messages: int
) -> Turn:
    """Commit a request's question. `earlier_messages` of its messages were in this run, or are not dialogue.

    Raise `LabError` if it cannot be stored.
    """
    first = next(store.runs.events(run))
    assert isinstance(first, Started)
    turn, pictures = _build_turn(first, request, kind, index, earlier_messages)
    _append_events(store, run, [turn.asked], store.runs.last_seq(run) + 1, first.at, pictures)
    return turn


def _build_turn(
    first: Started, request: ChatRequest, kind: RequestKind, index: int, earlier_messages: int
) -> tuple[Turn, dict[str, Blob]]:
    """Build a request's question, not yet committed, and its pictures by hash."""
    messages = request.messages[request.asked_from :]
    pictures = {picture.sha256: picture for message in messages for picture in message.pictures}
    facts = TurnFacts(
        kind,
        request.hashes[-1],
        len(request.messages),
        request.system_sha,
        request.model,
        request.session,
        request.system if request.system != first.task.policy else "",
        _history_pairs(request.messages[earlier_messages : request.asked_from]),
        request.tools,
        stop_tokens(request.system),
        request.asked_from > request.beginning,
        request.one_call,
        request.must_call,
        request.form,
        request.stops,
    )
    text = "\n\n".join(filter(None, (_message_text(message) for message in messages)))
    action = Action("ask_user", text=text, raw=msgspec.to_builtins(facts))
    event = Asked(
        index=index,
        question=Question(uuid7(), "propose" if kind == "consent" else "ask", text),
        proposed=Proposed(action, prompt=Prompt(text, tuple(pictures)) if pictures else None),
        before=_last_picture(pictures),
    )
    return Turn(first.trace, event, facts), pictures


def _message_text(message: ChatMessage) -> str:
    """Return the text of an agent's message, or of a function's result."""
    if message.role not in ("tool", "function"):
        return message.text
    return f"[result of {message.name}] {message.text}" if message.name else f"[result] {message.text}"


def _history_pairs(messages: Iterable[ChatMessage]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (message.role, message.text or call_words(message.calls)) for message in messages if not message.is_system
    )


def call_words(calls: Sequence[ToolCall]) -> str:
    """Format function calls, one a line."""
    return "\n".join(f"{call.name}({call.arguments})" for call in calls)


def calls_of(question: Question, functions: Iterable[tuple[str, str]]) -> tuple[ToolCall, ...]:
    """Build the function calls that answer a question from names and JSON arguments, with unique ids."""
    id = question.id.replace("-", "")[-20:]
    return tuple(
        ToolCall(name, arguments, f"call_{id}{number:02}") for number, (name, arguments) in enumerate(functions, 1)
    )


def _last_picture(pictures: Mapping[str, Blob]) -> Observation:
    """Return the last picture of a question as an observation. The others are in its prompt."""
    if not pictures:
        return Observation()
    from lab.core.values.safe_images import open_picture

    sha, blob = list(pictures.items())[-1]
    try:
        with open_picture(blob.data) as picture:
            return Observation(image=sha, size=picture.size)
    except (ValueError, OSError):
        return Observation()


def facts_of(asked_event: Asked) -> TurnFacts:
    """Return a question's request facts. Raise `LabError` if its run is not an endpoint run."""
    facts: TurnFacts = convert(asked_event.proposed.action.raw, TurnFacts, "a question of a conversation")
    return facts


def waiting_turn(trace: Trace) -> Turn | None:
    """Return the waiting question of a conversation, or None if there is none."""
    if trace.asked is None or trace.answered is not None or trace.ended is not None:
        return None
    return Turn(trace.id, trace.asked, facts_of(trace.asked))


def system_of(trace: Trace) -> str:
    """Return the system prompt of a conversation, the brief for whoever answers."""
    proposals = [*(step.proposed for step in trace.steps), *([trace.asked.proposed] if trace.asked else [])]
    systems = [one.action.raw.get("system", "") for one in proposals if isinstance(one.action.raw, dict)]
    return next(filter(None, reversed(systems)), "") or trace.task.policy


# -- answering ---------------------------------------------------------------------------------------------------


def check_reply(turn: Turn, reply: Reply) -> None:
    """Raise `LabError` if the client could not read a reply."""
    facts, what = turn.facts, "the answer"
    if facts.kind == "consent" and reply.decision is None:
        raise LabError(what, "a proposal is accepted or rejected, and never answered by words alone.")
    if facts.kind != "consent" and reply.decision is not None:
        raise LabError(what, "nothing is proposed here that could be accepted or rejected.")
    if reply.decision is not None and holds_tag(reply.text):
        raise LabError(what, "the remark holds a tag, and the decision is sent as one.", "Take the tag out of it.")
    tools = {tool.name: tool for tool in facts.tools}
    for call in reply.calls:
        if call.name not in tools:
            raise LabError(what, f"there is no function {call.name!r} here.")
        check_arguments(tools[call.name], call.arguments)
    if len(reply.calls) > (1 if facts.one_call else ENDPOINT_CALLS):
        most = "one function call" if facts.one_call else f"{ENDPOINT_CALLS} function calls"
        raise LabError(what, f"calls {len(reply.calls)} functions, and takes {most} at most.")
    if reply.calls and reply.decision is not None:
        raise LabError(what, "a decision calls no function.")
    if facts.must_call and tools and facts.kind in ("user", "tool") and not reply.calls and reply.by.kind == "human":
        raise LabError(
            what, "is words, and the client takes a function's call alone here.", "Call one of its functions."
        )
    if not reply.calls and reply.decision is None and not reply.text.strip():
        raise LabError(what, "is empty, and clients fail at an empty answer.")
    if facts.form is not None and not reply.calls:
        check_form(facts.form, reply.text)
    stop = next((stop for stop in facts.stops if stop in reply.text and stop not in facts.ended_by), None)
    if stop is not None and not reply.calls and reply.by.kind == "human":
        raise LabError(what, f"holds {stop!r}, and the client has its answer end there.", "Say it without.")


def give_reply(store: Store, turn: Turn, reply: Reply) -> None:
    """Commit the answer to a question, then its step. The server that holds the connection sends it.

    A text with a token that ends the conversation also ends the run.
    """
    check_reply(turn, reply)
    trace = store.runs.trace(turn.run)
    waiting = waiting_turn(trace)
    if waiting is None or waiting.question.id != turn.question.id:
        raise LabError("the question", _ANSWERED if trace.ended is None else "was closed unanswered.")
    if reply.calls:  # so that whoever reads the run sees what was done in place of words
        reply = msgspec.structs.replace(reply, text=call_words(reply.calls))
    answered_event = Answered(index=turn.asked.index, reply=reply)
    try:
        _append_events(store, turn.run, [answered_event], trace.last + 1, trace.started)
    except LabError:
        if store.runs.last_seq(turn.run) > trace.last:  # somebody else was quicker
            raise LabError("the question", _ANSWERED) from None
        raise
    finish_turn(store, turn.run)


def finish_turn(store: Store, run: str) -> None:
    """Commit the step after an answer, and the end if a token or a judgement ends the conversation."""
    trace = store.runs.trace(run)
    if trace.asked is None or trace.answered is None or trace.ended is not None:
        return
    asked_event, reply, facts = trace.asked, trace.answered.reply, facts_of(trace.asked)
    step = Step(
        index=asked_event.index,
        proposed=asked_event.proposed,
        before=asked_event.before,
        question=asked_event.question,
        reply=reply,
        started=asked_event.at,
        ended=reply.sent_at or now(),
    )
    token = next((token for token in facts.ended_by if token in reply.text and not reply.calls), "")
    events: list[AnyEvent] = [step]
    if token or facts.kind == "judge":
        events.append(Ended(status="completed", reason=f"ended by {token}" if token else "judged"))
    try:
        _append_events(store, run, events, trace.last + 1, trace.started)
    except LabError:
        if store.runs.last_seq(run) == trace.last:  # else another process did so at the same time
            raise


def check_conversation(trace: Trace, person: str = "") -> None:
    """Raise `LabError` if a run is not an endpoint conversation, or not that of `person`."""
    hint = "`hitlab serve user --list` says which are."
    if not is_conversation(trace.agent.id):
        raise LabError(f"run {trace.id}", "is no conversation of the endpoint.", hint)
    if person and (trace.user is None or trace.user.id != person):
        raise LabError(f"run {trace.id}", f"is not a conversation of {person}'s.", hint)


def close_conversation(store: Store, run: str, by: Actor, *, failed: str = "", silence: str = "") -> None:
    """End a conversation that expects nothing more. A waiting question stays unanswered.

    `failed` is the reason why nobody could answer, `silence` the time since its client disconnected.
    """
    trace = store.runs.trace(run)
    if trace.ended is not None:
        raise LabError(f"run {run}", "has ended already.")
    finish_turn(store, run)
    waits = waiting_turn(trace) is not None
    status: Literal["failed", "stopped", "completed"] = "failed" if failed else "stopped" if waits else "completed"
    cause = f"closed after {silence} of silence" if silence else f"closed by {by.id}"
    reason = failed or cause + (", a question unanswered" if waits else "")
    _append_events(store, run, [Ended(status=status, reason=reason)], store.runs.last_seq(run) + 1, trace.started)


def _append_events(
    store: Store,
    run: str,
    events: Sequence[AnyEvent],
    seq: int,
    started: str,
    blobs: Mapping[str, Blob] | None = None,
) -> None:
    """Commit events in sequence from `seq` on, each by itself."""
    for number, event in enumerate(events):
        at = now()
        placed_event = msgspec.structs.replace(event, seq=seq + number, at=at, ms=_ms_between(started, at))
        store.runs.append_event(run, placed_event, blobs)


def _ms_between(started: str, at: str) -> float:
    """Return the milliseconds between two wall times, the only clock that several processes share."""
    return max(0.0, (datetime.fromisoformat(at) - datetime.fromisoformat(started)).total_seconds() * 1000)
