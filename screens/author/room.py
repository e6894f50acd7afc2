"""The room of a designer: the run at the left, the design at the right; what is looked at, and nothing changed yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen

from lab.design.drawing import drawn
from lab.design.editing import entries, section_of
from lab.design.revision import SECTIONS, Section
from lab.errors import LabError
from lab.plain import plain
from lab.settings import Settings
from lab.task import Actor, Task
from screens.author.desk import Desk
from screens.author.fields import about
from screens.author.footage import Footage
from screens.author.form import ItemForm
from screens.author.keys import KEYS
from screens.author.outline import TITLES, Outline
from screens.author.texts import Texts
from screens.author.told import Told
from screens.author.words import FORM_WORDS, TEXTS_WORDS, item_words, state_words
from screens.describe import one_line
from screens.footer import Footer
from screens.lines import Lines
from screens.live.keys import keys_of
from screens.page import Page
from screens.search import SearchRow

if TYPE_CHECKING:
    from screens.app import LabApp
    from store.store import Store


class AuthorRoom(Screen[None]):
    """One task's design beside one of its runs. `desk` is None until a task is opened."""

    BINDING_GROUP_TITLE = "Author"
    BINDINGS: ClassVar[list[BindingType]] = KEYS
    AUTO_FOCUS = "#outline"

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.person = Actor("human", settings.person)
        self.desk: Desk | None = None
        self.footage = Footage(store, overlay=settings.overlay)
        self.outline = Outline(id="outline")
        self.form = ItemForm(id="form")
        self.texts = Texts(id="texts")
        self._wanted: tuple[Task, str | None] | None = None
        self._allowed: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        yield Told("author-title")
        with Horizontal(id="bench"):
            yield self.footage
            with Vertical(id="design"):
                yield Told("asked-for")
                yield Told("sections")
                yield self.outline
                yield Page(id="drawing", classes="pane")
                yield self.texts
                yield self.form
                yield Told("about")
                yield Told("here")
        yield SearchRow("a word in thoughts, actions, dialogue or on the screen", id="search")
        yield Told("author-state")
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#drawing", Page).border_title = "Graph, drawn   v: the list"
        if self._wanted is not None:
            self._begin(*self._wanted)
        else:
            nothing = Content("No design is open. a on a run or a task in Home (F2) opens it.")
            self.query_one("#author-state", Told).say(nothing)

    def on_resize(self) -> None:
        self.call_after_refresh(self._take_room)

    def _take_room(self) -> None:
        self.footage.take_room()
        self._draw()

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, task: Task, run: str | None) -> None:
        """Shows a task's design, and a run of it where there is one."""
        self._wanted = task, run
        if self.is_mounted:
            self._begin(task, run)

    def _begin(self, task: Task, run: str | None) -> None:
        self.form.close()
        self.desk = Desk(self.store, task, self.person)
        self.query_one("#author-title", Told).say(Content(one_line(f"Author   {task.id}   {task.title}", 400)))
        asked = task.instruction.strip() or f"{task.shown} (proactive: nothing is asked in words)"
        self.query_one("#asked-for", Told).say(Content(plain(asked)))
        self.footage.open(run)
        self.outline.section = "tdg"
        self.tried(self._load)
        self.outline.focus()

    def _load(self) -> None:
        if self.desk is not None and self.desk.unkept is None:
            self.desk.load()
        self.renew()

    def on_screen_resume(self) -> None:
        """Another person may have done something while another room was looked at."""
        self.tried(self._load)

    def on_screen_suspend(self) -> None:
        """Nobody looks: nothing plays, and what is typed is kept."""
        self.footage.player.stop()
        self.form.commit()

    # -- painting --------------------------------------------------------------------------------------------

    def renew(self) -> None:
        """Paints everything that hangs on the design anew."""
        desk = self.desk
        if desk is None:
            return
        self.outline.show(desk, self.footage.run is not None)
        parts: list[tuple[str, str]] = []
        wrong = {problem.key.partition("/")[0] for problem in desk.problems} if desk.writable else set()
        for number, section in enumerate(SECTIONS, 1):
            count = len(entries(desk.design, section))
            style = "bold reverse" if section == self.outline.section else "$foreground-muted"
            sign = "!" if section in wrong else " "
            parts.append((f" {number} {TITLES[section]} {count}{sign}", style))
        self.query_one("#sections", Told).say(Content.assemble(*parts))
        self.outline.border_title = TITLES[self.outline.section]
        self.tell()
        self._draw()
        self.allow()

    def allow(self) -> None:
        """Has the keys above the footer looked at again where others may now be pressed."""
        desk = self.desk
        if desk is not None:
            may = (desk.writable, desk.reviewing, desk.head is None, len(desk.others), desk.unkept is None)
            now = (*may, self.outline.section, self.texts.is_open)
            if now != self._allowed:
                self._allowed = now
                self.refresh_bindings()

    def tell(self) -> None:
        """The line about the step shown, and the one above the keys."""
        self.query_one("#here", Told).say(Content(self.footage.words))
        desk = self.desk
        if desk is None:
            return
        self.query_one("#design").set_class(self.form.is_open or self.texts.is_open, "-busy")
        self.query_one("#about", Told).say(Content(about(desk.design, self.outline.key)))
        self.footage.cover(desk.design.evidence.get(self.outline.key, ()))
        words = FORM_WORDS if self.form.is_open else TEXTS_WORDS if self.texts.is_open else ""
        words = words or state_words(desk, lambda id: (keys_of(self, f"author.{id}") or [""])[0])
        wrong = item_words(desk, self.outline.key)
        self.query_one("#author-state", Told).say(Content("   ".join(filter(None, (words, wrong)))))

    def _draw(self) -> None:
        if self.desk is not None and self.drawing:
            page = self.query_one("#drawing", Page)
            lines = drawn(self.desk.design.tdg, max(20, page.scrollable_content_region.width - 2))
            words = "\n".join(lines) or "Nothing to draw: no nodes, no room, or edges that make a circle."
            page.show(Content(words), from_top=False)

    @property
    def drawing(self) -> bool:
        """Whether the graph is shown drawn instead of as a list."""
        return self.has_class("-drawn")

    def show_item(self, key: str) -> None:
        """Goes to an item, in whichever section it is, and to the step that it was seen in."""
        section = section_of(key)
        if section != self.outline.section:
            self.action_section(section)
        self.outline.go_to(key)
        links = self.desk.design.evidence.get(key, ()) if self.desk is not None else ()
        if links:
            self.footage.go_to(links[0])

    def tried(self, work: Callable[[], None]) -> None:
        """Does what a message asks for; what is refused is a sentence, as it is where a key asks."""
        try:
            work()
        except LabError as error:
            cast("LabApp", self.app).report(error)

    # -- looking about ---------------------------------------------------------------------------------------

    def action_section(self, section: Section) -> None:
        """The graph, the branches, the units or the rubric."""
        self.close_texts()
        if self.drawing:
            self.action_draw()
        self.outline.section = section
        self.outline.go(0)
        self.renew()
        self.outline.focus()

    def action_draw(self) -> None:
        """The graph as a drawing, or as a list."""
        self.toggle_class("-drawn")
        if self.drawing:
            self.call_after_refresh(self._draw)
            self.query_one("#drawing").focus()
        else:
            self.outline.focus()

    def close_texts(self) -> None:
        """Takes the list of texts away."""
        self.texts.remove_class("-open")
        self.texts.display = False
        self.allow()
        self.tell()

    @on(Lines.Highlighted, "#outline")
    def _highlighted(self, message: Lines.Highlighted) -> None:
        message.stop()
        self.tell()

    @on(Footage.Looked)
    def _looked(self) -> None:
        if self.texts.is_open:
            self.fill_texts()
        self.tell()

    def fill_texts(self) -> None:
        """Lists the texts of the screen that is shown."""
        self.texts.fill(self.footage.step, self.footage.seen)

    def action_step(self, by: int) -> None:
        """One step on or back."""
        self.footage.move(by)

    def action_question(self, by: int) -> None:
        """The next or previous step with a question."""
        if not self.footage.question(by):
            self.notify("No further question." if by > 0 else "No question before this.", markup=False)

    def action_play(self) -> None:
        """Plays on from here, or stands still."""
        self.footage.play()

    def action_pace(self) -> None:
        """The recorded pace, each step at most three seconds, or one step a second."""
        player = self.footage.player
        player.recorded = not player.recorded
        self.notify(player.words, markup=False)

    def action_after(self) -> None:
        """The screen before the step, or after it."""
        self.footage.turn()

    def action_words(self) -> None:
        """What was thought, done and said in the step, or the phone."""
        self.footage.turn_words()

    def action_overlay(self) -> None:
        """The screen's words as characters over the phone, or its pixels alone."""
        mirror = self.footage.stage.mirror
        mirror.overlay = not mirror.overlay

    def action_copy(self) -> None:
        """Copies the step that is shown, as `hitlab replay` takes it."""
        if self.footage.link:
            self.app.copy_to_clipboard(self.footage.link)
            self.notify(f"Copied {self.footage.link}", markup=False)

    def action_search(self) -> None:
        """Opens the search."""
        self.query_one(SearchRow).open()

    @on(SearchRow.Sought)
    def _sought(self, message: SearchRow.Sought) -> None:
        timeline, row = self.footage.timeline, self.query_one(SearchRow)
        found = timeline.next_holding(message.needle, here=not message.on)
        if found is None:
            row.say(" no step holds it")
        else:
            row.say(f" {timeline.holding(message.needle)} steps; Enter: next, Esc: close")
            timeline.go(found)

    def action_back(self) -> None:
        """Out of what was opened last; with nothing open, to Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.query_one(SearchRow).is_open:
            self.query_one(SearchRow).close()
            self.outline.focus()
        elif self.form.is_open:
            self.form.close()
        elif self.texts.is_open:
            self.close_texts()
            self.outline.focus()
        elif self.footage.player.playing:
            self.footage.player.stop()
        elif self.drawing:
            self.action_draw()
        else:
            raise SkipAction  # the app's own: to Home
