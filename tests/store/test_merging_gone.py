"""Merging obeys who withdrew and what was erased, in whichever of the files: it goes from all, and never comes back."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.run.trace import Started
from lab.core.study.study import UnitText
from lab.core.task.design import Design, first_draft, next_revision, subject_of
from lab.core.task.task import Actor, InformationUnit, Task
from store.copies.merge import Merged, merge_into
from store.erasing.run_redaction import redact
from store.erasing.withdrawal import withdraw
from store.store import Store
from tests.demonstrations import DEMO, MAIL, demonstration, row
from tests.merging import content
from tests.store.test_kits_taken import forge
from tests.studies import R2, frozen, label, unit
from tests.withdrawals import CODE, D01, P07, Filled, fill

BY = Actor("human", "D01")


@pytest.fixture
def copies(tmp_path: Path) -> tuple[Path, Path, Filled]:
    """A.db, in which they stand everywhere, and B.db, a copy from which they withdrew."""
    with Store.open(tmp_path / "A.db") as store:
        filled = fill(store, tmp_path)
        store.pack(tmp_path / "B.db")
    with Store.open(tmp_path / "B.db") as store:
        withdraw(store, CODE, D01)
    return tmp_path / "A.db", tmp_path / "B.db", filled


def held(path: Path) -> bytes:
    return b"".join(beside.read_bytes() for beside in path.parent.glob(f"{path.name}*"))


def assert_without(path: Path, filled: Filled) -> None:
    bytes_ = held(path)
    assert [word for word in filled.gone if word.encode() in bytes_] == []
    assert [word for word in filled.kept if word.encode() not in bytes_] == []
    assert all(picture not in bytes_ for picture in filled.pictures)
    with Store.open(path) as store:
        assert store.labels.has_withdrawn(CODE)
        assert not any(store.runs.has_run(run) for run in filled.runs)
        assert store.check() == []


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_who_withdrew_from_one_is_in_none_of_the_whole(
    tmp_path: Path, copies: tuple[Path, Path, Filled], order: tuple[int, int]
) -> None:
    files, filled = copies[:2], copies[2]
    whole = tmp_path / "whole" / "whole.db"
    whole.parent.mkdir()
    merge_into(whole, [files[at] for at in order])
    assert_without(whole, filled)
    assert content(whole) == content(files[1])
    assert merge_into(whole, files).added == {}
    assert_without(whole, filled)


def test_who_withdrew_elsewhere_goes_from_here(copies: tuple[Path, Path, Filled]) -> None:
    a, b, filled = copies
    done = merge_into(a, [b])
    assert (done.withdrew, done.added) == ((CODE,), {})
    assert done.removed["labels"] == 10
    assert done.linked_files == (str(filled.outside),)
    assert_without(a, filled)
    assert content(a) == content(b)
    assert merge_into(a, [b]).removed == {}


def test_who_withdrew_here_does_not_come_back_from_elsewhere(copies: tuple[Path, Path, Filled]) -> None:
    a, b, filled = copies
    done = merge_into(b, [a])
    assert (done.withdrew, done.added, done.removed) == ((), {}, {})
    assert_without(b, filled)


def test_items_that_went_from_one_go_from_another_that_cannot_know_whom_they_quote(tmp_path: Path) -> None:
    """B.db holds the study that quotes them, and not the words of theirs that it quotes."""
    said = "a long sentence of theirs"
    units = [unit("theirs"), unit("quoting", given=(UnitText("One", said),)), unit("other")]
    with Store.open(tmp_path / "A.db") as store:
        plan = frozen(store, units, raters=(CODE, "R2"))
        store.pack(tmp_path / "B.db")
        store.labels.record(plan, units[0], replace(label(plan, units[0], "open", "state", "not_completed"), rater=P07))
        store.labels.record(plan, units[0], replace(label(plan, units[0], "open", "why", said), rater=P07))
        withdraw(store, CODE, D01)
    with Store.open(tmp_path / "B.db") as store:
        for one in units:
            store.labels.record(plan, one, replace(label(plan, one, "open", "state", "completed"), rater=R2))
    shutil.copy(tmp_path / "B.db", tmp_path / "C.db")
    done = merge_into(tmp_path / "C.db", [tmp_path / "A.db"])
    assert (done.removed["units"], said.encode() in held(tmp_path / "C.db")) == (1, False)
    for name, files in (("X.db", ["A.db", "B.db"]), ("Y.db", ["B.db", "A.db"])):
        merge_into(tmp_path / name, [tmp_path / file for file in files])
        with Store.open(tmp_path / name) as store:
            assert sorted(one.unit for one in store.labels.read(plan)) == ["other", "theirs"]
            assert store.check() == []
    assert content(tmp_path / "X.db") == content(tmp_path / "Y.db") == content(tmp_path / "C.db")


def test_items_that_are_missing_without_a_withdrawal_are_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path / "A.db") as store:
        frozen(store, [unit("u1"), unit("u2")])
    forge(tmp_path / "A.db", "", sql="DELETE FROM unit WHERE id = 'u2'")
    with pytest.raises(LabError, match="holds 1 of 2 items, and nobody has withdrawn"):
        merge_into(tmp_path / "B.db", [tmp_path / "A.db"])


def test_rows_of_who_withdrew_that_a_file_should_not_hold_are_refused(tmp_path: Path) -> None:
    units = [unit("u1")]
    with Store.open(tmp_path / "A.db") as store:
        plan = frozen(store, units, raters=(CODE, "R2"))
        store.labels.record(plan, units[0], replace(label(plan, units[0], "open", "state", "completed"), rater=P07))
        store.pack(tmp_path / "B.db")
    with Store.open(tmp_path / "B.db") as store:
        withdraw(store, CODE, D01)
        row = store.database.read("SELECT code, at, body FROM withdrawal")[0]
    import sqlite3

    with sqlite3.connect(tmp_path / "A.db") as db:
        db.execute("INSERT INTO withdrawal VALUES (?, ?, ?)", row)
    with pytest.raises(LabError, match=f"{CODE} has withdrawn"):
        merge_into(tmp_path / "whole.db", [tmp_path / "A.db"])


# -- runs that were redacted -----------------------------------------------------------------------------------


@pytest.fixture
def redacted(tmp_path: Path) -> tuple[Path, Path]:
    """A.db with a demonstration and a design that quotes it, and B.db, a copy in which both are covered."""
    with Store.open(tmp_path / "A.db") as store:
        store.runs.add(demonstration())
        store.reviews.append(store.reviews.proof_of(DEMO), [row("P1", "reject", 0, "step", note=MAIL, new="reject")])
        draft = Design(units=(InformationUnit("to", "To whom", MAIL),))
        first = first_draft(subject_of(Task("demo-1", "general", "", "Write")), BY, draft)
        for one in (first, next_revision(first, "submit", BY)):
            store.designs.append(one)
        store.pack(tmp_path / "B.db")
    with Store.open(tmp_path / "B.db") as store:
        redact(store, DEMO, BY, boxes={}, words=[MAIL])
    return tmp_path / "A.db", tmp_path / "B.db"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_run_that_was_redacted_in_one_is_covered_in_the_whole(
    tmp_path: Path, redacted: tuple[Path, Path], order: tuple[int, int]
) -> None:
    whole = tmp_path / "whole.db"
    merge_into(whole, [redacted[at] for at in order])
    assert MAIL.encode() not in held(whole)
    assert content(whole) == content(redacted[1])
    with Store.open(whole) as store:
        assert not store.runs.has_run(DEMO)
        assert store.check() == []
    assert merge_into(whole, redacted).added == {}


def test_a_design_drawn_up_in_the_copy_that_was_redacted_is_not_lost(tmp_path: Path) -> None:
    a, b = tmp_path / "A.db", tmp_path / "B.db"
    with Store.open(a) as store:
        store.runs.add(demonstration())
        store.pack(b)
    with Store.open(b) as store:
        draft = Design(units=(InformationUnit("to", "To whom", MAIL),))
        store.designs.append(first_draft(subject_of(Task("demo-1", "general", "", "Write")), BY, draft))
        redact(store, DEMO, BY, boxes={}, words=[MAIL])
    assert merge_into(a, [b]).added["designs"] == 1
    assert MAIL.encode() not in held(a)
    assert content(a) == content(b)


@pytest.mark.parametrize("here", [0, 1])
def test_it_is_covered_here_and_does_not_come_back(redacted: tuple[Path, Path], here: int) -> None:
    done: Merged = merge_into(redacted[here], [redacted[1 - here]])
    assert bool(done.removed) == (here == 0)
    assert MAIL.encode() not in held(redacted[here])
    assert content(redacted[0]) == content(redacted[1]) or here == 1
    assert merge_into(redacted[here], [redacted[1 - here]]).added == {}


def test_a_run_redacted_twice_leads_to_what_stands_there_now(tmp_path: Path, redacted: tuple[Path, Path]) -> None:
    a, b = redacted
    with Store.open(b) as store:
        store.pack(tmp_path / "C.db")
    with Store.open(tmp_path / "C.db") as store:
        again = redact(store, store.database.read("SELECT id FROM trace")[0][0], BY, boxes={}, words=["Mara"])
    last = next(iter(again.replaced.values()))
    orders: Sequence[Sequence[Path]] = ([a, b, tmp_path / "C.db"], [tmp_path / "C.db", b, a])
    for number, order in enumerate(orders):
        merge_into(tmp_path / f"{number}.db", order)
        with Store.open(tmp_path / f"{number}.db") as store:
            assert [stone.trace for stone in store.erasure.replaced_by(last)] != []
            assert store.database.read("SELECT id FROM trace") == [(last,)]
            stone = store.erasure.tombstone(DEMO)
            assert stone is not None
            assert stone.replaced_by == last


@pytest.mark.parametrize("here", [0, 1])
def test_a_run_that_begins_as_one_redacted_elsewhere_is_refused(redacted: tuple[Path, Path], here: int) -> None:
    a, b = redacted
    with Store.open(a) as store:
        run = demonstration("fork")
        first = run.events[0]
        assert isinstance(first, Started)
        store.runs.add(run._replace(events=[replace(first, parent=DEMO), *run.events[1:]]))
    before = [content(a), content(b)]
    with pytest.raises(LabError, match=f"run fork.* begins as run {DEMO}, which was redacted"):
        merge_into(redacted[here], [redacted[1 - here]])
    assert [content(a), content(b)] == before
