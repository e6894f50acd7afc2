"""Author: draft a task's design item by item beside a run. Another person verifies and freezes it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from textual import on

from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.task.design import SECTIONS, Design, Section
from lab.core.task.task import Branch, Criterion, InformationUnit, TdgNode
from lab.core.text.typed_text import clean
from lab.runs.descriptions import target_name
from lab.studies.designing import design_editing
from lab.studies.designing.design_drafts import Beginning, first_draft_of, node_of, unit_of
from lab.studies.designing.design_editing import Item
from lab.studies.designing.design_session import DesignSession
from screens.author.design_view import DesignView
from screens.author.fields import FormField, fields_of, named_id, store_typed
from screens.author.form import ItemForm
from screens.author.outline import TITLES
from screens.author.words import FORM_WORDS, OBJECT_WORDS, SEND_BACK_WORDS
from screens.dialogs import AskScreen
from screens.key_names import with_keys
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
            return session.writable and session.head is not None and not session.concurrent_drafts
        if action in _DRAFTING:
            return session.writable
        if action in _REVIEWING:
            return session.reviewing
        if action == "settle":
            return bool(session.concurrent_drafts)
        if action == "reopen":
            return session.unkept is not None or not (session.writable or session.reviewing)
        # Where two drafts stand, the keys that settle it take the drawing's place among the seven.
        return action != "draw" or (self.outline.section == "tdg" and not session.concurrent_drafts)

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
        self.update_lines()
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
            self.view.update_lines()

    async def send_back(self) -> None:
        """Ask for a comment on the whole design, and return it to its authors."""
        hint = with_keys(self.view, "a word about the whole, if you like; {form.on} sends it back")
        field = FormField("words", "about it", "", hint)
        serial = await self.view.form.open("Send it back", [field], words=SEND_BACK_WORDS)
        self._subjects[serial] = _SEND_BACK
        self.view.update_lines()

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


_EMPTY: dict[Section, Item] = {
    "tdg": TdgNode("", ""), "branches": Branch("", ""), "units": InformationUnit("", ""), "rubric": Criterion("", ""),
}  # fmt: skip


class DraftEditor:
    """Changes the design of a view: adds items and edits them in its form. Each change is stored before it is shown."""

    def __init__(self, view: DesignView) -> None:
        self.view = view
        self.subjects: dict[int, str] = {}
        """Subject of each opening of the form by its serial: an item's key, or a review of one."""

    def save(self, design: Design, note: str, key: str = "") -> None:
        """Store a changed design and show it with the cursor on the item `key`."""
        try:
            self.view.open_session.draft(design, note)
        finally:
            self.view.repaint()
            self.view.outline.go_to(key)

    def change(self, change: Callable[[Design, str], Design], verb: str) -> None:
        """Store a change of the item under the cursor. `verb` names it."""
        key = self.view.outline.key
        if key:
            self.save(change(self.view.open_session.design, key), f"{verb} {key}", key)

    # -- adding ----------------------------------------------------------------------------------------------

    async def add(self) -> None:
        """Add an item from the current step. In the units, offer the texts of its screen."""
        footage = self.view.footage
        await footage.wait_shown()
        step = footage.step
        match self.view.outline.section:
            case "units":
                self.view.offer_texts()
            case "tdg" if step is not None:
                used_ids = {node.id for node in self.view.open_session.design.tdg.walk()}
                self._add_item(node_of(step, self.view.apps.current_app, used_ids))
            case "branches" if step is not None and step.question is not None:
                self._add_item(Branch("", clean(step.question.text), step.question.options))
                await self.edit()
            case _:
                await self.add_empty()

    async def add_empty(self) -> None:
        """Add an empty item and open its form."""
        self._add_item(_EMPTY[self.view.outline.section])
        await self.edit()

    def add_unit(self, value: str) -> None:
        """Add a unit for a text on the phone."""
        used_ids = {unit.id for unit in self.view.open_session.design.units}
        self._add_item(unit_of(value, "", self.view.apps.current_app, used_ids))

    def _add_item(self, item: Item) -> None:
        """Add an item after the one under the cursor, with the current step as its evidence."""
        design, section, footage = self.view.open_session.design, self.view.outline.section, self.view.footage
        used_ids = {other.id for other in design_editing.entries(design, section)}
        entry = item if item.id else msgspec.structs.replace(item, id=named_id(item, used_ids))
        key = f"{section}/{entry.id}"
        longer = design_editing.add(design, section, entry, self.view.outline.key)
        if footage.step is not None and item.id:
            longer = design_editing.toggle_evidence(longer, key, footage.link)
        self.save(longer, f"added {key}", key)

    def use_tapped(self, at: tuple[int, int]) -> None:
        """Make a unit of a text tapped on the phone, or put it into the unit in the open form."""
        view, observation = self.view, self.view.footage.screen_shown
        text = target_name(observation.tree if observation is not None else None, at)
        if not text or view.outline.section != "units" or not view.open_session.writable:
            view.notify("A click takes a text into a unit (3), where there is one.", markup=False)
            return
        view.close_texts()
        serial = view.form.serial
        if view.form.is_open and design_editing.section_of(self.subjects.get(serial, "")) == "units":
            view.form.restore("value", text)
            self.store_field(serial, "value", text)
        else:
            try_report(view, lambda: self.add_unit(text))

    # -- editing ---------------------------------------------------------------------------------------------

    def begin(self, source: Beginning) -> None:
        """Begin the design from existing data. `source` is what the outline offered."""
        run = self.view.footage.run
        trace = self.view.store.runs.trace(run) if run is not None and source == "run" else None
        self.save(first_draft_of(source, self.view.open_session.task, trace), f"began from {source}")

    async def edit(self) -> None:
        """Open the form of the item under the cursor if the design may be changed."""
        key = self.view.outline.key
        if not key or not self.view.open_session.writable:
            return
        title = f"{TITLES[self.view.outline.section]}: {design_editing.id_of(key)}"
        fields = fields_of(self.view.open_session.design, key, self._apps)
        serial = await self.view.form.open(title, fields, words=FORM_WORDS)
        self.subjects[serial] = key
        self.view.update_lines()

    @property
    def _apps(self) -> list[str]:
        """Apps that the task names, then those of its run."""
        return list(dict.fromkeys([*self.view.open_session.task.apps, *self.view.apps.all_apps]))

    def store_field(self, serial: int, name: str, text: str) -> None:
        """Store the text of one field of an item's form."""
        key = self.subjects.get(serial, "")
        if design_editing.section_of(key) in SECTIONS:
            try_report(self.view, lambda: self._store_field(serial, key, name, text))

    def _store_field(self, serial: int, key: str, name: str, text: str) -> None:
        """Store one field. If its text does not fit, restore the field and raise `LabError`."""
        form = self.view.form
        try:
            design, renamed = store_typed(self.view.open_session.design, key, name, text)
        except LabError:
            fields = fields_of(self.view.open_session.design, key, self._apps)
            form.restore(name, next((field.value for field in fields if field.name == name), ""))
            raise
        # A new name may have given the item a new id.
        self.subjects[serial] = renamed
        self.save(design, f"changed {name} of {renamed}", renamed)
        if form.is_open and form.serial == serial:
            form.update_values(fields_of(self.view.open_session.design, renamed, self._apps))

    def store_unreported(self) -> None:
        """Store the texts of the open form when the app ends."""
        session, form = self.view.session, self.view.form
        key = self.subjects.get(form.serial, "")
        if session is not None and form.is_open and design_editing.section_of(key) in SECTIONS:
            for name, text in form.unreported:
                # The app ends, so nobody could correct the text.
                with suppress(LabError):
                    design, key = store_typed(session.design, key, name, text)
                    session.draft(design, f"changed {name} of {key}")

    def remove(self) -> None:
        """Remove the item under the cursor."""
        view = self.view
        key, at = view.outline.key, view.outline.cursor
        if not key:
            view.notify("There is nothing here to delete.", markup=False)
            return
        self.save(design_editing.remove(view.open_session.design, key), f"deleted {key}")
        view.outline.go(max(0, min(at, view.outline.count - 1)))
        view.notify(f"Deleted {design_editing.id_of(key)}; z brings it back.", markup=False)
