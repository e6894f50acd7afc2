"""The runs that were forked from one another, as a tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lab.core.run_records import RelatedRun
from lab.core.trace import Forked


class Limb(NamedTuple):
    """One run in its tree: `depth` from 0, and `last` for each level whether nothing more hangs below there."""

    kin: RelatedRun
    depth: int
    last: tuple[bool, ...]

    @property
    def stem(self) -> str:
        """The lines that lead to it."""
        if not self.last:
            return ""
        return "".join("   " if last else "│  " for last in self.last[:-1]) + ("└─ " if self.last[-1] else "├─ ")


def tree(family: Iterable[RelatedRun]) -> list[Limb]:
    """Every run below the one it was forked from, in the order of their forks' steps and then as given."""
    kin = list(family)
    run_ids = {one.id for one in kin}
    below: dict[str | None, list[RelatedRun]] = {}
    for one in kin:
        below.setdefault(one.parent if one.parent in run_ids else None, []).append(one)
    for children in below.values():
        children.sort(key=lambda one: one.forked.index if one.forked else -1)
    limbs: list[Limb] = []
    stack = [Limb(one, 0, ()) for one in reversed(below.get(None, []))]
    while stack:
        limb = stack.pop()
        limbs.append(limb)
        children = below.get(limb.kin.id, [])
        under = [Limb(one, limb.depth + 1, (*limb.last, one is children[-1])) for one in children]
        stack += reversed(under)
    return limbs


def change_words(forked: Forked | None) -> str:
    """What a fork does otherwise, in one line: `reply reject: Not today`; the parent's own beginning has none."""
    if forked is None:
        return ""
    return ", ".join(f"{what} {to}" for what, to in forked.changes) or "once more"
