"""Actions to what a finger, a key, the keyboard and the launcher do on a phone."""

from __future__ import annotations

import time

import msgspec

from lab.core.errors import LabError
from lab.core.step import Action, Point
from lab.core.ui_tree import UiTree
from lab.devices.apps import Apps
from lab.devices.dump import Dumper
from lab.devices.gestures import inside, stroke
from lab.devices.launcher import LauncherAccess, tap_icon
from lab.devices.shell import Shell, line_of
from lab.devices.system_state import SystemState, display_size, glance
from lab.devices.text_input import Typist
from lab.devices.touch_input import BACK, ENTER, HELD, HOME, RECENT, ByInput, ByScrcpy, Fingers
from lab.devices.videos import Videos

_WAIT_MS, _LONGEST_WAIT, _LONGEST_TOUCH = 1000, 600_000, 60_000
_CURSOR, _LOOK = 2.0, 0.1
"""Seconds that a tapped field may take to get the cursor; and between two looks."""


class ActionRunner:
    """Does actions on one phone: by the scrcpy session's hand where one runs, else by `input`."""

    def __init__(self, shell: Shell, dumper: Dumper, videos: Videos) -> None:
        self._shell, self._dumper, self._videos = shell, dumper, videos
        self._input = ByInput(shell)
        self.typist = Typist(shell, videos.paste, self._field_text)
        self._apps = Apps(shell, videos.labels, self._tap_icon)
        self._size: Point = (0, 0)

    def perform(self, action: Action, size: Point, tree: UiTree) -> None:
        """Does one action on a screen of `size` that last showed `tree`; what only concerns the loop does nothing."""
        self._size = size
        if action.ms is not None and action.kind != "wait":
            action = msgspec.structs.replace(action, ms=min(max(0, action.ms), _LONGEST_TOUCH))
        match action.kind:
            case "click":
                self._fingers.tap(self._place(action.at or _middle(size)))
            case "double_tap":
                self._fingers.tap(self._place(action.at or _middle(size)), 2)
            case "long_press":
                self._fingers.hold(self._place(action.at or _middle(size)), action.ms or HELD)
            case "drag" | "swipe" | "scroll":
                self._on_screen(action)
                self._fingers.draw(*stroke(action, self._size, tree))
            case "input_text":
                self._type(action, tree)
            case "keyboard_enter":
                self._fingers.key(ENTER)
            case "navigate_home":
                self._fingers.key(HOME)
            case "navigate_back":
                self._fingers.key(BACK)
            case "press_recent":
                self._fingers.key(RECENT)
            case "wait":
                self._wait(_WAIT_MS if action.ms is None else action.ms)
            case "open_app":
                self._apps.open(action.app or action.text or "")

    @property
    def _fingers(self) -> Fingers:
        session = self._videos.session
        return ByScrcpy(session, self._size) if session is not None else self._input

    def _place(self, at: Point) -> Point:
        """A place that is on the screen, as it is turned now; a `LabError` where it is not, or was of a screen before.

        A running scrcpy session knows by itself how the phone is turned.
        """
        on_screen = 0 <= at[0] < self._size[0] and 0 <= at[1] < self._size[1]
        if on_screen and self._videos.session is not None:
            return at
        now = display_size(self._shell) or self._size
        if on_screen and (now[0] > now[1]) != (self._size[0] > self._size[1]):
            raise LabError("touch", "the phone was turned since it was looked at; nothing was done.")
        self._size = self._size if on_screen else now
        return inside(at, self._size)

    def _on_screen(self, action: Action) -> None:
        for at in (action.at, action.to):
            if at is not None:
                self._place(at)

    def _wait(self, ms: int) -> None:
        """Lets the phone wait: its own clock counts, and it is known to be there after."""
        seconds = min(max(0, ms), _LONGEST_WAIT) / 1000
        self._shell.run(line_of("sleep", f"{seconds:.3f}"), seconds)

    def _type(self, action: Action, tree: UiTree) -> None:
        """Types where the cursor is, after a tap at `at` where one is given."""
        if action.at is not None:
            self._fingers.tap(self._place(action.at))
        state = self._cursor(tree if action.at is None else UiTree(), _CURSOR if action.at is not None else 0.0)
        secret = state.password or any(node.password for node in tree.nodes())
        self.typist.type(action.text or "", state.lines, secret=secret)

    def _cursor(self, tree: UiTree, seconds: float) -> SystemState:
        """Once something takes text: the keyboard is shown, or a field has the focus (with a keyboard of keys)."""
        end = time.monotonic() + seconds
        while not (state := glance(self._shell)).keyboard:
            if time.monotonic() < end:
                time.sleep(_LOOK)
            elif _field_focused(tree) or _field_focused(self._dumper.tree() or UiTree()):
                break
            else:
                raise LabError("input text", "no text field has the cursor", "Tap a text field first.")
        return state

    def _field_text(self) -> str | None:
        """What the field with the cursor holds; None where none is known to have it."""
        nodes = (self._dumper.tree() or UiTree()).nodes()
        return next((node.text for node in nodes if node.focused and node.cls.endswith("EditText")), None)

    def _tap_icon(self, name: str) -> bool:
        return tap_icon(name, LauncherAccess(self._dumper.tree, self._fingers, self._size))


def _field_focused(tree: UiTree) -> bool:
    return any(node.focused and node.cls.endswith("EditText") for node in tree.nodes())


def _middle(size: Point) -> Point:
    return size[0] // 2, size[1] // 2
