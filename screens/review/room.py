"""Base class of the two rooms about demonstrations: a list of them, and one of them beside its phone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.task.task import Actor
from lab.runs.replay.recorded_run import RecordedRun
from lab.studies.proofreading.proofreading_queue import UnclearedDemonstration, WaitingDemonstration
from screens.author.form import ItemForm
from screens.background import Background
from screens.key_names import with_keys
from screens.lab import lab_of, try_report
from screens.replay.phone_pane import StillPhone
from screens.replay.run_player import RunPlayer, StepPage
from screens.replay.timeline import Timeline
from screens.review.items import DemonstrationList
from screens.stylesheet import ROOM_STYLES
from screens.widgets.border_words import write_title
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.status_line import StatusLine
from screens.widgets.text_page import TextPage

if TYPE_CHECKING:
    from store.store import Store

Rows = Sequence[WaitingDemonstration | UnclearedDemonstration]
_BESIDE = {"-narrow": 50, "-normal": 64, "-wide": 96}
"""Columns that the words need beside the phone, by the terminal's width class."""


class DemoRoom(RoomScreen[None]):
    """A list of demonstrations, replaced by the open one. `run_id` is its id, None while the list is shown."""

    CSS_PATH = ROOM_STYLES
    NAME: ClassVar[str] = ""
    SHELF: ClassVar[str] = ""

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self.run_id: str | None = None
        self.list = DemonstrationList()
        phone = StillPhone("phone", overlay=settings.overlay, interactive=True, beside=_BESIDE)
        self.footage = RunPlayer(Timeline(id="steps"), phone, steps_page=StepPage())
        self.footage.timeline.display = False  # another list says which step is looked at
        self.lines: LineList = self.list_of()
        self.page = TextPage(id="item-page", classes="pane")
        self.form = ItemForm(id="form")
        self._wanted_run: str | None = None
        self._demonstration = Background(self, self._show_demonstration, self._report_unread)
        self._shelf = Background(self, self.list.show)

    @property
    def person(self) -> Actor:
        """The person who signs the acts done here."""
        return Actor("human", self.settings.person)

    # -- for a room ------------------------------------------------------------------------------------------

    def list_of(self) -> LineList:
        """Return the list beside the phone."""
        raise NotImplementedError

    def load_rows(self) -> Rows:
        """Return the rows of the list. Called off the UI thread."""
        raise NotImplementedError

    def load(self, run: str) -> Any:
        """Read a demonstration as this room needs it, off the UI thread. Raise `LabError` if that fails."""
        raise NotImplementedError

    def show(self, content: Any) -> None:
        """Show the `content` that `load` returned."""
        raise NotImplementedError

    def reload(self) -> None:
        """Read what others may have said of it meanwhile."""
        self.repaint()

    def repaint(self) -> None:
        """Repaint everything that depends on the demonstration."""
        raise NotImplementedError

    # -- layout ----------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield StatusLine("demo-title")
        yield self.list
        with Horizontal(id="bench"):
            yield self.footage
            with Vertical(id="items-side"):
                yield self.lines
                yield self.page
                yield self.form
        yield StatusLine("demo-state")
        yield Footer()

    def on_mount(self) -> None:
        write_title(self.list, self.SHELF)
        if self._wanted_run is not None:
            self._begin(self._wanted_run)
        else:
            self.show_list()

    def on_resize(self) -> None:
        self.call_after_refresh(self.footage.stage.fit_width)

    def on_screen_resume(self) -> None:
        """Read again, because another person may have acted meanwhile."""
        if self.run_id is None:
            self.read_shelf()
        elif not self.store.runs.has_run(self.run_id):
            self.show_list()  # it was redacted meanwhile
        else:
            try_report(self, self.reload)

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, run: str | None) -> None:
        """Show a demonstration, or the list."""
        self._wanted_run = run
        if self.is_mounted:
            if run is None:
                self.show_list()
            else:
                self._begin(run)

    def _begin(self, run: str) -> None:
        self.form.close()
        self.query_one("#demo-state", StatusLine).say(Content("Reading the demonstration ..."))
        self._demonstration.start(lambda: (run, self.load(run)))

    def _report_unread(self, error: LabError) -> None:
        self.show_list()
        lab_of(self).report(error)

    def _show_demonstration(self, read: tuple[str, Any]) -> None:
        run, content = read
        self.show(content)
        self.run_id = run
        self.add_class("-open")
        self.footage.open(RecordedRun(self.store.runs, run))
        self.footage.stage.mirror.show_still(None, None, None)  # what was looked at before may be gone for good
        self.repaint()
        self.lines.focus()
        self.refresh_bindings()

    def show_list(self) -> None:
        """Close the open demonstration."""
        self._demonstration.cancel()
        self.run_id = self._wanted_run = None
        self.remove_class("-open")
        self.query_one("#demo-title", StatusLine).say(Content(f"{self.NAME}   as {self.person.id}"))
        self.query_one("#demo-state", StatusLine).say(Content(with_keys(self, "{list.open} opens a demonstration.")))
        self.list.focus()
        self.read_shelf()
        self.refresh_bindings()

    def read_shelf(self) -> None:
        """Read the rows of the list."""
        self._shelf.start(self.load_rows)

    @on(LineList.Chosen, "#shelf")
    def _open_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        self.open(self.list.rows[message.index].id)

    # -- what a message does ---------------------------------------------------------------------------------

    def say(self, title: str, state: str) -> None:
        """Write the line above and the one below."""
        self.query_one("#demo-title", StatusLine).say(Content(title))
        self.query_one("#demo-state", StatusLine).say(Content(state))

    def action_overlay(self) -> None:
        """Toggle the screen's words as characters over the phone."""
        self.footage.stage.mirror.overlay = not self.footage.stage.mirror.overlay

    def action_copy(self) -> None:
        """Copy the current step, in the form that `hitlab replay` accepts."""
        if self.footage.link:
            self.app.copy_to_clipboard(self.footage.link)
            self.notify(f"Copied {self.footage.link}", markup=False)

    def action_back(self) -> None:
        """Close what was opened last. From the list go Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.form.is_open:
            self.form.close()
            self.lines.focus()
        elif self.run_id is not None:
            self.show_list()
        else:
            raise SkipAction  # the app's own: to Home
