"""One session of the scrcpy protocol with a phone: its video as it changes, and a hand for touch, keys and text."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from lab.turn import Point

Open: TypeAlias = Callable[[str, float], socket.socket]
"""Opens one adb service of a phone ("exec:...", "sync:", "localabstract:...") within so many seconds.

Gives the socket after adb's OKAY, or raises `Trouble`.
"""

Touch = Literal["down", "move", "up", "cancel"]


class Picture:
    """One decoded video frame; `number` counts up, `pts` is the phone's microseconds, `at` monotonic seconds."""

    number: int
    size: Point
    pts: int
    at: float

    def rgb(self, size: Point | None = None) -> bytes:
        """Its pixels as height x width x 3 bytes, scaled to `size` where given; costs only when asked."""
        raise NotImplementedError


class Scrcpy:
    """A running session; every call may raise `Trouble`, none waits without end, and none is for the UI thread."""

    name: str
    """What the phone calls itself."""
    version: str
    """The server's version, such as 3.3.3."""

    @classmethod
    def start(
        cls,
        open: Open,
        *,
        jar: str = "",
        max_size: int = 1200,
        max_fps: int = 30,
        bit_rate: int = 8_000_000,
        video: bool = True,
        control: bool = True,
        seconds: float = 10.0,
    ) -> Scrcpy:
        """Pushes the jar where it is not there yet, runs it and connects; `jar` is a path, empty finds it.

        `LabError` where there is no jar or none that we speak; `Trouble` where the phone does not answer.
        """
        raise NotImplementedError

    @property
    def size(self) -> Point | None:
        """The video's size now; None until the phone has said it, and without video."""
        raise NotImplementedError

    @property
    def alive(self) -> bool:
        """False once closed or once the phone has closed a socket or said nonsense."""
        raise NotImplementedError

    def newest(self, after: int = -1, seconds: float = 1.0) -> Picture | None:
        """The newest picture whose number is above `after`; None where the screen did not change for `seconds`."""
        raise NotImplementedError

    def pictures(self, stop: threading.Event) -> Iterator[Picture]:
        """Each newest picture as it comes, older ones dropped, until `stop` is set; `Trouble` where it breaks."""
        raise NotImplementedError

    def touch(self, x: float, y: float, kind: Touch, space: Point, *, pointer: int = 0) -> None:
        """A finger at a place of `space` (the phone's own pixels as the caller sees them, this way up)."""
        raise NotImplementedError

    def scroll(self, x: float, y: float, horizontal: float, vertical: float, space: Point) -> None:
        """A turn of a mouse wheel there, in notches from -16 to 16; above 0 is right and up."""
        raise NotImplementedError

    def key(self, code: int, kind: Literal["press", "down", "up"] = "press", meta: int = 0) -> None:
        """An Android key (`KeyEvent.KEYCODE_...`)."""
        raise NotImplementedError

    def text(self, text: str) -> None:
        """Types characters that a keyboard has (ASCII); `LabError` for others, which `paste` can."""
        raise NotImplementedError

    def paste(self, text: str, *, seconds: float = 3.0) -> None:
        """Puts text of any script on the phone's clipboard, presses paste, and waits until the phone has said so."""
        raise NotImplementedError

    def copy_in(self, text: str, *, seconds: float = 3.0) -> None:
        """Puts text on the phone's clipboard and waits until the phone has said so."""
        raise NotImplementedError

    def clipboard(self, *, seconds: float = 3.0) -> str:
        """What is on the phone's clipboard."""
        raise NotImplementedError

    def back(self) -> None:
        """Back; a phone whose screen is off wakes instead."""
        raise NotImplementedError

    def rotate(self) -> None:
        """Turns the phone to its other side (portrait, landscape)."""
        raise NotImplementedError

    def display_power(self, on: bool) -> None:
        """Lights or darkens the phone's own screen; the mirror goes on."""
        raise NotImplementedError

    def expand(self, panel: Literal["notifications", "settings", ""]) -> None:
        """Pulls a panel down; the empty word puts all away."""
        raise NotImplementedError

    def start_app(self, name: str) -> None:
        """Starts an app by package; `?words` by label, a leading `+` stops it first."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends the server on the phone, the sockets and the threads; safe twice, from any thread."""
        raise NotImplementedError


class App:
    """One app of a phone: its `label` and `package`, and whether it came with the phone."""

    label: str
    package: str
    system: bool


def apps(open: Open, *, jar: str = "", seconds: float = 20.0) -> list[App]:
    """The phone's apps as its launcher names them, by a run of the server that only lists them."""
    raise NotImplementedError
