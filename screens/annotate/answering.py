"""Answers of a sheet: give them, add to them, take them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lab.core.errors import LabError
from lab.core.study.label import Label, Missing
from lab.core.study.rating_sheet import FieldReference
from lab.studies.rating.rating_session import next_open
from lab.studies.rating.sheet_items import NOT_SEEN, SheetItem
from screens.annotate.sheet_view import SheetView


class AnswerEditor:
    """Editor of a sheet's answers: give, add to, take back. Each is committed before it is shown."""

    def __init__(self, view: SheetView) -> None:
        self.view = view

    def give(self, value: Any = None, *, missing: Missing | None = None) -> bool:
        """Answer the current item and go to the next open one. Return False if the store refuses."""
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
        head = self.view.sheet.head(spot) if clash is None else None  # a third value inherits from neither clashing one
        beside: dict[str, Any] = {"note": head.note, "cites": head.cites, "confidence": head.confidence} if head else {}
        place = self._place_of(item)
        if item.field.evidence and place and missing is None:
            beside["evidence"] = place
        elif head is not None:
            beside |= {"evidence": head.evidence, "region": head.region}
        beside |= self._drafted_companions(spot)
        if not self.store(spot, value, missing, beside):
            return False
        for key in [key for key in self.view.drafts if key[0] == spot]:
            del self.view.drafts[key]
        self._go_on_from(spot)
        return True

    def settle(self, word: Label) -> bool:
        """Resolve a clash with this label, then move to the next open item."""
        spot = FieldReference(word.target, word.field)
        if not self._store_label(lambda times: self.view.open_session.settle(word, **times)):
            return False
        self._go_on_from(spot)
        if self.view.sheet.committed and not self.view.sheet.clashes:
            self.view.post_message(self.view.Settled())
        return True

    def _place_of(self, item: SheetItem) -> str:
        """Return the place of an item's evidence: its own step if it is about one, else what is shown."""
        unit = self.view.open_session.unit
        if item.target is not None and item.target.step is not None and unit is not None and unit.runs:
            return f"{unit.runs[0]}@{item.target.step + 1}"
        return self.view.place

    def _go_on_from(self, spot: FieldReference) -> None:
        """Go to the next open item after this one."""
        self.view.items.show(self.view.sheet, self.view.wording)
        self.view.go_on(spot)

    def _drafted_companions(self, spot: FieldReference) -> dict[str, Any]:
        """Return note, citation, evidence, confidence and region that were given before the answer."""
        waiting = {kind: words for (at, kind), words in self.view.drafts.items() if at == spot}
        beside: dict[str, Any] = {name: waiting[name] for name in ("note", "cites", "evidence") if name in waiting}
        if "confidence" in waiting:
            beside["confidence"] = float(waiting["confidence"])
        if "region" in waiting:
            beside["region"] = tuple(int(part) for part in waiting["region"].split(","))
        return beside

    def store(self, spot: FieldReference, value: Any, missing: Missing | None, beside: dict[str, Any]) -> bool:
        """Store an answer with its times. If the store refuses, show why and return False."""
        return self._store_label(
            lambda times: self.view.open_session.answer(spot, value, missing=missing, **times, **beside)
        )

    def _store_label(self, keeps: Callable[[dict[str, Any]], Label]) -> bool:
        keying = self.view.keying
        times = {"shown_at": keying.shown_at, "first_key_at": keying.first_key_at, "idle_ms": self.view.idle_ms}
        try:
            label = keeps(times)
        except LabError as error:
            self.view.keying.digits = ""
            self.report_refusal(error)
            return False
        # A later answer to the same item is timed from now on.
        self.view.keying.shown_at = None
        self.view.post_message(self.view.Answered(label))
        return True

    def change_companions(self, **changes: Any) -> None:
        """Change note, citation, evidence, confidence or region of the stored answer, or of the one to come."""
        item = self.view.item
        if item is None:
            return
        if item.spot in self.view.sheet.clashes:
            self.view.say(self.view.wording.sheet("_two_words", len(self.view.sheet.clashes[item.spot])))
            return
        head = self.view.sheet.head(item.spot)
        if head is None:
            for name, value in changes.items():
                words = ",".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
                if words:
                    self.view.drafts[item.spot, name] = words
                else:
                    self.view.drafts.pop((item.spot, name), None)
            self.view.store_place_soon()
            self.view.post_message(self.view.KeysChanged())
        else:
            names = ("note", "cites", "confidence", "evidence", "region")
            beside = {name: getattr(head, name) for name in names} | changes
            if not self.store(item.spot, head.value, head.reason_missing, beside):
                return
        self.view.renew()
        self.view.begin_item()

    def raise_flag(self, id: str) -> None:
        """Raise a flag beside the answer, or take it back."""
        item = self.view.item
        if item is None:
            return
        spot = FieldReference(item.spot.target, id)
        if spot in self.view.sheet.clashes:
            self.view.say(self.view.wording.sheet("_two_words", len(self.view.sheet.clashes[spot])))
            return
        if self.store(spot, not self.view.sheet.value(spot), None, {}):
            self.view.renew()
            self.view.begin_item()

    def give_most(self) -> None:
        """Answer with the top of a scale."""
        item = self.view.item
        if item is not None and item.field.kind == "interval" and item.field.most is not None:
            self.view.keying.touch(self.view.clock.now())
            # A whole number stays an int, as digits would give it.
            most = item.field.most
            self.give(int(most) if float(most).is_integer() and (item.field.step or 1) >= 1 else most)

    def report_refusal(self, error: LabError) -> None:
        """Show why nothing was stored, and what another window of this rater stored meanwhile."""
        # Another window of this rater may have answered meanwhile: show what it stored.
        try:
            taken_up = self.load_other_window()
        except LabError:
            taken_up = False
        if not taken_up:
            self.view.say(error.body)
        elif not self.view.sheet.committed:
            self.view.say(f"{self.view.wording.sheet('_taken_up')} {self.view.wording.sheet('_not_kept')}")

    def load_other_window(self) -> bool:
        """Show what another window of this rater stored for this unit. Return False if it stored nothing."""
        view = self.view
        was = view.sheet.committed
        if not view.open_session.refresh():
            return False
        view.items.show(view.sheet, view.wording)
        view.items.changed()
        if view.sheet.committed and not was:
            view.close_line()
            view.go(None)
        else:
            view.go(view.keying.spot if view.keying.spot in view.sheet.spots else next_open(view.sheet, None))
        view.say(view.wording.sheet("_is_handed_in_there" if view.sheet.committed and not was else "_taken_up"))
        view.update_keys()
        return True

    # -- back, and in ----------------------------------------------------------------------------------------

    def undo(self) -> None:
        """Take back the newest answer and go to it. If there is none, post `Requested("undo")` to the screen."""
        self.view.close_line()
        try:
            label = self.view.open_session.undo()
        except LabError as error:
            self.report_refusal(error)
            return
        if label is None:
            self.view.post_message(self.view.Requested("undo"))
            return
        self.view.items.show(self.view.sheet, self.view.wording)
        self.view.keying.shown_at = None
        self.view.go(FieldReference(label.target, label.field))
        self.view.post_message(self.view.Answered(label))

    def hand_in(self) -> None:
        """Hand the unit in, or go to its first open item. For a unit that is handed in already, post `Settled`."""
        if self.view.sheet.committed:
            self.view.post_message(self.view.Settled())
            return
        if self.view.sheet.unanswered:
            open_count = len(self.view.sheet.unanswered)
            self.view.go(self.view.sheet.unanswered[0])
            self.view.say(f"{open_count} open: answer or skip {'it' if open_count == 1 else 'them'} first.")
            return
        try:
            handed = self.view.open_session.commit()
        except LabError as error:
            self.report_refusal(error)
            return
        self.view.renew()
        self.view.slip.begin()
        self.view.post_message(self.view.UnitHandedIn(handed))
