"""Lists of the proofreading rooms: the waiting demonstrations, and the lines of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from lab.core.study.proofreading import ProofreadingSheet, ProofreadingState, ProofreadPlace, action_of
from lab.runs.descriptions import action_words, one_line
from lab.studies.proofreading.proofreading import ProofreadingSession
from lab.studies.proofreading.proofreading_queue import UnclearedDemonstration, WaitingDemonstration
from screens.theme import ACCENT, ERROR, MUTED, SUCCESS, WARNING
from screens.widgets.lines import LineList
from screens.widgets.table import RowList

_SIGNS = {"": "·", "accept": "✓", "edit": "~", "reject": "✗"}
_STYLES = {"": MUTED, "accept": SUCCESS, "edit": WARNING, "reject": ERROR}


class DemonstrationList(RowList[WaitingDemonstration | UnclearedDemonstration]):
    """Demonstrations of this file, the newest first. Enter opens one."""

    HELP = """\
# Demonstrations

Each line is a run in which a person worked the phone. **{list.open}** opens one; **{review.back}** leaves it, and then
the room.
"""
    heading_rows = 1
    empty = "Reading ..."

    def __init__(self) -> None:
        super().__init__("shelf")

    def show(self, rows: Sequence[WaitingDemonstration | UnclearedDemonstration]) -> None:
        """List other demonstrations."""
        self.empty = "No demonstration waits here. `hitlab record` makes one."
        self.set_rows(rows)

    def heading(self, width: int) -> Content:
        return Content(f"{'by':<10} {'steps':>5}  {'state':<26} task")

    def paint(self, index: int, width: int) -> Content:
        row = self.rows[index]
        head = f"{one_line(row.annotator, 10):<10} {row.steps:>5}  "
        return Content.assemble(head, (f"{_state_words(row):<26} ", ACCENT), one_line(row.task, 300))


def _state_words(row: WaitingDemonstration | UnclearedDemonstration) -> str:
    if isinstance(row, UnclearedDemonstration):
        return f"{row.suspects} look private" if row.suspects else "nothing suspected"
    yours = {"none": "", "begun": ", yours begun", "handed in": ", yours in"}[row.mine]
    return f"{row.state}{yours}"


class VerdictList(LineList):
    """The demonstration as a whole and then its steps, each with this person's verdict."""

    HELP = """\
# What is proofread

The first line is the demonstration as a whole, the others are its steps: **✓** accepted, **~** edited, **✗** rejected,
**·** not looked at; for a third, **≠** two differ here, **=** they do not. **{review.accept}** accepts a line and goes
on to the next, **{review.edit}** edits its fields (**{review.back}** drops what was typed), **{review.point}** chooses
the place on the phone anew, **{review.reject}** rejects it and asks why; **{review.undo}** takes back what you said
last, **{review.next}** goes to what is still to do. When all is looked at, **{review.commit}** asks and hands it in;
until two have, neither sees what the other said.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Edit", show=False, id="review.edit_line", tooltip="Edit this line's fields"),
    ]

    def __init__(self) -> None:
        super().__init__(id="items", classes="pane")
        self.session: ProofreadingSession | None = None
        self.sheet: ProofreadingSheet | None = None
        self.standing = ProofreadingState("unreviewed")

    def show(self, session: ProofreadingSession) -> None:
        """Show the current state for the person of the session."""
        self.session, self.sheet, self.standing = session, session.sheet, session.open_standing
        self.changed()

    @property
    def step(self) -> int | None:
        """The step under the cursor, from 0, or None for the whole demonstration."""
        return self.cursor - 1 if self.cursor > 0 else None

    @property
    def count(self) -> int:
        return 0 if self.session is None else self.session.demo.steps + 1

    def paint(self, index: int, width: int) -> Content:
        assert self.session is not None
        assert self.sheet is not None
        step = index - 1 if index else None
        verdict = self.sheet.verdict(step)
        differs = any(difference.place.step == step for difference in self.standing.differences)
        sign, style = ("≠", WARNING) if differs else (_SIGNS[verdict], _STYLES[verdict])
        if self.session.settling and not differs:
            sign, style = ("✗", ERROR) if step in self.standing.rejected else ("=", MUTED)
        if step is None:
            return Content.assemble(
                (f"{sign} ", style), one_line(str(self.session.value(ProofreadPlace(None, "intent"))), 300)
            )
        digits = len(str(self.sheet.demo.steps))
        words = str(self.session.value(ProofreadPlace(step, "instruction")))
        words = words or action_words(action_of(self.session.value(ProofreadPlace(step, "action"))))
        slip = ("slip  ", WARNING) if step in self.session.slips else ("", "")
        return Content.assemble((f"{sign} ", style), f"{step + 1:>{digits}}  ", slip, one_line(words, 300))
