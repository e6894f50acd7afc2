"""The sheet of one unit: items answered by digits and Enter, each answer on the disk before it is shown."""

from __future__ import annotations

from typing import Any

from textual import events, on

from lab.errors import LabError
from lab.labels import Spot
from lab.study import Missing
from screens.annotate.desk import next_open
from screens.annotate.entry import Line
from screens.annotate.keying import ascii_digit
from screens.annotate.menu import Menu
from screens.annotate.others import FLAG, MISS, SURE, always, others_of, sures
from screens.annotate.pane import OpenSheet
from screens.annotate.rows import Options
from screens.annotate.typed import hint_of, typed_value, words_of
from screens.lines import Lines

Region = tuple[int, int, int, int]


class SheetPane(OpenSheet):
    """A desk's sheet with all that answers it; used in Annotate, and after a run that was played.

    Whoever holds it calls `open` once the desk has a unit, says by `looked` what is shown beside it, and hears of
    answers, of what is wanted and of the sheet's being handed in by messages.
    """

    # -- answering -------------------------------------------------------------------------------------------

    def give(self, value: Any = None, *, missing: Missing | None = None) -> bool:
        """Answers the current item and goes on to the next that is open; False where that is refused."""
        item, desk = self.item, self.at_desk
        if item is None:
            return False
        spot = item.spot
        assert desk.sheet is not None
        head = desk.sheet.head(spot)
        beside: dict[str, Any] = {"note": head.note, "confidence": head.confidence} if head is not None else {}
        if item.field.evidence and self.place and missing is None:
            beside["evidence"] = self.place
        elif head is not None:
            beside |= {"evidence": head.evidence, "region": head.region}
        beside |= self._waiting(spot)
        if not self._answer(spot, value, missing, beside):
            return False
        for key in [key for key in self.drafts if key[0] == spot]:
            del self.drafts[key]
        self._on_from(spot)
        return True

    def _on_from(self, spot: Spot) -> None:
        """To the next open item after a place."""
        assert self.at_desk.sheet is not None
        after = next_open(self.at_desk.sheet, spot)
        self.renew()
        self.go(after)
        self._kept = (after, self.place, dict(self.drafts)) if not self.drafts else self._kept

    def _waiting(self, spot: Spot) -> dict[str, Any]:
        """What was said of a place before its answer."""
        waiting = {kind: words for (at, kind), words in self.drafts.items() if at == spot}
        beside: dict[str, Any] = {name: waiting[name] for name in ("note", "evidence") if name in waiting}
        if "confidence" in waiting:
            beside["confidence"] = float(waiting["confidence"])
        if "region" in waiting:
            beside["region"] = tuple(int(part) for part in waiting["region"].split(","))
        return beside

    def _answer(self, spot: Spot, value: Any, missing: Missing | None, beside: dict[str, Any]) -> bool:
        """Keeps it, signed with how it came about; what is refused is said here, and nothing changes."""
        keying = self.keying
        idle = max(0.0, self.pace.away - keying.away) * 1000
        times: dict[str, Any] = {"shown_at": keying.shown_at, "first_key_at": keying.first_key_at, "idle_ms": idle}
        try:
            label = self.at_desk.answer(spot, value, missing=missing, **times, **beside)
        except LabError as error:
            self.keying.digits = ""
            self.say(error.said)
            return False
        self.keying.shown_at = None
        self.post_message(self.Answered(label))
        return True

    def again(self, **changed: Any) -> None:
        """Adds to the answer that stands, or to the one that is to come."""
        item, desk = self.item, self.at_desk
        if item is None:
            return
        assert desk.sheet is not None
        head = desk.sheet.head(item.spot)
        if head is None:
            for name, value in changed.items():
                words = ",".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
                self.drafts[item.spot, name] = words
            self._settle()
        else:
            names = ("note", "confidence", "evidence", "region")
            beside = {name: getattr(head, name) for name in names} | changed
            self._answer(item.spot, head.value, head.reason_missing, beside)
        self.renew()
        self._current()

    # -- keys ------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """A digit is a digit in whatever width an input method writes it; letters of options choose them."""
        self.pace.touch()
        if self.typing or not self.items.has_focus:
            return
        digit = ascii_digit(event.character)
        if digit is not None:
            event.stop()
            self.action_digit(digit, composed=True)
        elif event.character and self.item is not None and self.keying.way(self.item) == "choice":
            found = [one for one in self.way.choices(self.item) if one.letter and one.letter == event.character]
            if found:
                event.stop()
                self.keying.touch(self.clock.now())
                self.give(found[0].value)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done on this line; nothing while something is typed."""
        if self.desk is None or self.desk.sheet is None or self.typing:
            return False
        if self.menu.display and action in ("on", "digit"):
            return False
        if action in ("missing", "note", "confidence", "evidence", "region", "to_evidence", "type", "full", "drop"):
            return self.item is not None
        return True

    def action_digit(self, digit: int, *, composed: bool = False) -> None:
        """An option, a digit of a scale, or the first of what is typed; 0 shows the other answers elsewhere."""
        item = self.item
        if item is None:
            if digit == 0:
                self.action_other()
            return
        self.keying.touch(None if composed else self.clock.now())
        match self.keying.take(item, self.way.choices(item), str(digit)):
            case "menu":
                self.action_other()
            case "type":
                self.type_answer(str(digit))
            case "wait":
                self.say("")
            case ("give", value):
                self.give(value)
            case ("wrong", str(words)):
                self.say(words)

    def action_on(self) -> None:
        """Enter: what was begun is given; an open item shows the other answers; else on, and at last handed in."""
        item, desk = self.item, self.at_desk
        assert desk.sheet is not None
        if item is None:
            self.hand_in()
            return
        answered = desk.sheet.head(item.spot) is not None
        match self.keying.enter(item, self.way.choices(item), answered):
            case ("give", value):
                self.give(value)
            case ("wrong", str(words)):
                self.say(words)
            case "menu":
                self.action_other()
            case "type":
                self.type_answer()
            case "shown":
                self._give_shown()
            case _ if answered:
                self.go(next_open(desk.sheet, item.spot))
            case _:
                self.items.action_move(1)

    def _give_shown(self) -> None:
        """The step that is shown is the answer."""
        step = self.place.rpartition("@")[2]
        if step.isdecimal():
            self.keying.touch(self.clock.now())
            self.give(int(step))
        else:
            self.type_answer()

    # -- other answers ---------------------------------------------------------------------------------------

    def action_other(self) -> None:
        """Shows what else may be said of the item."""
        desk, item = self.at_desk, self.item
        assert desk.sheet is not None
        self.keying.digits = ""
        entries = always() if item is None else others_of(self.way, desk.sheet, item, self.place)
        self.menu.open("Other answers", entries)
        self._turned()

    @on(Menu.Picked)
    async def _picked(self, message: Menu.Picked) -> None:
        message.stop()
        self.menu.close()
        self.items.focus()
        kind, _, rest = message.id.partition(" ")
        if kind in ("missing", "flag", "sure"):
            self.keying.touch(self.clock.now())
        match f"{kind} ":
            case x if x == MISS:
                self.action_missing(rest)  # type: ignore[arg-type]
            case x if x == FLAG:
                self.raise_flag(rest)
            case x if x == SURE:
                self.again(confidence=float(rest))
        await self._run(message.id)
        self._turned()

    async def _run(self, id: str) -> None:
        match id:
            case "shown":
                self._give_shown()
            case "draw":
                self.draw("answer")
            case "guide":
                self.post_message(self.Wanted("guide"))
            case "full" | "type" | "note" | "confidence" | "evidence" | "region" | "to_evidence" | "undo":
                await self.run_action(id)

    def action_missing(self, reason: Missing) -> None:
        """No answer, for a reason."""
        self.keying.touch(self.clock.now())
        self.give(missing=reason)

    def raise_flag(self, id: str) -> None:
        """A flag beside the answer is raised, or taken back."""
        item, desk = self.item, self.at_desk
        if item is None:
            return
        assert desk.sheet is not None
        spot = Spot(item.spot.target, id)
        if self._answer(spot, not desk.sheet.value(spot), None, {}):
            self.renew()
            self._current()

    def action_full(self) -> None:
        """The top of a scale."""
        item = self.item
        if item is not None and item.field.kind == "interval" and item.field.most is not None:
            self.keying.touch(self.clock.now())
            most = item.field.most
            self.give(int(most) if float(most).is_integer() and (item.field.step or 1) >= 1 else most)

    def action_drop(self) -> None:
        """Takes the digit back that waits for another."""
        self.keying.digits = ""
        self.say("")

    def action_confidence(self) -> None:
        """Asks how sure."""
        self.menu.open("How sure", sures())
        self._turned()

    # -- what an answer rests on -----------------------------------------------------------------------------

    def action_evidence(self) -> None:
        """The answer rests on the step that is shown."""
        if not self.place:
            self.say("No step is shown here.")
            return
        self.keying.touch(self.clock.now())
        self.again(evidence=self.place, region=None)

    def action_to_evidence(self) -> None:
        """Goes to the step that the answer rests on."""
        item, desk = self.item, self.at_desk
        if item is None:
            return
        assert desk.sheet is not None
        head = desk.sheet.head(item.spot)
        place = self.drafts.get((item.spot, "evidence")) or (head.evidence if head is not None else None)
        if place:
            self.post_message(self.Wanted("place", place))
        else:
            self.say("This answer rests on no step.")

    def action_region(self) -> None:
        """The next drag on the phone is what the answer rests on."""
        item = self.item
        self.draw("answer" if item is not None and item.field.kind == "box" else "region")

    def draw(self, what: str) -> None:
        """Waits for a drag."""
        if not self.place:
            self.say("No step is shown here.")
            return
        self.drawing = what
        self.post_message(self.Wanted("region"))

    def take_region(self, place: str, region: Region) -> None:
        """A region was dragged at a place."""
        self.keying.touch(self.clock.now())
        what, self.drawing = self.drawing, ""
        if what == "answer":
            self.drafts[self.keying.spot or Spot("", ""), "evidence"] = place
            self.give(list(region))
        elif what == "region":
            self.again(evidence=place, region=region)

    # -- typing ----------------------------------------------------------------------------------------------

    def action_type(self) -> None:
        """Opens the line for the answer."""
        self.type_answer()

    def type_answer(self, begun: str = "") -> None:
        """Opens the line for the answer, after what was typed there before; `begun` is its first character."""
        item, desk = self.item, self.at_desk
        if item is None:
            return
        assert desk.sheet is not None
        said = self.drafts.get((item.spot, "answer")) or words_of(desk.sheet.value(item.spot))
        self._open_line("answer", "Your answer", begun or said, hint_of(item.field), fresh=not begun)

    def action_note(self) -> None:
        """Opens the line for a note."""
        item, desk = self.item, self.at_desk
        if item is None:
            return
        assert desk.sheet is not None
        head = desk.sheet.head(item.spot)
        said = self.drafts.get((item.spot, "note")) or (head.note if head is not None else "")
        self._open_line("note", "Note", said, "a note with this answer")

    def _open_line(self, what: str, title: str, words: str, hint: str, *, fresh: bool = True) -> None:
        self.typing = what
        line = self.line
        line.open(title, words, hint)
        if not fresh:
            line.begin(self.keying.first_key_at)
        self._turned()

    @on(Line.Ended)
    def _ended(self, message: Line.Ended) -> None:
        """Enter: what was typed is kept."""
        message.stop()
        line, item = self.line, self.item
        if item is None:
            return
        if self.typing == "note":
            self.close_line()
            self.drafts.pop((item.spot, "note"), None)
            self.again(note=line.text.strip())
        elif not line.text.strip() and not item.field.required:
            self.close_line()
            self.items.action_move(1)
        elif not self._give_typed(line):
            return
        self.items.focus()
        self._turned()

    def _give_typed(self, line: Line) -> bool:
        assert self.item is not None
        try:
            value = typed_value(self.item.field, line.text)
        except LabError as error:
            self.say(error.message)
            return False
        if line.begun:
            self.keying.begun, self.keying.first_key_at = True, line.first_key_at
        if not self.give(value):
            return False
        self.typing = ""
        line.close()
        return True

    @on(Line.Left)
    def _left(self, message: Line.Left) -> None:
        message.stop()
        self.close_line()
        self.items.focus()
        if message.by:
            self.items.action_move(message.by)
        self.say("")
        self._settle()
        self._turned()

    @on(Line.Changed)
    def _typed(self, message: Line.Changed) -> None:
        message.stop()
        if self.typing:
            self._settle()

    def _turned(self) -> None:
        """The keys lead elsewhere now."""
        self.refresh_bindings()
        self.post_message(self.At(self.item))

    # -- by mouse --------------------------------------------------------------------------------------------

    @on(Options.Picked)
    def _clicked(self, message: Options.Picked) -> None:
        message.stop()
        item = self.item
        if item is None:
            return
        self.items.focus()
        self.keying.touch(self.clock.now())
        value = next(one.value for one in self.way.choices(item) if one.key == message.key)
        self.give(value)

    @on(Lines.Chosen, "#items")
    def _chosen(self, message: Lines.Chosen) -> None:
        message.stop()
        self.action_on()

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
        self.renew()
        self.keying.shown_at = None
        self.go(Spot(label.target, label.field))
        self.post_message(self.Answered(label))

    def hand_in(self) -> None:
        """Hands the unit in, or goes to the first item that is open."""
        desk = self.at_desk
        assert desk.sheet is not None
        if desk.sheet.unanswered and not desk.sheet.committed:
            left = len(desk.sheet.unanswered)
            self.go(next_open(desk.sheet, None))
            self.say(f"{left} open: answer or skip {'it' if left == 1 else 'them'} first.")
            return
        try:
            handed = desk.commit()
        except LabError as error:
            self.say(error.said)
            return
        self.renew()
        self.post_message(self.HandedIn(handed))
