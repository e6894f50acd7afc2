"""Home: what there is, and what Enter does next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, Static

from lab.design.revision import subject_of
from lab.errors import LabError
from lab.records import Summary
from lab.settings import Settings
from screens.describe import one_line
from screens.devices import Devices
from screens.footer import Footer
from screens.lines import Lines
from screens.seats import may_author, may_debug, may_run
from screens.shelves import Runs, TaskLine, Tasks
from screens.studies import Studies, StudyRow, study_rows

if TYPE_CHECKING:
    from screens.app import LabApp
    from store.store import Store

_LOOK = 2.0
"""Seconds between two looks for phones."""
_STUDIES = 5
"""Lines of studies that Home shows at once, above the runs."""
PAGE = 200
"""Runs read at once; more are read as the cursor nears the end of those."""

NONE_YET = (
    "No runs yet: Enter on a task starts one (Tab goes there); `hitlab demo` shows one; "
    "`hitlab import PATH` brings yours."
)
HOME = Binding.Group("Home", compact=True)


class HomeScreen(Screen[None]):
    """Runs, tasks and phones; everything is read after the first paint, off the UI thread."""

    BINDING_GROUP_TITLE = "Home"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "replay", "Replay", id="home.replay", tooltip="Play this run back, open or not"),
        Binding("r", "record", "Record", id="home.record", tooltip="Do this task yourself: a demonstration"),
        Binding(
            "R",
            "record_own",
            "Record your own",
            show=False,
            id="home.record_own",
            group=HOME,
            tooltip="A demonstration of what you intend, without a task",
        ),
        Binding("slash", "filter", "Filter", id="home.filter", tooltip="Find runs and tasks by a word"),
        Binding("a", "author", "Author", id="home.author", tooltip="Draft or verify the design of this task"),
        Binding(
            "t",
            "family",
            "Family",
            show=False,
            id="home.family",
            group=HOME,
            tooltip="The runs that were forked from one another",
        ),
        Binding("y", "copy", "Copy id", id="home.copy", tooltip="Copy this run's id"),
        Binding("tab", "app.focus_next", "Next pane", id="home.next_pane", tooltip="Go to the next pane"),
        Binding(
            "T",
            "app.show('runs')",
            "Table of runs",
            show=False,
            id="home.runs",
            group=HOME,
            tooltip="All runs as a table: filter, sort, group, compare",
        ),
        Binding("right_square_bracket", "move(1)", "Next", show=False, id="home.next", group=HOME, tooltip="Next line"),
        Binding(
            "left_square_bracket",
            "move(-1)",
            "Previous",
            show=False,
            id="home.previous",
            group=HOME,
            tooltip="Line above",
        ),
        Binding("escape", "back", "All runs", show=False, id="home.back", group=HOME, tooltip="Show all runs again"),
    ]

    @dataclass
    class RunsRead(Message):
        """A page of runs came from the file; `more` where it holds others after them."""

        runs: list[Summary]
        needle: str
        first: bool
        more: bool

    @dataclass
    class TasksRead(Message):
        """The built-in tasks were read."""

        tasks: list[TaskLine]

    @dataclass
    class PhonesRead(Message):
        """What adb knows: serial, state and model of each phone."""

        phones: list[tuple[str, str, str]]

    @dataclass
    class StudiesRead(Message):
        """What studies there are, and how far each is."""

        rows: list[StudyRow]

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self._needle = ""
        self._more = False
        self._reading = False
        self._tasks: list[TaskLine] = []

    def compose(self) -> ComposeResult:
        yield Static("hitlab", id="home-title", markup=False)
        yield Studies(id="studies")
        with Horizontal(id="shelves"):
            yield Runs(self.settings, id="runs")
            if may_run(self.settings.seat):
                with Vertical(id="side"):
                    yield Tasks(id="tasks")
                    yield Devices(id="devices", chosen=self.settings.device)
        with Horizontal(id="filter-row"):
            yield Static("Filter:", id="filter-word")
            yield Input(placeholder="task, agent, persona, status or id", id="filter", compact=True)
        yield Static("", id="next", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#home-title", Static).update(f"hitlab   {one_line(str(self.store.path), 500)}")
        self.query_one(Runs).border_title = "Runs"
        self.query_one(Studies).border_title = "Studies"
        for tasks in self.query(Tasks):
            tasks.border_title = "Tasks"
        for devices in self.query(Devices):
            devices.border_title = "Devices"
        self.query_one(Runs).focus()
        if self.query(Devices):
            self.set_interval(_LOOK, self._look_for_phones)

    def on_screen_resume(self) -> None:
        """What is shown may have grown while another room was looked at."""
        app = cast("LabApp", self.app)
        self.query_one(Runs).live = app.session.trace_id if app.session is not None and app.run_is_live else None
        for devices in self.query(Devices):
            devices.busy = app.session.spec.device if app.session is not None and app.run_is_live else ""
            devices.changed()
            self._look_for_phones()
        self.call_after_refresh(self._read_first)

    # -- reading ---------------------------------------------------------------------------------------------

    def _read_first(self) -> None:
        if not self._tasks and self.query(Tasks):
            self._read_tasks()
        self._read_studies()
        self._reading = True
        shown = max(PAGE, self.query_one(Runs).count) if not self._needle else PAGE
        self._read_runs(self._needle, None, shown)

    @work(thread=True, exclusive=True, group="runs")
    def _read_runs(self, needle: str, before: str | None, limit: int) -> None:
        """Reads pages until `limit` runs fit the filter, or there are no more."""
        first, found, more = before is None, list[Summary](), True
        while more and len(found) < limit and needle == self._needle:
            page = self.store.summaries(limit if not needle else PAGE * 5, before=before)
            more = len(page) >= (limit if not needle else PAGE * 5)
            before = page[-1].id if page else before
            found += [run for run in page if not needle or _fits(run, needle)]
        self.post_message(self.RunsRead(found, needle, first, more))

    @work(thread=True, exclusive=True, group="studies")
    def _read_studies(self) -> None:
        rows = study_rows(self.store, self.settings.person, others=may_run(self.settings.seat))
        self.post_message(self.StudiesRead(rows))

    @work(thread=True, exclusive=True, group="tasks")
    def _read_tasks(self) -> None:
        from simulators import library

        found = []
        for name in library.tasks():
            try:
                task = library.task(name)
            except LabError as error:
                found.append(TaskLine(name, "", "", one_line(error.sentence)))
            else:
                found.append(TaskLine(name, task.kind, task.shown))
        self.post_message(self.TasksRead(found))

    def on_home_screen_runs_read(self, message: RunsRead) -> None:
        if message.needle != self._needle:
            return
        self._reading = False
        runs = self.query_one(Runs)
        kept = runs.current.id if runs.current and message.first else None
        runs.rows = message.runs if message.first else runs.rows + message.runs
        self._more = message.more
        runs.empty = f"Nothing fits {self._needle!r}. Esc shows all runs." if self._needle else NONE_YET
        runs.border_title = f"Runs  {runs.count}{'+' if self._more else ''}"
        runs.changed()
        if kept is not None:
            runs.go(next((i for i, run in enumerate(runs.rows) if run.id == kept), 0))
        self._say_next()

    def on_home_screen_studies_read(self, message: StudiesRead) -> None:
        studies = self.query_one(Studies)
        first = not studies.rows and bool(message.rows) and not may_run(self.settings.seat)
        studies.rows = message.rows
        studies.set_class(bool(message.rows), "-any")
        studies.border_title = f"Studies  {studies.count}"
        studies.styles.height = min(studies.count, _STUDIES if self.has_class("-tall") else 2) + 3
        studies.changed()
        if first:
            studies.focus()
        self._say_next()

    def on_home_screen_tasks_read(self, message: TasksRead) -> None:
        self._tasks = message.tasks
        self.query_one(Runs).titles = {task.name: task.title for task in message.tasks if task.title}
        self._show_tasks()
        self.query_one(Runs).refresh()
        self._say_next()

    def _show_tasks(self) -> None:
        for tasks in self.query(Tasks):
            tasks.rows = [
                t for t in self._tasks if self._needle.casefold() in f"{t.name} {t.kind} {t.title}".casefold()
            ]
            tasks.empty = "No task fits." if self._needle else "No tasks found."
            tasks.border_title = f"Tasks  {tasks.count}"
            tasks.changed()

    def _look_for_phones(self) -> None:
        if self.is_current:
            self._read_phones()

    @work(thread=True, exclusive=True, group="phones")
    def _read_phones(self) -> None:
        """What adb knows, where it runs; to look is no reason to start it."""
        from lab.devices.bridge import Server

        try:
            server = Server.named()
            listed = server.phones() if server.running() else []
        except LabError:
            listed = []  # `hitlab doctor` says what is wrong with adb
        phones = [(one.serial, one.state, one.facts.get("model", "").replace("_", " ")) for one in listed]
        self.post_message(self.PhonesRead(phones))

    def on_home_screen_phones_read(self, message: PhonesRead) -> None:
        for devices in self.query(Devices):
            devices.found(message.phones)
            if self.focused is devices:
                self._say_next()

    # -- what Enter does -------------------------------------------------------------------------------------

    @on(Lines.Highlighted)
    def _near_the_end(self, message: Lines.Highlighted) -> None:
        runs = self.query_one(Runs)
        near = message.lines is runs and message.index > runs.count - PAGE // 4
        if near and self._more and not self._reading and runs.rows:
            self._reading = True
            self._read_runs(self._needle, runs.rows[-1].id, PAGE)
        self._say_next()

    def on_descendant_focus(self) -> None:
        self._say_next()

    def _say_next(self) -> None:
        match self.focused:
            case Runs() | Tasks() | Devices() | Studies() as lines:
                words = lines.next_words()
            case Input():
                words = "Enter: keep this filter   Esc: show all"
            case _:
                words = ""
        self.query_one("#next", Static).update(words)

    @on(Lines.Chosen)
    def _chosen(self, message: Lines.Chosen) -> None:
        self.call_later(self.run_action, "choose")

    def action_choose(self) -> None:
        """Does what the line above the keys says."""
        app = cast("LabApp", self.app)
        match self.focused:
            case Runs() as runs if runs.current is not None:
                if runs.current.id == runs.live:
                    app.action_show("live")
                elif runs.resumes(runs.current):
                    app.open_resume(runs.current.id)
                else:
                    app.open_replay(runs.current.id)
            case Studies() as studies if studies.reads:
                studies.action_agreement()
            case Studies() as studies if studies.current is not None:
                app.open_study(self.store.study(studies.current.line.id, studies.current.line.version))
            case Tasks() as tasks if tasks.current is not None:
                app.open_task(tasks.current.checked)
            case Devices() as devices if devices.current.serial == devices.busy:
                app.action_show("live")
            case Devices() as devices if devices.current.serial != devices.chosen:
                self._choose_phone(devices)

    def _choose_phone(self, devices: Devices) -> None:
        row = devices.current
        if not row.ready:
            raise LabError(f"phone {row.serial}", f"is {row.state}", "`hitlab doctor` says what to do.")
        devices.chosen = row.serial
        cast("LabApp", self.app).choose_phone(row.serial)
        devices.changed()
        self._say_next()

    def action_replay(self) -> None:
        """Plays the run under the cursor back, open or not."""
        run = self.query_one(Runs).current
        if run is not None:
            cast("LabApp", self.app).open_replay(run.id)

    def action_record(self) -> None:
        """Records how a person does the task under the cursor; elsewhere than at the tasks, what they intend."""
        match self.focused:
            case Tasks() as tasks if tasks.current is not None:
                self._record(tasks.current.checked)
            case _:
                self._record(None)

    def action_record_own(self) -> None:
        """Records how a person does what they intend."""
        self._record(None)

    def _record(self, task: str | None) -> None:
        from screens.door import demonstration

        app = cast("LabApp", self.app)
        app.check_no_run()
        app.open_record(demonstration(task, app.settings))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is not for this seat does not exist."""
        if action in ("record", "record_own"):
            return may_run(self.settings.seat)
        if action == "family":
            return may_debug(self.settings.seat)
        return action != "author" or may_author(self.settings.seat)

    def action_author(self) -> None:
        """The design of the task under the cursor, or of the one that this run is of, beside its newest run."""
        app = cast("LabApp", self.app)
        match self.focused:
            case Tasks() as tasks if tasks.current is not None:
                from simulators import library

                task = library.task(tasks.current.name)
                app.open_author(task, self.store.latest_run(subject_of(task)))
            case _:
                run = self.query_one(Runs).current
                if run is not None:
                    app.open_author(self.store.asked_in(run.id), run.id)

    def action_family(self) -> None:
        """The runs that share a beginning with the one under the cursor."""
        from screens.replay.debugging import show_family

        run = self.query_one(Runs).current
        if run is not None:
            show_family(cast("LabApp", self.app), run.id)

    def action_copy(self) -> None:
        """Copies the id of the run under the cursor."""
        run = self.query_one(Runs).current
        if run is not None:
            self.app.copy_to_clipboard(run.id)
            self.notify(f"Copied {run.id}", markup=False)

    def action_move(self, by: int) -> None:
        """The next or the previous line of the pane in use."""
        if isinstance(self.focused, Lines):
            self.focused.action_move(by)

    # -- filter ----------------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        """Opens the filter."""
        self.add_class("-filtering")
        self.query_one("#filter", Input).focus()

    @on(Input.Changed, "#filter")
    def _filter(self, message: Input.Changed) -> None:
        self._needle = message.value.strip()
        self._show_tasks()
        self._read_first()

    @on(Input.Submitted, "#filter")
    def _keep_filter(self) -> None:
        self.query_one(Runs).focus()

    def action_back(self) -> None:
        """Shows all runs again."""
        if self.app.query("HelpPanel"):
            self.app.action_hide_help_panel()
            return
        self.query_one("#filter", Input).value = ""
        self.remove_class("-filtering")
        self.query_one(Runs).focus()


def _fits(run: Summary, needle: str) -> bool:
    text = " ".join((run.id, run.task, run.agent, run.persona or "", run.status, run.source or ""))
    return all(word in text.casefold() for word in needle.casefold().split())
