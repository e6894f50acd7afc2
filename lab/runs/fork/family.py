"""The tree of runs that were forked from one another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lab.core.run.run_records import RelatedRun
from lab.core.run.trace import Forked


class TreeLine(NamedTuple):
    """One run in its tree: `depth` from 0, and for each level in `last`, True if no sibling follows there."""

    run: RelatedRun
    depth: int
    last: tuple[bool, ...]

    @property
    def stem(self) -> str:
        """The tree's lines before it."""
        if not self.last:
            return ""
        return "".join("   " if last else "│  " for last in self.last[:-1]) + ("└─ " if self.last[-1] else "├─ ")


def tree(family: Iterable[RelatedRun]) -> list[TreeLine]:
    """Return every run below its parent, ordered by the steps of the forks, then as given."""
    kin = list(family)
    run_ids = {run.id for run in kin}
    below: dict[str | None, list[RelatedRun]] = {}
    for run in kin:
        below.setdefault(run.parent if run.parent in run_ids else None, []).append(run)
    for children in below.values():
        children.sort(key=lambda run: run.forked.index if run.forked else -1)
    limbs: list[TreeLine] = []
    stack = [TreeLine(run, 0, ()) for run in reversed(below.get(None, []))]
    while stack:
        limb = stack.pop()
        limbs.append(limb)
        children = below.get(limb.run.id, [])
        under = [TreeLine(run, limb.depth + 1, (*limb.last, run is children[-1])) for run in children]
        stack += reversed(under)
    return limbs


def change_words(forked: Forked | None) -> str:
    """Describe a fork's changes in one line: `reply reject: Not today`, empty for a run that is not a fork."""
    if forked is None:
        return ""
    return ", ".join(f"{what} {to}" for what, to in forked.changes) or "once more"
