"""Plays the built-in tasks over adb: playbook, real session, real adb server, served phone, its video looked at."""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from pathlib import Path

from lab.core.run.trace import Trace
from lab.core.seams import Trouble
from lab.devices.adb.adb import AdbPhone, Via
from lab.runs.session import Session
from lab.runs.spec import Spec, embedded
from simulators import library
from store.store import Store
from tests.scrcpy_jar import stand_in
from tests.simulators.phone.served.rig import AdbServer, Rig, serving


def main() -> None:
    """Prints each task's score, steps, seconds and frames; exits 1 where one does not pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", help="only these (default: all)")
    parser.add_argument("--via", choices=("auto", "scrcpy", "screencap"), default="auto", help="how pictures come")
    args = parser.parse_args()
    names = args.tasks or sorted(library.tasks())
    passed, began = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        server = AdbServer(Path(folder))
        server.start()
        jar = Path(folder) / "scrcpy-server-v3.3.4"
        jar.write_bytes(stand_in("3.3.4"))
        os.environ |= {**server.environment, "SCRCPY_SERVER_PATH": str(jar)}
        try:
            with serving(server) as rig, Store.open(Path(folder) / "runs.db") as store:
                passed = sum(_passes(rig, store, name, args.via) for name in names)
        finally:
            server.stop()
    print(f"{passed} of {len(names)} passed over adb in {time.monotonic() - began:.0f} s")
    raise SystemExit(passed < len(names))


def _passes(rig: Rig, store: Store, name: str, via: Via) -> bool:
    task = library.task(name)
    spec = Spec(task, library.persona(task.persona, task.log) if task.persona else None, user="script")
    rig.harness.restore(embedded(spec).snapshot())
    began, phone = time.monotonic(), AdbPhone(rig.serial, via=via, fps=30, harness=rig.harness)
    run, frames = Session(store, spec, device=phone), _Frames(phone)
    run.start()
    run.join(300)
    frames.stop.set()
    phone.close()
    trace = store.runs.trace(run.trace_id)
    print(f"{name:20} {_told(trace)}, {time.monotonic() - began:5.1f} s, {frames.count:4} frames by {phone.via}")
    return trace.ended is not None and trace.ended.score == 1.0


def _told(trace: Trace) -> str:
    if trace.ended is None:
        return "did not end"
    score = "no score" if trace.ended.score is None else f"{trace.ended.score:.2f}"
    return f"{trace.ended.status} {score} {len(trace.steps):3} steps"


class _Frames:
    """Looks at a phone as a mirror does, until `stop`."""

    def __init__(self, phone: AdbPhone) -> None:
        self.stop = threading.Event()
        self.count = 0
        self._phone = phone
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while not self.stop.is_set():
            try:
                for _ in self._phone.frames(self.stop):
                    self.count += 1
            except Trouble:
                self.stop.wait(0.2)


if __name__ == "__main__":
    main()
