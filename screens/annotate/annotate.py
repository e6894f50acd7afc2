"""Annotate: one unit beside its sheet, one key an answer, each on the disk before it is shown."""

from __future__ import annotations

from textual import on, work
from textual.content import Content

from lab.core.errors import LabError
from lab.core.study import Study
from lab.studies.rating_session import RatingSession
from lab.studies.sheet_wording import Wording
from screens.annotate.session import RatingScreen
from screens.annotate.sheet import SheetPane
from screens.annotate.sheet_text import told_words
from screens.annotate.unit_pane import UnitPane
from screens.home.studies import StudyRow, study_rows
from screens.key_names import with_keys
from screens.lab import Failed, lab_of, tried
from screens.widgets.lines import LineList

_TICK = 10.0
"""Seconds after which the line above tells the time anew."""


class AnnotateScreen(RatingScreen):
    """The room of a rater: a shelf of studies, or one unit beside its sheet, or what is learned after handing it in."""

    def on_mount(self) -> None:
        self.set_interval(_TICK, self.tick)
        self.watch(self.app, "app_focus", self.turned_away, init=False)
        if self._wanted is not None:
            self._begin(self._wanted)
        else:
            self.to_shelf()

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, study: Study) -> None:
        """Shows a study where this person left it."""
        self._wanted = study
        if self.is_mounted:
            self._begin(study)

    def _begin(self, study: Study) -> None:
        self.rise()
        session = self._desk_of(study)
        if reason := self.closed(session):
            self.tell(study, reason)
            return
        self.sit(session)
        self._lay_out()

    def _desk_of(self, study: Study) -> RatingSession:
        locale = self.settings.locale if self.settings.locale != "en" else ""
        return RatingSession(self.store, study, self.person, locale=locale)

    def closed(self, session: RatingSession) -> str:
        """Why this person cannot rate in a study now; empty where they can."""
        study, code = session.study, session.person.id
        if self.store.labels.withdrew(code):
            return f"{code} has withdrawn from studies; nothing is asked of them."
        if self.store.studies.locked(study):
            return "This study is locked: nothing in it changes any more."
        if not self.store.studies.progress(study, code).dealt:
            return f"Nothing in this study is dealt to {code}."
        return ""

    def _lay_out(self) -> None:
        """What is to be settled, then the next unit that is not handed in; a sentence where there is none for now."""
        session = self.session
        assert session is not None
        if self.unsettled:
            session.open(self.unsettled.pop(0))
            self.show_unit()
            return
        following = session.next_assignment()
        if following is None:
            done = self.count.done
            back = " {annotate.reopen} takes the last one back." if self.takes_back else ""
            words = f"All {done} are handed in. Thank you.{back} {{annotate.back}} leads back to the studies."
            self.tell(session.study, with_keys(self, words))
            return
        if following.stage != "pilot" and self.store.studies.held(session.study, session.person.id):
            self.tell(
                session.study,
                "The pilot is over, and fewer answers were right than this study asks for. "
                + with_keys(
                    self, "Nothing more is asked until its designer releases you; {annotate.back} leads to the studies."
                ),
            )
            return
        session.open(following)
        self.show_unit()

    def show_unit(self) -> None:
        """Shows the unit that is open in the session."""
        session = self.session
        assert session is not None
        assert session.unit is not None
        assert session.assignment is not None
        self.mode("open")
        self.handed = None
        self.pace.begin_unit()
        beside = self.query_one(UnitPane)
        beside.open(session.study, session.unit, swap=session.assignment.swap)
        place = self.pane.open(session)
        if place:
            beside.go_to(place)
        self.pane.looked(beside.place)
        self.cover()
        self.renew()

    # -- after handing in ------------------------------------------------------------------------------------

    @on(SheetPane.HandedIn)
    def _handed_in(self, message: SheetPane.HandedIn) -> None:
        message.stop()
        session = self.session
        assert session is not None
        assert session.sheet is not None
        self.pace.end_unit()
        self.counted(1)
        self.last = None if session.study.protocol.forward or message.handed.compared else session.assignment
        derived = session.derived(in_words=True)
        if not message.handed.compared and not derived:
            self._lay_out()
            return
        self.handed = message.handed
        way = Wording(session.study.protocol, session.locale, bool(session.assignment and session.assignment.swap))
        self.told.border_title = "What is right" if message.handed.compared else "What follows"
        self.told.show(told_words(way, session.sheet, message.handed, derived))
        self.mode("told")
        self.told.focus()
        self.renew()

    @on(SheetPane.Settled)
    def _settled(self, message: SheetPane.Settled) -> None:
        message.stop()
        self._lay_out()

    def action_onward(self) -> None:
        """To the next unit."""
        self._lay_out()

    def action_reopen(self) -> None:
        """Takes the unit back that was handed in last."""
        last, study = self.last, self._wanted
        if self.shown == "over" and last is not None and study is not None:
            again = self._desk_of(study)
            if reason := self.closed(again):
                self.tell(study, reason)
                return
            self.sit(again)
        session = self.session
        if session is None or last is None:
            return
        self.last = None
        if session.assignment != last:
            session.open(last)
        try:
            session.reopen()
        except LabError as error:
            self._lay_out()
            self.pane.say(error.said)
            return
        self.counted(-1)
        self.show_unit()

    @on(SheetPane.Wanted)
    async def _wanted_by_sheet(self, message: SheetPane.Wanted) -> None:
        message.stop()
        match message.what:
            case "place":
                if not self.query_one(UnitPane).go_to(message.place):
                    self.pane.say("That step is not shown here.")
            case "region":
                if not self.query_one(UnitPane).draw_region():
                    self.pane.drawing = ""
                    self.pane.say("No picture is shown here.")
                self.renew()
            case "guide":
                await self.run_action("guide")
            case "search":
                step = self.query_one(UnitPane).search(message.place)
                self.pane.say(f"{step} {'step' if step == 1 else 'steps'} with these words." if step else "No step.")
            case "undo" if self.last is None:
                forward = self.session is not None and self.session.study.protocol.forward
                self.pane.say("There is nothing to take back." if not forward else "This study has no going back.")
            case "undo":
                tried(self, self.action_reopen)

    # -- the shelf -------------------------------------------------------------------------------------------

    def to_shelf(self) -> None:
        """Leaves the study that is open."""
        self.rise()
        self._left, self._wanted = self._wanted, None
        self.mode("shelf")
        self.shelf.border_title = "Studies"
        self.shelf.stand_on(self._left.name if self._left is not None else "")
        self.shelf.focus()
        self.read_shelf()
        self.renew()

    @work(thread=True, exclusive=True, group="shelf")
    def read_shelf(self) -> None:
        """Reads which studies there are."""
        try:
            rows: list[StudyRow] = study_rows(self.store, self.person.id, others=False)
            self.post_message(self.Shelved(rows))
        except LabError as error:
            self.post_message(Failed(error))

    @on(RatingScreen.Shelved)
    def _shelved(self, message: RatingScreen.Shelved) -> None:
        self.shelf.show(message.rows, self.person.id, self._left.name if self._left is not None else "")
        self.renew()

    @on(LineList.Chosen, "#study-shelf")
    def _chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        row = self.shelf.rows[message.index]
        study = self.store.studies.study(row.line.id, row.line.version)
        if study.protocol.unit == "task to play":
            tried(self, lambda: lab_of(self).open_study(study))
        else:
            self.open(study)

    @on(LineList.Highlighted, "#study-shelf")
    def _on_shelf(self, message: LineList.Highlighted) -> None:
        message.stop()
        self.renew()

    def tell(self, study: Study, words: str) -> None:
        """One sentence in place of a unit."""
        self.told.border_title = "Study"
        self.told.show(Content(words))
        self.handed = None
        self.rise()
        self.mode("over")
        self.told.focus()
        self.renew()

    def action_back(self) -> None:
        """Out of what was opened last; from a unit to the shelf, from there to Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.pane.drawing:
            self.pane.drawing = ""
            self.query_one(UnitPane).draw_region(on=False)
            self.pane.items.focus()
            self.renew()
        elif self.shown == "open" and self.pane.keying.digits:
            self.pane.drop_digits()
        elif self.shown in ("open", "told") and self.query_one(UnitPane).back():
            self.renew()
        elif self.shown != "shelf":
            self.to_shelf()
        else:
            lab_of(self).open_home()
