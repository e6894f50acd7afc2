"""Runs that are archived and tagged: rows that later ones supersede, and that go wherever the run goes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.run.run_records import Imported, RunAct, check_tag, number_events
from lab.core.run.trace import Ended, Started
from lab.core.task.task import Actor, Task
from lab.core.values.ids_and_clock import now, uuid7
from lab.runs.listing.run_acts import TagChange, archive_runs, tag_change, tag_runs, undo_acts
from store.copies.merge import merge
from store.copies.pack import pack
from store.erasing.run_redaction import redact
from store.erasing.withdrawal import withdraw
from store.runs.run_acts import RunState
from store.store import Store
from tests.store.first_version import unpacked

D1 = Actor("human", "D1")


def run(id: str, words: str = "Buy milk") -> Imported:
    task = Task("shop", "general", "", words)
    return Imported(
        number_events([Started(trace=id, task=task, agent=Actor("model", "m")), Ended(status="failed")]), {}, []
    )


@pytest.fixture
def filled(store: Store) -> Store:
    store.runs.add_all([run("a"), run("b"), run("c")])
    return store


def listed(store: Store, *, archived: bool | None = False, tag: str = "") -> list[str]:
    return [line.id for line in store.runs.summaries(archived=archived, tag=tag)]


def test_an_archived_run_is_in_no_list_until_it_is_restored_and_every_act_stays(filled: Store) -> None:
    (act,) = archive_runs(filled, ["b"], "D1")
    assert listed(filled) == ["c", "a"]
    assert listed(filled, archived=True) == ["b"]
    assert listed(filled, archived=None) == ["c", "b", "a"]
    assert [line.id for line in filled.runs.summaries(1, before="c")] == ["a"]
    assert {row.id: row.archived for row in filled.runs.rows(-1)} == {"a": False, "b": True, "c": False}
    assert filled.runs.trace("b").status == "failed"
    assert filled.runs.find("b") == "b"
    assert archive_runs(filled, ["b"], "D1") == []
    undo_acts(filled, [act], "D2")
    assert listed(filled) == ["c", "b", "a"]
    assert [(one.act, one.by.id) for one in filled.runs.acts.of_run("b")] == [("archived", "D1"), ("restored", "D2")]
    assert archive_runs(filled, ["a"], "D1", archived=False) == [], "what is in the lists is not restored"


def test_tags_are_put_on_and_taken_off_and_find_their_runs(filled: Store) -> None:
    acts = tag_runs(filled, ["a", "b"], tag_change(["+Pilot", "main"]), "D1")
    assert len(acts) == 4
    assert filled.runs.acts.tags() == {"main": 2, "pilot": 2}
    tag_runs(filled, ["a", "c"], tag_change(["-pilot"]), "D1")
    assert filled.runs.acts.states(["a", "b", "c"]) == {"a": RunState(("main",)), "b": RunState(("main", "pilot"))}
    assert listed(filled, tag="pilot") == ["b"]
    archive_runs(filled, ["b"], "D1")
    assert listed(filled, tag="main") == ["a"]
    assert listed(filled, archived=True, tag="main") == ["b"]
    assert filled.runs.summary("b").tags == ("main", "pilot")
    assert [row.tags for row in filled.runs.rows(-1)] == [(), ("main", "pilot"), ("main",)]


@pytest.mark.parametrize("word", ["", "two words", "none", "-x", "a" * 41, "x\x1b[31m", "a:b", '"', "#x"])
def test_what_is_no_tag_is_refused_in_plain_characters(word: str) -> None:
    with pytest.raises(LabError) as refused:
        check_tag(word)
    assert "\x1b" not in refused.value.sentence
    assert refused.value.code == 2


def test_one_tag_is_not_put_on_and_taken_off_at_once() -> None:
    with pytest.raises(LabError, match="at once"):
        tag_change(["+x", "-X"])
    assert tag_change(["+试点", "-x/y.1"]) == TagChange(("试点",), ("x/y.1",))


def test_of_several_acts_all_or_none_are_kept(filled: Store) -> None:
    with pytest.raises(LabError, match="run nowhere: is not in this file"):
        archive_runs(filled, ["a", "nowhere"], "D1")
    assert filled.runs.acts.of_run("a") == []


def test_what_came_later_counts_although_a_clock_was_set_back(filled: Store) -> None:
    filled.runs.acts.record([RunAct(uuid7(), "a", "archived", D1, "2031-01-01T00:00:00.000000+00:00")])
    filled.runs.acts.record([RunAct(uuid7(), "a", "restored", D1, "2026-01-01T00:00:00.000000+00:00")])
    assert listed(filled) == ["c", "b", "a"]


def test_the_stamp_of_the_table_changes_with_each_act(filled: Store) -> None:
    before = filled.runs.rows_stamp()
    tag_runs(filled, ["a"], TagChange(("x",)), "D1")
    assert filled.runs.rows_stamp() != before


def test_a_file_of_0_1_0_opens_and_its_runs_are_archived(tmp_path: Path) -> None:
    path = unpacked(tmp_path / "first.db")
    with Store.open(path, readonly=True) as store:  # not migrated: there is no such table
        runs = listed(store)
        assert listed(store, archived=True) == []
        assert listed(store, tag="x") == []
        assert store.runs.acts.archived() == set()
        assert store.runs.rows(1)[0].tags == ()
        assert len(store.runs.rows_stamp()) == 4
    with Store.open(path) as store:
        archive_runs(store, runs[:1], "D1")
        assert listed(store) == runs[1:]
        assert store.check() == []
    with sqlite3.connect(path) as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute("UPDATE run_act SET act = 'restored'")


def test_copies_are_merged_and_the_last_act_of_either_counts(filled: Store, tmp_path: Path) -> None:
    archive_runs(filled, ["a", "b"], "D1")
    pack(filled.path, tmp_path / "copy.db", images=True)
    with Store.open(tmp_path / "copy.db") as copy:
        archive_runs(copy, ["a"], "D2", archived=False)
        tag_runs(copy, ["c"], TagChange(("x",)), "D2")
    merged = merge(filled, [tmp_path / "copy.db"])
    assert merged.added == {"run_acts": 2}
    assert listed(filled) == ["c", "a"]
    assert filled.runs.acts.tags() == {"x": 1}
    assert merge(filled, [tmp_path / "copy.db"]).added == {}


def test_merging_in_the_other_order_says_the_same(filled: Store, tmp_path: Path) -> None:
    pack(filled.path, tmp_path / "copy.db", images=True)
    archive_runs(filled, ["a"], "D1")
    with Store.open(tmp_path / "copy.db") as copy:
        acts = archive_runs(copy, ["a"], "D2")
        undo_acts(copy, acts, "D2")
        merge(copy, [filled.path])
        theirs = listed(copy)
    merge(filled, [tmp_path / "copy.db"])
    assert listed(filled) == theirs == ["c", "b", "a"]


def test_who_withdrew_tags_nothing_and_what_they_did_is_signed_anew(filled: Store) -> None:
    archive_runs(filled, ["a"], "P07")
    tag_runs(filled, ["b"], TagChange(("p07", "kept")), "D1")
    _withdraw(filled)
    assert listed(filled) == ["c", "b"], "what others built on stands"
    assert [act.by.id for act in filled.runs.acts.of_run("a")] == ["withdrawn"]
    assert filled.runs.acts.tags() == {"kept": 1}
    with pytest.raises(LabError, match="has withdrawn"):
        archive_runs(filled, ["b"], "P07")


def _withdraw(store: Store) -> None:
    """P07 withdraws, of whom the file holds a run besides, so that there is something to erase."""
    started = Started(trace="p", task=Task("t", "general"), agent=Actor("human", "P07"))
    store.runs.add(Imported(number_events([started, Ended(status="completed")]), {}, []))
    withdraw(store, "P07", D1)
    store.erasure.wipe()


def test_a_redacted_run_is_archived_and_tagged_as_the_one_before_it(store: Store) -> None:
    store.runs.add(run("secret", "Call Mrs Featherstonehaugh"))
    archive_runs(store, ["secret"], "D1")
    tag_runs(store, ["secret"], TagChange(("pilot", "featherstonehaugh")), "D1")
    done = redact(store, "secret", D1, boxes={}, words=["Featherstonehaugh"])
    new = done.replaced["secret"]
    assert listed(store, archived=True) == [new]
    tags = store.runs.summary(new).tags
    assert "pilot" in tags
    assert not any("feather" in tag for tag in tags)
    assert store.runs.acts.of_run("secret") == []
    assert b"eatherstonehaugh" not in store.path.read_bytes()


def test_runs_of_a_kit_are_archived_where_it_came_from(filled: Store) -> None:
    db = filled.database.connection()
    db.execute("INSERT INTO kit VALUES (NULL, 'k', 'R2', '{}')")
    with pytest.raises(LabError, match="kit of R2"):
        archive_runs(filled, ["a"], "D1")


def test_times_are_those_of_the_acts(filled: Store) -> None:
    before = now()
    (act,) = archive_runs(filled, ["a"], "D1")
    assert before <= act.at <= now()
