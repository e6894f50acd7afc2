"""Verify a design: another person accepts its items, objects, sends it back or freezes it."""

from __future__ import annotations

from lab.studies.design_session import DesignSession
from screens.author.design_view import DesignView
from screens.author.fields import FormField
from screens.author.words import OBJECT_WORDS, SEND_BACK_WORDS
from screens.dialogs import AskScreen
from screens.key_names import with_keys
from screens.lab import try_report

_OBJECT = "object "
_SEND_BACK = "send back"


class Verification:
    """Verifies the design of a view. `subjects` holds the subject of each opening of its form, by serial."""

    def __init__(self, view: DesignView, subjects: dict[int, str]) -> None:
        self.view = view
        self._subjects = subjects

    def accept(self) -> None:
        """Accept the item under the cursor and go to the next one not looked at."""
        key = self.view.outline.key
        if key:
            self.view.change(lambda: self.view.open_session.mark(key, ""))
            self._go_to_unseen()

    async def object(self) -> None:
        """Ask what is wrong with the item under the cursor."""
        key = self.view.outline.key
        if key:
            marked = self.view.open_session.marks.get(key, "")
            hint = with_keys(self.view, "what is wrong with it; {form.on} keeps it")
            field = FormField("words", "wrong", marked, hint)
            serial = await self.view.form.open(f"Object to {key}", [field], words=OBJECT_WORDS)
            self._subjects[serial] = _OBJECT + key
            self.view.tell()

    async def send_back(self) -> None:
        """Ask for a comment on the whole design, and return it to its authors."""
        hint = with_keys(self.view, "a word about the whole, if you like; {form.on} sends it back")
        field = FormField("words", "about it", "", hint)
        serial = await self.view.form.open("Send it back", [field], words=SEND_BACK_WORDS)
        self._subjects[serial] = _SEND_BACK
        self.view.tell()

    def freeze(self) -> None:
        """Verify the design after a confirmation. This version never changes again."""
        session = self.view.open_session
        session.check_verify()
        if session.objections:
            self.view.change(session.verify)  # which refuses it, in its own words
            return
        assert session.head is not None
        about = f"Version {session.head.version} of this design is frozen for good; what comes after is a new version."

        def freeze(sure: bool | None) -> None:
            if sure and self.view.session is session:
                try_report(self.view, lambda: self._freeze(session))

        self.view.app.push_screen(AskScreen("Freeze it?", about, "Freeze it"), freeze)

    def _freeze(self, session: DesignSession) -> None:
        self.view.change(session.verify)
        self.view.notify("Verified and frozen.", markup=False)

    def store_comment(self, subject: str, *, entered: bool) -> None:
        """Store a typed objection to an item or, after Enter, the comment on the whole."""
        words = self.view.form.rows[0].kept if self.view.form.rows else ""
        if subject == _SEND_BACK and entered:
            try_report(self.view, lambda: self.view.change(lambda: self.view.open_session.send_back(words)))
        elif subject.startswith(_OBJECT) and words.strip():
            key = subject.removeprefix(_OBJECT)
            try_report(self.view, lambda: self.view.change(lambda: self.view.open_session.mark(key, words)))
            self._go_to_unseen()

    def _go_to_unseen(self) -> None:
        """Go to the next item not looked at, in this section or another one."""
        unseen, outline = self.view.open_session.unseen, self.view.outline
        if unseen:
            below = [row.key for row in outline.rows[outline.cursor + 1 :] if row.key in unseen]
            self.view.show_item(next(iter(below or unseen)))
