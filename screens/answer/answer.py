"""The Answer screen: requests at the endpoint as conversations in an inbox, with the brief and the person's reply."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.message import Message
from textual.widgets import TextArea

from lab.core.errors import LabError
from lab.core.run.screen_clock import Clock
from lab.core.run.step import Question, Reply
from lab.core.run.trace import Trace
from lab.core.settings import Settings
from lab.core.task.task import Actor
from lab.core.text.plain_text import plain
from lab.runs.endpoint.conversation_list import ConversationLine, conversations
from lab.runs.endpoint.conversation_run import Turn, calls_of, close_conversation, give_reply, waiting_turn
from lab.runs.endpoint.running_servers import notes_stamp
from screens.answer.brief import BriefPage
from screens.answer.conversation_words import dialogue_content, said_before
from screens.answer.inbox import Inbox
from screens.answer.judge_form import JudgeForm
from screens.answer.keys import KEYS
from screens.answer.room_lines import RoomLines
from screens.answer.tool_form import ToolForm
from screens.answer.words import translated
from screens.background import Background
from screens.dialogs import AskScreen
from screens.key_names import focus_now, with_keys
from screens.lab import lab_of
from screens.live.background_writes import BackgroundWrites
from screens.live.choices import Choice, choice_bindings
from screens.live.field import ReplyText
from screens.live.reply import OpenQuestion, ReplyChoices
from screens.mirror.mirror import Mirror
from screens.stylesheet import ROOM_STYLES
from screens.widgets.border_words import write_title
from screens.widgets.card import GivingColumn
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.text_page import TextPage
from simulators.users.endpoint.chat_request import Tool
from simulators.users.endpoint.place import EndpointPlace
from simulators.users.endpoint.tool_arguments import form_tool
from store.store import Store

_LOOKS = 0.4
"""Seconds between two polls of the file."""
_PATIENCE = 2.0
"""Maximum seconds to wait for the last writes on leaving."""


class EndpointState(NamedTuple):
    """The file's present state, with the person's conversations and the open one."""

    stamp: tuple[object, ...]
    lines: list[ConversationLine]
    trace: Trace | None
    picture: bytes | None
    draft: str
    begun: tuple[str, str] | None


@dataclass
class AnswerFailed(Message):
    """Message: an answer could not be committed."""

    error: LabError
    question: Question | None


class ConversationColumn(GivingColumn):
    """Column of brief and dialogue above the open question. In a low terminal the question stays in view."""

    SHRINK_ROUNDS = (
        (("question", 0), ("judge", 0), ("tools", 6)),
        (("above", 2), ("question", 0), ("judge", 0), ("above", 0)),
    )


class AnswerScreen(RoomScreen[None]):
    """Screen of the conversations that were dealt to this seat's person, and of the open one."""

    CSS_PATH = ROOM_STYLES
    AUTO_FOCUS = "#inbox"
    HELP = """
    A benchmark's agent asks, and you are its user. The brief says who you are; the dialogue what was said; the question
    waits below. **{reply.enter}** sends your answer, **{inbox.next}** opens what waits longest, **{inbox.back}** goes
    to the list. The upper line says how many others wait, and for how long the longest. What you sent is on the disk
    before the client has it.
    """
    BINDING_GROUP_TITLE = "Answer"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, store: Store, settings: Settings, *, clock: Clock | None = None) -> None:
        super().__init__()
        self.store, self.settings = store, settings
        self.run = ""
        """Id of the open conversation's run."""
        self.turn: Turn | None = None
        """The open question of that conversation."""
        self._run_of: dict[str, str] = {}
        """Map each question that was open here to its run, so that a draft is saved after the person left it."""
        self._clock = clock or Clock()
        self._stamp: tuple[object, ...] = ()
        self._trace: Trace | None = None
        self._ringed: set[str] = set()
        self._locale = settings.locale
        self._inbox = Inbox(self._clock, self._locale)
        self._brief = BriefPage(self._locale)
        self._talk = TextPage("talk", "pane")
        self._picture = Mirror(classes="pane", notice="")
        self._question = OpenQuestion(self.person, self._clock, ConsentRow(self._clock, id="decision"))
        self._tools, self._judge = ToolForm(self._locale), JudgeForm(self._locale)
        self._lines = RoomLines(settings.person, self._locale, self._clock, self._inbox, self._tools)
        self._errands: BackgroundWrites | None = None
        # The file is busy after an error: the next poll reads it.
        self._polls = Background(self, self._show, lambda _: None)
        self._serving = Background(self, self._record_endpoint)

    @property
    def person(self) -> Actor:
        return Actor("human", self.settings.person)

    # -- beginning and leaving -------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield self._lines.above
        with Horizontal(id="answer-panes"):
            yield self._inbox
            with ConversationColumn(id="conversation"):
                with Horizontal(id="above"):
                    with Container(id="words"):
                        yield self._brief
                        yield self._talk
                    yield self._picture
                yield self._question
                yield self._tools
                yield self._judge
        yield self._lines.below
        yield Footer()

    def on_mount(self) -> None:
        self._picture.interactive = False
        self._picture.display = False
        for pane, key in ((self._brief, "brief"), (self._talk, "dialogue"), (self._picture, "picture")):
            write_title(pane, translated(self._locale, key))
        self._show_endpoint()
        self._errands = BackgroundWrites("answers", lambda error: self._post_refusal(error, None))
        self.set_interval(_LOOKS, self._poll)
        self._update_status()
        self._poll()

    def on_unmount(self) -> None:
        self._question.keep_draft()
        unsent = self._question.unsent
        if self._errands is not None:
            if unsent is not None and self.run:
                self._errands.do(partial(self.store.runs.save_draft, self.run, unsent[0].id, unsent[1]))
            self._errands.finish(_PATIENCE)

    def on_screen_resume(self) -> None:
        self.call_after_refresh(self._question.mark_visible)

    # -- reading ---------------------------------------------------------------------------------------------

    def _poll(self) -> None:
        self._polls.request(partial(self._read_state, self.run))

    def _read_state(self, run: str) -> EndpointState | None:
        """Read what changed. Return None if nothing did."""
        stamp = (*self.store.conversations.stamp(), *notes_stamp(self.store.path), run)
        if stamp == self._stamp:
            return None
        trace = self._trace_now(run) if run and self.store.runs.has_run(run) else None
        # Read the list after the trace: a question that the trace shows as answered must not be listed as waiting.
        lines = conversations(self.store, self.settings.person)
        picture, draft, draft_times = None, "", None
        if trace is not None and (turn := waiting_turn(trace)) is not None:
            image = turn.asked.before.image
            blob = self.store.runs.blob(image) if image else None
            picture = blob.data if blob is not None else None
            draft = self.store.runs.draft(trace.id, turn.question.id)
            draft_times = self.store.runs.draft_times(trace.id, turn.question.id)
        return EndpointState(stamp, lines, trace, picture, draft, draft_times)

    def _trace_now(self, run: str) -> Trace:
        """Return the open conversation. Read it again only if its own run has new events."""
        known = self._trace
        if known is not None and known.id == run and known.last == self.store.runs.last_seq(run):
            return known
        return self.store.runs.trace(run)

    def _update_waits(self) -> None:
        self._inbox.refresh()
        self._lines.paint_above(self.run, self._trace)
        self._lines.paint_below(self.turn)

    def _show(self, message: EndpointState | None) -> None:
        # Most polls find nothing new: only the waits grow.
        if message is None:
            self._update_waits()
            return
        self._stamp = message.stamp
        self._inbox.open_run = self.run
        self._inbox.set_lines(message.lines)
        self.set_class(not (self.run or message.lines), "-nothing")
        self._ring(message.lines)
        if message.trace is not None and message.trace.id == self.run:
            self._show_conversation(message)
        # Nothing is open yet: begin with the longest wait.
        elif not self.run and (waiting := self._inbox.waiting()):
            self.open(waiting[0].run)
        self._update_status()

    def _show_conversation(self, message: EndpointState) -> None:
        trace = message.trace
        assert trace is not None
        other = self._trace is None or self._trace.id != trace.id
        if other or self._trace != trace:
            self._brief.show_brief(trace)
            self._talk.show(dialogue_content(trace, self._clock, self._locale), from_top=False)
            self._talk.call_after_refresh(self._talk.scroll_end, animate=False)
        self._trace = trace
        self.set_class(not said_before(trace, self._clock, self._locale), "-first")
        turn = waiting_turn(trace)
        if turn is None:
            self._notify_ended(trace)
            self._close_question()
        elif self.turn is None or self.turn.question.id != turn.question.id:
            self._open_question(turn, message)

    def _notify_ended(self, trace: Trace) -> None:
        """Notify the person of the reason if the open question ended unanswered."""
        turn, ended = self.turn, trace.ended
        if turn is not None and ended is not None and ended.status != "completed":
            words = self._sentence("ended", reason=plain(ended.reason, lines=False))
            self.notify(words, severity="warning", markup=False)

    def _open_question(self, turn: Turn, message: EndpointState) -> None:
        """Open the waiting question with its saved draft."""
        self._close_question()
        self.turn, self._run_of[turn.question.id] = turn, turn.run
        size = turn.asked.before.size
        self._picture.display = message.picture is not None
        if message.picture is not None:
            self._picture.show_still(message.picture, size, None)
        if turn.facts.kind == "judge":
            self._judge.open(turn.question)
        else:
            self._tools.load_calls(turn.question)
            self._question.open(turn.question, "")
            self._question.restore(turn.question, message.draft, message.begun)
            if (title := _title_key(turn)) is not None:
                write_title(self._question, self._sentence(title))
        if message.begun is None:
            # An empty draft commits the time at which the question was shown.
            self._run_errand(partial(self.store.runs.save_draft, turn.run, turn.question.id, ""))
        self.call_after_refresh(self._focus_answer)

    def _close_question(self) -> None:
        """Close the question, and move the focus away if it was inside."""
        if self.turn is None:
            return
        within = any(pane.has_focus_within for pane in (self._question, self._tools, self._judge))
        self.turn = None
        self._question.close()
        self._tools.close()
        self._judge.close()
        self._picture.display = False
        self.remove_class("-picture")
        if within:
            self._focus_reading()

    def _focus_reading(self) -> None:
        """Move the focus to the inbox, or to the text if the inbox is hidden. No key may act on a hidden widget."""
        focus_now(next((pane for pane in (self._inbox, self._talk) if pane.display), self._brief))

    def _focus_answer(self) -> None:
        if not self.is_current:
            return
        if self.turn is None:
            if self._inbox.has_focus:
                self._focus_reading()
            return
        if self._tools.display:
            return
        (self._judge if self.turn.facts.kind == "judge" else self._question).focus_answer()

    def _ring(self, lines: list[ConversationLine]) -> None:
        """Ring the bell for each new question. Notify the person if another screen is in front."""
        new = {line.asked_at + line.run for line in lines if line.unread and line.is_waiting} - self._ringed
        if not new:
            return
        self._ringed |= new
        if lab_of(self).settings.bell:
            self.app.bell()
        if not self.is_current:
            self.notify(self._sentence("bell"), title=self._sentence("endpoint"), markup=False)

    # -- conversations ---------------------------------------------------------------------------------------

    def open(self, run: str) -> None:
        """Open a conversation. The other one's draft is saved."""
        if run != self.run:
            self._question.keep_draft()
            self._close_question()
            self.run, self._trace = run, None
        self.add_class("-reading")
        self._inbox.open_run = run
        self._poll()
        self.call_after_refresh(self._focus_answer)

    @on(LineList.Chosen, "#inbox")
    def _open_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        if self._inbox.current is not None:
            self.open(self._inbox.current.run)

    @on(Inbox.CloseRequested)
    def _ask_to_close(self, message: Inbox.CloseRequested) -> None:
        line = message.line
        says = self._sentence("unanswered" if line.is_waiting else "unanswered, left" if line.asked_at else "no more")

        def close(sure: bool | None) -> None:
            if sure:
                self._run_errand(partial(close_conversation, self.store, line.run, self.person))

        self.app.push_screen(AskScreen(self._sentence("end it?"), says, self._sentence("end it")), close)

    # -- an endpoint of this app -----------------------------------------------------------------------------

    @on(Inbox.StartRequested)
    def _start_endpoint(self) -> None:
        """Start an endpoint off the UI thread. Report the error if that fails."""
        start = lab_of(self).serve_endpoint
        if start is not None and lab_of(self).endpoint is None:
            self._serving.start(partial(start, self.settings.person))

    def _record_endpoint(self, place: EndpointPlace) -> None:
        lab_of(self).endpoint = place
        self._show_endpoint()
        self._update_status()

    def _show_endpoint(self) -> None:
        """Paint the endpoint's address, or the hint that one can be started."""
        lab, inbox = lab_of(self), self._inbox
        inbox.may_start = lab.endpoint is None and lab.serve_endpoint is not None
        inbox.close_after = lab.endpoint.close_after if lab.endpoint is not None else ""
        words = self._sentence("starts" if inbox.may_start else "nothing", person=self.settings.person)
        inbox.empty = with_keys(inbox, words)
        inbox.set_lines(inbox.lines)

    # -- answering -------------------------------------------------------------------------------------------

    @on(OpenQuestion.DraftChanged)
    def _save_draft(self, message: OpenQuestion.DraftChanged) -> None:
        run = self._run_of[message.question.id]
        self._run_errand(partial(self.store.runs.save_draft, run, message.question.id, message.text))

    @on(OpenQuestion.Sent)
    def _send_reply(self, message: OpenQuestion.Sent) -> None:
        self._commit_reply(message.question, message.reply)

    @on(ToolForm.Sent)
    def _send_calls(self, message: ToolForm.Sent) -> None:
        """Send function calls. If the client takes JSON, send the arguments of its form as the reply's text."""
        form = self._answer_form(self.turn)
        # `form_tool` presents the client's JSON schema as one more function, but no such function exists at the client.
        if form is not None and [name for name, _ in message.functions] == [form.name]:
            self._commit_reply(message.question, self._bare_reply(message.question, message.functions[0][1]))
            return
        calls = calls_of(message.question, message.functions)
        self._commit_reply(message.question, self._bare_reply(message.question, "", calls=calls))

    def _answer_form(self, turn: Turn | None) -> Tool | None:
        """Return the form for the JSON that the client requires, or None if it takes words."""
        if turn is None or turn.facts.form is None:
            return None
        return form_tool(turn.facts.form, turn.facts.tools, self._sentence("form"))

    def _functions(self, turn: Turn) -> tuple[Tool, ...]:
        form = self._answer_form(turn)
        return (*([form] if form is not None else []), *turn.facts.tools)

    @on(JudgeForm.Sent)
    def _send_judgement(self, message: JudgeForm.Sent) -> None:
        self._commit_reply(message.question, self._bare_reply(message.question, message.text))

    def _bare_reply(self, question: Question, text: str, **more: object) -> Reply:
        return Reply(question.id, text, self.person, sent_at=self._clock.now(), **more)  # type: ignore[arg-type]

    def _commit_reply(self, question: Question, reply: Reply) -> None:
        """Commit an answer off the UI thread.

        Take the time at which it was shown from its draft if the reply has none.
        """
        turn = self.turn
        if turn is None or turn.question.id != question.id:
            self.notify(self._sentence("gone"), severity="warning", markup=False)
            return

        def commit() -> None:
            try:
                times = self.store.runs.draft_times(turn.run, question.id)
                timed_reply = reply if times is None or reply.shown_at else replace(reply, shown_at=times[0])
                give_reply(self.store, turn, timed_reply)
            except LabError as error:
                self._post_refusal(error, question)

        self._run_errand(commit)

    def _run_errand(self, errand: object) -> None:
        if self._errands is not None and callable(errand):
            self._errands.do(errand)

    def _post_refusal(self, error: LabError, question: Question | None) -> None:
        """Post `AnswerFailed`. Runs on the thread of background writes."""
        self.post_message(AnswerFailed(error, question))

    @on(AnswerFailed)
    def _reopen_refused(self, message: AnswerFailed) -> None:
        lab_of(self).report(message.error)
        turn, question = self.turn, message.question
        if turn is not None and question is not None and turn.question.id == question.id:
            if turn.facts.kind == "judge" or self._tools.display:
                return  # the forms still hold what the person typed
            unsent = self._question.unsent
            self._question.open(question, unsent[1] if unsent is not None else "")
            self._question.focus_answer()

    # -- keys ------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return False for keys that would do nothing now, so that the footer does not offer them."""
        turn = self.turn
        if action == "tool":
            return turn is not None and bool(self._functions(turn))
        if action == "stop":
            return turn is not None and bool(turn.facts.ended_by) and turn.facts.kind not in ("judge", "consent")
        if action == "next":
            return self._inbox.longest_waiting(self.run if self.turn is not None else "") is not None
        if action == "picture":
            return self._picture.display
        return bool(self.run) if action == "brief" else super().check_action(action, parameters)

    def action_next(self) -> None:
        line = self._inbox.longest_waiting(self.run if self.turn is not None else "")
        if line is not None:
            self.open(line.run)

    def action_tool(self) -> None:
        """Switch between the functions and the text field."""
        if self.turn is None:
            return
        self.add_class("-reading")  # a narrow terminal shows only the list until then
        if self._tools.display:
            self._tools.hide()
            self._question.display = True
            self._update_status()
            self._question.focus_answer()
        else:
            self._question.display = False
            functions, one = (
                self._functions(self.turn),
                self.turn.facts.one_call or self._answer_form(self.turn) is not None,
            )
            self._tools.open(self.turn.question, functions, one_call=one)
            self._update_status()

    def action_stop(self) -> None:
        """Append the token that ends the conversation. Each further press replaces it with the client's next token."""
        turn = self.turn
        if turn is None or not turn.facts.ended_by:
            return
        self.add_class("-reading")
        if self._tools.display:
            self.action_tool()
        text = self._question.query_one(ReplyText).text.strip()
        end_token = next((token for token in turn.facts.ended_by if token in text), "")
        field = self._question.query_one(ReplyText)
        if not end_token:
            field.load_text(f"{text} {turn.facts.ended_by[0]}".strip())
        else:
            tokens = turn.facts.ended_by
            field.load_text(text.replace(end_token, tokens[(tokens.index(end_token) + 1) % len(tokens)]))
        field.move_cursor(field.document.end)
        focus_now(field)

    def action_brief(self) -> None:
        self.toggle_class("-brief")
        if self.has_class("-brief"):
            self.add_class("-reading")
            focus_now(self._brief)
        else:
            self._focus_answer()

    def action_picture(self) -> None:
        self.add_class("-reading")
        self.toggle_class("-picture")

    def action_back(self) -> None:
        """Go back one step. This never ends a conversation and loses no draft."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.has_class("-brief"):
            self.action_brief()
        elif self.has_class("-picture"):
            self.action_picture()
        elif self._tools.display:
            if not self._tools.go_back():
                self.action_tool()
        elif self._question.go_back():
            return
        elif self.has_class("-reading") and not self._inbox.has_focus:
            self._question.keep_draft()
            self.remove_class("-reading")
            focus_now(self._inbox)
        else:
            lab_of(self).open_home()

    # -- what is said ----------------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _renew_keys(self) -> None:
        self.refresh_bindings()

    def _sentence(self, key: str, **values: object) -> str:
        """Return a sentence in this person's language."""
        return translated(self._locale, key, **values)

    def _update_status(self) -> None:
        """Repaint the lines above and below."""
        self._lines.paint_above(self.run, self._trace)
        self._lines.paint_below(self.turn)
        self.refresh_bindings()


def _title_key(turn: Turn) -> str | None:
    """Return the key of a title for a question that an agent did not ask (a function's result, or none), else None."""
    if turn.facts.kind == "tool":
        return "a result"
    return None if turn.question.text.strip() else "you begin"


class ConsentRow(ReplyChoices):
    """Row of two replies, accept and reject. A key sends the tag that the benchmark parses."""

    HELP = """
    The benchmark reads a decision out of your answer. **{consent.accept}** accepts, **{consent.reject}** rejects; the
    key sends the decision in the form that the benchmark parses, with the remark if you typed one. **tab** goes to the
    remark; nothing that is typed there decides anything.
    """
    GROUP = "consent"
    CHOICES = (
        Choice("accept", "a", "accept", "Accept what is proposed"),
        Choice("reject", "r", "reject", "Reject what is proposed"),
    )
    BINDINGS: ClassVar[list[BindingType]] = choice_bindings(GROUP, CHOICES)
