"""Author: draft a task's design item by item beside a run. Another person verifies and freezes it."""

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
from screens.lab import try_report
from screens.mirror.mirror import Mirror
from screens.widgets.lines import LineList

if TYPE_CHECKING:
    from store.store import Store

_DRAFTING = frozenset({"add", "add_empty", "remove", "undo", "shift", "nest", "turn", "used", "evidence"})
_REVIEWING = frozenset({"accept", "object", "freeze", "send_back"})


class AuthorScreen(DesignView):
    """The actions that change a design, for its designer and for the person who verifies it."""

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__(store, settings)
        self.drafting = DraftEditor(self)
        self.verification = Verification(self, self.drafting.subjects)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable only what this person may do with the design now."""
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
        """Store a text that is not finished when the app ends."""
        self.drafting.store_unreported()

    # -- the form, the texts, the phone ----------------------------------------------------------------------

    @on(LineList.Chosen, "#outline")
    def _edit_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        self.call_later(self.run_action, "edit")

    @on(LineList.Chosen, "#texts")
    def _add_chosen_text(self, message: LineList.Chosen) -> None:
        message.stop()
        self.close_texts()
        self.outline.focus()
        try_report(self, lambda: self.drafting.add_unit(self.texts.rows[message.index]))

    @on(Mirror.Tapped)
    def _take_tapped(self, message: Mirror.Tapped) -> None:
        message.stop()
        self.drafting.use_tapped(message.at)

    @on(ItemForm.Typed)
    def _take_typed(self, message: ItemForm.Typed) -> None:
        message.stop()
        self.drafting.store_field(message.serial, message.name, message.text)

    @on(ItemForm.Closed)
    def _finish_form(self, message: ItemForm.Closed) -> None:
        message.stop()
        if not self.form.is_open:
            self.outline.focus()
        self.tell()
        self.verification.store_comment(self.drafting.subjects.get(message.serial, ""), entered=message.entered)

    # -- the designer: items ---------------------------------------------------------------------------------

    async def action_add(self) -> None:
        """Add an item from the current step."""
        await self.drafting.add()

    async def action_add_empty(self) -> None:
        """Add an empty item and open its form."""
        await self.drafting.add_empty()

    async def action_edit(self) -> None:
        """Edit the item under the cursor, or begin from the source under it."""
        source = self.outline.draft_source
        if source is None:
            await self.drafting.edit()
        else:
            self.drafting.begin(source)

    def action_remove(self) -> None:
        """Remove the item under the cursor."""
        self.drafting.remove()

    def action_undo(self) -> None:
        """Undo the last change."""
        note = self.open_session.undo()
        self.repaint()
        self.notify(note.capitalize() if note else "There is nothing to take back.", markup=False)

    def action_shift(self, by: int) -> None:
        """Move the item under the cursor."""
        self.drafting.change(lambda design, key: design_editing.move(design, key, by), "moved")

    def action_nest(self, deeper: bool) -> None:
        """Move a node into the node above as an alternative path, or out of it."""
        self.drafting.change(lambda design, key: design_editing.nest(design, key, deeper=deeper), "nested")

    def action_turn(self) -> None:
        """Toggle flexible and fixed, or explicit and steering."""
        self.drafting.change(design_editing.toggle_kind, "turned")

    async def action_evidence(self) -> None:
        """Add the current step to the item's evidence, or remove it."""
        await self.footage.wait_shown()
        if self.footage.link:
            self.drafting.change(
                lambda design, key: design_editing.toggle_evidence(design, key, self.footage.link), "evidence of"
            )

    def action_to_evidence(self) -> None:
        """Go to the next step of the item's evidence."""
        links = self.open_session.design.evidence.get(self.outline.key, ())
        index = links.index(self.footage.link) + 1 if self.footage.link in links else 0
        if not links or not self.footage.go_to(links[index % len(links)]):
            self.notify("No step of this run is kept for it: e keeps the one shown.", markup=False)

    async def action_used(self) -> None:
        """Record that the unit under the cursor is used in the app of this step."""
        await self.footage.wait_shown()
        unit = design_editing.item_at(self.open_session.design, self.outline.key)
        if isinstance(unit, InformationUnit) and self.apps.current_app:
            unit_here = msgspec.structs.replace(unit, used=self.apps.current_app)
            self.drafting.change(lambda design, key: design_editing.change(design, key, unit_here), "used")

    # -- the designer: the whole -----------------------------------------------------------------------------

    def action_submit(self) -> None:
        """Submit the design for verification."""
        self.form.report_changes()
        self.change(self.open_session.submit)
        self.notify("Submitted: another person verifies it.", markup=False)

    def action_reopen(self) -> None:
        """Turn the design into a draft again."""
        self.change(self.open_session.reopen)
        assert self.open_session.head is not None
        self.notify(f"Version {self.open_session.head.version} is a draft again.", markup=False)

    def action_settle(self, mine: bool) -> None:
        """Choose one of two concurrent drafts after a confirmation."""
        session = self.open_session
        verb = "Keep mine" if mine else "Take theirs"
        stands, goes = ("Your", "other") if mine else ("The other", "one of yours")
        about = f"{stands} draft stands, and the {goes} no more."

        def settle(sure: bool | None) -> None:
            if sure and self.session is session:
                try_report(self, lambda: self.change(lambda: session.settle(mine=mine)))

        self.app.push_screen(AskScreen("Which draft stands?", about, verb), settle)

    # -- the one who verifies --------------------------------------------------------------------------------

    def action_accept(self) -> None:
        """Accept the item under the cursor and go to the next one not looked at."""
        self.verification.accept()

    async def action_object(self) -> None:
        """Ask what is wrong with the item under the cursor."""
        await self.verification.object()

    async def action_send_back(self) -> None:
        """Return the design to its authors with a comment on the whole."""
        await self.verification.send_back()

    def action_freeze(self) -> None:
        """Verify the design after a confirmation. This version never changes again."""
        self.verification.freeze()
