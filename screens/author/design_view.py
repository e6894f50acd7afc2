"""A read-only view of a design: the run at the left, its items at the right."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from lab.core.errors import LabError
from lab.core.run.step import Observation
from lab.core.run.trace import Ended, Step
from lab.core.settings import Settings
from lab.core.task.design import SECTIONS, Section
from lab.core.task.task import Actor, Task
from lab.core.text.plain_text import plain
from lab.core.text.typed_text import clean
from lab.runs.descriptions import one_line
from lab.runs.replay.recorded_run import RecordedRun
from lab.studies.designing.design_drafts import apps, texts
from lab.studies.designing.design_editing import entries, section_of
from lab.studies.designing.design_graph import draw_graph
from lab.studies.designing.design_session import DesignSession
from screens.author.fields import detail_words
from screens.author.form import ItemForm
from screens.author.keys import KEYS
from screens.author.outline import TITLES, Outline
from screens.author.words import FORM_WORDS, TEXTS_WORDS, item_words, state_words
from screens.background import Background
from screens.key_names import keys_of, with_keys
from screens.lab import try_report
from screens.replay.phone_pane import StillPhone
from screens.replay.run_player import RunPlayer, StepPage
from screens.replay.timeline import Timeline
from screens.stylesheet import ROOM_STYLES
from screens.theme import MUTED
from screens.widgets.border_words import write_title
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.search_field import SearchRow
from screens.widgets.status_line import StatusLine
from screens.widgets.table import RowList
from screens.widgets.text_page import ScrollableNotice, TextPage

if TYPE_CHECKING:
    from store.store import Store


class Steps(Timeline):
    """The run's steps. Those in the evidence of the item under the cursor are marked."""

    HELP = f"""{Timeline.HELP.replace("{replay.", "{author.")}
**◆** the item under the cursor was seen in this step: **{{author.evidence}}** keeps the step shown, or no longer,
**{{author.to_evidence}}** goes to the next.
"""


class StepApps:
    """Knows the app of each step of the run, read off the UI thread. `on_read` is called once they are read."""

    def __init__(self, owner: Widget, footage: RunPlayer, on_read: Callable[[], None]) -> None:
        self._footage = footage
        self._on_read = on_read
        # The player, which reads the same run, says what is wrong with it.
        self._reading = Background(owner, self._take_apps, lambda _: None)
        self._apps: list[str] = []

    def read(self, reel: RecordedRun | None) -> None:
        """Read the apps of another run, or of none."""
        self._reading.cancel()
        self._apps = []
        if reel is not None:
            self._reading.start(lambda: apps(event for event in reel.runs.events(reel.id) if isinstance(event, Step)))

    def _take_apps(self, app_names: list[str]) -> None:
        self._apps = app_names
        self._on_read()

    @property
    def all_apps(self) -> list[str]:
        """Every app of the run, in order."""
        return list(dict.fromkeys(app for app in self._apps if app))

    @property
    def current_app(self) -> str:
        """App of the current step, or of the screen after it, empty if unknown."""
        view = self._footage.view
        if view is None or not self._apps:
            return ""
        index = view.number + (self._footage.after and view.after is not None)
        return self._apps[min(index, len(self._apps) - 1)]

    @property
    def place_words(self) -> str:
        """The current place of the run, in a line."""
        footage, view = self._footage, self._footage.view
        if footage.run is None:
            return "no run"
        if view is None:
            return "reading ..."
        place = "The end" if isinstance(view.event, Ended) else f"Step {view.number + 1}/{footage.steps}"
        line = footage.timeline.rows[view.number] if view.number < footage.timeline.count else None
        return one_line("   ".join(filter(None, (place, self.current_app, line.words if line else ""))), 300)


NO_RUN = "No run of this task is in the file, so there is no phone to look at. `hitlab live TASK` makes one."
_BESIDE = {"-narrow": 55, "-normal": 88, "-wide": 138}
"""Columns that the steps and the design need beside the phone, by the terminal's width class."""


class DesignView(RoomScreen[None]):
    """One task's design beside one of its runs. `session` is None until a task is opened."""

    CSS_PATH = ROOM_STYLES
    BINDING_GROUP_TITLE = "Author"
    BINDINGS: ClassVar[list[BindingType]] = KEYS
    AUTO_FOCUS = "#outline"

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self.session: DesignSession | None = None
        phone = StillPhone("phone", overlay=settings.overlay, interactive=True, beside=_BESIDE)
        no_run = Static(NO_RUN, id="no-run", markup=False)
        self.footage = RunPlayer(Steps(id="steps"), phone, no_run, steps_page=StepPage())
        self.apps = StepApps(self, self.footage, self._update_step)
        self.outline = Outline(id="outline")
        self.form = ItemForm(id="form")
        self.texts = StepTexts(id="texts")
        self._requested: tuple[Task, str | None] | None = None
        self._footer_state: tuple[object, ...] = ()

    @property
    def person(self) -> Actor:
        """The person who signs the acts done here."""
        return Actor("human", self.settings.person)

    @property
    def open_session(self) -> DesignSession:
        """The session. Raises `LabError` if no task is open."""
        if self.session is None:
            hint = with_keys(self, "{home.author:a} on a run or a task in Home ({app.home}) opens its design.")
            raise LabError("Author", "no design is open.", hint)
        return self.session

    def compose(self) -> ComposeResult:
        yield StatusLine("author-title")
        with Horizontal(id="bench"):
            yield self.footage
            with Vertical(id="design"):
                yield TextPage(id="asked-for")
                yield StatusLine("sections")
                yield self.outline
                yield TextPage(id="drawing", classes="pane")
                yield self.texts
                yield self.form
                yield TextPage(id="about")
                yield StatusLine("here")
        yield SearchRow("a word in thoughts, actions, dialogue or on the screen", id="search")
        yield ScrollableNotice(id="author-state")
        yield Footer()

    def on_mount(self) -> None:
        self.footage.timeline.write_titles("Steps")
        self.query_one("#drawing", TextPage).border_title = "Graph, drawn   v: the list"
        if self._requested is not None:
            self._begin(*self._requested)
        else:
            nothing = "No design is open. {home.author:a} on a run or a task in Home ({app.home}) opens it."
            self.query_one("#author-state", ScrollableNotice).show(Content(with_keys(self, nothing)))

    def on_resize(self) -> None:
        self.call_after_refresh(self._take_room)

    def _take_room(self) -> None:
        self.footage.stage.fit_width()
        self._draw_graph()

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, task: Task, run: str | None) -> None:
        """Show a task's design, with a run of it if there is one."""
        self._requested = task, run
        if self.is_mounted:
            self._begin(task, run)

    def _begin(self, task: Task, run: str | None) -> None:
        self.form.close()
        self.query_one(SearchRow).close()
        self.session = DesignSession(self.store, task, self.person)
        self.query_one("#author-title", StatusLine).say(Content(one_line(f"Author   {task.id}   {task.title}", 400)))
        instruction = task.instruction.strip() or f"{task.display_name} (proactive: nothing is asked in words)"
        self.query_one("#asked-for", TextPage).show(Content(plain(instruction)))
        reel = RecordedRun(self.store.runs, run) if run is not None else None
        self.footage.open(reel)
        self.apps.read(reel)
        self.outline.section = "tdg"
        try_report(self, self._load)
        self.outline.focus()

    def _load(self) -> None:
        if self.session is not None and self.session.unkept is None:
            self.session.load()
        self.repaint()

    def on_screen_resume(self) -> None:
        """Read again, because another person may have acted meanwhile."""
        try_report(self, self._load)

    def on_screen_suspend(self) -> None:
        """Stop playing and store typed text while another screen is shown."""
        self.footage.playback.pause()
        self.form.report_changes()

    # -- painting --------------------------------------------------------------------------------------------

    def repaint(self) -> None:
        """Repaint everything that depends on the design."""
        session = self.session
        if session is None:
            return
        self.outline.show(session, self.footage.run is not None)
        parts: list[tuple[str, str]] = []
        wrong = {problem.key.partition("/")[0] for problem in session.problems} if session.writable else set()
        for number, section in enumerate(SECTIONS, 1):
            count = len(entries(session.design, section))
            style = "bold reverse" if section == self.outline.section else MUTED
            sign = "!" if section in wrong else " "
            parts.append((f" {number} {TITLES[section]} {count}{sign}", style))
        self.query_one("#sections", StatusLine).say(Content.assemble(*parts))
        write_title(self.outline, TITLES[self.outline.section])
        self.update_lines()
        self._draw_graph()
        self.refresh_keys()

    def refresh_keys(self) -> None:
        """Refresh the footer if other keys are available now."""
        session = self.session
        if session is not None:
            drafts = (session.head is None, len(session.concurrent_drafts), session.unkept is None)
            state = (session.writable, session.reviewing, *drafts, self.outline.section, self.texts.is_open)
            if state != self._footer_state:
                self._footer_state = state
                self.refresh_bindings()

    def update_lines(self) -> None:
        """Update the line about the current step, and the one above the footer."""
        self.query_one("#here", StatusLine).say(Content(self.apps.place_words))
        session = self.session
        if session is None:
            return
        column = self.query_one("#design")
        edits = self.form.is_open and self.form.words == FORM_WORDS
        column.update_classes({"-busy": edits, "-choosing": self.texts.is_open})
        is_open = self.texts.is_open
        description = plain(self.texts.current) if is_open else detail_words(session.design, self.outline.key)
        self._show_if_new("#about", description)
        self.footage.cover(session.design.evidence.get(self.outline.key, ()))
        words = self.form.words if self.form.is_open else TEXTS_WORDS if self.texts.is_open else ""
        words = with_keys(self, words) or state_words(session, lambda id: (keys_of(self, f"author.{id}") or [""])[0])
        wrong = item_words(session, self.outline.key)
        self._show_if_new("#author-state", "   ".join(filter(None, (words, wrong))))

    def _show_if_new(self, place: str, words: str) -> None:
        """Show new text from its top. The same text keeps its scroll offset."""
        page, content = self.query_one(place, TextPage), Content(words)
        if content != page.content:
            page.show(content)

    def _draw_graph(self) -> None:
        if self.session is not None and self.drawing:
            page = self.query_one("#drawing", TextPage)
            lines = draw_graph(self.session.design.tdg, max(20, page.scrollable_content_region.width - 2))
            words = "\n".join(lines) or "Nothing to draw: no nodes, no room, or edges that make a circle."
            page.show(Content(words), from_top=False)

    @property
    def drawing(self) -> bool:
        """True if the graph is shown as a drawing, not as a list."""
        return self.has_class("-drawn")

    def show_item(self, key: str) -> None:
        """Go to an item in any section, and to the first step of its evidence."""
        section = section_of(key)
        if section != self.outline.section:
            self.action_section(section)
        self.outline.go_to(key)
        links = self.session.design.evidence.get(key, ()) if self.session is not None else ()
        if links:
            self.footage.go_to(links[0])

    def change(self, act: Callable[[], None]) -> None:
        """Change the design as a whole and repaint, also after an error."""
        try:
            act()
        finally:
            self.repaint()

    # -- looking about ---------------------------------------------------------------------------------------

    def action_section(self, section: Section) -> None:
        """Show the graph, the branches, the units or the rubric."""
        self.close_texts()
        if self.drawing:
            self.action_draw()
        self.outline.section = section
        self.outline.go(0)
        self.repaint()
        self.outline.focus()

    def action_draw(self) -> None:
        """Toggle the graph as a drawing and as a list."""
        self.toggle_class("-drawn")
        if self.drawing:
            # The page has its width only after the layout.
            self.call_after_refresh(self._draw_graph)
            self.query_one("#drawing").focus()
        else:
            self.outline.focus()

    def offer_texts(self) -> None:
        """List the texts of the current screen and focus the list."""
        self.fill_texts()
        self.texts.cursor = 0
        self.texts.add_class("-open")
        self.texts.display = True
        self.texts.focus()
        self.refresh_keys()
        self.update_lines()

    def close_texts(self) -> None:
        """Hide the list of texts."""
        self.texts.remove_class("-open")
        self.texts.display = False
        self.refresh_keys()
        self.update_lines()

    @on(LineList.Highlighted, "#outline")
    @on(LineList.Highlighted, "#texts")
    def _follow_cursor(self, message: LineList.Highlighted) -> None:
        message.stop()
        self.update_lines()

    @on(RunPlayer.Looked)
    def _show_step(self) -> None:
        footage = self.footage
        if footage.view is not None:
            footage.timeline.write_titles(f"Steps  {min(footage.view.number + 1, footage.steps)}/{footage.steps}")
        self._update_step()

    def _update_step(self) -> None:
        if self.texts.is_open:
            self.fill_texts()
        self.update_lines()

    def fill_texts(self) -> None:
        """List the texts of the current screen."""
        self.texts.fill(self.footage.step, self.footage.screen_shown)

    def action_step(self, by: int) -> None:
        """Go one step forward or back."""
        self.footage.move(by)

    def action_question(self, by: int) -> None:
        """Go to the next or previous step with a question."""
        if not self.footage.question(by):
            self.notify("No further question." if by > 0 else "No question before this.", markup=False)

    def action_play(self) -> None:
        """Play from here, or pause."""
        self.footage.play()

    def action_pace(self) -> None:
        """Toggle the recorded pace (at most three seconds a step) and one step a second."""
        player = self.footage.playback
        player.recorded = not player.recorded
        self.notify(player.words, markup=False)

    def action_after(self) -> None:
        """Toggle the screens before and after the step."""
        self.footage.toggle_after()

    def action_words(self) -> None:
        """Toggle the step's words in the phone's place."""
        self.footage.toggle_words()

    def action_overlay(self) -> None:
        """Toggle the screen's words as characters over the phone."""
        mirror = self.footage.stage.mirror
        mirror.overlay = not mirror.overlay

    def action_copy(self) -> None:
        """Copy the current step, in the form that `hitlab replay` accepts."""
        if self.footage.link:
            self.app.copy_to_clipboard(self.footage.link)
            self.notify(f"Copied {self.footage.link}", markup=False)

    def action_search(self) -> None:
        """Open the search."""
        self.query_one(SearchRow).open()

    @on(SearchRow.SearchRequested)
    def _search(self, message: SearchRow.SearchRequested) -> None:
        timeline, row = self.footage.timeline, self.query_one(SearchRow)
        timeline.set_needle(message.needle)
        if not message.needle:
            return
        step = timeline.next_holding(message.needle, here=not message.on)
        if step is None:
            row.say(" no step holds it")
        else:
            row.say(with_keys(self, f" {timeline.match_words(message.needle)}; Enter: next, {{author.back}}: close"))
            timeline.go(step)

    def action_back(self) -> None:
        """Close what was opened last. With nothing open, go Home."""
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
        elif self.footage.playback.playing:
            self.footage.playback.pause()
        elif self.drawing:
            self.action_draw()
        else:
            raise SkipAction  # the app's own: to Home


class StepTexts(RowList[str]):
    """Readable texts of a step: what was typed, asked and answered in it, then the screen from top to bottom."""

    HELP = """\
# Texts

What stands on the phone's screen at this step, and what was typed, asked or answered in it. **{author.take_text}**
takes one as the value of a new information unit; **{author.back}** leaves without one. Arrows left and right still
scrub the run. The whole of a long one stands below the list; **tab** leads there.
"""
    empty = "No text was recorded here. {author.back}, then {author.add_empty} adds an empty unit."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Take it", id="author.take_text", tooltip="A unit with this text as its value"),
    ]

    def fill(self, step: Step | None, observation: Observation | None) -> None:
        """List the texts of a step."""
        parts: list[str] = []
        if step is not None:
            parts = [step.action.text or "" if step.action else "", step.reply.text if step.reply else ""]
        parts += texts(observation) if observation is not None else []
        self.border_title = "Which text is the unit?"
        # Clean, not plain: the chosen text becomes a unit's value.
        self.set_rows(dict.fromkeys(clean(text.strip()) for text in parts if text.strip()))

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    @property
    def current(self) -> str:
        """The whole text under the cursor."""
        return self.rows[self.cursor] if self.rows else ""

    def paint(self, index: int, width: int) -> Content:
        return Content(one_line(self.rows[index], 300))
