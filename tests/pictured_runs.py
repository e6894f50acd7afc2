"""A run as most published ones are: screenshots, and no UI tree."""

from __future__ import annotations

from functools import cache

from lab.core.run.run_records import Blob, Imported, number_events
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import AnyEvent, Ended, Started, Step
from lab.core.run.ui_tree import UiTree
from lab.core.task.task import Actor, Task
from simulators.phone.shots import phone_at

RUN = "pictured-1"
LOST = "0" * 64
"""The sha256 of a picture that is in no file."""


@cache
def screen(app: str) -> tuple[Blob, UiTree]:
    """The picture of an app's first screen, and what the phone says of it."""
    seen = phone_at(app, "home", {}).observe()
    return Blob(seen.png, "image/png"), seen.tree


def two_pictures(id: str = "pictured-2") -> Imported:
    """Settings and then the clock, both without a tree."""
    blobs = [screen("settings")[0], screen("clock")[0]]
    return _run(id, [Observation(blob.sha256, (1080, 2400)) for blob in blobs])


def pictured_run(id: str = RUN) -> Imported:
    """Settings twice without a tree, the clock with its tree, settings with an empty tree, and a lost picture."""
    settings, clock = screen("settings"), screen("clock")
    size = (1080, 2400)
    seen = [
        Observation(settings[0].sha256, size),
        Observation(settings[0].sha256, size),
        Observation(clock[0].sha256, size, clock[1]),
        Observation(settings[0].sha256, size, UiTree()),
        Observation(LOST, size),
    ]
    return _run(id, seen)


def _run(id: str, seen: list[Observation]) -> Imported:
    """One tap on each of these screens."""
    blobs = {blob.sha256: blob for blob in (screen("settings")[0], screen("clock")[0])}
    task = Task("mute", "general", instruction="Mute the phone.")
    events: list[AnyEvent] = [
        Started(trace=id, task=task, agent=Actor("model", "glass"), at="2026-01-02T10:00:00+00:00")
    ]
    events += [
        Step(index=number, before=one, proposed=Proposed(Action("click", (540, 900 + number))))
        for number, one in enumerate(seen)
    ]
    events.append(Ended(status="completed", score=1.0, final=seen[0]))
    return Imported(number_events(events), blobs, [])
