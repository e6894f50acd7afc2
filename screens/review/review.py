"""Review: two people proofread a demonstration line by line beside its phone, and a third settles differences."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, get_args

import msgspec
from textual import on
from textual.binding import BindingType

from lab.core.codec import reason_of
from lab.core.errors import LabError
from lab.core.run.demonstration import PLACES, REASONS
from lab.core.run.step import Action, ActionKind, Direction, Point
from lab.core.study.proofreading import Difference, ProofreadPlace, Review, action_of, place_words, plain_value
from lab.core.values.rounding import count
from lab.studies.proofreading.proofreading import ProofreadingSession, verdict_place
from lab.studies.proofreading.proofreading_queue import review_queue
from screens.author.fields import FormField
from screens.author.form import ItemForm
from screens.dialogs import AskScreen
from screens.key_names import with_keys
from screens.lab import try_report
from screens.mirror.mirror import Mirror
from screens.replay.action_marks import action_marks
from screens.replay.run_player import RunPlayer
from screens.review.items import VerdictList
from screens.review.keys import REVIEW_KEYS
from screens.review.room import DemoRoom, Rows
from screens.review.words import item_sheet, state_words, title_words
from screens.widgets.border_words import write_title
from screens.widgets.lines import LineList

_PROOFREADING = frozenset({"accept", "accept_all", "reject", "commit"})


class ReviewScreen(DemoRoom):
    """The room of the proofreaders and of the third person who settles."""

    BINDING_GROUP_TITLE = "Review"
    BINDINGS: ClassVar[list[BindingType]] = REVIEW_KEYS
    NAME = "Review"
    SHELF = "Demonstrations"
    items: VerdictList
    session: ProofreadingSession | None = None
    choosing_place = False
    """True if the next click on the phone chooses the place of the action."""

    def list_of(self) -> LineList:
        self.items = VerdictList()
        self._form_texts: dict[int, tuple[str, int | None, dict[str, str]]] = {}
        return self.items

    def load_rows(self) -> Rows:
        return review_queue(self.store, self.person.id)

    def load(self, run: str) -> ProofreadingSession:
        return ProofreadingSession(self.store, run, self.person)

    def show(self, session: ProofreadingSession) -> None:
        self.session = session
        self.choosing_place = False
        self.items.border_title = "Demonstration"
        self.items.show(self.session)
        unseen = [step for step in self.session.sheet.unseen if step is not None]
        self.items.cursor = unseen[0] + 1 if unseen else 0

    def reload(self) -> None:
        if self.session is not None:
            self.session.load()
        self.repaint()

    # -- painting --------------------------------------------------------------------------------------------

    def repaint(self) -> None:
        session = self.session
        if session is None or self.run_id is None:
            return
        self.items.show(session)
        step = self.items.step
        tree = self.footage.screen_shown.tree if self.footage.screen_shown is not None and step is not None else None
        write_title(self.page, "The whole" if step is None else f"Step {step + 1} of {session.demo.steps}")
        self.page.show(item_sheet(session, step, tree, slip=step in session.slips))
        self.say(title_words(session), self._state_words(session))
        self._mark_action()
        self.refresh_bindings()

    def _state_words(self, session: ProofreadingSession) -> str:
        if self.choosing_place:
            return with_keys(self, "Click the place on the phone, or drag a box; {review.back} leaves it.")
        if self.form.is_open:
            keeps = "{form.on} goes on to the next field and keeps all after the last; {review.keep} keeps now, "
            return with_keys(self, keeps + "{review.back} drops it.")
        return with_keys(self, state_words(session))

    def _mark_action(self) -> None:
        """Draw the action as this person left it."""
        view, session, step = self.footage.view, self.session, self.items.step
        if view is None or session is None or step is None or self.footage.after or view.number != step:
            return
        action = action_of(session.value(ProofreadPlace(step, "action")))
        self.footage.stage.mirror.mark(action_marks(action, view.before.size or self.footage.stage.phone))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable only what this person may do with the demonstration now."""
        session = self.session
        if action in ("back", "overlay"):
            return True
        if action == "keep":
            return self.form.is_open
        if self.run_id is None or session is None or self.form.is_open:
            return False
        if action == "undo":
            return session.last_word is not None
        if action in _PROOFREADING:
            return session.writable and (action != "commit" or not session.sheet.unseen)
        if action in ("edit", "point"):
            return (session.writable or session.settling) and (action == "edit" or self.items.step is not None)
        if action == "settle":
            return session.settling and bool(self._open_differences())
        return True

    # -- looking ---------------------------------------------------------------------------------------------

    @on(LineList.Highlighted, "#items")
    def _follow_cursor(self, message: LineList.Highlighted) -> None:
        message.stop()
        self.choosing_place = False
        if self.items.step is not None:
            self.footage.timeline.go(self.items.step)
        self.repaint()

    @on(LineList.Chosen, "#items")
    async def _edit_line(self, message: LineList.Chosen) -> None:
        message.stop()
        if self.check_action("edit", ()):
            await self.action_edit()

    @on(RunPlayer.Looked)
    def _follow_step(self) -> None:
        if self.items.step is not None:
            self.footage.timeline.go(self.items.step)
        self.repaint()

    def action_move(self, by: int) -> None:
        """Go one line forward or back."""
        self.items.go(self.items.cursor + by)

    def action_after(self) -> None:
        """Toggle the screens before and after the step."""
        self.footage.toggle_after()

    def action_next(self) -> None:
        """Go to the next line to do, wrapping around to the top."""
        session = self.session
        assert session is not None
        differing = [difference.place.step for difference in session.standing.differences]
        todo = differing if session.settling else session.sheet.unseen
        lines = sorted({0 if step is None else step + 1 for step in todo})
        if not lines:
            self.notify("Nothing is left to look at.", markup=False)
            return
        self.items.go(next((line for line in lines if line > self.items.cursor), lines[0]))

    # -- what a proofreader does -----------------------------------------------------------------------------

    def action_accept(self) -> None:
        """Accept this line and go to the next."""
        step = self.items.step
        self._run_act(lambda session: session.accept([step]))
        self._go_to_unseen()

    def action_accept_all(self) -> None:
        """Accept everything that was not looked at."""
        self._run_act(lambda session: session.accept(session.sheet.unseen))

    async def action_reject(self) -> None:
        """Ask why this line is rejected."""
        session, step = self.session, self.items.step
        assert session is not None
        note = session.sheet.note(verdict_place(step))
        title = "Reject the demonstration" if step is None else f"Reject step {step + 1}"
        await self._open_form(
            "reject", title, [FormField("reason", "why", note, with_keys(self, "what is wrong; {form.on} rejects"))]
        )

    async def action_edit(self) -> None:
        """Open the form of this line's fields."""
        session, step = self.session, self.items.step
        assert session is not None
        await self._open_form("edit", "The whole" if step is None else f"Step {step + 1}", fields_of(session, step))

    def action_point(self) -> None:
        """Toggle the mode in which the next click or drag on the phone chooses the place."""
        self.choosing_place = not self.choosing_place
        self.repaint()

    def action_keep(self) -> None:
        """Store the form's texts."""
        self.form.close(entered=True)

    def action_undo(self) -> None:
        """Undo the last statement and go to its line."""
        assert self.session is not None
        words: list[Review] = []
        self._run_act(lambda session: words.extend(session.undo()))
        step = words[0].step
        self.items.go(0 if step is None else step + 1)
        self.repaint()
        what = place_words(words[0].place) if len(words) == 1 else f"{len(words)} words"
        self.notify(f"Taken back: {what}.", markup=False)

    def action_commit(self) -> None:
        """Submit the review after a confirmation."""
        session = self.session
        assert session is not None
        steps = count(session.demo.steps, "step")
        sentence = f"Your review of {steps} is handed in for good: nothing in it changes any more."

        def hand_in(sure: bool | None) -> None:
            if sure and self.session is session:
                try_report(self, self._hand_in)

        self.app.push_screen(AskScreen("Hand it in?", sentence, "Hand it in"), hand_in)

    def _hand_in(self) -> None:
        self._run_act(lambda session: session.commit())
        self.notify("Handed in.", markup=False)

    def action_settle(self, which: int) -> None:
        """Settle a difference in this line by the first or the second person's value."""
        difference = self._open_differences()[0]
        note = difference.words[which].note
        self._run_act(lambda session: session.settle(difference.place, difference.words[which].value, note))
        if not self._open_differences():
            self.action_next()

    def action_back(self) -> None:
        """Leave the mode that chooses a place, else go back as in every room."""
        if self.choosing_place:
            self.action_point()
        else:
            super().action_back()

    @on(Mirror.Tapped)
    def _take_tap(self, message: Mirror.Tapped) -> None:
        message.stop()
        self._write_place(message.at, None)

    @on(Mirror.Dragged)
    def _take_drag(self, message: Mirror.Dragged) -> None:
        message.stop()
        self._write_place(message.at, message.to)

    def _write_place(self, at: Point, to: Point | None) -> None:
        step = self.items.step
        if not self.choosing_place or step is None:
            return
        self.choosing_place = False
        place = ProofreadPlace(step, "action")

        def write(session: ProofreadingSession) -> None:
            session.write(place, plain_value(with_place(action_of(session.value(place)), at, to)))

        try_report(self, lambda: self._run_act(write))
        self.items.focus()

    # -- the form --------------------------------------------------------------------------------------------

    async def _open_form(self, what: str, title: str, fields: list[FormField]) -> None:
        serial = await self.form.open(title, fields)
        self._form_texts[serial] = (what, self.items.step, {})
        self.query_one("#items-side").add_class("-busy")
        self.repaint()

    @on(ItemForm.Typed)
    def _take_typed(self, message: ItemForm.Typed) -> None:
        message.stop()
        if message.serial in self._form_texts:
            self._form_texts[message.serial][2][message.name] = message.text

    @on(ItemForm.Closed)
    def _finish_form(self, message: ItemForm.Closed) -> None:
        message.stop()
        self.query_one("#items-side").remove_class("-busy")
        what, step, texts = self._form_texts.pop(message.serial, ("", None, {}))
        self.items.focus()
        done = message.entered
        if not message.entered and texts:
            self.notify("What you typed was dropped.", markup=False)
        elif what == "edit" and texts:
            done = try_report(self, lambda: self._run_act(lambda session: write_fields(session, step, texts)))
        elif what == "reject" and message.entered:
            reason = texts.get("reason", self.form.rows[0].kept)
            done = try_report(self, lambda: self._run_act(lambda session: session.reject(step, reason)))
        self.repaint()
        if done and self.session is not None and self.session.writable:
            self._go_to_unseen()

    # -- beneath ---------------------------------------------------------------------------------------------

    def _open_differences(self) -> list[Difference]:
        session = self.session
        step = self.items.step
        return (
            []
            if session is None
            else [difference for difference in session.standing.differences if difference.place.step == step]
        )

    def _go_to_unseen(self) -> None:
        """Go to the next line that was not looked at, if any."""
        if self.session is not None and self.session.sheet.unseen:
            self.action_next()

    def _run_act(self, act: Callable[[ProofreadingSession], None]) -> None:
        """Run an act and paint. If it is refused, first load what another window did meanwhile."""
        assert self.session is not None
        try:
            act(self.session)
        except LabError:
            self.session.load()
            raise
        finally:
            self.repaint()


_PLACE = re.compile(r"\s*\(?\s*(-?\d{1,9})\s*[,; ]\s*(-?\d{1,9})\s*\)?\s*")
_BOX = re.compile(r"\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(\d{1,9})\s*")
_ACTION = ("kind", "at", "to", "box", "text", "app", "direction", "status")


def fields_of(session: ProofreadingSession, step: int | None) -> list[FormField]:
    """Return the form of a step, or of the whole demonstration (None)."""
    if step is None:
        return [
            FormField("intent", "intent", str(session.value(ProofreadPlace(None, "intent")) or ""), "one sentence"),
            FormField("place", "place", str(session.value(ProofreadPlace(None, "place")) or ""),
                  "residence, office ...", suggestions=PLACES),
            FormField("impossible", "impossible", str(session.value(ProofreadPlace(None, "impossible")) or ""),
                  "a reason code, empty where it was possible", suggestions=tuple(REASONS), replaced=True),
        ]  # fmt: skip
    action = action_of(session.value(ProofreadPlace(step, "action")))
    kinds, ways = get_args(ActionKind), get_args(Direction)
    values = {name: _value_text(action, name) for name in _ACTION}
    rows = [
        FormField(
            "instruction",
            "say",
            str(session.value(ProofreadPlace(step, "instruction")) or ""),
            "what to do in this step",
        ),
        FormField("kind", "action", values["kind"], "click, input_text, scroll ...", suggestions=kinds, replaced=True),
        FormField("at", "at", values["at"], "x, y in pixels; p chooses it on the phone", replaced=True),
        FormField("to", "to", values["to"], "x, y where a drag ends", replaced=True),
        FormField("box", "box", values["box"], "left, top, right, bottom", replaced=True),
        FormField("text", "text", values["text"], "what is typed or answered"),
        FormField("app", "app", values["app"], "which app is opened"),
        FormField("direction", "way", values["direction"], "up, down, left, right", suggestions=ways, replaced=True),
    ]
    # Fields that only some actions have. A value that was recorded is shown all the same.
    needless = {"to": action.kind not in ("drag", "swipe"), "app": action.kind != "open_app",
                "direction": action.kind not in ("scroll", "swipe")}  # fmt: skip
    return [row for row in rows if row.value or not needless.get(row.name)]


def _value_text(action: Action, name: str) -> str:
    value = action.boxes[0] if name == "box" and action.boxes else getattr(action, name, None)
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def write_fields(session: ProofreadingSession, step: int | None, texts: Mapping[str, str]) -> None:
    """Store the typed texts. Raise `LabError` for a text that does not fit, and store nothing of its field."""
    for name, text in texts.items():
        if name not in _ACTION:
            session.write(ProofreadPlace(step, name), text.strip())  # type: ignore[arg-type]
    changes = {name: text for name, text in texts.items() if name in _ACTION}
    if changes and step is not None:
        place = ProofreadPlace(step, "action")
        action = action_of(session.value(place))
        session.write(place, plain_value(_apply_changes(action, changes)))


def _apply_changes(action: Action, texts: Mapping[str, str]) -> Action:
    values: dict[str, Any] = {}
    for name, text in texts.items():
        if name in ("at", "to"):
            values[name] = _parse_numbers(_PLACE, text, name)
        elif name == "box":
            box = _parse_numbers(_BOX, text, name)
            values["boxes"] = (box,) if box else ()
        else:
            values[name] = text.strip() or None
    fields = msgspec.to_builtins(action) | values
    try:
        return action_of({name: value for name, value in fields.items() if value is not None})
    except msgspec.ValidationError as error:
        reason = reason_of(str(error), Action)
        raise LabError("action", f"{reason}.", "`hitlab settings schema action` says what it may hold.") from error


def _parse_numbers(pattern: re.Pattern[str], text: str, name: str) -> tuple[int, ...] | None:
    if not text.strip():
        return None
    match = pattern.fullmatch(text)
    if match is None:
        raise LabError(
            name, f"{text[:40]!r} is not pixels.", "Type 540, 1200." if name != "box" else "Type four numbers."
        )
    return tuple(int(part) for part in match.groups())


def with_place(action: Action, at: tuple[int, int], to: tuple[int, int] | None) -> Action:
    """Return an action with a new place: a point, a drag's path, or a box in which any point is right."""
    if to is None:
        return msgspec.structs.replace(action, at=at, boxes=())
    if action.kind in ("drag", "swipe"):
        vector = (to[0] - at[0], to[1] - at[1]) if action.vector is not None else None
        return msgspec.structs.replace(action, at=at, to=to, vector=vector)
    left, right = sorted((at[0], to[0]))
    top, bottom = sorted((at[1], to[1]))
    return msgspec.structs.replace(
        action, at=((left + right) // 2, (top + bottom) // 2), boxes=((left, top, right, bottom),)
    )
