"""The steps of a demonstration so far: their instructions, and which were slips."""

from __future__ import annotations

from textual.content import Content

from lab.core.trace import Step
from lab.runs.descriptions import action_words, one_line
from screens.theme import LOUD_ERROR, LOUD_WARNING, MUTED, WARNING
from screens.widgets.table import RowList

_ROOMY = 56
"""Columns from which a line also names the action beside its instruction."""


class StepList(RowList[Step]):
    """One line per step. The newest is in sight."""

    HELP = """\
# Steps

What you have done so far, and the instruction that each step carries out. **{record.slip}** says that the step under
the cursor was a slip of the hand, or that it was none: a phone cannot undo it, but who reads the demonstration should
know. **!** failed.
"""
    empty = "No step yet."

    def __init__(self) -> None:
        super().__init__("steps")
        self.slips: set[int] = set()
        self.border_title = "Steps"

    def add(self, step: Step) -> None:
        """Append a step and move the cursor to it."""
        self.rows.append(step)
        self.changed()
        self.go(self.count - 1)

    def flag(self, index: int, on: bool) -> None:
        """Set or clear the slip flag of the step with this index (from 0)."""
        (self.slips.add if on else self.slips.discard)(index)
        self.refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable Enter, because a step here cannot be opened."""
        return action != "choose"

    def paint(self, index: int, width: int) -> Content:
        step = self.rows[index]
        action = step.action or step.proposed.action
        description = action_words(action)
        slip = step.index in self.slips
        mark = "!" if step.error else "s" if slip else " "
        text = one_line(step.proposed.instruction) or description
        digits = len(str(self.rows[-1].index + 1))
        parts: list[tuple[str, str]] = [
            (f"{step.index + 1:>{digits}} ", MUTED),
            (f"{mark} ", LOUD_ERROR if step.error else LOUD_WARNING),
            (text, "strike" if slip else ""),
        ]
        if slip:
            parts.append(("  slip", WARNING))
        if width >= _ROOMY and description.casefold() != text.casefold():
            parts.append((f"  {description}", MUTED))
        return Content.assemble(*parts)
