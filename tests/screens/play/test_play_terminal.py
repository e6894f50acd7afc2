"""A participant in a real terminal, killed in the middle of a run: it lands in the same run, with what was typed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from lab.core.run.trace import Resumed
from lab.studies.playing.played_runs import study_plays
from store.store import Store
from tests.plays import LUNCH, frozen, unit
from tests.screens.annotate.terminal import ENTER, opened


def test_a_run_that_was_killed_is_resumed_with_what_was_typed(tmp_path: Path) -> None:
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        study = frozen(store, [unit(LUNCH)], ("P1",), quiz=0)

        def acts(kind: str) -> int:
            return sum(act.act == kind for act in store.labels.acts(study))

        def asked() -> bool:
            return any(
                store.runs.trace(one.trace).asked for one in study_plays(store, study) if store.runs.has_run(one.trace)
            )

        def draft() -> str:
            run = study_plays(store, study)[0].trace
            question = store.runs.trace(run).asked
            return store.runs.draft(run, question.question.id) if question is not None else ""

        with opened(db, tmp_path, "teas", "P1", HITLAB_PACE="0") as first:
            first.insist(b"1", lambda: acts("consent") == 1)
            first.insist(ENTER, lambda: acts("played") == 1)
            first.until(asked)
            first.see("your answer")
            first.press(b"mild pl")
            first.until(lambda: draft() == "mild pl")
        killed = datetime.now(UTC).isoformat()
        run = study_plays(store, study)[0]
        assert run.status == "open"
        steps = len(store.runs.trace(run.trace).steps)

        with opened(db, tmp_path, "teas", "P1", HITLAB_PACE="0") as second:
            second.see("mild pl")  # the same question, with the same draft, at once
            second.press(b"ease", ENTER)
            second.until(lambda: store.runs.trace(run.trace).ended is not None)
            second.insist(ENTER, lambda: acts("played") == 2)
        trace = store.runs.trace(run.trace)
        assert [one.trace for one in study_plays(store, study)] == [run.trace]
        assert trace.replies >= 1
        assert len(trace.steps) > steps
        (reply,) = (step.reply for step in trace.steps if step.reply is not None and step.reply.text == "mild please")
        assert reply.shown_at is not None  # as it was before the program ended
        assert reply.first_key_at is not None
        assert reply.shown_at < reply.first_key_at < killed < str(reply.sent_at)
        assert any(isinstance(event, Resumed) for event in store.runs.events(run.trace))  # a break lies between
        assert acts("consent") == 1

        with opened(db, tmp_path, "teas", "P1") as third:  # killed again before anything was answered
            third.insist(b"4", lambda: len(list(store.labels.read(study))) >= 1)  # a key pressed twice says it twice
