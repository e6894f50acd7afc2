"""The control socket of a scrcpy server: a client's messages act on the phone, and the phone answers."""

from __future__ import annotations

import threading
from collections.abc import Callable

from lab.core.errors import LabError
from lab.core.run.step import Action, Point
from simulators.phone.installed import APPS
from simulators.phone.nav import LAUNCHER
from simulators.phone.served import keys, scrcpy_messages
from simulators.phone.served.display import Display
from simulators.phone.served.scrcpy_options import ServerOptions
from simulators.phone.served.scrcpy_video import VideoStream
from simulators.phone.served.services import HungUp, Services, Stream

_DOWN, _UP, _MOVE, _CANCEL = 0, 1, 2, 3
_MOUSE = -1
_PRIMARY = 1
_NOTCH = 168
"""Pixels of the display that one notch of a wheel scrolls: 64 dp at 420 dpi (ViewConfiguration)."""
_ON_SYNC = 0.2
_DENIED = (
    "Injecting input events requires the caller (or the source of the instrumentation, if any) to have the "
    "INJECT_EVENTS permission."
)

_HELD = {0x1: 59, 0x1000: 113}
"""Keys that are held according to a meta state: shift and control (KeyEvent.META_...)."""

Log = Callable[[str, str], None]


class ServedControl:
    """One control socket until it is gone or sends an invalid message. Touches must match the size of `video`."""

    def __init__(
        self, services: Services, options: ServerOptions, stream: Stream, video: VideoStream | None, log: Log
    ) -> None:
        assert isinstance(services.display, Display)
        self._services, self._options, self._stream = services, options, stream
        self._display, self._video, self._log = services.display, video, log
        self._finger: int | None = None
        self._writing = threading.Lock()
        self._known = services.clipboard
        """Clipboard as the client knows it."""

    def run(self) -> None:
        """Process messages in order."""
        if self._options.power_on:
            self._press(keys.WAKEUP)
        inbox = scrcpy_messages.MessageReader(self._stream)
        try:
            message = self._read(inbox)
            while True:
                # A move is dropped if another move of the same finger is already waiting.
                later = self._read(inbox) if _are_moves(message) and inbox.waiting else None
                if later is None or not _are_moves(message, later):
                    self._obey(message)
                message = self._read(inbox) if later is None else later
        except scrcpy_messages.UnreadableMessage as error:
            self._log("error", f"Control protocol error\n{error}")
        except (EOFError, HungUp):
            return
        finally:
            # A client may leave with its finger down.
            self._display.finger.cancel()
            if self._options.power_off_on_close:
                self._press(keys.SLEEP)

    def sync(self) -> None:
        """Send the clipboard to the client whenever the phone changes it."""
        while not self._stream.gone.wait(_ON_SYNC):
            # The clipboard is a plain attribute that commands set, so it is polled.
            text = self._services.clipboard
            if text != self._known:
                self._known = text
                self._say(scrcpy_messages.clipboard(text))

    def _read(self, inbox: scrcpy_messages.MessageReader) -> scrcpy_messages.Message:
        return scrcpy_messages.read(inbox.take, self._options.version)

    def _obey(self, message: scrcpy_messages.Message) -> None:
        self._services.faults.pause(self._stream.gone)
        try:
            if self._services.faults.deny and isinstance(message, _INJECTED):
                self._log("error", _DENIED)
            else:
                self._dispatch(message)
        except LabError as error:
            self._log("warn", str(error))

    def _dispatch(self, message: scrcpy_messages.Message) -> None:
        match message:
            case scrcpy_messages.Touch():
                self._touch(message)
            case scrcpy_messages.ScrollMessage():
                self._scroll(message)
            case scrcpy_messages.KeyMessage(action=0, code=code, meta=meta):
                self._press(code, meta)
            case scrcpy_messages.TextMessage(text=text):
                self._type(text)
            case scrcpy_messages.BackOrOn(action=0):
                self._press(keys.BACK if self._display.awake else keys.POWER)
            case scrcpy_messages.GetClipboard(copy_key=key):
                self._tell_clipboard(key)
            case scrcpy_messages.SetClipboard():
                self._set_clipboard(message)
            case scrcpy_messages.Power(on=on):
                self._log("info", f"Device display turned {'on' if on else 'off'}")
            case scrcpy_messages.StartApp(name=name):
                self._start_app(name)
            case scrcpy_messages.Press(what=what):
                self._panel(what)

    def _panel(self, what: str) -> None:
        if what in ("notifications", "settings"):
            self._display.pull(down=True)
        elif what == "collapse":
            self._display.pull(down=False)
        elif what == "rotate":
            self._display.rotation = 0 if self._display.landscape else 1
            self._services.settings["system", "user_rotation"] = str(self._display.rotation)
        elif what == "reset_video" and self._video is not None:
            self._log("info", "Video capture reset")
            self._video.reset()

    def _display_point(self, at: Point, size: Point) -> Point | None:
        """Return the display's point of an event, or None if the event was meant for a video of another size."""
        if self._video is None:
            return at
        view = self._video.view
        if size != view.size:
            wide, high = size
            now = f"{view.size[0]}x{view.size[1]}"
            self._log("verbose", f"Ignore positional event generated for size {wide}x{high} (current size is {now})")
            return None
        return view.on_display(at)

    def _touch(self, event: scrcpy_messages.Touch) -> None:
        """Follow one finger, the first that went down. A mouse's other buttons are not a finger."""
        at = self._display_point(event.at, event.size)
        if at is None or (event.pointer == _MOUSE and (event.button | event.buttons) & ~_PRIMARY):
            return
        if event.action == _DOWN and self._finger in (None, event.pointer):
            self._finger = event.pointer
            self._display.finger.finger_down(*at)
        elif event.pointer != self._finger:
            return
        elif event.action == _MOVE:
            self._display.finger.move(*at)
        elif event.action in (_UP, _CANCEL):
            self._finger = None
            if event.action == _UP:
                self._display.finger.finger_up(*at)
            else:
                self._display.finger.cancel()

    def _scroll(self, event: scrcpy_messages.ScrollMessage) -> None:
        at = self._display_point(event.at, event.size)
        vector = round(-event.right * _NOTCH), round(event.up * _NOTCH)
        if at is not None and vector != (0, 0):
            self._display.perform(Action("scroll", at=at, vector=vector))

    def _press(self, code: int, meta: int = 0) -> None:
        held_keys = tuple(key for flag, key in _HELD.items() if meta & flag)
        keys.press(self._services, self._display, code, held_keys)

    def _type(self, text: str) -> None:
        """Type the characters that a keyboard has keys for, one by one. Warn about all others."""
        buffer = ""
        for character in text:
            if " " <= character <= "~":
                buffer += character
                continue
            self._display.type(buffer)
            buffer = ""
            if character in "\n\t":
                self._press(keys.ENTER if character == "\n" else keys.TAB)
            else:
                self._log("warn", f"Could not inject char u+{ord(character):04x}")
        self._display.type(buffer)

    def _tell_clipboard(self, key: int) -> None:
        if key:
            self._press(keys.COPY if key == 1 else keys.CUT)
        if not self._options.clipboard_autosync:
            self._say(scrcpy_messages.clipboard(self._services.clipboard))

    def _set_clipboard(self, message: scrcpy_messages.SetClipboard) -> None:
        self._services.clipboard = self._known = message.text
        if isinstance(self._display, Display):
            self._display.show_clipboard(message.text)
        self._log("info", "Device clipboard set")
        if message.paste:
            if self._services.faults.deny:
                self._log("error", _DENIED)
            else:
                self._press(keys.PASTE)
        if message.sequence:
            self._say(scrcpy_messages.ack_clipboard(message.sequence))

    def _start_app(self, name: str) -> None:
        anew, name = name.startswith("+"), name.removeprefix("+")
        apps = [app for app in APPS.values() if app.id != LAUNCHER]
        if name.startswith("?"):
            matching = [app for app in apps if app.label.casefold().startswith(name[1:].casefold())]
        else:
            matching = [app for app in apps if app.package == name]
        if len(matching) != 1:
            what = f'name "{name[1:]}"' if name.startswith("?") else f'package "{name}"'
            self._log("warn", f"No {'unique ' if matching else ''}app found for {what}")
            return
        app = matching[0]
        self._log("info", f'Starting app "{app.label}" [{app.package}] on display 0...')
        if anew:
            self._display.stop(app.id)
        self._display.perform(Action("open_app", app=app.package))

    def _say(self, data: bytes) -> None:
        with self._writing:
            self._stream.write(data)


def _are_moves(*touches: scrcpy_messages.Message) -> bool:
    """Return True if all are moves of one finger: Android merges those before each picture."""
    moves = [touch for touch in touches if isinstance(touch, scrcpy_messages.Touch) and touch.action == _MOVE]
    return len(moves) == len(touches) and len({touch.pointer for touch in moves}) == 1


_INJECTED = (
    scrcpy_messages.KeyMessage,
    scrcpy_messages.TextMessage,
    scrcpy_messages.Touch,
    scrcpy_messages.ScrollMessage,
    scrcpy_messages.BackOrOn,
)
