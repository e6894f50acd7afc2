"""The Textual app: what every screen shares, the command palette, notices of the live run, and error handling."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec
from textual import events
from textual._context import active_message_pump, message_hook
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette, Provider
from textual.dom import DOMNode
from textual.driver import Driver
from textual.geometry import Offset
from textual.notifications import Notify
from textual.reactive import reactive
from textual.screen import Screen
from textual.theme import ThemeProvider
from textual.worker import WorkerFailed

from lab.core.errors import LabError
from lab.core.settings import Settings, save_theme
from lab.core.text.plain_text import plain
from lab.core.text.typed_text import clean
from lab.studies.seats import may_replay
from screens.crash import Crash
from screens.dialogs import LEAST, LEAVING, LEAVING_CLIENTS, LEAVING_HOMELESS, QuitScreen, TooSmallScreen
from screens.key_names import keys_of
from screens.lab import ReportsErrors
from screens.mirror.terminal_graphics import CHARACTERS
from screens.navigation import AT_HOME, Navigation, Opening
from screens.palette import Palette, PlainCommands, drop_stale_click
from screens.rooms import ROOMS
from screens.stylesheet import ThemedStylesheet
from screens.theme import check_theme
from screens.widgets.paintable import PaintableFilter

if TYPE_CHECKING:
    from textual.actions import ActionParseResult
    from textual.theme import Theme

    from lab.ocr.reader import TextReader
    from screens.lab import Lab
    from screens.live.session_messages import EventCommitted, GatedActionChanged, OperationFailed, QuestionChanged
    from screens.mirror.terminal_graphics import TerminalGraphics
    from screens.picture_window import PictureWindow
    from store.store import Store

SWITCH = Binding.Group("Screens", compact=True)
_TOASTS = ((32, 3), (24, 2), (0, 1))
"""Pairs of terminal rows and toasts: at that many rows or more, at most so many toasts stay on the screen."""
_MOVES = frozenset({"Up", "Down", "Left", "Right", "Page up", "Page down", "First", "Last", "Above", "Below"})
"""Names of actions that only move a cursor. The palette leaves them out: moving by one line from there is useless."""
EVERYWHERE = Binding.Group("Everywhere", compact=True)


_PALETTE = "--command-palette"
"""Id that Textual gives to an open palette."""


class LabApp(Navigation):
    """The hitlab app. `F2` to `F12` open rooms, and each room keeps its state while another is shown."""

    TITLE = "hitlab"
    BINDING_GROUP_TITLE = "Everywhere"
    CSS_PATH = Path(__file__).with_name("lab.tcss")
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {PlainCommands}
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(
                room.key,
                f"show({room.name!r})",
                room.title,
                show=False,
                id=f"app.{room.name}",
                group=SWITCH,
                tooltip=room.tooltip,
            )
            # By key, F2 to F12: so they are listed in help.
            for room in sorted(ROOMS.values(), key=lambda room: (len(room.key), room.key))
            if room.key
        ),
        Binding(
            "question_mark,f1",
            "help",
            "Help",
            id="app.help",
            tooltip="What this pane is and its keys",
        ),
        Binding(
            "pagedown",
            "read_help(1)",
            "Help, read on",
            show=False,
            id="app.help_down",
            priority=True,
            tooltip="While help is open: further down",
        ),
        Binding(
            "pageup",
            "read_help(-1)",
            "Help, read back",
            show=False,
            id="app.help_up",
            priority=True,
            tooltip="While help is open: further up",
        ),
        Binding("escape", "one_back", "Back", show=False, id="app.back", group=EVERYWHERE, tooltip="One step back"),
        Binding("plus", "zoom", "Zoom", show=False, id="app.zoom", group=EVERYWHERE, tooltip="This pane alone, or all"),
        Binding(
            "O",
            "window",
            "Open picture",
            show=False,
            id="app.window",
            group=EVERYWHERE,
            tooltip="The phone's picture on a page, in this machine's browser",
        ),
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

    badge: reactive[str] = reactive("")
    """Text at the end of every footer but Live's: what the live run waits for, and the key that opens it."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        opening: Opening = AT_HOME,
        *,
        reads_words: bool = False,
        graphics: TerminalGraphics = CHARACTERS,
    ) -> None:
        """Create the app. With `reads_words`, read text from pictures of phones that give no UI tree."""
        if not hasattr(asyncio, "eager_task_factory"):
            # Spares an empty first screen. Where tasks begin at once (Python 3.12 and later), widgets would mount
            # before the first mode's screen is on its stack; there it is switched to in on_mount.
            self.DEFAULT_MODE = opening.screen  # type: ignore[misc]
        super().__init__()
        self._filters.append(PaintableFilter())
        self.store = store
        self.settings = settings
        self.opening = opening
        self.session = None
        self.leave_question, self.after_run = LEAVING if may_replay(settings.seat) else LEAVING_HOMELESS, ""
        self._reported_run = ""
        """Id of the run whose end a toast has reported."""
        self.run_locale = settings.locale
        self.window: PictureWindow | None = None
        """The page of pictures in a browser beside the terminal, or None if it is not open."""
        self.graphics = graphics
        self.reads_words = reads_words
        self._text_reader: TextReader | None = None
        check_theme(settings.theme)
        self.theme = settings.theme
        # In place of Textual's own, which parses all CSS again for every mode.
        self.stylesheet = ThemedStylesheet(variables=self.get_css_variables())
        self.moved_keys, self._lost_keys = self._keymap_of(settings)
        self.set_keymap(self.moved_keys)
        self.add_rooms(opening)

    @staticmethod
    def _keymap_of(settings: Settings) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the moved keys by binding id, and a sentence for each binding that lost its key."""
        if not settings.keymap:
            return {}, ()
        from screens.keymap import keymap_of

        return keymap_of(settings.keymap)

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's driver, or its subclass that ends a stuck terminal within seconds."""
        from screens.terminal_driver import TerminalDriver

        kind = super().get_driver_class()
        return TerminalDriver if issubclass(TerminalDriver, kind) else kind

    def on_load(self) -> None:
        message_hook.set(drop_stale_click)

    async def on_mount(self) -> None:
        """Open the first room. Lists are read after the first paint."""
        if self.settings.window:
            self._open_window()
        await self.enter(self.opening)
        self.theme_changed_signal.subscribe(self, self._keep_theme)
        for sentence in self._lost_keys:
            self.notify(sentence, title="Keymap", severity="warning", timeout=15, markup=False)
        self.call_after_refresh(self.check_terminal_size)

    def _keep_theme(self, theme: Theme) -> None:
        """Save the chosen theme in the settings file for the next start."""
        if theme.name == self.settings.theme or self.is_web:  # in a browser it is the server's settings file
            return
        self.settings = msgspec.structs.replace(self.settings, theme=theme.name)
        try:
            save_theme(theme.name)
        except LabError as error:
            self.report(error)
        if os.environ.get("HITLAB_THEME"):
            self.notify("HITLAB_THEME is set: next time its theme is shown again.", severity="warning", markup=False)

    def _open_window(self) -> None:
        from screens.browser_driver import BrowserDriver
        from screens.picture_window import PictureWindow

        driver = self._driver
        if not self.is_web or not isinstance(driver, BrowserDriver):
            self.window = PictureWindow()
            self.action_window()
            return

        def write_visibility(visible: bool) -> None:  # what is written from several threads would be mixed
            self.call_later(driver.tell_pictures, visible)

        self.window = PictureWindow(write_visibility)
        driver.show_pictures(self.window.address)

    def action_window(self) -> None:
        """Open the page of pictures in this machine's browser, show its address, and copy it."""
        if self.window is None:
            from screens.picture_window import PictureWindow

            self.window = PictureWindow()
            self._show_on_page()
        address = self.window.address
        self.copy_to_clipboard(address)
        remark = "opened, and copied" if open_in_browser(address) else "copied"
        self.notify(f"{address}  ({remark})", title="Pictures in a browser", timeout=15, markup=False)

    def _show_on_page(self) -> None:
        """Draw the current still picture on a page that has just opened. A live phone sends its own frames."""
        from screens.replay.phone_pane import StillPhone

        for phone in self.screen.query(StillPhone):
            phone.show_again()

    def on_unmount(self) -> None:
        if self.window is not None:
            self.window.close()
        if self._text_reader is not None:
            self._text_reader.close()

    @property
    def cursor_position(self) -> Offset:
        """Position of the terminal's cursor, which an input method follows: the caret of the focused field.

        Textual's fields report it while a person types, but not when they appear or move.
        """
        field = self.focused if self.screen_stack else None
        offset = getattr(field, "cursor_screen_offset", None)
        return offset if isinstance(offset, Offset) else self._cursor_position

    @cursor_position.setter
    def cursor_position(self, position: Offset) -> None:
        self._cursor_position = position

    def send(self, codes: str) -> None:
        """Write control sequences to the terminal that draw nothing in a cell."""
        if self._driver is not None:
            self._driver.write(codes)

    @property
    def text_reader(self) -> TextReader | None:
        """Reader of text in pictures, or None if not wanted or not installed (a toast reports that once)."""
        if self.reads_words and self._text_reader is None:
            self.report_missing_ocr()
        if self.reads_words and self._text_reader is None:
            from lab.ocr.reader import TextReader

            self._text_reader = TextReader()
        return self._text_reader

    def report_missing_ocr(self) -> None:
        """Show a toast with the install command, once, if the OCR engine is missing."""
        from lab.ocr.engine import check_engine

        try:
            check_engine()
        except LabError as error:
            if self.reads_words:
                self.reads_words = False
                self.notify(error.body, title=error.title.capitalize(), timeout=15, markup=False)

    # -- what every screen has -------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the rooms that this seat lacks. Allow only `quit` while the terminal is too small."""
        if self._running and self.screen_stack and isinstance(self.screen, TooSmallScreen):
            return action == "quit"
        if action == "read_help":
            return self._running and bool(self.screen_stack) and bool(self.screen.query_children("Help"))
        if action == "window":
            return not self.is_web  # there it is beside the terminal already
        return not (action == "show" and parameters[0] in ROOMS) or self.has_room(str(parameters[0]))

    @property
    def hidden_bindings(self) -> tuple[str, ...]:
        """Ids of bindings that help leaves out: the study leads a participant from room to room."""
        return () if may_replay(self.settings.seat) else ("app.home", "app.live")

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yield a command for every action that a key reaches here, except those that only move a cursor."""
        # An action with several keys is listed once, with its first key.
        seen: set[tuple[DOMNode, str]] = set()
        titles: set[str] = set()
        for node, binding, enabled, tooltip in screen.active_bindings.values():
            if not enabled or binding.system or not binding.description or (node, binding.action) in seen:
                continue
            if binding.action == "command_palette" or binding.description in _MOVES:
                continue
            seen.add((node, binding.action))
            run = partial(self.run_action, binding.action, default_namespace=node)
            key = self.get_key_display(binding)
            title = f"Go to {binding.description}" if node is self and binding.group is SWITCH else binding.description
            if title not in titles:
                titles.add(title)
                yield SystemCommand(title, f"{tooltip or binding.tooltip}   {key}".strip(), run)
        yield from self._task_commands()
        if self.has_room("compare"):
            run = partial(self.run_action, "show('compare')")
            yield SystemCommand("Compared runs", "The two runs that are side by side", run)
        if self.has_room("answer") and self.current_mode != "answer" and self._is_asked():
            run = partial(self.run_action, "show('answer')")
            yield SystemCommand("Go to Answer", "What clients ask at the endpoint", run)
        yield SystemCommand("Theme", "Other colours", self.action_change_theme)

    def _is_asked(self) -> bool:
        """Return True if this program serves an endpoint or its file holds conversations of one."""
        return self.endpoint is not None or bool(self.store.conversations.rows("endpoint", 1))

    def _task_commands(self) -> Iterable[SystemCommand]:
        """Yield a command for each built-in task that Home has read."""
        from screens.home.home import HomeScreen

        home = self.entered_screen("home")
        for task in home.tasks if isinstance(home, HomeScreen) else ():
            run = partial(self._task_from_palette, task.name)
            yield SystemCommand(f"Run {task.title} ({task.name})", f"This {task.kind} task, by its playbook", run)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text without control characters, because a terminal would obey escapes pasted into it."""
        super().copy_to_clipboard(clean(text))

    def action_command_palette(self) -> None:
        """Open the palette, once per screen. A palette that is open in another room owns the id."""
        if not isinstance(self.screen, CommandPalette):
            # Two nodes with one id would fail while the palette of another room is still mounted.
            has_palette = self._nodes._get_by_id(_PALETTE) is not None
            self.push_screen(Palette(id=None if has_palette else _PALETTE))

    def search_themes(self) -> None:
        """Open the palette with the list of themes."""
        self.push_screen(Palette(providers=[ThemeProvider], placeholder="Search for themes…"))

    def _task_from_palette(self, name: str) -> None:
        """Run a task chosen in the palette. Report a `LabError` as a toast."""
        try:
            self.open_task(name)
        except LabError as error:
            self.report(error)

    def action_help(self) -> None:
        """Toggle the help panel: the focused widget's help and every key."""
        if self.screen.query("HelpPanel"):
            self.action_hide_help_panel()
        else:
            from screens.widgets.help_panel import Help

            self.screen.mount(Help())

    def action_read_help(self, by: int) -> None:
        """Scroll the help panel by a page."""
        for panel in self.screen.query("Help").results():
            panel.read(by)  # type: ignore[attr-defined]

    def action_one_back(self) -> None:
        """Go one step back, and finally to Home. Ends nothing."""
        if self.screen.query("HelpPanel"):
            self.action_hide_help_panel()
        elif self.current_mode != "home":
            self.switch_mode(self.back_targets.get(self.current_mode, "home"))

    def action_zoom(self) -> None:
        """Maximize the focused pane, or restore all panes."""
        if self.screen.maximized is not None:
            self.screen.minimize()
        else:
            self.screen.action_maximize()

    async def action_quit(self) -> None:
        """Quit. Ask first if a run is live, which is left open, or if clients wait at an endpoint of this app."""
        from lab.runs.endpoint.conversation_list import waiting_count, waiting_words

        if isinstance(self.screen, QuitScreen):
            return
        says, keys = self.leave_question if self.run_is_live else ("", LEAVING_CLIENTS)
        if self.endpoint is not None and (waiting := waiting_count(self.store)):
            says = f"{waiting_words(waiting)} {says}".rstrip()
        if says:
            self.push_screen(QuitScreen((says, keys)), self._leave)
        else:
            self.exit()

    def _leave(self, sure: bool | None) -> None:
        """Leave the run open to be resumed, and do not wait for a blocked agent or user."""
        if sure:
            if self.session is not None:
                self.session.leave()
            self.exit()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.check_terminal_size)

    def check_terminal_size(self) -> None:
        """Replace the screen by one sentence while the terminal is too small, and restore it afterwards."""
        small = self.size.width < LEAST[0] or self.size.height < LEAST[1]
        if small and not isinstance(self.screen, TooSmallScreen):
            self.push_screen(TooSmallScreen())
        elif not small and isinstance(self.screen, TooSmallScreen):
            self.pop_screen()

    def on_notify(self, event: Notify) -> None:
        """Show a toast and remove old ones, because the newest is painted below them and would be out of sight."""
        most = next(count for rows, count in _TOASTS if self.size.height >= rows)
        # Room for the new one. If only one may stay, `or None` removes all others.
        for old in list(self._notifications)[: 1 - most or None]:
            self._unnotify(old, refresh=False)
            for screen in self.screen_stack:  # Textual takes the toast alone, and what held it keeps its rows
                screen.query(f"#--textual-toast-{old.identity}").remove()

    # -- the run that is live, while another room is shown -----------------------------------------------------

    def on_event_committed(self, message: EventCommitted) -> None:
        """Follow an event of the live run, whose own screen has shown it already."""
        self._follow_run()

    def on_question_changed(self, message: QuestionChanged) -> None:
        self._follow_run()

    def on_gated_action_changed(self, message: GatedActionChanged) -> None:
        self._follow_run()
        if self.run_waits == "decision" and self.current_mode != "live":
            # In Live itself the gate's card already asks.
            key = keys_of(self, "app.live")[0]
            self.notify(f"An action waits for your decision in the live run: {key} goes there.", markup=False)

    def on_operation_failed(self, message: OperationFailed) -> None:
        self._follow_run()

    def _follow_run(self) -> None:
        """Update the badge and Home from the live run, and report its end once in other rooms."""
        if not self.screen_stack:
            return  # the app closes
        from screens.home.home import HomeScreen

        waits = self.run_waits
        self.badge = f"{keys_of(self, 'app.live')[0]}: the run waits for your {waits}" if waits else ""
        if isinstance(self.screen, HomeScreen):
            self.screen.follow_run()
        if self.session is not None and self.session.over and self._reported_run != self.session.trace_id:
            self._reported_run = self.session.trace_id
            if self.current_mode != "live":
                self.notify(f"The run is over: {keys_of(self, 'app.live')[0]} shows how it ended.", markup=False)

    # -- errors ----------------------------------------------------------------------------------------------

    def report(self, error: LabError) -> None:
        """Show an error as a toast."""
        self.notify(plain(error.body), title=plain(error.title), severity="error", timeout=10, markup=False)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action of any screen, and report a `LabError` as a toast."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except LabError as error:
            self.report(error)
            return True

    def _handle_exception(self, error: Exception) -> None:
        """Show a `LabError` of a worker, timer or callback as a toast, and end the app with a crash panel for all else.

        The panel shows no values, because Textual's own panel prints locals and so a person's words. Textual has no
        public hook for this. A node that is `ReportsErrors` reports the `LabError`s of its message handlers itself.
        """
        cause = error.error if isinstance(error, WorkerFailed) else error
        # A worker's error, or one of a timer or callback of such a node, leaves the widgets in a sound state.
        goes_on = cause is not error or isinstance(active_message_pump.get(None), ReportsErrors)
        if isinstance(cause, LabError) and goes_on:
            self.report(cause)
            return
        crash = cause if isinstance(cause, Crash) else Crash(cause)
        super()._handle_exception(crash)


if TYPE_CHECKING:
    _LAB: type[Lab] = LabApp  # what screens ask of the app is there


def open_in_browser(address: str) -> bool:
    """Open a page in a new window. Return False without a display or a program that opens it.

    Never start a browser that runs in the terminal, because the lab occupies it.
    """
    opener = "open" if sys.platform == "darwin" else "xdg-open"
    display = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    program = shutil.which(opener)
    # Over SSH the browser would open on another machine than the person's.
    if not display or program is None or os.environ.get("SSH_CONNECTION"):
        return False
    try:
        subprocess.Popen(
            [program, address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    return True
