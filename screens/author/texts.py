"""The texts on the phone's screen as a list, to use one as an information unit's value."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from lab.core.plain_text import plain
from lab.core.step import Observation
from lab.core.trace import Step
from lab.runs.descriptions import one_line
from lab.studies.design_drafts import texts
from screens.widgets.table import RowList


class StepTexts(RowList[str]):
    """Readable texts of a step: what was typed, asked and answered in it, then the screen from top to bottom."""

    HELP = """\
# Texts

What stands on the phone's screen at this step, and what was typed, asked or answered in it. **{author.take_text}**
takes one as the value of a new information unit; **{author.back}** leaves without one. Arrows left and right still
scrub the run. The whole of a long one stands below the list; **tab** leads there.
"""
    empty = "No text was recorded here. {author.back}, then {author.add_empty} adds an empty unit."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Take it", id="author.take_text", tooltip="A unit with this text as its value"),
    ]

    def fill(self, step: Step | None, observation: Observation | None) -> None:
        """List the texts of a step."""
        parts: list[str] = []
        if step is not None:
            parts = [step.action.text or "" if step.action else "", step.reply.text if step.reply else ""]
        lines = [plain(text.strip()) for text in parts if text.strip()] + (
            texts(observation) if observation is not None else []
        )
        self.border_title = "Which text is the unit?"
        self.set_rows(dict.fromkeys(lines))

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    @property
    def current(self) -> str:
        """The whole text under the cursor."""
        return self.rows[self.cursor] if self.rows else ""

    def paint(self, index: int, width: int) -> Content:
        return Content(one_line(self.rows[index], 300))
