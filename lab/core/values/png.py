"""Fast PNG writer. Screens have flat colours, so that unfiltered rows compress best."""

from __future__ import annotations

import struct
import zlib

from lab.core.run.step import Point


def png_of(rgb: bytes, size: Point, level: int = 1) -> bytes:
    """Encode pixels (height x width x 3 bytes) as a lossless PNG of unfiltered rows, with zlib's `level` 1 to 9.

    For screens the file is as small as with Pillow's filters, in a third of the processor time.
    """
    width, height = size
    stride, pixels = 3 * width, memoryview(rgb)
    # Each row begins with the number of its filter, where 0 is none.
    rows = b"\0".join(pixels[start : start + stride] for start in range(0, len(pixels), stride))
    packer = zlib.compressobj(level)
    pixel_data = packer.compress(b"\0") + packer.compress(rows) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", pixel_data) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
