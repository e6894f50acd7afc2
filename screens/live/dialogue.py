"""What was said in a run, and, for those who may know, what was thought and done."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from lab.core.plain_text import plain
from lab.core.screen_clock import Clock
from lab.core.step import Decision, Reply
from lab.core.trace import POSTURES, Answered, AnyEvent, Asked, Ended, Paused, Resumed, Started, Step
from lab.runs.descriptions import action_words
from screens.key_names import focus_now, with_keys
from screens.widgets.card import GivingColumn

_SILENCE = "Nothing was said yet. A question of the agent will stand here."


class Transcript(VerticalScroll, can_focus=True):
    """Every entry in its order, the newest in sight."""

    HELP = "What was said so far. Arrows and PgUp, PgDn scroll; **{run.back}** goes back to the question."
    DEFAULT_CSS = """
    Transcript { height: 1fr; }
    Transcript > Static { height: auto; width: 1fr; margin-bottom: 1; }
    Transcript > .-now { display: none; }
    """

    def on_mount(self) -> None:
        self.anchor()


class Dialogue(Vertical):
    """The transcript and one line of what goes on.

    `knows` is whether thoughts, actions and decisions are shown. What is not to be known is never put in.
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
        self._asked: Static | None = None
        """The newest question of the agent."""

    def compose(self) -> ComposeResult:
        yield self._transcript
        yield self._doing

    def begin_with(self, line: str) -> None:
        """Puts a line above all that is said."""
        self._first.update(Text(with_keys(self, plain(line, lines=False))))
        self._first.display = True

    def focus_transcript(self) -> None:
        """Puts the keys where nothing is typed."""
        focus_now(self._transcript)

    def say(self, line: str) -> None:
        """What goes on now, in one line."""
        if line == self._line:
            return
        self._line = line
        self._doing.update(Text(plain(line, lines=False)))
        self._doing.display = bool(line)

    def show(self, event: AnyEvent) -> None:
        """Adds what one event means to the person who looks."""
        match event:
            case Asked():
                kind = "says" if event.question.kind == "propose" else "asks"
                self._add(self._utterance("agent", kind, event.at, event.question.text), "-agent")
                if self._knows and event.proposed.thought:
                    self._add(_thought(event.proposed.thought), "-thought")
            case Answered():
                self.question_open(False)
                self._add(self._utterance("you", _verb(event.reply), event.at, event.reply.text), "-person")
            case Step() if self._knows and event.question is None:
                self._add(_step(event), "-step")
            case Paused() | Resumed() if self._knows or event.by.kind == "human":
                self._add(self._note(event), "-note")
            case Ended():
                self.question_open(False)
                self._silence.update("Nothing was said.")
            case Started():
                self.question_open(False)

    def question_open(self, is_open: bool) -> None:
        """Hides the last question while it stands open below, and shows it in its place afterwards."""
        if self._asked is not None:
            self._asked.set_class(is_open, "-now")

    def _add(self, text: Text, kind: str) -> None:
        entry = Static(text, classes=kind, markup=False)
        self._asked = entry if kind == "-agent" else self._asked
        if self._transcript.is_attached:  # the last event of all comes while the screen is taken down
            self._silence.display = False
            self._transcript.mount(entry)

    def _utterance(self, who: str, verb: str, at: str, words: str) -> Text:
        text = Text()
        text.append(f"{who} {verb}", style="bold")
        text.append(f"  {self._clock.time_of_day(at)}", style="dim")
        if words:
            text.append("\n" + plain(words))
        return text

    def _note(self, event: Paused | Resumed) -> Text:
        what = f"paused ({plain(event.reason)})" if isinstance(event, Paused) and event.reason else ""
        what = plain(event.reason) if event.state in POSTURES else what
        what = what or ("paused" if isinstance(event, Paused) else "goes on")
        return Text(f"-- {what}  {self._clock.time_of_day(event.at)}", style="dim")


def _verb(reply: Reply) -> str:
    verb = {"accept": "accepted", "reject": "rejected", None: "answered"}[reply.decision]
    return verb if reply.by.kind == "human" else f"({plain(reply.by.shown)}) {verb}"


def _step(step: Step) -> Text:
    tree = step.before.tree
    text = Text()
    text.append(f"{step.index + 1}  ", style="bold")
    text.append(action_words(step.action or step.proposed.action, tree))
    if step.decision is not None and _worth_saying(step.decision):
        note = f": {plain(step.decision.note)}" if step.decision.note else ""
        text.append(f"\n{_verdict(step, step.decision)}{note}  ({step.decision.seconds:.1f} s)")
    elif step.proposed.by is not None:
        text.append(f"\nby {plain(step.proposed.by.shown)}, in the agent's place")
    if step.typed_by:
        text.append(f"\ntyped by {plain(step.typed_by)}", style="dim")
    if step.error:
        text.append(f"\n! {plain(step.error)}")
    if step.proposed.thought:
        text.append("\n").append_text(_thought(step.proposed.thought))
    return text


def _worth_saying(decision: Decision) -> bool:
    return decision.verdict != "approve" or bool(decision.note)


def _verdict(step: Step, decision: Decision) -> str:
    who = plain(decision.by.shown)
    if decision.verdict == "amend":
        return f"amended by {who}; the agent wanted: {action_words(step.proposed.action, step.before.tree)}"
    return f"{decision.verdict}d by {who}" if decision.verdict == "approve" else f"rejected by {who}, not done"


def _thought(thought: str) -> Text:
    return Text(f"thinks: {plain(thought)}", style="italic dim")


class DialogueColumn(GivingColumn):
    """The dialogue with whatever waits for the person beneath it."""

    ALLOW_MAXIMIZE = True
    GIVES = (
        (("question", 0), ("bench", 0), ("before", 0), ("result", 0)),
        (("dialogue", 0), ("question", 0), ("bench", 0), ("before", 0), ("result", 0)),
    )

    def __init__(self, *parts: Widget) -> None:
        super().__init__(*parts, id="talk", classes="pane")
        self.border_title = "Dialogue"
