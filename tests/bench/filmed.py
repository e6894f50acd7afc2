"""A served phone in a process of its own, with a film for a screen, that benches drive by lines.

    python -m tests.bench.filmed [--scene settings|food|messages]

Prints one JSON line with the serial that adb connects to; then each line of input is answered by one JSON line with
the process's CPU seconds so far: `play RATE`, `halt`, `cpu`. It ends with its input.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from types import TracebackType
from typing import Any

from lab.core.run.step import Action
from simulators.phone.phone import Phone
from simulators.phone.served.served import PhoneServer
from tests.simulators.phone.served.film import Film, flung


class Filmed:
    """The process, as a context; `serial` is what adb connects to."""

    def __init__(self, scene: str = "food") -> None:
        words = [sys.executable, "-m", "tests.bench.filmed", "--scene", scene]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.serial: str = self._answer()["serial"]

    def play(self, rate: float = 60.0) -> float:
        """Runs the film, `rate` pictures a second; CPU seconds so far."""
        return self._ask(f"play {rate}")

    def halt(self) -> float:
        """Stops it where it is: each tap then shows the next picture; CPU seconds so far."""
        return self._ask("halt")

    def cpu(self) -> float:
        """CPU seconds so far."""
        return self._ask("cpu")

    def _ask(self, line: str) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return float(self._answer()["cpu"])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def __enter__(self) -> Filmed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)


def main() -> None:
    """Serves until the end of the input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scene", default="food", help="the app whose list is filmed")
    args = parser.parse_args()
    phone = Phone()
    phone.perform(Action("open_app", app=args.scene))
    film = Film(phone, flung(phone))
    with PhoneServer(phone, harness_port=None, display=film) as served:
        print(json.dumps({"serial": served.serial}), flush=True)
        for line in sys.stdin:
            match line.split():
                case ["play", rate]:
                    film.play(float(rate))
                case ["halt"]:
                    film.halt()
            print(json.dumps({"cpu": time.process_time()}), flush=True)


if __name__ == "__main__":
    main()
