"""What a process that may have so much memory and no more does; it is forked from one that has all of this loaded."""

from __future__ import annotations

import io
import json
import os
import resource
import sys
from contextlib import redirect_stderr, redirect_stdout

from lab.cli.main import main

MEMORY = 1024**3
"""Address space a command may have, its libraries included."""


def command() -> int:
    """Runs a command within so much memory, and tells which files below a folder it opens; both are its first words."""
    memory, watched, *sys.argv[1:] = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))

    def seen(event: str, args: tuple[object, ...]) -> None:
        if event == "open" and watched and os.path.realpath(str(args[0])).startswith(watched):
            os.write(2, b"OPENED " + str(args[0]).encode() + b"\n")

    sys.addaudithook(seen)
    return main()


def commands() -> int:
    """Runs each command of those that are given as JSON; prints the code of each and what it said."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    told = {}
    for name, args in json.load(sys.stdin).items():
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code: object = main(args)
            except SystemExit as left:
                code = left.code
        assert isinstance(err.buffer, io.BytesIO)
        told[name] = [code, err.buffer.getvalue().decode("utf-8", "backslashreplace")]
    print(json.dumps(told))
    return 0
