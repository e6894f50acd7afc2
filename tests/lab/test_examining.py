"""What `hitlab doctor` says of a terminal's graphics, in a terminal that answers, and in one that says nothing."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

QUERY = b"a=q,t=d,f=24;AAAA\x1b\\\x1b[c"
KITTY, SIXEL, NEITHER = b"\x1b_Gi=31;OK\x1b\\\x1b[?62;c", b"\x1b[?62;4;22c", b"\x1b[?62;22c"


def _doctor(home: Path, answer: bytes | None, graphics: str = "cells", term: str = "xterm-256color") -> str:
    """What it prints of the graphics and what to do, where the terminal answers its question so."""
    terminal, side = pty.openpty()
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_DATA_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    own |= {"ANDROID_ADB_SERVER_PORT": "1", "HITLAB_GRAPHICS": graphics, "TERM": term, "LC_ALL": "C.UTF-8"}
    program = subprocess.Popen(
        [sys.executable, "-m", "lab.cli", "doctor"],
        env={**os.environ, **own, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,
        preexec_fn=_own_terminal,
    )
    os.close(side)
    try:
        said, end = b"", time.monotonic() + 40
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                said += os.read(terminal, 65536)
            except OSError:
                break
            if answer is not None and QUERY in said:
                os.write(terminal, answer)
                answer = None
        program.wait(20)
    finally:
        program.kill()
        os.close(terminal)
    found = re.search(r"(. graphics .*?)\n(?:. fonts)", said.decode().replace("\r", ""), re.DOTALL)
    assert found, said.decode()
    assert all(len(line) <= 80 or " " not in line.strip() for line in found[1].split("\n"))
    return re.sub(r"\s+", " ", found[1])


def _own_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.parametrize(
    ("answer", "chosen", "words"),
    [
        (KITTY, "cells", ["✓", "it draws kitty", 'Set graphics = "kitty"']),
        (NEITHER, "cells", ["✓ graphics cells chosen; asked what else it can draw, it draws characters alone"]),
        (KITTY, "kitty", ["✓ graphics kitty chosen; asked what else it can draw, it draws kitty"]),
        (SIXEL, "kitty", ["✗", "it draws sixel", "Set graphics to sixel, or use another terminal."]),
        (None, "sixel", ["✗", "it says nothing", "Set graphics to cells, or use another terminal."]),
    ],
)
def test_a_terminal_is_asked_what_it_can_draw(
    tmp_path: Path, answer: bytes | None, chosen: str, words: list[str]
) -> None:
    said = _doctor(tmp_path, answer, chosen)
    assert all(word in said for word in words), said


def test_a_terminal_that_can_do_nothing_is_not_asked(tmp_path: Path) -> None:
    assert "it says nothing" in _doctor(tmp_path, None, term="dumb")
