"""Embedded phones that are served for adb, each by a process of its own, as `hitlab phone` does it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class ServedPhone(NamedTuple):
    """A phone's address for adb, that of its harness, and the process that serves both."""

    serial: str
    harness: str
    process: subprocess.Popen[str]

    @property
    def words(self) -> list[str]:
        """What `hitlab run` is told of it."""
        return ["--device", self.serial, "--harness", self.harness]


@contextmanager
def served_phones(count: int, environment: Mapping[str, str]) -> Iterator[list[ServedPhone]]:
    """So many of them, begun side by side; they are ended with it."""
    command = [sys.executable, "-m", "lab.cli.main", "phone", "--json"]
    with ExitStack() as stack:
        begun = [
            stack.enter_context(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True))
            for _ in range(count)
        ]
        for process in begun:
            stack.callback(process.kill)
        phones = []
        for process in begun:
            assert process.stdout is not None
            served = json.loads(process.stdout.readline())
            phones.append(ServedPhone(served["serial"], served["harness"], process))
        yield phones
