"""Kits: nothing hidden is in the file, what is rated in it comes back whole, and what is not the rater's does not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lab.errors import LabError
from lab.labels import Spot
from lab.records import Blob
from lab.stamp import now, uuid7
from lab.study import Act, Assignment, Given, Gold, Protocol, Study, Target
from lab.task import Actor
from lab.wire import encode
from screens.annotate.desk import Desk
from store.kits import make_kit
from store.store import Store
from store.taking import Taken, take_kit
from tests import blind
from tests.studies import NODES, R1, R2, TWO, frozen, label, study, unit

THEIRS, OTHERS = "0197cccc-0000-7000-8000-0000000000c1", "0197cccc-0000-7000-8000-0000000000c2"
STATE = Spot("open", "state")

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
        home.import_run(one.run._replace(images={**one.run.images, state.sha256: state}))
    task = mine.run.events[0].task  # type: ignore[union-attr]
    units = [
        unit("u1", runs=(THEIRS,), targets=(*TWO, Target("more", MINE["target"])), task=task, pilot=True,
             given=(Given("A text", MINE["u1.given"], side="A"),), hidden={"A": NEVER["u1.hidden"]},
             gold=(Gold("open", "state", "completed", MINE["u1.gold"]),), cluster=NEVER["u1.cluster"],
             mechanical=(Gold("pay", "why", NEVER["u1.mechanical"], NEVER["u1.mechanical.reason"]),)),
        unit("u2", runs=(THEIRS,), gold=(Gold("open", "state", "completed", NEVER["u2.gold"]),)),
        unit("u3", runs=(OTHERS,), given=(Given("A text", NEVER["u3.given"]),)),
    ]  # fmt: skip
    plan = study(
        units, protocol, note=NEVER["note"], by=Actor("human", NEVER["by"]), raters=("R1", "Wsecond"), **changes
    )
    home.freeze_study(plan, units)
    second = Actor("human", "Wsecond")
    dealt = [Assignment(plan.id, 1, "R1", 0, "u1", "pilot"), Assignment(plan.id, 1, "R1", 1, "u2")]
    home.deal(plan, [*dealt, *(Assignment(plan.id, 1, "Wsecond", i, f"u{i + 1}", "pilot") for i in range(3))])
    home.record_label(plan, units[0], label(plan, units[0], "open", "state", "completed", note=MINE["mine"]))
    said = label(plan, units[0], "open", "state", "completed", note=NEVER["label"], rater=second)
    home.record_label(plan, units[0], said)
    model = Actor("model", "R1")  # a model by the very name of a rater
    home.record_label(
        plan, units[0], label(plan, units[0], "pay", "state", "completed", note=NEVER["model"], rater=model)
    )
    for who, kind, word in ((second, "sat", NEVER["act"]), (R1, "replaced", NEVER["replaced"])):
        home.record_act(Act(uuid7(), plan.id, 1, who, kind, now(), "", 1, {"word": word}))  # type: ignore[arg-type]
    home.save_draft(THEIRS, "q0", NEVER["draft"])
    with home._writing() as db:
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
    assert words_in(kit, mine.hidden(plan.shown)) == set()
    assert words_in(kit, mine.shown(plan.shown)) == set(mine.shown(plan.shown))
    assert words_in(kit, dict.fromkeys(MINE.values(), "")) == set(MINE.values())
    assert (made.units, made.assignments, made.labels, made.runs) == (2, 2, 1, (THEIRS,))


@pytest.mark.parametrize("show", blind.SHOWS)
def test_each_switch_opens_its_part_alone(home: Store, tmp_path: Path, show: Any) -> None:
    switches = {"method": "method", "outcome": "outcome"}
    closed = tuple(one for one in ("people", "models", "method", "outcome", "raters") if one != switches.get(show))
    plan, mine, _ = planted(home, replace(NODES, shows=("instruction", show)), blind=closed)
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    assert words_in(tmp_path / "R1.db", mine.hidden(plan.shown)) == set()
    assert words_in(tmp_path / "R1.db", mine.shown(plan.shown)) == set(mine.shown(plan.shown))
    with Store.open(tmp_path / "R1.db", readonly=True) as kit:
        pictures = kit._read("SELECT count(*) FROM blob")[0][0]
        assert pictures == (5 if show == "screens" else 0)


def test_other_raters_are_named_where_that_is_not_blind(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home, blind=("people", "models", "method", "outcome"))
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    assert words_in(tmp_path / "R1.db", {"Wsecond": "raters"}) == {"Wsecond"}


def test_gold_of_a_unit_that_is_no_pilot_of_the_rater_stays_at_home(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home)
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    with Store.open(tmp_path / "R1.db") as kit:
        assert kit.unit(plan, "u1").gold
        assert not kit.unit(plan, "u2").gold
        assert kit.check() == []
        assert kit.unit(plan, "u1").mechanical == ()


def test_a_kit_says_that_it_is_one_and_home_says_it_is_none(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home)
    made = make_kit(home, plan, "R1", tmp_path / "R1.db")
    assert home.kit() is None
    with Store.open(tmp_path / "R1.db") as kit:
        assert kit.kit() == made
        assert made.sha == home.study(plan.id).sha != kit.study(plan.id).sha
        assert kit._read("SELECT sha FROM study") == home._read("SELECT sha FROM study") == [(made.sha,)]
        assert [line.id for line in kit.studies()] == [plan.id]
        assert (kit.progress(plan, "R1").dealt, kit.progress(plan, "R1").begun) == (2, 1)


def test_in_a_kit_nobody_else_rates_and_the_study_is_not_changed(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home)
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    with Store.open(tmp_path / "R1.db") as kit:
        one = kit.unit(plan, "u2")
        for who in (R2, Actor("model", "m")):
            with pytest.raises(LabError, match="is a kit of R1"):
                kit.record_label(plan, one, label(plan, one, "open", "state", "completed", rater=who))
        with pytest.raises(LabError, match="is a kit of R1"):
            kit.freeze_study(study([one], id="new"), [one])
        with pytest.raises(LabError, match="is a kit of R1"):
            kit.deal(plan, [Assignment(plan.id, 1, "R2", 0, "u2")])
        with pytest.raises(LabError, match="is a kit of R1"):
            kit.record_act(Act(uuid7(), plan.id, 1, Actor("human", "D1"), "locked", now()))
        with pytest.raises(LabError, match="is a kit itself"):
            make_kit(kit, kit.study(plan.id), "R1", tmp_path / "again.db")


# -- made whole or not at all ----------------------------------------------------------------------------------


def test_no_kit_is_made_over_a_file_nor_for_who_has_nothing(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home)
    (tmp_path / "there.db").write_bytes(b"precious")
    with pytest.raises(LabError, match="is there already"):
        make_kit(home, plan, "R1", tmp_path / "there.db")
    assert (tmp_path / "there.db").read_bytes() == b"precious"
    with pytest.raises(LabError, match="nothing is dealt to R9"):
        make_kit(home, plan, "R9", tmp_path / "R9.db")
    with home._writing() as db:
        db.execute("INSERT INTO withdrawal VALUES ('R1', '', '{}')")
    with pytest.raises(LabError, match="R1 has withdrawn"):
        make_kit(home, plan, "R1", tmp_path / "R1.db")
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("lab.db")) == ["there.db"]


def test_a_kit_that_fails_half_way_leaves_nothing(home: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, _, _ = planted(home)

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("store.kits.rows.insert_run", fail)
    with pytest.raises(LabError, match=r"R1\.db"):
        make_kit(home, plan, "R1", tmp_path / "R1.db")
    assert not [path for path in tmp_path.iterdir() if "R1" in path.name]
    monkeypatch.undo()
    make_kit(home, plan, "R1", tmp_path / "R1.db")


def test_a_locked_study_has_no_kits(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home)
    home.record_act(Act(uuid7(), plan.id, 1, Actor("human", "D1"), "locked", now()))
    with pytest.raises(LabError, match="locked"):
        make_kit(home, plan, "R1", tmp_path / "R1.db")


def test_who_left_gets_no_kit_and_only_what_they_did_before_is_taken(home: Store, tmp_path: Path) -> None:
    plan = frozen(home, [unit("u1"), unit("u2")])
    for name in ("early", "late"):
        make_kit(home, plan, "R1", tmp_path / f"{name}.db")
    rate(tmp_path / "early.db")
    left = Act(uuid7(), plan.id, 1, R1, "left", now(), "", 1, {"for": "R3"})
    home.record_act(left)
    rate(tmp_path / "late.db")
    with pytest.raises(LabError, match="R1 has left"):
        make_kit(home, plan, "R1", tmp_path / "R1.db")
    refused(home, tmp_path / "late.db", r"R1 left on .* are later")
    assert counts(take_kit(home, tmp_path / "early.db"))[0] == 5


def test_status_says_that_a_file_is_a_kit(home: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lab.cli import main

    plan = frozen(home, [unit("u1")])
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    for path, kit in ((tmp_path / "R1.db", True), (home.path, False)):
        assert main(["study", "status", "trial", "--db", str(path)]) == 0
        assert ("This file is a kit: only what is R1's" in capsys.readouterr().out) == kit


def test_a_play_that_is_under_way_is_ended_before_a_kit_is_made(home: Store, tmp_path: Path) -> None:
    plan, _, _ = planted(home)
    home.record_act(Act(uuid7(), plan.id, 1, R1, "played", now(), "u1", 1, {"run": "nowhere", "status": "open"}))
    with pytest.raises(LabError, match="under way"):
        make_kit(home, plan, "R1", tmp_path / "R1.db")
    home.record_act(Act(uuid7(), plan.id, 1, R1, "interrupted", now(), "u1", 1, {"run": "nowhere"}))
    make_kit(home, plan, "R1", tmp_path / "R1.db")


# -- and back --------------------------------------------------------------------------------------------------


@pytest.fixture
def plan(home: Store) -> Study:
    return frozen(home, [unit("u1"), unit("u2")])


@pytest.fixture
def kit(home: Store, plan: Study, tmp_path: Path) -> Path:
    home.record_label(plan, unit("u1"), label(plan, unit("u1"), "open", "state", "completed"))
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    return tmp_path / "R1.db"


def rate(path: Path, *, hand_in: bool = True) -> None:
    """Rates the first unit that is left, in a kit or at home, as a person would."""
    with Store.open(path) as store:
        desk = Desk(store, store.study("trial"), R1)
        at = desk.next_assignment()
        assert at is not None
        desk.open(at)
        desk.answer(STATE, "not_completed", note="by hand")
        desk.answer(STATE, "completed")
        desk.undo()
        desk.answer(Spot("pay", "state"), "completed")
        desk.answer(Spot("", "rating"), 40)
        if hand_in:
            desk.commit()


def counts(taken: Taken) -> tuple[int, int, int]:
    return taken.labels, taken.acts, len(taken.clashes)


def bodies(store: Store, table: str) -> list[Any]:
    return sorted(store._read(f"SELECT body FROM {table}"))


def test_what_was_rated_in_a_kit_comes_back_once(home: Store, plan: Study, kit: Path) -> None:
    rate(kit)
    rate(kit)
    taken = take_kit(home, kit)
    assert counts(taken) == (10, 4, 0)
    with Store.open(kit) as other:
        assert bodies(home, "label") == bodies(other, "label")
        assert bodies(home, "act") == bodies(other, "act")
    progress = home.progress(plan, "R1")
    assert (progress.done, progress.begun) == (2, 2)
    sheet = home.sheet(plan, unit("u1"), "R1")
    assert sheet.committed
    assert (sheet.value(STATE), sheet.value(Spot("", "rating"))) == ("not_completed", 40)
    again = take_kit(home, kit)
    assert (*counts(again), again.there) == (0, 0, 0, 15)
    assert home.check() == []


def test_a_kit_may_come_back_in_parts(home: Store, plan: Study, kit: Path) -> None:
    rate(kit, hand_in=False)
    assert counts(take_kit(home, kit)) == (5, 1, 0)
    rate(kit)
    assert counts(take_kit(home, kit)) == (5, 2, 0)
    assert home.progress(plan, "R1").done == 1


def test_work_on_both_copies_is_kept_and_told_as_clashes(home: Store, plan: Study, kit: Path) -> None:
    rate(kit)
    rate(home.path, hand_in=False)
    taken = take_kit(home, kit)
    assert set(taken.clashes) == {("u1", *STATE), ("u1", "pay", "state"), ("u1", "", "rating")}
    assert len(home.sheet(plan, unit("u1"), "R1").clashes) == 3
    assert len(list(home.labels(plan))) == 1 + 5 + 5
    assert len(take_kit(home, kit).clashes) == 3


def refused(home: Store, kit: Path, match: str) -> None:
    """The kit is refused with a sentence that names it, and nothing of it is taken."""
    before = bodies(home, "label"), bodies(home, "act"), bodies(home, "assignment")
    with pytest.raises(LabError, match=match) as error:
        take_kit(home, kit)
    assert str(kit) in error.value.sentence
    assert (bodies(home, "label"), bodies(home, "act"), bodies(home, "assignment")) == before


def test_a_file_that_is_no_kit_is_refused(home: Store, plan: Study, kit: Path, tmp_path: Path) -> None:
    Store.open(tmp_path / "other.db").close()
    refused(home, tmp_path / "other.db", "is no kit")
    (tmp_path / "text.db").write_text("not a database at all, but a text")
    refused(home, tmp_path / "text.db", "not a SQLite file")
    refused(home, tmp_path / "nowhere.db", "is not there")
    with Store.open(kit) as other, pytest.raises(LabError, match="is a kit itself"):
        take_kit(other, kit)


def test_a_kit_of_another_version_or_another_study_of_that_name_is_refused(
    plan: Study, kit: Path, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "elsewhere.db") as other:
        refused(other, kit, "no version of it")
        frozen(other, [unit("u1"), unit("u2")], version=2)
        refused(other, kit, "here is v2 of it")
        frozen(other, [unit("u1"), unit("u2")], seed=5)
        refused(other, kit, "its plan or its sample differs")


def test_nothing_of_who_withdrew_is_taken(home: Store, plan: Study, kit: Path) -> None:
    rate(kit)
    with home._writing() as db:
        db.execute("INSERT INTO withdrawal VALUES ('R1', '', '{}')")
    refused(home, kit, "R1 has withdrawn")


def test_a_locked_study_takes_nothing_new_but_says_nothing_of_what_is_there(
    home: Store, plan: Study, kit: Path
) -> None:
    rate(kit)
    take_kit(home, kit)
    home.record_act(Act(uuid7(), plan.id, 1, Actor("human", "D1"), "locked", now()))
    assert counts(take_kit(home, kit)) == (0, 0, 0)
    rate(kit)
    refused(home, kit, "locked")


def forge(path: Path, table: str, *rows: Any, sql: str = "") -> None:
    """Changes a kit with another tool, its triggers put back as they were."""
    db = sqlite3.connect(path)
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    if sql:
        assert db.execute(sql).rowcount
    for _, statement in triggers:
        db.execute(statement)
    for row in rows:
        db.execute(f"INSERT INTO {table} VALUES (NULL, {', '.join('?' * len(row))})", row)
    db.commit()
    db.close()


def of_label(one: Any) -> tuple[Any, ...]:
    return (
        one.id, one.study, one.version, one.unit, one.target, one.field, one.rater.kind, one.rater.id, one.run, one.at,
        one.supersedes, encode(one).decode(),
    )  # fmt: skip


def of_act(one: Act) -> tuple[Any, ...]:
    return (one.id, one.study, one.version, one.rater.id, one.unit, one.run, one.act, one.at, encode(one).decode())


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"rater": R2}, "rows by R2"),
        ({"rater": Actor("model", "R1")}, "rows by R1 .model."),
        ({"field": "mood"}, "'mood' is none of state"),
        ({"target": "nowhere"}, "'nowhere' is none of open"),
        ({"value": "perhaps"}, "'perhaps' is none of completed"),
        ({"unit": "u9"}, "u9, rating 1, is not dealt"),
        ({"run": 2}, "rating 2, is not dealt"),
        ({"version": 2}, "refers to no row of study"),
        ({"study": "trial2"}, "refers to no row of study"),
        ({"supersedes": "someone-elses"}, "was changed meanwhile"),
        ({"also": ("someone-elses",)}, "no last word"),
        ({"protocol_sha": "0" * 64}, "another version of the protocol"),
    ],
)
def test_what_the_rules_refuse_is_refused_with_all_of_the_kit(
    home: Store, plan: Study, kit: Path, changes: dict[str, Any], match: str
) -> None:
    rate(kit)
    one = label(plan, unit("u2"), "open", "state", "completed")
    forge(kit, "label", of_label(replace(one, **changes)))
    refused(home, kit, match)
    assert len(list(home.labels(plan))) == 1


def test_the_same_label_unchanged_is_taken(home: Store, plan: Study, kit: Path) -> None:
    """The control of the test above."""
    forge(kit, "label", of_label(label(plan, unit("u2"), "open", "state", "completed")))
    assert counts(take_kit(home, kit)) == (1, 0, 0)


@pytest.mark.parametrize(
    ("kind", "match"), [("commit", "3 unanswered|unanswered"), ("locked", "no rater's"), ("replaced", "no rater's")]
)
def test_acts_that_are_not_a_raters_to_do_are_refused(
    home: Store, plan: Study, kit: Path, kind: Any, match: str
) -> None:
    forge(kit, "act", of_act(Act(uuid7(), plan.id, 1, R1, kind, now(), "u2")))
    refused(home, kit, match)


def test_an_answer_after_a_unit_was_handed_in_is_refused(home: Store, plan: Study, kit: Path) -> None:
    rate(kit)
    with Store.open(kit) as other:
        head = other.sheet(plan, unit("u1"), "R1").heads[STATE]
    late = label(plan, unit("u1"), "open", "state", "completed", at=now(), supersedes=head.id)
    forge(kit, "label", of_label(late))
    refused(home, kit, "has handed it in")


def test_an_answer_given_while_held_is_refused(home: Store, plan: Study, kit: Path) -> None:
    forge(kit, "act", of_act(Act(uuid7(), plan.id, 1, R1, "held", now())))
    forge(kit, "label", of_label(label(plan, unit("u2"), "open", "state", "completed", at=now())))
    refused(home, kit, "is held")


@pytest.mark.parametrize(
    ("sql", "match"),
    [
        ("UPDATE unit SET body = replace(body, 'Pay', 'Do not pay')", "tampered"),
        ("UPDATE study SET body = replace(body, 'completed', 'finished')", "tampered"),
        ("UPDATE label SET body = replace(body, 'completed', 'not_completed')", "tampered"),
        ("UPDATE kit SET body = replace(body, 'R1', 'R2')", "tampered"),
        ("DELETE FROM label", "tampered"),
    ],
)
def test_a_kit_in_which_something_was_changed_is_refused(
    home: Store, plan: Study, kit: Path, sql: str, match: str
) -> None:
    rate(kit) if "label" not in sql else None
    forge(kit, "", sql=sql)
    refused(home, kit, match)


def test_a_kit_whose_triggers_were_lifted_is_refused(home: Store, plan: Study, kit: Path) -> None:
    db = sqlite3.connect(kit)
    db.execute("DROP TRIGGER label_no_update")
    db.commit()
    db.close()
    refused(home, kit, "label_no_update is missing")


def test_an_answer_that_was_changed_after_it_came_in_is_refused(home: Store, plan: Study, kit: Path) -> None:
    rate(kit)
    take_kit(home, kit)
    forge(kit, "", sql="UPDATE label SET body = replace(body, 'by hand', 'by foot') WHERE body LIKE '%by hand%'")
    refused(home, kit, "says something else")
