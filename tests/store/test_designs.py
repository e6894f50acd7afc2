"""Designs in the file: row upon row, two people at once, another person to verify, and nothing after that."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
import pytest

from lab.core.errors import LabError
from lab.core.task.design import (
    Act,
    Design,
    Revision,
    Subject,
    clash_words,
    first_draft,
    next_revision,
    subject_of,
    undo,
)
from lab.core.task.task import Actor, Criterion, Rubric, Task, Tdg, TdgNode
from store.file import schema
from store.file.connection import connect
from store.store import Store

LUNCH = subject_of(Task("lunch", "general", instruction="Order lunch."))
ANA, BO = Actor("human", "P01"), Actor("human", "P02")
OPEN = Design(Tdg((TdgNode("open", "Open the app"),)))
ASKS = Design(Tdg((TdgNode("open", "Open the app"),)), rubric=Rubric((Criterion("fit", "Does it fit?"),)))


def drafted(store: Store, design: Design = OPEN, by: Actor = ANA) -> Revision:
    row = first_draft(LUNCH, by, design, "add Open the app")
    assert store.designs.append(row) == [row]
    return row


def submitted(store: Store) -> Revision:
    row = next_revision(drafted(store), "submit", ANA)
    store.designs.append(row)
    return row


def verified(store: Store) -> Revision:
    row = next_revision(submitted(store), "verify", BO)
    store.designs.append(row)
    return row


def test_each_save_is_a_row_and_the_last_is_what_stands(store: Store) -> None:
    first = drafted(store)
    second = next_revision(first, "draft", ANA, design=ASKS, note="add Does it fit?")
    assert store.designs.append(second) == [second]
    assert store.designs.heads(LUNCH) == [second]
    assert store.designs.revision(first.id) == first
    assert [(line.act, line.by, line.note) for line in store.designs.history(LUNCH)] == [
        ("draft", "P01", "add Open the app"), ("draft", "P01", "add Does it fit?"),
    ]  # fmt: skip
    assert store.designs.subjects() == [LUNCH]
    assert store.designs.heads(Subject("lunch", "another")) == []
    assert store.designs.newest_verified(LUNCH) is None


def test_another_person_verifies_and_then_nothing_changes(store: Store) -> None:
    row = submitted(store)
    with pytest.raises(LabError, match="was drafted by P01; another person verifies it"):
        store.designs.append(next_revision(row, "verify", ANA))
    with pytest.raises(LabError, match="by a person"):
        store.designs.append(next_revision(row, "verify", Actor("model", "gpt")))
    with pytest.raises(LabError, match="is submitted and waits"):
        store.designs.append(next_revision(row, "draft", ANA, design=ASKS))
    done = next_revision(row, "verify", BO)
    assert store.designs.append(done) == [done]
    assert store.designs.newest_verified(LUNCH) == done
    acts: tuple[Act, ...] = ("draft", "submit", "object", "verify", "review")
    for act in acts:
        with pytest.raises(LabError, match=r"verified meanwhile: version 1 never changes|is verified"):
            store.designs.append(next_revision(done, act, BO, note="no"))
    # What somebody still drafts in another window, on the row before it was submitted, is refused too.
    with pytest.raises(LabError, match="never changes"):
        store.designs.append(next_revision(store.designs.revision(row.supersedes[0]), "draft", ANA, design=ASKS))
    assert store.designs.heads(LUNCH) == [done]


def test_reopening_makes_a_new_version_and_the_frozen_one_still_counts(store: Store) -> None:
    done = verified(store)
    again = next_revision(done, "reopen", BO)
    store.designs.append(again)
    assert (again.version, again.state, again.design) == (2, "draft", done.design)
    changed = next_revision(again, "draft", ANA, design=ASKS)
    store.designs.append(changed)
    assert store.designs.newest_verified(LUNCH) == done
    assert store.designs.authors(LUNCH, 2) == ["P01"]  # who reopens is no author, and may verify
    store.designs.append(sent := next_revision(changed, "submit", ANA))
    store.designs.append(final := next_revision(sent, "verify", BO))
    assert store.designs.newest_verified(LUNCH) == final
    assert store.designs.authors(LUNCH, 1) == ["P01"]


def test_objections_come_back_with_the_draft_and_go_with_the_next_submission(store: Store) -> None:
    row = submitted(store)
    with pytest.raises(LabError, match="needs words to object"):
        store.designs.append(next_revision(row, "object", BO))
    looked = next_revision(row, "review", BO, marks={"tdg/open": "which app?"})
    store.designs.append(looked)
    with pytest.raises(LabError, match="has objections"):
        store.designs.append(next_revision(looked, "verify", BO))
    sent_back = next_revision(looked, "object", BO, note="see the node")
    store.designs.append(sent_back)
    assert (sent_back.state, sent_back.marks) == ("objected", {"tdg/open": "which app?"})
    other = next_revision(sent_back, "draft", ANA, design=ASKS)
    assert other.marks == {"tdg/open": "which app?"}
    named = Design(Tdg((TdgNode("open", "Open Noshwell"),)))
    mended = next_revision(other, "draft", ANA, design=named)
    assert mended.marks == {}
    store.designs.append(other)
    store.designs.append(mended)
    store.designs.append(again := next_revision(mended, "submit", ANA))
    assert again.state == "submitted"


def test_two_people_drafting_at_once_lose_nothing_and_are_told(store: Store) -> None:
    first = drafted(store)
    mine = next_revision(first, "draft", ANA, design=ASKS)
    theirs = next_revision(first, "draft", BO, design=Design())
    assert store.designs.append(mine) == [mine]
    assert store.designs.append(theirs) == [mine, theirs]
    assert "P01, P02" in clash_words(store.designs.heads(LUNCH))
    more = next_revision(mine, "draft", ANA, design=OPEN)
    assert store.designs.append(more) == [theirs, more]
    with pytest.raises(LabError, match="beside each other"):
        store.designs.append(next_revision(more, "submit", ANA))
    with pytest.raises(LabError, match="nothing to settle"):
        store.designs.append(next_revision(more, "settle", ANA))
    settled = next_revision(more, "settle", ANA, also=[theirs])
    assert store.designs.append(settled) == [settled]
    assert (settled.version, settled.design) == (1, OPEN)
    assert len(store.designs.history(LUNCH)) == 5


def test_two_first_drafts_stand_beside_each_other(store: Store) -> None:
    mine, theirs = drafted(store), first_draft(LUNCH, BO, ASKS)
    assert store.designs.append(theirs) == [mine, theirs]


def test_what_was_changed_meanwhile_is_neither_submitted_nor_verified(store: Store) -> None:
    first = drafted(store)
    store.designs.append(next_revision(first, "draft", BO, design=ASKS))
    with pytest.raises(LabError, match=r"beside each other|changed meanwhile"):
        store.designs.append(next_revision(first, "submit", ANA))


def test_undo_is_a_row_and_goes_back_as_far_as_the_drafting_does(store: Store) -> None:
    row = drafted(store, Design())
    designs = [Design()]
    for name in "abc":
        design = Design(Tdg((*designs[-1].tdg.nodes, TdgNode(name, name))))
        designs.append(design)
        row = next_revision(row, "draft", ANA, design=design, note=f"add {name}")
        store.designs.append(row)
    for left, note in ((2, "c"), (1, "b"), (0, "a")):
        back = undo(row, ANA, store.designs.revision)
        assert back is not None
        assert (back.design, back.note) == (designs[left], f"took back: add {note}")
        store.designs.append(back)
        row = back
        if left == 1:  # something new between two undos does not hide what was before
            row = next_revision(row, "draft", ANA, design=OPEN, note="other")
            store.designs.append(row)
            row = undo(row, ANA, store.designs.revision) or row
            store.designs.append(row)
            assert row.design == designs[1]
    last = undo(row, ANA, store.designs.revision)
    assert last is not None
    store.designs.append(last)
    assert undo(last, ANA, store.designs.revision) is None
    assert undo(submitted_from(store, last), ANA, store.designs.revision) is None


def submitted_from(store: Store, row: Revision) -> Revision:
    sent = next_revision(row, "submit", ANA)
    store.designs.append(sent)
    return sent


def test_a_task_is_the_same_wherever_it_stands() -> None:
    task = Task("lunch", "general", instruction="Order lunch.")
    told = msgspec.structs.replace(
        task, title="Lunch", budget=99, phone={"a": 1}, persona="ines", instruction="Order lunch. "
    )
    assert subject_of(told) == LUNCH
    assert subject_of(msgspec.structs.replace(task, instruction="Order tea.")) != LUNCH
    quiet = Task("nap", "proactive", title="A nap", persona="here/own/tobin", time="2026-03-27T12:05:00+08:00")
    assert subject_of(quiet) == subject_of(msgspec.structs.replace(quiet, persona="elsewhere/tobin"))
    assert subject_of(quiet) != subject_of(msgspec.structs.replace(quiet, time="2026-03-28T12:05:00+08:00"))


def test_runs_of_a_task_the_newest_first(store: Store) -> None:
    from tests.screens.runs import BARE, bare_run

    store.runs.add(bare_run())
    store.runs.add(bare_run("99999999-0000-7000-8000-000000000009"))
    assert store.runs.of_task("mail") == ["99999999-0000-7000-8000-000000000009", BARE]
    assert store.runs.of_task("none") == []


def old_file(path: Path) -> Path:
    """A database as the program of schema 1 left it: a run, a verdict, a picture, and half an answer."""
    db = sqlite3.connect(path)
    db.executescript(Path(__file__).with_name("version1.sql").read_text(encoding="utf-8"))
    db.close()
    return path


def test_a_file_of_the_first_schema_is_renewed_and_keeps_its_rows(tmp_path: Path) -> None:
    path = old_file(tmp_path / "old.db")
    with Store.open(path) as store:
        assert store.check() == []
        assert store.runs.trace("t1").status == "completed"
        assert store.runs.draft("t1", "q1") == "half a wo"
        assert store.runs.verdicts("t1")[0].value is True
        assert verified(store) == store.designs.newest_verified(LUNCH)
        for sql in ("UPDATE design SET note = 'x'", "DELETE FROM design", "DELETE FROM trace"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                store.database.connection().execute(sql)
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
    db.close()


def test_a_file_of_the_first_schema_is_read_without_being_changed(tmp_path: Path) -> None:
    path = old_file(tmp_path / "old.db")
    before = path.read_bytes()
    with Store.open(path, readonly=True) as store:
        assert [run.task for run in store.runs.summaries()] == ["lunch"]
        assert store.check() == []
        assert not store.designs.subjects()
        assert not store.designs.heads(LUNCH)
        assert not store.designs.history(LUNCH)
        assert store.designs.newest_verified(LUNCH) is None
        store.pack(tmp_path / "bare.db", images=False)
        store.pack(tmp_path / "whole.db")
    assert path.read_bytes() == before
    with Store.open(tmp_path / "bare.db") as packed, Store.open(tmp_path / "whole.db") as whole:
        assert packed.runs.trace("t1") == whole.runs.trace("t1")
        assert drafted(packed) in packed.designs.heads(LUNCH)


def test_a_renewal_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = old_file(tmp_path / "old.db")
    monkeypatch.setattr(schema, "_SECOND", (*schema._SECOND, "CREATE NONSENSE"))
    with pytest.raises(LabError, match=r"old\.db"):
        Store.open(path)
    db = connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (1,)
    assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'design'").fetchone() == (0,)
    db.close()


def test_designs_are_packed(store: Store, tmp_path: Path) -> None:
    done = verified(store)
    for images in (True, False):
        out = tmp_path / f"{images}.db"
        store.pack(out, images=images)
        with Store.open(out, readonly=True) as packed:
            assert packed.designs.newest_verified(LUNCH) == done
            assert packed.designs.history(LUNCH) == store.designs.history(LUNCH)
