"""What stands in the room Agreement: the numbers that are chosen, their pairs and grid, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from lab.core.agreement import Agreement, How, is_share
from lab.core.report import Grid
from lab.core.settings import Settings
from lab.core.study import Study
from lab.runs.descriptions import one_line
from screens.agreement import rows, words
from screens.agreement.computation import AgreementComputation, Ask
from screens.agreement.grid import Confusion
from screens.agreement.items import DisputedItems
from screens.agreement.planner import Planner
from screens.agreement.rows import NumberFilter
from screens.agreement.table import FieldNumbers, RaterPairs
from screens.key_names import with_keys
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from store.store import Store

JACKKNIFE = How()
BOOTSTRAP = How(interval="bootstrap")


class NumbersLayout(Screen[None]):
    """Lays out what was counted; what is counted, and when, is said by `AgreementScreen`."""

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.study: Study | None = None
        self.agreements: list[Agreement] = []
        self.view = NumberFilter()
        self.how = JACKKNIFE
        self.fields = FieldNumbers("agreement-fields")
        self.pairs = RaterPairs("agreement-pairs")
        self.grid = Confusion("agreement-grid")
        self.items = DisputedItems("agreement-items")
        self.reading = AgreementComputation(self, store)
        self.counting = False
        """Whether the numbers are being computed."""
        self.newer = ""
        """What came in since they were, in words."""
        self._read = ""
        self._asked: Ask | None = None
        self._listing: Ask | None = None
        self._left: Widget | None = None

    def compose(self) -> ComposeResult:
        yield StatusLine("agreement-title")
        yield self.fields
        yield StatusLine("agreement-said")
        yield Planner(self._runs_wanted)
        with Horizontal(id="agreement-beneath"):
            yield self.pairs
            yield self.grid
        yield self.items
        yield StatusLine("agreement-next")
        yield Footer()

    # -- laying out ------------------------------------------------------------------------------------------

    def lay_out(self) -> None:
        """Shows the numbers as they are chosen to be seen now."""
        view = self.view
        if not any(rows.of_people(one) is (view.whose == "people") for one in self.agreements):
            view = view._replace(whose="people")
        if view.statistic and view.statistic not in rows.statistics(self.agreements, view):
            view = view._replace(statistic="")
        self.view = view
        shown_rows = rows.shown(self.agreements, view)
        self.fields.empty = self._none_yet()
        self.fields.show(shown_rows)
        self.set_class(bool(self._nothing()), "-nothing")
        whose = "people among themselves" if view.whose == "people" else "judges against most people"
        self.fields.entitle(f"Agreement  {whose}", self._chosen_words())
        self._draw()
        self.tell()

    def _chosen_words(self) -> str:
        over = f"{self.agreements[0].clusters}s" if self.agreements else "runs"
        by = (
            f"{self.how.resamples:,} resamples of {over}, seed {self.how.seed}"
            if self.how == BOOTSTRAP
            else "jackknife"
        )
        parts = [self.view.part, self.view.statistic, f"intervals: {by}"]
        return " · ".join(one_line(part, 60) for part in parts if part)

    def _none_yet(self) -> str:
        study = one_line(self.study.id, 40) if self.study is not None else ""
        return (
            f"Nobody's answers are handed in yet.\n`hitlab study status {study}` says who has what.\n"
            f"`hitlab study open {study} --as CODE` opens it for a rater."
        )

    def _nothing(self) -> str:
        """What is missing before anything can be said of the people, and what comes next; empty where nothing is."""
        mine = [one for one in self.agreements if rows.of_people(one)]
        if not mine or any(one.value is not None or one.raters > 1 for one in mine):
            return ""
        why = {one.undefined for one in mine}
        more = sorted(one for one in why if one.startswith(("only ", "no item ")))
        if not more:
            return self._none_yet()
        study = one_line(self.study.id, 40) if self.study is not None else ""
        return (
            f"{more[-1][0].upper()}{one_line(more[-1])[1:]}; agreement needs two people at one item.\n"
            f"`hitlab study status {study}` says who has what left.\n`hitlab study deal` deals more."
        )

    def _draw(self) -> None:
        """Asks for pairs and grid of the number under the cursor, where they are not those that are shown."""
        one = self.fields.current
        if one is None:
            self.pairs.show([])
            self.grid.show(None)
            return
        ask = Ask(one.field, *rows.raters_of(one))
        if self.view.whose == "judges":
            self._show_pairs(self._beside(one), one.field)
        if ask == self._asked:
            return
        self._asked = ask
        self.grid.border_title = "Grid  counting ..."
        self.reading.ask(ask)

    def _beside(self, one: Agreement) -> list[Agreement]:
        """The same number for each judge."""
        return [
            it for it in self.fields.rows if (it.field, it.part, it.statistic) == (one.field, one.part, one.statistic)
        ]

    @on(AgreementComputation.Drawn)
    def _drawn(self, message: AgreementComputation.Drawn) -> None:
        if message.serial != self.reading.serial:
            return
        self.reading.done()
        if self._asked is None or message.ask != self._asked:
            return
        if self.view.whose == "people":
            self._show_pairs(self._people_pairs(message.pairs), message.ask.field)
        self._show_grid(message.grid, message.why)

    def _people_pairs(self, agreements: list[Agreement]) -> list[Agreement]:
        """One statistic for each two, below it for all; the share that is the same beside."""
        named = next(
            (one.statistic for one in agreements if not is_share(one)), agreements[0].statistic if agreements else ""
        )
        pairs = [one for one in agreements if one.statistic == named]
        percents = {one.between: one for one in agreements if rows.is_percent(one)}
        here = self.fields.current
        if here is not None and pairs:
            beside = rows.beside(self.agreements, here)
            pairs = [rows.chief(beside, named), *pairs]
            percents |= {one.between: one for one in beside if rows.is_percent(one)}
        self.pairs.percent = percents
        return pairs

    def _show_pairs(self, pairs: list[Agreement], field: str) -> None:
        self.pairs.empty = "" if pairs else "No two raters rated the same item."
        self.pairs.show(pairs)
        named = words.statistic_words(pairs[-1]) if pairs else ""
        self.pairs.entitle(f"Rater pairs  {one_line(field, 30)}" if self.view.whose == "people" else "Judges", named)

    def _show_grid(self, grid: Grid | None, why: str) -> None:
        self.grid.show(grid, why or "Nothing to count here.")
        ask = self._asked
        whose = f"{one_line(ask.one, 30)} × {one_line(ask.other, 30)}" if ask is not None and ask.one else "all pairs"
        self.grid.border_title = Content(
            f"Grid  {one_line(ask.field, 40)}  {whose}" if grid is not None and ask else "Grid"
        )
        self._take_room()
        self._tell_cell()

    def _take_room(self) -> None:
        """Beneath the numbers there is as much room as pairs and grid need, up to half of the screen."""
        needed = 3 + max(self.pairs.count, len(self.grid.grid.down) if self.grid.grid is not None else 0, 4)
        beneath = self.query_one("#agreement-beneath")
        rows_beneath = max(7, min(needed, (self.size.height - 6) // 2))
        if beneath.styles.height is None or beneath.styles.height.value != rows_beneath:
            beneath.styles.height = rows_beneath

    def on_resize(self) -> None:
        self._take_room()

    # -- what is said ----------------------------------------------------------------------------------------

    def tell(self) -> None:
        """The title, the number under the cursor in full, and what Enter does."""
        title = self.query_one("#agreement-title", StatusLine)
        study = self.study
        if study is None:
            title.say(Content("Agreement"))
        else:
            read = f"   {self._read}" if self._read else ""
            title.say(Content(f"Agreement   {one_line(study.name, 40)}{read}   {one_line(study.title, 60)}"))
        one = self.fields.current
        sentence = self._nothing() or (words.in_full(one) if one is not None else "")
        if self.has_class("-listing"):
            sentence = self.items.says()
        self.query_one("#agreement-said", StatusLine).say(Content(sentence))
        self.query_one("#agreement-next", StatusLine).say(
            Content("   ".join(filter(None, (self._state(), self._next()))))
        )
        self.refresh_bindings()

    def _state(self) -> str:
        if not self.counting:
            return with_keys(self, f"{self.newer}: {{agreement.recount}} recounts") if self.newer else ""
        how = f", resampling {self.how.resamples:,} times" if self.how == BOOTSTRAP else ""
        what = f"{self.newer} with the others" if self.newer else self._read or "the answers"
        return f"counting {what}{how} ..."

    def _next(self) -> str:
        return with_keys(self, self._next_words())

    def _next_words(self) -> str:
        match self.focused:
            case FieldNumbers() if self._nothing():
                return ""
            case FieldNumbers() if self.fields.rows:
                return "{list.open}: the items on which not all said the same"
            case RaterPairs() if self.pairs.rows:
                return "{list.open}: the items on which these two differ"
            case Confusion() if self.grid.filled:
                return f"{{grid.open}}: its items   {self.grid.says()}"
            case DisputedItems() if self.items.rows:
                return "{list.open}: replay it where it was judged   {agreement.back}: back to the numbers"
            case DisputedItems():
                return "{agreement.back}: back to the numbers"
        return "{agreement.back}: leave the plan" if self.planner.opened else ""

    def _tell_cell(self) -> None:
        self.grid.border_subtitle = Content(self.grid.says())
        self.tell()

    def on_descendant_focus(self) -> None:
        self.tell()

    @on(LineList.Highlighted, "#agreement-fields")
    def _on_field(self, message: LineList.Highlighted) -> None:
        message.stop()
        self.planner.show(self.fields.current)
        self._draw()
        self.tell()

    @on(LineList.Highlighted, "#agreement-pairs")
    def _on_pair(self, message: LineList.Highlighted) -> None:
        message.stop()
        one = self.pairs.current
        if one is None or not self.pairs.has_focus:
            return
        ask = Ask(one.field, *rows.raters_of(one))
        if ask != self._asked:
            self._asked = ask
            self.reading.ask(ask)

    @on(Confusion.Moved)
    def _on_cell(self, message: Confusion.Moved) -> None:
        message.stop()
        self._tell_cell()

    def _runs_wanted(self, one: Agreement, width: float) -> int | None:
        from annotators.agreement.agreements import runs_wanted

        return runs_wanted(one, width)

    @property
    def planner(self) -> Planner:
        """The line that plans."""
        return self.query_one(Planner)
