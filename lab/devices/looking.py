"""One observation of a phone: a lossless picture and a tree that belong together, and no password in either."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from lab.devices import screencap
from lab.devices.covering import painted_over, password_boxes
from lab.devices.dump import Dumper
from lab.devices.glance import Glance, glance
from lab.devices.shell import Shell
from lab.hiding import tree_without
from lab.seams import Screen
from lab.uitree import Bounds, UiTree

_TRIES = 3
_NOTHING = UiTree()


class Looker:
    """Observes one phone. `glance` is what its services said at the last observation."""

    def __init__(self, shell: Shell, dumper: Dumper, glanced: Glance) -> None:
        self._shell, self._dumper = shell, dumper
        self.glance = glanced
        self._passwords: tuple[str, list[Bounds]] = ("", [])
        """The activity that last showed password fields, and where."""

    def observe(self) -> Screen:
        """What the phone shows now; `Trouble` where it does not answer, or its screenshot fails."""
        png, trees = consistent(lambda: screencap.png(self._shell), self._dumper.tree)
        self.glance = glance(self._shell)
        tree = trees[-1] if trees else msgspec.structs.replace(_NOTHING, rotation=self.glance.rotation)
        size = screencap.png_size(png)
        png = painted_over(png, self._places(trees, Bounds(0, 0, *size)))
        return Screen(png, size, tree_without(tree), self.glance.activity, self.glance.at)

    def _places(self, trees: list[UiTree], whole: Bounds) -> list[Bounds]:
        """Where passwords may be seen. Without a tree: where this activity last had them, or else anywhere."""
        if trees:
            self._passwords = (self.glance.activity, password_boxes(*trees))
            return self._passwords[1]
        if not self.glance.password:
            return []
        known, places = self._passwords
        return places if known == self.glance.activity and places else [whole]


def consistent(picture: Callable[[], bytes], dump: Callable[[], UiTree | None]) -> tuple[bytes, list[UiTree]]:
    """A picture, and the trees taken around it, of which the last belongs to it; none where none can be had.

    They belong together where the picture before the dump is the one after it, or the tree before the picture the
    one after it: what then changes (a cursor, a film) is no node. After three dumps the newest of both stands.
    """
    before = picture()
    trees: list[UiTree] = []
    for _ in range(_TRIES):
        tree = dump()
        if tree is None:
            return before, trees[:0]
        trees.append(tree)
        if len(trees) > 1 and trees[-2] == tree:
            return before, trees
        after = picture()
        if after == before:
            return before, trees
        before = after
    return before, trees
