"""The bytes of the scrcpy protocol, 2.1 to 4.x: what the server sends, strictly read, and what it is told.

Facts from Genymobile/scrcpy: doc/develop.md, server/.../Streamer.java, ControlMessageReader.java,
DeviceMessageWriter.java, and the client's app/tests/test_control_msg_serialize.c. All numbers are big-endian.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.seams import Trouble
from lab.core.step import Point

HEADER = 12
"""Bytes before each packet of video."""
NAME = 64
"""Bytes that hold the phone's name, padded with zeros."""
LONGEST_TEXT = 300
"""Most bytes that one text message may carry."""
LONGEST_CLIPBOARD = (1 << 18) - 14
"""Most bytes of a clipboard that is set."""

_H264 = 0x68323634
_CODECS = {_H264: "H.264", 0x68323635: "H.265", 0x00617631: "AV1", 0x00767038: "VP8", 0x00767039: "VP9"}
_LARGEST_PACKET = 1 << 24
_LARGEST_SIDE = 16384
_LATEST_PTS = 1 << 53
"""Microseconds: what a phone that is on for 285 years would count; a bit above it is no time but nonsense."""
_TOLD = (1 << 18) - 5
_WHOLE = 0xFFFF


class Speech(NamedTuple):
    """How a server of one `version` speaks; `numbers` are that version's."""

    version: str
    numbers: tuple[int, ...]

    @property
    def sessions(self) -> bool:
        """Whether the video's size comes in session packets, again on each rotation, and flags lie a bit lower."""
        return self.numbers >= (4,)

    @property
    def starts_apps(self) -> bool:
        """Whether it lists apps and starts them."""
        return self.numbers >= (3,)

    @property
    def notches(self) -> int:
        """How many notches of a wheel one message can carry."""
        return 16 if self.numbers >= (3, 3, 1) else 1


def speech(version: str) -> Speech:
    """How a server of that version speaks; `LabError` where it is one that we do not."""
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3}){1,3}", version):
        raise LabError("scrcpy", f"{plain(version, lines=False)!r} is no version of it.")
    numbers = tuple(map(int, version.split(".")))
    if not (2, 1) <= numbers < (5,):
        hint = "`hitlab device scrcpy` fetches one that is."
        raise LabError("scrcpy", f"its server {version} is none that is understood (2.1 to 4.x).", hint)
    return Speech(version, numbers)


class FrameHeader(NamedTuple):
    """What is said of the next `length` bytes of video: `config` is no picture; `pts` in the phone's microseconds."""

    config: bool
    key: bool
    pts: int
    length: int


class SizeChange(NamedTuple):
    """From here on the video is of this size."""

    size: Point


def codec(data: bytes) -> None:
    """Checks the codec's id (4 bytes): `Trouble` where the stream is none, or not H.264."""
    (number,) = struct.unpack(">I", data)
    if number in (0, 1):
        raise Trouble("scrcpy", "the phone cannot encode its screen.")
    if number != _H264:
        raise Trouble("scrcpy", f"wrong frame header: the video is {_CODECS.get(number, 'nothing known')}, not H.264.")


def size(data: bytes) -> Point:
    """The video's size (8 bytes)."""
    width, height = struct.unpack(">II", data)
    if not (0 < width <= _LARGEST_SIDE and 0 < height <= _LARGEST_SIDE):
        raise Trouble("scrcpy", f"wrong frame header: a video of {width} x {height}.")
    return width, height


def header(data: bytes, sessions: bool) -> FrameHeader | SizeChange:
    """The 12 bytes before a packet; `sessions` as in `Speech`. `Trouble` where they can be none."""
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
    """What the phone calls itself (64 bytes)."""
    return plain(data.partition(b"\0")[0].decode(errors="replace"), lines=False)


class Clipboard(NamedTuple):
    """The phone's clipboard, as it was asked for."""

    text: str


class ClipboardAck(NamedTuple):
    """The clipboard that was set under this number is set."""

    sequence: int


class UnknownMessage(NamedTuple):
    """A message that nothing here has asked for."""


def device_message(kind: int, read: Callable[[int], bytes]) -> Clipboard | ClipboardAck | UnknownMessage:
    """The message that began with the byte `kind`; `read` gives exactly as many bytes more as it is asked for."""
    if kind == 0:
        (length,) = struct.unpack(">I", read(4))
        if length > _TOLD:
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


def touch(kind: Touch, at: Point, space: Point, *, pointer: int = 0) -> bytes:
    """A finger, numbered by `pointer`, at a place of the video; `space` is the video's size."""
    pressure = 0 if kind in ("up", "cancel") else _WHOLE
    return struct.pack(">BBQiiHHHII", 2, _TOUCHES[kind], pointer, *at, *space, pressure, 0, 0)


def scroll(at: Point, space: Point, horizontal: float, vertical: float, notches: int) -> bytes:
    """A wheel's turn there, in notches; what is more than `notches` of them is as many."""

    def fixed(value: float) -> int:
        return min(0x7FFF, round(max(-1.0, min(1.0, value / notches)) * 0x8000))

    return struct.pack(">BiiHHhhI", 3, *at, *space, fixed(horizontal), fixed(vertical), 0)


def key(action: Literal["down", "up"], code: int, *, repeat: int = 0, meta: int = 0) -> bytes:
    """An Android key going down or up."""
    return struct.pack(">BBiii", 0, action == "up", code, repeat, meta)


def text(words: str) -> list[bytes]:
    """Messages that type these characters, as few as carry them."""
    data = words.encode()
    assert len(data) == len(words), "only ASCII can be cut anywhere"
    cuts = range(0, len(data), LONGEST_TEXT)
    return [struct.pack(">BI", 1, len(part)) + part for part in (data[at : at + LONGEST_TEXT] for at in cuts)]


def set_clipboard(sequence: int, words: str, *, paste: bool) -> bytes:
    """Sets the phone's clipboard, and presses paste where told; answered by `ClipboardAck(sequence)`."""
    data = words.encode()
    if len(data) > LONGEST_CLIPBOARD:
        raise LabError("scrcpy", f"a text of {len(data):,} bytes is more than a clipboard message carries.")
    return struct.pack(">BQBI", 9, sequence, paste, len(data)) + data


def get_clipboard() -> bytes:
    """Asks for the phone's clipboard as it is."""
    return struct.pack(">BB", 8, 0)


def back(action: Literal["down", "up"]) -> bytes:
    """Back, or waking where the screen is off."""
    return struct.pack(">BB", 4, action == "up")


def panel(which: str) -> bytes:
    """Pulls a panel of `PANELS` down; the empty word puts all away."""
    return bytes([PANELS[which]])


def display_power(on: bool, speech: Speech) -> bytes:
    """Lights or darkens the phone's own screen."""
    return bytes([10, (1 if speech.numbers >= (3,) else 2) if on else 0])


def rotate() -> bytes:
    """Turns the phone to its other side."""
    return bytes([11])


def start_app(app: str) -> bytes:
    """Starts an app by package; `?words` by label; a leading `+` stops it first."""
    data = app.encode()
    if len(data) > 255:
        raise LabError("scrcpy", f"an app's name of {len(data)} bytes is more than a message carries.")
    return struct.pack(">BB", 16, len(data)) + data
