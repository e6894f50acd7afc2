"""The store's verbs: what goes in comes out, in order, once, and never changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.run.run_records import Blob, Imported, Verdict, number_events
from lab.core.run.step import Action, Observation, Prompt, Proposed, Question, Reply
from lab.core.run.trace import Answered, AnyEvent, Asked, Ended, Source, Started, Step, fold
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.task.task import Actor, Persona, Task
from store.store import Store

PERSON = Actor("human", "P01")
PICTURE = Blob(b"\x89PNG picture", "image/png")
STATE = Blob(b'{"clock":1}', "application/json")
ASK = Question("q0", "ask", "Which one?")
TREE = UiTree((Node(Bounds(0, 0, 9, 9), text="x" * 20_000),))


def run(id: str, *, task: str = "alarm", ended: bool = True) -> list[AnyEvent]:
    before = Observation(image=PICTURE.sha256, size=(9, 9), tree=TREE)
    proposed = Proposed(Action("ask_user", text=ASK.text), prompt=Prompt("see", (PICTURE.sha256,)))
    reply = Reply("q0", "This \U0001f600 one", PERSON)
    events: list[AnyEvent] = [
        Started(
            trace=id,
            task=Task(task, "personalized", instruction="Set it"),
            agent=Actor("script", "rule"),
            persona=Persona("lin", "Lin"),
            source=Source("knowu", "a/b"),
            state=STATE.sha256,
            at="2025-11-21T08:00:00+00:00",
        ),
        Asked(index=0, question=ASK, proposed=proposed, before=before),
        Answered(index=0, reply=reply),
        Step(index=0, proposed=proposed, before=before, question=ASK, reply=reply, extra={"their own": [1, None]}),
        Step(index=1, proposed=Proposed(Action("click", at=(0, 0)))),
    ]
    return number_events([*events, Ended(status="completed", score=0.5)] if ended else events)


def blobs() -> dict[str, Blob]:
    return {blob.sha256: blob for blob in (PICTURE, STATE)}


def imported(id: str, task: str = "alarm") -> Imported:
    return Imported(run(id, task=task), blobs(), [Verdict("result", 0.5, "half")])


def test_events_come_out_as_they_went_in(store: Store) -> None:
    for event in run("t1"):
        store.runs.append_event("t1", event, blobs())
        assert store.runs.last_seq("t1") == event.seq
    assert list(store.runs.events("t1")) == run("t1")
    assert list(store.runs.events("t1", after=3)) == run("t1")[4:]
    assert store.runs.trace("t1") == fold(run("t1"))


def test_what_was_appended_is_there_for_another_connection_and_after_closing(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with Store.open(path) as writer, Store.open(path) as reader:
        writer.runs.append_event("t1", run("t1")[0])
        assert reader.runs.last_seq("t1") == 0
    with Store.open(path, create=False) as again:
        assert list(again.runs.events("t1")) == run("t1")[:1]


def test_only_the_next_event_of_a_run_is_taken(store: Store) -> None:
    events = run("t1")
    with pytest.raises(LabError, match="has not begun"):
        store.runs.append_event("t1", events[1])
    with pytest.raises(LabError, match="of run t1"):
        store.runs.append_event("t2", events[0])
    store.runs.append_event("t1", events[0])
    with pytest.raises(LabError, match="begun"):
        store.runs.append_event("t1", events[0])
    with pytest.raises(LabError, match="expects event 1, not 2"):
        store.runs.append_event("t1", events[2])
    for event in events[1:]:
        store.runs.append_event("t1", event)
    with pytest.raises(LabError, match="has ended"):
        store.runs.append_event("t1", number_events([*events, events[1]])[-1])
    assert list(store.runs.events("t1")) == events


def test_a_run_that_another_window_has_gone_on_with_says_so(store: Store) -> None:
    events = run("t1")
    for event in events[:3]:
        store.runs.append_event("t1", event)
    with pytest.raises(LabError) as refused:
        store.runs.append_event("t1", events[2])
    assert refused.value.body == "was continued in another window or command. Nothing more is kept from this one."


def test_a_refused_event_leaves_no_blob_behind(store: Store) -> None:
    store.runs.append_event("t1", run("t1")[0])
    with pytest.raises(LabError):
        store.runs.append_event("t1", run("t1")[3], blobs())
    assert store.runs.blob(PICTURE.sha256) is None


def test_a_blob_is_kept_once_and_every_run_that_shows_it_is_known(store: Store) -> None:
    for id in ("t1", "t2"):
        assert store.runs.add(imported(id))
    assert store.runs.blob(PICTURE.sha256) == PICTURE
    assert store.runs.blob("none") is None
    rows = store.database.read("SELECT trace, sha256 FROM use ORDER BY trace, sha256")
    assert rows == [(id, sha256) for id in ("t1", "t2") for sha256 in sorted(blobs())]
    assert store.database.read("SELECT count(*) FROM blob") == [(2,)]


def test_a_run_is_imported_once_and_whole(store: Store) -> None:
    assert store.runs.add(imported("t1"))
    assert not store.runs.add(imported("t1"))
    assert list(store.runs.events("t1")) == run("t1")
    assert store.runs.verdicts("t1") == [Verdict("result", 0.5, "half")]
    assert store.runs.has_run("t1")
    assert not store.runs.has_run("t2")


def test_a_run_with_a_gap_or_no_beginning_is_not_imported(store: Store) -> None:
    events = run("t1")
    for wrong in ([], events[1:], [events[0], *events[2:]], number_events([events[0], events[-1], *events[1:]])):
        with pytest.raises(LabError):
            store.runs.add(Imported(wrong, blobs(), []))
    assert store.runs.summaries() == []
    assert store.database.read("SELECT count(*) FROM blob") == [(0,)]


def test_summaries_count_what_a_fold_counts(store: Store) -> None:
    for id, count in (("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5), ("f", 6)):
        for event in run(id)[:count]:
            store.runs.append_event(id, event)
    for summary in store.runs.summaries():
        trace = store.runs.trace(summary.id)
        assert (summary.steps, summary.questions, summary.replies, summary.status, summary.score) == (
            len(trace.steps), trace.questions, trace.replies, trace.status, trace.ended and trace.ended.score
        )  # fmt: skip
        assert (summary.task, summary.agent, summary.persona, summary.source) == ("alarm", "rule", "lin", "knowu")
        assert summary.started == "2025-11-21T08:00:00+00:00"
        assert store.runs.summary(summary.id) == summary


def test_summaries_come_newest_first_and_in_pages(store: Store) -> None:
    for i in range(5):
        store.runs.add(imported(f"t{i}"))
    assert [s.id for s in store.runs.summaries()] == ["t4", "t3", "t2", "t1", "t0"]
    assert [s.id for s in store.runs.summaries(2)] == ["t4", "t3"]
    assert [s.id for s in store.runs.summaries(2, before="t3")] == ["t2", "t1"]
    assert store.runs.summaries(2, before="t0") == []
    assert store.runs.summaries(0) == []


def test_a_run_is_found_by_the_beginning_of_its_id_or_by_its_only_task(store: Store) -> None:
    store.runs.add(imported("abc1"))
    store.runs.add(imported("abd2", task="order"))
    assert store.runs.find("abc") == "abc1"
    assert store.runs.find("abd2") == "abd2"
    assert store.runs.find("order") == "abd2"
    with pytest.raises(LabError, match="is not in"):
        store.runs.find("\udcff")
    with pytest.raises(LabError, match=r"several: abc1, abd2[.]$"):
        store.runs.find("ab")
    for more in range(5):
        store.runs.add(imported(f"b{more}"))
        store.runs.add(imported(f"b{more}x"))
    with pytest.raises(LabError, match=r"several: b0, b0x, b1, b1x, b2 and more[.]$"):
        store.runs.find("b")
    for none in ("", "x", "%", "_bc1", "abc12"):
        with pytest.raises(LabError, match="is not in"):
            store.runs.find(none)
    store.runs.add(imported("abc"))
    assert store.runs.find("abc") == "abc"


def test_what_is_not_there_gets_a_sentence(store: Store) -> None:
    for verb in (
        store.runs.trace,
        store.runs.summary,
        lambda id: list(store.runs.events(id)),
        lambda id: store.runs.save_draft(id, "q", ""),
    ):
        with pytest.raises(LabError, match="run none: is not in"):
            verb("none")
    assert store.runs.last_seq("none") == -1
    assert store.runs.verdicts("none") == []


def test_the_newest_draft_counts(store: Store) -> None:
    store.runs.append_event("t1", run("t1")[0])
    assert store.runs.draft("t1", "q0") == ""
    for text in ("o", "one\nmore", "half \ud83d pair", ""):
        store.runs.save_draft("t1", "q0", text)
        store.runs.save_draft("t1", "q1", "other")
        assert store.runs.draft("t1", "q0") == text


def test_text_that_utf8_cannot_hold_is_kept_escaped(store: Store) -> None:
    asks = Proposed(Action("ask_user", text="\ud83d"))
    store.runs.append_event("t1", run("t1")[0])
    store.runs.append_event("t1", Asked(index=0, seq=1, question=Question("q", "ask", "\ud83d"), proposed=asks))
    last = list(store.runs.events("t1"))[-1]
    assert isinstance(last, Asked)
    assert last.question.text == "\u241bud83d"


def test_a_row_of_a_newer_hitlab_is_refused_with_a_sentence(store: Store) -> None:
    store.runs.append_event("t1", run("t1")[0])
    body = '{"event":"mood","v":2,"seq":1}'
    store.database.connection().execute(
        "INSERT INTO event VALUES ('t1', 1, 'mood', '', NULL, 0, 0, NULL, NULL, ?)", (body,)
    )
    with pytest.raises(LabError, match="event 1: was written by a newer hitlab"):
        store.runs.trace("t1")


def test_a_long_run_is_read_in_pieces_and_whole(store: Store) -> None:
    steps: list[AnyEvent] = [Step(index=i, proposed=Proposed(Action("wait"))) for i in range(200)]
    events = number_events([run("t1")[0], *steps])
    store.runs.add(Imported(events, {}, []))
    assert list(store.runs.events("t1")) == events
    assert [e.seq for e in store.runs.events("t1", after=64)] == list(range(65, 201))


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "lab.db")
    store.close()
    store.close()
    with pytest.raises(LabError, match="is closed"):
        store.runs.summaries()


def test_who_only_read_leaves_nothing_beside_the_file_but_what_others_use(tmp_path: Path) -> None:
    path, ahead = tmp_path / "lab.db", tmp_path / "lab.db-wal"
    Store.open(path).close()
    before = path.read_bytes()
    reader = Store.open(path, readonly=True)
    assert ahead.exists()
    other = Store.open(path)
    reader.close()
    assert ahead.exists()
    other.close()
    with Store.open(path, readonly=True):
        assert ahead.exists()
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before
