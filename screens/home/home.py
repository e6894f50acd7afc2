"""Home: studies, runs, tasks and phones, and what Enter does next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from lab.core.errors import LabError
from lab.core.last_choices import RunChoices
from lab.core.run.agent_names import shortest_names
from lab.core.run.run_records import Summary
from lab.core.settings import Settings
from lab.core.task.design import subject_of
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line
from lab.runs.listing.run_acts import archive_runs
from lab.studies.planning.study_archive import archive_study
from lab.studies.seats import may_author, may_debug, may_run, sees_outcomes
from screens.background import Background
from screens.choice_memory import hash_of, recall, remember
from screens.home.devices import DeviceList
from screens.home.keys import KEYS
from screens.home.lists import BlindRunList, RunList, TaskRow, Tasks
from screens.home.studies import OwnStudies, StudyRow, StudyTable, study_rows
from screens.key_names import with_keys
from screens.lab import lab_of
from screens.widgets.border_words import write_title
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.text_fields import TextLine

if TYPE_CHECKING:
    from store.store import Store

_LOOK = 2.0
"""Seconds between two polls for phones."""
PAGE = 200
"""Runs per page. The next page is read when the cursor nears the end."""

NONE_YET = "No runs yet: {list.open} on a task, `hitlab demo`, `hitlab import PATH` make some."
NO_STUDIES = "No studies yet: {runs.new_study:n} in Runs ({app.runs}) makes one of the runs there."

NONE_TO_READ = "No runs yet: `hitlab demo` shows one; `hitlab import PATH` brings yours."
"""Text of an empty list for a seat that cannot start runs."""

NOTHING_ARCHIVED = "No run is archived. {home.back} shows the others."
NO_ARCHIVED_STUDY = "No study is archived. {home.back} shows the others."
_FRAME = 3
"""Rows of the title, the line about Enter, and the footer."""


class RunPage(NamedTuple):
    """Runs that were read. `more` is True if the file holds others after them."""

    runs: list[Summary]
    first: bool
    more: bool
    intents: dict[str, str]
    """Intents of the demonstrations among them, by task id."""


class Phones(NamedTuple):
    """adb's phones (serial, state and model of each), and the state of each one's screen by serial."""

    phones: list[tuple[str, str, str]]
    screens: dict[str, str]


class HomeScreen(RoomScreen[None]):
    """Runs, tasks and phones. Everything is read after the first paint, off the UI thread."""

    BINDING_GROUP_TITLE = "Home"

    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self.archived = False
        """True if the lists show archived runs and studies instead of the others."""
        self.history: list[Callable[[], object]] = []
        """Undo functions of what was archived or restored here, the last at the end."""
        self._needle = ""
        self._listed_state = ("", False)
        """Filter of the listed runs, and True if those are the archived ones."""
        self._more = False
        self._runs = Background(self, self._show_runs)
        self._live_run = Background(self, self._show_run)
        self._studies = Background(self, self._show_studies)
        self._library = Background(self, self._take_tasks)
        self._phones = Background(self, self._show_phones)
        self._runs_were_read = False
        """True once the runs were read."""
        self._tasks: list[TaskRow] = []
        self._wanted_study = ""
        """Study to which the cursor goes once it is read, empty for none."""
        self._current_study_mark = ""
        """Mark (a hash) of the study under the cursor, empty before there is one."""

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
        """Read again, because the file may have grown while another room was shown."""
        self._mark_live()
        self.call_after_refresh(self._read_first)

    def _mark_live(self) -> None:
        """Mark the live run, its phone and what it waits for."""
        app, runs = lab_of(self), self.query_one(RunList)
        session = app.session if app.run_is_live else None
        runs.live, runs.waits_for = (session.trace_id if session is not None else None), app.run_waits
        for devices in self.query(DeviceList):
            devices.busy = session.spec.device if session is not None else ""
            devices.changed()

    def follow_run(self) -> None:
        """Update the row of the live run after it advanced, began to wait, or ended."""
        session = lab_of(self).session
        if session is None:
            return
        self._mark_live()
        self.query_one(RunList).refresh()
        self._say_next()
        self._live_run.request(partial(self._read_run, session.trace_id))

    # -- reading ---------------------------------------------------------------------------------------------

    def _read_first(self) -> None:
        if self.query(DeviceList):
            self._look_for_phones()
        if not self._tasks and self.query(Tasks):
            self._library.start(_read_library)
        self._read_studies()
        # As many as were listed, so that the cursor finds its run again.
        limit = max(PAGE, self.query_one(RunList).count) if not self._needle else PAGE
        self._read_runs(None, limit)

    def _read_runs(self, before: str | None, limit: int) -> None:
        self._runs.start(partial(self._read_page, self._needle, before, limit, archived=self.archived))

    def _read_page(self, needle: str, before: str | None, limit: int, *, archived: bool) -> RunPage:
        """Read pages until `limit` runs match the filter or no more are left."""
        first, summaries, more = before is None, list[Summary](), True
        # A changed filter ends the reading early: its own has begun.
        while more and len(summaries) < limit and needle == self._needle:
            # A filter drops most rows, so read larger pages then.
            page = self.store.runs.summaries(limit if not needle else PAGE * 5, before=before, archived=archived)
            more = len(page) >= (limit if not needle else PAGE * 5)
            before = page[-1].id if page else before
            summaries += [run for run in page if not needle or self._matches(run, needle)]
        tasks = [self.store.runs.task(run.id) for run in summaries if run.task.startswith("demo-")]
        intents = {task.id: task.title or task.instruction for task in tasks}
        return RunPage(summaries, first, more, intents)

    def _matches(self, run: Summary, needle: str) -> bool:
        return _row_matches(run, needle, outcomes=sees_outcomes(self.settings.seat))

    def _read_run(self, run: str) -> Summary | None:
        """Read the live run, or the one that just ended. Return None if it is not in the file yet."""
        return self.store.runs.summary(run) if self.store.runs.has_run(run) else None

    def _read_studies(self) -> None:
        others, archived = may_run(self.settings.seat), self.archived
        person = self.settings.person
        self._studies.start(lambda: study_rows(self.store, person, others=others, archived=archived))

    def _show_runs(self, page: RunPage) -> None:
        runs = self.query_one(RunList)
        current_id, listed = runs.current.id if runs.current and page.first else None, (self._needle, self.archived)
        runs.rows = page.runs if page.first else runs.rows + page.runs
        runs.agents = shortest_names(run.actor for run in runs.rows if run.actor is not None)
        runs.titles |= {task: intent for task, intent in page.intents.items() if intent}
        self._more = page.more
        none_yet = NOTHING_ARCHIVED if self.archived else NONE_YET if may_run(self.settings.seat) else NONE_TO_READ
        runs.empty = f"Nothing fits {self._needle!r}. {{home.back}} shows all runs." if self._needle else none_yet
        write_title(runs, f"{'Archived runs' if self.archived else 'Runs'}  {runs.count}{'+' if self._more else ''}")
        runs.changed()
        self._fit_panes()
        if current_id is not None:
            near = runs.cursor if self._listed_state == listed else 0
            runs.go(next((i for i, run in enumerate(runs.rows) if run.id == current_id), near))
        self._listed_state = listed
        if not self._runs_were_read:
            self._runs_were_read = True
            self._fit_panes()
            self.call_after_refresh(self._focus_first)  # the first focus is given only then
        self._say_next()

    def _focus_first(self) -> None:
        """Focus the tasks if there is no run at first."""
        if not self.query_one(RunList).count and not self._needle and isinstance(self.focused, RunList | None):
            for tasks in self.query(Tasks):
                self.set_focus(tasks)
        self._say_next()

    def _show_run(self, run: Summary | None) -> None:
        """Replace the run's row."""
        runs = self.query_one(RunList)
        index = next((i for i, row in enumerate(runs.rows) if run is not None and row.id == run.id), None)
        if run is not None and index is not None:
            runs.rows[index] = run
            runs.repaint_lines(index)
            self._say_next()
        elif run is not None and not self._runs.busy and (not self._needle or self._matches(run, self._needle)):
            self._read_first()

    def _show_studies(self, rows: list[StudyRow]) -> None:
        studies = self.query_one(StudyTable)
        may = may_run(self.settings.seat)
        first = not studies.rows and bool(rows) and not may
        studies.set_studies(rows)
        studies.can_focus = bool(rows)
        studies.empty = NO_ARCHIVED_STUDY if self.archived else NO_STUDIES
        studies.set_class(may or bool(rows), "-any")
        write_title(studies, f"{'Archived studies' if self.archived else 'Studies'}  {studies.count}")
        self._fit_panes()
        self._to_last_study(studies)
        self._to_wanted_study(studies)
        if first:
            studies.focus()
        self._say_next()

    def _to_last_study(self, studies: StudyTable) -> None:
        """Put the cursor on the study that it was on when the app was last left."""
        if self._current_study_mark or not studies.rows:
            return
        self._current_study_mark = recall(self).study or "none"
        studies.go(
            next((at for at, row in enumerate(studies.rows) if self._study_mark(row) == self._current_study_mark), 0)
        )

    def _study_mark(self, row: StudyRow) -> str:
        return hash_of(self.store.path.absolute(), row.line.id)

    @on(LineList.Highlighted, "#studies")
    def _remember_study(self) -> None:
        row = self.query_one(StudyTable).current
        if row is not None and self._current_study_mark and self.focused is self.query_one(StudyTable):
            self._current_study_mark = self._study_mark(row)
            remember(self, study=self._current_study_mark)

    def point_at(self, study: str) -> None:
        """Put the cursor on a study of that name once Home is shown and has read it."""
        self._wanted_study, self.archived = study, False

    def _to_wanted_study(self, studies: StudyTable) -> None:
        index = next((index for index, row in enumerate(studies.rows) if row.line.id == self._wanted_study), None)
        if index is not None:
            self._wanted_study = ""
            studies.focus()
            studies.go(index)

    def _fit_panes(self) -> None:
        """Give each pane the lines it needs, the rest to the pane with the focus, then to the one with most.

        An empty pane has one line.
        """
        studies, runs = self.query_one(StudyTable), self.query_one(RunList)
        side, devices = [*self.query("#side")], [*self.query(DeviceList)]
        self._fold(studies, empty=not studies.count)
        self._fold(runs, empty=not runs.count and self._runs_were_read and not self._needle)
        for pane in devices:
            self._fold(pane, empty=pane.count == 1)
        side_by_side = self.has_class("-wide") and not runs.has_class("-line") and bool(side)
        self.query_one("#shelves").set_class(side_by_side, "-beside")
        phones = sum(_rows_needed(pane) for pane in devices)
        tasks = sum(_rows_needed(pane) for pane in self.query(Tasks))
        stacked = side_by_side or any(pane.has_class("-line") for pane in devices)
        for column in side:
            column.set_class(stacked, "-stacked")
        room = self.size.height - _FRAME - self.has_class("-filtering")
        wants = {"studies": _rows_needed(studies) if studies.has_class("-any") else 0, "runs": _rows_needed(runs)}
        if side:
            wants["side"] = tasks + phones if stacked else max(tasks, phones)
        if side_by_side:
            wants = {"studies": wants["studies"], "shelves": max(wants["runs"], wants.pop("side"))}
        focused = self.focused.ancestors_with_self if self.focused is not None else ()
        heights = _share_rows(room, wants, next((node.id for node in focused if node.id in wants), None))
        heights["devices"] = phones if stacked else heights.get("side", 0)
        for pane in (studies, runs, *side, *devices):
            height = heights.get(pane.id or "")
            pane.styles.height = "1fr" if self.maximized is pane or height is None else height

    def _fold(self, pane: StudyTable | RunList | DeviceList, *, empty: bool) -> None:
        """Show a pane without anything to choose as one line without border and heading."""
        folded = empty and self.maximized is not pane
        if pane.has_class("-line") is not folded:
            pane.set_class(folded, "-line")
            pane.heading_rows = 0 if folded else type(pane).heading_rows
            pane.changed()

    def _take_tasks(self, tasks: list[TaskRow]) -> None:
        self._tasks = tasks
        self.query_one(RunList).titles |= {task.name: task.title for task in tasks if task.title}
        self._show_tasks()
        self.query_one(RunList).refresh()
        self._say_next()

    @property
    def tasks(self) -> list[TaskRow]:
        """The built-in tasks that can be run."""
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
            self._phones.request(_read_phones)

    def _show_phones(self, found: Phones) -> None:
        for devices in self.query(DeviceList):
            before = devices.count
            devices.set_phones(*found)
            if devices.count != before:
                self._fit_panes()
            if self.focused is devices:
                self._say_next()

    # -- what Enter does -------------------------------------------------------------------------------------

    @on(LineList.Highlighted)
    def _read_more(self, message: LineList.Highlighted) -> None:
        runs = self.query_one(RunList)
        near = message.lines is runs and message.index > runs.count - PAGE // 4
        if near and self._more and not self._runs.busy and runs.rows:
            self._read_runs(runs.rows[-1].id, PAGE)
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
    def _choose_line(self, message: LineList.Chosen) -> None:
        self.call_later(self.run_action, "choose")

    def action_choose(self) -> None:
        """Do what the line above the footer says."""
        app = lab_of(self)
        match self.focused:
            case RunList() as runs if runs.current is not None:
                if runs.current.id == runs.live:
                    app.action_show("live")
                elif runs.is_resumable(runs.current):
                    app.open_resume(runs.current.id)
                else:
                    app.open_replay(runs.current.id)
            case StudyTable() as studies if studies.enter_deals:
                self._deal(studies)
            case StudyTable() as studies if studies.enter_reads:
                studies.action_agreement()
            case StudyTable() as studies if studies.current is not None:
                app.open_study(self.store.studies.study(studies.current.line.id, studies.current.line.version))
            case Tasks() as tasks if tasks.current is not None:
                self._start_task(tasks.current.readable_name)
            case DeviceList() as devices if devices.current.serial == devices.busy:
                app.action_show("live")
            case DeviceList() as devices if devices.current.serial != devices.chosen:
                self._choose_phone(devices)

    def _deal(self, studies: StudyTable) -> None:
        """Deal the study under the cursor to its raters after a confirmation."""
        from lab.studies.planning.study_dealing import deal_study
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

    def open_at_cursor(self, room: str, *, entered: bool) -> bool:
        """Open a room on the line under the cursor. Return False if the room does not show such a line.

        A study under the cursor always opens. A run or a task opens only in a room that shows none yet.
        """
        match self.focused:
            case StudyTable() as studies:
                return studies.open_at_cursor(room, entered=entered)
            case RunList() as runs if runs.current is not None and room == "replay" and not entered:
                self.action_replay()
            case RunList() | Tasks() as lines if lines.current is not None and room == "author" and not entered:
                self.action_author()
            case _:
                return False
        return True

    def _start_task(self, name: str) -> None:
        """Ask for the choices of a run, starting with the last ones, then start the task."""
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
            raise LabError(f"phone {row.serial}", f"is {row.state}", "`hitlab settings doctor` says what to do.")
        devices.chosen = row.serial
        lab_of(self).choose_phone(row.serial)
        devices.changed()
        self._say_next()

    @property
    def _current_run(self) -> Summary:
        """The run under the cursor. Raises `LabError` without one."""
        run = self.query_one(RunList).current
        if run is None:
            hint = with_keys(self, "{list.open} on a task makes one.") if may_run(self.settings.seat) else ""
            raise LabError("Runs", "no run is here.", hint)
        return run

    def action_replay(self) -> None:
        """Replay the run under the cursor, open or not."""
        lab_of(self).open_replay(self._current_run.id)

    def action_record(self) -> None:
        """Record a demonstration of the task under the cursor. Outside the tasks, record the person's own intent."""
        match self.focused:
            case Tasks() as tasks if tasks.current is not None:
                self._record(tasks.current.readable_name)
            case _:
                self._record(None)

    def action_record_own(self) -> None:
        """Record a demonstration of the person's own intent."""
        self._record(None)

    def _record(self, task: str | None) -> None:
        from screens.launcher import new_recording

        app = lab_of(self)
        app.check_no_run()
        app.open_record(new_recording(task, app.settings))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the actions that this seat lacks."""
        if action in ("record", "record_own"):
            return may_run(self.settings.seat)
        if action == "family":
            return may_debug(self.settings.seat)
        if action in ("archive", "archived", "undo"):
            return sees_outcomes(self.settings.seat)
        return action != "author" or may_author(self.settings.seat)

    def action_author(self) -> None:
        """Open the design of the task under the cursor, or of the run's task, beside its newest run."""
        app = lab_of(self)
        match self.focused:
            case Tasks() as tasks if tasks.current is not None:
                from simulators import library

                task = library.task(tasks.current.name)
                app.open_author(task, self.store.runs.latest_run_of(subject_of(task)))
            case _:
                run = self._current_run
                app.open_author(self.store.runs.task(run.id), run.id)

    def action_family(self) -> None:
        """Show the runs that share a beginning with the one under the cursor."""
        from screens.replay.family import show_family

        show_family(self, self._current_run.id)

    # -- the archive -----------------------------------------------------------------------------------------

    def action_archive(self) -> None:
        """Archive the run or study under the cursor, or restore it if archived ones are listed."""
        match self.focused:
            case StudyTable() as studies if studies.current is not None:
                line = studies.current.line
                study = self.store.studies.study(line.id, line.version)
                self._archive(line.name, lambda away: archive_study(self.store, study, self._person, archived=away))
            case RunList():
                run = self._current_run
                if run.id == self.query_one(RunList).live:
                    raise LabError(f"run {run.id}", "is live.", "It can be archived once it has ended.")
                self._archive("run", lambda away: archive_runs(self.store, [run.id], self._person, archived=away))
            case _:
                raise LabError("Archive", "a run or a study is archived, and the cursor is on neither.")

    @property
    def _person(self) -> str:
        return self.settings.person

    def _archive(self, what: str, archive: Callable[[bool], object]) -> None:
        away = not self.archived
        archive(away)
        self.history.append(lambda: archive(not away))
        state = "archived" if away else "back in the lists"
        self.notify(with_keys(self, f"{{what}} {state}; {{home.undo}} undoes it", what=plain(what)), markup=False)
        self._read_first()

    def action_archived(self) -> None:
        """List archived runs and studies, or the others again."""
        self.archived = not self.archived
        self._read_first()

    def action_undo(self) -> None:
        """Undo the last archiving or restoring."""
        if not self.history:
            raise LabError("Undo", "nothing is left here to undo.")
        self.history.pop()()
        self._read_first()

    def action_copy(self) -> None:
        """Copy the id of the run under the cursor."""
        run = self.query_one(RunList).current
        if run is not None:
            self.app.copy_to_clipboard(run.id)
            self.notify(f"Copied {run.id}", markup=False)

    def action_move(self, by: int) -> None:
        """Move to the next or the previous line of the focused pane."""
        if isinstance(self.focused, LineList):
            self.focused.action_move(by)

    # -- filter ----------------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        """Open the filter."""
        self.add_class("-filtering")
        self.query_one("#filter", Input).focus()

    @on(Input.Changed, "#filter")
    def _apply_filter(self, message: Input.Changed) -> None:
        self._needle = message.value.strip()
        self._show_tasks()
        self._read_first()

    @on(Input.Submitted, "#filter")
    def _leave_filter(self) -> None:
        self.query_one(RunList).focus()

    def action_back(self) -> None:
        """Close help, else clear the filter and show the runs that are not archived."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
            return
        if self.archived and not self.has_class("-filtering"):
            self.action_archived()
        self.query_one("#filter", Input).value = ""
        self.remove_class("-filtering")
        self.query_one(RunList).focus()


def _read_library() -> list[TaskRow]:
    from simulators import library

    rows = list[TaskRow]()
    for name in library.tasks():
        try:
            task = library.task(name)
        except LabError as error:
            rows.append(TaskRow(name, "", "", one_line(error.sentence)))
        else:
            rows.append(TaskRow(name, task.kind, task.display_name))
    return rows


def _read_phones() -> Phones:
    """Read adb's phones if its server runs. Never start the server only to list phones."""
    from lab.devices.adb.adb_server import Server
    from lab.devices.device_list import screens

    try:
        server = Server.from_environment()
        adb_phones = server.phones() if server.running() else []
        screen_states = screens(server, adb_phones)
    except LabError:
        adb_phones, screen_states = [], {}  # `hitlab settings doctor` says what is wrong with adb
    phones = [(phone.serial, phone.state, phone.facts.get("model", "").replace("_", " ")) for phone in adb_phones]
    return Phones(phones, screen_states)


def _row_matches(run: Summary, needle: str, *, outcomes: bool) -> bool:
    """Return True if the run's row holds every word. Agents and tags count only for a seat that sees outcomes."""
    outcome_words = (run.agent, *run.tags) if outcomes else ()
    text = " ".join((run.id, run.task, run.persona or "", run.status, run.source or "", *outcome_words))
    return all(word in text.casefold() for word in needle.casefold().split())


def _rows_needed(pane: LineList) -> int:
    """Return the rows that a pane needs to show all of its lines."""
    if pane.has_class("-line"):
        words = Content(with_keys(pane, pane.empty)) if not pane.count else Content("")
        return len(words.wrap(max(1, pane.app.size.width - 2)))
    return pane.count + pane.heading_rows + 2


def _share_rows(room: int, wants: Mapping[str, int], focused: str | None) -> dict[str, int]:
    """Distribute rows among panes: a guaranteed share each, the rest to `focused`, then to those that want most."""
    sure = {"studies": max(4, room // 3), "runs": max(5, room // 3), "side": max(4, room // 5), "shelves": room // 3}
    heights = {name: min(want, sure[name]) for name, want in wants.items()}
    by_want = sorted(wants, key=lambda name: (name == focused, wants[name]), reverse=True)
    for name in by_want:
        heights[name] += max(0, min(wants[name] - heights[name], room - sum(heights.values())))
    heights[max(wants, key=lambda name: wants[name])] += max(0, room - sum(heights.values()))
    return heights
