"""The line for typed answers, notes, citations of the guide, and searches."""

from __future__ import annotations

from lab.core.errors import LabError
from lab.core.guideline import clause_of, clauses
from lab.studies.typed_answers import hint_of, typed_value, words_of
from screens.annotate.answer_field import AnswerLine
from screens.annotate.answering import AnswerEditor
from screens.annotate.sheet_view import SEARCH, SheetView


class TypedEntry:
    """Use of a sheet's line for one purpose at a time. Its text becomes the answer or goes with it."""

    def __init__(self, view: SheetView, answering: AnswerEditor) -> None:
        self.view = view
        self.answering = answering

    def type_answer(self, first_character: str = "") -> None:
        """Open the line for the answer with `first_character`, or with what was typed or answered before."""
        item = self.view.item
        if item is None:
            return
        keying, draft = self.view.keying, self.view.drafts.get((item.spot, "answer"))
        words = first_character or keying.digits or draft or words_of(self.view.sheet.value(item.spot))
        keying.digits = ""
        self._open("answer", "Your answer", words, hint_of(item.field), fresh=not first_character)

    def type_note(self) -> None:
        """Open the line for a note."""
        item = self.view.item
        if item is None:
            return
        head = self.view.sheet.head(item.spot)
        words = self.view.drafts.get((item.spot, "note")) or (head.note if head is not None else "")
        self._open("note", "Note", words, "a note with this answer")

    def type_cite(self) -> None:
        """Open the line for a line number of the guide."""
        item = self.view.item
        if item is None:
            return
        clause_count = len(clauses(self.guide))
        if not clause_count:
            self.view.say("This study has no guideline.")
            return
        head = self.view.sheet.head(item.spot)
        words = self.view.drafts.get((item.spot, "cites")) or (head.cites if head is not None else "")
        hint = f"its number, 1 to {clause_count}, as the guide (t) has it; nothing takes it back"
        self._open("cites", "Line of the guide", words.removeprefix("§"), hint)

    @property
    def guide(self) -> str:
        """The study's guideline in this rater's language."""
        return self.view.wording.protocol.guideline(self.view.wording.locale)

    def search(self) -> None:
        """Open the line for a search beside the sheet. Enter goes to the next match."""
        self._open(SEARCH, "Search", "", "words on a screen, in an action, in the dialogue")

    def _open(self, what: str, title: str, words: str, hint: str, *, fresh: bool = True) -> None:
        self.view.typing = what
        line = self.view.line
        line.open(title, words, hint)
        if not fresh:
            line.begin(self.view.keying.first_key_at)
        self.view.update_keys()

    def enter(self) -> None:
        """Store the line's text for its purpose. If it is not valid, show why and keep the line open."""
        line, item = self.view.line, self.view.item
        if self.view.typing == SEARCH and line.text.strip():
            self.view.post_message(self.view.Requested(SEARCH, line.text.strip()))
            return
        if item is None or self.view.typing == SEARCH:
            self.leave()
            return
        if self.view.typing == "note":
            self.view.close_line()
            self.view.drafts.pop((item.spot, "note"), None)
            self.answering.change_companions(note=line.text.strip())
        elif self.view.typing == "cites":
            words = line.text.strip().removeprefix("§")
            if words and clause_of(f"§{words}", self.guide) is None:
                self.view.say(f"The guide has lines 1 to {len(clauses(self.guide))}.")
                return
            self.view.close_line()
            self.view.drafts.pop((item.spot, "cites"), None)
            self.answering.change_companions(cites=f"§{words}" if words else "")
        elif not line.text.strip() and not item.field.required:
            self.view.drafts.pop((item.spot, "answer"), None)
            self.view.close_line()
            self.view.go_on(item.spot)
        elif not self._give(line):
            return
        self.view.items.focus()
        self.view.update_keys()

    def _give(self, line: AnswerLine) -> bool:
        assert self.view.item is not None
        try:
            value = typed_value(self.view.item.field, line.text)
        except LabError as error:
            self.view.say(error.message)
            return False
        if line.begun:
            self.view.keying.touch(line.first_key_at)
        if not self.answering.give(value):
            return False
        self.view.typing = ""
        line.close()
        return True

    def leave(self, by: int = 0) -> None:
        """Close the line. Its text stays a draft, and the cursor moves by `by` items."""
        self.view.close_line()
        self.view.items.focus()
        if by:
            self.view.items.action_move(by)
        self.view.say("")
        self.view.store_place_soon()
        self.view.update_keys()
