"""A file's runs by pages, as a table has them."""

from __future__ import annotations

from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Proposed, Question, Reply
from lab.core.run.trace import Answered, AnyEvent, Asked, Ended, Source, Started, Step
from lab.core.task.task import Actor, Persona, Task
from store.store import Store

ASK = Question("q", "ask", "Which?")
PERSON = Actor("human", "P1")


def run(trace: str, steps: int = 2, *, end: bool = True, task: str = "lunch") -> Imported:
    events: list[AnyEvent] = [
        Started(trace=trace, task=Task(task, "general", "A title", "Do it. " * 80), agent=Actor("model", "m", "M"),
                persona=Persona("ines", "Ines"), user=PERSON, source=Source("test"), at="2025-03-04T10:00:00+00:00"),
        *(Step(index=i, proposed=Proposed(Action("wait"))) for i in range(steps)),
    ]  # fmt: skip
    if end:
        events.append(Ended(status="failed", score=0.25))
    return Imported(number_events(events), {}, [])


def test_a_row_says_what_a_list_does_and_what_was_asked(store: Store) -> None:
    store.runs.add(run("one"))
    (row,) = store.runs.rows(10)
    assert row._replace(instruction="") == (
        1, "one", "lunch", "A title", "", "general", "m", "ines", "P1", "test", 1, 2, 0, 0, "failed", 0.25,
        "2025-03-04T10:00:00+00:00", (), False, Actor("model", "m", "M"),
    )  # fmt: skip
    assert row.instruction == ("Do it. " * 80)[:300]


def test_counts_and_status_are_those_of_the_list_of_runs(store: Store) -> None:
    store.runs.add(run("one", 3, end=False))
    store.runs.append_event(
        "one", Asked(seq=4, index=3, question=ASK, proposed=Proposed(Action("ask_user", text="Which?")))
    )
    assert store.runs.rows(1)[0][11:16] == (3, 1, 0, "open", None)
    store.runs.append_event("one", Answered(seq=5, index=3, reply=Reply("q", "this", PERSON)))
    step = Step(seq=6, index=3, proposed=Proposed(Action("ask_user")), question=ASK, reply=Reply("q", "this", PERSON))
    assert store.runs.rows(1)[0][11:14] == (3, 1, 1)
    store.runs.append_event("one", step)
    row, summary = store.runs.rows(1)[0], store.runs.summaries()[0]
    assert (row.steps, row.questions, row.replies, row.status, row.score) == (
        summary.steps, summary.questions, summary.replies, summary.status, summary.score,
    ) == (4, 1, 1, "open", None)  # fmt: skip


def test_pages_come_newest_first_and_leave_out_none(store: Store) -> None:
    store.runs.add_all([run(f"r{i}") for i in range(7)])
    ids: list[str] = []
    before: int | None = None
    while page := store.runs.rows(3, before=before):
        assert len(page) <= 3
        ids += [row.id for row in page]
        before = page[-1].n
    assert ids == [f"r{i}" for i in reversed(range(7))]
    assert [row.id for row in store.runs.rows(-1)] == ids


def test_a_run_without_persona_title_source_or_time_has_empty_words(store: Store) -> None:
    started = Started(trace="bare", task=Task("t", "general", instruction="x"), agent=Actor("script", "a"))
    store.runs.add(Imported(number_events([started]), {}, []))
    (row,) = store.runs.rows(1)
    assert row[3:-1] == ("", "x", "general", "a", "", "", "", 1, 0, 0, 0, "open", None, "", (), False)


def test_the_stamp_changes_with_every_run_and_every_event(store: Store) -> None:
    seen = [store.runs.rows_stamp()]
    store.runs.add(run("one", end=False))
    seen.append(store.runs.rows_stamp())
    store.runs.append_event("one", Ended(seq=3, status="stopped"))
    seen.append(store.runs.rows_stamp())
    assert len(set(seen)) == 3
    assert store.runs.rows_stamp() == seen[-1]
