"""Conversations of the endpoint: its clients' runs, their open questions, and new answers since a given row."""

from __future__ import annotations

from typing import NamedTuple

from store.file.database import Database


class ConversationRow(NamedTuple):
    """A conversation in its last event's state: `kind`, `at`, and `seq` if it is a question (`question_seq`, else -1).

    `seen` is True if somebody opened the question. `turns` counts the answers.
    """

    run: str
    task: str
    agent: str
    user: str
    started: str
    kind: str
    at: str
    question_seq: int
    seen: bool
    turns: int


class CommittedEvent(NamedTuple):
    """An event that ends a wait: its row in the file, run, `seq`, kind and body."""

    row: int
    run: str
    seq: int
    kind: str
    body: str


_ROWS = """
SELECT t.id, t.task, t.agent, ifnull(t.user, ''), t.started_at, e.kind, e.at,
    CASE WHEN e.kind = 'asked' THEN e.seq ELSE -1 END,
    e.kind = 'asked' AND EXISTS (
        SELECT 1 FROM draft d WHERE d.trace = t.id AND d.question = json_extract(e.body, '$.question.id')
    ),
    (SELECT count(*) FROM event s WHERE s.trace = t.id AND s.kind = 'step')
FROM trace t JOIN event e ON e.trace = t.id AND e.seq = (SELECT max(seq) FROM event WHERE trace = t.id)
WHERE t.agent >= ? AND t.agent < ? {which}
ORDER BY t.n DESC LIMIT ?
"""
_COUNTS = """
SELECT ifnull(t.user, ''), count(*) FROM trace t
WHERE t.agent >= ? AND t.agent < ?
    AND NOT EXISTS (SELECT 1 FROM event WHERE trace = t.id AND kind = 'ended')
GROUP BY t.user
"""
_ASKED = """
SELECT json_extract(body, '$.proposed.action.raw.kind'), json_extract(body, '$.question.text') FROM event
WHERE trace = ? AND seq = ?
"""
_FIRST_WORDS = """
SELECT substr(json_extract(body, '$.question.text'), 1, 400) FROM event
WHERE trace = ? AND kind = 'asked' ORDER BY seq LIMIT 1
"""


class Conversations:
    """Conversations of a file: runs whose agent id begins with one of the endpoint's two prefixes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._first_words: dict[str, str] = {}
        self._asked: dict[tuple[str, int], tuple[str, str]] = {}

    def rows(self, prefix: str, limit: int, *, ended: bool = True) -> list[ConversationRow]:
        """Return conversations whose agent begins with `prefix`, newest first. Leave out ended ones unless `ended`."""
        # A range finds a prefix without escaping `%` and `_`. U+10FFFF sorts after every other character.
        sql = _ROWS.format(which="" if ended else "AND e.kind <> 'ended'")
        rows = self._database.read(sql, prefix, prefix + "\U0010ffff", limit)
        return [ConversationRow._make((*row[:8], bool(row[8]), row[9])) for row in rows]

    def open_by_person(self, prefix: str) -> dict[str, int]:
        """Return the number of open conversations by person."""
        return dict(self._database.read(_COUNTS, prefix, prefix + "\U0010ffff"))

    def question_kind_and_text(self, run: str, seq: int) -> tuple[str, str]:
        """Return kind and text of a question, cached because a question may have megabytes."""
        if (run, seq) not in self._asked:
            rows = self._database.read(_ASKED, run, seq)
            self._asked[run, seq] = (str(rows[0][0] or ""), str(rows[0][1] or "")) if rows else ("", "")
        return self._asked[run, seq]

    def is_finished(self, run: str) -> bool:
        """Return False if the last answer has no step yet, as after a crash between the two."""
        rows = self._database.read("SELECT kind FROM event WHERE trace = ? ORDER BY seq DESC LIMIT 1", run)
        return not rows or rows[0][0] != "answered"

    def first_words(self, run: str) -> str:
        """Return the beginning of a conversation's first question, cached because it never changes."""
        if run not in self._first_words:
            rows = self._database.read(_FIRST_WORDS, run)
            self._first_words[run] = str(rows[0][0] or "") if rows else ""
        return self._first_words[run]

    def task_by_hash(self, prefix: str, sha: str) -> str:
        """Return the task whose id ends with a hash, among conversations with this agent prefix, empty if none."""
        sql = "SELECT task FROM trace WHERE agent >= ? AND agent < ? AND task LIKE ? ORDER BY n LIMIT 1"
        rows = self._database.read(sql, prefix, prefix + "\U0010ffff", f"%-{sha}")
        return str(rows[0][0]) if rows else ""

    def last_row(self) -> int:
        """Return the newest event's row number. It may shrink if the file is wiped meanwhile."""
        return int(self._database.read("SELECT ifnull(max(rowid), 0) FROM event")[0][0])

    def committed_after(self, row: int) -> list[CommittedEvent]:
        """Return the answers and ends after a row, in order."""
        sql = "SELECT rowid, trace, seq, kind, body FROM event WHERE rowid > ? AND kind IN ('answered', 'ended')"
        return [CommittedEvent(*values) for values in self._database.read(sql + " ORDER BY rowid", row)]

    def stamp(self) -> tuple[int, int]:
        """Return a value that changes with every new event or draft, only to be compared."""
        stamp_rows = self._database.read(
            "SELECT (SELECT ifnull(max(rowid), 0) FROM event), (SELECT ifnull(max(n), 0) FROM draft)"
        )
        return stamp_rows[0][0], stamp_rows[0][1]
