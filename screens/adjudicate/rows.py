"""The two lists of Adjudicate: the disputed items, and the answers to one item side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from lab.core.study.study import Unit
from lab.studies.rating.sheet_wording import Wording
from lab.studies.settling.adjudication import ItemAnswers, MaskedAnswer
from screens.adjudicate.words import SettlementDraft, dispute_words, queue_heading, voice_words
from screens.widgets.lines import LineList
from screens.widgets.table import RowList

if TYPE_CHECKING:
    from annotators.adjudication import DisputedPlace


class DisputeList(RowList["DisputedPlace"]):
    """Open disputes, units that change the result most first, followed by the settled ones."""

    HELP = """\
# To be settled

Each line is an item on which people did not all give the same answer, **≠** open, **✓** settled. Runs that move the
agreement of the study most come first: *moves* is by how much Krippendorff's alpha of the question would change
without that run. **{list.open}** opens an item. **{adjudicate.filter}** lists one question alone.
**{adjudicate.at_once}** settles all that are listed at once, by what most say, with one reason;
**{adjudicate.undo_batch}** takes that back. `hitlab labels adjudicate STUDY --majority --reason TEXT` does the same.
"""
    heading_rows = 1
    empty = "Reading what people said ..."

    def __init__(self) -> None:
        super().__init__("adjudicate-queue")
        self.way: Wording | None = None
        self._units: Mapping[str, Unit] = {}
        self._numbers: dict[str, int] = {}

    def show(self, rows: list[DisputedPlace], units: Mapping[str, Unit], way: Wording) -> None:
        """List other disputes."""
        self._units, self.way = units, way
        self._numbers = {id: number for number, id in enumerate(units, 1)}
        self.set_rows(rows)

    def heading(self, width: int) -> Content:
        return queue_heading(self.way, width) if self.way is not None and self.rows else Content("")

    def paint(self, index: int, width: int) -> Content:
        row = self.rows[index]
        assert self.way is not None
        return dispute_words(self.way, self._units[row.unit], self._numbers[row.unit], row, width)


class AnswerList(RowList[MaskedAnswer], inherit_bindings=False):
    """All answers to one item. Judges' answers are below people's if they are shown."""

    HELP = """\
# Answers side by side

Each line is one rater's answer, with the step it rests on, flags, how sure they were, and **✎** for a note, which
stands below. Raters are letters, shuffled anew in each run, until all of its items are decided. **{list.up}**
**{list.down}** go from one to the next, and the run beside goes to the step of that answer;
**{annotate.previous_step}** **{annotate.next_step}** are its steps.

A digit chooses what is right, **{adjudicate.majority}** what most say, **{adjudicate.0}** that there is no right
answer; **{adjudicate.settle}** then asks why, and settles. The reason of the item before stands there already:
**{adjudicate.settle}** takes it, typing replaces it, and where the protocol names reasons a digit writes one.
**{adjudicate.discussed}** says that it was discussed and for how
long, **{adjudicate.moved}** that the rater under the cursor changed their mind. **{adjudicate.judges}** lays judges'
answers beside people's. **{adjudicate.withdraw}** leaves a settled item unsettled again. What raters said never
changes.
"""
    # Enter settles the item, whichever answer the cursor is on.
    BINDINGS: ClassVar[list[BindingType]] = [
        key for key in LineList.BINDINGS if isinstance(key, Binding) and key.id != "list.open"
    ]

    def __init__(self) -> None:
        super().__init__("adjudicate-said")
        self.case: ItemAnswers | None = None
        self._way: Wording | None = None
        self._draft = SettlementDraft()

    def show(self, case: ItemAnswers, way: Wording, draft: SettlementDraft, *, judges: bool) -> None:
        """Show the answers. The cursor stays on its line if the item is the same."""
        same = self.case is not None and (self.case.unit.id, self.case.spot) == (case.unit.id, case.spot)
        self.case, self._way, self._draft = case, way, draft
        voices = [*case.voices, *(case.judges if judges else ())]
        self.empty = "Nobody's answer is handed in." if not voices else ""
        self.set_rows(voices)
        if not same:
            self.go(0)

    def paint(self, index: int, width: int) -> Content:
        voice = self.rows[index]
        assert self.case is not None
        assert self._way is not None
        return voice_words(self._way, self.case, voice, self._draft.moves.get(voice.mask), width)
