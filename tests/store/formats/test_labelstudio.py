"""Label Studio's tasks: what its import takes, its labeling config, and the screens that both refer to."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lab.core.run.run_records import Imported, Verdict
from store.file.images import picture_size
from store.formats.labelstudio.writer import CONFIG, PREFIX
from store.runs.run_export import export_runs
from store.store import Store
from tests.screens.runs import BARE, WAITING, WHOLE, bare_run, waiting_run, whole_run


@pytest.fixture
def out(store: Store, tmp_path: Path) -> Path:
    whole = whole_run(hostile=True)
    store.runs.add(whole._replace(verdicts=[Verdict("judge", "HIDDEN-VERDICT", "HIDDEN-REASON")]))
    store.runs.add(bare_run())
    store.runs.add(Imported(waiting_run(), {}, []))
    export_runs(store, [WHOLE, BARE, WAITING], tmp_path / "out", "labelstudio")
    return tmp_path / "out"


def tasks(out: Path) -> dict[str, dict[str, Any]]:
    held = json.loads((out / "tasks.json").read_text("utf-8"))
    assert all(task.keys() == {"data"} for task in held)
    return {task["data"]["run"]: task["data"] for task in held}


def test_one_task_for_each_run_with_a_screen_for_each_step(store: Store, out: Path) -> None:
    found = tasks(out)
    assert list(found) == [WHOLE, BARE, WAITING]
    assert len(found[WHOLE]["screens"]) >= store.runs.summary(WHOLE).steps
    assert set(found[BARE]["screens"]) == {PREFIX + "images/none.png"}
    assert found[WAITING]["turns"][-1]["text"] == "Turn the alarm off?"


def test_every_screen_is_there_under_its_own_hash(out: Path) -> None:
    for data in tasks(out).values():
        for screen in data["screens"]:
            assert screen.startswith(PREFIX)
            path = out / screen.removeprefix(PREFIX)
            assert picture_size(path.read_bytes()) is not None
            assert path.stem in ("none", hashlib.sha256(path.read_bytes()).hexdigest())


def test_the_config_names_what_the_tasks_hold(out: Path) -> None:
    config = ElementTree.fromstring((out / "config.xml").read_text())
    wanted = {value[1:] for tag in config.iter() for value in tag.attrib.values() if value.startswith("$")}
    assert wanted == {"instruction", "screens", "turns"}
    for data in tasks(out).values():
        assert wanted <= data.keys()
        assert all(data[name] for name in wanted)
        assert all(turn.keys() == {"author", "text"} for turn in data["turns"])
    names = [tag.get("name") for tag in config.iter() if tag.get("name")]
    assert len(names) == len(set(names))
    assert {tag.get("toName") for tag in config.iter() if tag.get("toName")} <= set(names)
    paragraphs = config.find(".//Paragraphs")
    assert paragraphs is not None
    assert (paragraphs.get("nameKey"), paragraphs.get("textKey")) == ("author", "text")


def test_label_studio_itself_takes_both(out: Path) -> None:
    interface = pytest.importorskip("label_studio_sdk.label_interface").LabelInterface(CONFIG)
    interface.validate()
    assert all(interface.validate_task({"data": data}) for data in tasks(out).values())


def test_what_a_rater_must_not_see_is_not_in_it(out: Path) -> None:
    text = (out / "tasks.json").read_text("utf-8")
    assert "HIDDEN" not in text
    assert "score" not in text
    assert all(
        data.keys() == {"run", "task", "kind", "instruction", "screens", "turns"} for data in tasks(out).values()
    )


def test_a_strangers_text_is_plain(out: Path) -> None:
    for data in tasks(out).values():
        for turn in data["turns"]:
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", turn["text"] + turn["author"])


def test_the_readme_says_how_it_is_loaded(out: Path) -> None:
    text = (out / "README.txt").read_text()
    assert "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED" in text
    assert "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT" in text
