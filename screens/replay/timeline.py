"""A run's steps as a list."""

from __future__ import annotations

from textual.content import Content

from lab.core.text.read_text import without_blanks
from lab.core.values.rounding import count
from lab.runs.descriptions import status_words
from lab.runs.replay.recorded_run import RecordedPlace
from screens.theme import ACCENT, ERROR, LOUD_WARNING, MUTED, WARNING
from screens.widgets.lines import LineList

_LOUD = {"x": ERROR, "!": ERROR, "~": WARNING, "s": WARNING, "?": ACCENT}


class Timeline(LineList):
    """Step number, marks and action in words. The last line is the run's end."""

    HELP = """\
# Steps

Every step of the run. **?** asked the person, **x** was refused, **~** was amended, **!** failed, **s** was a slip of
whoever demonstrated. Arrows, **{list.down:j}** and **{list.up:k}**, **{list.first}** and **{list.last}** scrub;
**{replay.question}** goes to the next question, **{replay.search}** searches in thoughts, actions, dialogue and the
words on the screen, **{replay.play}** plays. A step that holds what is looked for has **▸**, and **▹** where the words
were read from its picture alone.
"""
    empty = "Reading the steps ..."

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.rows: list[RecordedPlace] = []
        self.needle = ""
        """Search text with its case folded, whose matches are marked, empty for none."""
        self.read: dict[str, str] = {}
        """Search texts of pictures (by sha256) without words of the phone."""
        self.evidence_steps: frozenset[int] = frozenset()
        """Steps, from 0, that evidence names. Each is marked."""

    @property
    def count(self) -> int:
        return len(self.rows)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable Enter, because the step under the cursor is shown already."""
        return action != "choose"

    def paint(self, index: int, width: int) -> Content:
        line = self.rows[index]
        digits = len(str(len(self.rows)))
        content = self._paint_line(index, line, digits)
        if index not in self.evidence_steps:
            return content
        return Content.assemble(content[:digits], ("◆", "bold $text-success"), content[digits + 1 :])

    def _paint_line(self, index: int, line: RecordedPlace, digits: int) -> Content:
        if line.kind == "end":
            words = f"end: {status_words(line.words)}" if line.words else "the end"
            sign = "▸" if self.matches(line) else " "
            return Content.assemble((f"{'':>{digits}}{sign}   ", LOUD_WARNING), (words, "bold"))
        is_match = self.matches(line)
        sign = " " if not is_match else "▸" if _matches_recorded(line, self.needle) else "▹"
        mark = (line.marks or " ").ljust(2)[:2]
        words = f"waits: {line.words}" if line.kind == "asked" else line.words
        return Content.assemble(
            (f"{index + 1:>{digits}}{sign}", LOUD_WARNING if is_match else MUTED),
            (f"{mark} ", f"bold {_LOUD.get(mark.strip()[-1:], '')}".strip()),
            (words, ACCENT if "?" in line.marks else ""),
        )

    def next_marked(self, mark: str, by: int = 1) -> int | None:
        """Return the nearest line after (or before) the cursor with a mark, or None if there is none."""
        indices = range(self.cursor + 1, self.count) if by > 0 else range(self.cursor - 1, -1, -1)
        return next((i for i in indices if mark in self.rows[i].marks), None)

    def next_holding(self, needle: str, by: int = 1, *, here: bool = False) -> int | None:
        """Return the nearest match of `needle` from the cursor on, wrapping around, or None if there is none."""
        start = self.cursor + (0 if here else by)
        for i in range(self.count):
            index = (start + i * by) % self.count
            if self._matches(self.rows[index], needle):
                return index
        return None

    def match_words(self, needle: str) -> str:
        """Return the number of steps that match, and the end if it does, in words, empty if nothing matches."""
        steps = sum(row.kind != "end" and self._matches(row, needle) for row in self.rows)
        ends = any(row.kind == "end" and self._matches(row, needle) for row in self.rows)
        return " and ".join([count(steps, "step")] * bool(steps) + ["the end"] * ends)

    def count_read_matches(self, needle: str) -> int:
        """Return how many lines match only by words read from their picture."""
        return sum(not _matches_recorded(row, needle) and self._matches_read(row, needle) for row in self.rows)

    def mark_evidence(self, steps: frozenset[int]) -> None:
        """Mark other steps as named by evidence, counted from 0."""
        others, self.evidence_steps = steps ^ self.evidence_steps, steps
        self.repaint_lines(*others)

    def set_needle(self, needle: str) -> None:
        """Mark the lines that hold `needle`. An empty needle marks none."""
        if needle != self.needle:
            self.needle = needle
            self.refresh()

    def matches(self, line: RecordedPlace) -> bool:
        """Return True if a line matches the search."""
        return bool(self.needle) and self._matches(line, self.needle)

    def _matches(self, line: RecordedPlace, needle: str) -> bool:
        return _matches_recorded(line, needle) or self._matches_read(line, needle)

    def _matches_read(self, line: RecordedPlace, needle: str) -> bool:
        """Return True if the words read from a line's picture hold `needle`, ignoring blanks."""
        return without_blanks(needle) in self.read.get(line.image, "")


def _matches_recorded(line: RecordedPlace, needle: str) -> bool:
    return needle in line.text or needle in line.words.casefold()
