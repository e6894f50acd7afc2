"""Reviews and clearances in a file: durable, append-only, under the rules, and read without a run's screens."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.study.proofreading import proof_of
from lab.core.task.task import Actor
from store.store import Store
from tests.demonstrations import DEMO, demonstration, row
from tests.screens.runs import whole_run


def test_what_is_proofread_is_the_same_read_with_and_without_its_screens(store: Store) -> None:
    store.runs.add(demonstration())
    assert store.reviews.proof_of(DEMO) == proof_of(store.runs.trace(DEMO))


def test_only_what_a_person_did_to_its_end_is_a_demonstration(store: Store) -> None:
    store.runs.add(demonstration())
    store.runs.add(demonstration("open-1", ended=False))
    store.runs.add(demonstration("script-1", by=Actor("script", "rule")))
    store.runs.add(whole_run())
    assert store.reviews.demonstrations() == [DEMO]
    with pytest.raises(LabError, match="is still open"):
        store.reviews.proof_of("open-1")
    with pytest.raises(LabError, match="no person worked the phone"):
        store.reviews.proof_of("script-1")
    with pytest.raises(LabError, match="is not in"):
        store.reviews.proof_of("nothing")


def test_words_are_kept_all_or_none_and_stand_for_every_reader(store: Store) -> None:
    store.runs.add(demonstration())
    proof = store.reviews.proof_of(DEMO)
    one, other = row("P1", "accept", 0, "step"), row("P1", "accept", 9, "step")
    with pytest.raises(LabError, match="there is no step 10"):
        store.reviews.append(proof, [one, other])
    assert store.reviews.of_run(DEMO) == []
    assert store.reviews.append(proof, [one]) == [one]
    with Store.open(store.path, readonly=True) as reader:
        assert reader.reviews.of_run(DEMO) == [one]
        with pytest.raises(LabError, match="changed meanwhile"):
            store.reviews.append(proof, [row("P1", "accept", 0, "step")])


def test_a_cleared_demonstration_waits_no_more(store: Store) -> None:
    store.runs.add(demonstration())
    assert store.reviews.uncleared() == [DEMO]
    word = store.reviews.record_clearance(DEMO, Actor("human", "D01"))
    assert store.reviews.clearances(DEMO) == [word]
    assert store.reviews.uncleared() == []
    with pytest.raises(LabError, match="is not in"):
        store.reviews.record_clearance("nothing", Actor("human", "D01"))


def test_an_older_file_that_is_only_read_has_none_of_this(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    db = sqlite3.connect(path)
    db.executescript(Path(__file__).with_name("version1.sql").read_text(encoding="utf-8"))
    db.close()
    with Store.open(path, readonly=True) as old:
        (run,) = old.runs.summaries()
        assert (old.reviews.of_run(run.id), old.reviews.clearances(run.id), old.erasure.tombstone(run.id)) == (
            [],
            [],
            None,
        )
        assert old.erasure.replaced_by(run.id) == []
