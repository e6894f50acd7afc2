"""Python text in a process that is forked from the warm one, as `python -c TEXT ARGS` runs it in one of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import Any

from tests.warm import ROOT, run

CODE = "tests.warm_code:code"
"""What a fork calls: `Warm([TEXT, *ARGS], main=CODE)`."""


def code() -> int:
    """Runs the first of this process's words with the others as its arguments."""
    text, *sys.argv[1:] = sys.argv[1:]
    tempfile.tempdir = None  # another environment names another folder
    exec(compile(text, "<text>", "exec"), {"__name__": "__main__"})
    return 0


def python(program: str, /, *args: object, **more: Any) -> subprocess.CompletedProcess[Any]:
    """Runs such a program to its end; gives what it wrote."""
    more = {"main": CODE, "cwd": ROOT} | more
    return run([program, *map(str, args)], None, **more)
