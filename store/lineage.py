"""Lineage: which runs repeat another run, so that what is erased from one is erased from all that repeat it.

A run repeats another where its agent is that run played again (`recorded:ID`, also from a resumption on), where it was
forked from it behind its beginning, where it is its reviewed text brought back, or where it was read in from an export
of it: it then tells so, or shows one of its pictures and holds every text that was typed or replied there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from store.formats.hitlab_fields import EXPORTED
from store.run_export import REVIEWED
from store.run_rows import RECORDED

Read = Callable[..., Iterable[Any]]
Edges = dict[str, set[str]]

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
"""Formats that keep no dialogue: what was replied stands in no copy, so that these tell what they are copies of."""
_TEXTS = """
SELECT json_extract(body, '$.reply.text'), CASE json_extract(body, '$.proposed.action.kind')
    WHEN 'input_text' THEN json_extract(body, '$.proposed.action.text') END
FROM event WHERE trace = ? AND kind = 'step'
"""
"""What was replied and typed in a run."""


def repeats(read: Read, runs: Collection[str]) -> list[str]:
    """The runs that repeat one of these, or what repeats it; not these themselves. `read` runs SQL.

    A fork of one of `runs` is told by what stands in it, as they are; a fork of a repetition repeats it.
    """
    repetitions, forks = _played(read), _forks(read)
    kin: set[str] = set(runs)
    todo = list(runs)
    while todo:
        run = todo.pop()
        near = repetitions.get(run, set()) | _read_in(read, run) | (set() if run in runs else forks.get(run, set()))
        todo += near - kin
        kin |= near
    return sorted(kin - set(runs))


def related(read: Read, run: str) -> list[str]:
    """A run, whatever shares a beginning with it, whatever repeats one of these, and whatever one of these repeats."""
    near: Edges = {}
    for edges in (_played(read), _parents(read)):
        for of, copies in edges.items():
            for copy in copies:
                near.setdefault(of, set()).add(copy)
                near.setdefault(copy, set()).add(of)
    seen, todo = {run}, [run]
    while todo:
        other = todo.pop()
        more = (near.get(other, set()) | _read_in(read, other)) - seen
        seen |= more
        todo += more
    here = {id for (id,) in read("SELECT id FROM trace")}
    return sorted(seen & here)


def _played(read: Read) -> Edges:
    """Runs by which runs play or tell them again: as a recorded agent, as reviewed text, or as exports that say so."""
    edges: Edges = {}
    for agent, copy in read(_PLAYED):
        edges.setdefault(str(agent).removeprefix(RECORDED), set()).add(copy)
    for of, copy in read(_EXPORTED):
        edges.setdefault(str(of), set()).add(copy)
    for of, copy in read("SELECT source_path, id FROM trace WHERE source = ?", REVIEWED):
        edges.setdefault(str(of), set()).add(copy)
    return edges


def _forks(read: Read) -> Edges:
    """Runs by which forks hold more of them than the beginning."""
    return _edges(read(_FORKS))


def _parents(read: Read) -> Edges:
    return _edges(read("SELECT parent, id FROM trace WHERE parent IS NOT NULL"))


def _edges(pairs: Iterable[Any]) -> Edges:
    edges: Edges = {}
    for of, copy in pairs:
        edges.setdefault(of, set()).add(copy)
    return edges


def _read_in(read: Read, run: str) -> set[str]:
    """Runs that were read in from an export of this one in another format."""
    candidates = [id for (id,) in read(_READ_IN, run, REVIEWED)]
    words = _texts(read, run) if candidates else set()
    return {id for id in candidates if words and words <= _texts(read, id)}


def _texts(read: Read, run: str) -> set[str]:
    return {text.strip() for row in read(_TEXTS, run) for text in row if isinstance(text, str) and text.strip()}
