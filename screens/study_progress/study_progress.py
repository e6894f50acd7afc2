"""Progress: how much each person of a study has done, their pace and their forecast, updated every few seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.study.study import Study
from lab.core.study.study_progress import StudyProgress
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line
from lab.studies.progress import progress_words
from lab.studies.progress.progress_words import FIELDS, RATERS, ProgressColumn, ProgressRow, people_rows, question_rows
from screens.background import Background
from screens.key_names import with_keys
from screens.lab import lab_of, try_report
from screens.study_progress.keys import KEYS
from screens.stylesheet import ROOM_STYLES
from screens.theme import MUTED
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.status_line import StatusLine
from screens.widgets.table import RowTable, TableColumn
from store.store import Store

if TYPE_CHECKING:
    from lab.studies.progress.study_progress import ProgressReader


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
        self.reading = Background(self, self._show_progress, self._show_error)
        self._reader: ProgressReader | None = None

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
            self._read()

    def _begin(self, study: Study) -> None:
        self.progress = None
        self.people.empty = f"Reading how far {one_line(study.name, 80)} is ..."
        self._show_rows([], [])
        self.reading.cancel()
        self._read()

    def _poll(self) -> None:
        if self.is_current:
            self._read()

    def _read(self) -> None:
        """Read the progress now, unless a reading is under way."""
        if self.study is not None and not self.reading.busy:
            self.reading.start(partial(self._read_progress, self.study))

    def _read_progress(self, study: Study) -> StudyProgress:
        from lab.studies.progress.study_progress import ProgressReader, check_whole

        check_whole(self.store, f"study {study.name}")
        reader = self._reader or ProgressReader(self.store)
        progress = reader.read(study)
        self._reader = reader
        return progress

    def _show_progress(self, progress: StudyProgress) -> None:
        self.progress = progress
        self._show_rows(people_rows(progress), question_rows(progress))

    def _show_error(self, error: LabError) -> None:
        self.progress = None
        self.people.empty = plain(error.sentence)
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
        self._read()

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


class _ProgressTable(RowTable[ProgressRow]):
    """Rows in as many columns as fit. The most useful columns are dropped last."""

    def __init__(self, id: str, table: Mapping[str, ProgressColumn]) -> None:
        self._table = table
        columns = {name: TableColumn(one.title, _WIDEST, right=one.right, shrinks=True) for name, one in table.items()}
        super().__init__(id, columns)

    def columns(self, width: int) -> dict[str, TableColumn]:
        cells = [row.cells for row in self.rows]
        most = {"name": max(_NARROWEST, width // 5), "note": max(_NARROWEST, width // 4)}
        needs = {name: min(self.longest(name), most.get(name, _WIDEST)) for name in self._table}
        widths = progress_words.column_widths(self._table, cells, needs, width, _GAP)
        return {name: self._columns[name]._replace(width=wide) for name, wide in widths.items()}

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
