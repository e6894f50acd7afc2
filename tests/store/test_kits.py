"""Kits: nothing hidden is in the file, what is shown is; it appears whole or not at all, and for whom it may."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.study.label import Act
from lab.core.study.protocol import Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Assignment, Gold, Study, Target, UnitText
from lab.core.task.task import Actor, AgentName
from lab.core.values.ids_and_clock import now, uuid7
from lab.runs.listing.run_acts import rename_agent
from store.copies.kit_export import make_kit
from store.store import Store
from tests import blind
from tests.studies import NODES, R1, R2, TWO, frozen, label, study, unit

THEIRS, OTHERS = "0197cccc-0000-7000-8000-0000000000c1", "0197cccc-0000-7000-8000-0000000000c2"
STATE = FieldReference("open", "state")

NEVER = {
    "u1.hidden": "Wmethodone", "u1.mechanical": "Wmechanical", "u1.mechanical.reason": "Wruleword",
    "u2.gold": "Wgoldtwo", "u1.cluster": "Wcluster", "u3.given": "Wnotdealt", "note": "Wdesignernote",
    "by": "Wdesigner", "label": "Wtheirnote",
    "draft": "Wdraft", "design": "Wdesign", "act": "Wtheiract", "replaced": "Wnewcomer", "model": "Wmodelword",
    "state": "Wphonestate",
}  # fmt: skip
"""Words that are in no kit of R1, and where they stand at home."""
MINE = {"u1.given": "Wgiven", "u1.gold": "Wgoldone", "mine": "Wmynote", "target": "Wtarget"}
"""Words that are R1's to read."""


@pytest.fixture
def home(store: Store) -> Store:
    return store


def planted(home: Store, protocol: Protocol = NODES, **changes: Any) -> tuple[Study, blind.Planted, blind.Planted]:
    """A study with a word in everything that may be hidden, and its runs: R1's, and one that is not dealt to R1."""
    mine, others = blind.planted(THEIRS, "Q"), blind.planted(OTHERS, "X")
    for one in (mine, others):
        state = Blob(NEVER["state"].encode(), "application/json")
        home.runs.add(one.run._replace(images={**one.run.images, state.sha256: state}))
    task = mine.run.events[0].task  # type: ignore[union-attr]
    units = [
        unit("u1", runs=(THEIRS,), targets=(*TWO, Target("more", MINE["target"])), task=task, pilot=True,
             given=(UnitText("A text", MINE["u1.given"], side="A"),), hidden={"A": NEVER["u1.hidden"]},
             gold=(Gold("open", "state", "completed", MINE["u1.gold"]),), cluster=NEVER["u1.cluster"],
             mechanical=(Gold("pay", "why", NEVER["u1.mechanical"], NEVER["u1.mechanical.reason"]),)),
        unit("u2", runs=(THEIRS,), gold=(Gold("open", "state", "completed", NEVER["u2.gold"]),)),
        unit("u3", runs=(OTHERS,), given=(UnitText("A text", NEVER["u3.given"]),)),
    ]  # fmt: skip
    plan = study(
        units, protocol, note=NEVER["note"], by=Actor("human", NEVER["by"]), raters=("R1", "Wsecond"), **changes
    )
    home.studies.freeze(plan, units)
    second = Actor("human", "Wsecond")
    dealt = [Assignment(plan.id, 1, "R1", 0, "u1", "pilot"), Assignment(plan.id, 1, "R1", 1, "u2")]
    home.studies.deal(plan, [*dealt, *(Assignment(plan.id, 1, "Wsecond", i, f"u{i + 1}", "pilot") for i in range(3))])
    home.labels.record(plan, units[0], label(plan, units[0], "open", "state", "completed", note=MINE["mine"]))
    said = label(plan, units[0], "open", "state", "completed", note=NEVER["label"], rater=second)
    home.labels.record(plan, units[0], said)
    model = Actor("model", "R1")  # a model by the very name of a rater
    home.labels.record(
        plan, units[0], label(plan, units[0], "pay", "state", "completed", note=NEVER["model"], rater=model)
    )
    for who, kind, word in ((second, "sat", NEVER["act"]), (R1, "replaced", NEVER["replaced"])):
        home.labels.record_act(Act(uuid7(), plan.id, 1, who, kind, now(), "", 1, {"word": word}))  # type: ignore[arg-type]
    home.runs.save_draft(THEIRS, "q0", NEVER["draft"])
    with home.database.writing() as db:
        row = (None, "d", "t", NEVER["design"], 1, "begin", "D1", "", "[]", "", "{}")
        db.execute(f"INSERT INTO design VALUES ({', '.join('?' * len(row))})", row)
    return plan, mine, others


def everything(path: Path) -> bytes:
    """A file's bytes, and every value in it: a word may be broken by the end of a page."""
    db = sqlite3.connect(path)
    try:
        dump = "\n".join(db.iterdump())
    finally:
        db.close()
    return path.read_bytes() + dump.encode("utf-8", "surrogateescape")


def words_in(path: Path, words: Iterable[str]) -> set[str]:
    data = everything(path)
    return {word for word in words if word.encode() in data}


def packed(home: Store, tmp_path: Path) -> Path:
    home.pack(tmp_path / "packed.db")
    return tmp_path / "packed.db"


def test_nothing_hidden_is_in_a_kit_and_what_is_shown_is(home: Store, tmp_path: Path) -> None:
    plan, mine, others = planted(home)
    kit = tmp_path / "R1.db"
    made = make_kit(home, plan, "R1", kit)
    theirs = {word: place for place, word in NEVER.items()} | {"Wsecond": "raters"}
    whole = packed(home, tmp_path)
    every = theirs | dict.fromkeys((*mine.words, *others.words), "")
    assert words_in(whole, every) == set(every)  # the control: at home each of them is found
    assert words_in(kit, {*theirs, *others.words}) == set()
    assert words_in(kit, mine.hidden(plan.visible_parts)) == set()
    assert words_in(kit, mine.shown(plan.visible_parts)) == set(mine.shown(plan.visible_parts))
    assert words_in(kit, dict.fromkeys(MINE.values(), "")) == set(MINE.values())
    assert (made.units, made.assignments, made.labels, made.runs) == (2, 2, 1, (THEIRS,))


@pytest.mark.parametrize("seen", [False, True])
def test_an_agent_that_a_person_renamed_is_hidden_as_its_own_name_was(home: Store, tmp_path: Path, seen: bool) -> None:
    closed = ("people", "models", "outcome", "raters", *(() if seen else ("method",)))
    plan, _, _ = planted(home, replace(NODES, shows=("instruction", *(("method",) if seen else ()))), blind=closed)
    words = {"Wrenamed": "name", "Wversion": "version", "Wmodel": "model"}
    rename_agent(home, [THEIRS], AgentName(*words), "Wdesigner")
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    assert words_in(packed(home, tmp_path), words) == set(words)
    assert words_in(tmp_path / "R1.db", words) == (set(words) if seen else set())


@pytest.mark.parametrize("show", blind.SHOWS)
def test_each_switch_opens_its_part_alone(home: Store, tmp_path: Path, show: Any) -> None:
    switches = {"method": "method", "outcome": "outcome"}
    closed = tuple(one for one in ("people", "models", "method", "outcome", "raters") if one != switches.get(show))
    plan, mine, _ = planted(home, replace(NODES, shows=("instruction", show)), blind=closed)
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    assert words_in(tmp_path / "R1.db", mine.hidden(plan.visible_parts)) == set()
    assert words_in(tmp_path / "R1.db", mine.shown(plan.visible_parts)) == set(mine.shown(plan.visible_parts))
    with Store.open(tmp_path / "R1.db", readonly=True) as kit:
        pictures = kit.database.read("SELECT count(*) FROM blob")[0][0]
        assert pictures == (5 if show == "screens" else 0)


def test_other_raters_are_named_where_that_is_not_blind(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home, blind=("people", "models", "method", "outcome"))
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    assert words_in(tmp_path / "R1.db", {"Wsecond": "raters"}) == {"Wsecond"}


def test_gold_of_a_unit_that_is_no_pilot_of_the_rater_stays_at_home(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home)
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    with Store.open(tmp_path / "R1.db") as kit:
        assert kit.studies.unit(plan, "u1").gold
        assert not kit.studies.unit(plan, "u2").gold
        assert kit.check() == []
        assert kit.studies.unit(plan, "u1").mechanical == ()


def test_a_kit_says_that_it_is_one_and_home_says_it_is_none(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home)
    made = make_kit(home, plan, "R1", tmp_path / "R1.db")
    assert home.kit() is None
    with Store.open(tmp_path / "R1.db") as kit:
        assert kit.kit() == made
        assert made.sha == home.studies.study(plan.id).sha != kit.studies.study(plan.id).sha
        assert (
            kit.database.read("SELECT sha FROM study") == home.database.read("SELECT sha FROM study") == [(made.sha,)]
        )
        assert [line.id for line in kit.studies.lines()] == [plan.id]
        assert (kit.studies.progress(plan, "R1").dealt, kit.studies.progress(plan, "R1").begun) == (2, 1)


def test_in_a_kit_nobody_else_rates_and_the_study_is_not_changed(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home)
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    with Store.open(tmp_path / "R1.db") as kit:
        one = kit.studies.unit(plan, "u2")
        for who in (R2, Actor("model", "m")):
            with pytest.raises(LabError, match="is a kit of R1"):
                kit.labels.record(plan, one, label(plan, one, "open", "state", "completed", rater=who))
        with pytest.raises(LabError, match="is a kit of R1"):
            kit.studies.freeze(study([one], id="new"), [one])
        with pytest.raises(LabError, match="is a kit of R1"):
            kit.studies.deal(plan, [Assignment(plan.id, 1, "R2", 0, "u2")])
        with pytest.raises(LabError, match="is a kit of R1"):
            kit.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", "D1"), "locked", now()))
        with pytest.raises(LabError, match="is a kit itself"):
            make_kit(kit, kit.studies.study(plan.id), "R1", tmp_path / "again.db")


# -- made whole or not at all ----------------------------------------------------------------------------------


def test_no_kit_is_made_over_a_file_nor_for_who_has_nothing(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home)
    (tmp_path / "there.db").write_bytes(b"precious")
    with pytest.raises(LabError, match="is there already"):
        make_kit(home, plan, "R1", tmp_path / "there.db")
    assert (tmp_path / "there.db").read_bytes() == b"precious"
    with pytest.raises(LabError, match="nothing is dealt to R9"):
        make_kit(home, plan, "R9", tmp_path / "R9.db")
    with home.database.writing() as db:
        db.execute("INSERT INTO withdrawal VALUES ('R1', '', '{}')")
    with pytest.raises(LabError, match="R1 has withdrawn"):
        make_kit(home, plan, "R1", tmp_path / "R1.db")
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("lab.db")) == ["there.db"]


def test_a_kit_that_fails_half_way_leaves_nothing(home: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, _, _ = planted(home)

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("store.copies.kit_export.run_rows.insert_run", fail)
    with pytest.raises(LabError, match=r"R1\.db"):
        make_kit(home, plan, "R1", tmp_path / "R1.db")
    assert not [path for path in tmp_path.iterdir() if "R1" in path.name]
    monkeypatch.undo()
    make_kit(home, plan, "R1", tmp_path / "R1.db")


def test_a_locked_study_has_no_kits(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home)
    home.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", "D1"), "locked", now()))
    with pytest.raises(LabError, match="locked"):
        make_kit(home, plan, "R1", tmp_path / "R1.db")


def test_status_says_that_a_file_is_a_kit(home: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lab.cli.main import main

    plan = frozen(home, [unit("u1")])
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    for path, kit in ((tmp_path / "R1.db", True), (home.path, False)):
        assert main(["study", "status", "trial", "--db", str(path)]) == 0
        assert ("This file is a kit: only what is R1's" in capsys.readouterr().out) == kit


def test_a_play_that_is_under_way_is_ended_before_a_kit_is_made(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home)
    home.labels.record_act(Act(uuid7(), plan.id, 1, R1, "played", now(), "u1", 1, {"run": "nowhere", "status": "open"}))
    with pytest.raises(LabError, match="under way"):
        make_kit(home, plan, "R1", tmp_path / "R1.db")
    home.labels.record_act(Act(uuid7(), plan.id, 1, R1, "interrupted", now(), "u1", 1, {"run": "nowhere"}))
    make_kit(home, plan, "R1", tmp_path / "R1.db")
