"""What goes with an answer, and answers that are typed: the line, the step it rests on, a region that is drawn."""

from __future__ import annotations

from textual import on

from lab.clauses import clause_of, clauses
from lab.errors import LabError
from lab.labels import Spot
from screens.annotate.answering import AnsweredSheet
from screens.annotate.entry import Line
from screens.annotate.pane import SEARCH
from screens.annotate.typed import hint_of, typed_value, words_of

Region = tuple[int, int, int, int]


class TypedSheet(AnsweredSheet):
    """A sheet whose answers may be typed, and rest on places beside it."""

    def action_evidence(self) -> None:
        """The answer rests on the step that is shown."""
        if not self.place:
            self.say("No step is shown here.")
            return
        self.keying.touch(self.clock.now())
        self.again(evidence=self.place, region=None)

    def action_to_evidence(self) -> None:
        """Goes to the step that the answer rests on."""
        item = self.item
        if item is None:
            return
        head = self.sheet.head(item.spot)
        place = self.drafts.get((item.spot, "evidence")) or (head.evidence if head is not None else None)
        if place:
            self.post_message(self.Wanted("place", place))
        else:
            self.say("This answer rests on no step.")

    def action_region(self) -> None:
        """What is framed or dragged on the phone next is what the answer rests on."""
        item = self.item
        self.draw("answer" if item is not None and item.field.kind == "box" else "region")

    def draw(self, what: str) -> None:
        """Waits for a region."""
        if not self.place:
            self.say("No step is shown here.")
            return
        self.drawing = what
        self.post_message(self.Wanted("region"))

    def take_region(self, place: str, region: Region) -> None:
        """A region was drawn at a place."""
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
        item = self.item
        if item is None:
            return
        said = self.drafts.get((item.spot, "answer")) or words_of(self.sheet.value(item.spot))
        self._open_line("answer", "Your answer", begun or said, hint_of(item.field), fresh=not begun)

    def action_note(self) -> None:
        """Opens the line for a note."""
        item = self.item
        if item is None:
            return
        head = self.sheet.head(item.spot)
        said = self.drafts.get((item.spot, "note")) or (head.note if head is not None else "")
        self._open_line("note", "Note", said, "a note with this answer")

    def action_cite(self) -> None:
        """Opens the line for the number of a line of the guide."""
        item = self.item
        if item is None:
            return
        known = len(clauses(self._guide))
        if not known:
            self.say("This study has no guideline.")
            return
        head = self.sheet.head(item.spot)
        said = self.drafts.get((item.spot, "cites")) or (head.cites if head is not None else "")
        hint = f"its number, 1 to {known}, as the guide (t) has it; nothing takes it back"
        self._open_line("cites", "Line of the guide", said.removeprefix("§"), hint)

    @property
    def _guide(self) -> str:
        return self.way.protocol.guided(self.way.locale)

    def search(self) -> None:
        """Opens the line for words that are looked for beside the sheet; Enter goes to the next place that has them."""
        self._open_line(SEARCH, "Search", "", "words on a screen, in an action, in the dialogue")

    def _open_line(self, what: str, title: str, words: str, hint: str, *, fresh: bool = True) -> None:
        self.typing = what
        line = self.line
        line.open(title, words, hint)
        if not fresh:
            line.begin(self.keying.first_key_at)
        self.turned()

    @on(Line.Ended)
    def _ended(self, message: Line.Ended) -> None:
        """Enter: what was typed is kept."""
        message.stop()
        line, item = self.line, self.item
        if self.typing == SEARCH and line.text.strip():
            self.post_message(self.Wanted(SEARCH, line.text.strip()))
            return
        if item is None or self.typing == SEARCH:
            self._left(Line.Left())
            return
        if self.typing == "note":
            self.close_line()
            self.drafts.pop((item.spot, "note"), None)
            self.again(note=line.text.strip())
        elif self.typing == "cites":
            words = line.text.strip().removeprefix("§")
            if words and clause_of(f"§{words}", self._guide) is None:
                self.say(f"The guide has lines 1 to {len(clauses(self._guide))}.")
                return
            self.close_line()
            self.drafts.pop((item.spot, "cites"), None)
            self.again(cites=f"§{words}" if words else "")
        elif not line.text.strip() and not item.field.required:
            self.close_line()
            self.items.action_move(1)
        elif not self._give_typed(line):
            return
        self.items.focus()
        self.turned()

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
        self.turned()

    @on(Line.Changed)
    def _typed(self, message: Line.Changed) -> None:
        message.stop()
        if self.typing:
            self._settle()
