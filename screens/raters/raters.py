"""Raters: pace, drift, agreement with the rest and with gold for each rater, each number with its n."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from annotators.rater_numbers import RaterNumbers
from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.study.study import Study
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count
from lab.runs.descriptions import one_line
from lab.studies.rating import rater_words
from screens.agreement.computation import NewerRows, count_newer_rows
from screens.agreement.grid import ConfusionGrid
from screens.background import Background
from screens.key_names import with_keys
from screens.raters.keys import KEYS
from screens.raters.table import RaterNumbersTable, RaterTable
from screens.stylesheet import ROOM_STYLES
from screens.widgets.border_words import write_title
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.status_line import StatusLine
from store.store import Store

if TYPE_CHECKING:
    from store.studies.agreement_labels import FilePosition


_LOOK = 5.0
"""Seconds between two polls for new answers."""
NONE_OPEN = (
    "No study is open: {studies.agreement:a} on a study in Home ({app.home}) opens its agreement, "
    "and {app.raters} its raters."
)


class RatersScreen(RoomScreen[None]):
    """One study's raters, or one of them. The cursor stays in place while another room is shown."""

    CSS_PATH = ROOM_STYLES
    BINDING_GROUP_TITLE = "Raters"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.study: Study | None = None
        self.raters = RaterTable("raters-table")
        self.one = RaterNumbersTable("raters-one")
        self.plots = Plots()
        self.grid = ConfusionGrid("raters-grid")
        self.computation = Background(self, self._show_counted, self._show_error)
        self.polls = Background(self, self._show_newer, self._show_error)
        self.counting = False
        self._wanted_rater = ""
        """Code of the rater to show once the numbers are computed, empty for none."""
        self.newest: FilePosition | None = None
        """Newest rows of the file when the numbers were computed, or None before."""
        self.newer = ""
        """Words about what arrived since the numbers were computed."""

    def compose(self) -> ComposeResult:
        yield StatusLine("raters-title")
        yield self.raters
        yield self.one
        with Horizontal(id="raters-beneath"):
            yield self.plots
            yield self.grid
        yield StatusLine("raters-said")
        yield StatusLine("raters-next")
        yield Footer()

    def on_mount(self) -> None:
        self.raters.focus()
        self.set_interval(_LOOK, self._poll)
        if self.study is not None:
            self._begin()
        else:
            self.raters.empty = with_keys(self, NONE_OPEN)
            self.update_lines()

    def on_screen_resume(self) -> None:
        """Poll now, because answers may have arrived meanwhile."""
        self._poll()

    # -- opening and counting --------------------------------------------------------------------------------

    def open(self, study: Study) -> None:
        """Show a study's raters. If it is open already, keep the cursor."""
        other = self.study is None or self.study.sha != study.sha
        self.study = study
        if self.is_mounted and (other or not self.counting):
            if other:
                self.remove_class("-one")
                self.raters.show([])
                self.raters.focus()
            self._begin()

    def open_rater(self, code: str) -> None:
        """Show the rater of this code once the numbers are computed, or all raters if it is empty."""
        self._wanted_rater = code
        if not code:
            self.remove_class("-one")
        elif self.is_mounted and not self.counting:
            self._show_wanted()

    def _show_wanted(self) -> None:
        code, self._wanted_rater = self._wanted_rater, ""
        index = next((index for index, row in enumerate(self.raters.rows) if row.rater == code), None)
        if index is not None:
            self.raters.go(index)
            self._show_one()

    def _begin(self) -> None:
        assert self.study is not None
        self.counting, self.newer, self.newest = True, "", None
        self.raters.empty = f"Reading the answers of {one_line(self.study.name, 80)} ..."
        self.raters.refresh()
        self.polls.cancel()
        self.computation.start(partial(_compute_raters, self.store, self.study))
        self.update_lines()

    def _poll(self) -> None:
        study, newest = self.study, self.newest
        if study is not None and newest is not None and self.is_current and not self.counting and not self.polls.busy:
            self.polls.start(lambda: count_newer_rows(self.store, study, newest))

    def _show_counted(self, counted: tuple[list[RaterNumbers], FilePosition]) -> None:
        if self.study is None:
            return
        self.counting, self.newer = False, ""
        rater_list, self.newest = counted
        study = one_line(self.study.id, 80)
        self.raters.empty = (
            f"Nobody was dealt anything yet, and nobody has answered. `hitlab study deal {study}` deals; "
            f"`hitlab labels add {study} FILE --person model:NAME` takes a judge's answers in."
        )
        self.raters.show(rater_list)
        if self._wanted_rater:
            self._show_wanted()
        elif self.has_class("-one"):
            self._draw()
        self.update_lines()

    def _show_newer(self, rows: NewerRows | None) -> None:
        if rows is not None and not self.counting:
            self.newer = count(rows.labels, "newer answer") if rows.labels else "more was said or handed in"
            self.update_lines()

    def _show_error(self, error: LabError) -> None:
        self.counting = False
        self.raters.empty = plain(error.sentence)
        self.raters.show([])
        self.update_lines()

    # -- what is said ----------------------------------------------------------------------------------------

    def update_lines(self) -> None:
        """Update the title, the words of the row under the cursor, and what Enter does."""
        self.query_one("#raters-title", StatusLine).say(Content(self._title_words()))
        self.query_one("#raters-said", StatusLine).say(Content(self._current_words()))
        self.query_one("#raters-next", StatusLine).say(
            Content("   ".join(filter(None, (self._state_words(), self._next_words()))))
        )
        self.refresh_bindings()

    def _title_words(self) -> str:
        if self.study is None:
            return "Raters"
        people = sum(row.kind == "person" for row in self.raters.rows)
        judges = len(self.raters.rows) - people
        counts = [f"{people:,} rater{'' if people == 1 else 's'}"] if people else []
        counts += [f"{judges:,} judge{'' if judges == 1 else 's'}"] if judges else []
        parts = ["Raters", one_line(self.study.name, 40), ", ".join(counts), one_line(self.study.title, 60)]
        return "   ".join(filter(None, parts))

    def _current_words(self) -> str:
        numbers = self.raters.current
        if numbers is None:
            return ""
        if self.has_class("-one"):
            line = self.one.current
            if line is None:
                return ""
            remark = f"   {line.beside}" if line.beside else ""
            return one_line(f"{line.name}: {_full_words(line)}{remark}", 400)
        return one_line(
            f"{rater_words.head_words(numbers)}   as the rest: {_full_words(rater_words.NumberLine('', numbers.rest))}",
            400,
        )

    def _state_words(self) -> str:
        if self.counting:
            return "counting ..." if self.raters.rows else ""
        return with_keys(self, f"{self.newer}: {{raters.recount}} recounts") if self.newer else ""

    def _next_words(self) -> str:
        if self.has_class("-one"):
            cell = self.grid.cell_words() if self.grid.has_focus else ""
            return cell or with_keys(
                self, "{raters.previous} and {raters.next}: the rater before and after   {raters.back}: all raters"
            )
        return with_keys(self, "{list.open}: this rater's numbers, pace and drift") if self.raters.rows else ""

    def on_descendant_focus(self) -> None:
        self.update_lines()

    @on(LineList.Highlighted, "#raters-one")
    def _follow_number(self, message: LineList.Highlighted) -> None:
        message.stop()
        if self.has_class("-one"):
            self._draw_grid()
        self.update_lines()

    @on(ConfusionGrid.Moved)
    @on(LineList.Highlighted, "#raters-table")
    def _follow_cursor(self) -> None:
        self.update_lines()

    # -- one rater -------------------------------------------------------------------------------------------

    @on(LineList.Chosen, "#raters-table")
    def _open_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        self._show_one()

    def _show_one(self) -> None:
        self.add_class("-one")
        self.one.focus()
        self.one.go(0)
        self._draw()

    def _draw(self) -> None:
        """Draw the rater under the cursor if a single rater is shown. Without one go back to all."""
        numbers, study = self.raters.current, self.study
        if not self.has_class("-one"):
            return
        if numbers is None or study is None:
            self._show_all()
            return
        self.one.show(numbers, {field.id: field.display_name for field in study.protocol.fields})
        self.one.write_titles(rater_words.head_words(numbers), rater_words.pace_words(numbers))
        self.one.styles.height = min(len(self.one.rows) + 3, max(8, (self.size.height - 6) // 2))
        self.plots.show(numbers)
        self._draw_grid()
        self.update_lines()

    def _draw_grid(self) -> None:
        """Show the grid of the question under the cursor, or the first grid for a number over all questions."""
        numbers, line = self.raters.current, self.one.current
        grids = numbers.grids if numbers is not None else ()
        field = line.number.field if line is not None else ""
        grid = next((grid for grid in grids if grid.title == field), grids[0] if grids else None)
        if numbers is None or (grid is not None and grid is self.grid.grid):
            return
        self.grid.show(grid, "Nothing that the rest answered, too.")
        title = (
            f"{one_line(numbers.rater, 20)} beside the rest  {one_line(grid.title, 40)}" if grid is not None else "Grid"
        )
        write_title(self.grid, title)

    def on_resize(self) -> None:
        if self.has_class("-one"):
            self.call_after_refresh(self._draw)

    # -- verbs -----------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the keys that would do nothing here."""
        match action:
            case "recount":
                return self.study is not None
            case "other":
                return len(self.raters.rows) > 1
            case "copy":
                return bool(self.raters.rows)
        return super().check_action(action, parameters)

    def action_recount(self) -> None:
        """Compute all numbers again."""
        if self.study is None:
            return
        self.notify("Counting all that is there now.", markup=False)
        if not self.counting:
            self._begin()

    def action_other(self, by: int) -> None:
        """Go to the next or the previous rater."""
        before = self.raters.cursor
        self.raters.go(before + by)
        if self.raters.cursor == before:
            self.notify(f"No rater stands {'below' if by > 0 else 'above'} this one.", markup=False)
        if self.has_class("-one"):
            self._draw()

    def action_copy(self) -> None:
        """Copy the words of the row under the cursor."""
        self.app.copy_to_clipboard(self._current_words())
        self.notify("It is copied, with all it rests on.", markup=False)

    def action_back(self) -> None:
        """Close help, or go from one rater to all. Then the app's own action goes Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.has_class("-one"):
            self._show_all()
        else:
            raise SkipAction

    def _show_all(self) -> None:
        self.remove_class("-one")
        self.raters.focus()
        self.update_lines()


def _compute_raters(store: Store, study: Study) -> tuple[list[RaterNumbers], FilePosition]:
    """Compute each rater's numbers. Return them with the newest rows of the file when they were read."""
    from annotators.raters import raters_of
    from lab.studies.progress.study_data import load_study_data

    # Read before the answers, so that one that arrives in between counts as newer.
    newest = store.agreement.position()
    return raters_of(load_study_data(store, study)), newest


def _full_words(line: rater_words.NumberLine) -> str:
    number = line.number
    if number.value is None:
        return rater_words.interval_words(line)
    n = rater_words.n_words(number)
    if number.low is None:
        return f"{rater_words.value_words(line)}, no interval: {number.no_interval} (n {n})"
    how = "jackknife over runs" if number.interval == "jackknife-t" else number.interval
    return (
        f"{rater_words.value_words(line)} [{rater_words.interval_words(line)}, {number.level * 100:g} %, {how}] (n {n})"
    )


_LEAST, _MOST = 6, 40
"""Minimum and maximum columns of a bar."""
_BESIDE = 36
"""Columns of the text beside a bar."""
_BARS = "▏▎▍▌▋▊▉█▁▂▃▄▅▆▇"


class Plots(VerticalScroll, can_focus=True):
    """First a sparkline of each, then a bar per stretch with its n."""

    HELP = RaterNumbersTable.HELP

    def __init__(self) -> None:
        super().__init__(id="raters-plots", classes="pane")
        self._rater: RaterNumbers | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="raters-drawn", markup=False)

    def on_mount(self) -> None:
        self.border_title = "Over their answers"

    def show(self, one: RaterNumbers) -> None:
        """Draw a rater from the top."""
        self._rater = one
        self._draw()
        self.scroll_home(animate=False)

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        if self._rater is not None:
            self.query_one("#raters-drawn", Static).update(
                Content("\n").join(map(_color_bars, self._chart_lines(self._rater)))
            )

    def _chart_lines(self, one: RaterNumbers) -> list[str]:
        width = min(_MOST, max(_LEAST, self.size.width - _BESIDE))
        short = [rater_words.spark("pace", one.pace, "s"), rater_words.spark("as the rest", one.along, "%")]
        pace = rater_words.stretch_lines("pace", one.pace, "s", width) or [rater_words.pace_words(one)]
        along = rater_words.stretch_lines("as the rest", one.along, "%", width) or ["too few answers to see a drift"]
        return [*filter(None, short), *rater_words.streak_words(one), "", *pace, "", *along]


def _color_bars(line: str) -> Content:
    """Return a line with its bars in the accent colour."""
    return Content.assemble(*((mark, "$accent" if mark in _BARS else "") for mark in plain(line, lines=False)))
