"""How long it takes from a rater's key to a durable label and to the next paint, and from a step's key to the step.

The run has 500 steps and the sheet 60 nodes; each answer is paired with a bare SQLite commit (the same pragmas, one
INSERT of as many bytes, another file of the same folder), and what is told as more is the difference of each pair.
In the app a key is timed from where the terminal's reader posts it, for as long as everything was quiet before, to the
end of the first write that says how many are answered now: what the compositor would send is made whole, as for a
terminal, and only not sent. Nothing is waited for in between that the app itself does not wait for. Processor time
(all threads) is told beside it, because a busy machine lengthens the other. `--crash N` instead kills N labelling
processes at random moments.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from lab.core.codec import encode
from lab.core.settings import Settings
from lab.core.study.label import AnswerDetails
from lab.core.study.rating_sheet import FieldReference
from lab.studies.rating.rating_session import RatingSession
from screens.memory_use import spare_pauses
from screens.navigation import Opening
from store.store import Store
from tests.bench.rated import COUNT, R1, SIZE, STEPS, Bare, Clocked, Timed, ms, rated
from tests.crashing_labels import kill_at_random, laid
from tests.screens.annotate.sample_studies import ready, room

Times = dict[str, dict[str, float]]


def at_the_desk(folder: Path, answers: int) -> Times:
    """Answers without a screen, each beside a bare commit."""
    desk_took, bare_took = [], []
    with Store.open(folder / "desk.db") as store:
        session = RatingSession(store, rated(store), R1)
        bare: Bare | None = None
        for i in range(answers):
            if i % COUNT == 0:
                at = session.next_assignment(i // COUNT - 1)
                assert at is not None
                session.open(at)
            began = time.perf_counter()
            label = session.answer(
                FieldReference(f"n{i % COUNT + 1}", "completed"), "completed", details=AnswerDetails(evidence="run@7")
            )
            desk_took.append(time.perf_counter() - began)
            bare = bare or Bare(folder / "bare.db", len(encode(label)))
            bare_took.append(bare.commit())
    more = [one - other for one, other in zip(desk_took, bare_took, strict=True)]
    return {"answer": ms(desk_took), "bare_commit": ms(bare_took), "answer_over_bare": ms(more)}


async def in_the_screen(folder: Path, answers: int, moves: int) -> Times:
    """Keys in the app: answers, each beside a bare commit, and then steps."""
    with Store.open(folder / "screen.db") as store:
        store.labels = labels = Clocked(store.database, store.studies)
        study = rated(store)
        app = Timed(store, Settings(person="R1", seat="rater", bell=False), Opening("annotate", study=study))
        spare_pauses()  # as the command does
        async with app.run_test(size=SIZE):
            while not ready(app):
                await asyncio.sleep(0.01)
            found = await _answered(app, labels, Bare(folder / "beside.db", 500), answers)
            return found | await _stepped(app, moves)


async def _answered(app: Timed, labels: Clocked, bare: Bare, answers: int) -> Times:
    durable, painted, last, spent, bare_took = [], [], [], [], []
    for i in range(answers):
        if i and i % COUNT == 0:
            await _next_unit(app)
        await app.quiet()
        processor = time.process_time()
        began = app.key("1" if i % 2 else "2")
        painted.append(await app.says(f"{i % COUNT + 1} of {COUNT}") - began)
        durable.append(labels.durable - began)
        await app.quiet()
        spent.append(time.process_time() - processor)
        last.append(app.written - began)
        bare_took.append(bare.commit())
    more = [one - other for one, other in zip(painted, bare_took, strict=True)]
    return {
        "key_to_label": ms(durable),
        "key_to_paint": ms(painted),
        "key_to_last_paint": ms(last),
        "bare_commit_in_app": ms(bare_took),
        "paint_over_bare": ms(more),
        "answer_processor": ms(spent),
    }


async def _stepped(app: Timed, moves: int) -> Times:
    """From a step's key until the list of steps is on it, and until its words are there, read off the UI thread."""
    listed, told, spent = [], [], []
    for i in range(moves):
        await app.quiet()
        processor = time.process_time()
        began = app.key("right")
        listed.append(await app.says(f"  {i + 2}/{STEPS}") - began)
        told.append(await app.says(f"Step {i + 2}") - began)
        await app.quiet()
        spent.append(time.process_time() - processor)
    return {"step_to_list": ms(listed), "step_to_words": ms(told), "step_processor": ms(spent)}


async def _next_unit(app: Timed) -> None:
    """Hands the unit in; what is learned then is passed over."""
    session = room(app).session
    assert session is not None
    old = session.assignment
    await app.quiet()
    app.key("enter")
    while room(app).view == "open" and session.assignment == old:
        await asyncio.sleep(0.005)
    await app.quiet()
    # A key right after handing in is taken for one that was meant for the sheet before.
    while room(app).sheet_pane.slip.active:
        await asyncio.sleep(0.005)
    if room(app).view == "told":
        app.key("enter")
    while session.assignment == old or not ready(app):
        await asyncio.sleep(0.005)


def crash(kills: int, seed: int) -> int:
    """Prints kills, labels printed, labels missing, damaged files; 1 where anything is missing."""
    dice = random.Random(seed)
    printed = missing = damaged = 0
    with tempfile.TemporaryDirectory() as folder:
        for kill in range(kills):
            db = Path(folder) / f"{kill // 100}.db"
            if not db.exists():
                laid(db)
            killed = kill_at_random(db, dice)
            printed += killed.printed
            missing += len(killed.missing)
            damaged += bool(killed.wrong)
    sys.stdout.write(f"kills {kills}\n")
    sys.stdout.write(f"labels and acts printed {printed:,}, missing {missing}, damaged files {damaged}\n")
    return int(bool(missing or damaged))


_SAID = {
    "answer": "an answer, without a screen",
    "bare_commit": "a bare commit beside it",
    "answer_over_bare": "more",
    "key_to_label": "key to durable label, in the app",
    "key_to_paint": "key to next paint",
    "key_to_last_paint": "key to the last byte painted",
    "bare_commit_in_app": "a bare commit beside it",
    "paint_over_bare": "more (aim: p95 at most 20 ms)",
    "answer_processor": "processor time of an answer",
    "step_to_list": "a step's key to the list of steps",
    "step_to_words": "to the step's words",
    "step_processor": "processor time of a step",
}


def main() -> int:
    """Prints a table, or with --crash what was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=600, help="without a screen")
    parser.add_argument("--keys", type=int, default=240, help="in the app")
    parser.add_argument("--steps", type=int, default=60, help="that are moved in the app")
    parser.add_argument("--crash", type=int, nargs="?", const=1000, default=0, metavar="KILLS")
    parser.add_argument("--seed", type=int, default=0, help="of the moments at which is killed")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.crash:
        return crash(args.crash, args.seed)
    with tempfile.TemporaryDirectory() as folder:
        took = at_the_desk(Path(folder), args.answers)
        took |= asyncio.run(in_the_screen(Path(folder), args.keys, args.steps))
    if args.json:
        sys.stdout.write(json.dumps({**took, "sqlite": sqlite3.sqlite_version}) + "\n")
        return 0
    sys.stdout.write(f"| {STEPS} steps, {COUNT} nodes | p50 ms | p95 ms |\n|---|---|---|\n")
    for name, said in _SAID.items():
        sys.stdout.write(f"| {said} | {took[name]['p50']:.2f} | {took[name]['p95']:.2f} |\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
