"""Tables for people: whole where there is room, and in a narrow terminal nothing that one types again is cut."""

from __future__ import annotations

import os
import pty
import re
import subprocess

import pytest

from simulators import library
from tests.warm import Warm


def printed_in_terminal(columns: int, *args: str) -> list[str]:
    """The lines that a command prints in a terminal so wide."""
    terminal, side = pty.openpty()
    program = Warm(
        args,
        env={**os.environ, "COLUMNS": str(columns), "LINES": "24", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=side,
        stderr=side,
    )
    os.close(side)
    seen = b""
    try:
        while piece := os.read(terminal, 65536):
            seen += piece
    except OSError:
        pass  # how Linux says that the other side has closed
    finally:
        os.close(terminal)
    assert program.wait(180) == 0, seen
    return re.sub(r"\x1b\[[0-9;]*m", "", seen.decode()).splitlines()


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_every_task_is_listed_with_its_whole_name_and_all_of_its_instruction(columns: int) -> None:
    lines = printed_in_terminal(columns, "tasks", "list")
    assert {line.split(" ")[0] for line in lines} >= set(library.tasks())
    told = " ".join(" ".join(lines).split())
    assert "Book my usual train home for Friday." in told
    if columns == 80:
        assert all(library.task(name).instruction in told for name in library.tasks())
    assert all(len(line) <= columns for line in lines)


def test_sentences_are_folded_between_words_and_a_column_that_finds_no_room_stands_below() -> None:
    lines = printed_in_terminal(80, "protocols", "tdg")
    assert all(len(line) <= 80 for line in lines)
    told = " ".join(" ".join(lines).split())
    assert "An item that depends on another is not completed where that other one is not." in told
    lines = printed_in_terminal(80, "protocols")
    assert all(len(line) <= 80 for line in lines)
    assert any(line.startswith("    source: PSPA-Bench E.3") for line in lines)


def test_a_personas_occupation_is_folded_and_not_cut() -> None:
    told = " ".join(printed_in_terminal(80, "personas"))
    assert "…" not in told
    assert "xiaoman" in told
