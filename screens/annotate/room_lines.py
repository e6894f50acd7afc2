"""The status lines of the Annotate screen: the rater's place in the study above, the present keys below."""

from __future__ import annotations

from typing import Literal

from textual.content import Content

from lab.core.task.task import Actor
from lab.studies.rating.rating_session import RatingSession
from screens.annotate.attendance import StudyAttendance
from screens.annotate.introduction import IntroductionCourse
from screens.annotate.introduction_words import translated
from screens.annotate.sheet import SheetPane
from screens.annotate.sheet_text import introduction_title, title_words
from screens.annotate.study_list import DealtStudies
from screens.key_names import with_keys
from screens.widgets.status_line import StatusLine
from screens.widgets.text_page import TextPage

View = Literal["shelf", "read", "open", "told", "over"]
"""View of the screen: the studies, a page of the introduction, a unit beside its sheet, its results, or a sentence."""
_TO_STUDIES = "{annotate.back}: back to the studies."
_DRAWING = "Arrows: thing by thing   Shift+arrows: size   {region.take}: take it   {annotate.back}: leave it"


class AnnotateLines:
    """The two status lines, painted from the screen's widgets."""

    def __init__(
        self,
        person: Actor,
        shelf: DealtStudies,
        pane: SheetPane,
        page: TextPage,
        introduction: IntroductionCourse,
        attendance: StudyAttendance,
    ) -> None:
        self.above, self.below = StatusLine("annotate-title"), StatusLine("annotate-state")
        self._person, self._shelf, self._pane, self._page = person, shelf, pane, page
        self._introduction, self._attendance = introduction, attendance

    def paint(self, view: View, seat: str, width: int, *, takes_back: bool) -> None:
        """Paint both lines for a width in columns.

        `takes_back` is True if the unit that was handed in last may be reopened.
        """
        self.above.say(Content(self._title_line(view, seat, width)))
        self.below.say(Content(self._state_line(view, takes_back)))

    # -- above -----------------------------------------------------------------------------------------------

    def _title_line(self, view: View, seat: str, width: int) -> str:
        session = self._attendance.session
        if session is not None and (view == "read" or session.practice is not None):
            return introduction_title(session, seat, view == "read", width)
        if session is None or session.assignment is None:
            return f"Annotate   {self._person.id}, {seat}"
        attendance, place = self._attendance, session.assignment
        settling = session.sheet is not None and session.sheet.committed and bool(session.sheet.clashes)
        stage = "settle" if settling else place.stage
        progress = attendance.progress._replace(at=place.position + 1)
        return title_words(session.study, stage, progress, self._person.id, seat, attendance.pace, width)

    # -- below -----------------------------------------------------------------------------------------------

    def _state_line(self, view: View, takes_back: bool) -> str:
        session = self._attendance.session
        practises = session is not None and session.practice is not None
        if session is None or (session.assignment is None and not practises and view != "read"):
            return self._shelf.next_words() if view == "shelf" else with_keys(self._page, _TO_STUDIES)
        if view == "read":
            return self._introduction.state(bool(self._page.lines_below))
        if view == "told" and practises:
            return with_keys(self._page, translated(session.locale, "state.first"))
        if view == "told":
            back = "   {annotate.reopen}: take it back." if takes_back else ""
            return with_keys(self._page, f"{self._break_reminder}{{annotate.onward}}: on to the next.{back}")
        if view == "over":
            return with_keys(self._page, _TO_STUDIES)
        if self._pane.drawing:
            return with_keys(self._page, _DRAWING)
        return self._sheet_state(session)

    def _sheet_state(self, session: RatingSession) -> str:
        """Return the line for an open sheet: what it takes next, and what is saved."""
        pane = self._pane
        practises = session.practice is not None
        kept_words = "" if pane.typing or pane.menu.display else f"   {self._saved_words(session)}"
        return f"{'' if practises else self._break_reminder}{pane.next_words}{kept_words}"

    def _saved_words(self, session: RatingSession) -> str:
        return translated(session.locale, "counts nowhere") if session.practice is not None else self._pane.saved

    @property
    def _break_reminder(self) -> str:
        """Reminder that a break is due, placed first, empty if none is."""
        minutes = self._attendance.break_due
        return f"{minutes} minutes without a break: a good moment for one.   " if minutes else ""
