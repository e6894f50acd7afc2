"""The app around the screens: which is shown, what every screen has in common, and where an error ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import msgspec
from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.screen import Screen
from textual.worker import WorkerFailed

from lab.errors import LabError
from lab.plain import plain
from lab.settings import Settings
from screens.crash import Crash
from screens.frame import LEAST, QuitScreen, TooSmallScreen
from screens.seats import may_author, may_replay, may_review

if TYPE_CHECKING:
    from textual.actions import ActionParseResult

    from lab.fork import Change
    from lab.session import Session
    from lab.spec import Spec
    from lab.task import Task
    from lab.trace import Trace
    from screens.door import LiveDoor
    from screens.record.intent import Asking
    from screens.window import Window
    from store.store import Store

ScreenName = Literal["home", "live", "replay", "author", "review", "privacy"]

SWITCH = Binding.Group("Screens", compact=True)
EVERYWHERE = Binding.Group("Everywhere", compact=True)


class Opening(NamedTuple):
    """What the app shows first. `step` counts from 1, as people do; None is the first."""

    screen: ScreenName
    trace_id: str | None = None
    step: int | None = None
    spec: Spec | None = None
    resume: Trace | None = None
    make: Callable[[], Session] | None = None
    """Makes the run that is shown live, where `spec` does not say it all."""
    task: Task | None = None
    """The task whose design is drafted, beside the run `trace_id`."""
    ask: Asking | None = None
    """The demonstration that is recorded, once its intent and place are said."""


AT_HOME = Opening("home")


class LabApp(App[None]):
    """hitlab on a terminal. `F2`, `F3`, `F4`, `F9` are rooms; each keeps what it shows while another is seen."""

    TITLE = "hitlab"
    BINDING_GROUP_TITLE = "Everywhere"
    CSS_PATH = Path(__file__).with_name("lab.tcss")
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "show('home')", "Home", show=False, id="app.home", group=SWITCH, tooltip="Runs, tasks, devices"),
        Binding("f3", "show('live')", "Live", show=False, id="app.live", group=SWITCH, tooltip="The run under way"),
        Binding(
            "f4", "show('replay')", "Replay", show=False, id="app.replay", group=SWITCH, tooltip="The run replayed"
        ),
        Binding(
            "f9", "show('author')", "Author", show=False, id="app.author", group=SWITCH, tooltip="The design drafted"
        ),
        Binding(
            "f10", "show('review')", "Review", show=False, id="app.review", group=SWITCH, tooltip="Proofread recordings"
        ),
        Binding(
            "f12",
            "show('privacy')",
            "Privacy",
            show=False,
            id="app.privacy",
            group=SWITCH,
            tooltip="Take out of recordings what is private",
        ),
        Binding(
            "question_mark,f1",
            "help",
            "Help",
            id="app.help",
            tooltip="What this pane is and its keys",
        ),
        Binding("escape", "one_back", "Back", show=False, id="app.back", group=EVERYWHERE, tooltip="One step back"),
        Binding("plus", "zoom", "Zoom", show=False, id="app.zoom", group=EVERYWHERE, tooltip="This pane alone, or all"),
        Binding("q", "quit", "Quit", show=False, id="app.quit", group=EVERYWHERE, tooltip="Leave hitlab"),
        Binding(
            "ctrl+q",
            "quit",
            "Quit",
            show=False,
            id="app.quit_now",
            priority=True,
            tooltip="Leave hitlab, from anywhere",
        ),
    ]

    def __init__(self, store: Store, settings: Settings, opening: Opening = AT_HOME) -> None:
        if not hasattr(asyncio, "eager_task_factory"):
            # Spares an empty first screen. Where tasks begin at once (Python 3.12 and later), widgets would mount
            # before the first mode's screen is on its stack; there it is switched to in on_mount.
            self.DEFAULT_MODE = opening.screen  # type: ignore[misc]
        super().__init__()
        self.store = store
        self.settings = settings
        self.opening = opening
        self.session: Session | None = None
        """The run under way, or the last one; None before the first."""
        self.window: Window | None = None
        """The page of pictures beside the terminal, where one is wanted."""
        if settings.theme not in self.available_themes:
            known = ", ".join(sorted(self.available_themes))
            raise LabError("settings", f"theme {plain(settings.theme)!r} is none of {known}")
        self.theme = settings.theme
        self.set_keymap(settings.keymap)
        self.add_mode("home", self._home)
        self.add_mode("live", self._door)
        if may_replay(settings.seat):
            self.add_mode("replay", self._replay)
        elif opening.screen == "replay":
            raise LabError("Replay", f"is not there for the seat {settings.seat}.")
        if may_author(settings.seat):
            self.add_mode("author", self._author)
        elif opening.screen == "author":
            raise LabError("Author", f"is not there for the seat {settings.seat}.")
        if may_review(settings.seat):
            self.add_mode("review", self._review)
            self.add_mode("privacy", self._privacy)
        elif opening.screen in ("review", "privacy"):
            raise LabError(opening.screen.title(), f"is not there for the seat {settings.seat}.")

    # -- rooms -----------------------------------------------------------------------------------------------

    def _home(self) -> Screen[None]:
        if not may_replay(self.settings.seat):
            from screens.frame import LobbyScreen

            return LobbyScreen()
        from screens.home import HomeScreen

        return HomeScreen(self.store, self.settings)

    def _door(self) -> Screen[None]:
        from screens.door import LiveDoor

        return LiveDoor()

    def _replay(self) -> Screen[None]:
        from screens.replay.replay import ReplayScreen

        return ReplayScreen(self.store, self.settings)

    def _author(self) -> Screen[None]:
        from screens.author.author import AuthorScreen

        return AuthorScreen(self.store, self.settings)

    def _review(self) -> Screen[None]:
        from screens.review.review import ReviewScreen

        return ReviewScreen(self.store, self.settings)

    def _privacy(self) -> Screen[None]:
        from screens.review.privacy import PrivacyScreen

        return PrivacyScreen(self.store, self.settings)

    async def on_mount(self) -> None:
        """Opens what was asked for; lists are read after the first paint."""
        opening = self.opening
        if self.settings.window:
            self._open_window()
        await self.switch_mode(opening.screen)
        if opening.screen == "live" and opening.spec is not None:
            self.open_live(opening.spec, opening.resume)
        elif opening.screen == "live" and opening.ask is not None:
            self.open_record(opening.ask)
        elif opening.screen == "live" and opening.make is not None:
            self._live_door().build(opening.make)
        elif opening.screen == "replay" and opening.trace_id is not None:
            self.open_replay(opening.trace_id, opening.step or 1)
        elif opening.screen == "author" and opening.task is not None:
            self.open_author(opening.task, opening.trace_id)
        elif opening.screen in ("review", "privacy"):
            self.open_demonstration(opening.screen, opening.trace_id)
        self.call_after_refresh(self.fit)

    def _open_window(self) -> None:
        from screens.window import Window

        self.window = Window()
        self.action_window()

    def action_window(self) -> None:
        """Says where the page of pictures is, and copies its address."""
        if self.window is None:
            raise LabError("Pictures", "have no page in this app.", "Begin it with --window.")
        self.copy_to_clipboard(self.window.address)
        self.notify(f"{self.window.address}  (copied)", title="Pictures in a browser", timeout=15, markup=False)

    def on_unmount(self) -> None:
        if self.window is not None:
            self.window.close()

    def open_home(self) -> None:
        """Shows Home; a run that is live goes on."""
        self.switch_mode("home")

    def open_live(self, spec: Spec, resume: Trace | None = None) -> None:
        """Builds a session off the UI thread and shows it; only one run is live in an app."""

        def build() -> Session:
            from lab.session import Session

            return Session(self.store, spec, resume)

        self._live_door().build(build)

    def choose_phone(self, serial: str) -> None:
        """Runs that begin from now on are made on this phone."""
        self.settings = msgspec.structs.replace(self.settings, device=serial)

    def open_task(self, name: str) -> None:
        """Runs a built-in task with the rule agent, the person at this seat answering."""

        def build() -> Session:
            from lab.session import Session
            from screens.door import task_spec

            return Session(self.store, task_spec(name, self.settings))

        self._live_door().build(build)

    def open_record(self, asking: Asking) -> None:
        """Records a demonstration; what is not yet known of its intent and place is asked for first."""
        intent, place = asking.said
        if intent and place:
            self.open_live(asking.begun(intent, place))
            return
        self._live_door()
        from screens.record.intent import IntentScreen

        def begin(said: tuple[str, str] | None) -> None:
            if said is None:
                self.open_home()
            else:
                self.open_live(asking.begun(*said))

        self.push_screen(IntentScreen(intent, fixed=bool(intent) and not asking.own), begin)

    def forked(self, trace_id: str, index: int, change: Change) -> Session:
        """A session, not yet entered, that goes on from a step (from 0) of a stored run; not for the UI thread."""
        from lab.fork import forked

        settings = self.settings
        return forked(self.store, trace_id, index, change, person=settings.person, pace=settings.pace)

    def open_resume(self, trace_id: str) -> None:
        """Goes on with an open run where it stands."""

        def build() -> Session:
            from lab.session import Session
            from lab.spec import resume_spec

            trace = self.store.trace(trace_id)
            return Session(self.store, resume_spec(trace, pace=self.settings.pace), trace)

        self._live_door().build(build)

    def enter_live(self, session: Session) -> None:
        """Shows a session that is built already, in the place of the run that it goes on from."""
        self.switch_mode("live")
        while len(self.screen_stack) > 1:
            self.pop_screen()
        from screens.door import LiveDoor

        door = self.screen_stack[0]
        assert isinstance(door, LiveDoor)
        door.enter(session)

    def open_replay(self, trace_id: str, step: int = 1) -> None:
        """Shows a stored run at a step, counted from 1."""
        if not may_replay(self.settings.seat):
            raise LabError("Replay", f"is not there for the seat {self.settings.seat}.")
        self.switch_mode("replay")
        from screens.replay.replay import ReplayScreen

        room = self.get_screen_stack("replay")[0]
        assert isinstance(room, ReplayScreen)
        room.open(trace_id, step)

    def open_author(self, task: Task, trace_id: str | None) -> None:
        """Shows a task's design beside a run of it."""
        if not may_author(self.settings.seat):
            raise LabError("Author", f"is not there for the seat {self.settings.seat}.")
        self.switch_mode("author")
        from screens.author.author import AuthorScreen

        room = self.get_screen_stack("author")[0]
        assert isinstance(room, AuthorScreen)
        room.open(task, trace_id)

    def open_demonstration(self, room: ScreenName, trace_id: str | None) -> None:
        """Shows a demonstration to be proofread, or cleared of what is private; None shows which there are."""
        if not may_review(self.settings.seat):
            raise LabError(room.title(), f"is not there for the seat {self.settings.seat}.")
        self.switch_mode(room)
        from screens.review.room import DemoRoom

        screen = self.get_screen_stack(room)[0]
        assert isinstance(screen, DemoRoom)
        screen.open(trace_id)

    def check_no_run(self) -> None:
        """Raises `LabError` while a run is under way: there is one phone in front of a person."""
        if self.run_is_live:
            raise LabError("Live", "a run is live already.", "F3 shows it; ctrl+x twice ends it.")

    def _live_door(self) -> LiveDoor:
        self.check_no_run()
        self.switch_mode("live")
        while len(self.screen_stack) > 1:
            self.pop_screen()
        from screens.door import LiveDoor

        door = self.screen_stack[0]
        assert isinstance(door, LiveDoor)
        return door

    @property
    def run_is_live(self) -> bool:
        """Whether a run is under way in this app."""
        return self.session is not None and not self.session.over

    # -- what every screen has -------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is not for this seat does not exist; where the terminal is too small, only leaving does."""
        if self._running and self.screen_stack and isinstance(self.screen, TooSmallScreen):
            return action == "quit"
        if action == "show" and parameters == ("replay",):
            return may_replay(self.settings.seat)
        if action == "show" and parameters == ("author",):
            return may_author(self.settings.seat)
        if action == "show" and parameters in (("review",), ("privacy",)):
            return may_review(self.settings.seat)
        return True

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action that a key reaches here is in the palette, under its own words."""
        seen: set[tuple[DOMNode, str]] = set()
        for node, binding, enabled, tooltip in screen.active_bindings.values():
            if not enabled or binding.system or not binding.description or (node, binding.action) in seen:
                continue
            if binding.action == "command_palette":
                continue
            seen.add((node, binding.action))
            run = partial(self.run_action, binding.action, default_namespace=node)
            key = self.get_key_display(binding)
            yield SystemCommand(binding.description, f"{tooltip or binding.tooltip}   {key}".strip(), run)
        if self.window is not None:
            yield SystemCommand("Picture page", "Copy the address of the page of pictures", self.action_window)
        yield SystemCommand("Theme", "Other colours", self.action_change_theme)

    def action_show(self, name: ScreenName) -> None:
        """Goes to another room."""
        if name == "live" and self.session is None and self.current_mode != "live":
            raise LabError("Live", "no run is live.", "Enter on a task in Home (F2) starts one.")
        if name == "replay" and "replay" not in self._screen_stacks:
            raise LabError("Replay", "no run is open.", "Enter on a run in Home (F2) opens it.")
        if name == "author" and "author" not in self._screen_stacks:
            raise LabError("Author", "no design is open.", "a on a run or a task in Home (F2) opens its design.")
        self.switch_mode(name)

    def action_help(self) -> None:
        """Shows, or hides, what the focused widget says of itself and every key."""
        if self.screen.query("HelpPanel"):
            self.action_hide_help_panel()
        else:
            self.action_show_help_panel()

    def action_one_back(self) -> None:
        """One step back, to Home at last; ends nothing."""
        if self.screen.query("HelpPanel"):
            self.action_hide_help_panel()
        elif self.current_mode != "home":
            self.open_home()

    def action_zoom(self) -> None:
        """The focused pane alone, or all panes again."""
        if self.screen.maximized is not None:
            self.screen.minimize()
        else:
            self.screen.action_maximize()

    async def action_quit(self) -> None:
        """Leaves; asks only where a run is live, which is then left open."""
        if isinstance(self.screen, QuitScreen):
            return
        if self.run_is_live:
            self.push_screen(QuitScreen(), self._leave)
        else:
            self.exit()

    def _leave(self, sure: bool | None) -> None:
        """The run is left open, to be resumed; nobody who is blocked is waited for."""
        if sure:
            if self.session is not None:
                self.session.leave()
            self.exit()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.fit)

    def fit(self) -> None:
        """Puts one sentence in place of a layout that would break, and takes it away again."""
        small = self.size.width < LEAST[0] or self.size.height < LEAST[1]
        if small and not isinstance(self.screen, TooSmallScreen):
            self.push_screen(TooSmallScreen())
        elif not small and isinstance(self.screen, TooSmallScreen):
            self.pop_screen()

    # -- errors ----------------------------------------------------------------------------------------------

    def report(self, error: LabError) -> None:
        """One sentence as a toast."""
        self.notify(plain(error.said), title=plain(error.title), severity="error", timeout=10, markup=False)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Every action of every screen passes here; what it refuses is a sentence."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except LabError as error:
            self.report(error)
            return True

    def _handle_exception(self, error: Exception) -> None:
        """A worker's `LabError` is a toast; all else ends the app with one panel that shows no values.

        Textual has no public hook here, and its own panel prints locals: a person's words among them.
        """
        cause = error.error if isinstance(error, WorkerFailed) else error
        if isinstance(cause, LabError) and cause is not error:
            self.report(cause)
            return
        crash = cause if isinstance(cause, Crash) else Crash(cause)
        super()._handle_exception(crash)
