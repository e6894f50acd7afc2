"""What the two rooms over demonstrations share: a shelf of them, and one of them beside its phone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on, work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen

from lab.errors import LabError
from lab.settings import Settings
from lab.task import Actor
from screens.author.form import ItemForm
from screens.author.told import Told
from screens.footer import Footer
from screens.lines import Lines
from screens.page import Page
from screens.review.items import Shelf
from screens.review.queue import Unclear, Waiting
from screens.review.reels import Reels

if TYPE_CHECKING:
    from screens.app import LabApp
    from store.store import Store

Rows = Sequence[Waiting | Unclear]


class DemoRoom(Screen[None]):
    """A shelf of demonstrations; the one that is open takes its place. `run` is its id, None at the shelf."""

    NAME: ClassVar[str] = ""
    SHELF: ClassVar[str] = ""

    class Shelved(Message):
        """The shelf was read."""

        def __init__(self, rows: Rows) -> None:
            super().__init__()
            self.rows = rows

    class Failed(Message):
        """What was read or done off the UI thread was refused."""

        def __init__(self, error: LabError) -> None:
            super().__init__()
            self.error = error

    class Read(Message):
        """A demonstration was read."""

        def __init__(self, run: str, read: Any) -> None:
            super().__init__()
            self.run = run
            self.read = read

    class Unread(Message):
        """A demonstration could not be read."""

        def __init__(self, run: str, error: LabError) -> None:
            super().__init__()
            self.run = run
            self.error = error

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.person = Actor("human", settings.person)
        self.run_id: str | None = None
        self.shelf = Shelf()
        self.footage = Reels(store, overlay=settings.overlay)
        self.lines: Lines = self.list_of()
        self.page = Page(id="item-page", classes="pane")
        self.form = ItemForm(id="form")
        self._wanted: str | None = None

    # -- for a room ------------------------------------------------------------------------------------------

    def list_of(self) -> Lines:
        """The list beside the phone."""
        raise NotImplementedError

    def queue(self) -> Rows:
        """What stands on the shelf; read off the UI thread."""
        raise NotImplementedError

    def read(self, run: str) -> Any:
        """A demonstration as this room needs it, read off the UI thread; raises `LabError` where it cannot be."""
        raise NotImplementedError

    def begin(self, read: Any) -> None:
        """Lays out what `read` gave."""
        raise NotImplementedError

    def reload(self) -> None:
        """Reads what others may have said of it meanwhile."""
        self.renew()

    def renew(self) -> None:
        """Paints everything that hangs on it anew."""
        raise NotImplementedError

    # -- layout ----------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield Told("demo-title")
        yield self.shelf
        with Horizontal(id="bench"):
            yield self.footage
            with Vertical(id="items-side"):
                yield self.lines
                yield self.page
                yield self.form
        yield Told("demo-state")
        yield Footer()

    def on_mount(self) -> None:
        self.shelf.border_title = self.SHELF
        if self._wanted is not None:
            self._begin(self._wanted)
        else:
            self.to_shelf()

    def on_resize(self) -> None:
        self.call_after_refresh(self.footage.take_room)

    def on_screen_resume(self) -> None:
        """Another person may have done something while another room was looked at."""
        if self.run_id is None:
            self.read_shelf()
        elif not self.store.holds(self.run_id):
            self.to_shelf()  # it was redacted meanwhile
        else:
            self.tried(self.reload)

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, run: str | None) -> None:
        """Shows a demonstration, or the shelf."""
        self._wanted = run
        if self.is_mounted:
            if run is None:
                self.to_shelf()
            else:
                self._begin(run)

    def _begin(self, run: str) -> None:
        self.form.close()
        self.query_one("#demo-state", Told).say(Content("Reading the demonstration ..."))
        self._read_one(run)

    @work(thread=True, exclusive=True, group="read")
    def _read_one(self, run: str) -> None:
        try:
            self.post_message(self.Read(run, self.read(run)))
        except LabError as error:
            self.post_message(self.Unread(run, error))

    @on(Unread)
    def _unread(self, message: Unread) -> None:
        if message.run == self._wanted:
            self.to_shelf()
            cast("LabApp", self.app).report(message.error)

    @on(Read)
    def _opened(self, message: Read) -> None:
        run = message.run
        if run != self._wanted:
            return  # another was opened, or none, while this one was read
        self.begin(message.read)
        self.run_id = run
        self.add_class("-open")
        self.footage.open(run)
        self.footage.stage.mirror.show_still(None, None, None)  # what was looked at before may be gone for good
        self.renew()
        self.lines.focus()
        self.refresh_bindings()

    def to_shelf(self) -> None:
        """Leaves the demonstration that is open."""
        self.run_id = self._wanted = None
        self.remove_class("-open")
        self.query_one("#demo-title", Told).say(Content(f"{self.NAME}   as {self.person.id}"))
        self.query_one("#demo-state", Told).say(Content("Enter opens a demonstration."))
        self.shelf.focus()
        self.read_shelf()
        self.refresh_bindings()

    @work(thread=True, exclusive=True, group="shelf")
    def read_shelf(self) -> None:
        """Reads what stands on the shelf."""
        try:
            self.post_message(self.Shelved(self.queue()))
        except LabError as error:
            self.post_message(self.Failed(error))

    @on(Shelved)
    def _shelved(self, message: Shelved) -> None:
        self.shelf.show(message.rows)

    @on(Failed)
    def _failed(self, message: Failed) -> None:
        cast("LabApp", self.app).report(message.error)

    @on(Lines.Chosen, "#shelf")
    def _chosen(self, message: Lines.Chosen) -> None:
        message.stop()
        self.open(self.shelf.rows[message.index].id)

    # -- what a message does ---------------------------------------------------------------------------------

    def tried(self, work: Callable[[], None]) -> None:
        """Does what a message asks for; what is refused is a sentence, as it is where a key asks."""
        try:
            work()
        except LabError as error:
            cast("LabApp", self.app).report(error)

    def say(self, title: str, state: str) -> None:
        """The line above and the one below."""
        self.query_one("#demo-title", Told).say(Content(title))
        self.query_one("#demo-state", Told).say(Content(state))

    def action_overlay(self) -> None:
        """The screen's words as characters over the phone, or its pixels alone."""
        self.footage.stage.mirror.overlay = not self.footage.stage.mirror.overlay

    def action_copy(self) -> None:
        """Copies the step that is shown, as `hitlab replay` takes it."""
        if self.footage.link:
            self.app.copy_to_clipboard(self.footage.link)
            self.notify(f"Copied {self.footage.link}", markup=False)

    def action_back(self) -> None:
        """Out of what was opened last; from the shelf to Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.form.is_open:
            self.form.close()
            self.lines.focus()
        elif self.run_id is not None:
            self.to_shelf()
        else:
            raise SkipAction  # the app's own: to Home
