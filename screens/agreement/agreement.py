"""Agreement: how far a study's raters agree, each number with its interval and n, by pair and by answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer

from lab.agreement import Agreement, How
from lab.plain import plain
from lab.report import Grid
from lab.settings import Settings
from lab.study import Study
from screens.agreement import rows, words
from screens.agreement.grid import Confusion
from screens.agreement.items import Items
from screens.agreement.keys import KEYS
from screens.agreement.planner import Planner
from screens.agreement.reading import Ask, Reading
from screens.agreement.rows import View
from screens.agreement.table import Fields, Pairs
from screens.author.told import Told
from screens.describe import one_line
from screens.lines import Lines

if TYPE_CHECKING:
    from screens.app import LabApp
    from store.store import Store

_LOOK = 5.0
"""Seconds between two looks whether answers came in."""
NONE_OPEN = "No study is open: a on a study in Home (F2) opens its agreement."
JACKKNIFE = How()
BOOTSTRAP = How(interval="bootstrap")


class AgreementScreen(Screen[None]):
    """One study's agreement. What is chosen to be seen stays so while another room is looked at."""

    BINDING_GROUP_TITLE = "Agreement"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.study: Study | None = None
        self.agreements: list[Agreement] = []
        self.view = View()
        self.how = JACKKNIFE
        self.fields = Fields("agreement-fields")
        self.pairs = Pairs("agreement-pairs")
        self.grid = Confusion("agreement-grid")
        self.items = Items("agreement-items")
        self.reading = Reading(self, store)
        self.counting = False
        """Whether the numbers are being computed."""
        self.newer = ""
        """What came in since they were, in words."""
        self._read = ""
        self._asked: Ask | None = None
        self._listing: Ask | None = None
        self._left: Widget | None = None

    def compose(self) -> ComposeResult:
        yield Told("agreement-title")
        yield self.fields
        yield Told("agreement-said")
        yield Planner(self._runs_wanted)
        with Horizontal(id="agreement-beneath"):
            yield self.pairs
            yield self.grid
        yield self.items
        yield Told("agreement-next")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.fields.focus()
        self.set_interval(_LOOK, self._look)
        if self.study is not None:
            self._begin()
        else:
            self.fields.empty = NONE_OPEN
            self.tell()

    def on_screen_resume(self) -> None:
        """Answers may have come in while another room was looked at."""
        self._look()

    # -- opening and counting --------------------------------------------------------------------------------

    def open(self, study: Study) -> None:
        """Shows a study's agreement; of the same study what is looked at stays."""
        other = self.study is None or self.study.sha != study.sha
        self.study = study
        if other:
            self.agreements, self.view, self.how = [], View(), JACKKNIFE
        if self.is_mounted:
            if other:
                self.remove_class("-listing")
                self._blank()
                self.fields.focus()
            self._begin()

    def _begin(self) -> None:
        assert self.study is not None
        self.counting, self.newer = True, ""
        self.reading.open(self.study, self.how)
        self.fields.empty = f"Reading the answers of {one_line(self.study.name, 80)} ..."
        self.fields.refresh()
        self.tell()

    def _blank(self) -> None:
        self._asked, self._read = None, ""
        self.fields.show([])
        self.pairs.show([])
        self.grid.show(None)
        self.items.show([], "")

    def _look(self) -> None:
        if self.is_current and not self.counting:
            self.reading.look()

    @on(Reading.Counted)
    def _counted(self, message: Reading.Counted) -> None:
        if message.serial != self.reading.serial:
            return
        self.counting = message.last
        if not message.last:
            self.newer = ""
            self.reading.newest = message.newest
        self.agreements = message.agreements
        self._asked = None
        self.lay_out()
        self._look()

    @on(Reading.Gathered)
    def _gathered(self, message: Reading.Gathered) -> None:
        if message.serial == self.reading.serial:
            raters = words.count(len(message.people), "rater")
            judges = f", {words.count(len(message.judges), 'judge')}" if message.judges else ""
            still = f", {message.open:,} not handed in" if message.open else ""
            self._read = f"{words.count(message.answers, 'answer')} of {raters}{judges}{still}"
            self.tell()

    @on(Reading.Grown)
    def _grown(self, message: Reading.Grown) -> None:
        if message.serial == self.reading.serial:
            self.newer = words.count(message.labels, "newer answer") if message.labels else "more was said or handed in"
            self.tell()

    @on(Reading.Refused)
    def _refused(self, message: Reading.Refused) -> None:
        if message.serial != self.reading.serial:
            return
        if message.ask is None:
            self.counting = False
            self.fields.empty = plain(message.error.sentence)
            self.fields.refresh()
        else:
            self.reading.done()
            self._app.report(message.error)
        self.tell()

    # -- laying out ------------------------------------------------------------------------------------------

    def lay_out(self) -> None:
        """Shows the numbers as they are chosen to be seen now."""
        view = self.view
        if not any(rows.of_people(one) is (view.whose == "people") for one in self.agreements):
            view = view._replace(whose="people")
        if view.statistic and view.statistic not in rows.statistics(self.agreements, view):
            view = view._replace(statistic="")
        self.view = view
        found = rows.shown(self.agreements, view)
        self.fields.empty = self._none_yet()
        self.fields.show(found)
        self.set_class(bool(self._nothing()), "-nothing")
        whose = "people among themselves" if view.whose == "people" else "judges against most people"
        self.fields.entitle(f"Agreement  {whose}", self._chosen_words())
        self._draw()
        self.tell()

    def _chosen_words(self) -> str:
        by = f"{self.how.resamples:,} resamples of runs, seed {self.how.seed}" if self.how == BOOTSTRAP else "jackknife"
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

    @on(Reading.Drawn)
    def _drawn(self, message: Reading.Drawn) -> None:
        if message.serial != self.reading.serial:
            return
        self.reading.done()
        if self._asked is None or message.ask != self._asked:
            return
        if self.view.whose == "people":
            self._show_pairs(self._people_pairs(message.pairs), message.ask.field)
        self._show_grid(message.grid, message.why)

    def _people_pairs(self, found: list[Agreement]) -> list[Agreement]:
        """One statistic for each two, below it for all; the share that is the same beside."""
        named = next((one.statistic for one in found if not rows.is_share(one)), found[0].statistic if found else "")
        pairs = [one for one in found if one.statistic == named]
        percents = {one.between: one for one in found if rows.is_percent(one)}
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
        title = self.query_one("#agreement-title", Told)
        study = self.study
        if study is None:
            title.say(Content("Agreement"))
        else:
            read = f"   {self._read}" if self._read else ""
            title.say(
                Content(f"Agreement   {one_line(study.title or study.id, 60)}   {one_line(study.name, 60)}{read}")
            )
        one = self.fields.current
        said = self._nothing() or (words.in_full(one) if one is not None else "")
        if self.has_class("-listing"):
            said = self.items.says()
        self.query_one("#agreement-said", Told).say(Content(said))
        self.query_one("#agreement-next", Told).say(Content("   ".join(filter(None, (self._state(), self._next())))))
        self.refresh_bindings()

    def _state(self) -> str:
        if not self.counting:
            return f"{self.newer}: r recounts" if self.newer else ""
        how = f", resampling runs {self.how.resamples:,} times" if self.how == BOOTSTRAP else ""
        what = f"{self.newer} with the others" if self.newer else self._read or "the answers"
        return f"counting {what}{how} ..."

    def _next(self) -> str:
        match self.focused:
            case Fields() if self._nothing():
                return ""
            case Fields() if self.fields.rows:
                return "Enter: the items on which not all said the same"
            case Pairs() if self.pairs.rows:
                return "Enter: the items on which these two differ"
            case Confusion() if self.grid.filled:
                return f"Enter: the items of this cell   {self.grid.says()}"
            case Items() if self.items.rows:
                return "Enter: replay it where it was judged   Esc: back to the numbers"
            case Items():
                return "Esc: back to the numbers"
        return "Esc: leave the plan" if self.planner.opened else ""

    def _tell_cell(self) -> None:
        self.grid.border_subtitle = Content(self.grid.says())
        self.tell()

    def on_descendant_focus(self) -> None:
        self.tell()

    @on(Lines.Highlighted, "#agreement-fields")
    def _on_field(self, message: Lines.Highlighted) -> None:
        message.stop()
        self.planner.show(self.fields.current)
        self._draw()
        self.tell()

    @on(Lines.Highlighted, "#agreement-pairs")
    def _on_pair(self, message: Lines.Highlighted) -> None:
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

    # -- items -----------------------------------------------------------------------------------------------

    @on(Lines.Chosen, "#agreement-fields")
    @on(Lines.Chosen, "#agreement-pairs")
    def _chosen(self, message: Lines.Chosen) -> None:
        message.stop()
        lines = cast("Fields | Pairs", message.lines)
        one = lines.current
        if one is not None:
            self._list(Ask(one.field, *rows.raters_of(one), listed=True))

    @on(Confusion.Chosen)
    def _cell_chosen(self, message: Confusion.Chosen) -> None:
        message.stop()
        asked = self._asked
        if asked is not None:
            self._list(Ask(asked.field, asked.one, asked.other, True, (message.down, message.across)))

    def _list(self, ask: Ask) -> None:
        self._left = self.focused
        self._listing = ask
        self.add_class("-listing")
        self.items.show([], "Looking for them ...")
        self.items.entitle(self._listed_words(ask))
        self.items.focus()
        self.reading.ask(ask)
        self.tell()

    def _listed_words(self, ask: Ask) -> str:
        of = f"  {one_line(ask.one)} and {one_line(ask.other)}" if ask.one else ""
        cell = f"  {one_line(ask.cell[0], 30)} × {one_line(ask.cell[1], 30)}" if ask.cell else ""
        return f"Items  {one_line(ask.field, 40)}{of}{cell}"

    @on(Reading.Listed)
    def _listed(self, message: Reading.Listed) -> None:
        if message.serial != self.reading.serial:
            return
        self.reading.done()
        if message.ask != self._listing:
            return
        some = len(message.disputes)
        self.items.show(message.disputes, "There are none: all said the same.")
        more = f"{some:,} of {message.all:,}, those that split most evenly" if some < message.all else f"{some:,}"
        self.items.entitle(self._listed_words(message.ask), more)
        self.tell()

    @on(Lines.Highlighted, "#agreement-items")
    def _on_item(self, message: Lines.Highlighted) -> None:
        message.stop()
        self.tell()

    @on(Lines.Chosen, "#agreement-items")
    def _item_chosen(self, message: Lines.Chosen) -> None:
        message.stop()
        if self.items.current is not None and self._listing is not None:
            self.reading.find(self.items.current, self._listing.field)

    @on(Reading.Found)
    def _found(self, message: Reading.Found) -> None:
        if self.is_current:
            self._app.open_replay(message.run, message.step, back="agreement")

    # -- verbs -----------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What would do nothing here is not offered."""
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
        """One part alone, the next, at last all of them."""
        self.view = self.view._replace(part=_after(["", *rows.parts(self.agreements)], self.view.part, 1))
        self.lay_out()

    def action_whose(self) -> None:
        """From people to judges, and back."""
        whose: rows.Whose = "judges" if self.view.whose == "people" else "people"
        self.view = self.view._replace(whose=whose)
        self._asked = None
        self.lay_out()

    def action_statistic(self, by: int) -> None:
        """One statistic alone, the next or the one before, at last all of them."""
        named = ["", *rows.statistics(self.agreements, self.view)]
        self.view = self.view._replace(statistic=_after(named, self.view.statistic, by))
        self.lay_out()

    def action_bootstrap(self) -> None:
        """Intervals by resampling, or by leaving runs out."""
        self.how = JACKKNIFE if self.how == BOOTSTRAP else BOOTSTRAP
        self._begin()

    def action_recount(self) -> None:
        """Counts everything that is there now."""
        if not self.counting:
            self._begin()

    def action_plan(self) -> None:
        """Opens the planner for the number under the cursor, or closes it."""
        one = self.fields.current
        if self.planner.opened:
            self._leave_plan()
        elif one is not None:
            self.add_class("-planning")
            self.planner.open(one)
            self.tell()

    def action_copy(self) -> None:
        """Copies the number under the cursor in words."""
        one = self.fields.current
        if one is not None:
            self.app.copy_to_clipboard(words.whole(one))
            self.notify("The number is copied, with all it rests on.", markup=False)

    def action_move(self, by: int) -> None:
        """The next or the previous line of the pane in use."""
        lines = self.focused if isinstance(self.focused, Lines) else self.fields
        lines.action_move(by)

    def action_back(self) -> None:
        """Out of the help, the plan and the items; then the app's own: to Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.planner.opened:
            self._leave_plan()
        elif self.has_class("-listing"):
            self.remove_class("-listing")
            left = self._left
            self.set_focus(left if left is not None and left.display else self.fields)
            self.tell()
        else:
            raise SkipAction

    def _leave_plan(self) -> None:
        self.remove_class("-planning")
        self.planner.close()
        self.fields.focus()
        self.tell()

    def _runs_wanted(self, one: Agreement, width: float) -> int | None:
        from annotators.agreement.agreements import runs_wanted

        return runs_wanted(one, width)

    @property
    def planner(self) -> Planner:
        """The line that plans."""
        return self.query_one(Planner)

    @property
    def _app(self) -> LabApp:
        return cast("LabApp", self.app)


def _after(of: list[str], now: str, by: int) -> str:
    at = of.index(now) if now in of else 0
    return of[(at + by) % len(of)]
