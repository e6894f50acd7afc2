"""Runs for a table: some models at some tasks, with scores and without, one of hostile names."""

from __future__ import annotations

from typing import NamedTuple

from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Proposed, Question, Reply, Usage
from lab.core.run.trace import AnyEvent, Ended, Source, Started, Step
from lab.core.task.task import Actor, Persona, Task
from tests.screens.runs import HOSTILE, PERSON

WIDE = "界面模型界面模型界面模型"


class Made(NamedTuple):
    """What a run is to be like."""

    id: str
    task: str = "lunch"
    agent: str = "qwen-72b"
    persona: str = ""
    source: str = "knowu"
    steps: int = 2
    asks: int = 0
    status: str = "completed"
    score: float | None = 1.0
    tokens: int = 0
    title: str = ""
    started: str = "2025-03-04T10:00:00+00:00"


def made(run: Made) -> Imported:
    """A run of so many taps and questions."""
    persona = Persona(run.persona, run.persona.title()) if run.persona else None
    task = Task(run.task, "general", run.title, "Buy milk and bread.")
    events: list[AnyEvent] = [
        Started(trace=run.id, task=task, agent=Actor("model", run.agent), persona=persona, at=run.started,
                source=Source(run.source) if run.source else None),
    ]  # fmt: skip
    usage = Usage(run.tokens, 10, cost=run.tokens / 1e6, seconds=1.5) if run.tokens else None
    for i in range(run.steps):
        question = Question(f"q{i}", "ask", "Which?") if i < run.asks else None
        reply = Reply(f"q{i}", "this", PERSON) if question else None
        action = Action("ask_user", text="Which?") if question else Action("click", (100 * i, 200))
        events.append(Step(index=i, proposed=Proposed(action, usage=usage), question=question, reply=reply))
    if run.status != "open":
        events.append(Ended(status=run.status, score=run.score))  # type: ignore[arg-type]
    return Imported(number_events(events), {}, [])


RUNS = [
    Made("a1", "lunch", "qwen-72b", "ines", steps=4, asks=1, score=0.5, tokens=4000),
    Made("a2", "lunch", "gpt-5", "ines", steps=6, score=1.0, tokens=100, started="2025-02-04T10:00:00+00:00"),
    Made("a3", "mail", "qwen-72b", steps=9, asks=2, status="failed", score=0.0, source="memgui"),
    Made("a4", "mail", "gpt-5", steps=30, status="budget", score=None, source="memgui", started=""),
    Made("a5", "alarm", "kimi", steps=1, status="open", score=None, source="", title="Two words, and more"),
    Made("a6", HOSTILE, WIDE, steps=3, score=0.25, title=""),
]
