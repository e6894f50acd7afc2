"""Planned redactions of one demonstration. Nothing is covered before the person confirms twice."""

from __future__ import annotations

from typing import Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.redaction.private_text import Suspect, places_words, suspects
from lab.core.redaction.run_redaction import nodes_with_words
from lab.core.redaction.text_redaction import TextRedaction
from lab.core.run.step import Observation
from lab.core.run.trace import Step, Trace
from lab.core.run.ui_tree import Bounds, Node

Kind = Literal["words", "box", "looks", "typed", "text"]
_MOST = 4
"""Places named in one line."""


class RedactionLine(NamedTuple):
    """A line to cover or leave: words anywhere in the run, or a box of one step (from 0)."""

    kind: Kind
    text: str
    on: bool
    step: int = -1
    box: Bounds | None = None
    where: str = ""
    """Places of suspected private text in words, the first few of many."""
    looks: str = ""
    goes: bool = False
    """True if covered words in it cover this line anyway."""


class RedactionPlan:
    """Words, and boxes by step, to cover in one run."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.words: list[str] = []
        self.boxes: dict[int, list[Bounds]] = {}
        self.everywhere = False
        self.suspects: list[Suspect] = suspects(trace)

    @property
    def count(self) -> int:
        """Number of words and boxes."""
        return len(self.words) + sum(map(len, self.boxes.values()))

    def toggle_words(self, words: str) -> None:
        """Add or remove words to cover."""
        words = " ".join(words.split())
        if words in self.words:
            self.words.remove(words)
        elif words:
            self.words.append(words)

    def toggle_box(self, step: int, box: Bounds) -> None:
        """Add or remove a box of a step's screen to cover."""
        boxes = self.boxes.setdefault(step, [])
        if box in boxes:
            boxes.remove(box)
        else:
            boxes.append(box)
        if not boxes:
            del self.boxes[step]

    def toggle(self, find: RedactionLine) -> None:
        """Add or remove a line to cover."""
        if find.box is not None:
            self.toggle_box(find.step, find.box)
        else:
            self.toggle_words(find.text)

    def finds(self, number: int, event: object, screen: Observation | None) -> list[RedactionLine]:
        """Return every line at one step (from 0): what is to be covered, what looks private, and the texts there."""
        rows = [RedactionLine("words", word, on=True) for word in self.words]
        rows += [RedactionLine("box", "", True, number, box) for box in self.boxes.get(number, ())]
        used_boxes = {row.box for row in rows if row.box is not None}
        for suspect in self.suspects:
            if suspect.box is not None:
                if suspect.steps[0] == number and suspect.box not in used_boxes:
                    rows.append(RedactionLine("looks", "", False, number, suspect.box, looks=suspect.looks))
            elif suspect.text not in self.words:
                rows.append(
                    RedactionLine("looks", suspect.text, False, where=self._suspect_place(suspect), looks=suspect.looks)
                )
        action = event.action if isinstance(event, Step) else None
        if action is not None and action.text and action.text not in self.words:
            rows.append(RedactionLine("typed", action.text, on=False))
        going = {id(node) for node in self.covered_nodes(screen)}
        nodes = screen.tree.nodes() if screen is not None and screen.tree is not None else ()
        for node in nodes:
            if node.label.strip() and node.bounds.area and node.bounds not in used_boxes:
                rows.append(RedactionLine("text", node.label, False, number, node.bounds, goes=id(node) in going))
        return rows

    def _suspect_place(self, one: Suspect) -> str:
        more = " ..." if len(one.steps) > _MOST else ""
        return places_words(one.steps[:_MOST], len(self.trace.steps)) + more

    def covered_nodes(self, screen: Observation | None) -> list[Node]:
        """Return the nodes of a screen that are covered because of the words in them."""
        try:
            return nodes_with_words(screen.tree if screen is not None else None, TextRedaction(self.words))
        except LabError:
            # Some words are too short to search for. The error appears when they are to be covered.
            return []
