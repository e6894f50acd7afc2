"""The page that a rater sees after handing in a unit: derived values, right answers, judges' answers."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from lab.studies.judges_beside import JudgeAnswer
from lab.studies.rating_session import HandedIn, RatingSession
from lab.studies.sheet_wording import Wording
from screens.annotate.sheet_text import judges_content, result_content


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
