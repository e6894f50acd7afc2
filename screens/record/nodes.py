"""A list of tappable nodes with a text filter, to touch the phone without a mouse."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input

from lab.core.run.tap_targets import role_of
from lab.core.run.ui_tree import Node, UiTree
from lab.core.task.instruction_wording import name_of, tappable
from lab.core.text.plain_text import plain
from screens.key_names import focus_opened
from screens.theme import MUTED
from screens.widgets.lines import LineList
from screens.widgets.text_fields import TextLine

_MOST, _MOST_SHORT = 9, 5
"""Visible lines in a high and in a low terminal."""


class NodeLines(LineList, can_focus=False):
    """The matching nodes, the first nine with a digit. The filter above handles the keys."""

    empty = "Nothing fits these words."
    DEFAULT_CSS = """
    NodeLines { height: auto; }
    """

    def __init__(self) -> None:
        super().__init__(id="node-lines")
        self.rows: list[Node] = []

    @property
    def count(self) -> int:
        return len(self.rows)

    def paint(self, index: int, width: int) -> Content:
        node = self.rows[index]
        digit = (f"{index + 1}" if index < 9 else " ", "bold underline")
        tail = f"  {plain(role_of(node), lines=False)}"
        words = plain(name_of(node), lines=False) or "(no words)"
        room = max(8, width - 3 - len(tail))
        mark = "› " if index == self.cursor else "  "
        return Content.assemble(digit, mark, (Content(words).truncate(room, ellipsis=True).plain, ""), (tail, MUTED))


class NodeFilter(TextLine):
    """Words that a node must contain.

    Arrows move in the list below, and a digit chooses from it while the field is empty.
    """

    HELP = """
    What can be tapped here, in reading order. Type words to find it, **arrows** move, **Enter** takes it; a **digit**
    takes one of the first nine while nothing is typed. **{run.back}** goes back.
    """

    @dataclass
    class Moved(Message):
        """Message: move the cursor by a line."""

        by: int

    @dataclass
    class Digit(Message):
        """Message: choose one of the first nine lines, from 1."""

        number: int

    # Overrides Textual's own handler: bindings would come only after the field has taken the digit.
    async def _on_key(self, event: events.Key) -> None:
        character = event.character or ""
        number = unicodedata.decimal(character, 0) if len(character) == 1 else 0
        if event.key in ("up", "down"):
            self.post_message(self.Moved(1 if event.key == "down" else -1))
        elif not self.value and number:
            self.post_message(self.Digit(number))
        else:
            return await super()._on_key(event)
        event.stop()
        event.prevent_default()


class NodePicker(Vertical):
    """A filter and the matching nodes."""

    DEFAULT_CSS = """
    NodePicker { height: auto; display: none; }
    """

    @dataclass
    class NodeChosen(Message):
        """Message: tap this node."""

        node: Node

    @dataclass
    class NodeHighlighted(Message):
        """Message: the node under the cursor, or None if there is none."""

        node: Node | None

    def __init__(self) -> None:
        super().__init__(id="nodes")
        self._tappable: list[tuple[str, Node]] = []
        self._filter = NodeFilter(id="node-filter", compact=True, placeholder="words of what you want to tap")
        self._lines = NodeLines()

    def compose(self) -> ComposeResult:
        yield self._filter
        yield self._lines

    def open(self, tree: UiTree) -> None:
        """List the tappable nodes of this screen, and focus the filter."""
        self._tappable = [(" ".join(n.label for n in node.walk()).casefold(), node) for node in tappable(tree)]
        self.display = True
        self._filter.clear()
        focus_opened(self._filter)
        self._list_matches()

    def close(self) -> None:
        """Hide the list."""
        self.display = False

    def _list_matches(self) -> None:
        words = self._filter.value.casefold().split()
        self._lines.rows = [node for text, node in self._tappable if all(word in text for word in words)]
        most = _MOST_SHORT if self.screen.has_class("-short") else _MOST
        self._lines.styles.height = max(1, min(most, self._lines.count))
        # Without its watcher: `_post_aimed` below reports the node once.
        self._lines.set_reactive(LineList.cursor, 0)
        self._lines.changed()
        self._lines.scroll_to(y=0, animate=False)
        self._post_aimed()

    def _post_aimed(self) -> None:
        rows = self._lines.rows
        self.post_message(self.NodeHighlighted(rows[self._lines.cursor] if rows else None))

    @on(Input.Changed)
    def _filter_nodes(self, message: Input.Changed) -> None:
        message.stop()
        if self.display:
            self._list_matches()

    @on(NodeFilter.Moved)
    def _move_cursor(self, message: NodeFilter.Moved) -> None:
        message.stop()
        self._lines.go(self._lines.cursor + message.by)

    @on(LineList.Highlighted)
    def _aim_highlighted(self, message: LineList.Highlighted) -> None:
        message.stop()
        if self.display:
            self._post_aimed()

    @on(NodeFilter.Digit)
    def _take_digit(self, message: NodeFilter.Digit) -> None:
        message.stop()
        self._take_line(message.number - 1)

    @on(Input.Submitted)
    @on(LineList.Chosen)
    def _take_current(self, message: Message) -> None:
        message.stop()
        self._take_line(self._lines.cursor)

    def _take_line(self, number: int) -> None:
        if number < self._lines.count:
            self.post_message(self.NodeChosen(self._lines.rows[number]))
