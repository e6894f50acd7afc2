"""Progress: how much each person of a study has done, their pace and their forecast, updated every few seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.study.study import Study
from lab.core.study.study_progress import StudyProgress
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line
from lab.studies.progress import progress_words
from lab.studies.progress.progress_words import FIELDS, RATERS, Cells, ProgressColumn
from screens.key_names import with_keys
from screens.lab import lab_of, try_report
from screens.study_progress.keys import KEYS
from screens.stylesheet import ROOM_STYLES
from screens.theme import MUTED
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.status_line import StatusLine
from screens.widgets.table import Table, TableColumn
from store.store import Store

if TYPE_CHECKING:
    from lab.studies.progress.study_progress import ProgressReader


class ProgressComputation:
    """Posts to `owner` the progress of the open study. The serial identifies results of a study opened earlier."""

    @dataclass
    class Read(Message):
        """Message: the study's progress."""

        serial: int
        progress: StudyProgress

    @dataclass
    class Refused(Message):
        """Message: the study cannot be read, or its file is only a kit."""

        serial: int
        error: LabError

    def __init__(self, owner: Widget, store: Store) -> None:
        self._owner = owner
        self._store = store
        self._reader: ProgressReader | None = None
        self.busy = False
        """True while the file is being read."""
        self.serial = 0
        self.study: Study | None = None

    def open(self, study: Study) -> None:
        """Switch to another study."""
        self.serial += 1
        self.study, self.busy = study, False
        self.read()

    def read(self) -> None:
        """Read the progress now, unless a reading is under way."""
        if self.study is not None and not self.busy:
            self.busy = True
            serial, study = self.serial, self.study
            self._owner.run_worker(
                lambda: self._read_progress(serial, study), thread=True, group="progress", exclusive=True
            )

    def _read_progress(self, serial: int, study: Study) -> None:
        from lab.studies.progress.study_progress import ProgressReader, check_whole

        try:
            check_whole(self._store, f"study {study.name}")
            reader = self._reader or ProgressReader(self._store)
            progress = reader.read(study)
        except LabError as error:
            self._owner.post_message(self.Refused(serial, error))
        else:
            self._reader = reader
            self._owner.post_message(self.Read(serial, progress))


_EVERY = 5.0
"""Seconds between two readings."""
_QUESTIONS = 6
"""Maximum visible questions below the table of people."""
NONE_OPEN = "No study is open: {studies.progress:w} on a study in Home ({app.home}) shows how far it is."


class ProgressScreen(RoomScreen[None]):
    """One study's progress. The cursor stays in place while another room is shown."""

    CSS_PATH = ROOM_STYLES
    BINDING_GROUP_TITLE = "Progress"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.study: Study | None = None
        self.progress: StudyProgress | None = None
        """The progress shown, or None before the first reading."""
        self.people = RaterProgressTable("progress-people")
        self.questions = QuestionTable("progress-questions")
        self.reading = ProgressComputation(self, store)

    def compose(self) -> ComposeResult:
        yield StatusLine("progress-title")
        yield self.people
        yield self.questions
        yield StatusLine("progress-said")
        yield StatusLine("progress-next")
        yield Footer()

    def on_mount(self) -> None:
        self.people.write_titles("People")
        self.questions.write_titles("Questions")
        self.people.focus()
        self.set_interval(_EVERY, self._poll)
        if self.study is not None:
            self._begin(self.study)
        else:
            self.people.empty = with_keys(self, NONE_OPEN)
            self.update_lines()

    def on_screen_resume(self) -> None:
        """Read again, because answers may have arrived meanwhile."""
        self._poll()

    # -- reading ---------------------------------------------------------------------------------------------

    def open(self, study: Study) -> None:
        """Show a study's progress. If it is open already, keep the cursor."""
        other = self.study is None or self.study.sha != study.sha
        self.study = study
        if self.is_mounted and other:
            self._begin(study)
        elif self.is_mounted:
            self.reading.read()

    def _begin(self, study: Study) -> None:
        self.progress = None
        self.people.empty = f"Reading how far {one_line(study.name, 80)} is ..."
        self._show_rows([], [])
        self.reading.open(study)

    def _poll(self) -> None:
        if self.is_current:
            self.reading.read()

    @on(ProgressComputation.Read)
    def _show_progress(self, message: ProgressComputation.Read) -> None:
        if message.serial != self.reading.serial:
            return
        self.reading.busy = False
        self.progress = message.progress
        self._show_rows(rows_of(message.progress), questions_of(message.progress))

    @on(ProgressComputation.Refused)
    def _show_error(self, message: ProgressComputation.Refused) -> None:
        if message.serial != self.reading.serial:
            return
        self.reading.busy = False
        self.progress = None
        self.people.empty = plain(message.error.sentence)
        self._show_rows([], [])

    def _show_rows(self, people: list[ProgressRow], questions: list[ProgressRow]) -> None:
        """Show these rows. The cursor stays on its person."""
        self.people.set_rows(people, key=lambda row: (row.kind, row.id))
        self.questions.set_rows(questions, key=lambda row: row.id)
        self.questions.display = bool(questions)
        self.questions.styles.height = min(len(questions), _QUESTIONS) + 3
        self.update_lines()

    # -- what is said ----------------------------------------------------------------------------------------

    def update_lines(self) -> None:
        """Update the title, the words of the row under the cursor, and what Enter does."""
        self.query_one("#progress-title", StatusLine).say(Content(self._title_words()))
        self.query_one("#progress-said", StatusLine).say(Content(self._current_words()))
        self.query_one("#progress-next", StatusLine).say(Content(self._next_words()))
        self.refresh_bindings()

    def _title_words(self) -> str:
        if self.progress is None:
            return "Progress"
        progress = self.progress
        state = "" if progress.state == "running" else progress.state
        parts = (
            "Progress",
            one_line(progress.name, 40),
            state,
            f"{progress.at[11:19]} UTC",
            one_line(progress.title, 200),
        )
        return "   ".join(filter(None, parts))

    def _current_words(self) -> str:
        pane = self.questions if self.questions.has_focus else self.people
        return one_line(pane.current.words, 400) if pane.current is not None else ""

    def _next_words(self) -> str:
        row = self.people.current
        if row is None or self.questions.has_focus:
            return ""
        if row.kind == "all":
            return with_keys(self, "{list.open}: all raters beside one another")
        return with_keys(self, "{list.open}: this rater's numbers")

    def on_descendant_focus(self) -> None:
        self.update_lines()

    @on(LineList.Highlighted)
    def _follow_cursor(self) -> None:
        self.update_lines()

    # -- keys ------------------------------------------------------------------------------------------------

    @on(LineList.Chosen, "#progress-people")
    def _open_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        row, study = self.people.current, self.study
        if row is not None and study is not None:
            try_report(self, lambda: lab_of(self).open_rater(study, row.id))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the keys that would do nothing here."""
        if action in ("recount", "agreement"):
            return self.study is not None
        return bool(self.people.rows) if action == "copy" else super().check_action(action, parameters)

    def action_recount(self) -> None:
        """Read the progress now."""
        self.notify("Reading what is there now.", markup=False)
        self.reading.read()

    def action_agreement(self) -> None:
        """Show the study's agreement."""
        if self.study is not None:
            lab_of(self).open_numbers(self.study)

    def action_copy(self) -> None:
        """Copy the words of the row under the cursor."""
        self.app.copy_to_clipboard(self._current_words())
        self.notify("It is copied.", markup=False)


_GAP = 2
"""Blanks between two columns."""
_NARROWEST = 12
_WIDEST = 40
"""Minimum and maximum cells of a column. The line below the table shows all of its content."""


class ProgressRow(NamedTuple):
    """A row: its cells, its owner, and its words below the table."""

    cells: Cells
    kind: Literal["rater", "judge", "all", "question"]
    id: str
    words: str
    urgent: bool = False
    """True if a manager should act on it."""


def rows_of(progress: StudyProgress) -> list[ProgressRow]:
    """Return the rows of a study's people, then judges, then the total."""
    at = progress.at
    rows = [
        ProgressRow(
            progress_words.rater_cells(one, at), "rater", one.rater, progress_words.rater_words(one, at),
            one.held or bool(one.straggler) or one.clashes > 0,
        )
        for one in progress.raters
    ]  # fmt: skip
    for one in progress.judges:
        cells = progress_words.judge_cells(one)
        intervals = [progress_words.interval_words(its) for its in progress.intervals if its.judge == one.judge]
        words = "   ".join([progress_words.judge_words(one), *intervals])
        rows.append(ProgressRow(cells, "judge", one.judge, words))
    cells = progress_words.total_cells(progress)
    return [*rows, ProgressRow(cells, "all", "", progress_words.total_words(progress))]


def questions_of(progress: StudyProgress) -> list[ProgressRow]:
    """Return the questions that at least two people answered for the same item."""
    fields = [one for one in progress.fields if one.differ.n]
    return [
        ProgressRow(cells, "question", one.field, f"{cells['question']}: people differ in {cells['differs']} items")
        for one in fields
        for cells in (progress_words.field_cells(one),)
    ]


class _ProgressTable(Table[ProgressRow]):
    """Rows in as many columns as fit. The most useful columns are dropped last."""

    def __init__(self, id: str, table: Mapping[str, ProgressColumn]) -> None:
        self._table = table
        columns = {name: TableColumn(one.title, _WIDEST, right=one.right, shrinks=True) for name, one in table.items()}
        super().__init__(id, columns)

    def columns(self, width: int) -> dict[str, TableColumn]:
        cells = [row.cells for row in self.rows]
        most = {"name": max(_NARROWEST, width // 5), "note": max(_NARROWEST, width // 4)}
        needs = {name: min(self.longest(name), most.get(name, _WIDEST)) for name in self._table}
        names = progress_words.columns_for(self._table, cells, needs, width, _GAP)
        columns = {name: self._columns[name]._replace(width=needs[name]) for name in names}
        over = sum(column.width + _GAP for column in columns.values()) - _GAP - width
        # Still too wide: only these columns can be cut and read.
        for name in ("name", "question", "note"):
            if over > 0 and name in columns:
                least = max(4, columns[name].width - over)
                over -= columns[name].width - least
                columns[name] = columns[name]._replace(width=least)
        return columns

    def words(self, name: str, row: ProgressRow, width: int) -> str:
        return row.cells.get(name, "")

    def style_of(self, name: str, row: ProgressRow) -> str:
        if name == "note" and row.urgent:
            return "$text-warning"
        return MUTED if row.kind == "all" and name == "name" else ""


def _markdown_list(lines: Sequence[str]) -> str:
    """Format words and their meanings as a Markdown list for help."""
    pairs = (line.partition(": ") for line in lines)
    return "\n".join(f"- *{word}*: {means}" for word, _, means in pairs)


class RaterProgressTable(_ProgressTable):
    """A row per person and judge, and the total."""

    HELP = f"""\
# Progress

How far each person is, how fast, and until when; judges (models, scripts) below them, all together at the end. It is
read anew every few seconds. **{{list.open}}** shows this rater's numbers in Raters, **{{progress.agreement}}** how far
all agree, **{{progress.recount}}** reads it at once, **{{progress.copy}}** copies the line below.

{_markdown_list(progress_words.legend([*RATERS], RATERS))}

Who straggles, by what they did:

{_markdown_list(progress_words.STRAGGLERS)}

A dash: nothing is known yet. What a narrow terminal has no column for, the line below says.
"""
    empty = "Reading ..."

    def __init__(self, id: str) -> None:
        super().__init__(id, RATERS)


class QuestionTable(_ProgressTable):
    """Share of items at which people differ so far, question by question."""

    HELP = """\
# Questions

Of the items that two or more people answered, those at which they do not all say the same. A reason for no answer is an
answer here, texts are left out. **{progress.agreement}** computes how far they agree, with intervals.
"""

    def __init__(self, id: str) -> None:
        super().__init__(id, FIELDS)
