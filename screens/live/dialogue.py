"""The dialogue of a run: questions and answers, and, for a developer, thoughts and actions."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from lab.core.run.screen_clock import Clock
from lab.core.run.step import Decision, Reply
from lab.core.run.trace import POSTURES, Answered, AnyEvent, Asked, Ended, Paused, Resumed, Started, Step
from lab.core.text.plain_text import plain
from lab.runs.descriptions import action_words
from screens.key_names import focus_now, with_keys
from screens.widgets.card import GivingColumn

_SILENCE = "Nothing was said yet. A question of the agent will stand here."


class Transcript(VerticalScroll, can_focus=True):
    """All entries in order, scrolled to the newest."""

    HELP = "What was said so far. Arrows and PgUp, PgDn scroll; **{run.back}** goes back to the question."
    DEFAULT_CSS = """
    Transcript { height: 1fr; }
    Transcript > Static { height: auto; width: 1fr; margin-bottom: 1; }
    Transcript > .-now { display: none; }
    """

    def on_mount(self) -> None:
        self.anchor()


class Dialogue(Vertical):
    """The transcript, and one line about the present.

    `knows` is True if thoughts, actions and decisions are shown. Entries that a seat may not know are never added.
    """

    DEFAULT_CSS = """
    Dialogue { height: 1fr; min-height: 5; }
    Dialogue > #doing { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, clock: Clock, *, knows: bool) -> None:
        super().__init__(id="dialogue")
        self._clock = clock
        self._knows = knows
        self._line: str | None = None
        self._silence = Static(_SILENCE, id="silence", markup=False)
        self._first = Static(id="you-are", markup=False)
        self._first.display = False
        self._transcript = Transcript(self._first, self._silence, id="transcript")
        self._doing = Static("", id="doing", markup=False)
        self._newest_question: Static | None = None
        """Entry of the newest question."""

    def compose(self) -> ComposeResult:
        yield self._transcript
        yield self._doing

    def show_part(self, line: str, name: str) -> None:
        """Show above the dialogue whom the person plays. `line` is a sentence of ours with `{name}`."""
        self._first.update(Text(with_keys(self, line, name=plain(name, lines=False))))
        self._first.display = True

    def focus_transcript(self) -> None:
        """Focus the transcript, where no key types."""
        focus_now(self._transcript)

    def show_activity(self, line: str) -> None:
        """Show one line about what happens now."""
        if line == self._line:
            return
        self._line = line
        self._doing.update(Text(plain(line, lines=False)))
        self._doing.display = bool(line)

    def show(self, event: AnyEvent) -> None:
        """Add an event's entry, if it has one for this seat."""
        match event:
            case Asked():
                kind = "says" if event.question.kind == "propose" else "asks"
                self._add_entry(self._utterance("agent", kind, event.at, event.question.text), "-agent")
                if self._knows and event.proposed.thought:
                    self._add_entry(_thought_words(event.proposed.thought), "-thought")
            case Answered():
                self.question_open(False)
                self._add_entry(self._utterance("you", _reply_verb(event.reply), event.at, event.reply.text), "-person")
            case Step() if self._knows and event.question is None:
                self._add_entry(_step_entry(event), "-step")
            case Paused() | Resumed() if self._knows or event.by.kind == "human":
                self._add_entry(self._state_note(event), "-note")
            case Ended():
                self.question_open(False)
                self._silence.update("Nothing was said.")
            case Started():
                self.question_open(False)

    def question_open(self, is_open: bool) -> None:
        """Hide the newest question's entry while the question is open below, and show it afterwards."""
        if self._newest_question is not None:
            self._newest_question.set_class(is_open, "-now")

    def _add_entry(self, text: Text, kind: str) -> None:
        entry = Static(text, classes=kind, markup=False)
        self._newest_question = entry if kind == "-agent" else self._newest_question
        if self._transcript.is_attached:  # the last event arrives while Textual removes the screen
            self._silence.display = False
            self._transcript.mount(entry)

    def _utterance(self, who: str, verb: str, at: str, words: str) -> Text:
        text = Text()
        text.append(f"{who} {verb}", style="bold")
        text.append(f"  {self._clock.time_of_day(at)}", style="dim")
        if words:
            text.append("\n" + plain(words))
        return text

    def _state_note(self, event: Paused | Resumed) -> Text:
        what = f"paused ({plain(event.reason)})" if isinstance(event, Paused) and event.reason else ""
        what = plain(event.reason) if event.state in POSTURES else what
        what = what or ("paused" if isinstance(event, Paused) else "goes on")
        return Text(f"-- {what}  {self._clock.time_of_day(event.at)}", style="dim")


def _reply_verb(reply: Reply) -> str:
    verb = {"accept": "accepted", "reject": "rejected", None: "answered"}[reply.decision]
    return verb if reply.by.kind == "human" else f"({plain(reply.by.display_name)}) {verb}"


def _step_entry(step: Step) -> Text:
    tree = step.before.tree
    text = Text()
    text.append(f"{step.index + 1}  ", style="bold")
    text.append(action_words(step.action or step.proposed.action, tree))
    decision = step.decision
    if decision is not None and (decision.verdict != "approve" or decision.note):
        note = f": {plain(decision.note)}" if decision.note else ""
        text.append(f"\n{_decision_words(step, decision)}{note}  ({decision.seconds:.1f} s)")
    elif step.proposed.by is not None:
        text.append(f"\nby {plain(step.proposed.by.display_name)}, in the agent's place")
    if step.typed_by:
        text.append(f"\ntyped by {plain(step.typed_by)}", style="dim")
    if step.error:
        text.append(f"\n! {plain(step.error)}")
    if step.proposed.thought:
        text.append("\n").append_text(_thought_words(step.proposed.thought))
    return text


def _decision_words(step: Step, decision: Decision) -> str:
    who = plain(decision.by.display_name)
    if decision.verdict == "amend":
        return f"amended by {who}; the agent wanted: {action_words(step.proposed.action, step.before.tree)}"
    return f"{decision.verdict}d by {who}" if decision.verdict == "approve" else f"rejected by {who}, not done"


def _thought_words(thought: str) -> Text:
    return Text(f"thinks: {plain(thought)}", style="italic dim")


class DialogueColumn(GivingColumn):
    """Column of the dialogue, with whatever waits for the person below it."""

    ALLOW_MAXIMIZE = True
    SHRINK_ROUNDS = (
        (("question", 0), ("bench", 0), ("before", 0), ("result", 0)),
        (("dialogue", 0), ("question", 0), ("bench", 0), ("before", 0), ("result", 0)),
    )

    def __init__(self, *parts: Widget) -> None:
        super().__init__(*parts, id="talk", classes="pane")
        self.border_title = "Dialogue"
