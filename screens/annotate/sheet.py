"""The sheet of one unit: items answered by digits and Enter, each answer on the disk before it is shown."""

from __future__ import annotations

from msgspec import convert
from textual import events, on

from lab.label import Missing
from screens.annotate.clashing import entries_of
from screens.annotate.desk import next_open
from screens.annotate.keying import ascii_digit
from screens.annotate.menu import Entry, Menu
from screens.annotate.others import always, others_of, sures
from screens.annotate.resting import TypedSheet
from screens.annotate.rows import Options
from screens.lines import Lines


class SheetPane(TypedSheet):
    """A desk's sheet with all that answers it; used in Annotate, and after a run that was played.

    Whoever holds it calls `open` once the desk has a unit, says by `looked` what is shown beside it, and hears of
    answers, of what is wanted and of the sheet's being handed in by messages.
    """

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
        if action in (
            "missing",
            "note",
            "cite",
            "confidence",
            "evidence",
            "region",
            "to_evidence",
            "type",
            "full",
            "drop",
        ):
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
        flag = next((one.value for one in self.way.flags(item) if one.key == str(digit)), None)
        if flag is not None and not self.keying.digits:
            self.raise_flag(flag)
            return
        if self.clash and self.keying.way(item) != "choice":
            self.action_other()
            return
        match self.keying.take(item, self.way.choices(item), str(digit)):
            case "menu":
                self.action_other()
            case "type":
                self.type_answer(str(digit))
            case "wait":
                self.say("")
                self.post_message(self.Turned())
            case ("give", value):
                self.keying.follows = self.give(value) and self.item is not None
            case ("wrong", str(words)):
                self.say(words)

    def action_on(self) -> None:
        """Enter: what was begun is given; an open item shows the other answers; else on, and at last handed in."""
        item = self.item
        if item is None:
            self.hand_in()
            return
        if self.clash and not self.keying.digits:
            self.action_other()
            return
        answered = self.sheet.head(item.spot) is not None
        match self.keying.enter(item, self.way.choices(item), answered):
            case ("give", value):
                self.give(value)
            case ("wrong", str(words)):
                self.say(words)
            case "menu" if self.keying.follows:
                self.keying.follows = False
                self.say("The item before is kept; this one is open.")
                self.post_message(self.Turned())
            case "menu":
                self.action_other()
            case "type":
                self.type_answer()
            case "shown":
                self._give_shown()
            case _ if answered:
                self.go(next_open(self.sheet, item.spot))
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

    def action_drop(self) -> None:
        """Takes the digit back that waits for another."""
        self.keying.digits = ""
        self.say("")

    # -- other answers ---------------------------------------------------------------------------------------

    def action_other(self) -> None:
        """Shows what else may be said of the item."""
        item = self.item
        self.keying.digits = ""
        entries = always() if item is None else others_of(self.way, self.sheet, item, self.place)
        if item is not None and self.clash:
            words = entries_of(self.way, self.sheet, item)
            self._open_menu("Which of your answers stands?", words if self.sheet.committed else [*words, *entries])
            return
        self._open_menu("Other answers", entries)

    @on(Menu.Picked)
    async def _picked(self, message: Menu.Picked) -> None:
        message.stop()
        self.menu.close()
        self.options.display = True
        self.items.focus()
        self.turned()
        kind, _, which = message.id.partition(" ")
        if which:
            self.keying.touch(self.clock.now())
        match kind:
            case "settle":
                for word in self.clash:
                    if word.id == which:
                        self.settle(word)
            case "missing":
                self.action_missing(convert(which, Missing))
            case "flag":
                self.raise_flag(which)
            case "sure":
                self.again(confidence=float(which))
            case "shown":
                self._give_shown()
            case "draw":
                self.draw("answer")
            case "guide":
                self.post_message(self.Wanted("guide"))
            case "full" | "type" | "note" | "cite" | "confidence" | "evidence" | "region" | "to_evidence" | "undo":
                await self.run_action(kind)

    def action_confidence(self) -> None:
        """Asks how sure."""
        self._open_menu("How sure", sures(self.way))

    def _open_menu(self, title: str, entries: list[Entry]) -> None:
        self.options.display = False  # their place is the menu's now
        self.menu.open(title, entries)
        self.turned()

    # -- by mouse --------------------------------------------------------------------------------------------

    @on(Options.Picked)
    def _clicked(self, message: Options.Picked) -> None:
        message.stop()
        item = self.item
        if item is None:
            return
        self.items.focus()
        self.keying.touch(self.clock.now())
        for choice in self.way.choices(item):
            if choice.key == message.key:
                self.give(choice.value)
                return
        for flag in self.way.flags(item):
            if flag.key == message.key:
                self.raise_flag(flag.value)

    @on(Lines.Chosen, "#items")
    def _chosen(self, message: Lines.Chosen) -> None:
        message.stop()
        self.action_on()
