"""List of the endpoint's conversations: the waiting question, its person, and the time."""

from __future__ import annotations

import msgspec

from lab.core.codec import convert
from lab.core.values.rounding import count
from lab.runs.descriptions import CLIENT, JUDGE, one_line
from lab.runs.endpoint.running_servers import departures
from simulators.users.endpoint.request_kinds import RequestKind
from store.runs.conversations import ConversationRow
from store.store import Store

_MOST = 2_000
_TITLE = 100
"""Longest title of a conversation, in characters."""


class ConversationLine(msgspec.Struct, frozen=True):
    """A conversation as a list row, as `hitlab serve user --list --json` prints it.

    `person` is the one it was dealt to. `client` is the session or the model that the client requested. `question`
    waits since `asked_at` (UTC), and both are empty if nothing waits. `unread` is true if nobody has opened the
    question yet. `turns` counts the answers, and `at` is the time of the last event. `left_at` (UTC) is when the
    question's client disconnected. It is empty if a client is connected, or if no endpoint reports it. `title` is the
    beginning of the first request.
    """

    run: str
    kind: RequestKind
    person: str
    client: str
    task: str
    question: str
    asked_at: str
    unread: bool
    turns: int
    ended: bool
    started: str
    at: str
    left_at: str = ""
    title: str = ""

    @property
    def is_waiting(self) -> bool:
        """True if a client waits for an answer, as far as known."""
        return bool(self.asked_at) and not self.left_at


def conversations(store: Store, person: str = "", *, ended: bool = False) -> list[ConversationLine]:
    """Return the newest conversations, optionally those of one `person`.

    Waiting ones come first, the longest wait at the top, then those without a question, then those whose client left.
    """
    rows = [row for prefix in (CLIENT, JUDGE) for row in store.conversations.rows(prefix, _MOST, ended=ended)]
    left = departures(store.path)
    lines = [_line(store, row, left.left_at(row.run, row.at)) for row in rows if person in ("", row.user)]
    waiting = sorted((line for line in lines if line.is_waiting), key=lambda line: line.asked_at)
    still = sorted((line for line in lines if not line.asked_at), key=lambda line: line.at, reverse=True)
    forsaken = sorted((line for line in lines if line.left_at), key=lambda line: line.left_at, reverse=True)
    return [*waiting, *still, *forsaken]


def _line(store: Store, row: ConversationRow, left_at: str) -> ConversationLine:
    is_asked = row.question_seq >= 0
    kind, question = store.conversations.question_kind_and_text(row.run, row.question_seq) if is_asked else ("", "")
    kind = kind or ("judge" if row.agent.startswith(JUDGE) else "user")
    return ConversationLine(
        run=row.run,
        kind=convert(kind, RequestKind, f"run {row.run}, its question"),
        person=row.user,
        client=row.agent.partition(":")[2],
        task=row.task,
        question=question,
        asked_at=row.at if is_asked else "",
        unread=is_asked and not row.seen,
        turns=row.turns,
        ended=row.kind == "ended",
        started=row.started,
        at=row.at,
        left_at=left_at if is_asked else "",
        title=one_line(store.conversations.first_words(row.run), _TITLE),
    )


def waiting_count(store: Store) -> int:
    """Return the number of conversations whose clients wait for an answer."""
    return sum(line.is_waiting for line in conversations(store, "", ended=False))


def waiting_words(waiting: int) -> str:
    """Return what becomes of waiting clients when their endpoint ends."""
    waits = (
        f"{count(waiting, 'client')} {'waits' if waiting == 1 else 'wait'} for an answer; quitting disconnects them."
    )
    return f"{waits} Their conversations stay, and `hitlab serve user` goes on with them."
