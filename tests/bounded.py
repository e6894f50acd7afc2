"""`hitlab` as a process that may have so much memory and no more, and what it was seen to open."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.bounded_child import MEMORY
from tests.warm import run

ROOT = Path(__file__).parents[1]
MB = 1024**2
HANGING = 120
"""Seconds after which a command is taken to hang; it needs one or two, on a busy machine ten."""

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits a process's memory")


class Done(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str


def bounded(*args: str | Path, cwd: Path, memory: int = MEMORY, watched: Path | str = "", stdin: bytes = b"") -> Done:
    """Runs `hitlab ARGS` in a folder; files below `watched` that it opens are told on its standard error."""
    words = [str(memory), str(watched), *map(str, args)]
    done = run(words, stdin, main="tests.bounded_child:command", cwd=cwd)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def refusal(done: Done) -> str:
    """The one sentence with which a command refused, and did nothing else."""
    assert done.code in (1, 2, 3), done
    assert "Traceback" not in done.err, done.err
    assert done.err.startswith("hitlab: "), done
    assert done.err.count("\n") == 1, done.err
    return done.err
