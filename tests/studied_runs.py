"""Runs for studies: of built-in tasks and of one that has nothing to ask about, by agents and by their owners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import AnyEvent, Ended, Started, Step
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.task.task import Actor, Task
from simulators import library

SECRET = "glass-heron-9"
"""The name of an agent, which no rater may see."""
SCREEN = Observation(size=(1080, 2400), tree=UiTree((Node(Bounds(0, 0, 1080, 2400), text="Settings"),)))
BARE = Task("bare", "general", instruction="Mute the phone.")

Call = Callable[..., tuple[int, Any]]
"""`hitlab study` with these words (as the fixture `call` runs it): its exit code, and what it printed."""


def run(
    id: str,
    task: str = "",
    *,
    status: str = "completed",
    score: float | None = 1.0,
    by: Actor = Actor("model", SECRET),  # noqa: B008
    steps: int = 3,
    blank: int = 0,
) -> Imported:
    """A run of a built-in task (or of `BARE`) of so many taps; of the first `blank` screens nothing was recorded."""
    asked = library.task(task) if task else BARE
    persona = library.persona(asked.persona, asked.log) if asked.persona else None
    events: list[AnyEvent] = [
        Started(trace=id, task=asked, agent=by, persona=persona, at="2026-01-02T10:00:00.000000+00:00")
    ]
    for at in range(steps):
        seen = Observation() if at < blank else SCREEN
        events.append(Step(index=at, before=seen, proposed=Proposed(Action("click", (9 * at, 20)))))
    if status != "open":
        events.append(Ended(status=status, score=score))  # type: ignore[arg-type]
    return Imported(number_events(events), {}, [])


RUNS = [
    run("a1", "usual_lunch"),
    run("a2", "usual_lunch", status="failed", score=0.0),
    run("b1", "way_home", score=0.5),
    run("b2", "way_home", status="budget", score=0.0),
    run("c1", "earbuds_left", status="failed", score=0.0),
    run("d1"),
    run("d2", status="budget", score=0.0),
    run("e1", "usual_lunch", status="open"),
]
