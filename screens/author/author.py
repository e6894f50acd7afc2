"""Author: a task's design is drafted item by item beside a run, verified by another person, and frozen."""

from __future__ import annotations

from collections.abc import Callable

from screens.author.drafting import DraftingRoom
from screens.author.fields import Field

_DRAFTING = frozenset({"add", "add_empty", "remove", "undo", "shift", "nest", "turn", "used", "evidence"})
_REVIEWING = frozenset({"accept", "object", "freeze", "send_back"})
_OBJECT = "object "
_SEND_BACK = "send back"


class AuthorScreen(DraftingRoom):
    """What is done with a design as a whole: submitted, judged item by item, frozen, reopened, settled."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what this person may do with the design as it stands."""
        desk = self.desk
        if desk is None:
            return action not in _DRAFTING | _REVIEWING | {"submit", "settle", "reopen", "draw"}
        if self.texts.is_open and action in _DRAFTING | {"submit", "draw"}:
            return False
        if action == "submit":
            return desk.writable and desk.head is not None and not desk.others
        if action in _DRAFTING:
            return desk.writable
        if action in _REVIEWING:
            return desk.reviewing
        if action == "settle":
            return bool(desk.others)
        if action == "reopen":
            return desk.unkept is not None or not (desk.writable or desk.reviewing)
        # Where two drafts stand, the keys that settle it take the drawing's place among the seven.
        return action != "draw" or (self.outline.section == "tdg" and not desk.others)

    # -- the designer ----------------------------------------------------------------------------------------

    def action_submit(self) -> None:
        """Hands the design to another person."""
        self.form.commit()
        self._do(self.bench.submit)
        self.notify("Submitted: another person verifies it.", markup=False)

    def action_reopen(self) -> None:
        """Takes it back into a draft."""
        self._do(self.bench.reopen)
        assert self.bench.head is not None
        self.notify(f"Version {self.bench.head.version} is a draft again.", markup=False)

    def action_settle(self, mine: bool) -> None:
        """Of two drafts made at once, one stands."""
        self._do(lambda: self.bench.settle(mine=mine))

    # -- the one who verifies --------------------------------------------------------------------------------

    def action_accept(self) -> None:
        """Accepts the item under the cursor and goes on to the next that was not looked at."""
        key = self.outline.key
        if key:
            self._do(lambda: self.bench.mark(key, ""))
            self._go_on()

    async def action_object(self) -> None:
        """Says what is wrong with the item under the cursor."""
        key = self.outline.key
        if key:
            words = Field("words", "wrong", self.bench.marks.get(key, ""), "what is wrong with it; Enter keeps it")
            serial = await self.form.open(f"Object to {key}", [words])
            self.edits[serial] = _OBJECT + key

    async def action_send_back(self) -> None:
        """Gives it back to its authors, with a word about the whole."""
        words = Field("words", "about it", "", "a word about the whole, if you like; Enter sends it back")
        serial = await self.form.open("Send it back", [words])
        self.edits[serial] = _SEND_BACK

    def action_freeze(self) -> None:
        """Verifies the design: this version never changes again."""
        self._do(self.bench.verify)
        self.notify("Verified and frozen.", markup=False)

    def finish(self, subject: str, *, entered: bool) -> None:
        """What was typed about an item, or about the whole, is kept where Enter was pressed."""
        words = self.form.rows[0].kept if self.form.rows else ""
        if subject == _SEND_BACK and entered:
            self.tried(lambda: self._do(lambda: self.bench.send_back(words)))
        elif subject.startswith(_OBJECT) and words.strip():
            self.tried(lambda: self._do(lambda: self.bench.mark(subject.removeprefix(_OBJECT), words)))
            self._go_on()

    def _go_on(self) -> None:
        """To the next item that was not looked at, in this section or the next that has one."""
        unseen = self.bench.unseen
        if not unseen:
            return
        here = [row.key for row in self.outline.rows[self.outline.cursor + 1 :] if row.key in unseen]
        key = next(iter(here or unseen))
        self.show_item(key)

    def _do(self, act: Callable[[], None]) -> None:
        try:
            act()
        finally:
            self.renew()
