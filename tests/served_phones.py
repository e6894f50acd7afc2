"""Embedded phones that are served for adb, each by a process of its own, as `hitlab serve phone` does it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from subprocess import DEVNULL, PIPE
from typing import NamedTuple

from tests.warm import Warm


class ServedPhone(NamedTuple):
    """A phone's address for adb, that of its harness, and the process that serves both."""

    serial: str
    harness: str
    process: Warm

    @property
    def words(self) -> list[str]:
        """What `hitlab run` is told of it."""
        return ["--device", self.serial, "--harness", self.harness]


@contextmanager
def served_phones(count: int, environment: Mapping[str, str]) -> Iterator[list[ServedPhone]]:
    """So many of them, begun side by side; they are ended with it."""
    with ExitStack() as stack:
        begun = [
            stack.enter_context(Warm(["phone", "--json"], env=environment, stdin=DEVNULL, stdout=PIPE, text=True))
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
