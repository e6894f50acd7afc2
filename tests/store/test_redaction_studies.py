"""Words that are redacted from a run go from studies, too: items, answers, notes and reasons, and from every copy."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab.core.redaction.text_redaction import MASK
from lab.core.run.run_records import Blob, Imported
from lab.core.task.task import Actor
from store.store import Store
from tests.replied import REPLY, TYPED, Hitlab, answers, bytes_of, hitlab, keep, replied


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "lab.db"
    keep(path, replied(), replied("run-other", by=Actor("human", "P08"), said="another reply", typed="nothing"))
    return path


@pytest.fixture
def call(db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hitlab:
    """The command line over that file, with a study of its replies that R1 has answered, quoting one."""
    run = hitlab(db, capsys, monkeypatch)
    assert run("study", "new", "reply-support", "--runs", "all", "--raters", "R1,R2")[0] == 0
    assert run("study", "deal", "reply-support")[0] == 0
    given = answers(shown(run), f"she says {REPLY}")
    assert run("label", "reply-support", "--as", "R1", stdin=given)[0] == 0
    return run


def shown(run: Hitlab) -> Any:
    code, out, err = run("study", "show", "reply-support", "--json")
    assert code == 0, err
    return json.loads(out)


def redact(run: Hitlab, words: str = REPLY, of: str = "run-said") -> Any:
    code, out, err = run("privacy", of, "--text", words, "--json")
    assert code == 0, err
    return json.loads(out)


def test_an_item_that_quotes_a_redacted_reply_and_notes_that_do_are_covered(db: Path, call: Hitlab) -> None:
    assert REPLY.encode() in bytes_of(db)
    done = redact(call)
    assert (done["items"], done["answers"]) == (1, 2)
    assert REPLY.encode() not in bytes_of(db)
    with Store.open(db) as store:
        units = store.studies.units(store.studies.study("reply-support"))
        assert [given.text for unit in units for given in unit.given if given.title == "Reply"] == [
            MASK,
            "another reply",
        ]
    notes = json.loads(call("labels", "reply-support", "--json")[1])["labels"]
    assert [one["note"] for one in notes] == [f"she says {MASK}"] * 2
    assert call("privacy", "--wipe")[0] == 0


def test_words_in_a_note_on_the_run_count_as_words_of_it(call: Hitlab) -> None:
    done = redact(call, "she says")
    assert (done["texts"] > 0, done["answers"]) == (True, 2)
    assert call("privacy", done["trace"], "--text", "she says")[0] == 1


def test_an_item_is_about_the_run_that_stands_there_now(db: Path, call: Hitlab) -> None:
    new = redact(call)["replaced"]["run-said"]
    assert {run for unit in shown(call)["units"] for run in unit["runs"]} == {new, "run-other"}
    assert [unit["id"] for unit in shown(call)["units"]] == ["run-said@1", "run-other@1"]


def test_a_kit_made_afterwards_holds_nothing_of_it(db: Path, call: Hitlab, tmp_path: Path) -> None:
    redact(call)
    kit = tmp_path / "R1.db"
    assert call("study", "kit", "reply-support", "--rater", "R1", "--out", str(kit))[0] == 0
    assert REPLY.encode() not in bytes_of(kit)
    assert call("study", "take", str(kit))[0] == 0


def test_a_kit_made_before_brings_nothing_back_and_all_that_was_answered_in_it(
    db: Path, call: Hitlab, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = tmp_path / "R2.db"
    assert call("study", "kit", "reply-support", "--rater", "R2", "--out", str(kit))[0] == 0
    given = answers(shown(call), f"I read {REPLY}")
    assert hitlab(kit, capsys, monkeypatch)("label", "reply-support", "--as", "R2", stdin=given)[0] == 0
    redact(call)
    code, _, err = call("study", "take", str(kit))
    assert code == 0, err
    assert REPLY.encode() not in bytes_of(db)
    labels = [one for one in json.loads(call("labels", "reply-support", "--json")[1])["labels"] if one["rater"] == "R2"]
    assert [one["note"] for one in labels] == [f"I read {MASK}"] * 2


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_copy_that_was_not_redacted_brings_nothing_back(
    db: Path, call: Hitlab, tmp_path: Path, order: tuple[int, int], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    other = tmp_path / "other.db"
    shutil.copy(db, other)
    elsewhere = hitlab(other, capsys, monkeypatch)
    given = answers(shown(elsewhere), f"R2 reads {REPLY}")
    assert elsewhere("label", "reply-support", "--as", "R2", stdin=given)[0] == 0
    redact(call)
    whole = tmp_path / "whole" / "whole.db"
    whole.parent.mkdir()
    files = [(db, other)[at] for at in order]
    merged = hitlab(whole, capsys, monkeypatch)
    code, _, err = merged("merge", *map(str, files))
    assert code == 0, err
    assert REPLY.encode() not in bytes_of(whole)
    notes = json.loads(merged("labels", "reply-support", "--json")[1])["labels"]
    assert sorted(one["note"] for one in notes) == [f"R2 reads {MASK}"] * 2 + [f"she says {MASK}"] * 2
    again = merged("merge", *map(str, files), "--json")
    assert json.loads(again[1])["came"] == {}
    assert hitlab(other, capsys, monkeypatch)("merge", str(db))[0] == 0
    assert REPLY.encode() not in bytes_of(other)


def test_where_the_words_still_stand_is_told(db: Path, call: Hitlab) -> None:
    with Store.open(db) as store:
        later: Imported = replied("run-later", by=Actor("human", "P08"), said=f"as above: {TYPED}", typed="other")
        store.runs.add(later)
        state = Blob(f'{{"clipboard": "{TYPED}"}}'.encode(), "application/json")
        unshown = replied("run-unshown", by=Actor("human", "P08"), said="another reply", typed="other")
        begun = msgspec.structs.replace(unshown.events[0], state=state.sha256)
        store.runs.add(unshown._replace(events=[begun, *unshown.events[1:]], images={state.sha256: state}))
    done = redact(call, TYPED)
    assert done["left"] == ["run-later", "run-unshown"]
    told = call("privacy", done["replaced"]["run-said"], "--text", "zoreply")[1]
    assert "the words still stand" not in told


def test_a_run_that_was_covered_is_not_named_for_a_word_of_our_own(db: Path, call: Hitlab) -> None:
    """Typing is `input_text` in every run; nothing of that is a person's, and it cannot be covered."""
    with Store.open(db) as store:
        store.runs.add(replied("run-later", by=Actor("human", "P08"), said="an input text", typed="other"))
    assert redact(call, "input text", of="run-later")["left"] == ["run-said", "run-other"]
