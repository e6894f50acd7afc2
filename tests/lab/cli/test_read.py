"""`hitlab runs ocr`: the words of runs are read from their pictures before anybody looks at them."""

from __future__ import annotations

import json
import os
from io import BytesIO
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from PIL import Image

from lab.cli.main import main
from lab.cli.settings.schemas import schemas
from lab.core.run.trace import Step
from lab.core.study.study import Unit
from lab.ocr import engine
from lab.ocr.reader import TextReader, cache_folder
from store.store import Store
from tests.crossed import crossed
from tests.pictured_runs import RUN, pictured_run, screen, two_pictures
from tests.read_once import read_once
from tests.studies import study

__all__ = ["read_once"]
pytestmark = crossed


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file with one run of pictures."""
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    path = tmp_path / "lab.db"
    with Store.open(path) as store:
        store.runs.add(pictured_run())
        store.studies.freeze(study([Unit("u1", (RUN,))], id="s", raters=("R1",)), [Unit("u1", (RUN,))])
    return str(path)


def printed(capsysbinary: pytest.CaptureFixture[bytes], *words: str, code: int) -> Any:
    assert main([*words, "--json"]) == code
    out = json.loads(capsysbinary.readouterr().out)
    jsonschema.validate(out, msgspec.json.schema(schemas()["read"]))
    return out


def test_each_picture_is_read_once_and_known_from_then_on(db: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    before = Path(db).read_bytes()
    first = printed(capsysbinary, "read", "pictured", "--db", db, code=3)
    assert first == {
        "engine": engine.engine_name(), "runs": 1, "pictures": 2, "known": 0, "read": 1,
        "unread": [{"run": RUN, "step": 5, "why": "is not in this file."}],
    }  # fmt: skip
    text = TextReader().stored_text(screen("settings")[0].sha256)
    assert text is not None
    assert len(text.lines) > 8
    assert TextReader().stored_text(screen("clock")[0].sha256) is None, "its phone said what is on it"
    for words in (["--study", "s"], ["--all"]):
        again = printed(capsysbinary, "read", *words, "--db", db, code=3)
        assert (again["known"], again["read"]) == (1, 0)
    assert main(["read", RUN, "--db", db]) == 3
    said = capsysbinary.readouterr().out.decode()
    assert "0 pictures of 1 run read" in said
    assert f"{RUN}@5: is not in this file." in said
    assert Path(db).read_bytes() == before, "what was read is in no hitlab file"


def test_what_is_refused_is_a_sentence(
    db: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for words, code, sentence in (
        ([], 2, "takes runs, --study or --all"),
        ([RUN, "--all"], 2, "takes runs, --study or --all"),
        (["nosuch"], 1, "run nosuch: is not in"),
        (["--study", "nosuch"], 1, "study nosuch: is not in"),
    ):
        assert main(["read", *words, "--db", db]) == code
        assert sentence in capsys.readouterr().err
    monkeypatch.setenv("HITLAB_SEAT", "rater")
    assert main(["read", RUN, "--db", db]) == 1
    assert "is not there for the seat rater" in capsys.readouterr().err


def test_without_the_extra_its_name_is_said(
    db: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    engine.engine_name.cache_clear()
    try:
        assert main(["read", RUN, "--db", db]) == 2
    finally:
        engine.engine_name.cache_clear()
    assert "pip install 'hitlab[ocr]'" in capsys.readouterr().err


def test_what_was_read_goes_with_what_is_erased(db: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["read", RUN, "--db", db]) == 3
    assert list(cache_folder().rglob("*.json"))
    assert main(["privacy", "--wipe", "--db", db]) == 0
    assert not list(cache_folder().rglob("*"))
    for folder, _, names in os.walk(tmp_path):
        for name in names:
            path = Path(folder, name)
            assert path.suffix.startswith(".db") or b"Battery" not in path.read_bytes(), path


def test_private_words_in_a_picture_without_a_tree_are_painted_over(
    db: str, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(db).unlink()
    with Store.open(Path(db)) as store:
        store.runs.add(two_pictures())
    redact = ["privacy", "pictured-2", "--text", "Heron Walk", "--as", "D1", "--db", db, "--json"]
    blob, _ = screen("settings")
    reader = TextReader()
    line = next(one for one in reader.read(blob.sha256, blob.data).lines if "Heron Walk" in one.text)
    assert main(redact) == 0
    done = json.loads(capsysbinary.readouterr().out)
    assert (done["read"], done["unseen"], done["pictures"]) == (2, 0, 1)
    assert not list(cache_folder().rglob("*")), "what was read holds what was covered"
    with Store.open(Path(db)) as store:
        event = next(event for event in store.runs.events(done["trace"]) if isinstance(event, Step))
        covered = store.runs.blob(event.before.image or "")
    assert covered is not None
    assert covered.sha256 != blob.sha256
    try:
        said = " ".join(one.text for one in reader.read(covered.sha256, covered.data).lines)
    finally:
        reader.close()
    assert "Heron" not in said
    assert "Bluetooth" in said
    with Image.open(BytesIO(covered.data)) as after, Image.open(BytesIO(blob.data)) as before:
        assert after.convert("RGB").crop(line.box).getcolors(1) is not None
        below = (0, line.box.bottom + 60, 1080, 2400)
        assert after.convert("RGB").crop(below).tobytes() == before.convert("RGB").crop(below).tobytes()


def test_where_words_are_not_read_privacy_says_which_pictures_are_left(
    db: str, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HITLAB_OCR", "false")
    assert main(["privacy", RUN, "--text", "Heron Walk", "--as", "D1", "--db", db, "--json"]) == 1
    refused = json.loads(capsysbinary.readouterr().out)
    assert refused["message"] == f'the words "Heron Walk" occur nowhere in run {RUN}; nothing was done.'
    assert refused["hint"] == "Words in 2 pictures without a tree could not be read: draw boxes there."
    assert main(["privacy", RUN, "--text", "Mute", "--as", "D1", "--db", db, "--json"]) == 0
    done = json.loads(capsysbinary.readouterr().out)
    assert (done["read"], done["unseen"]) == (0, 2)
