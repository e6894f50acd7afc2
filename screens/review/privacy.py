"""Privacy: mark private boxes and words of a recording, cover them for good, and clear the rest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.content import Content

from lab.core.errors import LabError
from lab.core.run.ui_tree import Bounds
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count
from lab.runs.descriptions import one_line
from lab.studies.proofreading.proofreading_queue import privacy_queue
from lab.studies.proofreading.redaction_plan import RedactionLine, RedactionPlan
from screens.author.fields import FormField
from screens.author.form import ItemForm
from screens.background import Background
from screens.dialogs import AskScreen
from screens.key_names import with_keys
from screens.lab import lab_of, try_report
from screens.mirror.marks import PhoneMark
from screens.mirror.mirror import Mirror
from screens.replay.phone_pane import StillPhone
from screens.replay.run_player import RunPlayer
from screens.review.keys import PRIVACY_KEYS
from screens.review.room import DemoRoom, Rows
from screens.theme import ERROR, HEADING, MUTED, WARNING
from screens.widgets.border_words import write_title
from screens.widgets.lines import LineList
from screens.widgets.table import RowList

if TYPE_CHECKING:
    from lab.ocr.reader import TextReader
    from store.erasing.run_redaction import Redacted


class PrivacyScreen(DemoRoom):
    """The room in which recordings are cleared of private content."""

    BINDING_GROUP_TITLE = "Privacy"
    BINDINGS: ClassVar[list[BindingType]] = PRIVACY_KEYS
    NAME = "Privacy"
    SHELF = "Not cleared yet"
    finds: FindList
    plan: RedactionPlan | None = None
    confirmed_once = False
    """True after the first press of R."""
    busy = False

    def list_of(self) -> LineList:
        self.finds = FindList()
        self._redaction = Background(self, self._show_done, self._handle_failure)
        self._form_serials: set[int] = set()
        self._report: Content | None = None
        self._plans: dict[str, RedactionPlan] = {}
        """Plans that were made in demonstrations and not executed yet, by run."""
        return self.finds

    def load_rows(self) -> Rows:
        return privacy_queue(self.store)

    def load(self, run: str) -> RedactionPlan:
        return RedactionPlan(self.store.runs.trace(run))

    def show(self, plan: RedactionPlan) -> None:
        self._plans = {run: one for run, one in self._plans.items() if one.count and self.store.runs.has_run(run)}
        # The person left this demonstration earlier without covering anything: continue with that plan.
        before = self._plans.get(plan.trace.id)
        if before is not None:
            plan.words, plan.boxes, plan.everywhere = before.words, before.boxes, before.everywhere
        self._plans[plan.trace.id] = self.plan = plan
        self.confirmed_once = self.busy = False
        self.finds.border_title = "Texts"

    # -- painting --------------------------------------------------------------------------------------------

    @property
    def number(self) -> int:
        """The step shown, from 0. The number of steps means the last screen."""
        return self.footage.view.number if self.footage.view is not None else 0

    def repaint(self) -> None:
        covering, view = self.plan, self.footage.view
        if covering is None or self.run_id is None:
            return
        finds = covering.finds(view.number, view.event, self.footage.readable_screen) if view is not None else []
        self.finds.set_rows(finds)
        steps = len(covering.trace.steps)
        place = f"step {self.number + 1} of {steps}" if self.number < steps else "the last screen"
        title = f"Privacy   {place}   recorded by {covering.trace.agent.id}   {covering.trace.task.display_name}"
        self.say(one_line(title, 400), self._state_words(covering))
        write_title(self.page, "Done" if self._report else "To be covered")
        self.page.show(self._report or _plan_words(covering), from_top=False)
        self._mark_boxes()
        self.refresh_bindings()

    def _state_words(self, covering: RedactionPlan) -> str:
        if self.busy:
            return "Covering, and wiping the file ..."
        if self.form.is_open:
            return with_keys(self, "{form.on} covers these words all over the run; {privacy.back} drops them.")
        if self.confirmed_once:
            where = (
                "this run, whatever shares its beginning, and others with its pictures"
                if covering.everywhere
                else ("this run and whatever shares its beginning")
            )
            sure = f"{{privacy.redact}} again covers {covering.count} in {where}, and destroys the originals for good."
            return with_keys(self, sure + " {privacy.back}: not yet.")
        if covering.count:
            return with_keys(self, f"{covering.count} to be covered: {{privacy.redact}} covers them for good.")
        hint = "{privacy.cover} covers a line; {privacy.clear}: nothing private is left."
        return with_keys(self, "Drag a box on the phone, click a text, or " + hint)

    def _mark_boxes(self) -> None:
        """Frame what is to be covered on this screen, and the line under the cursor."""
        covering, find = self.plan, self.finds.current
        if covering is None or self.footage.view is None or self.footage.after:
            return
        covered = [
            *covering.boxes.get(self.number, ()),
            *(node.bounds for node in covering.covered_nodes(self.footage.readable_screen)),
        ]
        boxes = [PhoneMark("box", box[:2], box[2:], "covered") for box in covered]
        current_box = find.box if find is not None and find.box not in covered else None
        marks = [
            *boxes,
            *([PhoneMark("evidence", current_box[:2], current_box[2:])] if current_box is not None else []),
        ]
        self.footage.stage.mirror.mark(marks)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable everything else during a redaction."""
        if action in ("back", "overlay"):
            return True
        if self.run_id is None or self.plan is None or self.form.is_open or self.busy:
            return False
        if action in ("redact", "everywhere"):
            return bool(self.plan.count)
        if action == "drop":
            return bool(self.plan.boxes.get(self.number))
        return action != "clear" or not self.plan.count

    # -- looking ---------------------------------------------------------------------------------------------

    @on(RunPlayer.Looked)
    def _follow_step(self) -> None:
        self.repaint()

    @on(LineList.Highlighted, "#items")
    def _follow_cursor(self, message: LineList.Highlighted) -> None:
        message.stop()
        self._mark_boxes()

    @on(LineList.Chosen, "#items")
    def _cover_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        if self.check_action("cover", ()):
            self.action_cover()

    def action_step(self, by: int) -> None:
        """Go one step forward or back."""
        self.finds.cursor = 0
        self.footage.move(by)

    # -- what is to be covered -------------------------------------------------------------------------------

    @on(StillPhone.WordsRead)
    def _show_read_words(self) -> None:
        self.repaint()

    def _update_plan(self) -> None:
        self.confirmed_once, self._report = False, None
        self.repaint()

    def action_cover(self) -> None:
        """Cover the line under the cursor, or remove the cover."""
        if self.plan is not None and self.finds.current is not None:
            self.plan.toggle(self.finds.current)
            self._update_plan()

    def action_drop(self) -> None:
        """Remove the last box of this step."""
        assert self.plan is not None
        self.plan.toggle_box(self.number, self.plan.boxes[self.number][-1])
        self._update_plan()

    def action_everywhere(self) -> None:
        """Toggle the redaction of other runs with the same pictures."""
        assert self.plan is not None
        self.plan.everywhere = not self.plan.everywhere
        self._update_plan()

    async def action_words(self) -> None:
        """Ask for words to cover in the whole run."""
        words = FormField(
            "words", "words", "", with_keys(self, "a name, a number ...; {form.on} covers them all over the run")
        )
        self.confirmed_once = False
        self._form_serials.add(await self.form.open("Cover words", [words]))
        self.repaint()

    @on(ItemForm.Closed)
    def _take_words(self, message: ItemForm.Closed) -> None:
        message.stop()
        if message.serial in self._form_serials and message.entered and self.plan is not None:
            self.plan.toggle_words(self.form.rows[0].kept)
        self._form_serials.discard(message.serial)
        self.finds.focus()
        self._update_plan()

    @on(Mirror.Dragged)
    def _cover_dragged(self, message: Mirror.Dragged) -> None:
        message.stop()
        (x0, y0), (x1, y1) = message.at, message.to
        self._toggle_box(Bounds(min(x0, x1), min(y0, y1), max(x0, x1) + 1, max(y0, y1) + 1))

    @on(Mirror.Tapped)
    def _cover_tapped(self, message: Mirror.Tapped) -> None:
        message.stop()
        observation = self.footage.readable_screen
        tree = observation.tree if observation is not None else None
        under = [node for node in tree.nodes_at(*message.at) if node.label.strip()] if tree is not None else []
        if under:
            self._toggle_box(under[0].bounds)

    def _toggle_box(self, box: Bounds) -> None:
        if self.plan is not None and not self.busy and not self.footage.after:
            self.plan.toggle_box(self.number, box)
            self._update_plan()

    # -- for good --------------------------------------------------------------------------------------------

    def action_redact(self) -> None:
        """Ask once more, then cover everything and destroy the originals."""
        if not self.confirmed_once:
            self.confirmed_once = True
            self.repaint()
            return
        self.confirmed_once, self.busy = False, True
        self.repaint()
        assert self.plan is not None
        assert self.run_id is not None
        reader = lab_of(self).text_reader if self.plan.words else None
        self._redaction.start(partial(self._redact, self.run_id, self.plan, reader))

    def _redact(self, run: str, covering: RedactionPlan, reader: TextReader | None) -> tuple[str, Redacted]:
        from lab.ocr.reader import forget
        from lab.runs.replay.picture_text import tree_reader
        from store.erasing.run_redaction import redact

        try:
            redaction = redact(
                self.store,
                run,
                self.person,
                boxes=covering.boxes,
                words=covering.words,
                everywhere=covering.everywhere,
                read=tree_reader(self.store, reader) if reader is not None else None,
            )
        finally:
            # Also after an error: the cache may hold words of pictures that are erased by now.
            (reader.forget if reader is not None else forget)()
        return redaction.replaced[run], redaction

    def _handle_failure(self, error: LabError) -> None:
        lab_of(self).report(error)
        self.busy = False
        if self.run_id is not None and not self.store.runs.has_run(self.run_id):
            self.show_list()  # it was covered, and only the file could not be wiped yet
        self.repaint()

    def _show_done(self, done: tuple[str, Redacted]) -> None:
        run, redaction = done
        self._report = _redaction_report(redaction)
        self.open(run)

    def action_clear(self) -> None:
        """Ask, record that this run holds nothing private, and go back to the list."""
        run = self.run_id

        def clear(sure: bool | None) -> None:
            if sure and run is not None and run == self.run_id:
                try_report(self, lambda: self._clear_run(run))

        sentence = "Your word that nothing private is left in this demonstration is kept for good."
        self.app.push_screen(AskScreen("Nothing private?", sentence, "Clear it"), clear)

    def _clear_run(self, run: str) -> None:
        self.store.reviews.record_clearance(run, self.person)
        self.notify("Cleared.", markup=False)
        self._report = None
        self.show_list()

    def action_back(self) -> None:
        """Cancel the redaction after its first press, else go back as in every room."""
        if self.confirmed_once:
            self._update_plan()
        elif not self.busy or self.run_id is None:
            self._report = None if not self.form.is_open else self._report
            opened, plan = self.run_id, self.plan
            super().action_back()
            if opened is not None and self.run_id is None and plan is not None and plan.count:
                self.notify("Nothing of it is covered yet; what was chosen stays here.", markup=False)


_NOTHING = """\
Nothing yet. What lies under a box goes from the picture, the tree and the words of its step; words go from everything \
that the run holds, and from every picture whose tree shows them."""


def _plan_words(covering: RedactionPlan) -> Content:
    """Return the redaction plan as text."""
    parts: list[tuple[str, str]] = []
    if covering.words:
        parts += [("Words, all over the run\n", HEADING)]
        parts += [(f"{plain(word, lines=False)}\n", "") for word in covering.words]
    for step, boxes in sorted(covering.boxes.items()):
        where = f"step {step + 1}" if step < len(covering.trace.steps) else "the last screen"
        parts += [(f"{len(boxes)} box{'es' * (len(boxes) > 1)} in {where}\n", HEADING)]
    if covering.everywhere:
        parts += [("Also in other runs that hold the same pictures.\n", WARNING)]
    if not parts:
        parts = [(_NOTHING, MUTED)]
    return Content.assemble(*parts)


def _study_words(redaction: Redacted) -> list[str]:
    """Return the rows of studies that were covered, in words."""
    rows = zip(("item", "answer", "act"), redaction.studies, strict=True)
    return [count(number, what) for what, number in rows if number]


def _redaction_report(redaction: Redacted) -> Content:
    """Return the result of a redaction, and what it could not reach."""
    losses = redaction.destroyed
    lines = [
        f"Replaced by covered ones, the originals destroyed: {count(len(redaction.replaced), 'run')}.",
        f"Covered: {count(redaction.boxes, 'box', 'boxes')}, {count(redaction.nodes, 'node')}, words in "
        f"{count(redaction.texts, 'place')}.",
        f"Painted: {count(redaction.pictures, 'picture')}. Left out: {count(redaction.states, 'state')} of the phone.",
        f"Destroyed: {count(losses.rows, 'row')}, {count(losses.blobs, 'picture or state', 'pictures or states')}, "
        f"{count(losses.bytes, 'byte')}; the file is wiped.",
        *([f"Covered too: {count(redaction.designs, 'act')} on designs."] if redaction.designs else []),
        *([f"Covered too: {count(redaction.reviews, 'word')} of reviewers."] if redaction.reviews else []),
        *([f"Covered too: {', '.join(_study_words(redaction))} of studies."] if any(redaction.studies) else []),
        *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in redaction.remaining.sentences),
        *(
            [f"Look yourself at {count(redaction.pictures_without_tree, 'picture')} without a tree."]
            if redaction.pictures_without_tree
            else []
        ),
        *(
            [f"Look at {count(redaction.pictures_by_ocr, 'picture')} whose words were read: the misread stand."]
            if redaction.pictures_by_ocr
            else []
        ),
        "Copies made before (packs, exports, backups) cannot be reached: destroy them yourself.",
    ]
    return Content("\n\n".join(lines))


_WHAT = {"words": "whole run", "box": "box", "typed": "typed", "text": ""}


class FindList(RowList[RedactionLine]):
    """Texts that are covered (■) or may be (□): what looks private, what was typed here, and the screen's texts."""

    HELP = """\
# What is private

**■** is to be covered (dim: because of its words), **□** not yet. First come the words to be covered all over the run
and the boxes of this step, then what looks private anywhere in the run, then what was typed in this step and every
text on its screen. **{privacy.cover}** turns a line; of a text on the screen it covers the box, with what the tree
holds under it. Drag on the phone to draw a box, click to cover what is under the pointer, **{privacy.words}** to type
words. Nothing is done before **{privacy.redact}** is pressed twice; then the original is destroyed.
**{privacy.clear}** says that nothing private is left.
"""
    empty = "Nothing was recorded here that could be read. Drag a box on the phone, or {privacy.words} types words."

    def __init__(self) -> None:
        super().__init__("items")

    def paint(self, index: int, width: int) -> Content:
        row = self.rows[index]
        sign, style = ("■", ERROR) if row.on else ("■" if row.goes else "□", MUTED)
        what = row.looks or _WHAT[row.kind]
        words = one_line(row.text, 300) if row.text else _box_words(row)
        where = f"   {row.where}" if row.where and row.text else ""
        return Content.assemble(
            (f"{sign} ", style),
            (f"{what:<10} " if what else " " * 11, WARNING),
            words,
            (where, MUTED),
        )


def _box_words(row: RedactionLine) -> str:
    return f"{row.box.left},{row.box.top} to {row.box.right},{row.box.bottom}" if row.box is not None else ""
