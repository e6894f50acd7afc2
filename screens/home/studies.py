"""The studies in Home: progress of each, and what Enter does on its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content

from lab.core.errors import LabError
from lab.core.study.study import Progress, StudyLine
from lab.runs.descriptions import one_line
from screens.key_names import with_keys
from screens.lab import lab_of
from screens.theme import MUTED
from screens.widgets.table import RowList, TableColumn, cell

if TYPE_CHECKING:
    from store.store import Store


class StudyRow(NamedTuple):
    """A study and this person's progress in it. `own_progress` is None if nothing was dealt to them.

    `shows_total` is False for raters, who must not learn the others' progress.
    """

    line: StudyLine
    own_progress: Progress | None
    shows_total: bool = True
    unsettled: int = 0
    """Number of submitted items with two answers of theirs to one question, after copies were merged."""
    replaced: bool = False
    """True if another rater has replaced this person."""

    @property
    def state(self) -> str:
        """State in a word or two."""
        if self.line.locked:
            return "locked"
        if not self.line.dealt:
            return "not dealt"
        if self.own_progress is None:
            return "not yours"
        if self.replaced:
            return "left"
        if self.own_progress.held:
            return "held"
        if self.unsettled:
            return f"settle {self.unsettled}"
        left = self.own_progress.dealt - self.own_progress.done
        return "done" if left <= 0 else f"{left} left"

    @property
    def verb(self) -> str:
        return "play" if self.line.unit == "task to play" else "rate"

    @property
    def next_action(self) -> str:
        """Next action in a few words: of this person, else of a reader."""
        if self.line.locked:
            return "locked: read"
        if not self.line.dealt:
            return "deal it"
        if self.own_progress is None and self.line.done >= self.line.dealt:
            return "all done"
        if self.own_progress is None or self.replaced or self.own_progress.held:
            return {"not yours": f"others {self.verb}", "held": "held: wait"}.get(self.state, self.state)
        if self.unsettled or self.own_progress.done >= self.own_progress.dealt:
            return self.state
        return f"{self.verb} {self.own_progress.dealt - self.own_progress.done} more"


def study_rows(store: Store, person: str, *, others: bool, archived: bool = False) -> list[StudyRow]:
    """Return every study, the newest first. Without `others`, only those with units dealt to this person.

    With `archived`, return only archived studies; else only the others.
    """
    rows = []
    for line in store.studies.lines():
        if line.archived is not archived:
            continue
        study = store.studies.study(line.id, line.version)
        mine = store.studies.progress(study, person)
        if others or mine.dealt:
            to_rate = mine.dealt and not line.locked and line.unit != "task to play"
            unsettled = len(store.labels.clashing_assignments(study, person)) if to_rate else 0
            has_left = bool(mine.dealt) and store.studies.has_left(study, person)
            rows.append(StudyRow(line, mine if mine.dealt else None, others, unsettled, has_left))
    return rows


class StudyTable(RowList[StudyRow]):
    """Studies, the newest first. The pane is as high as its lines, up to a maximum."""

    HELP = """\
# Studies

Every study in this file, with what is done and what is left of it. **{list.open}** opens it at the exact item where
you left it, as the person that this seat is (`--person CODE`).

**{studies.agreement}** shows how far its raters agree, for those who design or analyse it; **{list.open}** does so too
where nothing is left for you to answer. **{home.archive}** archives a study: it is in no list any more, nobody is
asked in it, and nothing is lost; **{home.archived}** lists what is archived. **{studies.progress}** shows how far and
how fast each person is.
"""
    heading_rows = 1
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "agreement", "Agreement", id="studies.agreement", tooltip="How far this study's raters agree"),
        Binding("w", "progress", "Progress", id="studies.progress", tooltip="How far this study's people are"),
    ]

    def set_studies(self, rows: list[StudyRow]) -> None:
        """Show other rows. The cursor stays on its study, or at its index if that is gone."""
        row = self.current
        self.rows = rows
        self.changed()
        if row is not None:
            places = {(row.line.id, row.line.version): at for at, row in enumerate(rows)}
            self.go(places.get((row.line.id, row.line.version), self.cursor))

    def next_words(self) -> str:
        """Return what Enter does on this line."""
        row = self.current
        if row is None:
            return ""
        if self.enter_deals:
            raters = f"{{list.open}}: deal it   {row.line.id}: {row.state}   "
            return with_keys(self, raters) + f"`hitlab study deal {row.line.id}` does so, too"
        if row.own_progress is None or row.line.locked or row.replaced:
            keys = "{list.open}: its agreement   {studies.progress}: how far it is   "
            agreement = with_keys(self, keys) if self.may_read else ""
            return f"{agreement}{row.line.id}: {row.state}   `hitlab study status {row.line.id}` says who has what"
        agreement = "   {studies.agreement}: its agreement   {studies.progress}: how far it is" if self.may_read else ""
        if row.unsettled:
            items = "an item" if row.unsettled == 1 else f"{row.unsettled} items"
            return with_keys(self, f"{{list.open}}: settle which of your two answers stands in {items}{agreement}")
        did = f"{row.own_progress.done} of {row.own_progress.dealt} done"
        return with_keys(self, f"{{list.open}}: {row.verb} in this study, {did}{agreement}")

    @property
    def may_read(self) -> bool:
        """True if this seat has the rooms about a study's answers."""
        return lab_of(self).has_room("agreement")

    @property
    def enter_deals(self) -> bool:
        """True if Enter deals the study under the cursor, which has no assignments yet."""
        row = self.current
        return row is not None and self.may_read and not row.line.dealt and not row.line.locked

    def open_at_cursor(self, room: str, *, entered: bool) -> bool:
        """Open a room about studies on the one under the cursor. Return False without a study or for another room."""
        row, app = self.current, lab_of(self)
        if row is None or not app.has_room(room):
            return False
        if room == "author" and not entered:
            hint = "{home.author:a} on a run or a task opens its design."
            raise LabError("Author", f"study {row.line.name} has no design of its own.", with_keys(self, hint))
        study = app.store.studies.study(row.line.id, row.line.version)
        if room == "annotate":
            app.open_study(study)
        elif room in ("agreement", "adjudicate", "raters", "progress"):
            app.open_numbers(study, room)
        else:
            return False
        return True

    @property
    def enter_reads(self) -> bool:
        """True if Enter reads the study's answers instead of answering in it."""
        row = self.current
        return row is not None and self.may_read and (row.own_progress is None or row.line.locked or row.replaced)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the actions that this seat lacks."""
        return self.may_read if action in ("agreement", "progress") else super().check_action(action, parameters)

    def action_agreement(self) -> None:
        """Show the agreement of the study under the cursor."""
        row = self.current
        if row is not None:
            app = lab_of(self)
            app.open_numbers(app.store.studies.study(row.line.id, row.line.version))

    def action_progress(self) -> None:
        """Show the progress of each person of the study under the cursor."""
        row = self.current
        if row is not None:
            app = lab_of(self)
            app.open_numbers(app.store.studies.study(row.line.id, row.line.version), "progress")

    def heading(self, width: int) -> Content:
        return Content.styled(self._format_line(width, "study", "title", {name: name for name in _COLUMNS}), MUTED)

    def paint(self, index: int, width: int) -> Content:
        row = self.rows[index]
        line, mine = row.line, row.own_progress
        values = {
            "asks": line.protocol,
            "yours": f"{mine.done}/{mine.dealt}" if mine is not None else "-",
            "all": f"{line.done}/{line.dealt}" if row.shows_total else "",
            "next": row.next_action,
        }
        return Content(self._format_line(width, line.name, one_line(line.title, 200), values))

    def _format_line(self, width: int, name: str, title: str, values: dict[str, str]) -> str:
        """Format a line: the name, which commands accept and which is unique within a protocol, then the title."""
        everybody = any(row.shows_total for row in self.rows)
        columns = {
            name: at for name, at in _COLUMNS.items() if width >= at.min_table_width and (everybody or name != "all")
        }
        room = max(8, width - sum(column.width + 2 for column in columns.values()))
        name_width = min(max([12, *(cell_len(row.line.name) for row in self.rows)]), room)
        parts = [cell(name, TableColumn("", name_width, 0))]
        if room - name_width > _LEAST_TITLE:
            parts.append(cell(title, TableColumn("", room - name_width - 2, 0)))
        else:
            parts = [cell(name, TableColumn("", room, 0))]
        return "  ".join([*parts, *(cell(one_line(values[name]), column) for name, column in columns.items())])


class OwnStudies(StudyTable):
    """The studies with units dealt to this person, for a seat that only rates."""

    HELP = """\
# Studies

The studies in which something is dealt to you, with what is done and what is left of each. **{list.open}** opens one at
the exact item where you left it, as the person that this seat is (`--person CODE`).
"""


_LEAST_TITLE = 12
"""Minimum cells of a title. Fewer would be unreadable."""
_COLUMNS = {
    "asks": TableColumn("asks", 24, 90),
    "yours": TableColumn("yours", 8, 0, right=True),
    "all": TableColumn("all", 11, 60, right=True),
    "next": TableColumn("next", 14, 0),
}
