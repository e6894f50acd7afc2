"""The rooms of the app: which exist for a seat, and the methods that open them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast, runtime_checkable

import msgspec
from textual.screen import Screen

from lab.core.errors import LabError
from lab.core.settings import UNNAMED, Settings
from lab.studies.seats import may_replay, may_run, rates_blind
from screens.key_names import with_keys
from screens.lab import ReportsErrors
from screens.rooms import ROOMS, Room
from screens.widgets.typeahead import TypeAhead

if TYPE_CHECKING:
    from lab.core.last_choices import RunChoices
    from lab.core.run.trace import Trace
    from lab.core.study.study import Study
    from lab.core.task.task import Task
    from lab.runs.fork.fork import ForkChange
    from lab.runs.session import Session
    from lab.runs.spec import Spec
    from screens.author.author import AuthorScreen
    from screens.compare.compare import CompareScreen
    from screens.launcher import LiveLauncher
    from screens.raters.raters import RatersScreen
    from screens.record.intent import DemonstrationRequest
    from screens.replay.replay import ReplayScreen
    from screens.review.room import DemoRoom
    from simulators.users.endpoint.place import EndpointPlace
    from store.store import Store


class Opening(NamedTuple):
    """First room of the app, and what it shows. `step` counts from 1 as people do, and None means the first."""

    screen: str
    trace_id: str | None = None
    step: int | None = None
    spec: Spec | None = None
    resume: Trace | None = None
    make: Callable[[], Session] | None = None
    """Builds the live run if `spec` does not describe it fully."""
    task: Task | None = None
    """Task whose design is drafted, beside the run `trace_id`."""
    ask: DemonstrationRequest | None = None
    """Demonstration to record. The app asks for a missing intent and place."""
    on_recording: Callable[[str], None] | None = None
    """Callback: called with the run id of each demonstration recorded in this app."""
    study: Study | None = None
    """Study that the person of this seat rates or plays."""
    only_study: bool = False
    """True if the app shows nothing but that study: no list of others, no Home."""
    endpoint: EndpointPlace | None = None
    """Endpoint that this program serves, or None if it serves none."""
    serve_endpoint: Callable[[str], EndpointPlace] | None = None
    """Start an endpoint whose questions this person (a code) answers, or None if none can be started here."""


AT_HOME = Opening("home")


class StudyRoom(Protocol):
    """A room that shows one study."""

    def open(self, study: Study) -> None: ...


@runtime_checkable
class RoomOpener(Protocol):
    """A screen whose cursor selects what another room shows."""

    def open_at_cursor(self, room: str, *, entered: bool) -> bool: ...


class Navigation(ReportsErrors, TypeAhead):
    """An app with the rooms of its seat. Each keeps its state while another is shown."""

    store: Store
    settings: Settings
    session: Session | None
    """The run under way, or the last one. None before the first."""
    rates: bool
    """True if the person is a blinded rater with an open study. They see runs only through its items."""
    only_study: Study | None
    """The only study of this app, or None if the app has more."""
    answers_only: bool
    """True if the room Answer is all that this app has."""
    back_targets: dict[str, str]
    """The room to which Back leads, by room. A missing room means Home."""
    leave_question: tuple[str, str]
    """Question before a live run is left, and the line about its keys."""
    last_own_study: Study | None
    """The study that was rated or played here last, or None if none was opened."""
    results_study: Study | None
    """The study whose results all rooms of `RESULT_ROOMS` show."""
    shown_studies: dict[str, str]
    """Name of the study that each of those rooms shows."""
    run_locale: str
    """Language of the live run for the person who answers in it."""
    after_run: str
    """Sentence about what follows the live run, empty if nothing does."""
    endpoint: EndpointPlace | None
    serve_endpoint: Callable[[str], EndpointPlace] | None
    """Address of the endpoint and the function that starts one. See `Opening`."""
    on_recording: Callable[[str], None] | None
    """See `Opening`."""

    def add_rooms(self, opening: Opening) -> None:
        """Add the rooms of this seat. Raise `LabError` if the first room is not one of them."""
        self.back_targets = {}
        self.results_study, self.shown_studies, self.last_own_study = None, {}, None
        self.endpoint, self.serve_endpoint = opening.endpoint, opening.serve_endpoint
        self.on_recording = opening.on_recording
        studies = opening.study is not None or self.store.studies.is_active_rater(self.settings.person)
        self.rates = rates_blind(self.settings.seat, studies=studies)
        # Read by `has_room` below.
        self._asked_for = opening.screen
        self.only_study = opening.study if opening.only_study else None
        self.answers_only = opening.only_study and opening.screen == "answer"
        for room in ROOMS.values():
            if self.has_room(room.name):
                self.add_mode(room.name, partial(self._new_screen, room))
        self._check_room(opening.screen)

    def _new_screen(self, room: Room) -> Screen[None]:
        if room.name == "home" and not may_replay(self.settings.seat):
            from screens.play.lobby import LobbyScreen

            return self._set_breakpoints(LobbyScreen())
        if room.name == "home" and self.rates:
            from screens.home.rater_home import RatingHome

            return self._set_breakpoints(RatingHome(self.store, self.settings))
        return self._set_breakpoints(room.load_class()(self.store, self.settings))

    def _set_breakpoints(self, screen: Screen[None]) -> Screen[None]:
        """Set a new screen's breakpoint classes. Textual does so only after a first layout without a size."""
        wide = screen.HORIZONTAL_BREAKPOINTS or self.HORIZONTAL_BREAKPOINTS or []
        high = screen.VERTICAL_BREAKPOINTS or self.VERTICAL_BREAKPOINTS or []
        for cells, breakpoints in ((self.size.width, wide), (self.size.height, high)):
            fitting = [name for least, name in sorted(breakpoints) if cells >= least]
            screen.update_classes(dict.fromkeys(fitting[-1:], True), update=False)
        return screen

    def has_room(self, name: str) -> bool:
        """Return True if a room exists for this seat. If one study is all there is, a rater has only its room."""
        if self.only_study is not None and self._asked_for == "annotate":
            return name == "annotate"
        if self.answers_only:
            return name == "answer"
        room = ROOMS.get(name)
        if room is None or not room.may_enter(self.settings.seat):
            return False
        named = room.for_blind_rater == "if named" and name == self._asked_for
        return not self.rates or named or room.for_blind_rater == "always"

    def _check_room(self, name: str) -> None:
        if not self.has_room(name):
            raise LabError(ROOMS[name].title, f"is not there for the seat {self.settings.seat}.")

    def enter_signed(self, name: str, go: Callable[[], object]) -> None:
        """Enter a room. Ask for a study code first if its work is signed and the person is unnamed."""
        if not ROOMS[name].signed or self.settings.person != UNNAMED:
            go()
            return
        from screens.dialogs import PersonScreen

        def begin(code: str | None) -> None:
            if code is not None:
                self._name_person(code)
                go()
            elif ROOMS[self.current_mode].signed:
                self.open_home()

        self.push_screen(PersonScreen(), begin)

    def _name_person(self, code: str) -> None:
        """Set the person of this app, in every room."""
        self.settings = msgspec.structs.replace(self.settings, person=code)
        # Screens that exist already hold the settings of before.
        for screen in {screen for stack in self._screen_stacks.values() for screen in stack}:
            if hasattr(screen, "settings"):
                screen.settings = self.settings

    async def enter(self, opening: Opening) -> None:
        """Open the first room. Lists are read after the first paint."""
        await self.switch_mode(opening.screen)
        if opening.screen == "live" and opening.spec is not None:
            self.open_live(opening.spec, opening.resume)
        elif opening.screen == "live" and opening.ask is not None:
            self.open_record(opening.ask)
        elif opening.screen == "live" and opening.make is not None:
            self._show_launcher().build(opening.make)
        elif opening.screen == "replay" and opening.trace_id is not None:
            self.open_replay(opening.trace_id, opening.step or 1)
        elif opening.screen == "author" and opening.task is not None:
            self.open_author(opening.task, opening.trace_id)
        elif opening.screen in ("annotate", "play") and opening.study is not None:
            self.open_study(opening.study)
        elif ROOMS[opening.screen].shows_results and opening.study is not None:
            self.open_numbers(opening.study, opening.screen)
        elif opening.screen in ("review", "privacy"):
            self.open_demonstration(opening.screen, opening.trace_id)

    def action_show(self, name: str) -> None:
        """Go to another room. Raise `LabError` if nothing is open in it."""
        room = ROOMS[name]
        sentence, hint = room.if_empty
        if name == "live" and not may_run(self.settings.seat):
            hint = ""  # no task is listed in this seat's Home
        # Live's launcher is always on its stack, so that alone does not mean that a run was shown.
        entered = (
            self.session is not None or self.current_mode == "live" if name == "live" else name in self._screen_stacks
        )
        screen = self.screen
        if isinstance(screen, RoomOpener) and screen.open_at_cursor(name, entered=entered):
            return
        if room.shows_results and self.results_study is not None:
            if self.shown_studies.get(name) == self.results_study.name:
                self.switch_mode(name)
            else:
                self.open_numbers(self.results_study, name)
            return
        if sentence and not entered:
            raise LabError(room.title, sentence, with_keys(self, hint))
        self.enter_signed(name, lambda: self.switch_mode(name))

    def entered_screen(self, name: str) -> Screen[None] | None:
        """Return the screen of a room that was entered before, or None if it was not."""
        stack = self._screen_stacks.get(name)
        return stack[0] if stack else None

    def open_home(self) -> None:
        """Show Home if the seat has it. A live run continues."""
        if self.has_room("home"):
            self.switch_mode("home")

    def show_study(self, study: str) -> None:
        """Show Home with the cursor on a study of that name."""
        self.open_home()
        from screens.home.home import HomeScreen

        home = self.entered_screen("home")
        if isinstance(home, HomeScreen):
            home.point_at(study)

    def open_live(self, spec: Spec, resume: Trace | None = None) -> None:
        """Build a session off the UI thread and show it. Only one run is live in an app."""

        def build() -> Session:
            from lab.runs.session import Session

            return Session(self.store, spec, resume)

        self._show_launcher().build(build)

    def open_session(self, make: Callable[[], Session]) -> None:
        """Show a run that `factory` builds off the UI thread."""
        self._show_launcher().build(make)

    def choose_phone(self, serial: str) -> None:
        """Use this phone for runs that begin from now on."""
        self.settings = msgspec.structs.replace(self.settings, device=serial)

    def open_task(self, name: str, choices: RunChoices | None = None) -> None:
        """Run a built-in task with the given choices. The default is its playbook with this person as user."""

        def build() -> Session:
            from lab.runs.session import Session
            from screens.launcher import task_spec

            return Session(self.store, task_spec(name, self.settings, choices))

        self._show_launcher().build(build)

    def open_record(self, asking: DemonstrationRequest) -> None:
        """Record a demonstration. Ask first for a missing intent or place."""
        intent, place = asking.known_intent_and_place
        if intent and place:
            self.open_live(asking.to_spec(intent, place))
            return
        self._show_launcher()
        from screens.record.intent import IntentScreen

        def begin(answer: tuple[str, str] | None) -> None:
            if answer is None:
                self.open_home()
            else:
                self.open_live(asking.to_spec(*answer))

        self.push_screen(IntentScreen(intent, fixed=bool(intent) and not asking.own), begin)

    def fork_session(self, trace_id: str, index: int, change: ForkChange) -> Session:
        """Build a session that continues from a step (from 0) of a stored run. Not for the UI thread."""
        from lab.runs.fork.fork import fork_run

        settings = self.settings
        return fork_run(self.store, trace_id, index, change, person=settings.person, pace=settings.pace)

    def open_resume(self, trace_id: str) -> None:
        """Continue an open run from its last step."""

        def build() -> Session:
            from lab.runs.session import Session
            from lab.runs.spec import resume_spec

            trace = self.store.runs.trace(trace_id)
            return Session(self.store, resume_spec(trace, pace=self.settings.pace), trace)

        self._show_launcher().build(build)

    def enter_live(self, session: Session) -> None:
        """Show a session that is built already, in place of the run that it continues."""
        self._clear_live().enter(session)

    def open_replay(self, trace_id: str, step: int = 1, back: str = "home") -> None:
        """Show a stored run at a step, counted from 1. `back` is the room to which Back leads."""
        self._check_room("replay")
        self.back_targets["replay"] = back
        screen: ReplayScreen = self._switch_to("replay")
        screen.open(trace_id, step)

    def open_compare(self, left: str, right: str) -> None:
        """Show two stored runs side by side. Back leads to the table of runs."""
        self._check_room("compare")
        self.back_targets["compare"] = "runs"
        screen: CompareScreen = self._switch_to("compare")
        screen.open(left, right)

    def open_author(self, task: Task, trace_id: str | None) -> None:
        """Show a task's design beside a run of it."""

        def go() -> None:
            screen: AuthorScreen = self._switch_to("author")
            screen.open(task, trace_id)

        self._check_room("author")
        self.enter_signed("author", go)

    def open_study(self, study: Study) -> None:
        """Show a study to the person of this seat, at the item where they left it."""
        room: str = "play" if study.protocol.unit == "task to play" else "annotate"
        self._check_room(room)
        self.last_own_study = study
        screen: StudyRoom = self._switch_to(room)
        screen.open(study)

    def open_numbers(self, study: Study, room: str = "agreement") -> None:
        """Show a study in one of the rooms about its results: agreement, adjudication, raters or progress."""

        def go() -> None:
            # Back leads to Progress only after `open_rater`, which sets it again.
            self.back_targets.pop(room, None)
            self.results_study, self.shown_studies[room] = study, study.name
            screen: StudyRoom = self._switch_to(room)
            screen.open(study)

        self._check_room(room)
        self.enter_signed(room, go)

    def open_rater(self, study: Study, code: str) -> None:
        """Show one rater's numbers, or all raters (empty code). Back leads to the study's progress."""
        self.open_numbers(study, "raters")
        self.back_targets["raters"] = "progress"
        cast("RatersScreen", self.get_screen_stack("raters")[0]).open_rater(code)

    def open_demonstration(self, room: str, trace_id: str | None) -> None:
        """Show a demonstration in Review or Privacy. None shows the list of demonstrations."""

        def go() -> None:
            screen: DemoRoom = self._switch_to(room)
            screen.open(trace_id)

        self._check_room(room)
        self.enter_signed(room, go)

    def check_no_run(self) -> None:
        """Raise `LabError` while a run is under way, because a person has one phone in front of them."""
        if self.run_is_live:
            hint = with_keys(self, "{app.live} shows it; {run.pause:ctrl+x} twice ends it.")
            raise LabError("Live", "a run is live already.", hint)

    def _show_launcher(self) -> LiveLauncher:
        self.check_no_run()
        return self._clear_live()

    def _clear_live(self) -> LiveLauncher:
        """Show Live without the run that was shown there last."""
        launcher: LiveLauncher = self._switch_to("live")
        while len(self.screen_stack) > 1:
            self.pop_screen()
        return launcher

    def _switch_to(self, room: str) -> Any:
        """Switch to a room and return its screen."""
        self.switch_mode(room)
        return self.get_screen_stack(room)[0]

    @property
    def run_is_live(self) -> bool:
        """True while a run is under way in this app."""
        return self.session is not None and not self.session.over

    @property
    def run_waits(self) -> Literal["", "answer", "decision"]:
        """The answer or decision that the live run waits for from this person, empty if none."""
        session = self.session
        if session is None or session.over:
            return ""
        if session.questions.waiting is not None:
            return "answer"
        return "decision" if session.decisions.waiting is not None else ""
