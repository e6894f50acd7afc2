"""Finding runs among files: nothing outside the folder, nothing without end, a sentence for what is no run."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.run.run_records import Blob, Imported, Tombstone
from lab.core.run.trace import Started
from lab.core.task.task import Actor, Task
from lab.core.values.ids_and_clock import now
from store.formats import FailedRun, KnownRun, RunSource, files, formats
from store.formats.knowu.reader import KNOWU
from store.runs.run_import import Outcome, Tally, import_paths
from store.store import Store
from tests.crossed import crossed, spread
from tests.store.formats.demos import png
from tests.warm_code import python

STEP: dict[str, Any] = {"task_goal": "g", "step": 1, "prediction": "p", "action": {"action_type": "wait"}}


def run_folder(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "traj.json").write_text(json.dumps({"0": {"traj": [STEP]}}))
    return path


def errors(store: Store, *paths: Path) -> list[str]:
    report = import_paths(store, paths)
    assert all("\n" not in failed.error for failed in report.failed)
    return [failed.error for failed in report.failed]


def test_runs_are_found_at_any_depth_in_order_and_told_one_by_one(store: Store, tmp_path: Path) -> None:
    root = tmp_path / "logs"
    for name in ("b/x/T1", "a/T2", "T0"):
        run_folder(root / name)
    told: list[tuple[str, Outcome]] = []
    report = import_paths(store, [root, root / "T0"], on_run=lambda name, outcome: told.append((name, outcome)))
    assert (report.imported, report.skipped) == (3, 1)
    assert [outcome for _, outcome in told] == ["imported"] * 3 + ["skipped"]
    assert [s.task for s in store.runs.summaries()] == ["T1", "T2", "T0"]


def test_a_run_is_named_by_its_folder_its_traj_or_itself(store: Store, tmp_path: Path) -> None:
    path = run_folder(tmp_path / "m" / "T")
    assert import_paths(store, [path / "traj.json"]).imported == 1
    assert import_paths(store, [path, tmp_path / "m"]).skipped == 2


def test_what_holds_no_runs_gets_a_sentence(store: Store, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "list.json").write_text("[1]")
    for name, words in (("empty", "no runs"), ("notes.txt", "no runs"), ("list.json", "no runs"), ("x", "not there")):
        (error,) = errors(store, tmp_path / name)
        assert words in error
        assert str(tmp_path / name) in error


def test_a_format_that_is_not_known_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="known are jsonl, knowu, androidworld"):
        import_paths(store, [tmp_path], "telepathy")
    run_folder(tmp_path / "m" / "T")
    assert import_paths(store, [tmp_path], "knowu").imported == 1


def test_a_damaged_or_short_archive_gets_a_sentence(store: Store, tmp_path: Path) -> None:
    whole = gzip.compress(json.dumps({"T": {"traj": [STEP] * 5000}}).encode(), compresslevel=0)
    (tmp_path / "cut.json.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "no.json.gz").write_bytes(b"PK\3\4")
    (tmp_path / "good.json.gz").write_bytes(gzip.compress(json.dumps({"T": {"traj": [STEP]}}).encode()))
    cut, no = errors(store, tmp_path)
    assert "cut.json.gz" in cut
    assert "cut short" in cut
    assert "no.json.gz" in no
    assert len(store.runs.summaries()) == 1


def test_an_archive_that_grows_without_end_is_left_at_the_limit(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b" " * 20_000_000))
    assert bomb.stat().st_size < 50_000
    with pytest.raises(LabError, match=r"bomb\.json\.gz.*more than the 5,000,000"):
        files.read_unpacked(tmp_path, bomb, most=5_000_000)
    assert len(files.read_unpacked(tmp_path, bomb, most=20_000_000)) == 20_000_000


def test_links_are_not_followed_out_of_the_folder(store: Store, tmp_path: Path) -> None:
    outside = run_folder(tmp_path / "outside" / "Secret")
    (outside / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    root = tmp_path / "root"
    (root / "Linked").mkdir(parents=True)
    (root / "Linked" / "traj.json").symlink_to(outside / "traj.json")
    (root / "folder").symlink_to(outside)
    (root / "up").symlink_to("..")
    inside = run_folder(root / "Inside")
    (inside / "screenshots").mkdir()
    (inside / "screenshots" / "Inside-0-1.png").symlink_to(outside / "secret.png")
    report = import_paths(store, [root])
    assert report.imported == 1
    assert [failed.path for failed in report.failed] == [str(root / "Linked")]
    assert "leads out of the folder" in report.failed[0].error
    (step,) = store.runs.trace(store.runs.find("Inside")).steps
    assert step.before.image is None
    assert "leads out" in step.extra["screenshot"]


def test_a_pipe_named_like_a_run_does_not_hang(store: Store, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    os.mkfifo(tmp_path / "m" / "traj.json")
    os.mkfifo(tmp_path / "bundle.json")
    (error,) = errors(store, tmp_path)
    assert "is not a file" in error


def test_a_name_that_is_no_text_comes_in(store: Store, tmp_path: Path) -> None:
    try:
        run_folder(Path(os.fsdecode(os.fsencode(tmp_path) + b"/m/T\xff")))
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    assert import_paths(store, [tmp_path]).imported == 1
    assert store.runs.summaries()[0].task == "T\u241budcff"


def test_a_store_that_cannot_be_written_ends_the_import(store: Store, tmp_path: Path) -> None:
    run_folder(tmp_path / "m" / "T")
    with Store.open(store.path, readonly=True) as reader, pytest.raises(LabError, match="read-only"):
        import_paths(reader, [tmp_path])
    assert store.runs.summaries() == []


def changing(found: RunSource, known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Reads runs as knowu does; the picture of the second changes before it is taken in."""
    for i, one in enumerate(KNOWU.read(found, known)):
        assert isinstance(one, Imported)
        yield one if found.path.name != "B" else one._replace(images=_Gone({f"{i}": Blob(b"", "image/png")}))


class _Gone(dict[str, Blob]):
    """Pictures in files that change between reading and storing."""

    def __getitem__(self, key: str) -> Blob:
        raise LabError("shot.png", "has changed while it was read")


def test_a_picture_that_changes_meanwhile_fails_its_run_and_no_other(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ABC":
        run_folder(tmp_path / "m" / name)
    known = formats()
    monkeypatch.setattr("store.runs.run_import.formats", lambda: {**known, "knowu": KNOWU._replace(read=changing)})
    told: list[Outcome] = []
    report = import_paths(store, [tmp_path / "m"], on_run=lambda name, outcome: told.append(outcome))
    assert told == ["imported", "failed", "imported"]
    assert [failed.path for failed in report.failed] == [str(tmp_path / "m" / "B" / "traj.json")]
    assert "shot.png: has changed" in report.failed[0].error
    assert report.formats == {"knowu": Tally(2, 0, 1)}
    assert [run.task for run in store.runs.summaries()] == ["C", "A"]
    assert store.database.read("SELECT count(*) FROM event") == [(6,)]
    assert store.database.read("SELECT count(*) FROM use") == [(0,)]


def test_what_the_file_cannot_keep_fails_its_run_and_no_other(store: Store) -> None:
    def run(id: str, attempt: int) -> Imported:
        task, agent = Task("t", "general"), Actor("script", "x")
        return Imported([Started(seq=0, trace=id, task=task, agent=agent, attempt=attempt)], {}, [])

    first, odd, last = store.runs.add_independently([run("a", 1), run("b", 2**63), run("c", 1)])
    assert (first, last) == (True, True)
    assert isinstance(odd, LabError)
    assert "cannot keep" in odd.message
    assert store.runs.add_independently([run("a", 1), Imported([], {}, [])._replace(events=[])])[0] is False


def test_ctrl_c_keeps_what_is_in_and_says_so(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.runs.run_import._BATCH_RUNS", 1)
    for name in "ABC":
        run_folder(tmp_path / "m" / name)

    def on_run(name: str, outcome: Outcome) -> None:
        if len(store.runs.summaries()) == 2:
            raise KeyboardInterrupt

    report = import_paths(store, [tmp_path / "m"], on_run=on_run)
    assert (report.imported, report.interrupted) == (2, True)
    again = import_paths(store, [tmp_path / "m"])
    assert (again.imported, again.skipped, again.interrupted) == (1, 2, False)


KILLED = """
import os, signal, sys
from pathlib import Path
from store.runs import run_import as importing
from store.store import Store
importing._BATCH_RUNS = 3
store, left = Store.open(Path(sys.argv[1])), int(sys.argv[3])
ticks = 0

def tick():
    global ticks
    ticks += 1
    if ticks == left:
        os.kill(os.getpid(), signal.SIGKILL)

store.database.connection().set_progress_handler(tick, 200)
importing.import_paths(store, [Path(sys.argv[2])], on_run=lambda id, outcome: print(id, flush=True))
print("ticks", ticks)
"""


def killed(db: Path, runs: Path, ticks: int) -> list[str]:
    done = python(KILLED, db, runs, ticks, text=True)
    assert done.returncode == (-signal.SIGKILL if ticks else 0), done.stderr
    printed: list[str] = done.stdout.split("\n")[:-1]
    return printed


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """Eight runs with a picture each, and how long taking them in is."""
    root = tmp_path_factory.mktemp("runs")
    for i in range(8):
        path = run_folder(root / "m" / f"T{i}")
        (path / "screenshots").mkdir()
        (path / "screenshots" / f"T{i}-0-1.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes([i]) * 20_000)
    return root, int(killed(root / "whole.db", root / "m", 0)[-1].split()[1])


@crossed
@pytest.mark.parametrize("kill", spread(range(1, 7), 3))
def test_killed_at_any_moment_whole_runs_are_in_and_the_rest_comes_later(
    tmp_path: Path, eight: tuple[Path, int], kill: int
) -> None:
    root, ticks = eight
    db = tmp_path / "lab.db"
    Store.open(db).close()
    told = killed(db, root / "m", max(1, ticks * kill // 7))
    with Store.open(db) as store:
        assert store.check() == []
        ids = {run.id for run in store.runs.summaries()}
        assert ids >= set(told)
        for id in ids:
            assert [type(event).__name__ for event in store.runs.events(id)] == ["Started", "Step", "Ended"]
            assert all(store.runs.blob(sha256) for sha256 in store.runs.blob_ids(id))
        report = import_paths(store, [root / "m"])
        assert (report.imported, report.skipped) == (8 - len(ids), len(ids))
        assert store.database.read("SELECT count(*) FROM blob") == [(8,)]


UNPRIVILEGED = """
import os, sys
from pathlib import Path
from store.formats import detect, formats
formats()
if os.geteuid() == 0:
    os.setgid(65534); os.setuid(65534)
for found in detect(Path(sys.argv[1])):
    print(type(found).__name__, getattr(found, "error", ""))
"""


def test_an_unreadable_folder_is_reported_and_the_rest_is_found() -> None:
    """As a user without rights, since root may read anywhere."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        run_folder(root / "m" / "T")
        (root / "closed").mkdir(mode=0)
        done = subprocess.run(
            [sys.executable, "-B", "-c", UNPRIVILEGED, name],
            cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert done.stdout.splitlines() == [
        "RunSource ",
        f"FailedRun {root / 'closed'}: cannot be read (Permission denied).",
    ]


CLOSED = """
import os, sys
from pathlib import Path
from store.formats import formats
from store.runs.run_import import import_paths
from store.store import Store
formats()
root = Path(sys.argv[1])
Store.open(root / "lab.db").close()
"x".encode("utf-8-sig")  # the interpreter's own folder may be out of reach later
if os.geteuid() == 0:
    for mine in (root / "closed", root / "lab.db"):
        os.chown(mine, 65534, 65534)
    os.setgid(65534); os.setuid(65534)
with Store.open(root / "lab.db") as store:
    (root / "closed").chmod(0o400)
    report = import_paths(store, [root / "closed", root / "closed" / "traj.json", root / "m"])
    (root / "closed").chmod(0o700)
    print(report.imported, *(failed.error for failed in report.failed), sep="\\n")
"""


def test_a_folder_whose_files_cannot_be_looked_at_is_reported_and_the_rest_comes_in() -> None:
    """Names can be listed in it, and no more; as a user without rights, since root may read anywhere."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o777)
        run_folder(root / "m" / "T")
        run_folder(root / "closed")
        (root / "closed" / "traj.json").rename(root / "closed" / "bundle.json")
        done = subprocess.run(
            [sys.executable, "-B", "-c", CLOSED, name],
            cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True,
        )  # fmt: skip
    imported, *failed = done.stdout.splitlines()
    assert imported == "1"
    assert len(failed) == 2
    assert all("cannot be read (Permission denied)" in error for error in failed)


def test_half_an_export_is_no_run_whatever_format_is_asked_for(store: Store, tmp_path: Path) -> None:
    run_folder(tmp_path / "logs" / ".out.part-123" / "m" / "T")
    run_folder(tmp_path / "logs" / "m" / "U")
    assert import_paths(store, [tmp_path / "logs"], "knowu").imported == 1
    assert [run.task for run in store.runs.summaries()] == ["U"]


def test_pictures_that_a_source_lacks_are_told_and_the_whole_run_comes_in_beside(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, shots = tmp_path / "m" / "T", tmp_path / "m" / "T" / "screenshots"
    shots.mkdir(parents=True)
    (folder / "traj.json").write_text(json.dumps({"0": {"traj": [{**STEP, "step": n} for n in (1, 2, 3)]}}))
    for name, data in (("T-0-1.png", png(salt="1")), ("T-0-3.png", png(salt="3")[:60])):
        (shots / name).write_bytes(data)
    line = ["import", str(tmp_path / "m"), "--db", str(store.path)]
    assert main(line) == 0
    (partial,) = (run.id for run in store.runs.summaries())
    said = capsys.readouterr().err
    assert f"2 pictures are missing or cut short, the first: step 2 of {folder}/traj.json." in said
    assert f"`hitlab runs archive {partial} --db" in said
    incomplete: list[str] = []
    report = import_paths(store, [folder], on_incomplete=incomplete.append)
    assert (report.skipped, incomplete) == (1, [partial])
    (shots / "T-0-2.png").write_bytes(png(salt="2"))
    assert "step 3 of" in import_paths(store, [folder]).fallbacks[0].first
    incomplete.clear()
    (shots / "T-0-3.png").write_bytes(png(salt="3"))
    report = import_paths(store, [folder], on_incomplete=incomplete.append)
    assert (report.imported, incomplete) == (1, [])
    whole = store.runs.summaries()[0].id
    assert (whole + "-incomplete", import_paths(store, [folder]).skipped) == (partial, 1)
    assert [store.runs.find(name) for name in (whole[:13], whole, partial, "T")] == [whole, whole, partial, whole]
    assert all(step.before.image for step in store.runs.trace(whole).steps)
    (shots / "T-0-3.png").unlink()
    with Store.open(tmp_path / "other.db") as other:  # where the whole run is here, one that lacks pictures is it
        other.runs.add_independently([Imported(list(store.runs.events(whole)), {}, [])])
        report = import_paths(other, [folder], on_incomplete=incomplete.append)
        assert (report.skipped, incomplete, len(other.runs.summaries())) == (1, [], 1)


def test_of_a_run_that_was_erased_neither_the_whole_nor_the_incomplete_one_comes_back(
    store: Store, tmp_path: Path
) -> None:
    folder = run_folder(tmp_path / "m" / "T")
    (folder / "traj.json").write_text(json.dumps({"0": {"traj": [{**STEP, "step": n} for n in (1, 2)]}}))
    (folder / "screenshots").mkdir()
    (folder / "screenshots" / "T-0-1.png").write_bytes(png())
    import_paths(store, [folder])
    partial = store.runs.summaries()[0].id
    with store.erasure.erasing() as eraser:
        eraser.erase_runs([partial])
        eraser.insert_tombstone(Tombstone(partial, "withdrawn", Actor("human", "D1"), now()))
    (folder / "screenshots" / "T-0-2.png").write_bytes(png(salt="2"))
    assert "was withdrawn on" in errors(store, folder)[0]
