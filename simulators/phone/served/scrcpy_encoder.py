"""Pictures to H.264 by libx264, as a phone's encoder emits them: a config packet first, then one packet a frame."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from lab.core.run.step import Point

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
