"""Home for a blinded rater: the studies with units dealt to them, and nothing else of the file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from lab.core.settings import Settings
from screens.background import Background
from screens.home.studies import OwnStudies, StudyRow, StudyTable, study_rows
from screens.lab import lab_of
from screens.widgets.border_words import write_title
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen

if TYPE_CHECKING:
    from store.store import Store


class RatingHome(RoomScreen[None]):
    """Home without names of runs, tasks or agents. A rater sees of them only what the study shows."""

    BINDING_GROUP_TITLE = "Home"

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self._studies = Background(self, self._show_studies)

    def compose(self) -> ComposeResult:
        yield Static(f"hitlab   {self.settings.person}, rater", id="home-title", markup=False)
        yield OwnStudies(id="studies")
        yield Static("", id="next", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        studies = self.query_one(StudyTable)
        studies.border_title = "Studies"
        studies.empty = f"Nothing is dealt to {self.settings.person} in this file."
        studies.add_class("-any")
        studies.styles.height = "1fr"
        studies.focus()

    def on_screen_resume(self) -> None:
        """Read again, because the person may have submitted something meanwhile."""
        self._studies.start(partial(study_rows, self.store, self.settings.person, others=False))

    def _show_studies(self, rows: list[StudyRow]) -> None:
        studies = self.query_one(StudyTable)
        studies.set_studies(rows)
        write_title(studies, f"Studies  {studies.count}")
        self._say_next()

    @on(LineList.Highlighted)
    def _say_next(self) -> None:
        studies = self.query_one(StudyTable)
        self.query_one("#next", Static).update(studies.next_words() if studies.rows else "", layout=False)

    @on(LineList.Chosen)
    def _choose_line(self, message: LineList.Chosen) -> None:
        self.call_later(self.run_action, "choose")

    def open_at_cursor(self, room: str, *, entered: bool) -> bool:
        """Open a room on the study under the cursor. Return False if there is none."""
        return self.query_one(StudyTable).open_at_cursor(room, entered=entered)

    def action_choose(self) -> None:
        """Open the study under the cursor."""
        row = self.query_one(StudyTable).current
        if row is not None:
            lab_of(self).open_study(self.store.studies.study(row.line.id, row.line.version))
