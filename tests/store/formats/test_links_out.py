"""A link that leads out of what is imported is never opened, and nothing put in a file's place is read for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.core.errors import LabError
from store.formats.files import read_unpacked, read_within
from store.formats.stream import FileStream
from tests.bounded import bounded

SECRET = b'{"T": {"result": "score: 1.0", "traj": [{"task_goal": "SECRET", "action": {"action_type": "wait"}}]}}'
RUN_FILES = ("traj.json", "run.jsonl", "log.json", "action.jsonl", "trace.jsonl", "trajectory.json", "macro.json")


def test_a_link_that_leads_out_is_not_opened_to_see_what_it_is(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "in"
    outside.mkdir()
    (outside / "secret").write_bytes(SECRET)
    names = [*(f"{name.partition('.')[0]}_{i}/{name}" for i, name in enumerate(RUN_FILES)),
             "bundle.json", "t.pkl.gz", "log.eval", "android_control-00000-of-00020", "2025-01-01/a.json"]  # fmt: skip
    for name in names:
        (inside / name).parent.mkdir(parents=True, exist_ok=True)
        (inside / name).symlink_to(outside / "secret")
    done = bounded("import", "in", "--db", "x.db", "--json", cwd=tmp_path, watched=outside.resolve())
    assert "OPENED" not in done.err, done.err
    told = json.loads(done.out)
    assert told["imported"] == 0
    assert "leads out of the folder" in "".join(failed["error"] for failed in told["failed"])
    assert not (tmp_path / "x.db").exists()


@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_what_is_put_in_a_file_s_place_after_it_was_looked_at_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "in" / "run"
    for path, words in ((outside, SECRET), (folder, b"{}")):
        path.mkdir(parents=True)
        (path / "a.json").write_bytes(words)
    resolve = Path.resolve

    def swap(path: Path, strict: bool = False) -> Path:
        found = resolve(path, strict)
        if path.name == "a.json":
            monkeypatch.setattr(Path, "resolve", resolve)
            place = folder if swapped == "folder" else folder / "a.json"
            place.rename(tmp_path / "gone")
            place.symlink_to(outside if swapped == "folder" else outside / "a.json")
        return found

    for read in (read_within, read_unpacked, lambda root, path: FileStream(path, root).__enter__()):
        monkeypatch.setattr(Path, "resolve", swap)
        with pytest.raises(LabError, match="cannot be read"):
            read(tmp_path / "in", folder / "a.json")
        place = folder if swapped == "folder" else folder / "a.json"
        place.unlink()
        (tmp_path / "gone").rename(place)


def test_a_link_within_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "in" / "blobs").mkdir(parents=True)
    (tmp_path / "in" / "blobs" / "x").write_bytes(SECRET)
    (tmp_path / "in" / "bundle.json").symlink_to("blobs/x")
    done = bounded("import", "in", "--db", "x.db", "--json", cwd=tmp_path)
    assert json.loads(done.out)["imported"] == 1
