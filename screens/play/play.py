"""Play: a participant's part in a study: consent, quiz, task after task, a short questionnaire after each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from annotators.quiz import Asked
from lab.errors import LabError
from lab.label import Label
from lab.labels import Spot
from lab.plain import plain
from lab.playing import Part, Place
from lab.settings import Settings
from lab.study import Study
from lab.task import Actor
from screens.annotate.desk import Desk
from screens.annotate.sheet import SheetPane
from screens.clock import Clock
from screens.footer import Footer
from screens.play.answers import Answers
from screens.play.pages import Page, consent_page, page_of, quiz_page, reread_page, rereadable, where_words, wrong_page
from screens.play.seated import Seated
from screens.play.sheet import PlaySheet
from screens.play.words import said

if TYPE_CHECKING:
    from screens.app import LabApp
    from store.store import Store


class PlayDesk(Desk):
    """A desk at which every answer is about the run that was just played."""

    evidence = ""

    def answer(self, spot: Spot, value: Any = None, **beside: Any) -> Label:
        return super().answer(spot, value, **{**beside, "evidence": beside.get("evidence") or self.evidence})


class PlayScreen(Seated):
    """The room of a participant: one page after the other; what a page tells follows from the file alone."""

    AUTO_FOCUS = None
    HELP = """
    Read the page, then press the digit of an answer, or **Enter** on the marked one. **space** reads a long page on.
    Everything is kept as you go: you may leave with **q** at any time and go on later at the same place.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,pagedown,full_stop", "scroll(1)", "Read on", id="play.down", tooltip="The page, further down"),
        Binding("t", "guide", "What it means", id="play.guide", tooltip="What is asked, and what each answer means"),
        Binding("pageup,comma", "scroll(-1)", "Read back", show=False, id="play.up", tooltip="The page, further up"),
    ]

    def __init__(self, store: Store, settings: Settings, *, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self.store = store
        self.settings = settings
        self.study: Study | None = None
        self._wrong: Asked | None = None
        self._reading = False
        """Whether the consent text is read again after it was refused."""
        self._ready = ""
        """The persona whose card was read in this sitting."""
        self._again = ""
        """What is read once more: `card` or `consent`; empty while nothing is."""
        self.sheet = PlaySheet(self.clock, self.pace)

    def compose(self) -> ComposeResult:
        yield Static(id="play-title", markup=False)
        with Vertical(id="play-room"):
            with Vertical(id="play-page", classes="pane"):
                with VerticalScroll(id="play-text", can_focus=False):
                    yield Static(id="play-body", markup=False)
                yield Answers(self.clock)
                yield Static(id="play-said", markup=False)
            yield self.sheet
        yield Footer()

    def on_mount(self) -> None:
        self.sheet.display = False
        text = self.query_one("#play-text")
        for changed in ("virtual_size", "scroll_y", "size", "show_vertical_scrollbar"):
            self.watch(text, changed, self._more, init=False)

    # -- where the participant is ----------------------------------------------------------------------------

    def open(self, study: Study) -> None:
        """Shows a study where this person left it; a run that was cut off goes on at once."""
        self.study = study
        try:
            locale = self.settings.locale if self.settings.locale != "en" else study.locale
            self.part = Part(self.store, study, Actor("human", self.settings.person), locale)
            self.go()
            self.part.sat()
        except LabError as error:
            self._refused(error)
            return
        if self.here is not None and self.here.stage == "run":
            self._to_run()

    def on_screen_resume(self) -> None:
        """A run may have ended while it was looked at."""
        if self.part is not None:
            self.go()
        self.call_after_refresh(self.query_one(Answers).seen)

    @property
    def where(self) -> str:
        """Where the participant is now, in a few words; empty where no study is open."""
        if self.part is None or self.here is None:
            return ""
        return where_words(self.part, self.part.where())

    @property
    def lobby_words(self) -> str:
        """What the lobby says of it."""
        if self.part is None or self.here is None:
            return ""
        study = self.part.study
        title = plain(study.title or study.id, lines=False)
        return said(self.part.locale, "lobby", title=title, where=self.where)

    def go(self) -> None:
        """Shows the page of the place where the participant stands."""
        assert self.part is not None
        try:
            self.here = self.part.where()
        except LabError as error:
            self._refused(error)
            return
        sheet = self.sheet
        asked = self.here.stage == "questions"
        if asked and not sheet.display:
            self._ask(self.here)
        sheet.display = asked
        self.query_one("#play-page").display = not asked
        page = None if asked else self._page(self.part, self.here)
        self.entitle(page.title if page is not None else "")
        if page is not None:
            self._lay(page)

    def _page(self, part: Part, here: Place) -> Page:
        """The page of a place; reading what is on the way there is no place of its own."""
        if here.stage == "refused" and self._reading:
            return consent_page(part)
        if self._again:
            return reread_page(part, here, self._again)
        if self._wrong is not None:
            return wrong_page(part.locale, self._wrong)
        persona = here.play.persona if here.stage == "card" else None
        if persona is not None and self._ready == persona.id:
            return quiz_page(part.locale, persona, part.quizzed(persona))
        return page_of(part, here)

    def _lay(self, page: Page) -> None:
        pane, answers = self.query_one("#play-page"), self.query_one(Answers)
        pane.set_class(page.long, "-long")
        pane.border_title = plain(page.title, lines=False)
        self.query_one("#play-body", Static).update(page.body)
        self.query_one("#play-text").scroll_home(animate=False)
        answers.lay(page.lines, marked=page.marked)
        self._say("")
        if page.lines:
            self.set_focus(answers)
        self.call_after_refresh(self._more)

    def _refused(self, error: LabError) -> None:
        self.here = None
        self.query_one("#play-page").display = True
        self.sheet.display = False
        self._lay(Page(plain(error.title), plain(error.said)))

    def _say(self, words: str) -> None:
        self.query_one("#play-said", Static).update(words)

    def _more(self) -> None:
        """Whether the page goes on below what is seen."""
        text = self.query_one("#play-text")
        left = text.show_vertical_scrollbar and text.max_scroll_y > text.scroll_offset.y
        words = said(self.part.locale, "more") if left and self.part is not None else ""
        self.query_one("#play-page").border_subtitle = words

    def action_scroll(self, by: int) -> None:
        text = self.query_one("#play-text")
        (text.scroll_page_down if by > 0 else text.scroll_page_up)(animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The page's keys are not there while the questions are."""
        asked = self.here is not None and self.here.stage == "questions"
        if action == "scroll":
            return not asked
        if action == "guide":
            return asked and not self.sheet.typing
        return super().check_action(action, parameters)

    # -- answering -------------------------------------------------------------------------------------------

    @on(Answers.Early)
    def _early(self) -> None:
        if self.part is not None:
            self._say(said(self.part.locale, "early"))

    @on(Answers.Unmarked)
    def _unmarked(self) -> None:
        if self.part is not None:
            self._say(said(self.part.locale, "unmarked"))

    @on(Answers.Picked)
    def _picked(self, message: Answers.Picked) -> None:
        message.stop()
        if self.part is None or self.here is None:
            return
        try:
            self._do(self.part, self.here, message.number)
        except LabError as error:
            cast("LabApp", self.app).report(error)

    def _do(self, part: Part, here: Place, number: int) -> None:
        again = rereadable(here)
        match here.stage:
            case "brief" | "done" if self._again:
                self._again = ""
            case "done":
                self._again = again[number]
            case "brief" if number:
                self._again = again[number - 1]
            case "consent":
                self._settle(part, number)
            case "refused" if self._reading:
                self._reading = False
                self._settle(part, number)
            case "refused":
                self._reading = True
            case "card" | "quiz":
                self._quiz(part, here, number)
            case "brief" | "run":
                self._to_run()
                return
        self.go()

    def _settle(self, part: Part, number: int) -> None:
        (part.agree if number == 0 else part.refuse)()

    def _quiz(self, part: Part, here: Place, number: int) -> None:
        persona = here.play.persona
        assert persona is not None
        if self._wrong is not None:
            self._wrong = None
        elif here.stage == "card" and self._ready != persona.id:
            self._ready = persona.id
        else:
            item = part.quizzed(persona).waiting[0]
            self._wrong = None if part.answer_quiz(persona, number) else item
            if part.quizzed(persona).missed is not None:
                self._ready = ""  # below the mark: the card is read again

    # -- the run and the questions after it --------------------------------------------------------------------

    def _to_run(self) -> None:
        """To the run: the one that is under way here, the one that was cut off, or a new one."""
        app, part, here = cast("LabApp", self.app), self.part, self.here
        assert part is not None
        assert here is not None
        app.came_from["live"] = "play"
        app.after_run = said(part.locale, "after run")
        app.leaving = said(part.locale, "leaving"), said(part.locale, "leaving.keys")
        if app.run_is_live:
            app.switch_mode("live")
            return
        pace, device = self.settings.pace, self.settings.device
        app.open_session(lambda: part.session(here, pace=pace, device=device))

    def _ask(self, here: Place) -> None:
        """Opens the sheet of the run that was just played."""
        assert self.part is not None
        assert here.assignment is not None
        desk = PlayDesk(self.store, self.part.study, self.part.person, locale=self.part.locale)
        desk.evidence = self.part.evidence(here)
        desk.open(here.assignment)
        self.sheet.display = True
        self.sheet.title = said(self.part.locale, "questions")
        self.sheet.open(desk)

    @on(SheetPane.HandedIn)
    def _handed_in(self, message: SheetPane.HandedIn) -> None:
        message.stop()
        self.go()

    @on(SheetPane.Wanted)
    def _wanted(self, message: SheetPane.Wanted) -> None:
        """There is no region or earlier sheet here."""
        message.stop()
        if message.what == "guide":
            self.action_guide()

    def action_guide(self) -> None:
        """What is asked, and what each answer of the current question means; that it was read is kept."""
        if self.part is None or self.here is None or self.here.stage != "questions":
            return
        from screens.annotate.guide import GuideScreen

        self.part.read_guide(self.here)
        item = self.sheet.item
        asked = item.field.id if item is not None else ""
        self.app.push_screen(GuideScreen(self.part.study.protocol, self.part.locale, asked))
