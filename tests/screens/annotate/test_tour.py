"""From an empty folder to two locked studies: runs from the phone, two raters, keys alone, killed on the way."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest

from lab.cli.main import main
from lab.core.study.label import Label
from lab.core.study.study import Study
from store.store import Store
from tests.lab.programs import program
from tests.screens.annotate.terminal import ENTER, ESC, RIGHT, Terminal, opened

WORLD = Path(__file__).parents[3].parent / "shared" / "traces" / "mobileworld" / "runs" / "gpt-5.5"
RATERS = ("R1", "R2")
LAZY = 'observed()\nsay(kind="status", status="complete")\n'
"""An agent that says at once that it is done."""


def hitlab(*words: str, code: int = 0) -> str:
    """A command's words, said by the program itself."""
    said, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
        ended = main([*words])
    assert ended == code, (words, said.getvalue(), wrong.getvalue())
    return said.getvalue() + wrong.getvalue()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    empty = tmp_path / "study"
    empty.mkdir()
    monkeypatch.chdir(empty)
    return empty


def worked(folder: Path) -> Path:
    """Runs of the embedded phone, one that succeeds and one that fails, and published ones where there are any."""
    db = folder / "study.db"
    hitlab("run", "way_home", "--db", str(db))
    hitlab("run", "way_home", "--agent", program(folder, LAZY), "--db", str(db))
    if WORLD.is_dir():
        hitlab("import", str(WORLD), "--db", str(db))
    return db


def of(store: Store, study: Study, rater: str) -> list[Label]:
    return list(store.labels.read(study, rater=rater))


def done(store: Store, study: Study, rater: str) -> int:
    return store.studies.progress(study, rater).done


def looked_at(store: Store, study: Study, rater: str) -> str:
    """The place beside the sheet when it was kept last."""
    places = [str(act.detail.get("place", "")) for act in store.labels.acts(study, rater) if act.act == "looked"]
    return places[-1] if places else ""


def answered(terminal: Terminal, store: Store, study: Study, rater: str, key: bytes) -> Label:
    """One key, and the label that was on the disk after it."""
    before = len(of(store, study, rater))
    terminal.give(key, lambda: len(of(store, study, rater)) == before + 1)
    return of(store, study, rater)[-1]


def rated(terminal: Terminal, store: Store, study: Study, rater: str, key: bytes) -> None:
    """All that is left to this rater, each item by the same key, each unit handed in by Enter."""
    while (left := store.studies.next_assignment(study, rater, -1)) is not None:
        while store.labels.sheet(study, store.studies.unit(study, left.unit), rater).unanswered:
            answered(terminal, store, study, rater, key)
        if any(not field.required and field.kind != "flag" for field in study.protocol.fields):
            terminal.press(ENTER)  # the question that may stay open is come by, and left open
            terminal.see("Left open")
        handed = done(store, study, rater)
        terminal.give(ENTER, lambda handed=handed: done(store, study, rater) == handed + 1)  # type: ignore[misc]
        if study.protocol.id == "tdg":
            terminal.see("What follows")
            terminal.press(ENTER)
        terminal.see("Hand in" if store.studies.next_assignment(study, rater, -1) else "Thank you")


def test_a_study_from_an_empty_folder_to_its_lock(folder: Path) -> None:
    db = worked(folder)
    raters = ["--raters", ",".join(RATERS), "--overlap", "2", "--introduction", "none", "--db", str(db)]
    hitlab("study", "new", "tdg", "--name", "graphs", "--runs", "all", *raters)
    hitlab("study", "new", "memgui-failures", "--runs", "all", "--even-so", *raters)
    hitlab("study", "deal", "graphs", "--db", str(db))
    hitlab("study", "deal", "memgui-failures", "--db", str(db))
    assert "left" in hitlab("study", "lock", "graphs", "--db", str(db), code=1)
    with Store.open(db) as store:
        graphs, failures = store.studies.study("graphs"), store.studies.study("memgui-failures")
        assert graphs.units == 2
        killed_in_the_middle(store, graphs, folder)
        for rater, key, size in (("R1", b"1", (80, 24)), ("R2", b"2", (120, 40))):
            with opened(db, folder, "graphs", rater, size) as terminal:
                terminal.see("Hand in")
                if rater == "R1":
                    resumed(terminal, store, graphs)
                rated(terminal, store, graphs, rater, key)
                left = store.studies.progress(failures, rater).dealt
                terminal.press(ESC)  # the shelf, whose cursor is on the study with something left
                terminal.see(f"rate {left} more", "Enter: rate in this study")
                terminal.press(ENTER)
                terminal.see("Hand in")
                rated(terminal, store, failures, rater, key)
                assert terminal.leave() == 0
            assert store.studies.next_assignment(failures, rater, -1) is None
        as_meant(store, graphs)
        reasons = [label.value for label in store.labels.read(failures)]
        assert set(reasons) == {"intent_misunderstanding", "knowledge_deficiency"}
        assert len(reasons) == 2 * len({label.unit for label in store.labels.read(failures)}) >= 2
    for id in ("graphs", "memgui-failures"):
        hitlab("study", "lock", id, "--db", str(db))
    locked(db, folder)


def killed_in_the_middle(store: Store, study: Study, folder: Path) -> None:
    """R1's first unit is cut off after two answers, beside the second step."""
    with opened(store.path, folder, study.id, "R1") as terminal:
        terminal.see("Hand in")
        kept = [answered(terminal, store, study, "R1", b"1")]
        terminal.press(RIGHT)
        terminal.until(lambda: looked_at(store, study, "R1").endswith("@2"), "the second step")
        kept.append(answered(terminal, store, study, "R1", b"2"))
        terminal.kill()
    nodes = of_first(store, study)
    assert [(label.target, label.value) for label in kept] == [(nodes[0], "completed"), (nodes[1], "not_completed")]
    assert of(store, study, "R1") == kept
    assert {label.unit for label in kept} == {next_unit(store, study)}


def resumed(terminal: Terminal, store: Store, study: Study) -> None:
    """It goes on at the same item, beside the same step."""
    terminal.see("1 of 2")
    third = answered(terminal, store, study, "R1", b"1")
    assert third.unit == next_unit(store, study)
    assert third.target == of_first(store, study)[2]
    assert third.evidence is not None
    assert third.evidence.endswith("@2")
    terminal.resize(120, 40)
    terminal.press(ESC)  # to the shelf, and back by Enter: nothing is lost by it
    terminal.see("rate 2 more", "Enter: rate in this study")
    terminal.press(ENTER)
    terminal.see("Hand in")
    back = answered(terminal, store, study, "R1", b"z")
    again = answered(terminal, store, study, "R1", b"1")
    assert (back.undoes, again.target) == (third.id, third.target)


def next_unit(store: Store, study: Study) -> str:
    """What R1 has to rate first."""
    first = store.studies.next_assignment(study, "R1", -1)
    assert first is not None
    return first.unit


def of_first(store: Store, study: Study) -> list[str]:
    """What is asked of it."""
    return [target.id for target in store.studies.unit(study, next_unit(store, study)).targets]


def as_meant(store: Store, study: Study) -> None:
    """Each rater has said of every node of every run what their keys said, and R1's two first stand as they were."""
    for rater, value in (("R1", "completed"), ("R2", "not_completed")):
        for unit in store.studies.units(study):
            sheet = store.labels.sheet(study, unit, rater)
            assert sheet.committed
            said = [sheet.value(spot) for spot in sheet.spots if spot.field == "state"]
            assert len(said) == len(unit.targets)
            others = [one for one in said if one != value]
            assert others == [] or (rater == "R1" and others == ["not_completed"])


def locked(db: Path, folder: Path) -> None:
    """Nothing is taken after the lock: neither on a screen nor by a command."""
    assert "is locked; nothing in it changes" in hitlab(
        "study", "open", "graphs", "--as", "R1", "--db", str(db), code=1
    )
    line = folder / "more.jsonl"
    with Store.open(db) as store:
        study = store.studies.study("graphs")
        unit, before = next(iter(store.studies.units(study))), list(store.labels.read(study))
    line.write_text(json.dumps({"unit": unit.id, "target": unit.targets[0].id, "field": "state", "value": "completed"}))
    said = hitlab("label", "graphs", str(line), "--as", "R1", "--db", str(db), code=1)
    assert "locked" in said
    with Store.open(db) as store:
        assert list(store.labels.read(study)) == before
