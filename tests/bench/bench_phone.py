"""What the embedded phone costs: one action and the observation after it, the built-in tasks, snapshot and restore.

An *action* is a perform as an agent's hand does it, over the fitting runs of the built-in tasks: state copied, touch
found, handler run. An *observation* is what an agent is given after it: layout, tree, picture, PNG. A *task* is its
whole headless run by its playbook, screenshots drawn and every event committed to a database file. Snapshots are
taken and restored at grown states (more messages), against their size as JSON.

    python -m tests.bench.bench_phone [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from lab.core.run.step import Action
from lab.runs.session import Session
from lab.runs.spec import Spec
from simulators import library
from simulators.phone.installed import APPS
from simulators.phone.kit.draw import picture, png
from simulators.phone.phone import Phone
from simulators.phone.stage import artists, windows
from simulators.phone.tree import tree
from store.store import Store


class Played(NamedTuple):
    """One task's run: its score, steps and seconds, and what was done on which state."""

    task: str
    score: float | None
    steps: int
    seconds: float
    actions: list[Action]


def play(name: str, store: Store) -> Played:
    """One headless run, as `hitlab live NAME --headless` makes it."""
    task = library.task(name)
    persona = library.persona(task.persona, task.log) if task.persona else None
    began = time.perf_counter()
    session = Session(store, Spec(task, persona, user="script"))
    session.start()
    session.join()
    seconds = time.perf_counter() - began
    trace = store.runs.trace(session.trace_id)
    actions = [step.action for step in trace.steps if step.action is not None]
    return Played(name, trace.ended.score if trace.ended else None, len(trace.steps), seconds, actions)


def timed(spent: list[float], work: Callable[..., Any], *args: Any) -> Any:
    """What the work gives; its milliseconds are added to `spent`."""
    began = time.perf_counter()
    value = work(*args)
    spent.append((time.perf_counter() - began) * 1000)
    return value


def parts(runs: list[Played]) -> dict[str, list[float]]:
    """Milliseconds of each part of a turn, over all actions of all runs on their own states."""
    spent: dict[str, list[float]] = {k: [] for k in ("action", "layout", "tree", "picture", "png", "observation")}
    for run in runs:
        task = library.task(run.task)
        phone = Phone(clock=task.time)
        phone.lay(task.phone)
        phone.observe()
        for action in run.actions:
            if action.kind in ("ask_user", "answer", "status"):
                continue
            timed(spent["action"], phone.perform, action)
            state = phone.snapshot()
            shown = timed(spent["layout"], windows, state, APPS)
            timed(spent["tree"], tree, shown)
            drawn = timed(spent["picture"], picture, shown, artists(state, APPS))
            timed(spent["png"], png, drawn)
            spent["observation"].append(sum(spent[k][-1] for k in ("layout", "tree", "picture", "png")))
            phone.observe()
    return spent


def by_size(rounds: int) -> list[tuple[int, float, float]]:
    """State size in KB, and milliseconds of a snapshot and of a restore at it."""
    found = []
    for grown in (0, 500, 5_000, 50_000):
        phone = Phone()
        state = phone.snapshot()
        thread = state["apps"]["messages"]["threads"][0]["messages"]
        thread += [thread[0] | {"text": f"One more message, number {n}, of a usual length."} for n in range(grown)]
        phone.restore(state)
        taken: list[float] = []
        put: list[float] = []
        for _ in range(rounds):
            held = timed(taken, phone.snapshot)
            timed(put, phone.restore, held)
        found.append((len(json.dumps(state)) // 1024, statistics.median(taken), statistics.median(put)))
    return found


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    names = sorted(library.tasks())
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "bench.db") as store:
        runs = [play(name, store) for name in names]
    turn = {name: (statistics.median(ms), sorted(ms)[int(len(ms) * 0.95)]) for name, ms in parts(runs).items()}
    sizes = by_size(args.rounds)
    steps, seconds = sum(run.steps for run in runs), sum(run.seconds for run in runs)
    passed = sum(run.score == 1.0 for run in runs)
    if args.json:
        json.dump(
            {
                "turn_ms": turn,
                "tasks": len(runs),
                "passed": passed,
                "steps": steps,
                "seconds": seconds,
                "states": sizes,
            },
            sys.stdout,
        )
        return
    print("| part of a turn | median ms | p95 ms |\n|---|---|---|")
    for name, (median, high) in turn.items():
        print(f"| {name} | {median:.1f} | {high:.1f} |")
    print(f"\n{len(runs)} tasks headless, {passed} passed: {seconds:.1f} s, {steps} steps, "
          f"{1000 * seconds / steps:.0f} ms a step")  # fmt: skip
    print("\n| state, KB | snapshot ms | restore ms |\n|---|---|---|")
    for size, taken, put in sizes:
        print(f"| {size} | {taken:.1f} | {put:.1f} |")


if __name__ == "__main__":
    main()
