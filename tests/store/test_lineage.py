"""What is erased from a run is erased from all that repeat it: played again, forked, read in from an export."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from lab.core.run.run_records import Imported, number_events
from lab.core.run.trace import AnyEvent, Forked, Resumed, Source, Started
from lab.core.task.task import Actor
from store.store import Store
from tests.replied import REPLY, TYPED, Hitlab, bytes_of, hitlab, keep, replied

RULE = Actor("script", "rule")


def playing(id: str, of: str, **changes: object) -> Imported:
    """A run in which a recorded agent plays another again, for somebody else."""
    run = replied(id, by=Actor("human", "P08"), agent=Actor("script", f"recorded:{of}"), said="yes")
    first = run.events[0]
    assert isinstance(first, Started)
    return run._replace(events=[replace(first, **changes), *run.events[1:]])


def resumed(id: str, of: str) -> Imported:
    """A run of the playbook agent with which a recorded one went on."""
    run = replied(id, by=Actor("human", "P08"), said="yes")
    went_on: AnyEvent = Resumed(by=Actor("script", f"recorded:{of}"))
    return run._replace(events=number_events([*run.events[:4], went_on, *run.events[4:]]))


COPIES = {
    "run-again": playing("run-again", "run-said"),
    "run-twice": playing("run-twice", "run-again"),
    "run-went": resumed("run-went", "run-said"),
    "run-fork": playing("run-fork", "rule", agent=RULE, parent="run-again", forked=Forked(1, 3)),
}
"""Runs that hold what was typed in `run-said`, and nobody's name who typed it."""


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "lab.db"
    other = replied("run-other", by=Actor("human", "P08"), said="something else", typed="nothing of theirs")
    keep(path, replied(), *COPIES.values(), other)
    return path


@pytest.fixture
def call(db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hitlab:
    return hitlab(db, capsys, monkeypatch)


def runs(call: Hitlab) -> set[str]:
    return {one["id"] for one in json.loads(call("traces", "--json")[1])}


def test_runs_that_play_theirs_again_are_told_and_go_with_them(db: Path, call: Hitlab) -> None:
    looked = json.loads(call("withdraw", "P07", "--show", "--json")[1])
    assert set(looked["runs"]) == {"run-said", *COPIES}
    assert looked["counts"]["copies"] == len(COPIES)
    assert "only repeat others" in call("withdraw", "P07", "--show")[1]
    assert call("withdraw", "P07", "--yes")[0] == 0
    assert runs(call) == {"run-other"}
    held = bytes_of(db)
    assert REPLY.encode() not in held
    assert TYPED.encode() not in held


def test_redacted_words_go_from_runs_that_play_it_again(db: Path, call: Hitlab) -> None:
    done = json.loads(call("privacy", "run-said", "--text", TYPED, "--json")[1])
    assert set(done["replaced"]) == {"run-said", *COPIES}
    assert TYPED.encode() not in bytes_of(db)
    new = done["replaced"]
    agents = {one["id"]: one["agent"] for one in json.loads(call("traces", "--json")[1])}
    assert agents[new["run-again"]] == f"recorded:{new['run-said']}"
    assert agents[new["run-twice"]] == f"recorded:{new['run-again']}"
    again = json.loads(call("privacy", new["run-twice"], "--text", "To whom", "--json")[1])
    assert len(again["replaced"]) == 1 + len(COPIES)


def test_a_run_that_was_played_again_here_goes_too(db: Path, call: Hitlab) -> None:
    words = ("live", "morning_coffee", "--headless", "--agent", "recorded:run-said", "--pace", "0", "--json")
    code, _, err = call(*words)
    assert code == 0, err
    made = runs(call) - {"run-said", "run-other", *COPIES}
    assert len(made) == 1
    with Store.open(db) as store:
        assert TYPED in str(store.runs.trace(next(iter(made))).steps)
    assert call("withdraw", "P07", "--yes")[0] == 0
    assert runs(call) == {"run-other"}
    assert TYPED.encode() not in bytes_of(db)


def test_a_copy_that_was_read_in_from_another_format_goes_too(db: Path, call: Hitlab) -> None:
    from tests.withdrawals import noise

    shot = noise(3)
    run = replied("run-seen", image=shot.sha256)._replace(images={shot.sha256: shot})
    copy = replied("run-read", by=Actor("human", "user"), image=shot.sha256, source=Source("knowu", "logs/t"))
    same_screen = replied(
        "run-screen", by=Actor("human", "user"), said="other", typed="other", image=shot.sha256,
        source=Source("knowu", "logs/u"),
    )  # fmt: skip
    keep(db, run, copy, same_screen)
    assert call("withdraw", "P07", "--yes")[0] == 0
    assert runs(call) == {"run-other", "run-screen"}


@pytest.mark.parametrize("format", ["dac", "fingertip"])
def test_a_copy_that_keeps_no_dialogue_goes_too(db: Path, call: Hitlab, tmp_path: Path, format: str) -> None:
    folder = str(tmp_path / "out")
    assert call("export", "run-said", "run-other", "--format", format, "--out", folder)[0] == 0
    before = runs(call)
    assert call("import", folder)[0] == 0
    assert len(runs(call) - before) == 2
    assert call("withdraw", "P07", "--yes")[0] == 0
    left = runs(call)
    assert "run-other" in left
    assert len(left - before) == 1
    assert TYPED.encode() not in bytes_of(db)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_copy_elsewhere_does_not_come_back(
    db: Path, call: Hitlab, tmp_path: Path, order: tuple[int, int], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    other = tmp_path / "other.db"
    keep(other, *COPIES.values(), replied("run-more", by=Actor("human", "P08"), typed="more"))
    only = tmp_path / "only.db"
    shutil.copy(db, only)
    with Store.open(only) as store, store.erasure.erasing() as eraser:
        eraser.erase_runs(list(COPIES))
    assert hitlab(only, capsys, monkeypatch)("withdraw", "P07", "--yes")[0] == 0
    whole = tmp_path / "whole" / "whole.db"
    whole.parent.mkdir()
    merged = hitlab(whole, capsys, monkeypatch)
    code, _, err = merged("merge", *(str((only, other)[at]) for at in order))
    assert code == 0, err
    assert runs(merged) == {"run-other", "run-more"}
    assert TYPED.encode() not in bytes_of(whole)


def test_an_exported_copy_is_not_taken_in_again(db: Path, call: Hitlab, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert call("export", "run-again", "run-other", "--out", str(folder))[0] == 0
    assert call("withdraw", "P07", "--yes")[0] == 0
    with Store.open(db) as store, pytest.raises(Exception, match="run-said: was withdrawn"):
        store.runs.add(playing("run-third", "run-said"))
    code, out, _ = call("import", str(folder), "--json")
    assert code != 0
    assert json.loads(out)["imported"] == 0
    assert runs(call) == {"run-other"}
