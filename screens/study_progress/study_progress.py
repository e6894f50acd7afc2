"""Progress: how much each person of a study has done, their pace and their forecast, updated every few seconds."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from lab.core.plain_text import plain
from lab.core.settings import Settings
from lab.core.study import Study
from lab.core.study_progress import StudyProgress
from lab.runs.descriptions import one_line
from screens.key_names import with_keys
from screens.lab import lab_of, try_report
from screens.study_progress.computation import ProgressComputation
from screens.study_progress.keys import KEYS
from screens.study_progress.table import ProgressRow, QuestionTable, RaterProgressTable, questions_of, rows_of
from screens.stylesheet import ROOM_STYLES
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.status_line import StatusLine
from store.store import Store

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
        """The progress shown; None before the first reading."""
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
            self.tell()

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
        self.tell()

    # -- what is said ----------------------------------------------------------------------------------------

    def tell(self) -> None:
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
        self.tell()

    @on(LineList.Highlighted)
    def _follow_cursor(self) -> None:
        self.tell()

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
