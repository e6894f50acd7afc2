"""A list of what a tap on the phone may have meant. A digit chooses."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message

from lab.core.run.step import Point
from lab.core.run.tap_targets import TapTarget, nearest_targets
from lab.core.run.ui_tree import UiTree
from lab.runs.descriptions import one_line, point_words
from screens.theme import MUTED
from screens.widgets.lines import LineList

_MOST, _MOST_SHORT = 6, 4
"""Maximum nodes in the list, in a high and in a low terminal. The last line is always the exact pixel."""
_ROOMY = 48
"""Columns from which the list also shows a node's role and its distance in dp."""


class NearList(LineList):
    """The node that was hit, the nearest other nodes, and the exact pixel. The line under the cursor is the target."""

    HELP = """\
# Where it should go

What you tapped, and what is nearest to it: first what reacts to a touch. A **digit** takes another, **{list.open}**
does it there, another tap on the phone looks anew. **{run.back}** goes back.
"""
    DEFAULT_CSS = """
    NearList { height: auto; display: none; }
    """

    @dataclass
    class TargetChosen(Message):
        """Message: Enter chose this point."""

        near: NearList
        at: Point

        @property
        def control(self) -> NearList:
            return self.near

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.rows: list[TapTarget] = []
        self.tapped: Point = (0, 0)

    @property
    def count(self) -> int:
        return len(self.rows) + 1

    @property
    def chosen_point(self) -> Point:
        """The chosen pixel: the middle of a node, or the tapped one."""
        return self.rows[self.cursor].node.bounds.center if self.cursor < len(self.rows) else self.tapped

    def list_near(self, tree: UiTree | None, at: Point) -> None:
        """List the nodes near a pixel and mark the one that was hit."""
        self.tapped = at
        most = _MOST_SHORT if self.screen.has_class("-short") else _MOST
        self.rows = nearest_targets(tree, at, most) if tree is not None else []
        # Without its watcher, which would report a line that nobody chose.
        self.set_reactive(LineList.cursor, 0)
        self.styles.height = self.count
        self.display = True
        self.changed()
        self.scroll_to(y=0, animate=False)

    def close(self) -> None:
        """Hide the list."""
        self.display = False

    def paint(self, index: int, width: int) -> Content:
        digit = (f"{index + 1}", "bold underline")
        if index == len(self.rows):
            return Content.assemble(digit, (f"  just there, {point_words(self.tapped)}", ""))
        near = self.rows[index]
        off = f"{near.px} px, {near.dp} dp off" if width >= _ROOMY else f"{near.px} px"
        where = "hit" if near.hit else off if near.px else "around it"
        where += "" if near.reacts else ", inert"
        tail = f"  {one_line(near.role, 20)}  {where}" if width >= _ROOMY else f"  {where}"
        room = max(8, width - 3 - len(tail) - 2)
        words = Content(one_line(near.words)).truncate(room, ellipsis=True).plain
        name = f'"{words}"' if words else "(no words)"
        return Content.assemble(digit, "  ", (name, "bold" if near.hit else ""), (tail, MUTED))

    def action_choose(self) -> None:
        self.post_message(self.TargetChosen(self, self.chosen_point))

    def on_key(self, event: events.Key) -> None:
        """Choose a line by a digit, in any width that an input method writes."""
        character = event.character or ""
        number = unicodedata.decimal(character, 0) if len(character) == 1 else 0
        if 1 <= number <= self.count:
            event.stop()
            self.go(number - 1)
