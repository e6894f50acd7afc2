"""The desk of a demonstration: the held action with its instruction, and the phone's keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import msgspec
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from lab.core.redaction.password_redaction import HIDDEN, typed_password
from lab.core.run.demonstration import reason_words
from lab.core.run.screen_clock import Clock
from lab.core.run.step import Action, Proposed
from lab.core.run.tap_targets import screen_box
from lab.core.run.ui_tree import UiTree
from lab.core.task.instruction_wording import focused_field, name_of, suggest_instruction
from lab.core.text.plain_text import plain
from lab.runs.descriptions import action_words, whole_action
from screens.key_names import keys_of, with_keys
from screens.live.choices import Choice, Choices, choice_bindings
from screens.live.field import ReplyText
from screens.record.nodes import NodePicker
from screens.widgets.card import Card, CardText
from screens.widgets.text_fields import TextLine


class ActionDesk(Card):
    """One stage at a time: the keys, a text to enter, or the held action above the line of its instruction.

    With `quick`, perform an action at once, with the suggestion as its instruction. `tree` returns the current UI tree.
    """

    DEFAULT_CSS = """
    ActionDesk { height: auto; }
    ActionDesk > Static { height: auto; width: 1fr; }
    """
    SHRINK_ROUNDS = ((("desk-what", 2),), (("desk-what", 1), ("desk-hint", 1)))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "other", "Another touch", show=False, id="record.other",
                tooltip="Double tap or hold; scroll another way; wait for longer"),
    ]  # fmt: skip

    @dataclass
    class TargetChanged(Message):
        """Message: the held action, to mark its target on the phone, or None if none is held."""

        action: Action | None

    @dataclass
    class ActionChosen(Message):
        """Message: the person performs this action, with its instruction."""

        proposed: Proposed

    def __init__(self, clock: Clock, *, quick: bool, tree: Callable[[], UiTree]) -> None:
        super().__init__(id="desk", classes="pane")
        self.quick = quick
        self.held: Action | None = None
        self.stage: Stage = "keys"
        self._tree = tree
        self._ready = self._paused = False
        self._text_kind: Wanted = "input_text"
        self._note = ""
        self._suggested = ""
        self._warned = False
        self._keys = PhoneKeys(clock, id="desk-keys")
        self._rows = {"finish": FinishRow(clock, id="desk-finish"), "reason": ReasonRow(clock, id="desk-reason")}
        self._reason = ""
        self._text = DeskText(id="desk-text", compact=True, highlight_cursor_line=False)
        self._secret = TextLine(id="desk-secret", compact=True, password=True)
        self._line = InstructionLine(id="desk-line", compact=True, select_on_focus=False)
        self._picker = NodePicker()
        self.border_title = "Your turn"

    def compose(self) -> ComposeResult:
        yield CardText(id="desk-what")
        yield self._keys
        yield from self._rows.values()
        yield self._text
        yield self._secret
        yield self._line
        yield self._picker
        yield Static(id="desk-hint", markup=False)

    def on_mount(self) -> None:
        self._enter_stage("keys", focus=False)

    # -- whose turn it is ------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """True while the phone waits for the person."""
        return self._ready

    def set_ready(self, ready: bool, still: bool = False) -> None:
        """Set if the phone waits for the person. `still` means that the recording is paused."""
        first = ready and not self._ready
        self._ready, self._paused = ready, still
        self._update_words()
        if first and self.stage == "keys" and self.screen.focused in (None, self._line):
            self.focus_keys()

    def clear(self) -> None:
        """Clear the held action after the session accepted it."""
        mine = self.has_focus_within
        self.held, self._note = None, ""
        self._enter_stage("keys", focus=mine)

    def close(self) -> None:
        """Hide the desk at the end."""
        self.display = False

    def focus_keys(self) -> None:
        """Focus the phone's keys, where nothing is typed."""
        self.screen.set_focus(self._keys)

    def focus_line(self) -> bool:
        """Focus the line of the held action. Return False if none is held."""
        if self.stage == "line":
            self.screen.set_focus(self._line)
        return self.stage == "line"

    # -- what is to be done next -----------------------------------------------------------------------------

    def hold(self, action: Action, note: str = "", *, focus: bool = True) -> None:
        """Hold an action with a suggested instruction. In a quick recording perform it."""
        tree = self._tree()
        # A second touch of the same target keeps an instruction that the person has edited.
        edited = self.stage == "line" and self._line.value != self._suggested
        same = self.held is not None and (self.held.kind, self.held.at) == (action.kind, action.at)
        self.held, self._note, self._suggested, self._warned = action, note, suggest_instruction(action, tree), False
        if self.quick and focus:
            self._perform(self._suggested)
            return
        if not (edited and same):
            self._line.value = self._line.placeholder = self._suggested
            self._line.cursor_position = len(self._suggested)
        self._enter_stage("line", focus=focus)
        self.post_message(self.TargetChanged(masked(action, tree)))

    def type(self, text: str) -> None:
        """Add text typed over the phone to one held action."""
        before = self.held.text or "" if self.held is not None and self.held.kind == "input_text" else ""
        self.hold(Action("input_text", text=before + text), focus=False)

    def key(self, name: str) -> None:
        """Handle a key over the phone.

        Enter performs the held action, or is the phone's own key if none is held. Backspace shortens typed text.
        """
        typing = self.held is not None and self.held.kind == "input_text"
        if name == "enter" and self.held is not None:
            self._perform(self._line.value)
        elif name == "enter":
            self.hold(Action("keyboard_enter"))
        elif typing and self.held is not None and self.held.text and len(self.held.text) > 1:
            self.hold(Action("input_text", text=self.held.text[:-1]), focus=False)
        elif typing:
            self.drop(focus=False)

    def drop(self, *, focus: bool = True) -> None:
        """Drop the held action."""
        self.held, self._note = None, ""
        self._enter_stage("keys", focus=focus)
        self.post_message(self.TargetChanged(None))

    def list_nodes(self) -> None:
        """List the nodes that can be tapped."""
        if self._ready:
            self._enter_stage("nodes")
            self._picker.open(self._tree())

    def go_back(self) -> bool:
        """Go one step back inside the desk. Return False if there is none."""
        if self.stage == "keys":
            return False
        if self.stage == "reason" or (self.stage == "text" and self._text_kind == "answer"):
            self._enter_stage("finish")
        elif self.stage == "text" and self._text_kind == "note":
            self._enter_stage("reason")
        else:
            self.drop()
        return True

    def action_other(self) -> None:
        other = next_variant(self.held) if self.held is not None and self.stage == "line" else None
        if other is not None:
            self.hold(other)

    # -- stages ----------------------------------------------------------------------------------------------

    def _enter_stage(self, stage: Stage, *, focus: bool = True) -> None:
        self.stage = stage
        parts: dict[Stage, Widget] = {
            "keys": self._keys, "text": self._text, "secret": self._secret, "line": self._line, "nodes": self._picker,
            "finish": self._rows["finish"], "reason": self._rows["reason"],
        }  # fmt: skip
        focus = focus or self.has_focus_within
        for name, part in parts.items():
            part.display = name == stage
        for row in self._rows.values():
            row.cursor = -1
        self._keys.cursor = -1
        if focus and stage != "nodes":
            self.screen.set_focus(parts[stage])  # at once, for those who type ahead
        self._update_words()

    def _ask_text(self, kind: Wanted) -> None:
        """Ask for a text, hidden if it goes into a password field."""
        self._text_kind = kind
        field = focused_field(self._tree()) if kind == "input_text" else None
        if field is not None and field.password:
            self._secret.clear()
            self._enter_stage("secret")
        else:
            self._text.clear()
            self._enter_stage("text")

    def _update_words(self) -> None:
        """Update the lines above and below the field."""
        if not self.is_mounted:
            return
        state = RecordState(self.stage, self.held, self._text_kind, self._ready, self.quick, self._warned, self._paused)
        nodes = (keys_of(self.screen, "record.nodes") or ["/"])[0]
        other = keys_of(self, "record.other")[0]
        page, words = self.query_one(CardText), Content.styled(request_words(state, self._tree()), "bold")
        if words != page.content:
            page.show(words)
        self.query_one("#desk-hint", Static).update(Text(with_keys(self, key_hint(state, nodes=nodes, other=other))))

    # -- what is chosen and written --------------------------------------------------------------------------

    @on(Choices.Picked)
    def _take_choice(self, message: Choices.Picked) -> None:
        message.stop()
        if not self._ready:
            self._keys.cursor = -1
            return
        match self.stage, message.choice:
            case "keys", "finish":
                self._enter_stage("finish")
            case "keys", ("input_text" | "open_app") as text_kind:
                self._ask_text(text_kind)
            case "keys", "scroll":
                self.hold(default_scroll(self._tree()))
            case "keys", "wait":
                self.hold(default_wait())
            case "keys", kind:
                self.hold(msgspec.convert({"kind": kind}, Action))
            case "finish", choice if choice == COMPLETE:
                self.hold(Action("status", status="complete"))
            case "finish", choice if choice == ANSWER:
                self._ask_text("answer")
            case "finish", _:
                self._enter_stage("reason")
            case "reason", code:
                self._reason = code
                self._ask_text("note")

    @on(Choices.TooEarly)
    def _ignore_early(self, message: Choices.TooEarly) -> None:
        message.stop()

    @on(ReplyText.Entered)
    def _take_text(self, message: ReplyText.Entered) -> None:
        message.stop()
        text = self._text.text
        if self._text_kind == "note":
            self.hold(Action("status", status="infeasible", text=self._reason), " ".join(text.split()))
        elif text.strip() and self._text_kind == "open_app":
            self.hold(Action("open_app", app=text.strip()))
        elif text:
            self.hold(Action("answer" if self._text_kind == "answer" else "input_text", text=text))

    @on(Input.Submitted, "#desk-secret")
    def _take_secret(self, message: Input.Submitted) -> None:
        message.stop()
        if message.value:
            self.hold(Action("input_text", text=message.value))
            self._secret.clear()

    @on(NodePicker.NodeHighlighted)
    def _aim_at_node(self, message: NodePicker.NodeHighlighted) -> None:
        message.stop()
        if self.stage == "nodes":
            at = message.node.bounds.center if message.node is not None else None
            self.post_message(self.TargetChanged(Action("click", at=at) if at is not None else None))

    @on(NodePicker.NodeChosen)
    def _take_node(self, message: NodePicker.NodeChosen) -> None:
        message.stop()
        self.hold(Action("click", at=message.node.bounds.center))

    @on(Input.Submitted, "#desk-line")
    def _submit_instruction(self, message: Input.Submitted) -> None:
        message.stop()
        self._perform(message.value)

    def _perform(self, instruction: str) -> None:
        """Perform the held action. An emptied line means the suggested instruction."""
        if self.held is None or self._target_changed(self.held):
            return
        words = " ".join(instruction.split()) or self._suggested
        self.post_message(self.ActionChosen(Proposed(self.held, thought=self._note, instruction=words)))

    def _target_changed(self, action: Action) -> bool:
        """Return True if the target shows something else than when the action was held. Warn once per action."""
        suggestion = suggest_instruction(action, self._tree())
        if self._warned or self.quick or suggestion == self._suggested:
            return False
        if self._line.value == self._suggested:
            self._line.value = suggestion
            self._line.cursor_position = len(suggestion)
        self._suggested = self._line.placeholder = suggestion
        self._warned = True
        self._update_words()
        return True


class DeskText(ReplyText):
    """Field for a text that an action needs."""

    HELP = """
    What is typed into the phone, the app's name, the answer, or why it is impossible. **{reply.enter}** takes it,
    **{reply.newline}** begins a new line, **{run.back}** goes back.
    """


class InstructionLine(TextLine):
    """The low-level instruction of the held action."""

    HELP = """
    What this step does, in words: an instruction for someone who sees only this screen. It is suggested from what is
    on the screen; write it better where it is wrong. **Enter** does the act and records both, **{run.back}**
    drops the act, another touch of the phone takes its place, **{record.other}** makes another of it (double tap,
    hold; other ways to scroll).
    """


COMPLETE, ANSWER, IMPOSSIBLE = "complete", "answer", "impossible"


class ChoiceGrid(Choices):
    """Choices in as few rows as possible, in columns of equal width."""

    def _places(self, width: int) -> list[tuple[int, int, int]]:
        sizes = [cell.cell_len for cell in self._cells()]
        column = max(sizes) + 2
        across = self._column_count(width)
        return [(n % across * column, n // across, size) for n, size in enumerate(sizes)]

    def _column_count(self, width: int) -> int:
        """Return the number of columns, with the choices spread evenly over the rows."""
        count = len(self.CHOICES)
        most = max(1, (width + 2) // (max(cell.cell_len for cell in self._cells()) + 2))
        return -(-count // -(-count // most))

    def action_line(self, by: int) -> None:
        across = self._column_count(self.size.width)
        if self.cursor >= 0 and 0 <= self.cursor + by * across < len(self.CHOICES):
            self.cursor += by * across
        else:
            super().action_line(by * len(self.CHOICES))

    def render(self) -> Text:
        text, cells = Text(), self._cells()
        for cell, (left, row, _) in zip(cells, self._places(self.size.width), strict=True):
            if left == 0 and row:
                text.append("\n")
            text.append(" " * (left - len(text.plain.rpartition("\n")[2]))).append_text(cell)
        return text


class PhoneKeys(ChoiceGrid):
    """Actions other than touching the phone."""

    HELP = """
    Your turn: tap, hold, drag and scroll on the phone with the mouse, or take one of these by its digit or its
    underlined letter. **{record.nodes}** lists what can be tapped, for those who have no mouse. Nothing is done before
    **Enter**, except in a quick recording.
    """
    GROUP = "record"
    CHOICES = (
        Choice("navigate_back", "b", "back", "The phone's back key"),
        Choice("navigate_home", "h", "home", "The phone's home key"),
        Choice("press_recent", "r", "recent", "The apps opened lately"),
        Choice("keyboard_enter", "e", "enter", "The keyboard's enter key"),
        Choice("input_text", "t", "type", "Text for the field that has the cursor"),
        Choice("open_app", "o", "open app", "An app by its name"),
        Choice("scroll", "s", "scroll", "Further down, or another way"),
        Choice("wait", "w", "wait", "For the phone"),
        Choice("finish", "f", "finish", "It is done, answered, or impossible"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*choice_bindings(GROUP, CHOICES)]


class FinishRow(Choices):
    """Ways in which a demonstration ends."""

    HELP = """
    How it ends: the intent is fulfilled, or its question answered, or it cannot be done as asked. **{run.back}** goes
    back.
    """
    GROUP = "finish"
    CHOICES = (
        Choice(COMPLETE, "c", "complete", "What was intended is done"),
        Choice(ANSWER, "a", "answer", "What was asked is found; say it"),
        Choice(IMPOSSIBLE, "i", "impossible", "It cannot be done as asked"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*choice_bindings(GROUP, CHOICES)]


class ReasonRow(Choices):
    """Reasons why it is impossible. The choices' names are the stored codes."""

    HELP = """
    Why it is impossible. It violates a convention: no app is used that way. It cannot be completed: something that it
    needs is not there. It is ambiguous: it can be understood in several ways. **{run.back}** goes back.
    """
    GROUP = "reason"
    CHOICES = (
        Choice("violates-convention", "v", "violates a convention", "No app is used that way"),
        Choice("cannot-complete", "c", "cannot be completed", "Something that it needs is not there"),
        Choice("ambiguous", "a", "ambiguous", "It can be understood in several ways"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*choice_bindings(GROUP, CHOICES)]


Stage = Literal["keys", "text", "secret", "line", "finish", "reason", "nodes"]
Wanted = Literal["input_text", "open_app", "answer", "note"]

_ASKS: dict[Wanted, str] = {
    "input_text": "Text to type",
    "open_app": "Which app? Its name, as the phone has it:",
    "answer": "Your answer:",
    "note": "Why, in a few words (may stay empty):",
}


class RecordState(NamedTuple):
    """State of the desk: its stage, the held action, the kind of text it asks for, and if it may act."""

    stage: Stage
    held: Action | None
    wanted: Wanted
    ready: bool
    quick: bool
    moved: bool = False
    """True if the phone's screen changed under the held action."""
    still: bool = False
    """True while the recording is paused."""


def request_words(state: RecordState, tree: UiTree) -> str:
    """Return the request to the person, in a line or two."""
    match state.stage:
        case "line" if state.held is not None:
            hold_line = f"Held: {held_words(state.held, tree)}"
            return f"The phone has moved on: is this still what you mean? {hold_line}" if state.moved else hold_line
        case "text" | "secret" if state.wanted == "input_text":
            field = focused_field(tree)
            return _ASKS["input_text"] + (
                f" into {plain(name_of(field), lines=False)}:" if field else ", though no field has the cursor:"
            )
        case "text" | "secret":
            return _ASKS[state.wanted]
        case "finish":
            return "How does it end?"
        case "reason":
            return "Why is it impossible?"
        case "nodes":
            return "What do you tap?"
    if not state.ready:
        return "The phone stands still." if state.still else "The phone is at it ..."
    return "Touch the phone, which acts at once, or:" if state.quick else "Touch the phone, or:"


def key_hint(state: RecordState, *, nodes: str, other: str) -> str:
    """Return the keys of a stage. `nodes` lists what can be tapped, and `other` varies a touch."""
    match state.stage:
        case "line":
            return f"Enter does it and records this line; {{run.back}} drops it.{_variant_hint(state.held, other)}"
        case "text":
            return "{reply.enter} takes it; {run.back} goes back."
        case "secret":
            return "Enter takes it; {run.back} goes back."
        case "nodes":
            return "Words find it; Enter, or a digit, takes it; {run.back} goes back."
        case "finish" | "reason":
            return "{run.back} goes back."
    return f"{nodes} lists what can be tapped." if state.ready else ""


def _variant_hint(action: Action | None, key: str) -> str:
    """Return the key's hint for the next variant of the same touch, empty if there is none."""
    other = next_variant(action) if action is not None else None
    if other is None:
        return ""
    words = other.direction or ("longer" if other.kind == "wait" else action_words(other).partition(" (")[0])
    return f" {key}: {words}."


_POINTED: tuple[Literal["click", "double_tap", "long_press"], ...] = ("click", "double_tap", "long_press")
_WAYS: tuple[Literal["down", "up", "left", "right"], ...] = ("down", "up", "left", "right")
_WAITS: tuple[int, ...] = (1000, 3000, 10000)


def held_words(action: Action, tree: UiTree) -> str:
    """Describe an action with its whole text and its target in pixels, because its instruction has the name.

    A password stays hidden.
    """
    if action.kind == "status" and action.status == "infeasible":
        return f"report: impossible, {reason_words(action.text or '')}"
    return whole_action(masked(action, tree))


def masked(action: Action, tree: UiTree) -> Action:
    """Return the action with a password replaced by a placeholder."""
    return msgspec.structs.replace(action, text=HIDDEN) if typed_password(action, tree) else action


def default_scroll(tree: UiTree) -> Action:
    """Return a scroll further down in the largest scrollable node, else in the middle of the screen."""
    lists = [node for node in tree.nodes() if node.scrollable]
    box = max((node.bounds for node in lists), key=lambda bounds: bounds.area, default=screen_box(tree))
    return Action("scroll", at=box.center, direction="down")


def default_wait() -> Action:
    """Return the shortest wait."""
    return Action("wait", ms=_WAITS[0])


def next_variant(action: Action) -> Action | None:
    """Return the next variant of a touch, or None if there is only one.

    Variants are a double or long tap, another direction of a scroll, a longer wait.
    """
    if action.kind in ("click", "double_tap", "long_press"):
        kinds = _POINTED
        kind = kinds[(kinds.index(action.kind) + 1) % len(kinds)]
        return msgspec.structs.replace(action, kind=kind)
    if action.kind == "scroll" and action.direction is not None:
        direction = _WAYS[(_WAYS.index(action.direction) + 1) % len(_WAYS)]
        return msgspec.structs.replace(action, direction=direction)
    if action.kind == "wait":
        longer = next((ms for ms in _WAITS if ms > (action.ms or 0)), _WAITS[0])
        return msgspec.structs.replace(action, ms=longer)
    return None
