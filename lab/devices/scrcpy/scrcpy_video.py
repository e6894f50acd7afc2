"""Receiver of scrcpy's video: a thread decodes every packet and stores the newest picture."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import TYPE_CHECKING

from lab.core.run.step import Point
from lab.core.seams import Trouble
from lab.devices.adb.socket_io import hang_up
from lab.devices.scrcpy.scrcpy_codec import HEADER, FrameHeader, Speech, header
from lab.devices.scrcpy.scrcpy_stream import WHO, after_silence, stream_ended, the_rest

if TYPE_CHECKING:
    import av
    import numpy as np
    from av.video.reformatter import VideoReformatter
    from numpy.typing import NDArray

_MOST_SCALERS = 4


class DecodedFrame:
    """One decoded frame: `number` counts up, `pts` is in the phone's microseconds, `at` in monotonic seconds."""

    __slots__ = ("_frame", "_scalers", "at", "number", "pts", "size")

    def __init__(self, frame: av.VideoFrame, scalers: Scalers, number: int, pts: int, at: float) -> None:
        self._frame = frame
        self._scalers = scalers
        self.number = number
        self.pts = pts
        self.at = at
        self.size: Point = (frame.width, frame.height)

    def rgb(self, size: Point | None = None) -> bytes:
        """Return its pixels as height x width x 3 bytes, scaled to `size` if given. Each call converts anew."""
        return self._scalers.rgb(self._frame, size or self.size)

    def planes(self) -> list[NDArray[np.uint8]]:
        """Return its YUV planes: brightness of each pixel, then two planes of colour with half as many each way."""
        import numpy as np

        half = -(-self.size[0] // 2), -(-self.size[1] // 2)
        return [
            np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)[:height, :width]
            for plane, (width, height) in zip(self._frame.planes, (self.size, half, half), strict=False)
        ]


class Scalers:
    """Cache of converters from frames to pixels, because making one costs more than using it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[tuple[Point, Point], VideoReformatter] = {}

    def rgb(self, frame: av.VideoFrame, size: Point) -> bytes:
        """Return the pixels of `frame` at `size`."""
        import numpy as np
        from av.video.reformatter import VideoReformatter

        width, height = size
        way = ((frame.width, frame.height), size)
        smaller = width < frame.width
        with self._lock:
            if way not in self._made:
                while len(self._made) >= _MOST_SCALERS:
                    # The oldest one.
                    del self._made[next(iter(self._made))]
                self._made[way] = VideoReformatter()
            # rgb24: with four bytes a pixel, libswscale's threads overwrite the start of each other's rows.
            how = "AREA" if smaller else "BILINEAR"
            rgb_frame = self._made[way].reformat(frame, width, height, "rgb24", interpolation=how)
        plane = rgb_frame.planes[0]
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
        return rows[:height, : width * 3].tobytes()


class Decoder:
    """H.264 decoder, one frame per packet without delay."""

    def __init__(self) -> None:
        self._config = b""
        self._context: av.VideoCodecContext | None = None
        self._waiting = b""

    def config(self, data: bytes) -> None:
        """Set the codec data that precedes the next packet. A change starts a new decoder."""
        if data != self._config:
            self._context = None
        self._config = data
        self._waiting = data

    def frame(self, data: bytes, pts: int) -> av.VideoFrame | None:
        """Return the packet's frame, or None if it holds none. Raise `Trouble` if it is not H.264."""
        import av

        packet = av.Packet(self._waiting + data)
        self._waiting = b""
        packet.pts = pts
        try:
            frames = self._open_context().decode(packet)
        except av.FFmpegError as error:
            raise Trouble(WHO, "the video cannot be decoded.", sent=True) from error
        return frames[-1] if frames else None

    def _open_context(self) -> av.VideoCodecContext:
        if self._context is None:
            from av.codec.context import Flags
            from av.video.codeccontext import VideoCodecContext

            context = VideoCodecContext.create("h264", "r")
            assert isinstance(context, VideoCodecContext)
            context.flags |= Flags.low_delay
            context.thread_count = 1  # more threads delay frames, or wait for each other
            self._context = context
        return self._context


class VideoSocket:
    """Video socket after the handshake, read by a thread until it ends. `size` is the current size."""

    def __init__(self, line: socket.socket, speech: Speech, size: Point) -> None:
        self.size = size
        self._line = line
        self._speech = speech
        self._scalers = Scalers()
        self._decoder = Decoder()
        self._newest: DecodedFrame | None = None
        self._trouble: Trouble | None = None
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._read, name="scrcpy-video", daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> Trouble | None:
        """Reason why no more pictures will arrive, or None."""
        return self._trouble

    def newest(self, after: int, seconds: float) -> DecodedFrame | None:
        """Return the newest picture with a number above `after`, or None if none arrives within `seconds`."""

        def has_arrived() -> bool:
            return self._trouble is not None or (self._newest is not None and self._newest.number > after)

        with self._change:
            self._change.wait_for(has_arrived, seconds)
            picture = self._newest
        if picture is not None and picture.number > after:
            return picture
        if self._trouble is not None:
            raise Trouble(self._trouble.title, self._trouble.message, self._trouble.hint, sent=True)
        return None

    def close(self) -> None:
        """Close the socket and end its thread. Safe to call twice and from any thread."""
        hang_up(self._line)
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _read(self) -> None:
        trouble = stream_ended("the video")
        try:
            while self._read_packet():
                pass
        except Trouble as error:
            trouble = error
        finally:
            with contextlib.suppress(OSError):
                self._line.shutdown(socket.SHUT_RDWR)  # or the server would block on a reader that is gone
            with self._change:
                self._trouble = trouble
                self._change.notify_all()

    def _read_packet(self) -> bool:
        data = after_silence(self._line, HEADER)
        if not data:
            return False
        if len(data) < HEADER:
            raise Trouble(WHO, "the video broke off.", sent=True)
        packet = header(data, self._speech.sessions)
        if not isinstance(packet, FrameHeader):
            # The server restarts its encoder with each size.
            self.size = packet.size
            self._decoder = Decoder()
            return True
        payload = the_rest(self._line, packet.length)
        if packet.config:
            self._decoder.config(payload)
            return True
        frame = self._decoder.frame(payload, packet.pts)
        if frame is not None:
            self._store(frame, packet.pts)
        return True

    def _store(self, frame: av.VideoFrame, pts: int) -> None:
        with self._change:
            number = self._newest.number + 1 if self._newest is not None else 0
            self._newest = DecodedFrame(frame, self._scalers, number, pts, time.monotonic())
            # Servers before 4.0 announce no new size: it shows in the frame itself.
            if not self._speech.sessions:
                self.size = self._newest.size
            self._change.notify_all()
