"""The receiving end of scrcpy's video: a thread that decodes every packet and keeps the newest picture."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import TYPE_CHECKING

from lab.core.seams import Trouble
from lab.core.step import Point
from lab.devices.scrcpy_codec import HEADER, FrameHeader, Speech, header
from lab.devices.scrcpy_stream import WHO, after_silence, over, the_rest
from lab.devices.socket_io import hang_up

if TYPE_CHECKING:
    import av
    import numpy as np
    from av.video.reformatter import VideoReformatter
    from numpy.typing import NDArray

_MOST_SCALERS = 4


class DecodedFrame:
    """One decoded frame; `number` counts up, `pts` is the phone's microseconds, `at` monotonic seconds."""

    __slots__ = ("_frame", "_scalers", "at", "number", "pts", "size")

    def __init__(self, frame: av.VideoFrame, scalers: Scalers, number: int, pts: int, at: float) -> None:
        self._frame = frame
        self._scalers = scalers
        self.number = number
        self.pts = pts
        self.at = at
        self.size: Point = (frame.width, frame.height)

    def rgb(self, size: Point | None = None) -> bytes:
        """Its pixels as height x width x 3 bytes, scaled to `size` where given; it is worked out at each call."""
        return self._scalers.rgb(self._frame, size or self.size)

    def planes(self) -> list[NDArray[np.uint8]]:
        """The video's own numbers: brightness of each pixel, then two planes of colour, of half as many each way."""
        import numpy as np

        half = -(-self.size[0] // 2), -(-self.size[1] // 2)
        return [
            np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)[:height, :width]
            for plane, (width, height) in zip(self._frame.planes, (self.size, half, half), strict=False)
        ]


class Scalers:
    """What turns decoded frames into pixels: kept from frame to frame, since making one costs more than using it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[tuple[Point, Point], VideoReformatter] = {}

    def rgb(self, frame: av.VideoFrame, size: Point) -> bytes:
        """The pixels of `frame` at that size."""
        import numpy as np
        from av.video.reformatter import VideoReformatter

        width, height = size
        way = ((frame.width, frame.height), size)
        smaller = width < frame.width
        with self._lock:
            if way not in self._made:
                while len(self._made) >= _MOST_SCALERS:
                    del self._made[next(iter(self._made))]
                self._made[way] = VideoReformatter()
            # rgb24: with four bytes a pixel, libswscale's threads write over the first of one another's rows
            how = "AREA" if smaller else "BILINEAR"
            rgb_frame = self._made[way].reformat(frame, width, height, "rgb24", interpolation=how)
        plane = rgb_frame.planes[0]
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
        return rows[:height, : width * 3].tobytes()


class Decoder:
    """H.264 packets to frames, one for one: nothing is held back."""

    def __init__(self) -> None:
        self._config = b""
        self._context: av.VideoCodecContext | None = None
        self._waiting = b""

    def config(self, data: bytes) -> None:
        """What the next packet must be read with; where it is other than before, a picture of another kind begins."""
        if data != self._config:
            self._context = None
        self._config = data
        self._waiting = data

    def frame(self, data: bytes, pts: int) -> av.VideoFrame | None:
        """The frame of one packet; None where it holds none; `Trouble` where it is no H.264."""
        import av

        packet = av.Packet(self._waiting + data)
        self._waiting = b""
        packet.pts = pts
        try:
            frames = self._opened().decode(packet)
        except av.FFmpegError as error:
            raise Trouble(WHO, "the video cannot be decoded.", sent=True) from error
        return frames[-1] if frames else None

    def _opened(self) -> av.VideoCodecContext:
        if self._context is None:
            from av.codec.context import Flags
            from av.video.codeccontext import VideoCodecContext

            context = VideoCodecContext.create("h264", "r")
            assert isinstance(context, VideoCodecContext)
            context.flags |= Flags.low_delay
            context.thread_count = 1  # more threads hold frames back, or wait for one another
            self._context = context
        return self._context


class VideoSocket:
    """A video socket after its codec meta, being read until it ends; `size` is the video's now."""

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
        """Why no more will come; None while all is well."""
        return self._trouble

    def newest(self, after: int, seconds: float) -> DecodedFrame | None:
        """The newest picture whose number is above `after`; None where none came within `seconds`."""

        def come() -> bool:
            return self._trouble is not None or (self._newest is not None and self._newest.number > after)

        with self._change:
            self._change.wait_for(come, seconds)
            picture = self._newest
        if picture is not None and picture.number > after:
            return picture
        if self._trouble is not None:
            raise Trouble(self._trouble.title, self._trouble.message, self._trouble.hint, sent=True)
        return None

    def close(self) -> None:
        """Ends it; safe twice, from any thread."""
        hang_up(self._line)
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _read(self) -> None:
        trouble = over("the video")
        try:
            while self._packet():
                pass
        except Trouble as error:
            trouble = error
        finally:
            with contextlib.suppress(OSError):
                self._line.shutdown(socket.SHUT_RDWR)  # the server must not wait for a reader that is gone
            with self._change:
                self._trouble = trouble
                self._change.notify_all()

    def _packet(self) -> bool:
        data = after_silence(self._line, HEADER)
        if not data:
            return False
        if len(data) < HEADER:
            raise Trouble(WHO, "the video broke off.", sent=True)
        packet = header(data, self._speech.sessions)
        if not isinstance(packet, FrameHeader):
            self.size = packet.size
            self._decoder = Decoder()
            return True
        payload = the_rest(self._line, packet.length)
        if packet.config:
            self._decoder.config(payload)
            return True
        frame = self._decoder.frame(payload, packet.pts)
        if frame is not None:
            self._keep(frame, packet.pts)
        return True

    def _keep(self, frame: av.VideoFrame, pts: int) -> None:
        with self._change:
            number = self._newest.number + 1 if self._newest is not None else 0
            self._newest = DecodedFrame(frame, self._scalers, number, pts, time.monotonic())
            if not self._speech.sessions:
                self.size = self._newest.size
            self._change.notify_all()
