"""Lineage: runs that repeat another run, so that an erasure reaches all its repetitions.

A run repeats another if one of these holds:

- its agent replays it (`recorded:ID`), possibly only from a resumption on
- it was forked from it after the beginning
- it is its reviewed text imported again
- it was imported from its export: it names its original, or shares a picture with it and contains every text typed or
  replied there
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from store.formats.hitlab_fields import EXPORTED
from store.runs.run_export import REVIEWED
from store.runs.run_rows import RECORDED_PREFIX

Read = Callable[..., Iterable[Any]]
Edges = dict[str, set[str]]

# A fork at event 0 shares only the task, not what anybody said or did.
_FORKS = """
SELECT t.parent, t.id FROM trace t JOIN event e ON e.trace = t.id AND e.seq = 0
WHERE t.parent IS NOT NULL AND ifnull(json_extract(e.body, '$.forked.seq'), 1) > 0
"""
_PLAYED = """
SELECT agent, id FROM trace WHERE agent LIKE 'recorded:%'
UNION SELECT json_extract(body, '$.by.id'), trace FROM event WHERE kind = 'resumed' AND instr(body, '"recorded:')
"""
_READ_IN = """
SELECT DISTINCT t.id FROM use mine JOIN use theirs ON theirs.sha256 = mine.sha256 AND theirs.trace <> mine.trace
JOIN trace t ON t.id = theirs.trace WHERE mine.trace = ? AND t.source IS NOT NULL AND t.source <> ?
"""
_EXPORTED = f"""
SELECT json_extract(e.body, '$.extra.{EXPORTED}'), t.id FROM trace t JOIN event e ON e.trace = t.id AND e.seq = 1
WHERE t.source IN ('dac', 'fingertip') AND instr(e.body, '"{EXPORTED}"')
"""
"""Formats without dialogue: their copies lack the replies, so their exports name the original."""
_TEXTS = """
SELECT json_extract(body, '$.reply.text'), CASE json_extract(body, '$.proposed.action.kind')
    WHEN 'input_text' THEN json_extract(body, '$.proposed.action.text') END
FROM event WHERE trace = ? AND kind = 'step'
"""
"""Texts typed and replied in a run."""


def repetitions_of(read: Read, runs: Collection[str]) -> list[str]:
    """Return the runs that directly or indirectly repeat `runs`, without these. `read` runs SQL.

    A direct fork of `runs` is not followed, because its own content decides. A fork of a repetition repeats it.
    """
    repetitions, forks = _named_copies(read), _edges(read(_FORKS))
    kin: set[str] = set(runs)
    todo = list(runs)
    while todo:
        run = todo.pop()
        near = (
            repetitions.get(run, set())
            | _imported_copies(read, run)
            | (set() if run in runs else forks.get(run, set()))
        )
        todo += near - kin
        kin |= near
    return sorted(kin - set(runs))


def related(read: Read, run: str) -> list[str]:
    """Return a run with all runs of its fork family, their repetitions, and the runs that they repeat."""
    near: Edges = {}
    for edges in (_named_copies(read), _parents(read)):
        for original, copies in edges.items():
            for copy in copies:
                near.setdefault(original, set()).add(copy)
                near.setdefault(copy, set()).add(original)
    seen, todo = {run}, [run]
    while todo:
        other = todo.pop()
        more = (near.get(other, set()) | _imported_copies(read, other)) - seen
        seen |= more
        todo += more
    here = {id for (id,) in read("SELECT id FROM trace")}
    return sorted(seen & here)


def _named_copies(read: Read) -> Edges:
    """Map runs to their replays, reviewed texts and exports that name them."""
    edges: Edges = {}
    for agent, copy in read(_PLAYED):
        edges.setdefault(str(agent).removeprefix(RECORDED_PREFIX), set()).add(copy)
    for original, copy in read(_EXPORTED):
        edges.setdefault(str(original), set()).add(copy)
    for original, copy in read("SELECT source_path, id FROM trace WHERE source = ?", REVIEWED):
        edges.setdefault(str(original), set()).add(copy)
    return edges


def _parents(read: Read) -> Edges:
    return _edges(read("SELECT parent, id FROM trace WHERE parent IS NOT NULL"))


def _edges(pairs: Iterable[Any]) -> Edges:
    edges: Edges = {}
    for original, copy in pairs:
        edges.setdefault(original, set()).add(copy)
    return edges


def _imported_copies(read: Read, run: str) -> set[str]:
    """Return the runs imported from an export of this run in another format."""
    candidates = [id for (id,) in read(_READ_IN, run, REVIEWED)]
    words = _texts(read, run) if candidates else set()
    # Without any text, a shared picture such as a home screen proves nothing.
    return {id for id in candidates if words and words <= _texts(read, id)}


def _texts(read: Read, run: str) -> set[str]:
    return {text.strip() for row in read(_TEXTS, run) for text in row if isinstance(text, str) and text.strip()}
