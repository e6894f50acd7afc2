"""Messages of a scrcpy control socket: the client's as values, and the phone's as bytes.

Layouts follow Genymobile/scrcpy (ControlMessageReader.java, DeviceMessageWriter.java, and the client's
test_control_msg_serialize.c). All numbers are big-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple, TypeAlias

from lab.core.run.step import Point
from simulators.phone.served.services import Stream

LONGEST = 1 << 18
"""Bytes of the longest message (256 KiB)."""

Take: TypeAlias = Callable[[int], bytes]
"""Function that reads exactly that many bytes."""


class UnreadableMessage(Exception):
    """Bytes that are not a message. The server logs them and ends."""


class KeyMessage(NamedTuple):
    """A key goes down (`action` 0) or up (1)."""

    action: int
    code: int
    repeat: int
    meta: int


class TextMessage(NamedTuple):
    """Characters to type, one by one."""

    text: str


class Touch(NamedTuple):
    """A finger's event. `action` is MotionEvent's (0 down, 1 up, 2 move, 3 cancel), `at` is in a video of `size`."""

    action: int
    pointer: int
    at: Point
    size: Point
    pressure: float
    button: int
    buttons: int


class ScrollMessage(NamedTuple):
    """A mouse wheel: notches to the right and up."""

    at: Point
    size: Point
    right: float
    up: float
    buttons: int


class BackOrOn(NamedTuple):
    """Back, or the power key if the screen is off. `action` is as in a key message."""

    action: int


class GetClipboard(NamedTuple):
    """Request for the clipboard's text, after a press of copy (1) or cut (2)."""

    copy_key: int


class SetClipboard(NamedTuple):
    """Text for the clipboard, optionally pasted. The phone acknowledges a `sequence` other than 0."""

    sequence: int
    paste: bool
    text: str


class Power(NamedTuple):
    """The phone's own screen goes on or off."""

    on: bool


class StartApp(NamedTuple):
    """Start of an app by package, or by `?` and the start of its label. A leading `+` stops it first."""

    name: str


class Press(NamedTuple):
    """A message without a payload."""

    what: Literal["notifications", "settings", "collapse", "rotate", "keyboard_settings", "reset_video"]


class UnsupportedMessage(NamedTuple):
    """A message for hardware that this phone lacks."""

    kind: int


Message: TypeAlias = (
    KeyMessage
    | TextMessage
    | Touch
    | ScrollMessage
    | BackOrOn
    | GetClipboard
    | SetClipboard
    | Power
    | StartApp
    | Press
    | UnsupportedMessage
)

_PRESSES: dict[int, Press] = {
    5: Press("notifications"),
    6: Press("settings"),
    7: Press("collapse"),
    11: Press("rotate"),
}
_HID = {12: (2, 4), 13: (2, 4), 14: (2, 7)}
"""First version with each UHID message: create, input and destroy of the computer's keyboard, mouse or gamepad."""


class MessageReader:
    """Reader of a stream by exact counts."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._held = bytearray()

    def take(self, count: int) -> bytes:
        """Return exactly `count` bytes. Raise `EOFError` at the end."""
        while len(self._held) < count:
            self._read_more(None)
        out = bytes(self._held[:count])
        del self._held[:count]
        return out

    @property
    def waiting(self) -> bool:
        """True if bytes of a next message have arrived."""
        with suppress(TimeoutError, EOFError):
            if not self._held:
                self._read_more(0)
        return bool(self._held)

    def _read_more(self, seconds: float | None) -> None:
        data = self._stream.read(seconds)
        if not data:
            raise EOFError
        self._held += data


def read(take: Take, version: tuple[int, ...]) -> Message:
    """Read the next message. Raise `UnreadableMessage` if this version has no message of its kind."""
    kind = take(1)[0]
    if kind in _READ:
        return _READ[kind](take)
    if kind == 3:
        return _scroll(take, 16 if version >= (3, 3, 1) else 1)
    if kind in _PRESSES:
        return _PRESSES[kind]
    if (2, 4) <= version < (2, 7) and kind == 14:
        return Press("keyboard_settings")
    if kind in _HID and version >= _HID[kind]:
        return _hid(kind, take, version)
    if version >= (2, 7) and kind == 15:
        return Press("keyboard_settings")
    if version >= (3,) and kind == 17:
        return Press("reset_video")
    if version >= (3,) and kind == 16:
        return StartApp(_string(take, 1))
    if version >= (4,) and kind in _UNHEEDED_4:
        take(_UNHEEDED_4[kind])
        return UnsupportedMessage(kind)
    raise UnreadableMessage(f"Unknown event type: {kind}")


def clipboard(text: str) -> bytes:
    """Return a message with the phone's clipboard, cut between characters if it is too long."""
    # The cut may split a character, which `ignore` drops.
    raw = text.encode("utf-8", "replace")[: LONGEST - 5].decode("utf-8", "ignore").encode()
    return struct.pack(">BI", 0, len(raw)) + raw


def ack_clipboard(sequence: int) -> bytes:
    """Return a message that acknowledges the clipboard of that number."""
    return struct.pack(">BQ", 1, sequence)


def device_name(name: str) -> bytes:
    """Return a device's name in 64 bytes with at least one zero at the end."""
    return name.encode("utf-8", "replace")[:63].decode("utf-8", "ignore").encode().ljust(64, b"\0")


def _key(take: Take) -> Message:
    return KeyMessage(*struct.unpack(">BiiI", take(13)))


def _text(take: Take) -> Message:
    return TextMessage(_string(take, 4))


def _touch(take: Take) -> Message:
    action, pointer, x, y, wide, high, pressure, button, buttons = struct.unpack(">BqiiHHHII", take(31))
    force = 1.0 if pressure == 0xFFFF else pressure / 0x10000
    return Touch(action, pointer, (x, y), (wide, high), force, button, buttons)


def _scroll(take: Take, full: int) -> Message:
    x, y, wide, high, right, up, buttons = struct.unpack(">iiHHhhI", take(20))
    return ScrollMessage((x, y), (wide, high), _from_fixed_point(right) * full, _from_fixed_point(up) * full, buttons)


def _from_fixed_point(value: int) -> float:
    return 1.0 if value == 0x7FFF else value / 0x8000


def _read_back_or_on(take: Take) -> Message:
    return BackOrOn(take(1)[0])


def _read_get_clipboard(take: Take) -> Message:
    return GetClipboard(take(1)[0])


def _read_set_clipboard(take: Take) -> Message:
    sequence, paste = struct.unpack(">Q?", take(9))
    return SetClipboard(sequence, paste, _string(take, 4))


def _power(take: Take) -> Message:
    return Power(take(1)[0] != 0)


def _hid(kind: int, take: Take, version: tuple[int, ...]) -> Message:
    """Skip a UHID message. Devices have a name since 2.7, a vendor's and a product's number since 3.1."""
    take(2)
    if kind == 12:
        take(4 if version >= (3, 1) else 0)
        _bytes(take, 1) if version >= (2, 7) else b""
    if kind != 14:
        _bytes(take, 2)
    return UnsupportedMessage(kind)


def _bytes(take: Take, width: int) -> bytes:
    length = int.from_bytes(take(width))
    if length > LONGEST:
        raise UnreadableMessage(f"A text of {length} bytes")
    return take(length)


def _string(take: Take, width: int) -> str:
    return _bytes(take, width).decode("utf-8", "replace")


_READ: dict[int, Callable[[Take], Message]] = {
    0: _key, 1: _text, 2: _touch, 4: _read_back_or_on, 8: _read_get_clipboard, 9: _read_set_clipboard, 10: _power,
}  # fmt: skip

_UNHEEDED_4 = {18: 1, 19: 0, 20: 0, 21: 4}
"""Payload sizes of ignored messages: a camera's torch and zoom, and the size of a resizable display."""
