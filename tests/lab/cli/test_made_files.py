"""Who may read what commands make: the owner alone, unless the settings say otherwise."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lab.core.values.made_files import PRIVATE, set_file_mode
from store.store import Store
from tests.replied import Hitlab, hitlab, keep, replied
from tests.studies import frozen, unit


@pytest.fixture
def call(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Hitlab]:
    """Over a database in a folder that is not there yet, with a umask that keeps nothing from anybody."""
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home" / name))
    monkeypatch.setenv("HITLAB_PERSON", "D01")
    umask = os.umask(0)
    yield hitlab(tmp_path / "made" / "lab.db", capsys, monkeypatch)
    os.umask(umask)
    set_file_mode(PRIVATE)


def modes(*tops: Path) -> dict[str, int]:
    """The mode of each file and folder from here on."""
    paths = [path for top in tops for path in (top, *top.rglob("*"))]
    return {str(path): stat.S_IMODE(path.stat().st_mode) for path in paths}


def make_all(call: Hitlab, folder: Path) -> list[Path]:
    """Everything that commands write by name, of each kind."""
    (folder / "made").mkdir(mode=0o755)
    db = folder / "made" / "lab.db"
    keep(db, replied("run-a"))
    with Store.open(db) as store:
        frozen(store, [unit("u", runs=("run-a",))])
    out = folder / "out"
    formats = ("jsonl", "knowu", "dac", "fingertip", "labelstudio", "csv")
    for words in (
        ("pack", f"{out}.pack.db"), ("pack", f"{out}.small.db", "--no-images"),
        ("study", "kit", "trial", "--rater", "R2", "--out", f"{out}.kit.db"),
        *(("export", "run-a", "--format", format, "--out", f"{out}.{format}") for format in formats),
        ("report", "trial", "--out", f"{out}.html"), ("agreement", "trial"),
    ):  # fmt: skip
        code, _, err = call(*words)
        assert code in (0, 1), (words, err)
    return [path for path in folder.iterdir() if path.name.startswith("out.")] + [folder / "home"]


def test_what_commands_make_is_for_its_owner_alone(call: Hitlab, tmp_path: Path) -> None:
    made = make_all(call, tmp_path)
    names = {path.name for path in made}
    assert names >= {
        "out.pack.db",
        "out.small.db",
        "out.kit.db",
        "out.jsonl",
        "out.labelstudio",
        "out.csv",
        "out.html",
    }, names
    with Store.open(tmp_path / "made" / "lab.db") as store:
        store.runs.save_draft("run-a", "q0", "said")
        held = modes(*made, *(path for path in (tmp_path / "made").iterdir()))
    assert {name.rpartition("lab.db")[2] for name in held if "lab.db" in name} == {"", "-wal", "-shm"}
    assert {name: mode for name, mode in held.items() if mode & 0o077} == {}
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o755, "a folder that was there keeps its mode"


@pytest.mark.parametrize(("setting", "file", "folder"), [("640", 0o640, 0o750), ("umask", 0o664, 0o775)])
def test_a_setting_says_who_else_may_read(
    call: Hitlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, file: int, folder: int
) -> None:
    os.umask(0o002)
    monkeypatch.setenv("HITLAB_FILE_MODE", setting)
    (tmp_path / "made").mkdir()
    keep(tmp_path / "made" / "lab.db", replied("run-a"))
    out = tmp_path / "out"
    assert call("export", "run-a", "--out", str(out))[0] == 0
    assert call("pack", str(tmp_path / "pack.db"))[0] == 0
    assert {mode for name, mode in modes(out).items() if Path(name).is_dir()} == {folder}
    assert {mode for name, mode in modes(out, tmp_path / "pack.db").items() if Path(name).is_file()} == {file}


def test_a_file_that_was_there_keeps_its_mode(call: Hitlab, tmp_path: Path) -> None:
    db = tmp_path / "made" / "lab.db"
    db.parent.mkdir()
    keep(db, replied("run-a"))
    db.chmod(0o664)
    assert call("archive", "run-a")[0] == 0
    with closing(Store.open(db)) as store:
        store.runs.save_draft("run-a", "q0", "said")
        assert {path.name: mode for path in db.parent.iterdir() if (mode := stat.S_IMODE(path.stat().st_mode))} == {
            "lab.db": 0o664, "lab.db-wal": 0o664, "lab.db-shm": 0o664,
        }  # fmt: skip
