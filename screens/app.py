"""The app around the screens: which is shown, what every screen has in common, and where an error ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.screen import Screen
from textual.worker import WorkerFailed

from lab.errors import LabError
from lab.plain import plain
from lab.settings import Settings
from screens.crash import Crash
from screens.frame import LEAST, LEAVING, QuitScreen, TooSmallScreen
from screens.rooms import AT_HOME, ROOMS, Opening, Rooms

if TYPE_CHECKING:
    from textual.actions import ActionParseResult

    from screens.window import Window
    from store.store import Store

SWITCH = Binding.Group("Screens", compact=True)
EVERYWHERE = Binding.Group("Everywhere", compact=True)


class LabApp(Rooms):
    """hitlab on a terminal. `F2` to `F12` are rooms; each keeps what it shows while another is seen."""

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
            "f5",
            "show('annotate')",
            "Annotate",
            show=False,
            id="app.annotate",
            group=SWITCH,
            tooltip="The study that is rated",
        ),
        Binding(
            "f6",
            "show('agreement')",
            "Agreement",
            show=False,
            id="app.agreement",
            group=SWITCH,
            tooltip="How far a study's raters agree",
        ),
        Binding(
            "f7",
            "show('adjudicate')",
            "Adjudicate",
            show=False,
            id="app.adjudicate",
            group=SWITCH,
            tooltip="Settle what raters disagree on",
        ),
        Binding(
            "f8",
            "show('raters')",
            "Raters",
            show=False,
            id="app.raters",
            group=SWITCH,
            tooltip="Each rater by themself",
        ),
        Binding(
            "f9", "show('author')", "Author", show=False, id="app.author", group=SWITCH, tooltip="The design drafted"
        ),
        Binding(
            "f10", "show('review')", "Review", show=False, id="app.review", group=SWITCH, tooltip="Proofread recordings"
        ),
        Binding("f11", "show('runs')", "Runs", show=False, id="app.runs", group=SWITCH, tooltip="All runs as a table"),
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
        self.session = None
        self.leaving, self.after_run = LEAVING, ""
        self.window: Window | None = None
        """The page of pictures beside the terminal, where one is wanted."""
        if settings.theme not in self.available_themes:
            known = ", ".join(sorted(self.available_themes))
            raise LabError("settings", f"theme {plain(settings.theme)!r} is none of {known}")
        self.theme = settings.theme
        self.set_keymap(settings.keymap)
        self.furnish(opening)

    async def on_mount(self) -> None:
        """Opens what was asked for; lists are read after the first paint."""
        if self.settings.window:
            self._open_window()
        await self.enter(self.opening)
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

    # -- what every screen has -------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is not for this seat does not exist; where the terminal is too small, only leaving does."""
        if self._running and self.screen_stack and isinstance(self.screen, TooSmallScreen):
            return action == "quit"
        return not (action == "show" and parameters[0] in ROOMS) or self.has_room(str(parameters[0]))

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
        if self.has_room("compare"):
            run = partial(self.run_action, "show('compare')")
            yield SystemCommand("Compared runs", "The two runs that are side by side", run)
        if self.window is not None:
            yield SystemCommand("Picture page", "Copy the address of the page of pictures", self.action_window)
        yield SystemCommand("Theme", "Other colours", self.action_change_theme)

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
            self.switch_mode(self.came_from.get(self.current_mode, "home"))

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
            self.push_screen(QuitScreen(self.leaving), self._leave)
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
