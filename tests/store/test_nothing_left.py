"""Nothing is left: a marker is planted wherever words may stand, erased, and looked for in all bytes.

Which can is told here by name, from the schema: a new column or field without a rule makes these tests fail.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from lab.core.run.run_records import Blob, Imported, Tombstone, Verdict
from lab.core.run.shadow_answer import ShadowAnswer
from lab.core.run.trace import Ended, Forked, Source, Started
from lab.core.study.adjudication import Move, Settlement
from lab.core.study.label import Act, Label, Withdrawal
from lab.core.study.proofreading import Review
from lab.core.study.study import Gold, Study, Target, Unit, UnitText
from lab.core.task.design import Design, Revision, first_draft, next_revision, subject_of
from lab.core.task.task import Actor, InformationUnit, Task
from lab.core.values.ids_and_clock import now, uuid7
from store.store import Store
from tests.demonstrations import demonstration, row
from tests.replied import Hitlab, bytes_of, hitlab
from tests.studies import frozen, label
from tests.withdrawals import CODE, D01, P07, fill, shadow

WORDS = "words"
COLUMNS = {
    "trace": {"source_path": WORDS, **dict.fromkeys(
        ("id", "task", "kind", "agent", "persona", "user", "device", "seat", "parent", "source", "started_at"),
        "name")},
    "event": {"body": WORDS, **dict.fromkeys(("trace", "kind", "at", "status"), "name")},
    "blob": {"bytes": WORDS, "sha256": "hash of what goes with it", "mime": "name"},
    "use": {"trace": "name", "sha256": "hash of what goes with it"},
    "verdict": {"body": WORDS, "name": WORDS, "trace": "name"},
    "draft": {"text": WORDS, "trace": "name", "question": "name", "at": "time"},
    "design": {"note": WORDS, "body": WORDS, **dict.fromkeys(
        ("id", "task", "asked", "act", "by", "at", "supersedes"), "name")},
    "review": {"body": WORDS, **dict.fromkeys(("id", "trace", "field", "act", "by", "at", "supersedes"), "name")},
    "clearance": dict.fromkeys(("id", "trace", "by", "at", "body"), "name"),
    "tombstone": dict.fromkeys(("trace", "why", "replaced_by", "by", "at", "body"), "name"),
    "link": {"path": "where a picture stands outside, which is told", "sha256": "hash", "mime": "name"},
    "study": dict.fromkeys(("id", "title", "sha", "at", "body"), "frozen plan, which is told"),
    "unit": {"body": WORDS, "study": "name", "id": "name"},
    "assignment": dict.fromkeys(("study", "rater", "unit", "stage", "at", "body"), "name"),
    "label": {"body": WORDS, **dict.fromkeys(
        ("id", "study", "unit", "target", "field", "kind", "rater", "at", "supersedes"), "name")},
    "act": {"body": WORDS, **dict.fromkeys(("id", "study", "rater", "unit", "act", "at"), "name")},
    "withdrawal": dict.fromkeys(("code", "at", "body"), "what stays of a person, without a word of theirs"),
    "kit": dict.fromkeys(("id", "rater", "body"), "name"),
    "run_act": dict.fromkeys(("id", "trace", "tag", "act", "by", "at", "body"), "name"),
    "shadow": {"body": WORDS, **dict.fromkeys(
        ("id", "trace", "question", "by", "at", "supersedes"), "name")},
    "answer_link": dict.fromkeys(("id", "person", "act", "at", "body"), "name"),
    "todo": dict.fromkeys(("study", "rater"), "name"),
    "tally": dict.fromkeys(("study", "rater"), "name"),
}  # fmt: skip
"""Each column that holds text, by table: whether it can hold a person's words, or what it holds instead."""

FIELDS: dict[type, tuple[set[str], set[str]]] = {
    Label: (
        {"value", "note"},
        {"id", "study", "unit", "target", "field", "act", "undoes", "reason_missing", "evidence", "cites", "shown_at",
         "first_key_at", "at", "guide_sha", "protocol_sha", "config_sha", "source", "supersedes", "also", "carries"},
    ),
    Act: ({"detail"}, {"id", "study", "act", "at", "unit", "carries"}),
    Settlement: ({"value", "reason"}, {"target", "field", "by_means", "reason_missing", "reason_id", "batch"}),
    Move: ({"was", "now", "code", "why"}, {"rater"}),
    Review: ({"old", "new", "note"}, {"id", "trace", "field", "act", "at", "supersedes"}),
    Revision: ({"note", "marks"}, {"id", "task", "asked", "act", "at", "supersedes", "undoes"}),
    UnitText: ({"title", "text", "items"}, {"side"}),
    Target: ({"says", "detail"}, {"id", "kind", "options", "requires"}),
    Gold: ({"value", "reason"}, {"target", "field"}),
    Verdict: ({"name", "value", "reason", "extra"}, set()),
    ShadowAnswer: (
        {"text", "why"},
        {"id", "trace", "question", "at", "decision", "missing", "shown_at", "sent_at", "config_sha", "supersedes"},
    ),
    Unit: ({"hidden"}, {"id", "runs", "question", "cluster", "owner"}),
    Tombstone: (set(), {"trace", "why", "at", "replaced_by", "counts"}),
    Withdrawal: (set(), {"code", "at", "counts"}),
}  # fmt: skip
"""Of rows that may stay when words are erased: the fields that can hold words, and those that hold names and times."""


def texts_of(kind: type) -> set[str]:
    """The fields of a struct that can hold text by themselves."""
    found = set()
    for field in msgspec.structs.fields(kind):
        if "str" in str(field.type) or "Any" in str(field.type) or "Literal" in str(field.type):
            found.add(field.name)
    return found


def test_every_column_and_field_that_holds_text_has_a_rule(store: Store) -> None:
    tables = [name for (name,) in store.database.read("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {
        table: {
            name
            for _, name, kind, *_ in store.database.read(f"PRAGMA table_info({table})")
            if kind in ("TEXT", "BLOB", "")
        }
        for table in tables
        if not table.startswith(("sqlite_", "_sqlite_"))
    }
    assert found == {table: set(columns) for table, columns in COLUMNS.items()}
    for kind, (words, names) in FIELDS.items():
        assert texts_of(kind) == words | names, kind.__name__


def columns_that_hold(db: Path, marks: list[str]) -> set[tuple[str, str]]:
    """The columns in which any of these words stands."""
    raw = sqlite3.connect(db)
    found = set()
    for table, columns in COLUMNS.items():
        for column in columns:
            rows = raw.execute(f"SELECT {column} FROM {table}")
            held = b"\0".join(text if isinstance(text, bytes) else str(text).encode() for (text,) in rows)
            if any(mark.encode() in held for mark in marks):
                found.add((table, column))
    raw.close()
    return found


CAN = {(table, column) for table, columns in COLUMNS.items() for column, what in columns.items() if what is WORDS}


def derived(word: str) -> list[bytes]:
    """What a short word can be guessed from: itself in other codings, and its hashes."""
    text = word.encode()
    digests = [hashlib.new(name, text).hexdigest().encode() for name in ("sha256", "sha1", "md5")]
    return [word.encode("utf-16-le"), base64.b64encode(text).rstrip(b"=")[:-1], text.hex().encode(), *digests]


def assert_nowhere(words: list[str], *places: Path, short: tuple[str, ...] = ()) -> None:
    """None of these words is in any byte, and of the short ones nothing that is derived from them."""
    held = bytes_of(*places)
    assert [word for word in words if word.encode() in held] == []
    assert [word for word in short if any(one in held for one in derived(word))] == []


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, ...]:
    """Every folder into which anything is written: data, cache, state, settings, temporary files."""
    found = []
    for name in ("DATA", "CACHE", "STATE", "CONFIG"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder))
        found.append(folder)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path)
    return (*found, tmp_path / "tmp")


# -- a person withdraws ----------------------------------------------------------------------------------------


def theirs(store: Store) -> list[str]:
    """What `fill` does not plant of theirs: where a run came from, a state, a verdict, recorded copies, short words."""
    state = Blob(b'{"notes": "zzstate of theirs"}', "application/json")
    run = demonstration("run-more", by=P07)
    first = run.events[0]
    assert isinstance(first, Started)
    first = replace(first, source=Source("knowu", "zzpath/logs"), state=state.sha256)
    verdict = Verdict("result", "zzvalue", "zzreason", {"zzkey": "zzextra"})
    store.runs.add(Imported([first, *run.events[1:]], {**run.images, state.sha256: state}, [verdict]))
    copy = replace(
        first, trace="run-copied", agent=Actor("script", "recorded:run-more"), user=D01, source=None, state=None
    )
    typed = [event for event in run.events[1:] if isinstance(event, Ended)]
    ended = replace(typed[0], seq=1, reason="zzrecorded")
    store.runs.add(Imported([copy, ended], run.images, []))
    fork = replace(copy, trace="run-forked", agent=Actor("script", "rule"), parent="run-copied", forked=Forked(0, 1))
    store.runs.add(Imported([fork, ended], run.images, []))
    return ["zzstate", "zzpath", "zzvalue", "zzreason", "zzkey", "zzextra", "zzrecorded"]


def test_nothing_of_a_person_who_withdrew_is_left_anywhere(
    tmp_path: Path, places: tuple[Path, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    db, outside = tmp_path / "lab.db", tmp_path / "outside"
    outside.mkdir()
    with Store.open(db) as store:
        filled = fill(store, outside)
        marks = [*filled.gone, *theirs(store)]
    assert columns_that_hold(db, marks) >= CAN
    call = hitlab(db, capsys, monkeypatch)
    assert call("agreement", "trial")[0] in (0, 1)
    assert call("withdraw", CODE, "--yes")[0] == 0
    assert columns_that_hold(db, marks) == set()
    assert_nowhere(marks, db, *places, short=("zzvalue", "zonotes", "zzstate"))
    assert [word for word in filled.kept if word.encode() not in bytes_of(db)] == []


# -- words are redacted ----------------------------------------------------------------------------------------

WORD = "zqsecretive"
RUN = "run-said"


def said(store: Store) -> None:
    """The word wherever a word of a run may stand, each in a text of its own."""
    run = demonstration(RUN, by=D01, intent=f"Tell them {WORD}")
    first = run.events[0]
    assert isinstance(first, Started)
    verdict = Verdict(f"of {WORD}", WORD, f"as {WORD}", {WORD: [WORD]})
    state = Blob(f'{{"notes": "{WORD}"}}'.encode(), "application/json")
    came = Source("knowu", f"logs/{WORD}")
    first = replace(first, source=came, state=state.sha256)
    store.runs.add(Imported([first, *run.events[1:]], {**run.images, state.sha256: state}, [verdict]))
    store.runs.save_draft(RUN, "q0", f"typed {WORD}")
    store.shadows.record(asked := shadow(RUN, "", why=f"as {WORD}"))
    store.shadows.record(replace(shadow(RUN, f"answers {WORD}"), supersedes=asked.id))
    copy = replace(
        first, trace="run-again", agent=Actor("script", f"recorded:{RUN}"), user=P07, source=None, state=None
    )
    store.runs.add(Imported([copy, *run.events[1:]], run.images, []))
    demo = store.reviews.proof_of(RUN)
    store.reviews.append(demo, [row("P1", "edit", None, "intent", f"old {WORD}", f"new {WORD}", note=WORD, trace=RUN)])
    design = Design(units=(InformationUnit("n", "The number", WORD),))
    draft = first_draft(subject_of(Task("t", "general", "", "Do")), D01, design, f"note {WORD}")
    handed = next_revision(draft, "submit", D01)
    for one in (draft, handed, next_revision(handed, "object", P07, marks={"units/n": f"mark {WORD}"}, note=WORD)):
        store.designs.append(one)
    _studied(store)


def _studied(store: Store) -> None:
    unit = Unit(
        f"{RUN}@1", runs=(RUN,), hidden={"source": WORD}, task=Task("t", "general", "", f"Ask {WORD}"),
        targets=(Target("open", f"says {WORD}", f"detail {WORD}"), Target("pay", "Pay")),
        given=(UnitText(f"title {WORD}", f"text {WORD}", (f"item {WORD}",)),),
        gold=(Gold("open", "why", f"gold {WORD}", f"because {WORD}"),),
    )  # fmt: skip
    plan = frozen(store, [unit, Unit("u2", runs=("run-other",), targets=unit.targets[1:])])
    for field, value in (("state", "not_completed"), ("why", f"value {WORD}")):
        store.labels.record(
            plan, unit, label(plan, unit, "open", field, value, note=f"note {WORD}", evidence=f"{RUN}@2")
        )
    moves = [{"rater": "R1", "was": WORD, "now": WORD, "code": WORD, "why": WORD}]
    settled = {
        "target": "open",
        "field": "why",
        "by_means": "discussion",
        "value": WORD,
        "reason": WORD,
        "moves": moves,
    }
    typed = {"item": ["open", "why"], "place": f"{RUN}@1", "drafts": [["open", "why", "note", WORD]]}
    _acted(store, plan, D01, "adjudicated", unit.id, settled)
    _acted(store, plan, P07, "looked", unit.id, typed)
    _acted(store, plan, P07, "quiz", "", {"answers": [WORD]})
    _acted(store, plan, P07, "left", "", {"why": WORD})


def _acted(store: Store, plan: Study, by: Actor, kind: Any, unit: str, detail: dict[str, Any]) -> None:
    store.labels.record_act(Act(uuid7(), plan.id, plan.version, by, kind, now(), unit, detail=detail))


@pytest.fixture
def call(
    tmp_path: Path, places: tuple[Path, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Hitlab:
    with Store.open(tmp_path / "lab.db") as store:
        said(store)
    return hitlab(tmp_path / "lab.db", capsys, monkeypatch)


def test_nothing_of_redacted_words_is_left_anywhere(tmp_path: Path, places: tuple[Path, ...], call: Hitlab) -> None:
    db = tmp_path / "lab.db"
    assert columns_that_hold(db, [WORD]) == CAN
    code, out, err = call("privacy", RUN, "--text", WORD, "--json")
    assert code == 0, err
    done = json.loads(out)
    assert set(done["replaced"]) == {RUN, "run-again"}
    assert (done["items"], done["answers"], done["acts"], done["left"], done["plans"]) == (1, 2, 4, [], [])
    assert columns_that_hold(db, [WORD]) == set()
    assert_nowhere([WORD], db, *places, short=(WORD,))
    assert call("labels", "trial", "--json")[0] == 0
    assert call("study", "show", "trial")[0] == 0


@pytest.mark.parametrize("way", ["the copy into it", "it into the copy"])
def test_no_copy_brings_redacted_words_back(
    tmp_path: Path, places: tuple[Path, ...], call: Hitlab, way: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    db, copy, kit = tmp_path / "lab.db", tmp_path / "copy.db", tmp_path / "kit.db"
    assert call("pack", str(copy))[0] == 0
    assert call("study", "kit", "trial", "--rater", "R1", "--out", str(kit))[0] == 0
    assert call("privacy", RUN, "--text", WORD)[0] == 0
    into, of = (db, copy) if way == "the copy into it" else (copy, db)
    code, _, err = hitlab(into, capsys, monkeypatch)("merge", str(of))
    assert code == 0, err
    code, _, err = hitlab(into, capsys, monkeypatch)("study", "take", str(kit))
    assert code == 0, err
    assert columns_that_hold(into, [WORD]) == set()
    assert_nowhere([WORD], into, *places, short=(WORD,))
    with Store.open(into) as store:
        assert store.check() == []
        assert len(list(store.labels.read(store.studies.study("trial")))) == 2


def test_no_copy_brings_a_person_back_who_withdrew(
    tmp_path: Path, places: tuple[Path, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    db, copy, outside = tmp_path / "lab.db", tmp_path / "copy.db", tmp_path / "outside"
    outside.mkdir()
    with Store.open(db) as store:
        filled = fill(store, outside)
        marks = [*filled.gone, *theirs(store)]
    call = hitlab(db, capsys, monkeypatch)
    assert call("pack", str(copy))[0] == 0
    assert call("withdraw", CODE, "--yes")[0] == 0
    for into, of in ((db, copy), (copy, db)):
        code, _, err = hitlab(into, capsys, monkeypatch)("merge", str(of))
        assert code == 0, err
        assert columns_that_hold(into, marks) == set()
        assert_nowhere(marks, into, *places)
