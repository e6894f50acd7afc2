"""The Annotate screen: a unit beside its sheet. A key answers, and each answer is committed before it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, get_args

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.message import Message

from lab.core.errors import LabError
from lab.core.run.screen_clock import Clock
from lab.core.settings import Settings
from lab.core.study.study import Study
from lab.core.task.task import Actor
from lab.studies.rating.past_sheets import past_sheets
from lab.studies.rating.practice import PracticeItem
from lab.studies.rating.rating_session import RatingSession
from screens.annotate.answer_field import AnswerLine
from screens.annotate.attendance import StudyAttendance
from screens.annotate.introduction import IntroductionCourse
from screens.annotate.introduction_words import translated
from screens.annotate.keys import ROOM_KEYS
from screens.annotate.room_lines import AnnotateLines, View
from screens.annotate.sheet import SheetPane
from screens.annotate.study_course import CoursePage, StudyCourse, sentence_page
from screens.annotate.study_list import DealtStudies
from screens.annotate.unit_pane import UnitPane
from screens.key_names import with_keys
from screens.lab import lab_of, try_report
from screens.stylesheet import ROOM_STYLES
from screens.widgets.border_words import write_title
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.text_page import TextPage

if TYPE_CHECKING:
    from store.store import Store


class ReadPage(TextPage):
    """Text page that posts `MoreBelowChanged`, so that its owner can offer keys by whether more text follows below."""

    @dataclass
    class MoreBelowChanged(Message):
        """Message: text below the visible part now exists, or no longer does."""

        page: ReadPage

    _goes_on = False

    def _show_rest(self) -> None:
        super()._show_rest()
        goes_on = bool(self.lines_below)
        if goes_on is not self._goes_on:
            self._goes_on = goes_on
            self.post_message(self.MoreBelowChanged(self))


_TICK = 10.0
"""Seconds between two updates of the times in the line above."""
_POLL = 2.0
"""Seconds between two polls of whether a held rater was released."""
WIDGETS_STYLED_BY_VIEW = "#study-shelf, #annotate-bench, UnitPane, #answer-sheet, #sheet-told"
"""Selector of the widgets that `annotate.tcss` shows or hides by the view.

Only these are restyled on a change of view.
"""


class AnnotateScreen(RoomScreen[None]):
    """Screen of a rater: the list of studies, one unit beside its sheet, or a page to read before or after it."""

    CSS_PATH = ROOM_STYLES
    BINDING_GROUP_TITLE = "Annotate"
    BINDINGS: ClassVar[list[BindingType]] = ROOM_KEYS

    def __init__(self, store: Store, settings: Settings, clock: Clock | None = None) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self.person = Actor("human", settings.person)
        clock = clock or Clock()
        self.attendance = StudyAttendance(self, store, clock)
        self.introduction = IntroductionCourse(self, store)
        self.course = StudyCourse(self, store, settings, self.attendance, self.introduction)
        self.view: View = "shelf"
        self.shelf = DealtStudies(store, self.person.id)
        self.unit_pane = UnitPane(store, settings)
        self.sheet_pane = SheetPane(clock=clock, pace=self.attendance.pace)
        self.read_page = ReadPage(id="sheet-told", classes="pane")
        self.lines = AnnotateLines(
            self.person, self.shelf, self.sheet_pane, self.read_page, self.introduction, self.attendance
        )
        self.add_class("-shelf", update=False)

    def compose(self) -> ComposeResult:
        yield self.lines.above
        yield self.shelf
        with Container(id="annotate-bench"):
            yield self.unit_pane
            yield self.sheet_pane
            yield self.read_page
        yield self.lines.below
        yield Footer()

    def on_mount(self) -> None:
        self.set_interval(_TICK, self._tick)
        self.set_interval(_POLL, self._poll_release)
        self.watch(self.app, "app_focus", self._follow_app_focus, init=False)
        if self.course.study is not None:
            self._begin()
        else:
            self.show_shelf()

    def on_unmount(self) -> None:
        self._leave()

    @property
    def session(self) -> RatingSession | None:
        """The open rating session, or None on the shelf, and when nothing is left to rate."""
        return self.attendance.session

    def _show(self, view: View) -> None:
        self.view = view
        if not self.has_class(f"-{view}"):
            self.update_classes({f"-{name}": name == view for name in get_args(View)}, update=False)
            # `update=False`: Textual would style every widget of the screen again.
            self.app.stylesheet.update_nodes(self.query(WIDGETS_STYLED_BY_VIEW), animate=True)
        self.refresh_bindings()

    def _show_page(self, page: CoursePage) -> None:
        """Show a page in place of the sheet. A page in place of all units leaves the study."""
        if page.view == "over":
            self._leave()
        write_title(self.read_page, page.title)
        self._show(page.view)
        self.read_page.show(page.content)
        self.read_page.focus()
        self.refresh_lines()

    @on(ReadPage.MoreBelowChanged)
    def _renew_page_keys(self, message: ReadPage.MoreBelowChanged) -> None:
        message.stop()
        if self.view == "read":
            self.refresh_lines()  # what Enter does depends on it

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, study: Study) -> None:
        """Open a study at the place where this person left it."""
        self.course.choose(study)
        if self.is_mounted:
            self._begin()

    def _begin(self) -> None:
        """Begin with the next part. If that fails, show the error."""
        self._leave()
        try:
            if self._sit_down():
                self._lay_out()
        except LabError as error:
            back = with_keys(self, "{annotate.back} leads back to the studies.")
            self._show_page(sentence_page(f"{error.sentence} {back}"))

    def _sit_down(self) -> bool:
        """Begin a session. If this person cannot rate in the study now, show the reason and return False."""
        if reason := self.course.begin():
            self._show_page(sentence_page(reason))
            return False
        # Each session has a pace of its own.
        self.sheet_pane.take_pace(self.attendance.pace)
        return True

    def _leave(self) -> None:
        """Leave the open study, and save drafts."""
        if self.session is not None:
            self.sheet_pane.store_place(leaving=True)
        self.course.leave()

    def _lay_out(self) -> None:
        """Show the next part: a page, the practice item or a unit. If the study closed meanwhile, show why."""
        try:
            part = self.course.next_part()
        except LabError:
            if not (reason := self.course.why_closed()):
                raise
            part = sentence_page(reason)
        if isinstance(part, CoursePage):
            self._show_page(part)
        else:
            self._show_unit(part)

    def _show_unit(self, practice: PracticeItem | None = None) -> None:
        """Show the session's open unit. Runs of the `practice` item are in a file of its own."""
        session = self.session
        assert session is not None
        assert session.unit is not None
        self._show("open")
        if practice is None:
            self.attendance.pace.begin_unit()
        self.sheet_pane.title = translated(session.locale, "practice") if practice is not None else "Sheet"
        swap = session.assignment is not None and session.assignment.swap
        runs_in = practice.store if practice is not None else None
        self.unit_pane.open(session.study, session.unit, swap=swap, runs_in=runs_in)
        place = self.sheet_pane.open(session)
        if place:
            self.unit_pane.go_to(place)
        self.sheet_pane.set_place(self.unit_pane.place)
        self.mark_evidence()
        self.refresh_lines()

    # -- before the first item --------------------------------------------------------------------------------

    @on(IntroductionCourse.ItemReady)
    def _item_ready(self, message: IntroductionCourse.ItemReady) -> None:
        message.stop()
        if self.introduction.take_item(message) and self.view == "read" and self.introduction.part == "practice":
            try_report(self, self._lay_out)

    def action_pass_over(self) -> None:
        """Skip the rest of the introduction."""
        self.introduction.skip()
        self._lay_out()

    # -- after handing in ------------------------------------------------------------------------------------

    @on(SheetPane.UnitHandedIn)
    def _continue_after_hand_in(self, message: SheetPane.UnitHandedIn) -> None:
        message.stop()
        page = self.course.hand_in(message.handed)
        if page is not None:
            self._show_page(page)
        else:
            self._lay_out()

    @on(SheetPane.Settled)
    def _continue_after_settling(self, message: SheetPane.Settled) -> None:
        message.stop()
        self._lay_out()

    def action_onward(self) -> None:
        """Go to the next unit, in the introduction to the next page."""
        if self.view == "read" and self.read_page.lines_below:
            self.read_page.scroll_pages(1)
            self.refresh_lines()
        elif self.view != "read" or self.introduction.complete_part():
            self._lay_out()

    def action_reopen(self) -> None:
        """Reopen the unit that was handed in last."""
        # The page after the last unit ended the session.
        if self.view == "over" and self.course.last is not None and not self._sit_down():
            return
        if not self.course.open_last():
            return
        try:
            self.course.take_back()
        except LabError as error:
            self._lay_out()
            self.sheet_pane.say(error.body)
            return
        self._show_unit()

    @on(SheetPane.Requested)
    async def _serve_sheet(self, message: SheetPane.Requested) -> None:
        message.stop()
        match message.what:
            case "place":
                if not self.unit_pane.go_to(message.place):
                    self.sheet_pane.say("That step is not shown here.")
            case "region":
                if not self.unit_pane.draw_region():
                    self.sheet_pane.drawing = ""
                    self.sheet_pane.say("No picture is shown here.")
                self.refresh_lines()
            case "guide":
                await self.run_action("guide")
            case "search":
                held = self.unit_pane.search(message.place)
                self.sheet_pane.say(f"These words stand in {held}." if held else "No step.")
            case "undo" if self.course.last is None:
                forward = self.session is not None and self.session.study.protocol.forward
                self.sheet_pane.say(
                    "There is nothing to take back." if not forward else "This study has no going back."
                )
            case "undo":
                try_report(self, self.action_reopen)

    # -- the shelf -------------------------------------------------------------------------------------------

    def show_shelf(self) -> None:
        """Leave the open study and show the list of studies."""
        self._leave()
        last_study = self.course.study
        self.course.choose(None)
        self._show("shelf")
        self.shelf.border_title = "Studies"
        self.shelf.focus()
        self.shelf.read(last_study.name if last_study is not None else "")
        self.refresh_lines()

    @on(DealtStudies.Listed)
    def _renew_shelf(self, message: DealtStudies.Listed) -> None:
        message.stop()
        self.refresh_lines()

    @on(LineList.Chosen, "#study-shelf")
    def _open_chosen_study(self, message: LineList.Chosen) -> None:
        message.stop()
        row = self.shelf.rows[message.index]
        study = self.store.studies.study(row.line.id, row.line.version)
        # A play study has a screen of its own.
        if study.protocol.unit == "task to play":
            try_report(self, lambda: lab_of(self).open_study(study))
        else:
            self.open(study)

    @on(LineList.Highlighted, "#study-shelf")
    def _renew_highlighted(self, message: LineList.Highlighted) -> None:
        message.stop()
        self.refresh_lines()

    def action_back(self) -> None:
        """Close what was opened last, then leave the unit for the shelf, then the shelf for Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.sheet_pane.drawing:
            self.sheet_pane.drawing = ""
            self.unit_pane.draw_region(on=False)
            self.sheet_pane.items.focus()
            self.refresh_lines()
        elif self.view == "open" and self.sheet_pane.editor.entry.digits:
            self.sheet_pane.drop_digits()
        elif self.view in ("open", "told") and self.unit_pane.go_back():
            self.refresh_lines()
        elif self.view != "shelf":
            self.show_shelf()
        else:
            lab_of(self).open_home()

    # -- time and the lines above and below --------------------------------------------------------------------

    def _tick(self) -> None:
        if self.session is not None:
            self._take_up_answers()
            self.refresh_lines()

    def _poll_release(self) -> None:
        """Continue if this person was held and has been released."""
        if self.view == "over":
            try_report(self, self._continue_if_released)

    def _continue_if_released(self) -> None:
        if self.course.released:
            self._begin()

    def _take_up_answers(self) -> None:
        """Show the answers that another window of this person stored for the open unit."""
        if self.view == "open" and self.session is not None and self.session.sheet is not None:
            try_report(self, self._show_taken_up)

    def _show_taken_up(self) -> None:
        if self.sheet_pane.take_up_other_window():
            self.attendance.refresh_progress()
            self.mark_evidence()

    def _follow_app_focus(self, here: bool) -> None:
        """Record that the terminal lost or regained the keyboard focus."""
        if here:
            self.attendance.pace.touch()
            self._take_up_answers()
        else:
            self.attendance.pace.blur()

    def on_key(self, event: events.Key) -> None:
        self.attendance.pace.touch()
        # Keys typed right after handing in were meant for the last sheet.
        if self.sheet_pane.slip.active:
            event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.attendance.pace.touch()

    def on_resize(self) -> None:
        self.call_after_refresh(self.refresh_lines)

    def refresh_lines(self) -> None:
        """Paint the lines above and below."""
        self.attendance.record_absences()
        self.lines.paint(self.view, self.settings.seat, self.size.width - 2, takes_back=self.course.takes_back)

    # -- beside the sheet ------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only the keys that have an effect in the present view."""
        if action == "back":
            return True
        if action == "onward":
            return self.view in ("read", "told")
        if action == "pass_over":
            return self.introduction.skippable and self.view in ("read", "open")
        if action == "past":
            return self.view in ("open", "told", "over") and self.course.study is not None
        if self.view == "read":
            return action == "scroll"
        if action == "reopen":
            return self.view in ("told", "over") and self.course.takes_back
        return self.view in ("open", "told") and self.unit_pane.has_use(action)

    @on(SheetPane.ItemChanged)
    def _follow_item(self, message: SheetPane.ItemChanged) -> None:
        """Show the step of an item that is about one."""
        message.stop()
        session, item = self.session, message.item
        if session is None or session.unit is None:
            return
        if item is not None and item.target is not None and item.target.step is not None and session.unit.runs:
            self.unit_pane.go_to(f"{session.unit.runs[0]}@{item.target.step + 1}")
        self.refresh_lines()

    @on(SheetPane.Answered)
    def _mark_answer(self, message: SheetPane.Answered) -> None:
        message.stop()
        self.mark_evidence()
        self.refresh_lines()

    @on(SheetPane.KeysChanged)
    def _update_keys(self, message: SheetPane.KeysChanged) -> None:
        message.stop()
        self.unit_pane.tell_keys()
        if self.session is not None and self.session.sheet is not None:
            self.mark_evidence()
        self.refresh_lines()

    def mark_evidence(self) -> None:
        """Mark beside the sheet the evidence of its answers."""
        self.unit_pane.mark_evidence(self.sheet_pane.evidence())

    @on(UnitPane.PlaceChanged)
    def _pass_place(self, message: UnitPane.PlaceChanged) -> None:
        message.stop()
        self.sheet_pane.set_place(message.place)

    @on(UnitPane.CloseUpShown)
    def _record_closeup(self, message: UnitPane.CloseUpShown) -> None:
        message.stop()
        if self.session is not None and self.session.unit is not None:
            session, unit = self.session, self.session.unit
            try_report(self, lambda: session.act("picture", unit.id, {"place": message.place}))

    @on(UnitPane.RegionDrawn)
    def _pass_region(self, message: UnitPane.RegionDrawn) -> None:
        message.stop()
        self.sheet_pane.items.focus()
        self.sheet_pane.take_region(message.place, message.region)
        self.refresh_lines()

    @on(AnswerLine.PageRequested)
    def _scroll_beside(self, message: AnswerLine.PageRequested) -> None:
        message.stop()
        self.action_scroll(message.by)

    def action_step(self, by: int) -> None:
        """Show the next step of the run, or the one before."""
        self.unit_pane.move(by)
        self.sheet_pane.set_place(self.unit_pane.place)  # at once: the next key may be an answer

    def action_guide(self) -> None:
        """Show the guideline and the meaning of each answer. Record that the person read it."""
        session, item = self.session, self.sheet_pane.item
        if session is None or session.unit is None:
            return
        from screens.annotate.guide import GuideScreen

        session.act("guide", session.unit.id)
        field_id = item.field.id if item is not None else ""
        self.app.push_screen(GuideScreen(session.study.protocol, session.locale, field_id))

    def action_past(self) -> None:
        """Show the person's own sheets of this study so far."""
        study = self.course.study
        if study is None:
            return
        from screens.annotate.past_sheets import PastSheetsScreen

        self.sheet_pane.store_place()
        locale = self.settings.locale if self.settings.locale != "en" else study.locale
        self.app.push_screen(PastSheetsScreen(study, locale, past_sheets(self.store, study, self.person.id, locale)))

    def action_search(self) -> None:
        """Open the line for a search in the run."""
        self.sheet_pane.search()

    def action_side(self) -> None:
        """Give the step keys to the other run of a pair."""
        self.unit_pane.turn_side()
        self.sheet_pane.set_place(self.unit_pane.place)

    def action_question(self, by: int) -> None:
        """Show the next step with a question."""
        question = self.unit_pane.question(by)
        self.sheet_pane.set_place(self.unit_pane.place)
        if not question:
            self.sheet_pane.say("No question from here on.")

    def action_view(self) -> None:
        """Switch between the screen's texts and the phone."""
        self.unit_pane.turn_view()

    def action_after(self) -> None:
        """Switch between the screen before and after the step."""
        self.unit_pane.turn_after()

    def action_closely(self) -> None:
        """Open or close the picture in full."""
        if not self.unit_pane.toggle_close_up():
            self.sheet_pane.say("There is no picture here.")

    def action_overlay(self) -> None:
        """Switch the screen's texts over the phone on or off."""
        self.unit_pane.turn_overlay()

    def action_closer(self) -> None:
        """Enlarge the phone by one level."""
        self.unit_pane.closer()
        self.refresh_bindings()

    def action_further(self) -> None:
        """Make the phone smaller by one level."""
        self.unit_pane.further()
        self.refresh_bindings()

    def action_pan(self, across: int, down: int) -> None:
        """Move the visible part of the enlarged phone."""
        self.unit_pane.pan(across, down)

    def action_header(self) -> None:
        """Unfold the instruction and its context, or fold them to one line."""
        self.unit_pane.turn_header()

    def has_more(self, by: int) -> bool:
        """Return True if a page on (1) or back (-1) shows more of the question or of the text beside the sheet."""
        if self.view == "open" and self.sheet_pane.item_pane.reading(by) is not None:
            return True
        return any(
            page.scroll_offset.y < page.max_scroll_y if by > 0 else page.scroll_offset.y > 0
            for page in self.unit_pane.reading(by)
        )

    def action_scroll(self, pages: int) -> None:
        """Scroll the question by a page, and at its end the text beside the sheet."""
        if self.view == "read":
            self.read_page.scroll_pages(pages)
            self.refresh_lines()
        elif (
            self.view != "open"
            or (pages < 0 and self.unit_pane.read_on)
            or not self.sheet_pane.item_pane.read_on(pages)
        ):
            self.unit_pane.scroll(pages)
