"""The introduction before a rater's first item: guide, keys, and one practice item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.message import Message
from textual.screen import Screen

from lab.core.errors import LabError
from lab.core.study.protocol import Protocol
from lab.core.text.plain_text import plain
from lab.studies.rating.introduction import Introduction, Part
from lab.studies.rating.practice import PracticeItem, practice_item
from lab.studies.rating.practice_sheet import PracticeSheet
from lab.studies.rating.rating_session import HandedIn, RatingSession
from screens.annotate.guide import guide_of
from screens.annotate.introduction_words import translated
from screens.key_names import with_keys
from screens.theme import ACCENT, HEADING, MUTED, SUCCESS, WARNING

if TYPE_CHECKING:
    from store.store import Store

_COLUMN = 12
"""Width of the column of keys."""


class IntroductionCourse:
    """The remaining introduction of the study that is open in `owner`, and its practice item.

    The practice run is made off the UI thread while the person reads the guide. `ItemReady` reports it.
    """

    @dataclass
    class ItemReady(Message):
        """Message: the practice item is made, or None if that failed, with the reason in `why`."""

        serial: int
        item: PracticeItem | None
        why: str = ""

    def __init__(self, owner: Screen[Any], store: Store) -> None:
        self._owner = owner
        self._store = store
        self._serial = 0
        self._introduction: Introduction | None = None
        self._session: RatingSession | None = None
        self._parts: list[Part] = []
        self.item: PracticeItem | None = None
        self.why = ""
        """Reason why there is no practice item, empty if there is one, or it is being made."""

    def begin(self, session: RatingSession) -> None:
        """Begin the introduction of a study. Parts that the rater has seen before are left out."""
        self.end()
        self._session, self._introduction = session, Introduction(session)
        self._parts = [*self._introduction.due()]
        if "practice" in self._parts:
            serial = self._serial
            work = lambda: self._make_item(serial, session)  # noqa: E731
            self._owner.run_worker(work, thread=True, group="practice", exclusive=True)

    def end(self) -> None:
        """End the introduction, and close the practice item."""
        # A practice item still being made belongs to an older serial, so `take_item` discards it.
        self._serial += 1
        self._parts, self._session, self._introduction, self.why = [], None, None, ""
        if self.item is not None:
            self.item.close()
            self.item = None

    @property
    def part(self) -> Part | None:
        """The present part, or None if the first item comes now."""
        return self._parts[0] if self._parts else None

    @property
    def skippable(self) -> bool:
        """True if the rater may skip the rest."""
        return bool(self._parts) and self._introduction is not None and self._introduction.skippable

    # -- going through it ------------------------------------------------------------------------------------

    def page(self) -> tuple[str, Content]:
        """Return title and text of the present part. Record first that it is shown."""
        introduction, session, part = self._introduction, self._session, self.part
        assert introduction is not None
        assert session is not None
        if part == "practice":
            return translated(session.locale, "practice"), Content(self._waiting_words())
        assert part is not None
        introduction.record_shown(part)
        if part == "guide":
            return translated(session.locale, "guide"), guide_page(self._owner, session)
        return translated(session.locale, "keys"), keys_page(self._owner, session)

    def _waiting_words(self) -> str:
        locale = self._session.locale if self._session is not None else "en"
        return (
            translated(locale, "practice.none", why=plain(self.why))
            if self.why
            else translated(locale, "practice.wait")
        )

    def complete_part(self) -> bool:
        """Complete the present part. Return False if its practice item is still being made."""
        introduction, part = self._introduction, self.part
        assert introduction is not None
        if part == "practice":
            if not self.why:
                return False
            introduction.skip(self.why)
        elif part is not None:
            introduction.read(part)
        self._parts = self._parts[1:]
        return True

    def skip(self) -> None:
        """Skip the rest."""
        assert self._introduction is not None
        self._introduction.skip()
        self._parts = []

    def practise(self) -> PracticeItem | None:
        """Open the practice item in the rating session. Return None if it does not exist yet, or at all."""
        session, item = self._session, self.item
        if session is None or item is None:
            return None
        session.practise(PracticeSheet(self._store, session.study, session.person, item))
        return item

    def result_page(self, handed: HandedIn) -> Content:
        """Return the result above the right answers. The practice part is then complete."""
        locale = self._session.locale if self._session is not None else "en"
        self._parts = self._parts[1:]
        right, of = sum(comparison.right for comparison in handed.compared), len(handed.compared)
        key = "practice.right" if right == of else "practice.wrong"
        head = (translated(locale, key, right=right, of=of), SUCCESS if right == of else WARNING)
        return Content.assemble(head, "\n", (translated(locale, "practice.after"), MUTED), "\n\n")

    # -- what is said on the lines around ---------------------------------------------------------------------

    def state(self, more_below: bool) -> str:
        """Return a line about the present keys. With `more_below`, reading on comes first."""
        session = self._session
        if session is None:
            return ""
        following = self._parts[1] if len(self._parts) > 1 else "first"
        words = (
            []
            if self.part == "practice" and not self.why
            else [translated(session.locale, "state.read" if more_below else f"state.{following}")]
        )
        if self.skippable:
            words.append(translated(session.locale, "state.skip"))
        return with_keys(self._owner, "   ".join(words))

    # -- the practice item ------------------------------------------------------------------------------------

    def _make_item(self, serial: int, session: RatingSession) -> None:
        try:
            item = practice_item(self._store, session.study, session.locale)
        except LabError as error:
            self._owner.post_message(self.ItemReady(serial, None, error.sentence))
        else:
            # If the screen is gone, nobody else closes the item.
            if not self._owner.post_message(self.ItemReady(serial, item)) and item is not None:
                item.close()

    def take_item(self, message: ItemReady) -> bool:
        """Accept a practice item. Return False if the rater has left the study meanwhile."""
        if message.serial != self._serial:
            if message.item is not None:
                message.item.close()
            return False
        self.item, self.why = message.item, message.why
        return True


# -- pages -----------------------------------------------------------------------------------------------------


def guide_page(owner: Screen[Any], session: RatingSession) -> Content:
    """Return the guideline and the meaning of each answer, after a line about its purpose."""
    head = with_keys(owner, translated(session.locale, "guide.head"))
    return Content.assemble((head, ACCENT), "\n\n", guide_of(session.study.protocol, session.locale))


def keys_page(owner: Screen[Any], session: RatingSession) -> Content:
    """Return the most used keys, as bound now, and what they do."""
    locale = session.locale
    parts: list[Content | tuple[str, str] | str] = [
        (f"{with_keys(owner, translated(locale, 'keys.head'))}\n\n", ACCENT)
    ]
    for keys, key in _key_rows(session.study.protocol):
        does = with_keys(owner, translated(locale, key))
        name = with_keys(owner, keys)
        parts += [Content.styled(name, HEADING).pad_right(max(1, _COLUMN - Content(name).cell_length)), f"{does}\n"]
    return Content.assemble(*parts)


def _key_rows(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Yield pairs of keys and the text key of what they do, for those with an effect in such a study."""
    kinds = {field.kind for field in protocol.fields}
    runs = protocol.unit in ("run", "pair of runs", "step", "question") and {"screens", "actions"} & {*protocol.shows}
    if kinds & {"nominal", "ordinal"}:
        yield "{answer.1} {answer.2} ...", "keys.digits"
    if "interval" in kinds:
        yield "{answer.0} - {answer.9}", "keys.numbers"
    if "text" in kinds:
        yield "{answer.type}", "keys.typed"
    if runs:
        yield "{annotate.next_step} {annotate.previous_step}", "keys.steps"
    if protocol.unit == "pair of runs":
        yield "{annotate.side}", "keys.side"
    yield "{answer.next}", "keys.next"
    yield "{answer.other}", "keys.other"
    if any(field.evidence for field in protocol.fields):
        yield "{answer.evidence}", "keys.evidence"
    yield "{answer.undo}", "keys.undo"
    yield "{annotate.guide}", "keys.guide"
    yield "{annotate.scroll_down} {annotate.scroll_up}", "keys.read"
    if runs:
        yield "{annotate.header}", "keys.header"
        yield "{annotate.closely}", "keys.closely"
    yield "{annotate.back}", "keys.back"
