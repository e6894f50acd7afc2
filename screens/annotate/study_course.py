"""Course of a rater through a study: the next part, results of a unit, and the unit that may be reopened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.content import Content
from textual.screen import Screen

from lab.core.settings import Settings
from lab.core.study.study import Assignment, Study
from lab.core.task.task import Actor
from lab.studies.judging.judges_beside import JudgeAnswer, judges_beside
from lab.studies.rating.practice import PracticeItem
from lab.studies.rating.rating_session import HandedIn, RatingSession, why_closed
from lab.studies.rating.sheet_wording import Wording
from screens.annotate.attendance import StudyAttendance
from screens.annotate.introduction import IntroductionCourse
from screens.annotate.introduction_words import translated
from screens.annotate.room_lines import View
from screens.annotate.sheet_text import judges_content, result_content
from screens.key_names import with_keys

if TYPE_CHECKING:
    from store.store import Store

_HELD = "The pilot is over, and fewer answers were right than this study asks for. "
_RELEASE = "Nothing more is asked until its designer releases you; {annotate.back} leads to the studies."


class CoursePage(NamedTuple):
    """Page in place of a sheet."""

    view: View
    title: str
    content: Content


def sentence_page(words: str) -> CoursePage:
    """Return a page with one sentence in place of a unit."""
    return CoursePage("over", "Study", Content(words))


class StudyCourse:
    """The study open in `owner`: its introduction, clashes to settle, units, and end."""

    def __init__(
        self,
        owner: Screen[Any],
        store: Store,
        settings: Settings,
        attendance: StudyAttendance,
        introduction: IntroductionCourse,
    ) -> None:
        self._owner = owner
        self._store = store
        self._person = Actor("human", settings.person)
        self._locale = settings.locale if settings.locale != "en" else ""
        self._attendance = attendance
        self._introduction = introduction
        self.study: Study | None = None
        """Open study, also when nothing of it is left."""
        self.held = False
        """True if the next unit waits until this person is released after the pilot."""
        self.last: Assignment | None = None
        """Unit handed in last, which may still be reopened."""

    @property
    def _session(self) -> RatingSession:
        session = self._attendance.session
        assert session is not None
        return session

    # -- sitting down and leaving ----------------------------------------------------------------------------

    def choose(self, study: Study | None) -> None:
        """Choose another study, or none. The last unit can then no longer be reopened."""
        self.study, self.last, self.held = study, None, False

    def begin(self) -> str:
        """Begin a session. Return why this person cannot rate in the study now, empty if they can."""
        assert self.study is not None
        session = RatingSession(self._store, self.study, self._person, locale=self._locale)
        if reason := self.why_closed():
            return reason
        self._attendance.begin(session)
        self._introduction.begin(session)
        return ""

    def why_closed(self) -> str:
        """Return in a sentence why this person cannot rate in the study now, empty if they can."""
        assert self.study is not None
        return why_closed(self._store, self.study, self._person.id)

    @property
    def released(self) -> bool:
        """True if this person was held, and has been released since."""
        return self.held and self.study is not None and not self._store.studies.is_held(self.study, self._person.id)

    def leave(self) -> None:
        """End the session, if any. The study stays open."""
        if self._attendance.session is not None:
            self._attendance.end()
        self._introduction.end()

    # -- going through it ------------------------------------------------------------------------------------

    def next_part(self) -> CoursePage | PracticeItem | None:
        """Return a page or the practice item, or None if the session has opened a unit instead.

        The introduction comes first, then clashes to settle, then open units.
        """
        session = self._session
        self._attendance.refresh_progress()
        self.held = False
        if self._introduction.part is not None:
            return self._introduction_part()
        if self._attendance.unsettled:
            session.open(self._attendance.unsettled.pop(0))
            return None
        following = session.next_assignment()
        if following is None:
            return sentence_page(self._all_done_sentence())
        if following.stage != "pilot" and self._store.studies.is_held(session.study, session.person.id):
            self.held = True
            return sentence_page(_HELD + with_keys(self._owner, _RELEASE))
        session.open(following)
        return None

    def _introduction_part(self) -> CoursePage | PracticeItem:
        """Return the present part of the introduction."""
        item = self._introduction.practise() if self._introduction.part == "practice" else None
        return item or CoursePage("read", *self._introduction.page())

    def _all_done_sentence(self) -> str:
        """Return the sentence that all units are handed in."""
        count = self._attendance.progress.done
        back = " {annotate.reopen} takes the last one back." if self.takes_back else ""
        words = f"All {count} are handed in. Thank you.{back} {{annotate.back}} leads back to the studies."
        return with_keys(self._owner, words)

    def hand_in(self, handed: HandedIn) -> CoursePage | None:
        """Count a unit as handed in, or end the practice.

        Return the page about it; None if there is nothing to show.
        """
        session = self._session
        assert session.sheet is not None
        if session.practice is not None:
            learned = practice_result(session, handed, self._introduction.result_page(handed))
            return CoursePage("told", translated(session.locale, "practice"), learned)
        self._attendance.pace.end_unit()
        self._attendance.refresh_progress()
        judges = judges_beside(session)
        # Whoever has seen right answers or judges' answers may no longer change their own.
        final = session.study.protocol.forward or handed.compared or judges
        self.last = None if final else session.assignment
        derived = session.derived(in_words=True)
        if not handed.compared and not derived and not judges:
            return None
        return CoursePage("told", *unit_result(session, handed, derived, judges))

    # -- taking back -----------------------------------------------------------------------------------------

    @property
    def takes_back(self) -> bool:
        """True if the unit handed in last may be reopened."""
        last, study = self.last, self.study  # without a session the study may still be open
        return last is not None and study is not None and (last.study, last.version) == (study.id, study.version)

    def open_last(self) -> bool:
        """Open the unit handed in last. Return False if there is none to reopen."""
        session, last = self._attendance.session, self.last
        if session is None or last is None:
            return False
        self.last = None
        if session.assignment != last:
            session.open(last)
        return True

    def take_back(self) -> None:
        """Reopen the open unit. Raise `LabError` if that is not possible."""
        self._session.reopen()
        self._attendance.refresh_progress()


def practice_result(session: RatingSession, handed: HandedIn, head: Content) -> Content:
    """Return the right answers of the practice item, below its `head`."""
    assert session.sheet is not None
    way = Wording(session.study.protocol, session.locale)
    return Content.assemble(head, result_content(way, session.sheet, handed, ()))


def unit_result(
    session: RatingSession, handed: HandedIn, derived: Sequence[tuple[str, str]], judges: Sequence[JudgeAnswer]
) -> tuple[str, Content]:
    """Return title and text of the page about a unit that was handed in."""
    assert session.sheet is not None
    way = Wording(session.study.protocol, session.locale, bool(session.assignment and session.assignment.swap))
    title = "What judges say" if judges else "What follows"
    learned = result_content(way, session.sheet, handed, derived)
    return "What is right" if handed.compared else title, Content.assemble(
        learned, judges_content(way, session.sheet, judges)
    )
