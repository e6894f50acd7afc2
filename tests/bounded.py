"""`hitlab` as a process that may have so much memory and no more, and what it was seen to open."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
MB = 1024**2
MEMORY = 1024 * MB
"""Address space a command may have, its libraries included."""
HANGING = 120
"""Seconds after which a command is taken to hang; it needs one or two, on a busy machine ten."""

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits a process's memory")

_CHILD = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
watched = sys.argv[2]
def seen(event, args):
    if event == "open" and watched and os.path.realpath(str(args[0])).startswith(watched):
        os.write(2, b"OPENED " + str(args[0]).encode() + b"\\n")
sys.addaudithook(seen)
from lab.cli.main import main
sys.exit(main(sys.argv[3:]))
"""


class Done(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str


def bounded(*args: str | Path, cwd: Path, memory: int = MEMORY, watched: Path | str = "", stdin: bytes = b"") -> Done:
    """Runs `hitlab ARGS` in a folder; files below `watched` that it opens are told on its standard error."""
    command = [sys.executable, "-c", _CHILD, str(memory), str(watched), *map(str, args)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=cwd, env=environment, input=stdin, capture_output=True, timeout=HANGING)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def refusal(done: Done) -> str:
    """The one sentence with which a command refused, and did nothing else."""
    assert done.code in (1, 2, 3), done
    assert "Traceback" not in done.err, done.err
    assert done.err.startswith("hitlab: "), done
    assert done.err.count("\n") == 1, done.err
    return done.err
