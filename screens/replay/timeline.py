"""A run's steps as a list that is scrubbed."""

from __future__ import annotations

from textual.content import Content

from screens.describe import status_words
from screens.lines import Lines
from screens.replay.reel import Line

MUTED = "$foreground-muted"
_LOUD = {"x": "$text-error", "!": "$text-error", "~": "$text-warning", "s": "$text-warning", "?": "$text-accent"}


class Timeline(Lines):
    """Step number, what stands out in it, and its action in words; the run's end is the last line."""

    HELP = """\
# Steps

Every step of the run. **?** asked the person, **x** was refused, **~** was amended, **!** failed,
**s** was a slip of whoever demonstrated.
Arrows, `j` and `k`, Home and End scrub; `n` goes to the next question, `/` searches in thoughts, actions, dialogue
and the words on the screen, `space` plays.
"""
    empty = "Reading the steps ..."

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.rows: list[Line] = []

    @property
    def count(self) -> int:
        return len(self.rows)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A step is shown as soon as the cursor is on it; there is nothing more to open."""
        return action != "choose"

    def paint(self, index: int, width: int) -> Content:
        line = self.rows[index]
        digits = len(str(len(self.rows)))
        if line.kind == "end":
            words = f"end: {status_words(line.words)}" if line.words else "the end"
            return Content.assemble((f"{'':>{digits}}    ", ""), (words, "bold"))
        mark = (line.marks or " ").ljust(2)[:2]
        words = f"waits: {line.words}" if line.kind == "asked" else line.words
        return Content.assemble(
            (f"{index + 1:>{digits}} ", MUTED),
            (f"{mark} ", f"bold {_LOUD.get(mark.strip()[-1:], '')}".strip()),
            (words, "$text-accent" if "?" in line.marks else ""),
        )

    def next_marked(self, mark: str, by: int = 1) -> int | None:
        """The nearest line after (or before) the cursor that carries a mark."""
        way = range(self.cursor + 1, self.count) if by > 0 else range(self.cursor - 1, -1, -1)
        return next((i for i in way if mark in self.rows[i].marks), None)

    def next_holding(self, needle: str, by: int = 1, *, here: bool = False) -> int | None:
        """The nearest line that holds `needle` in all that a search looks at, from the cursor on and around."""
        count, start = self.count, self.cursor + (0 if here else by)
        for i in range(count):
            at = (start + i * by) % count
            if needle in self.rows[at].text or needle in self.rows[at].words.casefold():
                return at
        return None

    def holding(self, needle: str) -> int:
        """How many lines hold `needle`."""
        return sum(needle in row.text or needle in row.words.casefold() for row in self.rows)
