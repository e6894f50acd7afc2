"""What a command that is killed leaves: the next command in that folder, doctor and withdraw name and remove it."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from store.file.leftovers import sweep
from tests.crossed import crossed, each_once
from tests.replied import REPLY, Hitlab, bytes_of, hitlab, keep, replied
from tests.warm import Warm
from tests.warm_code import CODE, python

_REPLACED = """
import os, signal, sys
from importlib import import_module
module, name = sys.argv[1].split(":")
real = getattr(import_module(module), name)

def replaced(new):
    for one in [one for one in sys.modules.values() if getattr(one, name, None) is real]:
        setattr(one, name, new)
"""
"""Puts another function in the place of the one that is named, also where it was imported already."""

_KILLED = f"""
{_REPLACED}
replaced(lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
from lab.cli.main import main
main(sys.argv[2:])
"""
"""A command that is killed as soon as it comes to a function."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where all is: a temporary folder of its own, so that nobody else's is looked at."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.chdir(tmp_path)
    keep(tmp_path / "lab.db", replied())
    return tmp_path


@pytest.fixture
def call(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hitlab:
    run = hitlab(folder / "lab.db", capsys, monkeypatch)
    assert run("study", "new", "success", "--even-so", "--runs", "all", "--raters", "R1,R2", "--name", "s")[0] == 0
    assert run("study", "deal", "s")[0] == 0
    return run


def killed(folder: Path, where: str, *words: str, db: str = "lab.db") -> None:
    done = python(_KILLED, where, *words, "--db", folder / db, cwd=folder, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


KILLS = {
    "pack": ("store.copies.pack:sync_to_disk", ("pack", "out.db")),
    "kit": ("store.copies.kit_export:sync_to_disk", ("study", "kit", "s", "--rater", "R1", "--out", "k.db")),
    "export": ("store.formats.new_files:write_new_file", ("export", "run-said", "--out", "ex", "--format", "knowu")),
}


def left(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if ".part-" in path.name]


@crossed
@pytest.mark.parametrize(("name", "then"), each_once(list(KILLS), ["traces", "doctor", "withdraw"]))
def test_it_is_named_and_removed(folder: Path, call: Hitlab, name: str, then: str) -> None:
    where, words = KILLS[name]
    killed(folder, where, *words)
    (part,) = {path for path in left(folder) if not path.name.endswith(("-wal", "-shm", "-journal"))}
    words = {"traces": ("traces",), "doctor": ("doctor",), "withdraw": ("withdraw", "P07", "--yes")}[then]
    code, out, err = call(*words)
    assert code in (0, 3), err
    assert str(part) in out + err
    assert left(folder) == []
    assert then != "withdraw" or REPLY.encode() not in bytes_of(folder)


def test_a_merges_copy_in_the_temporary_folder_is_removed(folder: Path, call: Hitlab) -> None:
    assert call("pack", str(folder / "other.db"))[0] == 0
    keep(folder / "other.db", replied("run-more"))
    assert call("withdraw", "P07", "--yes")[0] == 0
    killed(folder, "store.file.foreign_file:apply_withdrawal", "merge", str(folder / "other.db"))
    (folder / "other.db").unlink()
    assert REPLY.encode() in bytes_of(folder / "tmp")
    code, out, _ = call("doctor", "--json")
    assert code in (0, 3)
    assert any("hitlab-" in one["found"] for one in json.loads(out) if one["name"] == "leftovers")
    assert list((folder / "tmp").iterdir()) == []


def test_what_a_living_process_writes_is_left(folder: Path, call: Hitlab) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1)
    try:
        mine = folder / f".out.db.part-{process.pid}"
        mine.write_bytes((folder / "lab.db").read_bytes())
        temporary = folder / "tmp" / f"hitlab-{process.pid}-abcdefgh"
        temporary.mkdir()
        assert call("doctor")[0] in (0, 3)
        assert call("traces")[2] == ""
        assert mine.exists()
        assert temporary.exists()
    finally:
        process.communicate(b"\n")
    assert sweep([folder], temporary=True).removed == (mine, temporary)


def test_what_another_program_holds_locked_is_left(folder: Path, call: Hitlab) -> None:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    part = folder / f".out.db.part-{int(gone.stdout)}"
    script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('CREATE TABLE t (a)'); "
    script += "db.execute('BEGIN IMMEDIATE'); print('held', flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", script, str(part)], stdin=-1, stdout=-1)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"held\n"
        assert sweep([folder]).removed == ()
        assert part.exists()
    finally:
        process.communicate(b"\n")
    assert sweep([folder]).removed == (part,)


_WAITS = f"""
{_REPLACED}
def waiting(*args, **more):
    print("here", flush=True)
    input()
    return real(*args, **more)
replaced(waiting)
os.getpid = lambda: 4_000_000_000
from lab.cli.main import main
sys.exit(main(sys.argv[2:]))
"""
"""A command that stands still at a function until it is told to go on; its process cannot be seen from here."""


@pytest.mark.parametrize("name", KILLS)
def test_what_is_written_in_another_container_is_left_and_becomes_whole(folder: Path, call: Hitlab, name: str) -> None:
    where, words = KILLS[name]
    command = [_WAITS, where, *words, "--db", str(folder / "lab.db")]
    process = Warm(command, main=CODE, cwd=folder, stdin=-1, stdout=-1, stderr=-1)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        (part,) = {path for path in left(folder) if not path.name.endswith(("-wal", "-shm", "-journal"))}
        assert part.name.endswith(".part-4000000000")
        other = {"out.db": "o2.db", "k.db": "k2.db", "ex": "ex2"}
        killed(folder, where, *(other.get(word, word) for word in words))
        assert call("traces")[2].count("removed") == 1
        assert call("doctor")[0] in (0, 3)
        assert left(folder)
        assert part.exists()
    finally:
        _, err = process.communicate(b"\n" * 100)
    assert process.returncode == 0, err
    assert left(folder) == []
    assert (folder / {"pack": "out.db", "kit": "k.db", "export": "ex"}[name]).exists()


def test_strangers_files_are_left(folder: Path, call: Hitlab) -> None:
    strangers = [folder / ".film.part-1234567", folder / ".other.db.part-1234567", folder / "out.db.part-1234567"]
    strangers[0].write_bytes(b"half a film")
    other = sqlite3.connect(strangers[1])
    other.execute("PRAGMA application_id = 99")
    other.execute("CREATE TABLE t (a)")
    other.close()
    strangers[2].write_bytes((folder / "lab.db").read_bytes())
    link = folder / ".linked.db.part-1234567"
    link.symlink_to(folder / "lab.db")
    sources = folder / ".code.part-1234567"
    sources.mkdir()
    (sources / "main.py").write_text("print()")
    assert sweep([folder], temporary=True).removed == ()
    assert call("traces")[2] == ""
    assert all(path.exists() for path in (*strangers, link, sources))
