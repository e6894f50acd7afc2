"""A kit's work comes back whole and once; what the rules refuse, or is not its rater's, is refused with all of it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.study.label import Act, AnswerDetails
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Gold, Study
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.rating.rating_session import RatingSession
from store.copies.kit_export import make_kit
from store.copies.kit_import import KitImportResult, import_kit
from store.store import Store
from tests.studies import NODES, R1, R2, frozen, label, unit

STATE = FieldReference("open", "state")


@pytest.fixture
def home(store: Store) -> Store:
    return store


@pytest.fixture
def plan(home: Store) -> Study:
    return frozen(home, [unit("u1"), unit("u2")])


@pytest.fixture
def kit(home: Store, plan: Study, tmp_path: Path) -> Path:
    home.labels.record(plan, unit("u1"), label(plan, unit("u1"), "open", "state", "completed"))
    make_kit(home, plan, "R1", tmp_path / "R1.db")
    return tmp_path / "R1.db"


def rate(path: Path, *, hand_in: bool = True) -> None:
    """Rates the first unit that is left, in a kit or at home, as a person would."""
    with Store.open(path) as store:
        desk = RatingSession(store, store.studies.study("trial"), R1)
        at = desk.next_assignment()
        assert at is not None
        desk.open(at)
        desk.answer(STATE, "not_completed", details=AnswerDetails(note="by hand"))
        desk.answer(STATE, "completed")
        desk.undo()
        desk.answer(FieldReference("pay", "state"), "completed")
        desk.answer(FieldReference("", "rating"), 40)
        if hand_in:
            desk.commit()


def counts(taken: KitImportResult) -> tuple[int, int, int]:
    return taken.labels, taken.acts, len(taken.clashes)


def bodies(store: Store, table: str) -> list[Any]:
    return sorted(store.database.read(f"SELECT body FROM {table}"))


def test_what_was_rated_in_a_kit_comes_back_once(home: Store, plan: Study, kit: Path) -> None:
    rate(kit)
    rate(kit)
    taken = import_kit(home, kit)
    assert counts(taken) == (10, 4, 0)
    with Store.open(kit) as other:
        assert bodies(home, "label") == bodies(other, "label")
        assert bodies(home, "act") == bodies(other, "act")
    progress = home.studies.progress(plan, "R1")
    assert (progress.done, progress.begun) == (2, 2)
    sheet = home.labels.sheet(plan, unit("u1"), "R1")
    assert sheet.committed
    assert (sheet.value(STATE), sheet.value(FieldReference("", "rating"))) == ("not_completed", 40)
    again = import_kit(home, kit)
    assert (*counts(again), again.already_present) == (0, 0, 0, 15)
    assert home.check() == []


def test_a_kit_may_come_back_in_parts(home: Store, plan: Study, kit: Path) -> None:
    rate(kit, hand_in=False)
    assert counts(import_kit(home, kit)) == (5, 1, 0)
    rate(kit)
    assert counts(import_kit(home, kit)) == (5, 2, 0)
    assert home.studies.progress(plan, "R1").done == 1


def test_work_on_both_copies_is_kept_and_told_as_clashes(home: Store, plan: Study, kit: Path) -> None:
    rate(kit)
    rate(home.path, hand_in=False)
    taken = import_kit(home, kit)
    assert set(taken.clashes) == {("u1", *STATE), ("u1", "pay", "state"), ("u1", "", "rating")}
    assert len(home.labels.sheet(plan, unit("u1"), "R1").clashes) == 3
    assert len(list(home.labels.read(plan))) == 1 + 5 + 5
    assert len(import_kit(home, kit).clashes) == 3


def refused(home: Store, kit: Path, match: str) -> None:
    """The kit is refused with a sentence that names it, and nothing of it is taken."""
    before = bodies(home, "label"), bodies(home, "act"), bodies(home, "assignment")
    with pytest.raises(LabError, match=match) as error:
        import_kit(home, kit)
    assert str(kit) in error.value.sentence
    assert (bodies(home, "label"), bodies(home, "act"), bodies(home, "assignment")) == before


def test_a_file_that_is_no_kit_is_refused(home: Store, plan: Study, kit: Path, tmp_path: Path) -> None:
    Store.open(tmp_path / "other.db").close()
    refused(home, tmp_path / "other.db", "is no kit")
    (tmp_path / "text.db").write_text("not a database at all, but a text")
    refused(home, tmp_path / "text.db", "not a SQLite file")
    refused(home, tmp_path / "nowhere.db", "is not there")
    with Store.open(kit) as other, pytest.raises(LabError, match="is a kit itself"):
        import_kit(other, kit)


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
    with home.database.writing() as db:
        db.execute("INSERT INTO withdrawal VALUES ('R1', '', '{}')")
    refused(home, kit, "R1 has withdrawn")


def test_a_locked_study_takes_nothing_new_but_says_nothing_of_what_is_there(
    home: Store, plan: Study, kit: Path
) -> None:
    rate(kit)
    import_kit(home, kit)
    home.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", "D1"), "locked", now()))
    assert counts(import_kit(home, kit)) == (0, 0, 0)
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
    assert len(list(home.labels.read(plan))) == 1


def test_the_same_label_unchanged_is_taken(home: Store, plan: Study, kit: Path) -> None:
    """The control of the test above."""
    forge(kit, "label", of_label(label(plan, unit("u2"), "open", "state", "completed")))
    assert counts(import_kit(home, kit)) == (1, 0, 0)


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
        head = other.labels.sheet(plan, unit("u1"), "R1").heads[STATE]
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
    import_kit(home, kit)
    forge(kit, "", sql="UPDATE label SET body = replace(body, 'by hand', 'by foot') WHERE body LIKE '%by hand%'")
    refused(home, kit, "says something else")


def test_who_left_gets_no_kit_and_only_what_they_did_before_is_taken(home: Store, tmp_path: Path) -> None:
    plan = frozen(home, [unit("u1"), unit("u2")])
    for name in ("early", "late"):
        make_kit(home, plan, "R1", tmp_path / f"{name}.db")
    rate(tmp_path / "early.db")
    left = Act(uuid7(), plan.id, 1, R1, "left", now(), "", 1, {"for": "R3"})
    home.labels.record_act(left)
    rate(tmp_path / "late.db")
    with pytest.raises(LabError, match="R1 has left"):
        make_kit(home, plan, "R1", tmp_path / "R1.db")
    refused(home, tmp_path / "late.db", r"R1 left on .* are later")
    assert counts(import_kit(home, tmp_path / "early.db"))[0] == 5


@pytest.mark.parametrize("calibration", [False, True])
def test_what_was_handed_in_for_good_is_not_taken_back_in_a_kit(home: Store, tmp_path: Path, calibration: bool) -> None:
    gold = (Gold("open", "state", "completed"),) if calibration else ()
    plan = frozen(home, [unit("u1", gold=gold, pilot=calibration)], replace(NODES, forward=not calibration))
    path = tmp_path / "R1.db"
    make_kit(home, plan, "R1", path)
    rate(path)
    with Store.open(path) as other:
        other.labels.record_act(Act(uuid7(), plan.id, plan.version, R1, "reopen", now(), "u1"))
    with pytest.raises(LabError, match="no going back"):
        import_kit(home, path)
    assert not list(home.labels.read(plan))


def test_a_damaged_kit_says_whom_to_ask(home: Store, kit: Path) -> None:
    rate(kit)
    whole = kit.read_bytes()
    kit.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(LabError) as refused:
        import_kit(home, kit)
    assert refused.value.title == f"kit {kit}"
    assert refused.value.hint == "Ask whoever rated in it to close hitlab and send the file again."
