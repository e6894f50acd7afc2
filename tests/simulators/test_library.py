"""Tasks, personas and scripts by name or by file, and what is said of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.core.errors import LabError
from simulators import library


def test_names_and_paths_both_lead_to_a_task(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(library.tasks()["poster_kit"].read_bytes())
    assert library.task(str(path)).id == "mine"
    assert library.task("poster_kit").id == "poster_kit"
    with pytest.raises(LabError, match="poster_kit"):
        library.task("poster_kt")
    with pytest.raises(LabError, match="is not there"):
        library.task("gone/poster_kit.yaml")
    with pytest.raises(LabError, match="ines"):
        library.persona("inez")
    with pytest.raises(LabError) as refused:
        library.task("zzz")
    assert "near" not in refused.value.message
    assert "`hitlab tasks list`" in refused.value.hint
    with pytest.raises(LabError) as refused:
        library.script("my_task")
    assert "--user script:FILE" in refused.value.hint
    assert library.script("usual_lunch.refuse").id == "usual_lunch.refuse"


def test_a_path_that_cannot_be_read_is_told_when_the_task_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("kind: general\ninstruction: do it\nchecks: [{name: broken, path: 'a[', count: 1}]\n")
    with pytest.raises(LabError, match="broken"):
        library.task(str(path))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("phone: {battery: lots}", "battery"),
        ("phone: {apps: {food: 3}}", "apps.food"),
        ("time: yesterday", "yesterday"),
        ("persona: nobody", "nobody"),
    ],
)
def test_a_task_file_is_tried_whole_and_named(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"kind: general\ninstruction: Open the notes\n{line}\n")
    with pytest.raises(LabError, match=words) as caught:
        library.task(str(path))
    assert caught.value.title == f"task file {path}"


def test_a_folder_is_not_a_task() -> None:
    with pytest.raises(LabError, match="is a folder"):
        library.task(str(library.HERE))


def test_a_persona_s_own_phone_lies_below_what_a_task_lays() -> None:
    task = library.task("cheaper_lamp")
    apps = task.phone["apps"]
    assert apps["settings"]["font_size"] == "largest"
    assert apps["marrowby"]["threshold"] == 40.0
    assert apps["marrowby"]["address"] == "Clara"
