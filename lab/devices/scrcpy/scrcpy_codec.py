"""Codec of the scrcpy protocol, 2.1 to 4.x: strict parsers for server data, encoders for control messages.

Facts from Genymobile/scrcpy: doc/develop.md, server/.../Streamer.java, ControlMessageReader.java,
DeviceMessageWriter.java, and the client's app/tests/test_control_msg_serialize.c. All numbers are big-endian.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.run.step import Point
from lab.core.seams import Trouble
from lab.core.text.plain_text import plain

HEADER = 12
"""Bytes of the header before each video packet."""
NAME = 64
"""Bytes of the phone's name, padded with zeros."""
LONGEST_TEXT = 300
"""Most bytes of one text message."""
LONGEST_CLIPBOARD = (1 << 18) - 14
"""Most bytes of a set-clipboard message's text."""

_H264 = 0x68323634
_CODECS = {_H264: "H.264", 0x68323635: "H.265", 0x00617631: "AV1", 0x00767038: "VP8", 0x00767039: "VP9"}
_LARGEST_PACKET = 1 << 24
_LARGEST_SIDE = 16384
_LATEST_PTS = 1 << 53
"""Largest plausible timestamp in microseconds (285 years of uptime). A higher bit means a corrupt header."""
_LONGEST_REPLY = (1 << 18) - 5
"""Most bytes of a clipboard that the phone sends."""
_FULL_PRESSURE = 0xFFFF
"""Full pressure of a touch, as 16-bit fixed point."""


class Speech(NamedTuple):
    """Protocol variant of a server version. `numbers` is the version as a tuple."""

    version: str
    numbers: tuple[int, ...]

    @property
    def sessions(self) -> bool:
        """True if session packets carry the video's size, again after each rotation (4.x).

        Header flags then lie one bit lower.
        """
        return self.numbers >= (4,)

    @property
    def starts_apps(self) -> bool:
        """True if the server lists and starts apps (3.0 and later)."""
        return self.numbers >= (3,)

    @property
    def notches(self) -> int:
        """Number of wheel notches that one scroll message can carry."""
        return 16 if self.numbers >= (3, 3, 1) else 1


def speech(version: str) -> Speech:
    """Return the protocol variant of a version. Raise `LabError` if it is unsupported."""
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3}){1,3}", version):
        raise LabError("scrcpy", f"{plain(version, lines=False)!r} is no version of it.")
    numbers = tuple(map(int, version.split(".")))
    if not (2, 1) <= numbers < (5,):
        hint = "`hitlab settings scrcpy` fetches one that is."
        raise LabError("scrcpy", f"its server {version} is none that is understood (2.1 to 4.x).", hint)
    return Speech(version, numbers)


class FrameHeader(NamedTuple):
    """Header of a video packet of `length` bytes.

    `config` marks codec data without a picture, `pts` counts microseconds.
    """

    config: bool
    key: bool
    pts: int
    length: int


class SizeChange(NamedTuple):
    """Session packet: the video has this size from here on."""

    size: Point


def codec(data: bytes) -> None:
    """Check the codec id (4 bytes). Raise `Trouble` if there is no stream, or it is not H.264."""
    (number,) = struct.unpack(">I", data)
    # 0: the stream is disabled. 1: the server failed to configure its encoder.
    if number in (0, 1):
        raise Trouble("scrcpy", "the phone cannot encode its screen.")
    if number != _H264:
        raise Trouble("scrcpy", f"wrong frame header: the video is {_CODECS.get(number, 'nothing known')}, not H.264.")


def size(data: bytes) -> Point:
    """Parse the video's size (8 bytes)."""
    width, height = struct.unpack(">II", data)
    if not (0 < width <= _LARGEST_SIDE and 0 < height <= _LARGEST_SIDE):
        raise Trouble("scrcpy", f"wrong frame header: a video of {width} x {height}.")
    return width, height


def header(data: bytes, sessions: bool) -> FrameHeader | SizeChange:
    """Parse the 12 bytes before a packet, with `sessions` as in `Speech`. Raise `Trouble` if they are invalid."""
    flags, length = struct.unpack(">QI", data)
    if sessions and flags >> 63:
        if flags >> 33 != 1 << 30:
            raise Trouble("scrcpy", "wrong frame header: flags that there are not.")
        return SizeChange(size(data[4:]))
    first = 62 if sessions else 63
    config, key = bool(flags >> first & 1), bool(flags >> first - 1 & 1)
    pts = flags & ((1 << first - 1) - 1)
    if pts >= _LATEST_PTS or (config and (key or pts)):
        raise Trouble("scrcpy", "wrong frame header: flags that there are not.")
    if not 0 < length <= _LARGEST_PACKET:
        raise Trouble("scrcpy", f"wrong frame header: a packet of {length:,} bytes.")
    return FrameHeader(config, key, pts, length)


def name(data: bytes) -> str:
    """Parse the phone's name (64 bytes)."""
    return plain(data.partition(b"\0")[0].decode(errors="replace"), lines=False)


class Clipboard(NamedTuple):
    """Reply to `get_clipboard`: the phone's clipboard text."""

    text: str


class ClipboardAck(NamedTuple):
    """Acknowledgement that the clipboard of message `sequence` is set."""

    sequence: int


class UnknownMessage(NamedTuple):
    """Message that needs no handling here."""


def device_message(kind: int, read: Callable[[int], bytes]) -> Clipboard | ClipboardAck | UnknownMessage:
    """Parse the message that begins with the byte `kind`. `read(n)` returns exactly n more bytes."""
    if kind == 0:
        (length,) = struct.unpack(">I", read(4))
        if length > _LONGEST_REPLY:
            raise Trouble("scrcpy", f"a clipboard of {length:,} bytes cannot be.")
        return Clipboard(read(length).decode(errors="replace") if length else "")
    if kind == 1:
        return ClipboardAck(struct.unpack(">Q", read(8))[0])
    if kind == 2:
        _, length = struct.unpack(">HH", read(4))
        if length:
            read(length)
        return UnknownMessage()
    raise Trouble("scrcpy", f"a message of a kind that there is not ({kind}).")


Touch = Literal["down", "up", "move", "cancel"]
_TOUCHES: dict[Touch, int] = {"down": 0, "up": 1, "move": 2, "cancel": 3}
PANELS = {"notifications": 5, "settings": 6, "": 7}
"""Message type of each panel command. The empty name collapses all panels."""


def touch(kind: Touch, at: Point, space: Point, *, pointer: int = 0) -> bytes:
    """Encode a touch of finger `pointer` at a point of the video. `space` is the video's size."""
    pressure = 0 if kind in ("up", "cancel") else _FULL_PRESSURE
    return struct.pack(">BBQiiHHHII", 2, _TOUCHES[kind], pointer, *at, *space, pressure, 0, 0)


def scroll(at: Point, space: Point, horizontal: float, vertical: float, notches: int) -> bytes:
    """Encode a wheel turn at a point, in notches, each clamped to `notches`."""

    def fixed(value: float) -> int:
        return min(0x7FFF, round(max(-1.0, min(1.0, value / notches)) * 0x8000))

    return struct.pack(">BiiHHhhI", 3, *at, *space, fixed(horizontal), fixed(vertical), 0)


def key(action: Literal["down", "up"], code: int, *, repeat: int = 0, meta: int = 0) -> bytes:
    """Encode an Android key going down or up."""
    return struct.pack(">BBiii", 0, action == "up", code, repeat, meta)


def text(words: str) -> list[bytes]:
    """Encode printable characters as the fewest text messages."""
    data = words.encode()
    assert len(data) == len(words), "only ASCII can be cut anywhere"
    cuts = range(0, len(data), LONGEST_TEXT)
    return [struct.pack(">BI", 1, len(part)) + part for part in (data[at : at + LONGEST_TEXT] for at in cuts)]


def set_clipboard(sequence: int, words: str, *, paste: bool) -> bytes:
    """Encode a set-clipboard message, which also pastes if `paste`. `ClipboardAck(sequence)` answers it."""
    data = words.encode()
    if len(data) > LONGEST_CLIPBOARD:
        raise LabError("scrcpy", f"a text of {len(data):,} bytes is more than a clipboard message carries.")
    return struct.pack(">BQBI", 9, sequence, paste, len(data)) + data


def get_clipboard() -> bytes:
    """Encode a request for the phone's clipboard."""
    return struct.pack(">BB", 8, 0)


def encode_back(action: Literal["down", "up"]) -> bytes:
    """Encode Back, which wakes the phone if its screen is off."""
    return struct.pack(">BB", 4, action == "up")


def panel(which: str) -> bytes:
    """Encode the command that expands a panel of `PANELS`. The empty name collapses all."""
    return bytes([PANELS[which]])


def display_power(on: bool, speech: Speech) -> bytes:
    """Encode the command that turns the phone's own display on or off."""
    return bytes([10, (1 if speech.numbers >= (3,) else 2) if on else 0])


def rotate() -> bytes:
    """Encode a rotation between portrait and landscape."""
    return bytes([11])


def start_app(app: str) -> bytes:
    """Encode an app start by package, or by label as `?label`. A leading `+` force-stops the app first."""
    data = app.encode()
    if len(data) > 255:
        raise LabError("scrcpy", f"an app's name of {len(data)} bytes is more than a message carries.")
    return struct.pack(">BB", 16, len(data)) + data
