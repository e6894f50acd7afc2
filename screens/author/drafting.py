"""Drafting: items are added from the step shown, edited, moved, nested and taken out; each change is kept at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from textual import on

from lab.design import editing
from lab.design.drafting import begun, node_of, unit_of
from lab.design.editing import Item
from lab.design.revision import SECTIONS, Design, Section
from lab.errors import LabError
from lab.plain import plain
from lab.settings import Settings
from lab.task import Branch, Criterion, InformationUnit, TdgNode
from screens.author.desk import Desk
from screens.author.fields import fields_of, named_id, typed
from screens.author.form import ItemForm
from screens.author.outline import TITLES
from screens.author.room import AuthorRoom
from screens.describe import target_name
from screens.lines import Lines
from screens.phone.mirror import Mirror

if TYPE_CHECKING:
    from store.store import Store

_EMPTY: dict[Section, Item] = {
    "tdg": TdgNode("", ""), "branches": Branch("", ""), "units": InformationUnit("", ""), "rubric": Criterion("", ""),
}  # fmt: skip


class DraftingRoom(AuthorRoom):
    """The verbs of a designer."""

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__(store, settings)
        self.edits: dict[int, str] = {}
        """What each opening of the form is about: an item's key, or what a subclass says."""

    @property
    def bench(self) -> Desk:
        """The desk; a `LabError` where no task is open."""
        if self.desk is None:
            raise LabError("Author", "no design is open.", "a on a run or a task in Home (F2) opens its design.")
        return self.desk

    def keep(self, design: Design, note: str, key: str = "") -> None:
        """Saves a changed design and shows it, the cursor on the item `key`."""
        try:
            self.bench.draft(design, note)
        finally:
            self.renew()
            self.outline.go_to(key)

    def _change(self, change: Callable[[Design, str], Design], done: str) -> None:
        """What a key does to the item under the cursor."""
        key = self.outline.key
        if key:
            self.keep(change(self.bench.design, key), f"{done} {key}", key)

    # -- adding ----------------------------------------------------------------------------------------------

    async def action_add(self) -> None:
        """Adds an item from the step that is shown."""
        await self.footage.arrived()
        match self.outline.section:
            case "units":
                self._offer_texts()
            case "tdg" if self.footage.step is not None:
                taken = {node.id for node in self.bench.design.tdg.walk()}
                self._put(node_of(self.footage.step, self.footage.app_name, taken))
            case "branches" if (step := self.footage.step) is not None and step.question is not None:
                await self._put_and_edit(Branch("", plain(step.question.text), step.question.options))
            case _:
                await self.action_add_empty()

    async def action_add_empty(self) -> None:
        """Adds an empty item and opens its form."""
        await self._put_and_edit(_EMPTY[self.outline.section])

    async def _put_and_edit(self, item: Item) -> None:
        self._put(item)
        await self.edit()

    def _put(self, item: Item) -> None:
        """Adds an item behind the one under the cursor, with the step shown as its evidence."""
        design, section = self.bench.design, self.outline.section
        taken = {other.id for other in editing.entries(design, section)}
        named = item if item.id else msgspec.structs.replace(item, id=named_id(item, taken))
        key = f"{section}/{named.id}"
        made = editing.add(design, section, named, self.outline.key)
        if self.footage.step is not None and item.id:
            made = editing.see(made, key, self.footage.link)
        self.keep(made, f"added {key}", key)

    def _offer_texts(self) -> None:
        self.fill_texts()
        self.texts.cursor = 0
        self.texts.add_class("-open")
        self.texts.display = True
        self.texts.focus()
        self.allow()
        self.tell()

    @on(Lines.Chosen, "#texts")
    def _take_text(self, message: Lines.Chosen) -> None:
        message.stop()
        self.close_texts()
        self.outline.focus()
        self.tried(lambda: self._put_unit(self.texts.rows[message.index]))

    def _put_unit(self, value: str) -> None:
        taken = {unit.id for unit in self.bench.design.units}
        self._put(unit_of(value, "", self.footage.app_name, taken))

    @on(Mirror.Tapped)
    def _tapped(self, message: Mirror.Tapped) -> None:
        """A text on the phone becomes a unit, or its value in the form that is open."""
        message.stop()
        seen = self.footage.seen
        text = target_name(seen.tree if seen is not None else None, message.at)
        if not text or self.outline.section != "units" or not self.bench.writable:
            self.notify("A click takes a text into a unit (3), where there is one.", markup=False)
            return
        self.close_texts()
        key = self.edits.get(self.form.serial, "")
        if self.form.is_open and editing.section_of(key) == "units":
            self.form.back_to("value", text)
            self.tried(lambda: self._take(self.form.serial, key, "value", text))
        else:
            self.tried(lambda: self._put_unit(text))

    # -- editing ---------------------------------------------------------------------------------------------

    @on(Lines.Chosen, "#outline")
    def _chosen(self, message: Lines.Chosen) -> None:
        message.stop()
        self.call_later(self.run_action, "edit")

    async def action_edit(self) -> None:
        """Edits the item under the cursor, or begins from what is there already."""
        source = self.outline.beginning
        if source is None:
            await self.edit()
            return
        run = self.store.trace(self.footage.run) if self.footage.run is not None and source == "run" else None
        self.keep(begun(source, self.bench.task, run), f"began from {source}")

    async def edit(self) -> None:
        """Opens the form of the item under the cursor; what is not to be changed is not opened."""
        key = self.outline.key
        if not key or not self.bench.writable:
            return
        title = f"{TITLES[self.outline.section]}: {editing.id_of(key)}"
        serial = await self.form.open(title, fields_of(self.bench.design, key, self._apps))
        self.edits[serial] = key
        self.tell()

    @property
    def _apps(self) -> list[str]:
        """The apps that the task names, then those its run was in."""
        return list(dict.fromkeys([*self.bench.task.apps, *self.footage.known_apps]))

    @on(ItemForm.Typed)
    def _typed(self, message: ItemForm.Typed) -> None:
        message.stop()
        key = self.edits.get(message.serial, "")
        if editing.section_of(key) in SECTIONS:
            self.tried(lambda: self._take(message.serial, key, message.name, message.text))

    def _take(self, serial: int, key: str, name: str, text: str) -> None:
        """Keeps one field; what does not fit is said, and the field holds again what it held."""
        try:
            design, renamed = typed(self.bench.design, key, name, text)
        except LabError:
            fields = fields_of(self.bench.design, key, self._apps)
            self.form.back_to(name, next((field.value for field in fields if field.name == name), ""))
            raise
        self.edits[serial] = renamed
        self.keep(design, f"changed {name} of {renamed}", renamed)
        if self.form.is_open and self.form.serial == serial:
            self.form.renew(fields_of(self.bench.design, renamed, self._apps))

    @on(ItemForm.Closed)
    def _left(self, message: ItemForm.Closed) -> None:
        message.stop()
        if not self.form.is_open:
            self.outline.focus()
        self.tell()
        self.finish(self.edits.get(message.serial, ""), entered=message.entered)

    def finish(self, subject: str, *, entered: bool) -> None:
        """The form about `subject` was left, by Enter in its last field or not."""

    def on_unmount(self) -> None:
        """What is typed when the app is left is kept too."""
        key = self.edits.get(self.form.serial, "")
        if self.desk is not None and self.form.is_open and editing.section_of(key) in SECTIONS:
            for name, text in self.form.unsaid:
                with suppress(LabError):
                    design, key = typed(self.desk.design, key, name, text)
                    self.desk.draft(design, f"changed {name} of {key}")

    def action_remove(self) -> None:
        """Takes the item under the cursor out."""
        key = self.outline.key
        if key:
            at = self.outline.cursor
            self.keep(editing.remove(self.bench.design, key), f"deleted {key}")
            self.outline.go(max(0, min(at, self.outline.count - 1)))
            self.notify(f"Deleted {editing.id_of(key)}; z brings it back.", markup=False)

    def action_undo(self) -> None:
        """Takes the last change back."""
        note = self.bench.undo()
        self.renew()
        self.notify(note.capitalize() if note else "There is nothing to take back.", markup=False)

    def action_shift(self, by: int) -> None:
        """Moves the item under the cursor."""
        self._change(lambda design, key: editing.move(design, key, by), "moved")

    def action_nest(self, deeper: bool) -> None:
        """Into the node above as an alternative, or out."""
        self._change(lambda design, key: editing.nest(design, key, deeper=deeper), "nested")

    def action_turn(self) -> None:
        """Flexible or fixed; explicit or steering."""
        self._change(editing.turn, "turned")

    async def action_evidence(self) -> None:
        """The step that is shown as evidence of the item, or no longer."""
        await self.footage.arrived()
        if self.footage.link:
            self._change(lambda design, key: editing.see(design, key, self.footage.link), "evidence of")

    def action_to_evidence(self) -> None:
        """Goes to the next step that the item was seen in."""
        links = self.bench.design.evidence.get(self.outline.key, ())
        here = links.index(self.footage.link) + 1 if self.footage.link in links else 0
        if not links or not self.footage.go_to(links[here % len(links)]):
            self.notify("No step of this run is kept for it: e keeps the one shown.", markup=False)

    async def action_used(self) -> None:
        """The unit under the cursor is used in the app of this step."""
        await self.footage.arrived()
        unit = editing.item_at(self.bench.design, self.outline.key)
        if isinstance(unit, InformationUnit) and self.footage.app_name:
            used = msgspec.structs.replace(unit, used=self.footage.app_name)
            self._change(lambda design, key: editing.change(design, key, used), "used")
