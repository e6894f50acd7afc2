"""Agreement: a study's coefficients with interval and n, by rater pair and by answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.study import Study
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count
from lab.runs.descriptions import one_line, short_id
from screens.agreement import rows, words
from screens.agreement.computation import (
    AgreementComputation,
    ChartRequest,
    Charts,
    DisputedList,
    NewerRows,
    StudyCounts,
    StudyNumbers,
    cached_charts,
    count_newer_rows,
    evidence_place,
)
from screens.agreement.grid import ConfusionGrid
from screens.agreement.keys import KEYS
from screens.agreement.pairs_pane import PairsPane
from screens.agreement.rows import NumberFilter
from screens.agreement.table import FieldNumbers, RaterPairs
from screens.agreement.words import wanted_words
from screens.background import Background
from screens.key_names import with_keys
from screens.lab import lab_of
from screens.stylesheet import ROOM_STYLES
from screens.theme import MUTED
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.status_line import StatusLine
from screens.widgets.table import RowTable, TableColumn
from screens.widgets.text_fields import TextLine

if TYPE_CHECKING:
    from annotators.agreement.ratings.disputes import Dispute, DisputedAnswer
    from lab.studies.progress.agreement_cache import StudyOverview
    from store.store import Store
    from store.studies.agreement_labels import FilePosition

JACKKNIFE = IntervalTerms()
BOOTSTRAP = IntervalTerms(interval="bootstrap")
_LOOK = 5.0
"""Seconds between two polls for new answers."""
NONE_OPEN = "No study is open: {studies.agreement:a} on a study in Home ({app.home}) opens its agreement."


class AgreementScreen(RoomScreen[None]):
    """One study's agreement. The filter and the cursor stay while another room is shown."""

    CSS_PATH = ROOM_STYLES
    BINDING_GROUP_TITLE = "Agreement"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.study: Study | None = None
        self.agreements: list[Agreement] = []
        self.view = NumberFilter()
        self.how = JACKKNIFE
        self.computation = AgreementComputation(store)
        self.numbers = Background(self, self._show_news, self._show_error)
        self.charts = Background(self, self._show_charts)
        self.lists = Background(self, self._show_items)
        self.polls = Background(self, self._show_newer, self._show_error)
        self.places = Background(self, self._open_place)
        self.fields = FieldNumbers("agreement-fields")
        self.beneath = PairsPane(self._request_charts)
        self.items = DisputedItems("agreement-items")
        self.planner = Planner(_runs_wanted)
        self.counting = False
        """True while the numbers are being computed."""
        self.newest: FilePosition | None = None
        """Newest rows of the file when the numbers shown were computed, or None before."""
        self.newer = ""
        """Words about what arrived since then."""
        self._overview: StudyOverview | None = None
        """Pairs and grids that need no computation, or None if none are cached."""
        self._answer_words = ""
        """Words about the answers that the numbers are based on."""
        self._listing: ChartRequest | None = None
        self._last_focus: Widget | None = None
        """Widget that had the focus before the items."""

    def compose(self) -> ComposeResult:
        yield StatusLine("agreement-title")
        yield self.fields
        yield StatusLine("agreement-said")
        yield self.planner
        yield self.beneath
        yield self.items
        yield StatusLine("agreement-next")
        yield Footer()

    def on_mount(self) -> None:
        self.fields.focus()
        self.set_interval(_LOOK, self._poll)
        if self.study is not None:
            self._begin()
        else:
            self.fields.empty = with_keys(self, NONE_OPEN)
            self.update_lines()

    def on_screen_resume(self) -> None:
        """Poll now, because answers may have arrived meanwhile."""
        self._poll()

    # -- opening and counting --------------------------------------------------------------------------------

    def open(self, study: Study) -> None:
        """Show a study's agreement. If it is open already, keep what is shown."""
        other = self.study is None or self.study.sha != study.sha
        self.study = study
        if other:
            self.agreements, self.view, self.how = [], NumberFilter(), JACKKNIFE
        if self.is_mounted:
            if other:
                self.remove_class("-listing", "-planning")
                self.planner.close()
                self._blank()
                self.fields.focus()
            self._begin()

    def _begin(self) -> None:
        assert self.study is not None
        self.counting, self.newer, self.newest, self._overview = True, "", None, None
        for earlier in (self.charts, self.lists, self.places, self.polls):
            earlier.cancel()
        self.numbers.start(partial(self.computation.compute_numbers, self.study, self.how))
        self.fields.empty = f"Reading the answers of {one_line(self.study.name, 80)} ..."
        self.fields.refresh()
        self.update_lines()

    def _blank(self) -> None:
        self._answer_words = ""
        self.fields.show([])
        self.beneath.blank()
        self.items.show([], "")

    def _poll(self) -> None:
        study, newest = self.study, self.newest
        if study is not None and newest is not None and self.is_current and not self.counting and not self.polls.busy:
            self.polls.start(lambda: count_newer_rows(self.store, study, newest))

    def _show_news(self, news: StudyOverview | StudyNumbers | NewerRows | StudyCounts) -> None:
        match news:
            case StudyNumbers():
                self._show_numbers(news)
            case NewerRows():
                self._show_newer(news)
            case StudyCounts():
                self._show_counts(news)
            case _:
                self._overview = news
                self._show_counts(StudyCounts(news.answers, news.people, news.judges, news.open))

    def _show_numbers(self, numbers: StudyNumbers) -> None:
        self.counting = numbers.last
        if not numbers.last:
            self.newer = ""
            self.newest = numbers.newest
        self.agreements = numbers.agreements
        self.beneath.asked = None
        self.lay_out()
        self._poll()

    def _show_counts(self, counts: StudyCounts) -> None:
        raters = count(counts.people, "rater")
        judges = f", {count(counts.judges, 'judge')}" if counts.judges else ""
        still = f", {counts.open:,} not handed in" if counts.open else ""
        self._answer_words = f"{count(counts.answers, 'answer')} of {raters}{judges}{still}"
        self.update_lines()

    def _show_newer(self, rows: NewerRows | None) -> None:
        if rows is not None:
            self.newer = count(rows.labels, "newer answer") if rows.labels else "more was said or handed in"
            self.update_lines()

    def _show_error(self, error: LabError) -> None:
        self.counting = False
        self.fields.empty = plain(error.sentence)
        self.fields.refresh()
        self.update_lines()

    # -- what is seen ----------------------------------------------------------------------------------------

    def lay_out(self) -> None:
        """Show the numbers that the filter selects."""
        view = self.view
        if not any(rows.of_people(agreement) is (view.group == "people") for agreement in self.agreements):
            view = view._replace(group="people")
        if view.statistic and view.statistic not in rows.statistics(self.agreements, view):
            view = view._replace(statistic="")
        self.view = view
        self.fields.empty = words.no_answers_words(self.study)
        self.fields.show(rows.filtered(self.agreements, view))
        self.set_class(bool(self._nothing_words()), "-nothing")
        whose = "people among themselves" if view.group == "people" else "judges against most people"
        self.fields.write_titles(f"Agreement  {whose}", self._view_words())
        self._request_pairs()
        self.update_lines()

    def _request_pairs(self) -> None:
        """Request the pairs and the grid of the number under the cursor, unless they are shown."""
        agreement = self.fields.current
        judges = rows.same_number(self.fields.rows, agreement) if agreement and self.view.group == "judges" else None
        self.beneath.choose(agreement, judges)

    def _request_charts(self, ask: ChartRequest) -> None:
        """Show the pairs and the grid of a request if they are cached. Else compute them."""
        study = self.study
        assert study is not None
        charts = cached_charts(self._overview, ask)
        if study.protocol.field(ask.field) is None:
            charts = Charts(ask, [], None, f"{ask.field} follows from other answers; nobody is asked for it.")
        if charts is not None:
            self._show_charts(charts)
        else:
            self.charts.request(partial(self.computation.compute_charts, study, self.how, ask))

    def _show_charts(self, charts: Charts) -> None:
        if charts.ask == self.beneath.asked:
            self.beneath.show(charts, self.fields.current, self.agreements if self.view.group == "people" else None)
            self.update_lines()

    def on_resize(self) -> None:
        self.beneath.take_rows()

    def update_lines(self) -> None:
        """Update the title, the full number under the cursor, and what Enter does."""
        title = self.query_one("#agreement-title", StatusLine)
        study = self.study
        if study is None:
            title.say(Content("Agreement"))
        else:
            extent = f"   {self._answer_words}" if self._answer_words else ""
            title.say(Content(f"Agreement   {one_line(study.name, 40)}{extent}   {one_line(study.title, 60)}"))
        agreement = self.fields.current
        sentence = self._nothing_words() or (words.details(agreement) if agreement is not None else "")
        if self.has_class("-listing"):
            sentence = self.items.full_text()
        self.query_one("#agreement-said", StatusLine).say(Content(sentence))
        below = "   ".join(filter(None, (self._state_words(), with_keys(self, self._next_words()))))
        self.query_one("#agreement-next", StatusLine).say(Content(below))
        self.refresh_bindings()

    def _nothing_words(self) -> str:
        return words.missing_words_of_study(self.agreements, self.study)

    def _view_words(self) -> str:
        intervals = "jackknife"
        if self.how == BOOTSTRAP:
            over = f"{self.agreements[0].clusters}s" if self.agreements else "runs"
            intervals = f"{self.how.resamples:,} resamples of {over}, seed {self.how.seed}"
        parts = [self.view.part, self.view.statistic, f"intervals: {intervals}"]
        return " · ".join(one_line(part, 60) for part in parts if part)

    def _state_words(self) -> str:
        if not self.counting:
            return with_keys(self, f"{self.newer}: {{agreement.recount}} recounts") if self.newer else ""
        how = f", resampling {self.how.resamples:,} times" if self.how == BOOTSTRAP else ""
        what = f"{self.newer} with the others" if self.newer else self._answer_words or "the answers"
        return f"counting {what}{how} ..."

    def _next_words(self) -> str:
        match self.focused:
            case FieldNumbers() if self._nothing_words():
                return ""
            case FieldNumbers() if self.fields.rows:
                return "{list.open}: the items on which not all said the same"
            case RaterPairs() if self.focused.rows:
                return "{list.open}: the items on which these two differ"
            case ConfusionGrid() if self.focused.has_cells:
                return f"{{grid.open}}: its items   {self.focused.cell_words()}"
            case DisputedItems() if self.items.rows:
                return "{list.open}: replay it where it was judged   {agreement.back}: back to the numbers"
            case DisputedItems():
                return "{agreement.back}: back to the numbers"
        return "{agreement.back}: leave the plan" if self.planner.is_open else ""

    def on_descendant_focus(self) -> None:
        self.update_lines()

    @on(LineList.Highlighted, "#agreement-fields")
    def _follow_field(self, message: LineList.Highlighted) -> None:
        message.stop()
        self.planner.show(self.fields.current)
        self._request_pairs()
        self.update_lines()

    @on(ConfusionGrid.Moved)
    def _follow_cell(self, message: ConfusionGrid.Moved) -> None:
        message.stop()
        self.update_lines()

    # -- items -----------------------------------------------------------------------------------------------

    @on(LineList.Chosen, "#agreement-fields")
    @on(LineList.Chosen, "#agreement-pairs")
    def _list_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        lines = cast("FieldNumbers | RaterPairs", message.lines)
        agreement = lines.current
        if agreement is not None:
            self._open_list(ChartRequest(agreement.field, *rows.raters_of(agreement), listed=True))

    @on(ConfusionGrid.Chosen)
    def _list_cell(self, message: ConfusionGrid.Chosen) -> None:
        message.stop()
        ask = self.beneath.asked
        if ask is not None:
            self._open_list(ChartRequest(ask.field, ask.one, ask.other, True, (message.down, message.across)))

    def _open_list(self, ask: ChartRequest) -> None:
        self._last_focus = self.focused
        self._listing = ask
        self.add_class("-listing")
        self.items.show([], "Looking for them ...")
        self.items.write_titles(self._listed_words(ask))
        self.items.focus()
        study = self.study
        assert study is not None
        if study.protocol.field(ask.field) is None:
            self._show_items(DisputedList(ask, [], 0))
        else:
            self.lists.request(partial(self.computation.list_items, study, self.how, ask))
        self.update_lines()

    def _listed_words(self, ask: ChartRequest) -> str:
        raters = f"  {one_line(ask.one)} and {one_line(ask.other)}" if ask.one else ""
        cell = f"  {one_line(ask.cell[0], 30)} × {one_line(ask.cell[1], 30)}" if ask.cell else ""
        return f"Items  {one_line(ask.field, 40)}{raters}{cell}"

    def _show_items(self, items: DisputedList) -> None:
        if items.ask != self._listing:
            return
        some = len(items.disputes)
        derived = self.study is not None and self.study.protocol.field(items.ask.field) is None
        none = "all said the same." if not derived else "it follows from other answers; nobody is asked for it."
        self.items.show(items.disputes, f"There are none: {none}")
        more = f"{some:,} of {items.all:,}, those that split most evenly" if some < items.all else f"{some:,}"
        self.items.write_titles(self._listed_words(items.ask), more)
        self.update_lines()

    @on(LineList.Highlighted, "#agreement-items")
    def _follow_item(self, message: LineList.Highlighted) -> None:
        message.stop()
        self.update_lines()

    @on(LineList.Chosen, "#agreement-items")
    def _find_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        study, dispute, listing = self.study, self.items.current, self._listing
        if study is not None and dispute is not None and listing is not None:
            self.places.start(lambda: evidence_place(self.store, study, dispute, listing.field))

    def _open_place(self, place: tuple[str, int]) -> None:
        if self.is_current:
            lab_of(self).open_replay(*place, back="agreement")

    # -- verbs -----------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the keys that would do nothing here."""
        match action:
            case "part":
                return bool(rows.parts(self.agreements))
            case "whose":
                return not all(map(rows.of_people, self.agreements))
            case "statistic" | "plan" | "copy":
                return bool(self.agreements)
            case "bootstrap" | "recount":
                return self.study is not None
        return super().check_action(action, parameters)

    def action_part(self) -> None:
        """Show one part alone, then the next, and after the last all of them."""
        self.view = self.view._replace(part=_next_in(["", *rows.parts(self.agreements)], self.view.part, 1))
        self.lay_out()

    def action_whose(self) -> None:
        """Toggle numbers of people and of judges."""
        whose: rows.Whose = "judges" if self.view.group == "people" else "people"
        self.view = self.view._replace(group=whose)
        self.beneath.asked = None
        self.lay_out()

    def action_statistic(self, by: int) -> None:
        """Show one statistic alone, the next or the previous, and after the last all of them."""
        statistics = ["", *rows.statistics(self.agreements, self.view)]
        self.view = self.view._replace(statistic=_next_in(statistics, self.view.statistic, by))
        self.lay_out()

    def action_bootstrap(self) -> None:
        """Toggle intervals by bootstrap and by jackknife over runs."""
        self.how = JACKKNIFE if self.how == BOOTSTRAP else BOOTSTRAP
        self._begin()

    def action_recount(self) -> None:
        """Compute all numbers again."""
        self.notify("Counting all that is there now.", markup=False)
        if not self.counting:
            self._begin()

    def action_plan(self) -> None:
        """Open the planner for the number under the cursor, or close it."""
        agreement = self.fields.current
        if self.planner.is_open:
            self._leave_plan()
        elif agreement is not None:
            self.add_class("-planning")
            self.planner.open(agreement)
            self.update_lines()

    def action_copy(self) -> None:
        """Copy the number under the cursor in words."""
        agreement = self.fields.current
        if agreement is not None:
            self.app.copy_to_clipboard(words.full_sentence(agreement))
            self.notify("The number is copied, with all it rests on.", markup=False)

    def action_move(self, by: int) -> None:
        """Move to the next or the previous line of the focused pane."""
        lines = self.focused if isinstance(self.focused, LineList) else self.fields
        lines.action_move(by)

    def action_back(self) -> None:
        """Close help, the plan or the items. Then the app's own action goes Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.planner.is_open:
            self._leave_plan()
        elif self.has_class("-listing"):
            self.remove_class("-listing")
            last_focus = self._last_focus
            self.set_focus(last_focus if last_focus is not None and last_focus.display else self.fields)
            self.update_lines()
        else:
            raise SkipAction

    def _leave_plan(self) -> None:
        self.remove_class("-planning")
        self.planner.close()
        self.fields.focus()
        self.update_lines()


def _next_in(options: list[str], current: str, by: int) -> str:
    index = options.index(current) if current in options else 0
    return options[(index + by) % len(options)]


def _runs_wanted(one: Agreement, width: float) -> int | None:
    from annotators.agreement.agreements import runs_wanted

    return runs_wanted(one, width)


_COLUMNS: dict[str, TableColumn] = {
    "item": TableColumn("item", 8, share=5, shrinks=True),
    "about": TableColumn("about", 16, 66, share=4, shrinks=True, style=MUTED),
    "said": TableColumn("what was said, by whom, at which step", 0, fill=1),
}


class DisputedItems(RowTable["Dispute"]):
    """Items, those that split most evenly first."""

    HELP = """\
# Items

Items on which not all said the same, those that split most evenly first: what most said, then the others, each with
who said it and at which step of the run (`R1@7`). **{list.open}** replays the run at the step of one who stood against
most; **{agreement.back}** comes back here, and once more leads to the numbers.
"""

    def __init__(self, id: str) -> None:
        super().__init__(id, _COLUMNS)

    def show(self, rows: Sequence[Dispute], empty: str) -> None:
        """Show other items from the first on."""
        self.empty = empty
        self.set_rows(rows)
        self.go(0)

    def full_text(self) -> str:
        """Return the item under the cursor in full."""
        item = self.current
        return (
            f"{one_line(item.unit)}  {one_line(item.about)}\n{answers_words(item.answers)}" if item is not None else ""
        )

    def columns(self, width: int) -> dict[str, TableColumn]:
        """Return the columns of a table of that width. The column `about` is left out if it is empty."""
        return {name: column for name, column in super().columns(width).items() if name != "about" or column.width}

    def words(self, name: str, one: Dispute, width: int) -> str:
        match name:
            case "item":
                return one_line(short_id(one.unit))
            case "about":
                return one_line(one.about)
        return answers_words(one.answers)


def answers_words(answers: Sequence[DisputedAnswer]) -> str:
    """Format the answers to an item, the most frequent first: `completed: R1@7 R2@7 | not completed: R3@9`."""
    groups = [(says, list(them)) for says, them in groupby(answers, key=lambda one: one.text)]
    return " | ".join(f"{one_line(says, 60)}: {' '.join(map(_rater_words, them))}" for says, them in groups)


def _rater_words(answer: DisputedAnswer) -> str:
    return one_line(answer.rater, 30) + (f"@{answer.step + 1}" if answer.step is not None else "")


# Coefficients lie between -1 and 1, so no interval is wider than 2.
_LEAST, _MOST = 0.001, 2.0


class Planner(Vertical):
    """A pane below the numbers. `runs` computes the estimate (`agreements.runs_wanted`)."""

    def __init__(self, runs: Callable[[Agreement, float], int | None]) -> None:
        super().__init__(id="agreement-planner")
        self._runs_needed = runs
        self._number: Agreement | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="agreement-wish"):
            yield Static("Interval no wider than", id="agreement-wish-word", markup=False)
            yield TextLine(placeholder="0.10", id="agreement-width", compact=True)
        yield Static("", id="agreement-planned", markup=False)

    def open(self, one: Agreement) -> None:
        """Open the planner for a number."""
        self._number = one
        self.add_class("-open")
        self.update()
        self.query_one(Input).focus()

    def close(self) -> None:
        """Close the planner. Its text stays."""
        self.remove_class("-open")

    @property
    def is_open(self) -> bool:
        """True while the planner is open."""
        return self.has_class("-open")

    def show(self, one: Agreement | None) -> None:
        """Plan for another number if the planner is open."""
        self._number = one
        if self.is_open:
            self.update()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.update()

    def update(self) -> None:
        """Show the estimate for the typed width."""
        text = self.query_one(Input).value.strip()
        self.query_one("#agreement-planned", Static).update(self._estimate_words(text or "0.10"))

    def _estimate_words(self, text: str) -> str:
        if self._number is None:
            return "No number is under the cursor."
        try:
            width = float(text.replace(",", "."))
        except ValueError:
            width = float("nan")
        if not _LEAST <= width <= _MOST:
            return f"! a width is a number from {_LEAST:g} to {_MOST:g}, such as 0.10"
        return wanted_words(self._number, width, self._runs_needed(self._number, width))
