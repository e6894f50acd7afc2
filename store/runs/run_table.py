"""Table rows of runs: thousands per second, in pages, without reading their steps."""

from __future__ import annotations

from typing import NamedTuple

from lab.core.task.task import Actor
from store.file.database import Database
from store.runs.run_acts import RunState, StoredAgents, states_where

# An open question counts as asked, and an answer as a reply, before the step that follows them.
_ROWS = """
SELECT g.n, g.id, g.task, ifnull(substr(json_extract(b.body, '$.task.title'), 1, 200), ''),
    ifnull(substr(json_extract(b.body, '$.task.instruction'), 1, 300), ''),
    g.kind, json_extract(b.body, '$.agent'), ifnull(g.persona, ''), ifnull(g.user, ''), ifnull(g.source, ''), g.attempt,
    g.steps, g.asks, g.replies, g.status, g.score, g.started_at
FROM (
    SELECT t.*,
        count(*) FILTER (WHERE e.kind = 'step') AS steps,
        total(e.question) + (ifnull(max(e.seq) FILTER (WHERE e.kind = 'asked'), -1)
            > ifnull(max(e.seq) FILTER (WHERE e.kind = 'step'), -1)) AS asks,
        total(e.reply) + (ifnull(max(e.seq) FILTER (WHERE e.kind = 'answered'), -1)
            > ifnull(max(e.seq) FILTER (WHERE e.kind = 'step'), -1)) AS replies,
        ifnull(max(e.status), 'open') AS status, max(e.score) AS score
    FROM (SELECT * FROM trace WHERE n < ? ORDER BY n DESC LIMIT ?) t CROSS JOIN event e ON e.trace = t.id
    GROUP BY t.n
) g JOIN event b ON b.trace = g.id AND b.seq = 0
ORDER BY g.n DESC
"""
# Larger than any row number.
_MAX_N = 1 << 62


class RunRow(NamedTuple):
    """A run as a table row. `n` is its position in the file. Unknown texts are empty, an unknown `score` is None.

    `title` and `instruction` are the beginnings of the task's texts. `steps`, `questions` and `replies` are counts.
    Lists leave out `archived` runs until they are restored.
    """

    n: int
    id: str
    task: str
    title: str
    instruction: str
    kind: str
    agent: str
    persona: str
    user: str
    source: str
    attempt: int
    steps: int
    questions: int
    replies: int
    status: str
    score: float | None
    started: str
    tags: tuple[str, ...] = ()
    archived: bool = False
    actor: Actor | None = None
    """The agent itself. `agent` is its identity."""


def run_table(database: Database, limit: int, before: int | None = None) -> list[RunRow]:
    """Return a page of runs, newest in this file first, including archived ones.

    `before` is the `n` of the last run of the previous page.
    """
    page = (_MAX_N if before is None else before, limit)
    states = states_where(database, "trace IN (SELECT id FROM trace WHERE n < ? ORDER BY n DESC LIMIT ?)", *page)
    agent_of = StoredAgents(database)
    rows: list[RunRow] = []
    for row in database.read(_ROWS, *page):
        actor = agent_of(row[1], row[6])
        cells = (*row[:6], actor.identity, *row[7:12], int(row[12]), int(row[13]), *row[14:])
        rows.append(RunRow._make((*cells, *states.get(row[1], RunState()), actor)))
    return rows
