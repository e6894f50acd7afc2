"""Author: a task's design is drafted item by item beside a run, verified by another person, and frozen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from textual import on

from lab.core.settings import Settings
from lab.core.task import InformationUnit
from lab.studies import design_editing
from screens.author.design_view import DesignView
from screens.author.drafting import DraftEditor
from screens.author.form import ItemForm
from screens.author.verification import Verification
from screens.dialogs import AskScreen
from screens.lab import tried
from screens.mirror.mirror import Mirror
from screens.widgets.lines import LineList

if TYPE_CHECKING:
    from store.store import Store

_DRAFTING = frozenset({"add", "add_empty", "remove", "undo", "shift", "nest", "turn", "used", "evidence"})
_REVIEWING = frozenset({"accept", "object", "freeze", "send_back"})


class AuthorScreen(DesignView):
    """The keys that change a design, for its designer and for the one who verifies it."""

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__(store, settings)
        self.drafting = DraftEditor(self)
        self.verification = Verification(self, self.drafting.subjects)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what this person may do with the design as it stands."""
        session = self.session
        if session is None:
            return action not in _DRAFTING | _REVIEWING | {"submit", "settle", "reopen", "draw"}
        if self.texts.is_open and action in _DRAFTING | {"submit", "draw"}:
            return False
        if action == "submit":
            return session.writable and session.head is not None and not session.others
        if action in _DRAFTING:
            return session.writable
        if action in _REVIEWING:
            return session.reviewing
        if action == "settle":
            return bool(session.others)
        if action == "reopen":
            return session.unkept is not None or not (session.writable or session.reviewing)
        # Where two drafts stand, the keys that settle it take the drawing's place among the seven.
        return action != "draw" or (self.outline.section == "tdg" and not session.others)

    def on_unmount(self) -> None:
        """What is typed when the app is left is kept too."""
        self.drafting.save_unsaid()

    # -- the form, the texts, the phone ----------------------------------------------------------------------

    @on(LineList.Chosen, "#outline")
    def _chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        self.call_later(self.run_action, "edit")

    @on(LineList.Chosen, "#texts")
    def _text_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        self.close_texts()
        self.outline.focus()
        tried(self, lambda: self.drafting.add_unit(self.texts.rows[message.index]))

    @on(Mirror.Tapped)
    def _tapped(self, message: Mirror.Tapped) -> None:
        message.stop()
        self.drafting.take_tapped(message.at)

    @on(ItemForm.Typed)
    def _typed(self, message: ItemForm.Typed) -> None:
        message.stop()
        self.drafting.take_field(message.serial, message.name, message.text)

    @on(ItemForm.Closed)
    def _left(self, message: ItemForm.Closed) -> None:
        message.stop()
        if not self.form.is_open:
            self.outline.focus()
        self.tell()
        self.verification.take_words(self.drafting.subjects.get(message.serial, ""), entered=message.entered)

    # -- the designer: items ---------------------------------------------------------------------------------

    async def action_add(self) -> None:
        """Adds an item from the step that is shown."""
        await self.drafting.add()

    async def action_add_empty(self) -> None:
        """Adds an empty item and opens its form."""
        await self.drafting.add_empty()

    async def action_edit(self) -> None:
        """Edits the item under the cursor, or begins from what is there already."""
        source = self.outline.beginning
        if source is None:
            await self.drafting.edit()
        else:
            self.drafting.begin(source)

    def action_remove(self) -> None:
        """Takes the item under the cursor out."""
        self.drafting.remove()

    def action_undo(self) -> None:
        """Takes the last change back."""
        note = self.opened.undo()
        self.renew()
        self.notify(note.capitalize() if note else "There is nothing to take back.", markup=False)

    def action_shift(self, by: int) -> None:
        """Moves the item under the cursor."""
        self.drafting.change(lambda design, key: design_editing.move(design, key, by), "moved")

    def action_nest(self, deeper: bool) -> None:
        """Into the node above as an alternative, or out."""
        self.drafting.change(lambda design, key: design_editing.nest(design, key, deeper=deeper), "nested")

    def action_turn(self) -> None:
        """Flexible or fixed; explicit or steering."""
        self.drafting.change(design_editing.turn, "turned")

    async def action_evidence(self) -> None:
        """The step that is shown as evidence of the item, or no longer."""
        await self.footage.arrived()
        if self.footage.link:
            self.drafting.change(lambda design, key: design_editing.see(design, key, self.footage.link), "evidence of")

    def action_to_evidence(self) -> None:
        """Goes to the next step that the item was seen in."""
        links = self.opened.design.evidence.get(self.outline.key, ())
        here = links.index(self.footage.link) + 1 if self.footage.link in links else 0
        if not links or not self.footage.go_to(links[here % len(links)]):
            self.notify("No step of this run is kept for it: e keeps the one shown.", markup=False)

    async def action_used(self) -> None:
        """The unit under the cursor is used in the app of this step."""
        await self.footage.arrived()
        unit = design_editing.item_at(self.opened.design, self.outline.key)
        if isinstance(unit, InformationUnit) and self.apps.here:
            unit_here = msgspec.structs.replace(unit, used=self.apps.here)
            self.drafting.change(lambda design, key: design_editing.change(design, key, unit_here), "used")

    # -- the designer: the whole -----------------------------------------------------------------------------

    def action_submit(self) -> None:
        """Hands the design to another person."""
        self.form.commit()
        self.change(self.opened.submit)
        self.notify("Submitted: another person verifies it.", markup=False)

    def action_reopen(self) -> None:
        """Takes it back into a draft."""
        self.change(self.opened.reopen)
        assert self.opened.head is not None
        self.notify(f"Version {self.opened.head.version} is a draft again.", markup=False)

    def action_settle(self, mine: bool) -> None:
        """Asks, and of two drafts made at once lets one stand."""
        session = self.opened
        verb = "Keep mine" if mine else "Take theirs"
        stands, goes = ("Your", "other") if mine else ("The other", "one of yours")
        about = f"{stands} draft stands, and the {goes} no more."

        def settle(sure: bool | None) -> None:
            if sure and self.session is session:
                tried(self, lambda: self.change(lambda: session.settle(mine=mine)))

        self.app.push_screen(AskScreen("Which draft stands?", about, verb), settle)

    # -- the one who verifies --------------------------------------------------------------------------------

    def action_accept(self) -> None:
        """Accepts the item under the cursor and goes on to the next that was not looked at."""
        self.verification.accept()

    async def action_object(self) -> None:
        """Says what is wrong with the item under the cursor."""
        await self.verification.object()

    async def action_send_back(self) -> None:
        """Gives it back to its authors, with a word about the whole."""
        await self.verification.send_back()

    def action_freeze(self) -> None:
        """Asks, and verifies the design: this version never changes again."""
        self.verification.freeze()
