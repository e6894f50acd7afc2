"""The lists of the proofreading rooms: demonstrations that wait, and what in one of them is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from lab.review import Place, Sheet, Standing, action_of
from screens.describe import action_words, one_line
from screens.lines import Lines
from screens.review.desk import Desk
from screens.review.queue import Unclear, Waiting

_SIGNS = {"": "·", "accept": "✓", "edit": "~", "reject": "✗"}
_STYLES = {"": "$foreground-muted", "accept": "$text-success", "edit": "$text-warning", "reject": "$text-error"}


class Shelf(Lines):
    """Demonstrations of this file, the newest first; Enter opens one."""

    HELP = """\
# Demonstrations

Each line is a run in which a person worked the phone. **Enter** opens one; **Esc** leaves it, and then the room.
"""
    heading_rows = 1
    empty = "Reading ..."

    def __init__(self) -> None:
        super().__init__(id="shelf", classes="pane")
        self.rows: Sequence[Waiting | Unclear] = ()

    def show(self, rows: Sequence[Waiting | Unclear]) -> None:
        """Lists others."""
        self.rows = rows
        self.empty = "No demonstration waits here. `hitlab record` makes one."
        self.changed()

    @property
    def count(self) -> int:
        return len(self.rows)

    def heading(self, width: int) -> Content:
        return Content(f"{'by':<10} {'steps':>5}  {'state':<26} task")

    def paint(self, index: int, width: int) -> Content:
        row = self.rows[index]
        head = f"{one_line(row.annotator, 10):<10} {row.steps:>5}  "
        return Content.assemble(head, (f"{_state(row):<26} ", "$text-accent"), one_line(row.intent, 300))


def _state(row: Waiting | Unclear) -> str:
    if isinstance(row, Unclear):
        return f"{row.suspects} look private" if row.suspects else "nothing suspected"
    yours = {"none": "", "begun": ", yours begun", "handed in": ", yours in"}[row.mine]
    return f"{row.state}{yours}"


class Items(Lines):
    """The demonstration as a whole and then its steps, each with this person's verdict."""

    HELP = """\
# What is proofread

The first line is the demonstration as a whole, the others are its steps: **✓** accepted, **~** edited,
**✗** rejected, **·** not looked at; for a third, **≠** two differ here, **=** they do not. `a` accepts a line and goes
on to the next, `e` edits its fields, `p` chooses the place on the phone anew, `x` rejects it and asks why. When all is
looked at, `C` hands it in; until two have, neither sees what the other said.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Edit", show=False, id="review.edit_line", tooltip="Edit this line's fields"),
    ]

    def __init__(self) -> None:
        super().__init__(id="items", classes="pane")
        self.desk: Desk | None = None
        self.sheet: Sheet | None = None
        self.standing = Standing("unreviewed")

    def show(self, desk: Desk) -> None:
        """Shows how it stands now, for the person at the desk."""
        self.desk, self.sheet, self.standing = desk, desk.sheet, desk.open_standing
        self.changed()

    @property
    def step(self) -> int | None:
        """The step under the cursor, from 0; None for the whole."""
        return self.cursor - 1 if self.cursor > 0 else None

    @property
    def count(self) -> int:
        return 0 if self.desk is None else self.desk.demo.steps + 1

    def paint(self, index: int, width: int) -> Content:
        assert self.desk is not None
        assert self.sheet is not None
        step = index - 1 if index else None
        verdict = self.sheet.verdict(step)
        differs = any(one.place.step == step for one in self.standing.differences)
        sign, style = ("≠", "$text-warning") if differs else (_SIGNS[verdict], _STYLES[verdict])
        if self.desk.settling and not differs:
            sign, style = ("✗", "$text-error") if step in self.standing.rejected else ("=", "$foreground-muted")
        if step is None:
            return Content.assemble((f"{sign} ", style), one_line(str(self.desk.value(Place(None, "intent"))), 300))
        digits = len(str(self.sheet.demo.steps))
        words = str(self.desk.value(Place(step, "instruction")))
        words = words or action_words(action_of(self.desk.value(Place(step, "action"))))
        slip = ("slip  ", "$text-warning") if step in self.desk.slips else ("", "")
        return Content.assemble((f"{sign} ", style), f"{step + 1:>{digits}}  ", slip, one_line(words, 300))
