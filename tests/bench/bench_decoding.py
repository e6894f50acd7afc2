"""What receiving and decoding a phone's video costs, and apart from it, turning a decoded frame into pixels.

A film of a list that is flung, coded beforehand, is sent over a socket by a process of its own at 60 frames a second;
the CPU is that of this process, milliseconds a frame. Pixels are RGB of the video's own size, worked out 60 times.

    python -m tests.bench.bench_decoding [--json] [--frames 240]
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import struct
import sys
import time
from typing import Any

from lab.core.run.step import Action, Point
from lab.devices.scrcpy.scrcpy_codec import speech
from lab.devices.scrcpy.scrcpy_video import VideoSocket
from simulators.phone.phone import Phone
from simulators.phone.served.scrcpy_video import Encoder
from tests.simulators.phone.served.film import flung

SIZES: tuple[Point, ...] = ((360, 800), (540, 1200), (1080, 2400))
SPACE: Point = (1080, 2400)
PACE = 1 / 60
PICTURES = 60


def coded(film: list[bytes], size: Point, count: int) -> list[bytes]:
    """A config packet and `count` frames of the film at that size, each with its header as 3.x sends it."""
    encoder = Encoder(size, 8_000_000)
    packets = [struct.pack(">QI", 1 << 63, len(encoder.config)) + encoder.config]
    for index in range(count):
        frame = encoder.encode(encoder.frame(film[index % len(film)], SPACE), index * 16_667)
        packets.append(struct.pack(">QI", frame.pts | frame.key << 62, len(frame.data)) + frame.data)
    return packets


def sent(packets: list[bytes]) -> tuple[socket.socket, int]:
    """A socket over which a process of its own sends the packets, and that process's id."""
    here, there = socket.socketpair()
    child = os.fork()
    if child == 0:
        here.close()
        for packet in packets:
            there.sendall(packet)
            time.sleep(PACE)
        there.recv(1)
        os._exit(0)
    there.close()
    return here, child


def measured(film: list[bytes], size: Point, count: int) -> dict[str, Any]:
    """One row: CPU milliseconds a frame for decoding and for pixels, and how large the frames came."""
    packets = coded(film, size, count)
    line, child = sent(packets)
    began = time.process_time()
    video = VideoSocket(line, speech("3.3.4"), size)
    picture = video.newest(-1, 5.0)
    while picture and picture.number < count - 1:
        picture = video.newest(picture.number, 5.0)
    assert picture, "the video stopped"
    decoding = time.process_time() - began
    began = time.process_time()
    for _ in range(PICTURES):
        picture.rgb()
    pixels = time.process_time() - began
    video.close()
    os.waitpid(child, 0)
    return {
        "size": f"{size[0]} x {size[1]}",
        "decoding_ms": round(decoding / count * 1000, 2),
        "pixels_ms": round(pixels / PICTURES * 1000, 2),
        "kB": round(sum(map(len, packets)) / count / 1000, 1),
    }


def main() -> int:
    """Prints one row a size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=240)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    phone = Phone()
    phone.perform(Action("open_app", app="food"))
    film = [shot.rgb for shot in flung(phone)]
    rows = [measured(film, size, args.frames) for size in SIZES]
    if args.json:
        print(json.dumps(rows))
        return 0
    print(f"{'video':>12} {'receive, decode':>16} {'pixels':>8} {'a frame':>9}")
    for row in rows:
        print(f"{row['size']:>12} {row['decoding_ms']:>13} ms {row['pixels_ms']:>5} ms {row['kB']:>6} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
