"""What the served phone gives and costs: video through the real adb server, decoded, and from a tap to its frame.

A film of a list that is flung is encoded and streamed by a process of its own (so that its CPU is apart), received
and decoded by this lab's scrcpy client. CPU is the share of one core: of the phone, and of receiving and decoding.

    python -m tests.bench.bench_served [--seconds N] [--json]
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.devices.adb.adb_server import Server, adb_program
from lab.devices.scrcpy.scrcpy import DecodedFrame, Scrcpy
from tests.bench.filmed import Filmed
from tests.scrcpy_jar import stand_in

SPACE = (1080, 2400)
TAPS = 40
ANOTHER = 2.0
"""Grey levels by which two pictures differ on average: those of one film differ by more, repeats by less."""


@contextmanager
def adb(home: str) -> Iterator[Server]:
    """A private adb server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = Server("127.0.0.1", free.getsockname()[1])
    os.environ.update(HOME=home, ADB_LIBUSB="0", ADB_MDNS="0", ADB_MDNS_AUTO_CONNECT="0")
    server.ready()
    try:
        yield server
    finally:
        subprocess.run([adb_program(), "-P", str(server.port), "kill-server"], check=True, capture_output=True)


def streamed(session: Scrcpy, filmed: Filmed, seconds: float) -> dict[str, float]:
    """Pictures a second that were decoded, and the two shares of a core."""
    began, ours, phones = time.perf_counter(), time.process_time(), filmed.cpu()
    first = session.newest()
    number = count = first.number if first else 0
    while time.perf_counter() - began < seconds:
        picture = session.newest(number, 0.1)
        number = picture.number if picture else number
    lasted = time.perf_counter() - began
    return {
        "fps": (number - count) / lasted,
        "phone": (filmed.cpu() - phones) / lasted,
        "client": (time.process_time() - ours) / lasted,
    }


def looks(picture: DecodedFrame) -> NDArray[np.int16]:
    """The picture in little: enough to tell another one from the same, encoded again."""
    return np.frombuffer(picture.rgb((54, 120)), np.uint8).astype(np.int16)


def taps(session: Scrcpy) -> list[float]:
    """Milliseconds from a tap's release until a picture is decoded that looks another."""
    spent: list[float] = []
    time.sleep(0.5)
    while len(spent) < TAPS:
        before = session.newest()
        while (later := before and session.newest(before.number, 0.05)) is not None:
            before = later
        assert before is not None
        old, number = looks(before), before.number
        session.touch(540, 40, "down", SPACE)
        began = time.perf_counter()
        session.touch(540, 40, "up", SPACE)
        while (picture := session.newest(number, 2.0)) is not None:
            number = picture.number
            if np.abs(looks(picture) - old).mean() > ANOTHER:
                spent.append((time.perf_counter() - began) * 1000)
                break
        else:
            raise SystemExit("a tap did not show")
    return spent


def measured(server: Server, filmed: Filmed, jar: Path, longest: int, seconds: float) -> dict[str, Any]:
    """One row: a session at one size."""
    phone = functools.partial(server.open, filmed.serial)
    session = Scrcpy.start(phone, jar=str(jar), max_size=longest, max_fps=60)
    try:
        session.newest()
        filmed.play()
        moving = streamed(session, filmed, seconds)
        filmed.halt()
        late = taps(session)
        time.sleep(1.5)
        still = streamed(session, filmed, seconds)
    finally:
        session.close()
    high = sorted(late)[int(len(late) * 0.95)]
    return {"size": session.size, "moving": moving, "still": still, "p50": statistics.median(late), "p95": high}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, adb(home) as server, Filmed() as filmed:
        jar = Path(home) / "server"
        jar.write_bytes(stand_in("4.0"))
        server.connect(filmed.serial)
        rows = [measured(server, filmed, jar, longest, args.seconds) for longest in (800, 1200, 0)]
    if args.json:
        json.dump(rows, sys.stdout)
        return
    print("| video | pictures/s | phone's CPU | client's CPU | still: phone, client | tap to picture p50, p95 ms |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        moving, still = row["moving"], row["still"]
        wide, high = row["size"]
        print(
            f"| {wide}x{high} | {moving['fps']:.0f} | {moving['phone']:.0%} | {moving['client']:.0%} "
            f"| {still['phone']:.1%}, {still['client']:.1%} | {row['p50']:.0f}, {row['p95']:.0f} |"
        )


if __name__ == "__main__":
    main()
