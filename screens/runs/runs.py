"""Runs: every run of the file as a table to filter, sort and group. Enter replays a run, and two can be compared."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from lab.core.errors import LabError
from lab.core.run.run_records import RunAct
from lab.core.settings import Settings
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count
from lab.runs.descriptions import one_line
from lab.runs.listing.run_acts import archive_runs, tag_change, tag_runs, undo_acts
from lab.runs.listing.run_filter import RunFilter, parse_filter
from lab.runs.listing.run_order import GROUPS, MEANS, NEWEST, SORTS, ArrangedRuns, Order, arrange
from lab.runs.listing.run_rows import Cost, RunEntry, cost_of, entry, with_agent_names
from screens.background import Background
from screens.choice_memory import recall, remember
from screens.key_names import with_keys
from screens.lab import lab_of
from screens.runs.keys import KEYS
from screens.runs.table import RunTableView
from screens.stylesheet import ROOM_STYLES
from screens.widgets.border_words import write_subtitle, write_title
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.text_fields import TextLine
from screens.widgets.text_page import ScrollableNotice
from store.runs.run_acts import RunState

if TYPE_CHECKING:
    from lab.studies.planning.study_freezing import StudiesFrozen, StudyFrozen
    from store.store import Store

_HINT = 'words, or agent:qwen score<1 asks>0 status:failed source:knowu task:"two words" -word'
_NONE_YET = (
    "No runs yet: {list.open} on a task in Home ({app.home}) starts one; `hitlab demo` shows one; "
    "`hitlab import PATH` brings yours."
)
Stamp = tuple[int, int, int, int]
"""Stamp of a file's rows. It changes if any run arrived, grew or was archived (`Runs.rows_stamp`)."""
FIRST, PAGE = 200, 2000
"""Rows of the first and of each further page. The first is small, so that the table is not empty for long."""
FEW = 40
"""Runs per reading of costs, because all of their steps are read."""
_AGAIN = 400
"""Number of newly read costs after which a table sorted by them is laid out again."""


class RunTablePage(NamedTuple):
    """Rows of the table, starting with the newest if `first`. `whole` with the last of them.

    `stamp` is the file's stamp when the reading began.
    """

    entries: list[RunEntry]
    first: bool
    whole: bool
    stamp: Stamp


class RunsScreen(RoomScreen[None]):
    """All runs. Filter, order and grouping stay while another room is shown."""

    CSS_PATH = ROOM_STYLES
    BINDING_GROUP_TITLE = "Runs"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self.entries: list[RunEntry] = []
        """The listed runs: the archived ones, or all others."""
        self.archived = False
        """True if the archived runs are listed."""
        self.undo_acts: list[list[RunAct]] = []
        """Acts of tagging, archiving and restoring done here, to be undone."""
        self.costs: dict[str, Cost] = {}
        self.sought = RunFilter()
        self.order = Order()
        self.table = RunTableView("table", self.costs)
        self.marked: RunEntry | None = None
        self.reading = Background(self, self._take_page, self._show_error)
        self.costing = Background(self, self._take_costs)
        self._stamp: Stamp | None = None
        """Stamp of the rows that were read last, or None before."""
        self._all_entries: list[RunEntry] = []
        self._new_entries: list[RunEntry] = []
        self._open_groups: frozenset[str] = frozenset()
        self._visible_ids: list[str] = []
        self._whole = False
        self._costs_since_layout = 0

    def compose(self) -> ComposeResult:
        yield Static(f"Runs   {one_line(str(self.store.path), 500)}", id="runs-title", markup=False)
        yield self.table
        yield ScrollableNotice(id="run-name")
        with Horizontal(id="filter-row"):
            yield Static("Filter:", id="filter-word", markup=False)
            yield TextLine(placeholder=_HINT, id="filter", compact=True)
        with Horizontal(id="tag-row"):
            yield Static("Tags:", id="tag-word", markup=False)
            yield TextLine(placeholder="+name puts a tag on, -name takes it off; Enter does it", id="tag", compact=True)
        yield Static("", id="filter-wrong", markup=False)
        yield Static("", id="next", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        last = recall(self)
        self.order = Order(
            last.sort if last.sort in SORTS else NEWEST, last.turned, last.group if last.group in GROUPS else ""
        )
        self.query_one("#filter-wrong").display = False
        self.table.focus()

    def on_screen_resume(self) -> None:
        """Read again if the file changed while another room was shown."""
        self.reload()

    # -- reading ---------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Read all rows again if the file has changed since they were read."""
        self.reading.start(partial(_read_rows, self.store, self._stamp))

    def _take_page(self, page: RunTablePage) -> None:
        if page.whole:
            self._stamp = page.stamp
        self._new_entries = [*([] if page.first else self._new_entries), *page.entries]
        if self._whole and not page.whole:
            return  # what stands there stays until all of what takes its place is read
        self._all_entries, self._whole = self._new_entries, page.whole
        for run_entry in self._all_entries if page.whole else ():
            if run_entry.run.status == "open":
                # An open run may have grown since its costs were read.
                self.costs.pop(run_entry.run.id, None)
        self._list_entries()

    def _show_error(self, error: LabError) -> None:
        self.table.empty = plain(error.sentence)
        self.table.refresh()

    @on(RunTableView.CostsNeeded)
    def _take_visible(self, message: RunTableView.CostsNeeded) -> None:
        self._visible_ids = message.runs
        self._read_costs()

    def _read_costs(self) -> None:
        """Read the costs of the runs in sight first, then of all if the table is sorted or filtered by them."""
        run_ids = (id for id in self._visible_ids if id not in self.costs)
        if self.needs_costs:
            run_ids = (id for ids in (self._visible_ids, (run_entry.run.id for run_entry in self.entries)) for id in ids
                      if id not in self.costs)  # fmt: skip
        few = list(islice(run_ids, FEW))
        if few and not self.costing.busy:
            self.costing.start(lambda: {id: _read_cost(self.store, id) for id in few})

    def _take_costs(self, costs: dict[str, Cost]) -> None:
        self.costs.update(costs)
        self._costs_since_layout += len(costs)
        if self.needs_costs and (self._costs_since_layout >= _AGAIN or not self.unread_costs):
            self.lay_out()
        else:
            self.table.refresh()
            self.update_lines()
        self._read_costs()

    @property
    def needs_costs(self) -> bool:
        """True if the table is sorted or filtered by costs."""
        return self.order.needs_costs or self.sought.needs_costs

    @property
    def unread_costs(self) -> int:
        """Number of runs with unread costs."""
        return sum(run_entry.run.id not in self.costs for run_entry in self.entries)

    # -- laying out ------------------------------------------------------------------------------------------

    def _list_entries(self, *, near: bool = False) -> None:
        """List the archived or the other runs of those that were read. Deselect runs that are gone."""
        listed = [run_entry for run_entry in self._all_entries if run_entry.run.archived is self.archived]
        self.entries = with_agent_names(listed)
        self.table.selection &= {run_entry.run.id for run_entry in self.entries}
        self.lay_out(near=near)

    def lay_out(self, *, near: bool = False) -> None:
        """Lay the table out with the current filter, order and grouping."""
        self._costs_since_layout = 0
        runs = arrange(self.entries, self.sought, self.order, self.costs, self._open_groups)
        self.table.empty = self._empty_words()
        self.table.show(runs, self.order, near=near)
        self._update_title(runs)
        self.update_lines()
        if self.needs_costs:
            self._read_costs()

    def _empty_words(self) -> str:
        if self.entries:
            return with_keys(self, "Nothing fits this filter. {runs.back} shows all runs.")
        if self.archived and self._whole:
            return with_keys(self, "Nothing is archived. {runs.archived} lists the other runs.")
        if self._all_entries and self._whole:
            return with_keys(self, "Every run is archived. {runs.archived} lists them.")
        return with_keys(self, _NONE_YET) if self._whole else "Reading the runs ..."

    def _update_title(self, arranged: ArrangedRuns) -> None:
        all_of = f"{len(self.entries):,}{'' if self._whole else '+'}"
        runs = all_of if arranged.runs == len(self.entries) else f"{arranged.runs:,} of {all_of}"
        groups = f"   in {count(arranged.groups, 'group')} by {self.order.group}" if self.order.group else ""
        write_title(self.table, f"{'Archived runs' if self.archived else 'Runs'}  {runs}{groups}")
        direction = "" if not self.order.reversed else ", the other way round"
        by = "the newest in this file first" if self.order == Order() else f"sorted by {self.order.by}{direction}"
        if self.order.group and self.order.by not in MEANS:
            by = "" if self.order.by == "newest" else f"groups by name, their runs by {self.order.by}{direction}"
        write_subtitle(self.table, by)

    @on(LineList.Highlighted)
    def _follow_cursor(self) -> None:
        self.update_lines()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable the actions on a run only if the cursor is on a run, not on a group."""
        return self.table.run is not None if action in ("replay", "copy") else super().check_action(action, parameters)

    def on_descendant_focus(self) -> None:
        self.update_lines()

    def on_resize(self) -> None:
        self.call_after_refresh(self.update_lines)

    def update_lines(self) -> None:
        """Update the line above the footer: what Enter does, the marked run, the costs still to read."""
        self.refresh_bindings()
        name, full_name = self.query_one("#run-name", ScrollableNotice), self.table.cut_name
        if full_name != name.content.plain:
            name.show(Content(full_name))
        words = self._next_words()
        if self.needs_costs and (unread := self.unread_costs):
            words = f"reading what runs cost: {unread:,} to go   {words}"
        self.query_one("#next", Static).update(words, layout=False)

    def _next_words(self) -> str:
        if isinstance(self.focused, Input):
            if self.focused.id == "tag":
                return with_keys(self, f"Enter: tag {self._subject()}   {{runs.back}}: leave them as they are")
            return with_keys(self, "Enter: keep this filter   {runs.back}: show all")
        line = self.table.current
        if line is None:
            return ""
        if self._selection:
            verb = "bring back" if self.archived else "archive"
            return with_keys(
                self,
                f"{self._subject()}   {{runs.tag}}: tag   {{runs.archive}}: {verb}   {{runs.new_study}}: new study",
            )
        enter = "{list.open}: "
        enter += "replay this run" if line.entry is not None else "close this group" if line.open else "open this group"
        if self.marked is None:
            return with_keys(self, enter)
        is_marked = self.table.run is not None and self.table.run.run.id == self.marked.run.id
        second = "unmark" if is_marked else "compare with it"
        second = "{runs.compare}: " + second if line.entry is not None else "{runs.compare} on a run: compare"
        return with_keys(self, f"{enter}   {second}") + f"   ◆ {_run_words(self.marked)}"

    # -- verbs -----------------------------------------------------------------------------------------------

    @on(LineList.Chosen)
    def _open_chosen(self, message: LineList.Chosen) -> None:
        line = self.table.arranged.lines[message.index]
        if line.group is not None:
            self._open_groups = self._open_groups ^ {line.group.name}
            self.lay_out()
        else:
            self.call_later(self.run_action, "replay")

    def action_replay(self) -> None:
        """Replay the run under the cursor. Esc returns from there."""
        if self.table.run is not None:
            lab_of(self).open_replay(self.table.run.run.id, back="runs")

    def action_sort(self, by: int) -> None:
        """Sort by the next or the previous column."""
        names = list(SORTS)
        self._sort_by(names[(names.index(self.order.by) + by) % len(names)])

    def _sort_by(self, name: str) -> None:
        turned = not self.order.reversed if name == self.order.by else False
        self._set_order(self.order._replace(by=name, reversed=turned))

    def _set_order(self, order: Order) -> None:
        """Lay the table out in another order and remember it for the next start."""
        self.order = order
        remember(self, sort=order.by, turned=order.reversed, group=order.group)
        self.lay_out()

    @on(RunTableView.HeadingClicked)
    def _sort_by_heading(self, message: RunTableView.HeadingClicked) -> None:
        if message.column in SORTS:
            self._sort_by(message.column)

    def action_turn(self) -> None:
        """Reverse the order."""
        self._set_order(self.order._replace(reversed=not self.order.reversed))

    def action_group(self) -> None:
        """Group by the next column, and after the last by none."""
        names = ["", *GROUPS]
        self._open_groups = frozenset()
        self._set_order(self.order._replace(group=names[(names.index(self.order.group) + 1) % len(names)]))

    def action_open_all(self) -> None:
        """Open every group, or close them all."""
        if self.order.group:
            names = frozenset(GROUPS[self.order.group](run_entry) for run_entry in self.entries)
            self._open_groups = frozenset() if names <= self._open_groups else names
            self.lay_out()

    def action_compare(self) -> None:
        """Mark the run under the cursor, or compare it with the marked one."""
        run_entry = self.table.run
        if self.table.current is None:
            return
        if run_entry is None:
            hint = with_keys(self, "{list.open} opens it; {runs.compare} is for a run.")
            raise LabError("Compare", "this line is a group.", hint)
        if self.marked is None or self.marked.run.id == run_entry.run.id:
            self._set_marked(run_entry if self.marked is None else None)
            return
        first = self.marked.run.id
        self._set_marked(None)
        lab_of(self).open_compare(first, run_entry.run.id)

    def action_last(self) -> None:
        """Show the two runs that were compared last."""
        lab_of(self).action_show("compare")

    def _set_marked(self, it: RunEntry | None) -> None:
        self.marked = it
        self.table.marked = it.run.id if it is not None else None
        self.table.refresh()
        self.update_lines()

    # -- archive and tags ------------------------------------------------------------------------------------

    @property
    def _selection(self) -> list[str]:
        """Ids of the selected runs that match the filter, in the order of the file."""
        if not self.table.selection:
            return []
        fits = self.sought.fits
        return [
            run_entry.run.id
            for run_entry in self.entries
            if run_entry.run.id in self.table.selection and fits(run_entry, self.costs)
        ]

    @property
    def _targets(self) -> list[str]:
        """Ids of the selected runs, else of the run under the cursor. Raises `LabError` without either."""
        run = self.table.run
        runs = self._selection or ([run.run.id] if run is not None else [])
        if not runs:
            raise LabError("Runs", "no run is here.", with_keys(self, "{runs.select} selects a group's runs."))
        return runs

    def _subject(self) -> str:
        return f"{count(len(self._selection), 'run')} selected" if self._selection else "this run"

    def action_select(self) -> None:
        """Toggle the selection of the run under the cursor, or of all runs of the group."""
        line = self.table.current
        if line is None:
            return
        if line.entry is not None:
            ids = {line.entry.run.id}
        else:
            of, fits = GROUPS[self.order.group], self.sought.fits
            name = line.group.name if line.group is not None else ""
            ids = {
                run_entry.run.id for run_entry in self.entries if of(run_entry) == name and fits(run_entry, self.costs)
            }
        self.table.selection = self.table.selection - ids if ids <= self.table.selection else self.table.selection | ids
        self.table.refresh()
        self.table.action_move(1)
        self.update_lines()

    def action_archived(self) -> None:
        """List the archived runs, or the others again."""
        self.archived = not self.archived
        self.table.selection = set()
        self._list_entries()

    def action_archive(self) -> None:
        """Archive the selected runs, or restore them if archived runs are listed."""
        runs = self._targets
        acts = archive_runs(self.store, runs, self.settings.person, archived=not self.archived)
        self._remember_acts(acts)
        words = "back in the lists" if self.archived else "archived"
        self.notify(with_keys(self, f"{count(len(acts), 'run')} {words}; {{runs.undo}} undoes it"), markup=False)

    def action_tag(self) -> None:
        """Open the row for tags."""
        if self._targets:
            self.add_class("-tagging")
            self.query_one("#tag", Input).focus()

    @on(Input.Submitted, "#tag")
    def _apply_tags(self, message: Input.Submitted) -> None:
        """Add and remove tags. Show an error for an invalid tag."""
        wrong = self.query_one("#filter-wrong", Static)
        try:
            change = tag_change(message.value.split())
            acts = tag_runs(self.store, self._targets, change, self.settings.person)
        except LabError as error:
            wrong.update(f"! {plain(error.sentence)}")
            wrong.display = True
            return
        self._leave_tags()
        self._remember_acts(acts)

    def _leave_tags(self) -> None:
        self.query_one("#tag", Input).value = ""
        self.query_one("#filter-wrong").display = False
        self.remove_class("-tagging")
        self.table.focus()

    def action_new_study(self) -> None:
        """Make a study of the selected runs, else of those that the filter finds, else of all listed ones."""
        from screens.runs.study_form import StudyForm

        selected, fits = self._selection, self.sought.fits
        runs = selected or [run_entry.run.id for run_entry in self.entries if fits(run_entry, self.costs)]
        if not runs or not self._whole:
            raise LabError("New study", "no run is listed." if self._whole else "the runs are still being read.")
        which = "selected" if selected else "that this filter finds" if len(runs) < len(self.entries) else "listed here"
        about = f"A study of {count(len(runs), 'run')} {which}"

        def end(result: StudiesFrozen | None) -> None:
            if result is not None:
                self.table.selection = set()
                lab_of(self).show_study(result.studies[0].study)
                for study in result.studies:
                    self.notify(_frozen_words(study), title=plain(study.title, lines=False), markup=False, timeout=15)

        self.app.push_screen(StudyForm(self.store, runs, about, self.settings), end)

    def action_undo(self) -> None:
        """Undo the last tagging, archiving or restoring."""
        if not self.undo_acts:
            raise LabError("Undo", "nothing is left here to undo.")
        acts = self.undo_acts.pop()
        undo_acts(self.store, acts, self.settings.person)
        self._update_runs({act.trace for act in acts})

    def _remember_acts(self, acts: list[RunAct]) -> None:
        """Show the result of these acts, remember them for undo, and clear the selection."""
        if acts:
            self.undo_acts.append(acts)
        self.table.selection = set()
        self._update_runs({act.trace for act in acts})

    def _update_runs(self, ids: set[str]) -> None:
        """Update these runs from the file."""
        if not self._whole:  # what is still coming was read before
            self.reload()
        states = self.store.runs.acts.states(ids)
        self._all_entries = [
            _with_state(run_entry, states.get(run_entry.run.id, RunState())) if run_entry.run.id in ids else run_entry
            for run_entry in self._all_entries
        ]
        self._list_entries(near=True)

    def action_copy(self) -> None:
        """Copy the id of the run under the cursor."""
        if self.table.run is not None:
            self.app.copy_to_clipboard(self.table.run.run.id)
            self.notify(f"Copied {self.table.run.run.id}", markup=False)

    def action_move(self, by: int) -> None:
        """Go to the next or the previous line."""
        self.table.action_move(by)

    # -- filter ----------------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        """Open the filter."""
        self.add_class("-filtering")
        self.query_one("#filter", Input).focus()

    @on(Input.Changed, "#filter")
    def _apply_filter(self, message: Input.Changed) -> None:
        """Apply the filter. Show an error for an invalid one and keep the previous result."""
        wrong = self.query_one("#filter-wrong", Static)
        try:
            self.sought = parse_filter(message.value)
        except LabError as error:
            wrong.update(f"! {error.body}")
            wrong.display = True
            return
        wrong.display = False
        self.lay_out()

    @on(Input.Submitted, "#filter")
    def _leave_filter(self) -> None:
        self.table.focus()
        if not self.query_one("#filter", Input).value.strip():
            self.remove_class("-filtering")

    def action_back(self) -> None:
        """Close what was opened last: filter, mark, selection, archive. At last go Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.has_class("-tagging"):
            self._leave_tags()
        elif self.has_class("-filtering"):
            self.query_one("#filter", Input).value = ""
            self.query_one("#filter-wrong").display = False
            self.remove_class("-filtering")
            self.table.focus()
        elif self.marked is not None:
            self._set_marked(None)
        elif self.table.selection:
            self.table.selection = set()
            self.table.refresh()
            self.update_lines()
        elif self.archived:
            self.action_archived()
        else:
            raise SkipAction  # the app's own: to Home


def _read_rows(store: Store, known: Stamp | None) -> Generator[RunTablePage, None, None]:
    """Yield all rows by pages, or none if the file's stamp is still `known`."""
    stamp = store.runs.rows_stamp()
    if stamp == known:
        return
    before: int | None = None
    size = FIRST
    while True:
        page = store.runs.rows(size, before=before)
        whole = len(page) < size
        yield RunTablePage([entry(row) for row in page], before is None, whole, stamp)
        if whole:
            return
        before, size = page[-1].n, PAGE


def _read_cost(store: Store, id: str) -> Cost:
    try:
        return cost_of(next(iter(store.runs.measured([id]))))
    except LabError:
        return Cost()  # Replay, where it is opened, says what is wrong with it


def _with_state(it: RunEntry, state: RunState) -> RunEntry:
    """Return a run's row with its current tags."""
    return entry(it.run._replace(tags=state.tags, archived=state.archived))


def _frozen_words(study: StudyFrozen) -> str:
    """Return the words of a toast about a frozen study."""
    if not study.new:
        return f"{study.study} v{study.version} is frozen as exactly this already; nothing was done"
    raters = ", ".join(study.raters)
    return plain("\n".join((f"{study.study} v{study.version}: {count(study.units, 'item')} for {raters}", *study.told)))


def _run_words(it: RunEntry) -> str:
    return one_line(f"{it.agent} on {it.name}", 80)
