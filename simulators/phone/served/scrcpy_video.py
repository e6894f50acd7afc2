"""The video socket of a scrcpy server: a frame whenever the screen changes, and nothing in between."""

from __future__ import annotations

import struct
import threading
import time
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from lab.core.run.step import Point
from simulators.phone.served.display import Display
from simulators.phone.served.scrcpy_options import CODECS, ServerOptions, video_size
from simulators.phone.served.services import HungUp, Services, Stream

if TYPE_CHECKING:
    import av

_EVERY = 600
"""Frames between two key frames: 10 seconds at 60 a second."""
_QUALITY = 20
_GLOBAL_HEADER = 1 << 22


class CodedFrame(NamedTuple):
    """One coded frame. `pts` is in microseconds."""

    data: bytes
    pts: int
    key: bool


class Encoder:
    """Encoder of one video of one size. Colours are BT.601, limited range. `bit_rate` is the maximum."""

    def __init__(self, size: Point, bit_rate: int) -> None:
        import av
        from av.video.reformatter import VideoReformatter

        self.size = size
        self._reformat = VideoReformatter()
        context = av.CodecContext.create("libx264", "w")
        context.width, context.height = size
        context.pix_fmt = "yuv420p"
        context.time_base = Fraction(1, 1_000_000)
        context.framerate = Fraction(60)
        context.thread_count = 1
        context.flags |= _GLOBAL_HEADER
        kilobits = max(100, bit_rate // 1000)
        # No look-ahead and no B-frames: each frame gives one packet at once. Key frames follow the interval alone.
        context.options = {
            "preset": "ultrafast",
            "tune": "zerolatency",
            "crf": str(_QUALITY),
            "x264-params": f"keyint={_EVERY}:scenecut=0:bframes=0:vbv-maxrate={kilobits}:vbv-bufsize={kilobits}",
        }
        context.open()
        self._context = context

    @property
    def config(self) -> bytes:
        """Parameter sets, each after a start code."""
        return bytes(self._context.extradata or b"")

    def frame(self, rgb: bytes, size: Point) -> av.VideoFrame:
        """Return a picture of `size`, scaled and converted to `encode`'s format."""
        import numpy as np
        from av import VideoFrame

        pixels = np.frombuffer(rgb, np.uint8).reshape(size[1], size[0], 3)
        picture = VideoFrame.from_numpy_buffer(pixels, "rgb24")
        return self._reformat.reformat(picture, *self.size, "yuv420p", interpolation="AREA")

    def encode(self, frame: av.VideoFrame, pts: int) -> CodedFrame:
        """Encode one frame at `pts` microseconds, which must increase. The first frame is a key frame."""
        frame.pts = pts
        packets = self._context.encode(frame)
        data = b"".join(bytes(packet) for packet in packets)
        return CodedFrame(data, pts, any(packet.is_keyframe for packet in packets))


_REFRESH = 60.0
"""Maximum pictures a second of a screen."""
_JITTER = 0.9
"""Share of the frame interval that must have passed: a slightly early frame must not be dropped."""
_REPEAT_AFTER, _REPEATS = 0.1, 10
"""Android's encoder repeats the last picture this many times, this many seconds apart (GraphicBufferSource)."""
_LEAST = 0.005
"""Minimum seconds of one poll: a closed screen never blocks."""
_IMPOSSIBLE = 0xFFFFFFF0


class VideoSpace(NamedTuple):
    """The video's size, and the display's size inside it."""

    size: Point
    space: Point

    def on_display(self, at: Point) -> Point:
        """Return the display's point for a point of the video."""
        return at[0] * self.space[0] // self.size[0], at[1] * self.space[1] // self.size[1]


@runtime_checkable
class Prepared(Protocol):
    """A screen whose pictures were prepared for the encoder in advance."""

    def prepared(self, encoder: Encoder) -> av.VideoFrame:
        """Return the current picture in that encoder's format."""


class VideoStream:
    """One stream of video until `stop`, or until its socket is gone."""

    def __init__(self, services: Services, options: ServerOptions, stream: Stream) -> None:
        self._display, self._faults = services.display, services.faults
        self._options, self._stream = options, stream
        self._stopping, self._resetting = threading.Event(), threading.Event()
        self._pace = _JITTER / min(_REFRESH, options.max_fps or _REFRESH)
        self._sent, self._wrong = 0, False
        self.view = self._current_size()
        """Current size of the video. Touches for another size are ignored."""

    def stop(self) -> None:
        self._stopping.set()

    def reset(self) -> None:
        """Restart with a key frame as soon as possible."""
        self._resetting.set()

    def run(self) -> None:
        """Stream, and return once the socket is gone."""
        try:
            if self._options.stream_meta:
                head = struct.pack(">I", CODECS[self._options.video_codec])
                self._stream.write(head if self._options.sessions else head + struct.pack(">II", *self.view.size))
            while not self._has_ended():
                self._session()
        except HungUp:
            return

    def _has_ended(self) -> bool:
        return self._stopping.is_set() or self._stream.gone.is_set()

    def _current_size(self) -> VideoSpace:
        space = self._display.size
        return VideoSpace(video_size(self._options, space), space)

    def _session(self) -> None:
        """Send frames of one size, after a config packet, until the screen rotates or a reset is requested."""
        self._resetting.clear()
        self.view = view = self._current_size()
        encoder = Encoder(view.size, self._options.video_bit_rate)
        if self._options.sessions and self._options.stream_meta:
            self._stream.write(struct.pack(">III", 1 << 31, *view.size))
        self._packet(encoder.config, self._flag(2))
        screen = _Screen(self._display, encoder, view.space)
        while not self._has_ended() and not self._resetting.is_set() and self._display.size == view.space:
            began = time.monotonic()
            frame = screen.await_frame(_REPEAT_AFTER)
            # A fault occurs once per stream, after a first good frame.
            wrong = self._faults.video if self._sent and not self._wrong else ""
            frame = frame or (screen.frame if wrong else None)
            if frame is None:
                self._stream.gone.wait(max(0.0, began + _LEAST - time.monotonic()))
                continue
            timestamp = time.monotonic_ns() // 1000
            self._faults.pause(self._stream.gone)
            self._frame(encoder.encode(frame, timestamp), wrong)
            self._stream.gone.wait(max(0.0, timestamp / 1e6 + self._pace - time.monotonic()))

    def _frame(self, code: CodedFrame, wrong: str) -> None:
        """Send a frame, or once per stream a faulty one."""
        self._wrong = self._wrong or bool(wrong)
        if wrong == "garbage":
            self._stream.write(struct.pack(">QI", code.pts, _IMPOSSIBLE) + code.data[::-1])
        elif wrong == "die":
            half = code.data[: len(code.data) // 2]
            self._stream.write(struct.pack(">QI", code.pts, len(code.data)) + half)
            self._stopping.set()
            self._stream.close()
        else:
            self._packet(code.data, code.pts | (self._flag(1) if code.key else 0))
        self._sent += 1

    def _packet(self, data: bytes, pts_and_flags: int) -> None:
        head = struct.pack(">QI", pts_and_flags, len(data)) if self._options.frame_meta else b""
        self._stream.write(head + data)

    def _flag(self, place: int) -> int:
        """Return the header flag of a config packet (2) or key frame (1). With sessions the flags are one bit lower."""
        return 1 << (61 if self._options.sessions else 62) + place - 1


class _Screen:
    """Source of the next frame: a new picture, the last one again, or nothing."""

    def __init__(self, display: Display, encoder: Encoder, space: Point) -> None:
        self._display, self._encoder, self._space = display, encoder, space
        self._version, self._last = -1, b""
        self._left, self._due = 0, 0.0
        self.frame: av.VideoFrame | None = None
        """Picture that was sent last, or will be next."""

    def await_frame(self, seconds: float) -> av.VideoFrame | None:
        """Wait at most `seconds` for a change. Return the frame to send, or None if there is none."""
        version = self._display.wait(self._version, seconds)
        now = time.monotonic()
        if version != self._version:
            self._version = version
            if self._update_frame():
                self._left, self._due = _REPEATS, now + _REPEAT_AFTER
                return self.frame
        if self._left and now >= self._due:
            self._left, self._due = self._left - 1, now + _REPEAT_AFTER
            return self.frame
        return None

    def _update_frame(self) -> bool:
        """Convert the current picture. Return False if it is unchanged, or its size has changed meanwhile."""
        if isinstance(self._display, Prepared):
            self.frame = self._display.prepared(self._encoder)
            return True
        rgb = self._display.rgb()
        if rgb == self._last or len(rgb) != self._space[0] * self._space[1] * 3:
            return False
        self._last = rgb
        self.frame = self._encoder.frame(rgb, self._space)
        return True
