"""Linked pictures: they stay in their files, and a file that is gone or changed is no picture and no crash."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from PIL import Image

from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.run.ui_tree import Bounds
from lab.core.task.task import Actor
from store.erasing.run_redaction import redact
from store.file import schema
from store.runs.run_export import export_runs
from store.runs.run_import import import_paths
from store.store import Store
from tests.warm_code import python


def picture(number: int) -> bytes:
    kept = io.BytesIO()
    Image.new("RGB", (60, 90), (number * 20, 100, 200)).save(kept, "PNG")
    return kept.getvalue()


def run_folder(path: Path, *numbers: int) -> Path:
    """A run whose steps show these pictures."""
    shots = path / "screenshots"
    shots.mkdir(parents=True)
    steps = []
    for i, number in enumerate(numbers, 1):
        (shots / f"{path.name}-0-{i}.png").write_bytes(picture(number))
        act = {"action_type": "click", "x": 5, "y": 6}
        steps.append(
            {"task_goal": f"g of {path.name}", "step": i, "prediction": f"Thought: p{i} {path.name}", "action": act}
        )
    steps[-1]["action"] = {"action_type": "finished"}
    (path / "traj.json").write_text(json.dumps({"0": {"traj": steps}}))
    return path


def shot(path: Path, step: int) -> Path:
    return path / "screenshots" / f"{path.name}-0-{step}.png"


def sha(number: int) -> str:
    return hashlib.sha256(picture(number)).hexdigest()


def held(store: Store) -> list[str]:
    return [sha256 for (sha256,) in store.database.read("SELECT sha256 FROM blob ORDER BY sha256")]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return run_folder(tmp_path / "m" / "T", 1, 2, 1)


def test_a_linked_picture_is_read_from_its_file_and_kept_nowhere_else(store: Store, run: Path) -> None:
    report = import_paths(store, [run], link=True)
    assert (report.imported, report.failed) == (1, [])
    assert held(store) == []
    assert store.links.count_outside() == 2
    (id,) = (summary.id for summary in store.runs.summaries())
    assert store.runs.blob_ids(id) == sorted([sha(1), sha(2)])
    for number in (1, 2):
        blob = store.runs.blob(sha(number))
        assert blob is not None
        assert (blob.data, blob.mime) == (picture(number), "image/png")
    assert [link.path for link in store.runs.links(sha(2))] == [str(shot(run, 2).resolve())]
    assert store.check() == []
    assert store.runs.blob("0" * 64) is None
    assert store.runs.links("0" * 64) == []


def spoilt(path: Path, how: str) -> str:
    """Spoils a linked file; gives what is then said of it."""
    data = path.read_bytes()
    path.unlink()
    match how:
        case "changed":
            path.write_bytes(data[:-1] + b"?")
        case "grown":
            path.write_bytes(data + b"more")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "link to itself":
            path.symlink_to(path.name)
    return "has changed" if how in ("changed", "grown") else "is gone"


@pytest.mark.parametrize("how", ["gone", "changed", "grown", "folder", "pipe", "link to itself"])
def test_a_file_that_is_gone_or_changed_is_no_picture_and_is_named(store: Store, run: Path, how: str) -> None:
    import_paths(store, [run], link=True)
    words = spoilt(shot(run, 2), how)
    assert store.runs.blob(sha(2)) is None
    assert store.runs.blob(sha(1)) is not None
    assert store.check() == [f"the linked picture {shot(run, 2)} {words}"]
    assert len(store.runs.trace(store.runs.find("T")).steps) == 3


def test_a_path_that_no_file_can_have_is_no_picture(store: Store) -> None:
    rows = [("a" * 64, "image/png", 1, "x\0y"), ("b" * 64, "image/png", 2**62, "/dev/zero"), ("c" * 64, "x", 0, "")]
    with store.database.writing() as db:
        db.executemany("INSERT INTO link VALUES (?, ?, ?, ?)", rows)
    assert [store.runs.blob(row[0]) for row in rows] == [None] * 3
    assert len(store.check()) == 3


def test_taken_in_later_a_picture_is_a_blob_and_needs_its_file_no_more(store: Store, tmp_path: Path, run: Path) -> None:
    import_paths(store, [run], link=True)
    other = run_folder(tmp_path / "m" / "U", 2, 3)
    assert import_paths(store, [other]).imported == 1
    assert held(store) == sorted([sha(2), sha(3)])
    assert store.links.count_outside() == 1
    shot(run, 2).unlink()
    assert store.runs.blob(sha(2)) is not None
    assert store.check() == []


def test_the_same_run_again_without_link_brings_its_pictures_in(store: Store, run: Path) -> None:
    import_paths(store, [run], link=True)
    assert import_paths(store, [run]).skipped == 1
    assert held(store) == sorted([sha(1), sha(2)])
    assert store.links.count_outside() == 0
    shot(run, 1).unlink()
    assert import_paths(store, [run]).skipped == 1
    assert store.runs.blob(sha(1)) is not None


def test_linked_after_it_was_taken_in_nothing_changes(store: Store, run: Path) -> None:
    import_paths(store, [run])
    assert import_paths(store, [run], link=True).skipped == 1
    assert store.database.read("SELECT count(*) FROM link") == [(0,)]


def test_a_folder_that_has_moved_is_linked_by_bringing_it_in_again(store: Store, tmp_path: Path, run: Path) -> None:
    import_paths(store, [run], link=True)
    (tmp_path / "elsewhere").mkdir()
    moved = run.rename(tmp_path / "elsewhere" / "T")
    assert store.runs.blob(sha(1)) is None
    assert len(store.check()) == 2
    assert import_paths(store, [moved], link=True).skipped == 1
    assert store.runs.blob(sha(1)) is not None
    assert store.check() == []


def test_an_export_of_linked_pictures_holds_them(store: Store, tmp_path: Path, run: Path) -> None:
    import_paths(store, [run], link=True)
    export_runs(store, [store.runs.find("T")], tmp_path / "out")
    shot(run, 1).unlink()
    with Store.open(tmp_path / "other.db") as other:
        assert import_paths(other, [tmp_path / "out"], link=True).imported == 1
        assert held(other) == sorted([sha(1), sha(2)])


@pytest.mark.parametrize("options", [{}, {"embed": True}, {"images": False}])
def test_a_pack_links_what_is_linked_or_takes_it_in_or_leaves_it_out(
    store: Store, tmp_path: Path, run: Path, options: dict[str, bool]
) -> None:
    import_paths(store, [run], link=True)
    store.pack(tmp_path / "out.db", **options)
    with Store.open(tmp_path / "out.db") as copy:
        assert copy.links.count_outside() == {"": 2, "embed": 0, "images": 0}["".join(options)]
        assert held(copy) == (sorted([sha(1), sha(2)]) if options.get("embed") else [])
        assert (copy.runs.blob(sha(1)) is None) == ("images" in options)
        assert copy.check() == []
        if "images" in options:
            # Brought in again, such a copy has its pictures back.
            assert import_paths(copy, [run]).skipped == 1
            assert copy.runs.blob(sha(1)) is not None


def test_erased_with_the_last_run_that_shows_it_and_the_file_is_named(store: Store, tmp_path: Path, run: Path) -> None:
    other = run_folder(tmp_path / "m" / "U", 2)
    import_paths(store, [run, other], link=True)
    with store.erasure.erasing() as eraser:
        eraser.erase_runs([store.runs.find("T")])
    assert eraser.linked_files == [str(shot(run, 1).resolve())]
    assert store.runs.links(sha(1)) == []
    assert store.runs.blob(sha(2)) is not None
    assert shot(run, 1).exists()


def test_a_redaction_paints_a_linked_picture_and_names_the_file_that_still_shows_it(store: Store, run: Path) -> None:
    import_paths(store, [run], link=True)
    old = store.runs.find("T")
    done = redact(store, old, Actor("human", "D01"), boxes={1: [Bounds(0, 0, 30, 30)]}, words=())
    assert done.linked_files == (str(shot(run, 2).resolve()),)
    assert store.runs.blob(sha(2)) is None
    new = store.runs.trace(done.replaced[old])
    blob = store.runs.blob(new.steps[1].before.image or "")
    assert blob is not None
    assert Image.open(io.BytesIO(blob.data)).getpixel((5, 5)) == (0, 0, 0)
    assert store.runs.blob(sha(1)) is not None  # nothing was covered in it: it stays where it was
    assert store.check() == []


def test_a_linked_picture_that_cannot_be_looked_at_is_not_passed_over(store: Store, run: Path) -> None:
    import_paths(store, [run], link=True)
    shot(run, 2).unlink()
    with pytest.raises(LabError, match="nobody can see what is to be covered"):
        redact(store, store.runs.find("T"), Actor("human", "D01"), boxes={1: [Bounds(0, 0, 9, 9)]}, words=())
    assert store.runs.has_run(store.runs.find("T"))


def third_schema(path: Path) -> None:
    """A file as the program before this one laid it."""
    Store.open(path).close()
    raw = sqlite3.connect(path)
    raw.execute("DROP TABLE link")
    raw.execute("DELETE FROM _sqlite_migrations WHERE name = '004_links'")
    raw.execute("PRAGMA user_version = 3")
    raw.commit()
    raw.close()


def test_a_file_of_the_third_schema_opens_and_is_renewed(tmp_path: Path, run: Path) -> None:
    path = tmp_path / "old.db"
    third_schema(path)
    with Store.open(path, readonly=True) as old:
        assert old.runs.blob(sha(1)) is None
        assert (old.links.count_outside(), old.runs.links(sha(1))) == (0, [])
        assert old.check() == []
        for embed in (False, True):
            old.pack(tmp_path / f"packed{embed}.db", embed=embed)
        old.pack(tmp_path / "bare.db", images=False)
    with Store.open(path) as new:
        assert new.database.read("PRAGMA user_version") == [(schema.VERSION,)]
        assert import_paths(new, [run], link=True).imported == 1
        assert new.check() == []
        assert new.runs.blob(sha(1)) is not None


def test_the_commands_say_what_stays_outside(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))

    def said(*args: str, code: int = 0) -> str:
        assert main([*args, "--db", "x.db"]) == code, args
        out, err = capfd.readouterr()
        return out + err

    assert said("import", "--link", str(run)).splitlines() == [
        "1 imported (knowu), 0 already there, 0 failed, in x.db",
        "2 pictures stay in their own files; moved or deleted, they are gone from here too",
    ]
    assert json.loads(said("pack", "a.db", "--json"))["outside"] == 2
    assert "2 linked pictures are not in it" in said("pack", "b.db")
    assert json.loads(said("pack", "--embed", "c.db", "--json"))["outside"] == 0
    assert "exclude" in said("pack", "--embed", "--no-images", "d.db", code=2)
    main(["doctor", "--json", "--db", "x.db"])  # what it says of this machine is not ours to say
    findings = {one["name"]: one for one in json.loads(capfd.readouterr()[0])}
    assert findings["pictures"]["found"] == "2 linked, 0 of them lost"
    shot(run, 1).unlink()
    shot(run, 3).unlink()
    findings = {one["name"]: one for one in json.loads(said("doctor", "--json", code=3))}
    lost = f"2 linked, 1 of them lost: the linked picture {shot(run, 1)} is gone"
    assert (findings["pictures"]["ok"], findings["pictures"]["found"]) == (False, lost)
    assert "import their folder again" in findings["pictures"]["do"]
    assert findings["database"]["ok"]


UNREADABLE = """
import os, sys
from pathlib import Path
from store.store import Store
with Store.open(Path(sys.argv[1])) as store:
    shots = Path(sys.argv[2])
    if os.geteuid() == 0:
        os.chown(shots, 65534, 65534)
        for file in shots.iterdir():
            os.chown(file, 65534, 65534)
        os.setgid(65534); os.setuid(65534)
    (shots / "T-0-2.png").chmod(0)
    print(*store.check())
    shots.chmod(0o400)
    print(len([line for line in store.check() if "Permission denied" in line]))
    shots.chmod(0o700)
"""


def test_a_picture_that_may_not_be_read_is_named_and_no_crash() -> None:
    """The file itself, then the folder; as a user without rights, since root may read anywhere."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o777)
        run = run_folder(root / "m" / "T", 1, 2, 1)
        with Store.open(root / "lab.db") as store:
            import_paths(store, [run], link=True)
        command = [sys.executable, "-B", "-c", UNREADABLE, str(root / "lab.db"), str(run / "screenshots")]
        done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
        where = shot(run.resolve(), 2)
    assert done.stdout.splitlines() == [f"the linked picture {where} cannot be read (Permission denied)", "2"]


MIGRATED = """
import os, signal, sys
from pathlib import Path
from store.file import connection as connect
from store.store import Store
left, ticks, opened = int(sys.argv[2]), 0, connect._open_connection

def tick():
    global ticks
    ticks += 1
    if ticks == left:
        os.kill(os.getpid(), signal.SIGKILL)

def watched(*how):
    connection = opened(*how)
    connection.set_progress_handler(tick, 1)
    return connection

connect._open_connection = watched
Store.open(Path(sys.argv[1])).close()
print(ticks)
"""


def test_killed_while_it_is_renewed_a_file_is_of_the_third_schema_or_whole(tmp_path: Path) -> None:
    def renewed(name: str, left: int) -> subprocess.CompletedProcess[str]:
        third_schema(tmp_path / name)
        return python(MIGRATED, tmp_path / name, left, text=True)

    ticks = int(renewed("whole.db", 0).stdout)
    for kill in (4, 7, 9):
        assert renewed(f"{kill}.db", ticks * kill // 10).returncode == -signal.SIGKILL
        raw = sqlite3.connect(tmp_path / f"{kill}.db")
        (version,) = raw.execute("PRAGMA user_version").fetchone()
        tables = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        raw.close()
        assert ("link" in tables) == (version == schema.VERSION)
        assert version in (3, schema.VERSION)
        with Store.open(tmp_path / f"{kill}.db") as store:
            assert store.check() == []
