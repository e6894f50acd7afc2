"""While a participant plays, shadows answer: nothing of them is painted, and one that is silent holds nothing up."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from lab.core.run.step import Question
from lab.studies.playing.played_runs import study_plays
from store.store import Store
from tests.endpoint import Reply, Request, Said, Silent, serving
from tests.plays import COFFEE, frozen, unit
from tests.screens.play.test_play import Stage, answer_sheet, consent

Until = Callable[..., Awaitable[None]]
MARK = "zqshaded"


def brain(request: Request) -> Reply:
    if request.json["model"] == "mute":
        return Silent()
    return Said(json.dumps({"text": f"{MARK} words", "decision": "reject"}))


async def test_nothing_of_a_shadow_is_painted_and_a_silent_one_holds_nothing_up(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    study = frozen(store, [unit(COFFEE, mirror=False)], quiz=0, shadows=("model:quick", "model:mute"))
    app = Stage(store, study, records=True)
    with serving(brain) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        async with app.run_test(size=(120, 40)) as pilot:
            await consent(app, pilot, until)
            await until(pilot, lambda: app.readable and app.stage == "brief")
            await pilot.press("enter")
            asked = 0
            while True:
                await until(pilot, lambda: app.asked or app.over)
                if app.over:
                    break
                question, asked = app.open_question, asked + 1
                await until(pilot, partial(_answered, store, asked))  # it came while the question stands open
                await pilot.press("1")
                assert question is not None
                await until(pilot, partial(_gone, app, question))
            await pilot.press("enter")
            await until(pilot, lambda: app.stage == "questions" and app.screen is app.room and app.sheet.display)
            await answer_sheet(app, pilot, until)
            await until(pilot, lambda: app.stage == "done")
    (one,) = study_plays(store, study)
    assert one.status == "completed"
    rows = store.shadows.current(one.trace)
    assert {row.by.id for row in rows} == {"model:quick", "model:mute"}
    assert {row.missing for row in rows if row.by.id == "model:mute"} <= {"unfinished", "no_answer"}
    decisions = {step.reply.decision for step in store.runs.trace(one.trace).steps if step.reply is not None}
    assert decisions == {"accept"}, "the run went on by the person's word"
    painted = "\n".join(app.painted)
    assert "Thank you" in painted
    assert not [word for word in (MARK, "quick", "mute", "shadow") if word in painted.lower()]


def _gone(app: Stage, question: Question) -> bool:
    """Whether a question stands open no more."""
    return app.over or app.open_question is not question


def _answered(store: Store, asked: int) -> bool:
    """Whether the quick shadow has answered so many questions."""
    runs = [line.id for line in store.runs.summaries()]
    rows = [row for run in runs for row in store.shadows.current(run)]
    return sum(MARK in row.text for row in rows) >= asked
