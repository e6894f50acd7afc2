"""Fork relations between runs, read from run rows and the first events of their streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lab.core.codec import decode
from lab.core.run.trace import Forked

Read = Callable[..., list[Any]]


def family(read: Read, trace_id: str) -> dict[str, tuple[str | None, Forked | None]]:
    """Map every run connected to this one by forks to its parent and fork point.

    `read` runs SQL. Ids of parents that are not in the file are left out.
    """
    parents: dict[str, str] = dict(read("SELECT id, parent FROM trace WHERE parent IS NOT NULL"))
    children: dict[str, list[str]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    seen, todo = dict.fromkeys([trace_id]), [trace_id]
    while todo:
        run = todo.pop()
        near = [*children.get(run, ()), *([parents[run]] if run in parents else ())]
        todo += [other for other in near if other not in seen]
        seen |= dict.fromkeys(near)
    return {
        run: (parents.get(run), _fork_point(read, run))
        for run in sorted(seen)
        if read("SELECT 1 FROM trace WHERE id = ?", run)
    }


def _fork_point(read: Read, run: str) -> Forked | None:
    rows = read("SELECT json_extract(body, '$.forked') FROM event WHERE trace = ? AND seq = 0", run)
    return decode(rows[0][0], Forked, f"run {run}, event 0") if rows and rows[0][0] else None
