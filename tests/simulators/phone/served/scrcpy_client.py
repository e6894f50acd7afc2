"""A reference client of the scrcpy protocol, in process: streams with two ends, and a decoder by PyAV."""

from __future__ import annotations

import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import av
import numpy as np
from av.video.codeccontext import VideoCodecContext
from numpy.typing import NDArray
from PIL import Image

from simulators.phone.phone import Phone
from simulators.phone.served.display import Display
from simulators.phone.served.faults import Faults
from simulators.phone.served.scrcpy import serve
from simulators.phone.served.services import HungUp, Services
from tests.scrcpy_jar import stand_in

JAR = "/data/local/tmp/scrcpy-server.jar"
PATIENCE = 180.0


class Pipe:
    """One direction of bytes."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.held: deque[bytes] = deque()
        self.closed = False

    def put(self, data: bytes) -> None:
        with self.changed:
            self.held.append(data)
            self.changed.notify_all()

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def get(self, timeout: float | None) -> bytes:
        with self.changed:
            if not self.changed.wait_for(lambda: self.held or self.closed, timeout):
                raise TimeoutError
            return self.held.popleft() if self.held else b""


class End:
    """The phone's end of a stream; implements `services.Stream`."""

    def __init__(self) -> None:
        self.to_phone, self.to_client = Pipe(), Pipe()
        self.gone = threading.Event()

    def read(self, timeout: float | None = None) -> bytes:
        return self.to_phone.get(timeout)

    def write(self, data: bytes | memoryview) -> None:
        if self.gone.is_set():
            raise HungUp
        self.to_client.put(bytes(data))

    def close(self) -> None:
        self.gone.set()
        self.to_phone.close()
        self.to_client.close()


class Socket:
    """The client's end of it."""

    def __init__(self, end: End) -> None:
        self.end = end
        self.held = b""

    def take(self, count: int, timeout: float = PATIENCE) -> bytes:
        """Exactly so many bytes; `EOFError` at the end."""
        while len(self.held) < count:
            more = self.end.to_client.get(timeout)
            if not more:
                raise EOFError
            self.held += more
        out, self.held = self.held[:count], self.held[count:]
        return out

    def send(self, data: bytes) -> None:
        self.end.to_phone.put(data)


class Terminal:
    """What the server prints; implements `services.Console`."""

    def __init__(self) -> None:
        self.gone = threading.Event()
        self.terminal = False
        self.text = ""

    def read(self, timeout: float | None = None) -> bytes:
        return b""

    def write_output(self, data: bytes | memoryview) -> None:
        self.text += bytes(data).decode()

    def err(self, data: bytes) -> None:
        self.text += data.decode()


class Packet(NamedTuple):
    """A packet of video, or a session's size."""

    config: bool
    key: bool
    pts: int
    data: bytes
    size: tuple[int, int] | None = None


class Nonsense(Exception):
    """A header that can be none."""


class Client:
    """Runs a server of `version` on the phone with these words, and opens its sockets."""

    def __init__(
        self, services: Services, version: str, *words: str, sockets: Sequence[str] = ("video", "control")
    ) -> None:
        services.files[JAR] = stand_in(version)
        self.new = version.startswith("4")
        self.console = Terminal()
        self.code: int | None = None
        options = ["tunnel_forward=true", "audio=false", "cleanup=false", *words]
        self._thread = threading.Thread(target=self._serve, args=(services, [version, *options]), name="a server")
        self._thread.start()
        name = next((f"scrcpy_{word[5:]}" for word in words if word.startswith("scid=")), "scrcpy")
        self.sockets = {}
        for kind in sockets:
            end = End()
            wait_for(lambda: name in services.listening or self.code is not None)
            services.listening[name](end)
            self.sockets[kind] = Socket(end)
        self.decoder: VideoCodecContext | None = None
        self.size = (0, 0)
        self.config = b""

    def _serve(self, services: Services, words: list[str]) -> None:
        self.code = serve(services, JAR, words, self.console)

    @property
    def video(self) -> Socket:
        return self.sockets["video"]

    @property
    def control(self) -> Socket:
        return self.sockets["control"]

    def greet(self) -> str:
        """Reads what comes before the first packet; the phone's name."""
        assert self.video.take(1) == b"\0"
        name = self.video.take(64).rstrip(b"\0").decode()
        assert self.video.take(4) == b"h264"
        if not self.new:
            self.size = struct.unpack(">II", self.video.take(8))
        return name

    def packet(self, timeout: float = PATIENCE) -> Packet:
        flags, length = struct.unpack(">QI", self.video.take(12, timeout))
        if self.new and flags >> 63:
            self.size = (flags & 0xFFFFFFFF, length)
            return Packet(False, False, 0, b"", self.size)
        if length > 1 << 24:
            raise Nonsense(length)
        top = 62 if self.new else 63
        pts = flags & ((1 << top - 1) - 1)
        return Packet(bool(flags >> top & 1), bool(flags >> top - 1 & 1), pts, self.video.take(length))

    def picture(self, timeout: float = PATIENCE) -> NDArray[Any]:
        """The next frame, as height x width x 3."""
        while True:
            packet = self.packet(timeout)
            if packet.config:
                self.open(packet.data)
            elif packet.data:
                assert self.decoder is not None
                frames = self.decoder.decode(av.Packet(self.config + packet.data))
                self.config = b""
                assert len(frames) == 1, "a frame late"
                return frames[0].to_ndarray(format="rgb24")

    def open(self, config: bytes) -> None:
        """A decoder for what follows these parameter sets, which gives each frame at once."""
        decoder = av.CodecContext.create("h264", "r")
        assert isinstance(decoder, VideoCodecContext)
        decoder.flags |= 1 << 19
        self.decoder, self.config = decoder, config

    def reset(self) -> None:
        """Asks for a video that begins anew, and waits for it."""
        self.control.send(bytes([17]))
        packet = self.packet()
        while not packet.config:
            packet = self.packet()
        self.open(packet.data)

    def until(self, *ends: type[Exception], patience: float = PATIENCE) -> int:
        """Takes pictures until one of these comes; how many there were."""
        count = 0
        try:
            while True:
                self.picture(patience)
                count += 1
        except ends:
            return count

    def close(self) -> None:
        for socket in self.sockets.values():
            socket.end.close()
        self.console.gone.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


def wait_for(condition: Any, timeout: float = PATIENCE) -> None:
    """Waits until it holds."""
    over = threading.Event()
    for _ in range(int(timeout / 0.005)):
        if condition():
            return
        over.wait(0.005)
    raise AssertionError("it never came")


def psnr(a: NDArray[Any], b: NDArray[Any]) -> float:
    """How alike two pictures are, in decibels."""
    error = np.mean((a.astype(np.float32) - b.astype(np.float32)) ** 2)
    return float(99 if error == 0 else 10 * np.log10(255**2 / error))


Start = Callable[..., Client]


def on_a_desk() -> Services:
    """A phone that nothing but its own services is asked of."""
    return Services(Display(Phone()), Faults(), properties={"ro.product.model": "Lantern One"})


def starting(services: Services) -> Iterator[Start]:
    """Gives what runs a server; ends them at last, and sees that no thread stays."""
    before = set(threading.enumerate())
    clients: list[Client] = []

    def begin(version: str = "3.3.3", *words: str, sockets: tuple[str, ...] = ("video", "control")) -> Client:
        clients.append(Client(services, version, *words, sockets=sockets))
        return clients[-1]

    yield begin
    for client in clients:
        client.close()
    wait_for(lambda: set(threading.enumerate()) <= before)


def display(services: Services) -> Display:
    """Its screen."""
    assert isinstance(services.display, Display)
    return services.display


def shown(services: Services, size: tuple[int, int]) -> NDArray[Any]:
    """The phone's picture as a video of that size should show it."""
    whole = Image.frombytes("RGB", services.display.size, services.display.rgb())
    return np.asarray(whole.resize(size, Image.Resampling.BOX))
