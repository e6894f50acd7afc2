"""Answers of a sheet as they are kept: signed with how they came about, beside what goes with them, taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lab.errors import LabError
from lab.label import Label, Missing
from lab.labels import Spot
from screens.annotate.desk import next_open
from screens.annotate.items import Item
from screens.annotate.pane import OpenSheet


class AnsweredSheet(OpenSheet):
    """A sheet in which answers are given, added to and taken back; each is on the disk before it is shown."""

    def give(self, value: Any = None, *, missing: Missing | None = None) -> bool:
        """Answers the current item and goes on to the next that is open; False where that is refused."""
        item = self.item
        if item is None:
            return False
        spot = item.spot
        if (clash := self.sheet.clashes.get(spot)) is not None:
            word = next((one for one in clash if (one.value, one.reason_missing) == (value, missing)), None)
            if word is not None:
                return self.settle(word)
        head = self.sheet.head(spot) if clash is None else None  # what is neither answer takes nothing from either
        beside: dict[str, Any] = {"note": head.note, "cites": head.cites, "confidence": head.confidence} if head else {}
        place = self._place_of(item)
        if item.field.evidence and place and missing is None:
            beside["evidence"] = place
        elif head is not None:
            beside |= {"evidence": head.evidence, "region": head.region}
        beside |= self._waiting(spot)
        if not self.kept(spot, value, missing, beside):
            return False
        for key in [key for key in self.drafts if key[0] == spot]:
            del self.drafts[key]
        self._on_from(spot)
        return True

    def settle(self, word: Label) -> bool:
        """Of the answers that clash at a place this one stands; goes on to the next that is open."""
        spot = Spot(word.target, word.field)
        if not self._done(lambda timed: self.at_desk.settle(word, **timed)):
            return False
        self._on_from(spot)
        if self.sheet.committed and not self.sheet.clashes:
            self.post_message(self.Settled())
        return True

    def _place_of(self, item: Item) -> str:
        """What an answer to an item rests on: of a step that step, whatever is shown yet; else what is shown."""
        unit = self.at_desk.unit
        if item.target is not None and item.target.step is not None and unit is not None and unit.runs:
            return f"{unit.runs[0]}@{item.target.step + 1}"
        return self.place

    def _on_from(self, spot: Spot) -> None:
        """To the next open item after a place."""
        after = next_open(self.sheet, spot)
        self.items.show(self.sheet, self.way)
        self.go(after)

    def _waiting(self, spot: Spot) -> dict[str, Any]:
        """What was said of a place before its answer."""
        waiting = {kind: words for (at, kind), words in self.drafts.items() if at == spot}
        beside: dict[str, Any] = {name: waiting[name] for name in ("note", "cites", "evidence") if name in waiting}
        if "confidence" in waiting:
            beside["confidence"] = float(waiting["confidence"])
        if "region" in waiting:
            beside["region"] = tuple(int(part) for part in waiting["region"].split(","))
        return beside

    def kept(self, spot: Spot, value: Any, missing: Missing | None, beside: dict[str, Any]) -> bool:
        """Keeps it, signed with how it came about; what is refused is said here, and nothing changes."""
        return self._done(lambda timed: self.at_desk.answer(spot, value, missing=missing, **timed, **beside))

    def _done(self, keeps: Callable[[dict[str, Any]], Label]) -> bool:
        keying = self.keying
        idle = max(0.0, self.pace.away - keying.away) * 1000
        try:
            label = keeps({"shown_at": keying.shown_at, "first_key_at": keying.first_key_at, "idle_ms": idle})
        except LabError as error:
            self.keying.digits = ""
            self.say(error.said)
            return False
        self.keying.shown_at = None
        self.post_message(self.Answered(label))
        return True

    def again(self, **changed: Any) -> None:
        """Adds to the answer that stands, or to the one that is to come."""
        item = self.item
        if item is None:
            return
        if item.spot in self.sheet.clashes:
            self.say(self.way.sheet("_two_words", len(self.sheet.clashes[item.spot])))
            return
        head = self.sheet.head(item.spot)
        if head is None:
            for name, value in changed.items():
                words = ",".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
                if words:
                    self.drafts[item.spot, name] = words
                else:
                    self.drafts.pop((item.spot, name), None)
            self._settle()
        else:
            names = ("note", "cites", "confidence", "evidence", "region")
            beside = {name: getattr(head, name) for name in names} | changed
            if not self.kept(item.spot, head.value, head.reason_missing, beside):
                return
        self.renew()
        self._current()

    def raise_flag(self, id: str) -> None:
        """A flag beside the answer is raised, or taken back."""
        item = self.item
        if item is None:
            return
        spot = Spot(item.spot.target, id)
        if spot in self.sheet.clashes:
            self.say(self.way.sheet("_two_words", len(self.sheet.clashes[spot])))
            return
        if self.kept(spot, not self.sheet.value(spot), None, {}):
            self.renew()
            self._current()

    def action_missing(self, reason: Missing) -> None:
        """No answer, for a reason."""
        self.keying.touch(self.clock.now())
        self.give(missing=reason)

    def action_full(self) -> None:
        """The top of a scale."""
        item = self.item
        if item is not None and item.field.kind == "interval" and item.field.most is not None:
            self.keying.touch(self.clock.now())
            most = item.field.most
            self.give(int(most) if float(most).is_integer() and (item.field.step or 1) >= 1 else most)

    # -- back, and in ----------------------------------------------------------------------------------------

    def action_undo(self) -> None:
        """Takes the newest answer back and goes there; where there is none, the room may know more."""
        self.close_line()
        try:
            label = self.at_desk.undo()
        except LabError as error:
            self.say(error.said)
            return
        if label is None:
            self.post_message(self.Wanted("undo"))
            return
        self.items.show(self.sheet, self.way)
        self.keying.shown_at = None
        self.go(Spot(label.target, label.field))
        self.post_message(self.Answered(label))

    def hand_in(self) -> None:
        """Hands the unit in, or goes to the first item that is open; what is handed in already is left."""
        desk = self.at_desk
        if self.sheet.committed:
            self.post_message(self.Settled())
            return
        if self.sheet.unanswered:
            left = len(self.sheet.unanswered)
            self.go(next_open(self.sheet, None))
            self.say(f"{left} open: answer or skip {'it' if left == 1 else 'them'} first.")
            return
        try:
            handed = desk.commit()
        except LabError as error:
            self.say(error.said)
            return
        self.renew()
        self.post_message(self.HandedIn(handed))
