"""Reviews and clearances in a file: durable, append-only, under the rules, and read without a run's screens."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.review import proof_of
from lab.task import Actor
from store.store import Store
from tests.demonstrations import DEMO, demonstration, row
from tests.screens.runs import whole_run


def test_what_is_proofread_is_the_same_read_with_and_without_its_screens(store: Store) -> None:
    store.import_run(demonstration())
    assert store.proof(DEMO) == proof_of(store.trace(DEMO))


def test_only_what_a_person_did_to_its_end_is_a_demonstration(store: Store) -> None:
    store.import_run(demonstration())
    store.import_run(demonstration("open-1", ended=False))
    store.import_run(demonstration("script-1", by=Actor("script", "rule")))
    store.import_run(whole_run())
    assert store.demonstrations() == [DEMO]
    with pytest.raises(LabError, match="is still open"):
        store.proof("open-1")
    with pytest.raises(LabError, match="no person worked the phone"):
        store.proof("script-1")
    with pytest.raises(LabError, match="is not in"):
        store.proof("nothing")


def test_words_are_kept_all_or_none_and_stand_for_every_reader(store: Store) -> None:
    store.import_run(demonstration())
    proof = store.proof(DEMO)
    one, other = row("P1", "accept", 0, "step"), row("P1", "accept", 9, "step")
    with pytest.raises(LabError, match="there is no step 10"):
        store.append_reviews(proof, [one, other])
    assert store.reviews(DEMO) == []
    assert store.append_reviews(proof, [one]) == [one]
    with Store.open(store.path, readonly=True) as reader:
        assert reader.reviews(DEMO) == [one]
        with pytest.raises(LabError, match="changed meanwhile"):
            store.append_reviews(proof, [row("P1", "accept", 0, "step")])


def test_a_cleared_demonstration_waits_no_more(store: Store) -> None:
    store.import_run(demonstration())
    assert store.uncleared() == [DEMO]
    word = store.clear(DEMO, Actor("human", "D01"))
    assert store.clearances(DEMO) == [word]
    assert store.uncleared() == []
    with pytest.raises(LabError, match="is not in"):
        store.clear("nothing", Actor("human", "D01"))


def test_an_older_file_that_is_only_read_has_none_of_this(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    db = sqlite3.connect(path)
    db.executescript(Path(__file__).with_name("version1.sql").read_text(encoding="utf-8"))
    db.close()
    with Store.open(path, readonly=True) as old:
        (run,) = old.summaries()
        assert (old.reviews(run.id), old.clearances(run.id), old.tombstone(run.id)) == ([], [], None)
        assert old.replaced_by(run.id) == []
