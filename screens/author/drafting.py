"""Draft a design: add items from the current step and edit them in the form. Each change is stored at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import msgspec

from lab.core.design import SECTIONS, Design, Section
from lab.core.errors import LabError
from lab.core.task import Branch, Criterion, InformationUnit, TdgNode
from lab.core.typed_text import clean
from lab.runs.descriptions import target_name
from lab.studies import design_editing
from lab.studies.design_drafts import Beginning, first_draft_of, node_of, unit_of
from lab.studies.design_editing import Item
from screens.author.design_view import DesignView
from screens.author.fields import fields_of, named_id, store_typed
from screens.author.outline import TITLES
from screens.author.words import FORM_WORDS
from screens.lab import try_report

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
        self.view.tell()

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
