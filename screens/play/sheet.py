"""The questions after a run that was played: the sheet of Annotate, without what only a run beside it has use for."""

from __future__ import annotations

from screens.annotate.pace import Pace
from screens.annotate.rows import Items
from screens.annotate.sheet import SheetPane
from screens.clock import Clock


class PlayItems(Items):
    """The questions, and at last the line that hands in."""

    HELP = """\
# The questions

Each line is a question: **✓** answered, **–** skipped or not judged, **·** open. A digit answers the one under the
cursor and goes on to the next; **Enter** goes on, too, and on an open one shows the *other answers*: skip, cannot
judge, a note. On the last line **Enter** hands in. **↑** **↓** change lines, `z` takes the last answer back, `t` tells
what each answer means. Every answer is on the disk before it is shown here.
"""


class PlaySheet(SheetPane):
    """A sheet with no run beside it: no answer rests on a step, and `title` stands above it."""

    def __init__(self, clock: Clock, pace: Pace) -> None:
        super().__init__(clock=clock, pace=pace)
        self.items = PlayItems()
        self.title = ""

    def say(self, wrong: str) -> None:
        super().say(wrong)
        if self.title:
            self.items.border_title = self.title

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("evidence", "to_evidence", "region"):
            return False
        return super().check_action(action, parameters)
