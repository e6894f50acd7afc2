"""The pane below the numbers: rater pairs of the selected number, and the grid of one pair's answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal

from lab.core.study.agreement import Agreement, is_share
from lab.core.study.report import Grid
from lab.runs.descriptions import one_line
from screens.agreement import rows, words
from screens.agreement.computation import ChartRequest, Charts
from screens.agreement.grid import ConfusionGrid
from screens.agreement.table import RaterPairs
from screens.widgets.border_words import write_subtitle, write_title
from screens.widgets.lines import LineList


class PairsPane(Horizontal):
    """Pairs and grid of one number. `ask` requests their computation, and the result goes to `show`."""

    def __init__(self, ask: Callable[[ChartRequest], None]) -> None:
        super().__init__(id="agreement-beneath")
        self.pairs = RaterPairs("agreement-pairs")
        self.grid = ConfusionGrid("agreement-grid")
        self.asked: ChartRequest | None = None
        """The request that is shown or being computed, or None before the first, and to compute it again."""
        self._ask = ask

    def compose(self) -> ComposeResult:
        yield self.pairs
        yield self.grid

    def blank(self) -> None:
        """Show nothing."""
        self.asked = None
        self.pairs.show([])
        self.grid.show(None)

    def choose(self, one: Agreement | None, judges: Sequence[Agreement] | None) -> None:
        """Request what belongs to a number unless it is shown. `judges` are its lines, None for people."""
        if one is None:
            self.pairs.show([])
            self.grid.show(None)
            return
        if judges is not None:
            self._show_pairs(judges, "Judges")
        ask = ChartRequest(one.field, *rows.raters_of(one))
        if ask != self.asked:
            self.asked = ask
            self.grid.border_title = "Grid  counting ..."
            self._ask(ask)

    def show(
        self,
        drawing: Charts,
        agreement: Agreement | None,
        beside: Sequence[Agreement] | None,
    ) -> None:
        """Show the result of a request. `agreement` is its number, `beside` the others, None for judges."""
        if beside is not None:
            pairs = self._people_pairs(drawing.pairs, agreement, beside)
            self._show_pairs(pairs, f"Rater pairs  {one_line(drawing.ask.field, 30)}")
        self._show_grid(drawing.grid, drawing.why)

    def _people_pairs(
        self, agreements: list[Agreement], agreement: Agreement | None, beside: Sequence[Agreement]
    ) -> list[Agreement]:
        """Return one statistic per rater pair, after that of all raters. Set the percent agreement beside them."""
        statistic = next(
            (agreement.statistic for agreement in agreements if not is_share(agreement)),
            agreements[0].statistic if agreements else "",
        )
        pairs = [agreement for agreement in agreements if agreement.statistic == statistic]
        percents = {agreement.between: agreement for agreement in agreements if rows.is_percent(agreement)}
        if agreement is not None and pairs:
            same_field = rows.of_same_answers(beside, agreement)
            pairs = [rows.pooled_number(same_field, statistic), *pairs]
            percents |= {agreement.between: agreement for agreement in same_field if rows.is_percent(agreement)}
        self.pairs.percent = percents
        return pairs

    def _show_pairs(self, pairs: Sequence[Agreement], title: str) -> None:
        self.pairs.empty = "" if pairs else "No two raters rated the same item."
        self.pairs.show(list(pairs))
        self.pairs.write_titles(title, words.statistic_words(pairs[-1]) if pairs else "")

    def _show_grid(self, grid: Grid | None, why: str) -> None:
        self.grid.show(grid, why or "Nothing to count here.")
        ask = self.asked
        whose = f"{one_line(ask.one, 30)} × {one_line(ask.other, 30)}" if ask is not None and ask.one else "all pairs"
        title = f"Grid  {one_line(ask.field, 40)}  {whose}" if grid is not None and ask else "Grid"
        write_title(self.grid, title)
        self._say_cell()
        self.take_rows()

    def take_rows(self) -> None:
        """Take as many rows as the pairs and the grid need, up to half of the screen."""
        needed = 3 + max(self.pairs.count, len(self.grid.grid.down) if self.grid.grid is not None else 0, 4)
        height = max(7, min(needed, (self.screen.size.height - 6) // 2))
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height

    def _say_cell(self) -> None:
        write_subtitle(self.grid, self.grid.cell_words())

    @on(ConfusionGrid.Moved)
    def _follow_cell(self) -> None:
        self._say_cell()

    @on(LineList.Highlighted, "#agreement-pairs")
    def _follow_pair(self, message: LineList.Highlighted) -> None:
        message.stop()
        pair = self.pairs.current
        if pair is None or not self.pairs.has_focus:
            return
        ask = ChartRequest(pair.field, *rows.raters_of(pair))
        if ask != self.asked:
            self.asked = ask
            self._ask(ask)
