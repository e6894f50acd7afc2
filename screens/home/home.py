"""Home: what there is, and what Enter does next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from lab.core.agent_names import shortest_names
from lab.core.design import subject_of
from lab.core.errors import LabError
from lab.core.last_choices import RunChoices
from lab.core.plain_text import plain
from lab.core.run_records import Summary
from lab.core.settings import Settings
from lab.runs.descriptions import one_line
from lab.runs.run_acts import archive_runs
from lab.studies.seats import may_author, may_debug, may_run, sees_outcomes
from lab.studies.study_archive import archive_study
from screens.choice_memory import mark_of, recall, remember
from screens.home.devices import DeviceList
from screens.home.keys import KEYS
from screens.home.lists import BlindRunList, RunList, TaskRow, Tasks
from screens.home.studies import OwnStudies, StudyRow, StudyTable, study_rows
from screens.key_names import with_keys
from screens.lab import ScreenName, lab_of, post_if_newest
from screens.widgets.border_words import write_title
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.text_fields import TextLine

if TYPE_CHECKING:
    from store.store import Store

_LOOK = 2.0
"""Seconds between two looks for phones."""
PAGE = 200
"""Runs read at once; more are read as the cursor nears the end of those."""

NONE_YET = "No runs yet: {list.open} on a task, `hitlab demo`, `hitlab import PATH` make some."
NO_STUDIES = "No studies yet: {runs.new_study:n} in Runs ({app.runs}) makes one of the runs there."

NONE_TO_READ = "No runs yet: `hitlab demo` shows one; `hitlab import PATH` brings yours."
"""Where none is started from Home."""

NOTHING_ARCHIVED = "No run is archived. {home.back} shows the others."
NO_ARCHIVED_STUDY = "No study is archived. {home.back} shows the others."
_FRAME = 3
"""Rows of the title, the line that says what is next, and the keys."""


class HomeScreen(RoomScreen[None]):
    """Runs, tasks and phones; everything is read after the first paint, off the UI thread."""

    BINDING_GROUP_TITLE = "Home"

    BINDINGS: ClassVar[list[BindingType]] = KEYS

    @dataclass
    class RunsRead(Message):
        """A page of runs came from the file; `more` where it holds others after them."""

        runs: list[Summary]
        first: bool
        more: bool
        intents: dict[str, str]
        """What each demonstration among them shows, by its task."""

    @dataclass
    class RunRead(Message):
        """The run that is live, or has just ended, as the file has it now; None where it is not in it yet."""

        run: Summary | None

    @dataclass
    class TasksRead(Message):
        """The built-in tasks were read."""

        tasks: list[TaskRow]

    @dataclass
    class PhonesRead(Message):
        """What adb knows: serial, state and model of each phone; and the state of each one's screen, by serial."""

        phones: list[tuple[str, str, str]]
        screens: dict[str, str]

    @dataclass
    class StudiesRead(Message):
        """What studies there are, and how far each is."""

        rows: list[StudyRow]

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self.archived = False
        """Whether the runs and studies that are archived are listed, in place of the others."""
        self.history: list[Callable[[], object]] = []
        """What undoes each thing that was archived or brought back here."""
        self._needle = ""
        self._listed = ("", False)
        """By which filter runs are listed, and whether those that are archived."""
        self._more = False
        self._reading = False
        self._following = self._behind = False
        """Whether the live run's line is being read, and whether it went on since that began."""
        self._begun = False
        """Whether the runs were read once."""
        self._tasks: list[TaskRow] = []
        self._wanted = ""
        """The study that the cursor goes to once it is read; empty for none."""
        self._at_study = ""
        """The mark of the study that the cursor is on; empty before there is any."""

    def compose(self) -> ComposeResult:
        yield Static("hitlab", id="home-title", markup=False)
        outcomes = sees_outcomes(self.settings.seat)
        yield StudyTable(id="studies") if outcomes else OwnStudies(id="studies")
        with Horizontal(id="shelves"):
            yield RunList(self.settings, id="runs") if outcomes else BlindRunList(self.settings, id="runs")
            if may_run(self.settings.seat):
                with Vertical(id="side"):
                    yield Tasks(id="tasks")
                    yield DeviceList(id="devices", chosen=self.settings.device)
        with Horizontal(id="filter-row"):
            yield Static("Filter:", id="filter-word", markup=False)
            sought = f"task, {'agent, ' if outcomes else ''}persona, status or id"
            yield TextLine(placeholder=sought, id="filter", compact=True)
        yield Static("", id="next", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#home-title", Static).update(f"hitlab   {one_line(str(self.store.path), 500)}")
        self.query_one(RunList).border_title = "Runs"
        self.query_one(StudyTable).border_title = "Studies"
        for tasks in self.query(Tasks):
            tasks.border_title = "Tasks"
        for devices in self.query(DeviceList):
            devices.border_title = "Devices"
        self.set_focus(self.query_one(RunList))
        self.watch(self, "maximized", self._fit_panes, init=False)
        if self.query(DeviceList):
            self.set_interval(_LOOK, self._look_for_phones)

    def on_resize(self) -> None:
        self._fit_panes()

    def on_screen_resume(self) -> None:
        """What is shown may have grown while another room was looked at."""
        self._mark_live()
        self.call_after_refresh(self._read_first)

    def _mark_live(self) -> None:
        """Says which run and which phone are live, and what that run waits for."""
        app, runs = lab_of(self), self.query_one(RunList)
        session = app.session if app.run_is_live else None
        runs.live, runs.asked = (session.trace_id if session is not None else None), app.run_waits
        for devices in self.query(DeviceList):
            devices.busy = session.spec.device if session is not None else ""
            devices.changed()

    def follow_run(self) -> None:
        """To be called when the run that is live went on, waits for somebody, or is over."""
        session = lab_of(self).session
        if session is None:
            return
        self._mark_live()
        self.query_one(RunList).refresh()
        self._say_next()
        self._behind = self._following
        if not self._following:
            self._following = True
            self._read_run(session.trace_id)

    # -- reading ---------------------------------------------------------------------------------------------

    def _read_first(self) -> None:
        if self.query(DeviceList):
            self._look_for_phones()
        if not self._tasks and self.query(Tasks):
            self._read_tasks()
        self._read_studies()
        self._reading = True
        limit = max(PAGE, self.query_one(RunList).count) if not self._needle else PAGE
        self._read_runs(self._needle, None, limit)

    @work(thread=True, exclusive=True, group="runs")
    def _read_runs(self, needle: str, before: str | None, limit: int) -> None:
        """Reads pages until `limit` runs fit the filter, or there are no more."""
        first, summaries, more, archived = before is None, list[Summary](), True, self.archived
        while more and len(summaries) < limit and needle == self._needle:
            page = self.store.runs.summaries(limit if not needle else PAGE * 5, before=before, archived=archived)
            more = len(page) >= (limit if not needle else PAGE * 5)
            before = page[-1].id if page else before
            summaries += [run for run in page if not needle or self._fits(run, needle)]
        tasks = [self.store.runs.task(run.id) for run in summaries if run.task.startswith("demo-")]
        intents = {task.id: task.title or task.instruction for task in tasks}
        post_if_newest(self, self.RunsRead(summaries, first, more, intents))

    def _fits(self, run: Summary, needle: str) -> bool:
        return _fits(run, needle, outcomes=sees_outcomes(self.settings.seat))

    @work(thread=True, group="run")
    def _read_run(self, run: str) -> None:
        self.post_message(self.RunRead(self.store.runs.summary(run) if self.store.runs.holds(run) else None))

    @work(thread=True, exclusive=True, group="studies")
    def _read_studies(self) -> None:
        others, archived = may_run(self.settings.seat), self.archived
        rows = study_rows(self.store, self.settings.person, others=others, archived=archived)
        post_if_newest(self, self.StudiesRead(rows))

    @work(thread=True, exclusive=True, group="tasks")
    def _read_tasks(self) -> None:
        from simulators import library

        rows = []
        for name in library.tasks():
            try:
                task = library.task(name)
            except LabError as error:
                rows.append(TaskRow(name, "", "", one_line(error.sentence)))
            else:
                rows.append(TaskRow(name, task.kind, task.shown))
        self.post_message(self.TasksRead(rows))

    def on_home_screen_runs_read(self, message: RunsRead) -> None:
        self._reading = False
        runs = self.query_one(RunList)
        current_id, listed = runs.current.id if runs.current and message.first else None, (self._needle, self.archived)
        runs.rows = message.runs if message.first else runs.rows + message.runs
        runs.agents = shortest_names(run.actor for run in runs.rows if run.actor is not None)
        runs.titles |= {task: intent for task, intent in message.intents.items() if intent}
        self._more = message.more
        none_yet = NOTHING_ARCHIVED if self.archived else NONE_YET if may_run(self.settings.seat) else NONE_TO_READ
        runs.empty = f"Nothing fits {self._needle!r}. {{home.back}} shows all runs." if self._needle else none_yet
        write_title(runs, f"{'Archived runs' if self.archived else 'Runs'}  {runs.count}{'+' if self._more else ''}")
        runs.changed()
        self._fit_panes()
        if current_id is not None:
            near = runs.cursor if self._listed == listed else 0
            runs.go(next((i for i, run in enumerate(runs.rows) if run.id == current_id), near))
        self._listed = listed
        if not self._begun:
            self._begun = True
            self._fit_panes()
            self.call_after_refresh(self._begin)  # the first focus is given only then
        self._say_next()

    def _begin(self) -> None:
        """Gives the keys to the tasks where there is no run to begin with."""
        if not self.query_one(RunList).count and not self._needle and isinstance(self.focused, RunList | None):
            for tasks in self.query(Tasks):
                self.set_focus(tasks)
        self._say_next()

    def on_home_screen_run_read(self, message: RunRead) -> None:
        """Puts the run's line in the place of the one before; what happened meanwhile is read next."""
        self._following = False
        runs, run = self.query_one(RunList), message.run
        at = next((i for i, row in enumerate(runs.rows) if run is not None and row.id == run.id), None)
        if run is not None and at is not None:
            runs.rows[at] = run
            runs.changed_at(at)
            self._say_next()
        elif run is not None and not self._reading and (not self._needle or self._fits(run, self._needle)):
            self._read_first()
        if self._behind:
            self.follow_run()

    def on_home_screen_studies_read(self, message: StudiesRead) -> None:
        studies = self.query_one(StudyTable)
        may = may_run(self.settings.seat)
        first = not studies.rows and bool(message.rows) and not may
        studies.take(message.rows)
        studies.can_focus = bool(message.rows)
        studies.empty = NO_ARCHIVED_STUDY if self.archived else NO_STUDIES
        studies.set_class(may or bool(message.rows), "-any")
        write_title(studies, f"{'Archived studies' if self.archived else 'Studies'}  {studies.count}")
        self._fit_panes()
        self._to_last_study(studies)
        self._to_wanted_study(studies)
        if first:
            studies.focus()
        self._say_next()

    def _to_last_study(self, studies: StudyTable) -> None:
        """The cursor begins on the study that it was on when the app was left."""
        if self._at_study or not studies.rows:
            return
        self._at_study = recall(self).study or "none"
        studies.go(next((at for at, row in enumerate(studies.rows) if self._mark(row) == self._at_study), 0))

    def _mark(self, row: StudyRow) -> str:
        return mark_of(self.store.path.absolute(), row.line.id)

    @on(LineList.Highlighted, "#studies")
    def _on_study(self) -> None:
        row = self.query_one(StudyTable).current
        if row is not None and self._at_study and self.focused is self.query_one(StudyTable):
            self._at_study = self._mark(row)
            remember(self, study=self._at_study)

    def point_at(self, study: str) -> None:
        """Put the cursor on a study of that name once Home is shown and has read it."""
        self._wanted, self.archived = study, False

    def _to_wanted_study(self, studies: StudyTable) -> None:
        at = next((at for at, row in enumerate(studies.rows) if row.line.id == self._wanted), None)
        if at is not None:
            self._wanted = ""
            studies.focus()
            studies.go(at)

    def _fit_panes(self) -> None:
        """Give each pane the lines it needs, what is left to the one with the keys, then to the one that has most.

        An empty one has a line.
        """
        studies, runs = self.query_one(StudyTable), self.query_one(RunList)
        side, devices = [*self.query("#side")], [*self.query(DeviceList)]
        self._fold(studies, empty=not studies.count)
        self._fold(runs, empty=not runs.count and self._begun and not self._needle)
        for pane in devices:
            self._fold(pane, empty=pane.count == 1)
        beside = self.has_class("-wide") and not runs.has_class("-line") and bool(side)
        self.query_one("#shelves").set_class(beside, "-beside")
        phones = sum(_lines(pane) for pane in devices)
        tasks = sum(_lines(pane) for pane in self.query(Tasks))
        stacked = beside or any(pane.has_class("-line") for pane in devices)
        for column in side:
            column.set_class(stacked, "-stacked")
        room = self.size.height - _FRAME - self.has_class("-filtering")
        wants = {"studies": _lines(studies) if studies.has_class("-any") else 0, "runs": _lines(runs)}
        if side:
            wants["side"] = tasks + phones if stacked else max(tasks, phones)
        if beside:
            wants = {"studies": wants["studies"], "shelves": max(wants["runs"], wants.pop("side"))}
        held = self.focused.ancestors_with_self if self.focused is not None else ()
        heights = _shared(room, wants, next((node.id for node in held if node.id in wants), None))
        heights["devices"] = phones if stacked else heights.get("side", 0)
        for pane in (studies, runs, *side, *devices):
            height = heights.get(pane.id or "")
            pane.styles.height = "1fr" if self.maximized is pane or height is None else height

    def _fold(self, pane: StudyTable | RunList | DeviceList, *, empty: bool) -> None:
        """Show a pane that has nothing to choose from as a line, without a border or a heading."""
        folded = empty and self.maximized is not pane
        if pane.has_class("-line") is not folded:
            pane.set_class(folded, "-line")
            pane.heading_rows = 0 if folded else type(pane).heading_rows
            pane.changed()

    def on_home_screen_tasks_read(self, message: TasksRead) -> None:
        self._tasks = message.tasks
        self.query_one(RunList).titles |= {task.name: task.title for task in message.tasks if task.title}
        self._show_tasks()
        self.query_one(RunList).refresh()
        self._say_next()

    @property
    def tasks(self) -> list[TaskRow]:
        """The built-in tasks that can be run from here."""
        return [task for task in self._tasks if not task.broken]

    def _show_tasks(self) -> None:
        for tasks in self.query(Tasks):
            tasks.rows = [
                t for t in self._tasks if self._needle.casefold() in f"{t.name} {t.kind} {t.title}".casefold()
            ]
            tasks.empty = "No task fits." if self._needle else "No tasks found."
            write_title(tasks, f"Tasks  {tasks.count}")
            tasks.changed()
        self._fit_panes()

    def _look_for_phones(self) -> None:
        if self.is_current:
            self._read_phones()

    @work(thread=True, exclusive=True, group="phones")
    def _read_phones(self) -> None:
        """What adb knows, where it runs; to look is no reason to start it."""
        from lab.devices.adb_server import Server
        from lab.devices.device_list import screens

        try:
            server = Server.named()
            adb_phones = server.phones() if server.running() else []
            screen_states = screens(server, adb_phones)
        except LabError:
            adb_phones, screen_states = [], {}  # `hitlab doctor` says what is wrong with adb
        phones = [(phone.serial, phone.state, phone.facts.get("model", "").replace("_", " ")) for phone in adb_phones]
        self.post_message(self.PhonesRead(phones, screen_states))

    def on_home_screen_phones_read(self, message: PhonesRead) -> None:
        for devices in self.query(DeviceList):
            before = devices.count
            devices.found(message.phones, message.screens)
            if devices.count != before:
                self._fit_panes()
            if self.focused is devices:
                self._say_next()

    # -- what Enter does -------------------------------------------------------------------------------------

    @on(LineList.Highlighted)
    def _near_the_end(self, message: LineList.Highlighted) -> None:
        runs = self.query_one(RunList)
        near = message.lines is runs and message.index > runs.count - PAGE // 4
        if near and self._more and not self._reading and runs.rows:
            self._reading = True
            self._read_runs(self._needle, runs.rows[-1].id, PAGE)
        self._say_next()

    def on_descendant_focus(self) -> None:
        self._fit_panes()
        self._say_next()

    def _say_next(self) -> None:
        match self.focused:
            case RunList() | Tasks() | DeviceList() | StudyTable() as lines:
                words = lines.next_words()
            case Input():
                words = with_keys(self, "Enter: keep this filter   {home.back}: show all")
            case _:
                words = ""
        self.query_one("#next", Static).update(words, layout=False)

    @on(LineList.Chosen)
    def _chosen(self, message: LineList.Chosen) -> None:
        self.call_later(self.run_action, "choose")

    def action_choose(self) -> None:
        """Does what the line above the keys says."""
        app = lab_of(self)
        match self.focused:
            case RunList() as runs if runs.current is not None:
                if runs.current.id == runs.live:
                    app.action_show("live")
                elif runs.resumes(runs.current):
                    app.open_resume(runs.current.id)
                else:
                    app.open_replay(runs.current.id)
            case StudyTable() as studies if studies.deals:
                self._deal(studies)
            case StudyTable() as studies if studies.reads:
                studies.action_agreement()
            case StudyTable() as studies if studies.current is not None:
                app.open_study(self.store.studies.study(studies.current.line.id, studies.current.line.version))
            case Tasks() as tasks if tasks.current is not None:
                self._start(tasks.current.checked)
            case DeviceList() as devices if devices.current.serial == devices.busy:
                app.action_show("live")
            case DeviceList() as devices if devices.current.serial != devices.chosen:
                self._choose_phone(devices)

    def _deal(self, studies: StudyTable) -> None:
        """Deals the study under the cursor to its raters, once that was asked."""
        from lab.studies.study_dealing import deal_study
        from screens.dialogs import AskScreen

        assert studies.current is not None
        study = self.store.studies.study(studies.current.line.id, studies.current.line.version)

        def deal(sure: bool | None) -> None:
            if sure:
                result = deal_study(self.store, study, self._person)
                shares = ", ".join(f"{one.rater} {one.pilot + one.main + one.repeat:,}" for one in result.raters)
                self.notify(plain(f"dealt: {shares}", lines=False), title=study.name, markup=False)
                self._read_first()

        says = f"Its items are dealt to {', '.join(study.raters)}, for good."
        self.app.push_screen(AskScreen(f"Deal {study.name}?", plain(says, lines=False), "Deal it"), deal)

    def open_here(self, room: ScreenName, *, entered: bool) -> bool:
        """Open a room on what the cursor is on; False where it is on nothing that the room shows.

        A study under the cursor is always the one that is meant, a run or a task where the room shows none yet.
        """
        match self.focused:
            case StudyTable() as studies:
                return studies.open_here(room, entered=entered)
            case RunList() as runs if runs.current is not None and room == "replay" and not entered:
                self.action_replay()
            case RunList() | Tasks() as lines if lines.current is not None and room == "author" and not entered:
                self.action_author()
            case _:
                return False
        return True

    def _start(self, name: str) -> None:
        """Asks how a task is to be started; the choices of last time are those to begin with."""
        from screens.home.run_form import RunForm
        from simulators import library

        app = lab_of(self)
        app.check_no_run()

        def begin(choices: RunChoices | None) -> None:
            if choices is not None:
                remember(self, run=choices)
                app.open_task(name, choices)

        self.app.push_screen(RunForm(library.task(name), recall(self).run, app.settings), begin)

    def _choose_phone(self, devices: DeviceList) -> None:
        row = devices.current
        if not row.ready:
            raise LabError(f"phone {row.serial}", f"is {row.state}", "`hitlab doctor` says what to do.")
        devices.chosen = row.serial
        lab_of(self).choose_phone(row.serial)
        devices.changed()
        self._say_next()

    @property
    def _run_here(self) -> Summary:
        """The run under the cursor; a `LabError` where there is none."""
        run = self.query_one(RunList).current
        if run is None:
            hint = with_keys(self, "{list.open} on a task makes one.") if may_run(self.settings.seat) else ""
            raise LabError("Runs", "no run is here.", hint)
        return run

    def action_replay(self) -> None:
        """Plays the run under the cursor back, open or not."""
        lab_of(self).open_replay(self._run_here.id)

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
        from screens.launcher import demonstration

        app = lab_of(self)
        app.check_no_run()
        app.open_record(demonstration(task, app.settings))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is not for this seat does not exist."""
        if action in ("record", "record_own"):
            return may_run(self.settings.seat)
        if action == "family":
            return may_debug(self.settings.seat)
        if action in ("archive", "archived", "undo"):
            return sees_outcomes(self.settings.seat)
        return action != "author" or may_author(self.settings.seat)

    def action_author(self) -> None:
        """The design of the task under the cursor, or of the one that this run is of, beside its newest run."""
        app = lab_of(self)
        match self.focused:
            case Tasks() as tasks if tasks.current is not None:
                from simulators import library

                task = library.task(tasks.current.name)
                app.open_author(task, self.store.runs.latest(subject_of(task)))
            case _:
                run = self._run_here
                app.open_author(self.store.runs.task(run.id), run.id)

    def action_family(self) -> None:
        """The runs that share a beginning with the one under the cursor."""
        from screens.replay.debugging import show_family

        show_family(self, self._run_here.id)

    # -- the archive -----------------------------------------------------------------------------------------

    def action_archive(self) -> None:
        """Archives the run or the study under the cursor, or brings it back where archived ones are listed."""
        match self.focused:
            case StudyTable() as studies if studies.current is not None:
                line = studies.current.line
                study = self.store.studies.study(line.id, line.version)
                self._put_away(line.name, lambda away: archive_study(self.store, study, self._person, archived=away))
            case RunList():
                run = self._run_here
                if run.id == self.query_one(RunList).live:
                    raise LabError(f"run {run.id}", "is live.", "It can be archived once it has ended.")
                self._put_away("run", lambda away: archive_runs(self.store, [run.id], self._person, archived=away))
            case _:
                raise LabError("Archive", "a run or a study is archived, and the cursor is on neither.")

    @property
    def _person(self) -> str:
        return self.settings.person

    def _put_away(self, what: str, archive: Callable[[bool], object]) -> None:
        away = not self.archived
        archive(away)
        self.history.append(lambda: archive(not away))
        state = "archived" if away else "back in the lists"
        self.notify(with_keys(self, f"{plain(what)} {state}; {{home.undo}} undoes it"), markup=False)
        self._read_first()

    def action_archived(self) -> None:
        """Lists what is archived, or the others again."""
        self.archived = not self.archived
        self._read_first()

    def action_undo(self) -> None:
        """Undoes what was archived or brought back last."""
        if not self.history:
            raise LabError("Undo", "nothing is left here to undo.")
        self.history.pop()()
        self._read_first()

    def action_copy(self) -> None:
        """Copies the id of the run under the cursor."""
        run = self.query_one(RunList).current
        if run is not None:
            self.app.copy_to_clipboard(run.id)
            self.notify(f"Copied {run.id}", markup=False)

    def action_move(self, by: int) -> None:
        """The next or the previous line of the pane in use."""
        if isinstance(self.focused, LineList):
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
        self.query_one(RunList).focus()

    def action_back(self) -> None:
        """Shows all runs again."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
            return
        if self.archived and not self.has_class("-filtering"):
            self.action_archived()
        self.query_one("#filter", Input).value = ""
        self.remove_class("-filtering")
        self.query_one(RunList).focus()


def _fits(run: Summary, needle: str, *, outcomes: bool) -> bool:
    """Whether every word stands in a run's line; agents and tags only where this person sees outcomes."""
    outcome_words = (run.agent, *run.tags) if outcomes else ()
    text = " ".join((run.id, run.task, run.persona or "", run.status, run.source or "", *outcome_words))
    return all(word in text.casefold() for word in needle.casefold().split())


def _lines(pane: LineList) -> int:
    """The rows that a pane needs to show all of its lines."""
    if pane.has_class("-line"):
        words = Content(with_keys(pane, pane.empty)) if not pane.count else Content("")
        return len(words.wrap(max(1, pane.app.size.width - 2)))
    return pane.count + pane.heading_rows + 2


def _shared(room: int, wants: Mapping[str, int], keys_in: str | None) -> dict[str, int]:
    """Rows for each of several panes: a part that each is sure of, the rest to `keys_in` and those that want most."""
    sure = {"studies": max(4, room // 3), "runs": max(5, room // 3), "side": max(4, room // 5), "shelves": room // 3}
    heights = {name: min(want, sure[name]) for name, want in wants.items()}
    by_want = sorted(wants, key=lambda name: (name == keys_in, wants[name]), reverse=True)
    for name in by_want:
        heights[name] += max(0, min(wants[name] - heights[name], room - sum(heights.values())))
    heights[max(wants, key=lambda name: wants[name])] += max(0, room - sum(heights.values()))
    return heights
