"""Play: a participant's part in a study. Consent, quiz, task after task, and a short questionnaire after each."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, ClassVar

from rich.table import Column, Table
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static

from annotators.quiz import QuizItem
from lab.core.errors import LabError
from lab.core.run.screen_clock import Clock
from lab.core.settings import Settings
from lab.core.study.study import Study
from lab.core.task.task import Actor
from lab.core.text.plain_text import plain
from lab.studies.playing.play_session import Participation, PlayPosition
from lab.studies.rating.rating_pace import REST, Pace
from lab.studies.rating.rating_session import RatingSession
from screens.annotate.answer_field import AnswerLine
from screens.annotate.rows import SheetItems
from screens.annotate.sheet import SheetPane
from screens.key_names import with_keys
from screens.lab import lab_of
from screens.play.pages import (
    ParticipantPage,
    consent_page,
    page_of,
    pages_to_reread,
    position_words,
    quiz_page,
    reread_page,
    wrong_page,
)
from screens.play.words import translated
from screens.slip import GUARD_SECONDS
from screens.stylesheet import ROOM_STYLES
from screens.widgets.border_words import write_subtitle, write_title
from screens.widgets.footer import Footer
from screens.widgets.room_screen import RoomScreen

if TYPE_CHECKING:
    from store.store import Store


class PageChoices(OptionList, inherit_bindings=False):
    """Choices below a page. A key within the first moment after the page is painted picks nothing."""

    HELP = """
    Each line has a digit: press it, or go there with **{play.above} {play.below}** and press **{play.take}**.
    **{play.down}** reads the page on.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(digit), f"pick({digit})", f"Line {digit}", show=False, id=f"play.{digit}", tooltip="Choose it")
            for digit in range(1, 10)
        ),
        Binding("enter", "take", "Choose", id="play.take", tooltip="Choose the marked line"),
        Binding("down,j", "cursor_down", "Below", show=False, id="play.below", tooltip="The line below"),
        Binding("up,k", "cursor_up", "Above", show=False, id="play.above", tooltip="The line above"),
    ]
    DEFAULT_CSS = """
    PageChoices { height: auto; max-height: 60%; border: none; padding: 0; background: transparent; }
    PageChoices:focus { border: none; background-tint: transparent; }
    PageChoices > .option-list--option { padding: 0 1; }
    """

    @dataclass
    class Picked(Message):
        """Message: a line was chosen, counted from 0."""

        number: int

    @dataclass
    class Early(Message):
        """Message: a key came too soon to be meant for this page."""

    @dataclass
    class NothingMarked(Message):
        """Message: Enter was pressed while no line is marked."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="answers", markup=False)
        self._clock = clock
        self._seen_at = inf

    def show_lines(self, lines: Sequence[str], *, marked: bool) -> None:
        """Show other lines. With `marked`, Enter may choose the first at once."""
        self.clear_options()
        self.add_options([self._option_row(number, line) for number, line in enumerate(lines, 1)])
        self.display = bool(lines)
        self.highlighted = 0 if marked and lines else None
        self._seen_at = inf
        self.call_after_refresh(self.note_painted)

    def _option_row(self, number: int, words: str) -> Table:
        """Return a row of the digit and its text, which may wrap."""
        line = Table.grid("", Column(overflow="fold"), padding=(0, 2, 0, 0))
        line.add_row(Text(str(number), style="bold underline"), Text(plain(words, lines=False)))
        return line

    def note_painted(self) -> None:
        """Note the time when these lines are painted, if their screen is the current one."""
        if self._seen_at == inf and self.screen.is_current:
            self._seen_at = self._clock.seconds()

    @property
    def ready(self) -> bool:
        """True if a key can be meant for these lines."""
        return self._clock.seconds() - self._seen_at >= GUARD_SECONDS

    def on_focus(self) -> None:
        """Mark nothing on focus, so that an Enter meant for the previous page does not agree to anything."""

    def action_pick(self, digit: int) -> None:
        if digit <= self.option_count:
            self._pick(digit - 1)

    def action_take(self) -> None:
        if self.highlighted is None:
            self.post_message(self.NothingMarked())
        else:
            self._pick(self.highlighted)

    def _pick(self, number: int) -> None:
        if not self.ready:
            self.post_message(self.Early())
            return
        self.highlighted = number
        self.post_message(self.Picked(number))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose a line by a click."""
        event.stop()
        self._pick(event.option_index)

    def on_key(self, event: events.Key) -> None:
        """Accept a digit in any width that an input method writes."""
        character = event.character or ""
        if len(character) == 1 and not character.isascii() and (digit := unicodedata.decimal(character, 0)):
            event.stop()
            self.action_pick(digit)


_TICK = 5.0
"""Seconds between two ticks of the clock."""
_OF_PHONE = frozenset({"wish"})
"""Questions of the built-in protocol that need a view of the phone."""


class PlayItems(SheetItems):
    """The questions, and the line that submits at the end."""

    HELP = """\
# The questions

Each line is a question: **✓** answered, **–** skipped or not judged, **·** open. A digit answers the one under the
cursor and goes on to the next; **{answer.next}** goes on, too. **{answer.other}** shows the *other answers*: skip,
cannot judge, a note; so do **{answer.next}** on an open line and **{answer.0}**. On the last line **{answer.next}**
hands in. **{list.up}** **{list.down}** change lines, **{answer.undo}** takes the last answer back, **{play.guide}**
tells what each answer means. Every answer is on the disk before it is shown here.
"""


class PlayScreen(RoomScreen[None]):
    """The room of a participant: one page after the other. The file alone determines which page comes."""

    CSS_PATH = ROOM_STYLES
    AUTO_FOCUS = None
    HELP = """
    Read the page, then press the digit of an answer, or **{play.take}** on the marked one. **{play.down}** reads a
    long page on. Everything is kept as you go: you may leave with **{app.quit}** at any time and go on later at the
    same place.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,pagedown,full_stop", "scroll(1)", "Read on", id="play.down", tooltip="The page, further down"),
        Binding("t", "guide", "What it means", id="play.guide", tooltip="What is asked, and what each answer means"),
        Binding("escape", "back", "Back", show=False, id="play.back", tooltip="Back from what is read once more"),
        Binding("pageup,comma", "scroll(-1)", "Read back", show=False, id="play.up", tooltip="The page, further up"),
    ]

    def __init__(self, store: Store, settings: Settings, *, clock: Clock | None = None) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self.study: Study | None = None
        self.part: Participation | None = None
        self.position: PlayPosition | None = None
        self._clock = clock or Clock()
        self._attendance = PlayAttendance(self._clock)
        self._page_title = ""
        """Title of the current page, empty beside the questions."""
        self._wrong_item: QuizItem | None = None
        self._due_item: QuizItem | None = None
        """The quiz question that was due when the page was shown."""
        self._rereads_consent = False
        """True while the consent text is read again after a refusal."""
        self._read_persona = ""
        """Id of the persona whose card was read in this sitting."""
        self._reread = ""
        """Page that is read again: `card` or `consent`, empty if none."""
        self.sheet = SheetPane(self._clock, self._attendance.pace, PlayItems())

    def compose(self) -> ComposeResult:
        yield Static(id="play-title", markup=False)
        with Vertical(id="play-room"):
            with Vertical(id="play-page", classes="pane"):
                with VerticalScroll(id="play-text", can_focus=False):
                    yield Static(id="play-body", markup=False)
                yield PageChoices(self._clock)
                yield Static(id="play-said", markup=False)
            yield self.sheet
        yield Footer()

    def on_mount(self) -> None:
        self.set_interval(_TICK, self._tick)
        self.watch(self.app, "app_focus", self._attendance.set_focused, init=False)
        self.sheet.display = False
        for part in self._scrolled_parts:
            # Each of them changes how many lines are out of sight.
            for attribute in ("virtual_size", "scroll_y", "size", "show_vertical_scrollbar"):
                self.watch(part, attribute, self._show_lines_below, init=False)

    def on_unmount(self) -> None:
        if self._asks_questions:
            self.sheet.store_place(leaving=True)
        self._attendance.end()

    def on_key(self, event: events.Key) -> None:
        self._attendance.pace.touch()
        if self.sheet.slip.active:
            event.stop()

    def on_mouse_move(self) -> None:
        self._attendance.pace.touch()

    def _tick(self) -> None:
        self._attendance.tick(at_run=lab_of(self).run_is_live)
        self._entitle(self._page_title)

    # -- where the participant is ----------------------------------------------------------------------------

    def open(self, study: Study) -> None:
        """Show a study at the person's last position. An interrupted run continues at once."""
        self.study = study
        try:
            # `en` is the default of the settings. With it the study's own language applies.
            locale = self.settings.locale if self.settings.locale != "en" else study.locale
            self.part = Participation(self.store, study, Actor("human", self.settings.person), locale)
            self.show_position()
            # After `show_position`, so that a study that cannot be shown has no record of a session.
            self.part.begin_sitting()
        except LabError as error:
            self._show_error(error)
            return
        if self.position is not None and self.position.stage == "run":
            self._go_to_run()

    def on_screen_resume(self) -> None:
        """Show the current page, because a run may have ended meanwhile."""
        if self.part is not None:
            self.show_position()
        self.call_after_refresh(self.query_one(PageChoices).note_painted)

    @property
    def where(self) -> str:
        """The participant's position in a few words, empty if no study is open."""
        if self.part is None or self.position is None:
            return ""
        return position_words(self.part, self.part.where())

    @property
    def lobby_words(self) -> str:
        """Text about the study for the lobby."""
        if self.part is None or self.position is None:
            return ""
        study = self.part.study
        title = plain(study.title or study.id, lines=False)
        return translated(self.part.locale, "lobby", title=title, where=self.where)

    def show_position(self) -> None:
        """Show the page of the participant's position."""
        assert self.part is not None
        try:
            self.position = self.part.where()
        except LabError as error:
            self._show_error(error)
            return
        sheet = self.sheet
        is_asking = self.position.stage == "questions"
        if is_asking and not sheet.display:
            self._open_sheet(self.position)
        sheet.display = is_asking
        self.query_one("#play-page").display = not is_asking
        # Nothing about a person is recorded before they have agreed.
        self._attendance.participation = None if self.position.stage in ("consent", "refused") else self.part
        self._due_item = self._quiz_item(self.part, self.position)
        page = None if is_asking else self._current_page(self.part, self.position)
        self._entitle(page.title if page is not None else "")
        if page is not None:
            self._show_page(page)

    def _entitle(self, page: str) -> None:
        """Show the study, the person, the position (`page` is the page's title) and the minutes spent."""
        self._page_title = page
        if self.part is None or self.position is None:
            return
        study, minutes = self.part.study, int(self._attendance.pace.worked // 60)
        parts = [study.title or study.id, self.part.person.id, position_words(self.part, self.position, page)]
        parts += [translated(self.part.locale, "minutes", minutes=minutes)] if minutes else []
        self.query_one("#play-title", Static).update(plain("   ".join(parts), lines=False))

    def _current_page(self, part: Participation, here: PlayPosition) -> ParticipantPage:
        """Return the page of a position. Pages that are only read on the way are not positions of their own."""
        if here.stage == "refused" and self._rereads_consent:
            return consent_page(part)
        if self._reread:
            return reread_page(part, here, self._reread)
        if self._wrong_item is not None and here.play.persona is not None:
            return wrong_page(part.locale, here.play.persona, self._wrong_item)
        persona = here.play.persona if here.stage == "card" else None
        if persona is not None and self._read_persona == persona.id:
            return quiz_page(part.locale, persona, part.quiz_state(persona))
        return page_of(part, here, partial(with_keys, self))

    def _show_page(self, page: ParticipantPage) -> None:
        pane, answers = self.query_one("#play-page"), self.query_one(PageChoices)
        pane.set_class(page.long, "-long")
        write_title(pane, page.title)
        self.query_one("#play-body", Static).update(page.body)
        self.query_one("#play-text").scroll_home(animate=False)
        answers.show_lines(page.lines, marked=page.marked)
        self._say("")
        if page.lines:
            self.set_focus(answers)
        self.call_after_refresh(self._show_lines_below)

    def _show_error(self, error: LabError) -> None:
        self.position = self._attendance.participation = None
        self.query_one("#play-page").display = True
        self.sheet.display = False
        self._show_page(ParticipantPage(error.title, Text(plain(error.body))))

    def _say(self, words: str) -> None:
        self.query_one("#play-said", Static).update(words)

    def _show_lines_below(self) -> None:
        """Show how many lines of the page are out of sight below."""
        lines_below = self._lines_below
        words = translated(self.part.locale, "more", count=lines_below) if lines_below and self.part is not None else ""
        write_subtitle(self.query_one("#play-page"), words)
        self.refresh_bindings()

    @property
    def _lines_below(self) -> int:
        """Number of lines of the page out of sight below, or 0 before the first layout."""
        parts = [part for part in self._scrolled_parts if part.show_vertical_scrollbar]
        return sum(int(part.max_scroll_y - part.scroll_offset.y) for part in parts)

    @property
    def _scrolled_parts(self) -> list[Widget]:
        """Widgets of a page in reading order: its text, and the lines to choose from."""
        return list(self.query("#play-text, #answers"))

    def action_scroll(self, by: int) -> None:
        if self._asks_questions:
            self.sheet.item_pane.read_on(by)
            return
        for part in self._scrolled_parts[::by]:
            if part.scroll_offset.y < part.max_scroll_y if by > 0 else part.scroll_offset.y:
                page = max(1, part.scrollable_content_region.height - 1)
                part.scroll_to(y=part.scroll_offset.y + by * page, animate=False)
                return

    def action_back(self) -> None:
        """Close help, or return from a page that is read again. It never leaves a question."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self._reread or self._rereads_consent:
            self._reread, self._rereads_consent = "", False
            self.show_position()

    @on(AnswerLine.PageRequested)
    def _scroll_sheet(self, message: AnswerLine.PageRequested) -> None:
        message.stop()
        self.sheet.item_pane.read_on(message.by)

    @property
    def _asks_questions(self) -> bool:
        """True while the questions after a run are shown."""
        return self.position is not None and self.position.stage == "questions"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let the page's keys scroll the sheet while the questions are shown."""
        if action == "scroll":
            return self.sheet.item_pane.reads if self._asks_questions else parameters[0] == -1 or self._lines_below > 0
        if action == "guide":
            return self._asks_questions and not self.sheet.typing
        return super().check_action(action, parameters)

    # -- answering -------------------------------------------------------------------------------------------

    @on(PageChoices.Early)
    def _say_early(self) -> None:
        if self.part is not None:
            self._say(translated(self.part.locale, "early"))

    @on(PageChoices.NothingMarked)
    def _say_unmarked(self) -> None:
        if self.part is not None:
            self._say(translated(self.part.locale, "unmarked"))

    @on(PageChoices.Picked)
    def _take_answer(self, message: PageChoices.Picked) -> None:
        message.stop()
        if self.part is None or self.position is None:
            return
        try:
            self._apply_answer(self.part, self.position, message.number)
        except LabError as error:
            lab_of(self).report(error)

    def _apply_answer(self, part: Participation, here: PlayPosition, number: int) -> None:
        again = pages_to_reread(here)
        match here.stage:
            case "brief" | "done" if self._reread:
                self._reread = ""
            case "done":
                self._reread = again[number]
            case "brief" if number:
                self._reread = again[number - 1]
            case "consent":
                self._answer_consent(part, number)
            case "refused" if self._rereads_consent:
                self._rereads_consent = False
                self._answer_consent(part, number)
            case "refused":
                self._rereads_consent = True
            case "card" | "quiz":
                self._answer_quiz(part, here, number)
            case "brief" | "run" if part.where() == here:  # else another window of theirs went on from it
                self._go_to_run()
                return
        self.show_position()

    def _answer_consent(self, part: Participation, number: int) -> None:
        (part.agree if number == 0 else part.refuse)()

    def _answer_quiz(self, part: Participation, here: PlayPosition, number: int) -> None:
        persona = here.play.persona
        assert persona is not None
        if self._wrong_item is not None:
            self._wrong_item = None
        elif here.stage == "card" and self._read_persona != persona.id:
            self._read_persona = persona.id
        else:
            item = self._quiz_item(part, here)
            if item is not None and item == self._due_item:  # else another window of theirs answered it
                self._wrong_item = None if part.answer_quiz(persona, number) else item
            if part.quiz_state(persona).missed is not None:
                self._read_persona = ""  # below the mark: the card is read again

    def _quiz_item(self, part: Participation, here: PlayPosition) -> QuizItem | None:
        """Return the quiz question that is due, or None at another position, or if none is left."""
        if here.stage not in ("card", "quiz") or here.play.persona is None:
            return None
        return next(iter(part.quiz_state(here.play.persona).waiting), None)

    # -- the run and the questions after it --------------------------------------------------------------------

    def _go_to_run(self) -> None:
        """Go to the run: the live one, the interrupted one, or a new one."""
        app, part, here = lab_of(self), self.part, self.position
        assert part is not None
        assert here is not None
        app.back_targets["live"] = "play"
        app.after_run, app.run_locale = translated(part.locale, "after run"), part.locale
        app.leave_question = translated(part.locale, "leaving"), translated(part.locale, "leaving.keys")
        if app.run_is_live:
            self.app.switch_mode("live")
            return
        pace, device = self.settings.pace, self.settings.device
        app.open_session(lambda: part.session(here, pace=pace, device=device))

    def _open_sheet(self, here: PlayPosition) -> None:
        """Open the sheet of the run that was just played."""
        assert self.part is not None
        assert here.assignment is not None
        evidence = self.part.evidence(here)
        session = RatingSession(
            self.store, self.part.study, self.part.person, locale=self.part.locale, evidence=evidence
        )
        session.open(here.assignment)
        self.sheet.display = True
        self.sheet.unseen = frozenset() if here.play.mirror else _OF_PHONE
        self.sheet.title = translated(self.part.locale, "questions")
        self.sheet.open(session)

    @on(SheetPane.UnitHandedIn)
    @on(SheetPane.Settled)
    def _finish_sheet(self, message: SheetPane.UnitHandedIn | SheetPane.Settled) -> None:
        """Continue after a sheet was submitted, here or in another window. Another task's sheet may follow."""
        message.stop()
        self.sheet.display = False
        self.show_position()

    @on(SheetPane.Requested)
    def _handle_request(self, message: SheetPane.Requested) -> None:
        """Handle a request of the sheet. There is no region and no earlier sheet here."""
        message.stop()
        if message.what == "guide":
            self.action_guide()
        elif message.what == "undo" and self.part is not None:
            forward = self.part.study.protocol.forward
            self.sheet.say(translated(self.part.locale, "no way back" if forward else "nothing back"))

    def action_guide(self) -> None:
        """Show what is asked and what each answer of the current question means. Record that the guide was read."""
        if self.part is None or self.position is None or self.position.stage != "questions":
            return
        from screens.annotate.guide import GuideScreen

        self.part.read_guide(self.position)
        item = self.sheet.item
        field_id = item.field.id if item is not None else ""
        self.app.push_screen(GuideScreen(self.part.study.protocol, self.part.locale, field_id))


class PlayAttendance:
    """Times at the study and away from it, recorded for a `participation` that has agreed."""

    def __init__(self, clock: Clock) -> None:
        self.pace = Pace(clock)
        self.participation: Participation | None = None

    def set_focused(self, here: bool) -> None:
        """Note that the terminal gained or lost the keyboard focus."""
        (self.pace.touch if here else self.pace.blur)()

    def tick(self, *, at_run: bool) -> None:
        """Record the absences that ended.

        Count the time in a run as presence, because its own events hold the times.
        """
        if at_run:
            self.pace.touch()
        for seconds in self.pace.take_absences():
            if self.participation is not None:
                self._record(partial(self.participation.record_absence, seconds, pause=seconds >= REST))

    def end(self) -> None:
        """Record how long the person was here, and how long away."""
        if self.participation is not None:
            self._record(partial(self.participation.end_sitting, self.pace.worked, self.pace.seconds_away))

    def _record(self, verb: Callable[[], None]) -> None:
        """Record it if possible. A failure here must not stop the person."""
        with suppress(LabError):
            verb()
