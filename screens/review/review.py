"""Review: a demonstration is proofread line by line beside its phone, handed in, and settled by a third person."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.binding import BindingType

from lab.review import Difference, Place, action_of, plain_value
from lab.turn import Point
from screens.author.fields import Field
from screens.author.footage import Footage
from screens.author.form import ItemForm
from screens.lines import Lines
from screens.phone.mirror import Mirror
from screens.replay.drawn import action_marks
from screens.review.desk import Desk, verdict_place
from screens.review.form import fields_of, pointed, write_fields
from screens.review.items import Items
from screens.review.keys import REVIEW_KEYS
from screens.review.queue import review_queue
from screens.review.room import DemoRoom, Rows
from screens.review.words import item_sheet, state_words, title_words

_PROOFREADING = frozenset({"accept", "accept_all", "reject", "commit"})


class ReviewScreen(DemoRoom):
    """The room of a proofreader, and of the third who settles."""

    BINDING_GROUP_TITLE = "Review"
    BINDINGS: ClassVar[list[BindingType]] = REVIEW_KEYS
    NAME = "Review"
    SHELF = "Demonstrations"
    items: Items
    desk: Desk | None = None
    pointing = False
    """Whether the next click on the phone chooses a place."""

    def list_of(self) -> Lines:
        self.items = Items()
        self._typed: dict[int, tuple[str, int | None, dict[str, str]]] = {}
        return self.items

    def queue(self) -> Rows:
        return review_queue(self.store, self.person.id)

    def read(self, run: str) -> Desk:
        return Desk(self.store, run, self.person)

    def begin(self, read: Desk) -> None:
        self.desk = read
        self.pointing = False
        self.items.border_title = "Demonstration"
        self.items.show(self.desk)
        unseen = [step for step in self.desk.sheet.unseen if step is not None]
        self.items.cursor = unseen[0] + 1 if unseen else 0

    def reload(self) -> None:
        if self.desk is not None:
            self.desk.load()
        self.renew()

    # -- painting --------------------------------------------------------------------------------------------

    def renew(self) -> None:
        desk = self.desk
        if desk is None or self.run_id is None:
            return
        self.items.show(desk)
        step = self.items.step
        tree = self.footage.seen.tree if self.footage.seen is not None and step is not None else None
        self.page.border_title = "The whole" if step is None else f"Step {step + 1} of {desk.demo.steps}"
        self.page.show(item_sheet(desk, step, tree, slip=step in desk.slips))
        self.say(title_words(desk), self._state(desk))
        self._mark()
        self.refresh_bindings()

    def _state(self, desk: Desk) -> str:
        if self.pointing:
            return "Click the place on the phone, or drag a box; Esc leaves it."
        if self.form.is_open:
            return "Enter goes on to the next field, and after the last one on; Esc keeps what was typed and leaves."
        return state_words(desk)

    def _mark(self) -> None:
        """Draws the action as this person left it, where that is another place than the recorded one."""
        view, desk, step = self.footage.view, self.desk, self.items.step
        if view is None or desk is None or step is None or self.footage.after or view.number != step:
            return
        action = action_of(desk.value(Place(step, "action")))
        self.footage.stage.mirror.mark(action_marks(action, view.before.size or self.footage.stage.phone))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what this person may do with the demonstration as it stands."""
        desk = self.desk
        if action in ("back", "overlay"):
            return True
        if self.run_id is None or desk is None or self.form.is_open:
            return False
        if action in _PROOFREADING:
            return desk.writable and (action != "commit" or not desk.sheet.unseen)
        if action in ("edit", "point"):
            return (desk.writable or desk.settling) and (action == "edit" or self.items.step is not None)
        if action == "stand":
            return desk.settling and bool(self._open_here())
        return True

    # -- looking ---------------------------------------------------------------------------------------------

    @on(Lines.Highlighted, "#items")
    def _highlighted(self, message: Lines.Highlighted) -> None:
        message.stop()
        self.pointing = False
        if self.items.step is not None:
            self.footage.show_step(self.items.step)
        self.renew()

    @on(Lines.Chosen, "#items")
    async def _edit_line(self, message: Lines.Chosen) -> None:
        message.stop()
        if self.check_action("edit", ()):
            await self.action_edit()

    @on(Footage.Looked)
    def _looked(self) -> None:
        if self.items.step is not None:
            self.footage.show_step(self.items.step)
        self.renew()

    def action_move(self, by: int) -> None:
        """One line on or back."""
        self.items.go(self.items.cursor + by)

    def action_after(self) -> None:
        """The screen before the step, or after it."""
        self.footage.turn()

    def action_next(self) -> None:
        """The next line that is still to do, from here on and then from the top."""
        desk = self.desk
        assert desk is not None
        differing = [one.place.step for one in desk.standing.differences]
        todo = differing if desk.settling else desk.sheet.unseen
        lines = sorted({0 if step is None else step + 1 for step in todo})
        if not lines:
            self.notify("Nothing is left to look at.", markup=False)
            return
        self.items.go(next((line for line in lines if line > self.items.cursor), lines[0]))

    # -- what a proofreader does -----------------------------------------------------------------------------

    def action_accept(self) -> None:
        """Accepts this line as it stands and goes on."""
        step = self.items.step
        self._do(lambda desk: desk.accept([step]))
        self._go_on()

    def action_accept_all(self) -> None:
        """Accepts everything that was not looked at."""
        self._do(lambda desk: desk.accept(desk.sheet.unseen))

    async def action_reject(self) -> None:
        """Asks why this line is rejected."""
        desk, step = self.desk, self.items.step
        assert desk is not None
        note = desk.sheet.note(verdict_place(step))
        title = "Reject the demonstration" if step is None else f"Reject step {step + 1}"
        await self._ask("reject", title, [Field("reason", "why", note, "what is wrong; Enter rejects")])

    async def action_edit(self) -> None:
        """The fields of this line, to be typed."""
        desk, step = self.desk, self.items.step
        assert desk is not None
        await self._ask("edit", "The whole" if step is None else f"Step {step + 1}", fields_of(desk, step))

    def action_point(self) -> None:
        """The next click or drag on the phone chooses the place anew."""
        self.pointing = not self.pointing
        self.renew()

    def action_commit(self) -> None:
        """Hands it in."""
        self._do(lambda desk: desk.commit())
        self.notify("Handed in.", markup=False)

    def action_stand(self, which: int) -> None:
        """Where two differ here, the first or the second one's word stands."""
        one = self._open_here()[0]
        note = one.words[which].note
        self._do(lambda desk: desk.settle(one.place, one.words[which].value, note))
        if not self._open_here():
            self.action_next()

    def action_back(self) -> None:
        """Out of choosing a place, else as in every room."""
        if self.pointing:
            self.action_point()
        else:
            super().action_back()

    @on(Mirror.Tapped)
    def _tapped(self, message: Mirror.Tapped) -> None:
        message.stop()
        self._chosen_place(message.at, None)

    @on(Mirror.Dragged)
    def _dragged(self, message: Mirror.Dragged) -> None:
        message.stop()
        self._chosen_place(message.at, message.to)

    def _chosen_place(self, at: Point, to: Point | None) -> None:
        step = self.items.step
        if not self.pointing or step is None:
            return
        self.pointing = False
        place = Place(step, "action")

        def write(desk: Desk) -> None:
            desk.write(place, plain_value(pointed(action_of(desk.value(place)), at, to)))

        self.tried(lambda: self._do(write))
        self.items.focus()

    # -- the form --------------------------------------------------------------------------------------------

    async def _ask(self, what: str, title: str, fields: list[Field]) -> None:
        serial = await self.form.open(title, fields)
        self._typed[serial] = (what, self.items.step, {})
        self.query_one("#items-side").add_class("-busy")
        self.renew()

    @on(ItemForm.Typed)
    def _typed_in(self, message: ItemForm.Typed) -> None:
        message.stop()
        if message.serial in self._typed:
            self._typed[message.serial][2][message.name] = message.text

    @on(ItemForm.Closed)
    def _form_left(self, message: ItemForm.Closed) -> None:
        message.stop()
        self.query_one("#items-side").remove_class("-busy")
        what, step, typed = self._typed.pop(message.serial, ("", None, {}))
        self.items.focus()
        if what == "edit" and typed:
            self.tried(lambda: self._do(lambda desk: write_fields(desk, step, typed)))
        elif what == "reject" and message.entered:
            reason = typed.get("reason", self.form.rows[0].kept)
            self.tried(lambda: self._do(lambda desk: desk.reject(step, reason)))
        self.renew()
        if message.entered and self.desk is not None and self.desk.writable:
            self._go_on()

    # -- beneath ---------------------------------------------------------------------------------------------

    def _open_here(self) -> list[Difference]:
        desk = self.desk
        step = self.items.step
        return [] if desk is None else [one for one in desk.standing.differences if one.place.step == step]

    def _go_on(self) -> None:
        """To the next line that was not looked at, where there is one."""
        if self.desk is not None and self.desk.sheet.unseen:
            self.action_next()

    def _do(self, act: Callable[[Desk], None]) -> None:
        assert self.desk is not None
        try:
            act(self.desk)
        finally:
            self.renew()
