"""Withdrawal: nothing of a person is left in the file, everything of others is, and nothing of theirs comes back."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from lab.core.codec import storable
from lab.core.errors import LabError
from lab.core.redaction.text_redaction import WITHDRAWN
from lab.core.run.run_records import Imported
from lab.core.run.step import Action, Proposed, Question, Reply
from lab.core.run.trace import Answered, Asked, Started
from lab.core.study.label import Act
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Assignment
from lab.core.task.task import Actor, Task
from lab.core.values.ids_and_clock import now, uuid7
from store.erasing.run_redaction import redact
from store.erasing.withdrawal import WITHDRAWN_ACTOR, Erased, _Withdrawing, preview_withdrawal, withdraw
from store.file.schema import APPEND_ONLY
from store.runs.run_export import export_runs
from store.runs.run_import import import_paths
from store.store import Store
from tests.demonstrations import NAME, demonstration, row
from tests.studies import R2, frozen, label, unit
from tests.withdrawals import CODE, D01, P07, Filled, fill, small


@pytest.fixture
def filled(store: Store, tmp_path: Path) -> Filled:
    outside = tmp_path / "outside"
    outside.mkdir()
    return fill(store, outside)


def bytes_of(path: Path) -> bytes:
    """Everything that lies in the file and beside it."""
    beside = (path.with_name(path.name + tail) for tail in ("", "-wal", "-shm"))
    return b"".join(one.read_bytes() for one in beside if one.exists())


def assert_gone(held: bytes, filled: Filled) -> None:
    there = [word for word in filled.gone if word.encode() in held]
    assert there == []
    for picture in filled.pictures:
        at = picture.index(b"IDAT")
        assert picture[at : at + 64] not in held
    assert [word for word in filled.kept if word.encode() not in held] == []


def everything(store: Store) -> dict[str, list[tuple[object, ...]]]:
    return {table: store.database.read(f"SELECT * FROM {table}") for table in (*APPEND_ONLY, "todo", "tally")}


def test_every_word_is_there_before_they_withdraw(store: Store, filled: Filled) -> None:
    held = bytes_of(store.path)
    assert [word for word in [*filled.gone, *filled.kept] if word.encode() not in held] == []
    assert all(picture[picture.index(b"IDAT") :][:64] in held for picture in filled.pictures)


def test_nothing_of_theirs_is_left_in_any_byte_and_everything_of_others_is(store: Store, filled: Filled) -> None:
    erased = withdraw(store, CODE, D01)
    assert_gone(bytes_of(store.path), filled)
    assert sorted(erased.runs) == filled.runs
    assert store.check() == []
    assert [summary.id for summary in store.runs.summaries()] == ["run-demo", "run-other"]
    assert store.runs.draft("run-other", "q0") == "kereply so far"
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        store.database.connection().execute("DELETE FROM event")
    store.pack(store.path.with_name("packed.db"))
    assert_gone(bytes_of(store.path.with_name("packed.db")), filled)


def test_their_code_stays_in_frozen_plans_and_in_the_row_that_keeps_them_out(store: Store, filled: Filled) -> None:
    plan = store.studies.study("trial")
    withdraw(store, CODE, D01)
    found = {
        table for table, rows in everything(store).items() for values in rows if any(CODE in str(one) for one in values)
    }
    assert found == {"study", "withdrawal"}
    after = store.studies.study("trial")
    assert (after.sha, after.raters, after.by) == (plan.sha, (CODE, "R2", "R3"), WITHDRAWN_ACTOR)


def test_what_others_said_of_what_quotes_them_goes_and_the_rest_of_a_study_stays(store: Store, filled: Filled) -> None:
    before = list(store.labels.read(store.studies.study("trial"), "other", "R2"))
    erased = withdraw(store, CODE, D01)
    plan = store.studies.study("trial")
    assert [one.id for one in store.studies.units(plan)] == ["other"]
    assert list(store.labels.read(plan)) == before
    assert [(one.rater, one.unit) for one in store.studies.assignments(plan)] == [("R2", "other"), ("R3", "other")]
    assert store.studies.locked(plan)
    assert {act.rater.id for act in store.labels.acts(plan)} == {"D01", "R2", "R3", WITHDRAWN_ACTOR.id}
    assert [act.detail for act in store.labels.acts(plan, "R3")] == [
        {"by": WITHDRAWN_ACTOR.id},
        {"left": {WITHDRAWN_ACTOR.id: 2, "R3": 1}, "also": [["kenamed", WITHDRAWN_ACTOR.id]]},
    ]  # fmt: skip
    counts = erased.row.counts
    assert (counts["labels"], counts["labels_of_others"], counts["units"]) == (10, 4, 4)
    assert (counts["acts"], counts["assignments"], counts["drafts"]) == (5, 1, 1)


def test_what_others_settled_stands_without_their_part_in_it(store: Store, filled: Filled) -> None:
    assert len(store.adjudications.settlements(store.studies.study("trial"))) == 3
    withdraw(store, CODE, D01)
    standing = {
        spot: one.what for (_, spot), one in store.adjudications.settlements(store.studies.study("trial")).items()
    }
    assert {spot: what.value for spot, what in standing.items()} == {
        FieldReference("open", "state"): "not_completed",
        FieldReference("pay", "state"): "not_completed",
    }
    told = standing[FieldReference("open", "state")]
    assert told.reason == "kereason of (withdrawn)"
    assert [(move.rater, move.why) for move in told.moves] == [("R2", "kemoved, as (withdrawn) says")]
    assert standing[FieldReference("pay", "state")].reason == "(withdrawn)"


def test_designs_stay_without_their_code_their_words_and_steps_of_erased_runs(store: Store, filled: Filled) -> None:
    assert withdraw(store, CODE, D01).row.counts["designs"] == 2
    revisions = [store.designs.revision(id) for (id,) in store.database.read("SELECT id FROM design ORDER BY n")]
    assert [one.by.id for one in revisions] == [WITHDRAWN_ACTOR.id, "D01", "D01", "D01", WITHDRAWN_ACTOR.id, "D01"]
    assert [one.note for one in revisions] == ["", "took back", "", "", "", ""]
    assert [dict(one.marks) for one in revisions[-2:]] == [{"units/n": WITHDRAWN}, {"units/n": WITHDRAWN}]
    assert all(one.design.units[0].value == "kedraft" and not one.design.evidence for one in revisions)


def test_proofreading_stays_with_the_others(store: Store, filled: Filled) -> None:
    withdraw(store, CODE, D01)
    assert [one.by.id for one in store.reviews.of_run("run-demo")] == ["R2"]
    assert [one.by.id for one in store.reviews.clearances("run-demo")] == ["R2"]
    stone = store.erasure.tombstone("run-before")
    assert stone is not None
    assert (stone.by, stone.why) == (WITHDRAWN_ACTOR, "redacted")


def test_a_linked_picture_outside_is_named_and_left_where_it_is(store: Store, filled: Filled) -> None:
    assert withdraw(store, CODE, D01).outside == (str(filled.outside),)
    assert filled.outside.exists()


def test_looking_first_tells_the_same_and_changes_nothing(store: Store, filled: Filled) -> None:
    before = everything(store)
    looked = preview_withdrawal(store, CODE, D01)
    assert everything(store) == before
    assert store.check() == []
    done = withdraw(store, CODE, D01)
    assert (looked.row.counts, looked.runs, looked.bytes) == (done.row.counts, done.runs, done.bytes)


def test_what_stays_holds_no_word_of_theirs(store: Store, filled: Filled) -> None:
    withdraw(store, CODE, D01)
    ((code, at, body),) = store.database.read("SELECT * FROM withdrawal")
    assert code == CODE
    assert re.fullmatch(r"[\d\-T:.+]+", at)
    assert not [word for word in filled.gone if word in body]
    for run in filled.runs:
        stone = store.erasure.tombstone(run)
        assert stone is not None
        assert (stone.why, stone.by) == ("withdrawn", D01)


def test_runs_of_theirs_never_come_back_whoever_brings_them(store: Store, filled: Filled, tmp_path: Path) -> None:
    export_runs(store, ["run-reply", "run-copy", "run-other"], tmp_path / "before")
    withdraw(store, CODE, D01)
    report = import_paths(store, [tmp_path / "before"])
    assert (report.imported, report.skipped) == (0, 1)
    assert sorted(failure.error[:26] for failure in report.failed) == [
        "run run-copy: was withdraw",
        "run run-reply: was withdra",
    ]
    new = small("run-new", P07, [], said="x")
    with pytest.raises(LabError, match="P07 is in it, who has withdrawn; it is not taken in"):
        store.runs.add(new)
    assert not store.runs.has_run("run-new")
    (outcome,) = store.runs.add_independently([new])
    assert isinstance(outcome, LabError)
    reviewed = demonstration("run-more")
    brought = Imported(reviewed.events, reviewed.images, [], [row(CODE, "accept", 0, "step", trace="run-more")])
    with pytest.raises(LabError, match="P07 is in it"):
        store.runs.add(brought)


def test_another_whose_code_begins_alike_is_somebody_else(store: Store, filled: Filled) -> None:
    withdraw(store, CODE, D01)
    assert store.runs.add(small("run-p071", Actor("human", "P071"), [], said="x"))
    assert store.runs.add(small("run-model", Actor("model", CODE), [], said="x"))


def test_nothing_more_is_written_in_their_name(store: Store, filled: Filled) -> None:
    withdraw(store, CODE, D01)
    first = Started(trace="live", task=Task("t", "general", "", "Do it"), agent=Actor("model", "m"), seq=0)
    question = Question("q0", "ask", "Which?")
    store.runs.append_event("live", first)
    store.runs.append_event("live", Asked(seq=1, index=0, question=question, proposed=Proposed(Action("ask_user"))))
    demo, design = (
        store.reviews.proof_of("run-demo"),
        store.designs.revision(store.database.read("SELECT id FROM design")[0][0]),
    )
    plan = frozen(store, [unit("later")], id="later")
    writes: list[Callable[[], object]] = [
        lambda: store.runs.append_event("mine", replace(first, trace="mine", user=P07)),
        lambda: store.runs.append_event("live", Answered(seq=2, index=0, reply=Reply("q0", "this one", P07))),
        lambda: store.reviews.append(demo, [row(CODE, "accept", 0, "step", trace="run-demo")]),
        lambda: store.reviews.record_clearance("run-demo", P07),
        lambda: store.designs.append(replace(design, id="new", by=P07, supersedes=())),
        lambda: redact(store, "run-demo", P07, boxes={}, words=[NAME]),
        lambda: store.labels.record(
            plan, unit("later"), replace(label(plan, unit("later"), "open", "state", "completed"), rater=P07)
        ),
        lambda: store.labels.record_act(Act(uuid7(), "later", 1, P07, "sat", now())),
        lambda: store.studies.deal(plan, [Assignment("later", 1, CODE, 0, "later")]),
    ]
    before = everything(store)
    for write in writes:
        with pytest.raises(LabError, match=f"{CODE} (has withdrawn|is in it, who has withdrawn)"):
            write()
    assert everything(store) == before
    store.runs.append_event("live", Answered(seq=2, index=0, reply=Reply("q0", "this one", R2)))


def test_a_second_withdrawal_says_when_the_first_was(store: Store, filled: Filled) -> None:
    erased = withdraw(store, CODE, D01)
    with pytest.raises(LabError, match=f"withdrew on {erased.row.at[:10]}; nothing of theirs is here"):
        withdraw(store, CODE, D01)
    assert store.check() == []


def test_a_code_of_nobody_is_a_sentence_and_one_that_is_only_planned_is_kept_out(store: Store) -> None:
    with pytest.raises(LabError, match="nothing in this file is theirs; nothing was done"):
        withdraw(store, CODE, D01)
    assert not store.labels.has_withdrawn(CODE)
    plan = frozen(store, [unit("u1")], raters=("R1", "R2"))
    store.studies.freeze(replace(plan, id="later", raters=(CODE, "R1")), [unit("u1")])
    assert withdraw(store, CODE, D01).row.counts == {}
    assert store.labels.has_withdrawn(CODE)


@pytest.mark.parametrize("code", ["P\ud800", "\udcff", "␛P", "P\u202e7", "P7\x00"])
def test_an_id_of_any_characters_withdraws(store: Store, code: str) -> None:
    """As another project's run may name its user."""
    person = Actor("human", storable(code), "Somebody")  # as it is read
    store.runs.add(demonstration(by=person))
    plan = frozen(store, [unit("u1")], raters=(storable(code), "R1"))
    store.labels.record(plan, unit("u1"), label(plan, unit("u1"), "open", "state", "completed", rater=person))
    assert preview_withdrawal(store, code, D01).row.counts["runs"] == 1
    erased = withdraw(store, code, person)
    assert (erased.row.counts["runs"], erased.row.counts["labels"]) == (1, 1)
    assert store.labels.has_withdrawn(code)
    assert b"Somebody" not in bytes_of(store.path)
    with pytest.raises(LabError, match="withdrew on"):
        withdraw(store, code, D01)
    with pytest.raises(LabError, match="withdrawn"):
        store.runs.add(demonstration("another", by=person))
    assert store.check() == []


@pytest.mark.parametrize("nobody", ["", " "])
def test_an_empty_code_takes_out_nothing(store: Store, nobody: str) -> None:
    """As a script gives it whose variable is not set; it fitted every item that tells no owner."""
    plan = frozen(store, [unit("u1")])
    store.labels.record(plan, unit("u1"), label(plan, unit("u1"), "open", "state", "completed"))
    for done in (preview_withdrawal, withdraw):
        with pytest.raises(LabError, match="withdraw: names nobody: the study code is empty; nothing was done"):
            done(store, nobody, D01)
    assert [one.id for one in store.studies.units(plan)] == ["u1"]
    assert len(list(store.labels.read(plan))) == 1


def test_they_may_withdraw_others_before_and_themselves(store: Store, filled: Filled) -> None:
    withdraw(store, "R2", P07)
    withdraw(store, CODE, P07)
    signed = [body for (body,) in store.database.read("SELECT body FROM withdrawal")]
    assert [f'"id":"{WITHDRAWN_ACTOR.id}"' in body for body in signed] == [True, True]
    assert store.check() == []


def test_what_fails_half_way_leaves_the_file_and_its_triggers_as_they_were(
    store: Store, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(store)

    def fails(*_: object) -> None:
        raise sqlite3.OperationalError("disk full")

    monkeypatch.setattr(_Withdrawing, "_sign_as_withdrawn", fails)
    with pytest.raises(LabError):
        withdraw(store, CODE, D01)
    assert everything(store) == before
    assert store.check() == []


def test_a_large_share_of_a_study_may_be_theirs(store: Store) -> None:
    units = [unit(f"u{i}") for i in range(300)]
    plan = frozen(store, units, raters=(CODE, "R2"))
    done: Erased = withdraw(store, CODE, D01)
    assert done.row.counts == {"assignments": 300}
    assert store.studies.progress(plan, "R2").dealt == 300
    assert store.check() == []


def test_what_is_counted_of_others_is_what_is_left_of_theirs(store: Store) -> None:
    theirs, other = unit("u1", owner=CODE), unit("u2")
    plan = frozen(store, [theirs, other], raters=(CODE, "R2"))
    for of in (theirs, other):
        for target, value in (("open", "completed"), ("pay", "not_completed")):
            store.labels.record(plan, of, label(plan, of, target, "state", value, rater=R2))
    withdraw(store, CODE, D01)
    left = store.studies.progress(plan, "R2")
    assert (left.dealt, left.done, left.begun) == (1, 0, 1)
    assert store.check() == []


def test_a_model_that_has_their_code_for_a_name_is_not_they(store: Store) -> None:
    plan = frozen(store, [unit("u1")], raters=(CODE, "R2"))
    for kind in ("human", "model"):
        store.labels.record(
            plan, unit("u1"), label(plan, unit("u1"), "open", "state", "completed", rater=Actor(kind, CODE))
        )
    withdraw(store, CODE, D01)
    assert [one.rater.kind for one in store.labels.read(plan)] == ["model"]
    assert store.check() == []
