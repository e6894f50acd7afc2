"""`hitlab file withdraw`: it tells what goes before it goes, is sure that it is meant, and says so afterwards."""

from __future__ import annotations

import json
import os
import pty
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.cli.main import main
from lab.core.task.task import Actor
from store.erasing.withdrawal import preview_withdrawal
from store.store import Store
from tests.lab.fitting import fits
from tests.lab.openings import openings
from tests.warm import Warm
from tests.withdrawals import CODE, Filled, fill

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "lab.db"


@pytest.fixture
def filled(db: Path, tmp_path: Path) -> Filled:
    with Store.open(db) as store:
        return fill(store, tmp_path)


@pytest.fixture
def run(db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def call(*args: str, seat: str = "developer", by: str = "D01") -> tuple[int, str, str]:
        monkeypatch.setenv("HITLAB_SEAT", seat)
        monkeypatch.setenv("HITLAB_PERSON", by)
        code = main([*args, "--db", str(db)])
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


def shown(text: str) -> Any:
    value = json.loads(text)
    fits(value, "withdraw")
    return value


def withdrew(db: Path) -> bool:
    with Store.open(db) as store:
        return store.labels.has_withdrawn(CODE)


def test_it_tells_what_would_go_and_does_nothing(
    run: Run, db: Path, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        opened = openings(patched)
        code, out, _ = run("withdraw", CODE, "--show")
    assert code == 0
    assert all(opened), "a file that may only be read is enough"
    assert "10 runs in which they took part" in out
    assert f"outside, yours to delete: {filled.outside}" in out
    looked = shown(run("withdraw", CODE, "--show", "--json")[1])
    assert (looked["done"], looked["counts"]["labels"], sorted(looked["runs"])) == (False, 10, filled.runs)
    assert not withdrew(db)
    with Store.open(db) as store:
        assert looked["bytes"] == preview_withdrawal(store, CODE, Actor("human", "D01")).bytes
    assert "nothing in this file is theirs" in run("withdraw", "P99", "--show")[2]


def test_without_a_terminal_it_needs_to_be_told_twice(run: Run, db: Path, filled: Filled) -> None:
    for args in ((), ("--json",)):
        code, _, said = run("withdraw", CODE, *args)
        assert (code, "nobody was asked" in said, withdrew(db)) == (2, True, False)
    code, out, said = run("withdraw", CODE, "--yes", "--json")
    done = shown(out)
    assert (code, done["done"], done["counts"]["units"], withdrew(db)) == (0, True, 4, True)
    assert f"{filled.outside} is still there" in said
    held = b"".join(path.read_bytes() for path in db.parent.glob("lab.db*"))
    assert [word for word in filled.gone if word.encode() in held] == []


def test_afterwards_commands_that_would_write_as_them_say_so(run: Run, db: Path, filled: Filled) -> None:
    assert run("withdraw", CODE, "--yes")[0] == 0
    commands = [
        ("review", "run-demo", "--accept", "all"),
        ("privacy", "run-demo", "--clear"),
        ("privacy", "run-demo", "--text", "Mara Quillfeather"),
        ("author", "usual_lunch", "--begin", "task"),
    ]
    for command in commands:
        code, _, said = run(*command, by=CODE)
        assert (code, f"{CODE} has withdrawn" in said) == (1, True), (command, said)
    again = run("withdraw", CODE, "--yes")
    assert (again[0], "nothing of theirs is here" in again[2]) == (1, True)


def test_a_run_of_theirs_is_not_brought_in_again(run: Run, db: Path, filled: Filled, tmp_path: Path) -> None:
    assert run("export", "run-reply", "--out", str(tmp_path / "o"))[0] == 0
    assert run("withdraw", CODE, "--yes")[0] == 0
    code, _, said = run("import", str(tmp_path / "o"))
    assert (code, "was withdrawn on" in said) == (1, True)
    code, _, said = run("show", "run-reply")
    assert (code, "was erased, because somebody in it has withdrawn" in said) == (1, True)


@pytest.mark.parametrize(("seat", "by", "code"), [("participant", "P01", 1), ("rater", "R2", 1), ("rater", CODE, 0)])
def test_who_takes_part_withdraws_nobody_but_themselves(
    run: Run, db: Path, filled: Filled, seat: str, by: str, code: int
) -> None:
    found, _, said = run("withdraw", CODE, "--yes", seat=seat, by=by)
    assert (found, withdrew(db)) == (code, not code)
    assert not code or f"{by} may withdraw, but not {CODE}" in said


@pytest.mark.parametrize(("typed", "done"), [(f"{CODE}\n", True), ("yes\n", False), ("\n", False), ("\x04", False)])
def test_at_a_terminal_the_code_is_typed(db: Path, filled: Filled, typed: str, done: bool) -> None:
    terminal, side = pty.openpty()
    program = Warm(
        ["withdraw", CODE, "--db", str(db)],
        env={**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HITLAB_PERSON": "D01"},
        stdin=side, stdout=side, stderr=side,
    )  # fmt: skip
    os.close(side)
    seen, end = b"", time.monotonic() + 180
    while b"to go on: " not in seen and time.monotonic() < end:
        seen += os.read(terminal, 65536)
    assert b"10 runs in which they took part" in seen
    assert not withdrew(db)
    os.write(terminal, typed.encode())
    while time.monotonic() < end:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    assert program.wait(180) == (0 if done else 1)
    os.close(terminal)
    assert withdrew(db) == done
    assert (b"has withdrawn from" if done else b"another word was typed") in seen
