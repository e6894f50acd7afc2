"""CRC-32C (Castagnoli, RFC 3720 appendix B.4), and TFRecord's masked form of it.

Long data is split into lanes of equal length, whose remainders are computed in parallel. They are combined by shifting
the first remainder by the length of the second and adding both.
"""

from __future__ import annotations

from functools import cache
from typing import Any

# 0x1EDC6F41 with its bits reversed.
_POLYNOMIAL = 0x82F63B78
_LANES = 8192
# Shorter data is not worth the setup of the lanes.
_LEAST = 16 * _LANES


def masked_crc32c(data: bytes) -> int:
    """Return the checksum as stored in a TFRecord: rotated by 15 bits, plus a constant."""
    crc = crc32c(data)
    # The constant is `kMaskDelta` of TensorFlow's `crc32c.h`.
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of `data`."""
    head = len(data) % _LANES if len(data) >= _LEAST else len(data)
    crc = 0xFFFFFFFF
    table = _crc_table()
    for byte in data[:head]:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    if head < len(data):
        crc = _extend_by_lanes(crc, memoryview(data)[head:])
    return crc ^ 0xFFFFFFFF


@cache
def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


def _extend_by_lanes(crc: int, data: memoryview) -> int:
    """Return the remainder after `crc` over `data`, whose length is a multiple of the number of lanes."""
    import numpy as np

    table: Any = np.array(_crc_table(), np.uint32)
    length = len(data) // _LANES
    lanes = np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(_LANES, length).T)
    ones = np.uint32(1) << np.arange(32, dtype=np.uint32)  # one zero lane per bit, to learn the effect of a shift
    # The 32 extra lanes receive no data. They show how the length of a lane shifts each bit of a remainder.
    state = np.concatenate([np.zeros(_LANES, np.uint32), ones])
    low, eight = np.uint32(255), np.uint32(8)
    for column in lanes:
        index = state & low
        index[:_LANES] ^= column
        state = table[index] ^ (state >> eight)
    shifted = [int(one) for one in state[_LANES:]]
    # Combine the lanes: shift the remainder so far by a lane's length, then add the next one.
    for lane in state[:_LANES]:
        carried = int(lane)
        bit = 0
        while crc:
            if crc & 1:
                carried ^= shifted[bit]
            crc >>= 1
            bit += 1
        crc = carried
    return crc
