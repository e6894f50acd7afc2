"""Acts of `serve user` without serving: list conversations, answer a question, end a conversation."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

import msgspec

from lab.cli.arguments import Arguments, flag, option, share, study_codes, typed_words
from lab.cli.database import open_store
from lab.cli.output import print_line, print_result, print_table, run_id_cell
from lab.core.errors import LabError
from lab.core.run.screen_clock import format_duration, seconds_passed
from lab.core.run.step import Reply, ToolCall
from lab.core.settings import Settings
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now
from lab.runs.descriptions import one_line
from lab.runs.endpoint.conversation_list import ConversationLine, conversations
from lab.runs.endpoint.conversation_run import (
    Turn,
    calls_of,
    check_conversation,
    close_conversation,
    give_reply,
    waiting_turn,
)
from lab.studies.seats import may_run
from simulators.users.endpoint.request_kinds import holds_tag, score_text

_WIDEST = 300
"""Characters of a question in a list. `--json` and `hitlab runs show` have all of it."""


class AnswerActArguments(Arguments):
    person: builtins.list[str] | None = option(
        "CODE", "answer as this person; several (e.g. P01,P02) share the conversations", "--person", "--as",
        type=study_codes, completes="rater",
    )  # fmt: skip
    list: bool = flag("list the open conversations")
    all: bool = flag("with --list: also list ended conversations")
    reply: str | None = option(
        "RUN", "answer the question that waits in this conversation (e.g. 019a)", completes="run"
    )
    text: str | None = option("TEXT", "with --reply: the words, or the reason of a score", type=typed_words)
    accept: bool = flag("with --reply: accept the proposal", one_of="decision")
    reject: bool = flag("with --reply: reject the proposal", one_of="decision")
    tool: builtins.list[str] | None = option(
        "NAME", "with --reply: have the client call this function; repeatable", action="append"
    )
    arguments: builtins.list[str] | None = option(
        "JSON", "with --tool: its arguments as a JSON object; one for each --tool", action="append"
    )
    score: float | None = option("X", "with --reply: a judge's score from 0 to 1", type=share)
    close: str | None = option("RUN", "end a conversation that expects nothing more", completes="run")


class ReplyGiven(msgspec.Struct, frozen=True):
    """Result of `serve user --reply` or `serve user --close`. `status` is the run's new status."""

    run: str
    status: str
    questions: int
    replies: int


def list_conversations(args: AnswerActArguments, settings: Settings) -> int:
    """Print the open conversations, or all."""
    # A person who may not run anything sees their own conversations only.
    whose = settings.person if args.person or not may_run(settings.seat) else ""
    with open_store(settings, create=False, readonly=True) as store:
        lines = conversations(store, whose, ended=args.all)
    print_result(lines, _print_lines, json=args.json, nothing="no conversation is open")
    return 0


def _print_lines(lines: Sequence[ConversationLine]) -> None:
    rows = [
        [
            run_id_cell(line.run),
            line.person,
            line.client,
            "judge" if line.kind == "judge" else line.task,
            str(line.turns),
            _state(line),
            one_line(line.question or line.title, _WIDEST),
        ]
        for line in lines
    ]
    columns = ["run", "person", "client", "task", "turns", "state", "question"]
    print_table(columns, rows, wide="question", records=(ConversationLine, lines))


def _state(line: ConversationLine) -> str:
    if line.ended:
        return "ended"
    if line.left_at:
        return f"client left {format_duration(seconds_passed(line.left_at, now()))} ago"
    return f"waits {waiting_words(line.asked_at)}" if line.is_waiting else "answered"


def waiting_words(since: str) -> str:
    """Format the time that a question has waited."""
    seconds = max(0, int((datetime.now(UTC) - datetime.fromisoformat(since)).total_seconds()))
    return f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"


def act(args: AnswerActArguments, settings: Settings) -> int:
    """Answer or end one conversation, under the same rules as the screen."""
    by = Actor("human", settings.person)
    with open_store(settings, create=False) as store:
        run = store.runs.find(args.reply or args.close or "")
        check_conversation(store.runs.trace(run), "" if may_run(settings.seat) else settings.person)
        if args.close is not None:
            close_conversation(store, run, by)
        else:
            turn = waiting_turn(store.runs.trace(run))
            if turn is None:
                raise LabError(f"run {run}", "waits for no answer.", "`hitlab serve user --list` says what does.")
            give_reply(store, turn, _typed_reply(args, turn, by))
        trace = store.runs.trace(run)
    result = ReplyGiven(run, trace.status, trace.questions, trace.replies)
    words = f"run {run}: {trace.replies} of {trace.questions} answered, {trace.status}"
    print_result(result, lambda _: print_line(words), json=args.json)
    return 0


def _typed_reply(args: AnswerActArguments, turn: Turn, by: Actor) -> Reply:
    """Return the reply on the command line, checked as the screen checks it."""
    text = args.text or ""
    calls: tuple[ToolCall, ...] = ()
    if args.score is not None:
        if turn.facts.kind != "judge":
            raise LabError("--score", "is a judge's, and this is a user's question.", code=2)
        if holds_tag(text):
            raise LabError("--text", "holds a tag, and the score is sent as one.", code=2)
        text = score_text(args.score, text)
    if args.tool is not None:
        arguments = args.arguments or ["{}"] * len(args.tool)
        calls = calls_of(turn.question, zip(args.tool, arguments, strict=True))
    decision: Literal["accept", "reject"] | None = "accept" if args.accept else "reject" if args.reject else None
    return Reply(turn.question.id, text, by, decision, sent_at=now(), calls=calls)
