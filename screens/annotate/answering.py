"""Answers of a sheet as they are kept: signed with how they came about, beside what goes with them, taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lab.core.errors import LabError
from lab.core.label import Label, Missing
from lab.core.rating_sheet import FieldReference
from lab.studies.rating_session import next_open
from lab.studies.sheet_items import NOT_SEEN, SheetItem
from screens.annotate.sheet_view import SheetView


class AnswerEditor:
    """Gives answers on a sheet, adds to them and takes them back; each is on the disk before it is shown."""

    def __init__(self, view: SheetView) -> None:
        self.view = view

    def give(self, value: Any = None, *, missing: Missing | None = None) -> bool:
        """Answers the current item and goes on to the next that is open; False where that is refused."""
        item = self.view.item
        if item is None:
            return False
        if value is NOT_SEEN:
            value, missing = None, "cannot_judge"
        spot = item.spot
        if (clash := self.view.sheet.clashes.get(spot)) is not None:
            word = next((label for label in clash if (label.value, label.reason_missing) == (value, missing)), None)
            if word is not None:
                return self.settle(word)
        head = self.view.sheet.head(spot) if clash is None else None  # what is neither answer takes nothing from either
        beside: dict[str, Any] = {"note": head.note, "cites": head.cites, "confidence": head.confidence} if head else {}
        place = self._place_of(item)
        if item.field.evidence and place and missing is None:
            beside["evidence"] = place
        elif head is not None:
            beside |= {"evidence": head.evidence, "region": head.region}
        beside |= self._waiting(spot)
        if not self.kept(spot, value, missing, beside):
            return False
        for key in [key for key in self.view.drafts if key[0] == spot]:
            del self.view.drafts[key]
        self._on_from(spot)
        return True

    def settle(self, word: Label) -> bool:
        """Of the answers that clash at a place this one stands; goes on to the next that is open."""
        spot = FieldReference(word.target, word.field)
        if not self._done(lambda times: self.view.rating.settle(word, **times)):
            return False
        self._on_from(spot)
        if self.view.sheet.committed and not self.view.sheet.clashes:
            self.view.post_message(self.view.Settled())
        return True

    def _place_of(self, item: SheetItem) -> str:
        """What an answer to an item rests on: of a step that step, whatever is shown yet; else what is shown."""
        unit = self.view.rating.unit
        if item.target is not None and item.target.step is not None and unit is not None and unit.runs:
            return f"{unit.runs[0]}@{item.target.step + 1}"
        return self.view.place

    def _on_from(self, spot: FieldReference) -> None:
        """To the next open item after a place."""
        self.view.items.show(self.view.sheet, self.view.way)
        self.view.go_on(spot)

    def _waiting(self, spot: FieldReference) -> dict[str, Any]:
        """What was said of a place before its answer."""
        waiting = {kind: words for (at, kind), words in self.view.drafts.items() if at == spot}
        beside: dict[str, Any] = {name: waiting[name] for name in ("note", "cites", "evidence") if name in waiting}
        if "confidence" in waiting:
            beside["confidence"] = float(waiting["confidence"])
        if "region" in waiting:
            beside["region"] = tuple(int(part) for part in waiting["region"].split(","))
        return beside

    def kept(self, spot: FieldReference, value: Any, missing: Missing | None, beside: dict[str, Any]) -> bool:
        """Keeps it, signed with how it came about; what is refused is said here, and nothing changes."""
        return self._done(lambda times: self.view.rating.answer(spot, value, missing=missing, **times, **beside))

    def _done(self, keeps: Callable[[dict[str, Any]], Label]) -> bool:
        keying = self.view.keying
        times = {"shown_at": keying.shown_at, "first_key_at": keying.first_key_at, "idle_ms": self.view.idle_ms}
        try:
            label = keeps(times)
        except LabError as error:
            self.view.keying.digits = ""
            self.refused(error)
            return False
        self.view.keying.shown_at = None
        self.view.post_message(self.view.Answered(label))
        return True

    def again(self, **changes: Any) -> None:
        """Adds to the answer that stands, or to the one that is to come."""
        item = self.view.item
        if item is None:
            return
        if item.spot in self.view.sheet.clashes:
            self.view.say(self.view.way.sheet("_two_words", len(self.view.sheet.clashes[item.spot])))
            return
        head = self.view.sheet.head(item.spot)
        if head is None:
            for name, value in changes.items():
                words = ",".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
                if words:
                    self.view.drafts[item.spot, name] = words
                else:
                    self.view.drafts.pop((item.spot, name), None)
            self.view.keep_soon()
            self.view.post_message(self.view.Turned())
        else:
            names = ("note", "cites", "confidence", "evidence", "region")
            beside = {name: getattr(head, name) for name in names} | changes
            if not self.kept(item.spot, head.value, head.reason_missing, beside):
                return
        self.view.renew()
        self.view.begin_item()

    def raise_flag(self, id: str) -> None:
        """A flag beside the answer is raised, or taken back."""
        item = self.view.item
        if item is None:
            return
        spot = FieldReference(item.spot.target, id)
        if spot in self.view.sheet.clashes:
            self.view.say(self.view.way.sheet("_two_words", len(self.view.sheet.clashes[spot])))
            return
        if self.kept(spot, not self.view.sheet.value(spot), None, {}):
            self.view.renew()
            self.view.begin_item()

    def give_most(self) -> None:
        """Answers by the top of a scale."""
        item = self.view.item
        if item is not None and item.field.kind == "interval" and item.field.most is not None:
            self.view.keying.touch(self.view.clock.now())
            most = item.field.most
            self.give(int(most) if float(most).is_integer() and (item.field.step or 1) >= 1 else most)

    def refused(self, error: LabError) -> None:
        """Says why nothing was kept; what another window of this rater kept meanwhile is shown from now on."""
        try:
            taken_up = self.take_up()
        except LabError:
            taken_up = False
        if not taken_up:
            self.view.say(error.body)
        elif not self.view.sheet.committed:
            self.view.say(f"{self.view.way.sheet('_taken_up')} {self.view.way.sheet('_not_kept')}")

    def take_up(self) -> bool:
        """Shows what another window of this rater kept of this unit; False where it kept nothing."""
        view = self.view
        was = view.sheet.committed
        if not view.rating.take_up():
            return False
        view.items.show(view.sheet, view.way)
        view.items.changed()
        if view.sheet.committed and not was:
            view.close_line()
            view.go(None)
        else:
            view.go(view.keying.spot if view.keying.spot in view.sheet.spots else next_open(view.sheet, None))
        view.say(view.way.sheet("_is_handed_in_there" if view.sheet.committed and not was else "_taken_up"))
        view.turned()
        return True

    # -- back, and in ----------------------------------------------------------------------------------------

    def undo(self) -> None:
        """Takes the newest answer back and goes there; where there is none, the room may know more."""
        self.view.close_line()
        try:
            label = self.view.rating.undo()
        except LabError as error:
            self.refused(error)
            return
        if label is None:
            self.view.post_message(self.view.Wanted("undo"))
            return
        self.view.items.show(self.view.sheet, self.view.way)
        self.view.keying.shown_at = None
        self.view.go(FieldReference(label.target, label.field))
        self.view.post_message(self.view.Answered(label))

    def hand_in(self) -> None:
        """Hands the unit in, or goes to the first item that is open; what is handed in already is left."""
        if self.view.sheet.committed:
            self.view.post_message(self.view.Settled())
            return
        if self.view.sheet.unanswered:
            open_count = len(self.view.sheet.unanswered)
            self.view.go(self.view.sheet.unanswered[0])
            self.view.say(f"{open_count} open: answer or skip {'it' if open_count == 1 else 'them'} first.")
            return
        try:
            handed = self.view.rating.commit()
        except LabError as error:
            self.refused(error)
            return
        self.view.renew()
        self.view.slip.begin()
        self.view.post_message(self.view.HandedIn(handed))
