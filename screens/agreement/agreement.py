"""Agreement: how far a study's raters agree, each number with its interval and n, by pair and by answer."""

from __future__ import annotations

from typing import ClassVar, cast

from textual import on
from textual.actions import SkipAction
from textual.binding import BindingType

from lab.core.plain_text import plain
from lab.core.rounding import count
from lab.core.study import Study
from lab.runs.descriptions import one_line
from screens.agreement import rows, words
from screens.agreement.computation import AgreementComputation, Ask
from screens.agreement.grid import Confusion
from screens.agreement.keys import KEYS
from screens.agreement.numbers_pane import BOOTSTRAP, JACKKNIFE, NumbersLayout
from screens.agreement.rows import NumberFilter
from screens.agreement.table import FieldNumbers, RaterPairs
from screens.key_names import with_keys
from screens.lab import lab_of
from screens.widgets.lines import LineList

_LOOK = 5.0
"""Seconds between two looks whether answers came in."""
NONE_OPEN = "No study is open: {studies.agreement:a} on a study in Home ({app.home}) opens its agreement."


class AgreementScreen(NumbersLayout):
    """One study's agreement. What is chosen to be seen stays so while another room is looked at."""

    BINDING_GROUP_TITLE = "Agreement"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def on_mount(self) -> None:
        self.fields.focus()
        self.set_interval(_LOOK, self._look)
        if self.study is not None:
            self._begin()
        else:
            self.fields.empty = with_keys(self, NONE_OPEN)
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
            self.agreements, self.view, self.how = [], NumberFilter(), JACKKNIFE
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

    @on(AgreementComputation.Counted)
    def _counted(self, message: AgreementComputation.Counted) -> None:
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

    @on(AgreementComputation.Gathered)
    def _gathered(self, message: AgreementComputation.Gathered) -> None:
        if message.serial == self.reading.serial:
            raters = count(message.people, "rater")
            judges = f", {count(message.judges, 'judge')}" if message.judges else ""
            still = f", {message.open:,} not handed in" if message.open else ""
            self._read = f"{count(message.answers, 'answer')} of {raters}{judges}{still}"
            self.tell()

    @on(AgreementComputation.Grown)
    def _grown(self, message: AgreementComputation.Grown) -> None:
        if message.serial == self.reading.serial:
            self.newer = count(message.labels, "newer answer") if message.labels else "more was said or handed in"
            self.tell()

    @on(AgreementComputation.Refused)
    def _refused(self, message: AgreementComputation.Refused) -> None:
        if message.serial != self.reading.serial:
            return
        if message.ask is None:
            self.counting = False
            self.fields.empty = plain(message.error.sentence)
            self.fields.refresh()
        else:
            self.reading.done()
            lab_of(self).report(message.error)
        self.tell()

    # -- items -----------------------------------------------------------------------------------------------

    @on(LineList.Chosen, "#agreement-fields")
    @on(LineList.Chosen, "#agreement-pairs")
    def _chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        lines = cast("FieldNumbers | RaterPairs", message.lines)
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

    @on(AgreementComputation.Listed)
    def _listed(self, message: AgreementComputation.Listed) -> None:
        if message.serial != self.reading.serial:
            return
        self.reading.done()
        if message.ask != self._listing:
            return
        some = len(message.disputes)
        derived = self.study is not None and self.study.protocol.field(message.ask.field) is None
        none = "all said the same." if not derived else "it follows from other answers; nobody is asked for it."
        self.items.show(message.disputes, f"There are none: {none}")
        more = f"{some:,} of {message.all:,}, those that split most evenly" if some < message.all else f"{some:,}"
        self.items.entitle(self._listed_words(message.ask), more)
        self.tell()

    @on(LineList.Highlighted, "#agreement-items")
    def _on_item(self, message: LineList.Highlighted) -> None:
        message.stop()
        self.tell()

    @on(LineList.Chosen, "#agreement-items")
    def _item_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        if self.items.current is not None and self._listing is not None:
            self.reading.find(self.items.current, self._listing.field)

    @on(AgreementComputation.Found)
    def _found(self, message: AgreementComputation.Found) -> None:
        if self.is_current:
            lab_of(self).open_replay(message.run, message.step, back="agreement")

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
        self.notify("Counting all that is there now.", markup=False)
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
        lines = self.focused if isinstance(self.focused, LineList) else self.fields
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


def _after(of: list[str], now: str, by: int) -> str:
    at = of.index(now) if now in of else 0
    return of[(at + by) % len(of)]
