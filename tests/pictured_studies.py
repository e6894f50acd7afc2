"""The guides' pictures of studies: a graph's items, information units, two sets of instructions, a played task."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot

from lab.cli.main import main
from screens.annotate.annotate import AnnotateScreen
from screens.app import LabApp
from screens.navigation import Opening
from store.store import Store
from tests.screens.play.test_play import Stage, answer_quiz, consent

Drive = Callable[[Pilot[None]], Awaitable[None]]
Waiting = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]

SETS = {
    "user": "u07",
    "context": "A teacher of 41 who cycles to school, cooks for four, and reads the paper on the train.",
    "A": {
        "method": "ours",
        "instructions": [
            "Order the vegetable box that I have every other Friday, without the fennel.",
            "Find a quiet way by bicycle from school to the market hall.",
            "Put the parents' evening into my calendar and tell Mira that I am late for dinner.",
            "Look for children's rain trousers below 30 that come before the weekend.",
        ],
    },
    "B": {
        "method": "baseline",
        "instructions": [
            "Buy a gaming laptop with the best graphics card.",
            "Navigate to the nearest petrol station.",
            "Open the calendar and create an event.",
            "Search for a restaurant with good reviews.",
        ],
    },
}


def freeze(store: Store, run: str) -> None:
    """The studies of the pictures, by the commands that make them; `run` is the run that is judged."""
    Path("sets.jsonl").write_text(json.dumps(SETS) + "\n", encoding="utf-8")
    people = ["--raters", "R1,R2", "--overlap", "2", "--introduction", "none"]
    _command("study", "new", "tdg", "--runs", run, "--name", "nodes", *people)
    _command("study", "new", "information-units", "--runs", run, "--name", "units", *people)
    _command("study", "new", "pairwise-sets", "--items", "sets.jsonl", "--name", "pairs", *people)
    _command("study", "new", "knowu-5c", "--tasks", "usual_lunch", "--name", "plays", "--raters", "P1,P2",
             "--conditions", "person")  # fmt: skip
    for name in ("nodes", "units", "pairs", "plays"):
        _command("study", "deal", name)


def _command(*words: str) -> None:
    if main([*words, "--db", "study.db"]) != 0:
        raise SystemExit(f"pictures: hitlab {' '.join(words)} was refused")


def openings(store: Store, until: Waiting, settled: Drive) -> dict[str, tuple[Opening, Drive]]:
    """Each rater's picture: what is opened, and what is then done."""

    def drive(keys: tuple[str, ...]) -> Drive:
        return functools.partial(_rated, until, settled, keys)

    keys = {
        "annotate": ("nodes", (*("right",) * 7, "1", *("right",) * 2, "1", "1", "right", "2")),
        "units": ("units", ("1", *("right",) * 6, "1", "2")),
        "pairwise": ("pairs", ("1",)),
    }
    return {
        name: (Opening("annotate", study=store.studies.study(study)), drive(pressed))
        for name, (study, pressed) in keys.items()
    }


async def _rated(until: Waiting, settled: Drive, keys: tuple[str, ...], pilot: Pilot[None]) -> None:
    app = pilot.app
    assert isinstance(app, LabApp)
    await until(pilot, lambda: isinstance(app.screen, AnnotateScreen) and app.screen.has_class("-open"))
    await settled(pilot)
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


async def played(store: Store, size: tuple[int, int], until: Waiting, settled: Drive) -> str:
    """A participant's part up to the agent's first question, as an SVG."""
    app = Stage(store, store.studies.study("plays"))
    async with app.run_test(size=size) as pilot:
        wait = functools.partial(_wait, until)
        await consent(app, pilot, wait)
        await answer_quiz(app, pilot, wait)
        await until(pilot, lambda: app.readable and app.stage not in ("card", "quiz"))
        await pilot.press("enter")
        await until(pilot, lambda: app.asked)
        await settled(pilot)
        svg = app.export_screenshot(title="hitlab")
        if app.session is not None:
            app.session.leave()
    return svg


async def _wait(until: Waiting, pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    await until(pilot, condition)
