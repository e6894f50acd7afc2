"""What the papers' numbers cost over 100,000 steps, against reading the same rows into events.

    python -m tests.bench.bench_metrics [--json] [--steps 100000] [--rounds 3]
    python -m tests.bench.bench_metrics --memory [--steps 100000]

The runs are as imported ones are: a model's words and a tap for each step, personas and task designs with units, nodes
and branches, a person's demonstration of every task, three attempts of each agent. Both sides are the median of rounds
made in turn. `--memory` is about the command instead, over so many steps and four times as many: the most memory it
held, and its processor time, which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from annotators.papers.measurement import measure_groups
from annotators.papers.metrics import PAPERS, MetricTerms, context_of, measures
from lab.core.run.run_records import Imported, Verdict, number_events
from lab.core.run.step import Action, Observation, Proposed, Question, Reply, Usage
from lab.core.run.trace import Answered, AnyEvent, Asked, Ended, Started, Step
from lab.core.task.task import Actor, Branch, InformationUnit, Persona, Task, Tdg, TdgNode
from store.store import Store

ROOT = Path(__file__).parents[2]
STEPS_A_RUN = 40
TASKS = 50
AGENTS = ("model-a", "model-b", "model-c", "model-d")
WORDS = "the screen shows a list of shops and the cheapest one is below so I scroll on and then tap it"


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def task(k: int) -> Task:
    nodes = tuple(TdgNode(f"n{i}", f"node {i}", kind="flexible" if i % 3 == 0 else "fixed") for i in range(8))
    return Task(
        f"task{k}",
        ("general", "personalized", "proactive")[k % 3],
        instruction="" if k % 3 == 2 else f"Do the thing number {k} in the shop and tell what it costs",
        persona="developer",
        golden_steps=STEPS_A_RUN // 2,
        apps=("Shop", "Notes")[: 1 + k % 2],
        tdg=Tdg(nodes, tuple((f"n{i}", f"n{i + 1}") for i in range(7))),
        units=tuple(InformationUnit(f"u{i}", f"unit {i}") for i in range(3)),
        branches=(Branch("b0", "Is it sold out?", ("yes", "no")),) if k % 4 == 0 else (),
        traits={"difficulty": ("easy", "medium", "hard")[k % 3], "memory": "yes" if k % 5 else "no", "level": "HL"},
    )


def action(dice: random.Random) -> Action:
    at = (dice.randrange(1080), dice.randrange(2400))
    match dice.randrange(5):
        case 0:
            return Action("scroll", direction="down", vector=(0, -900), raw={"action_type": "scroll"}, space="px")
        case 1:
            return Action("input_text", text=dice.choice(WORDS.split()), raw={"action_type": "input_text"}, space="px")
    return Action("click", at=at, raw={"action_type": "click", "x": at[0], "y": at[1]}, space="px")


def run(id: int, of: Task, who: Actor, attempt: int, dice: random.Random, shown: list[Action]) -> Imported:
    """One run of 40 steps; it does what was `shown` three times of four."""
    events: list[AnyEvent] = [
        Started(
            trace=f"{id:032x}", task=of, agent=who, attempt=attempt, ms=0.0,
            persona=Persona("developer", "D", {"habits": {"lunch": {"time": "12:00"}}}),
        )
    ]  # fmt: skip
    for index in range(STEPS_A_RUN):
        done = shown[index] if dice.random() < 0.75 else action(dice)
        ms = 1000.0 * (index + 1)
        said = " ".join(dice.choices(WORDS.split(), k=60))
        usage = Usage(2000, 120, cost=0.004, seconds=1.5)
        before = Observation(image=f"{dice.getrandbits(256):064x}", size=(1080, 2400))
        question, reply = None, None
        if index == 5:
            done = Action("ask_user", text="Which shop?", raw={"action_type": "ask_user"}, space="px")
            question, reply = Question("q5", "ask", "Which shop?"), Reply("q5", "the near one", Actor("model", "u"))
        if index == STEPS_A_RUN - 1:
            done = Action("answer", text="It costs 12", raw={"action_type": "answer"}, space="px")
        proposed = Proposed(done, said, raw=said, usage=usage)
        if question and reply:
            events.append(Asked(index=index, question=question, proposed=proposed, before=before, ms=ms - 500))
            events.append(Answered(index=index, reply=reply, ms=ms - 100))
        events.append(Step(index=index, proposed=proposed, before=before, question=question, reply=reply, ms=ms))
    score = float(dice.random() < 0.5)
    events.append(Ended(status="completed", score=score, ms=1000.0 * (STEPS_A_RUN + 1)))
    rated = {"total_information_units": 3, "correctly_used_units": 1, "irr_percentage": 33}
    verdicts = [Verdict("result", score), Verdict("irr", 33, extra={**rated, "evaluation_method": "llm_analysis"})]
    return Imported(number_events(events), {}, verdicts)


def runs(steps: int) -> Iterator[Imported]:
    dice = random.Random(7)
    ways = [[action(dice) for _ in range(STEPS_A_RUN)] for _ in range(TASKS)]
    tasks = [task(k) for k in range(TASKS)]
    for id in range(steps // STEPS_A_RUN):
        k, turn = id % TASKS, id // TASKS
        person = turn == 0
        who = Actor("human", "annotator") if person else Actor("model", AGENTS[turn % len(AGENTS)])
        yield run(id, tasks[k], who, 1 + turn // len(AGENTS) % 3, dice, ways[k])


def fill(store: Store, steps: int) -> None:
    batch: list[Imported] = []
    for one in runs(steps):
        batch.append(one)
        if len(batch) == 64:
            store.runs.add_all(batch)
            batch = []
    store.runs.add_all(batch)


def command(steps: int) -> dict[str, float]:
    """What `hitlab runs metrics` takes over so many steps: runs, MB (1e6 bytes) at most, seconds of processor."""
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "lab.db"
        with Store.open(db) as store:
            fill(store, steps)
        words = [sys.executable, "-m", "lab.cli.main", "metrics", "--db", str(db), "--json"]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    megabytes = round(usage.ru_maxrss * 1024 / 1e6, 1)
    return {"runs": steps // STEPS_A_RUN, "mb": megabytes, "processor_s": round(usage.ru_utime + usage.ru_stime, 1)}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON document instead of the table")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", action="store_true", help="the memory of the command alone")
    args = parser.parse_args()
    if args.memory:
        for steps in (args.steps, 4 * args.steps):
            print(json.dumps({"steps": steps, **command(steps)}))
        return 0
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "lab.db") as store:
        fill(store, args.steps)
        ids = [summary.id for summary in store.runs.summaries()]
        sides: dict[str, list[float]] = {"reading": [], "cases": [], "metrics": []}
        for _ in range(args.rounds):
            sides["reading"].append(seconds(lambda: [sum(1 for _ in store.runs.events(id)) for id in ids]))
            sides["cases"].append(seconds(lambda: list(store.runs.measured())))
            sides["metrics"].append(seconds(lambda: measure_groups(list(store.runs.measured()), ("agent",))))
        cases = list(store.runs.measured())
        parts = {
            name: round(seconds(lambda m=measure: m(cases, context_of(cases, MetricTerms()))), 3)  # type: ignore[misc]
            for name, measure in measures(PAPERS).items()
        }
    found = {name: round(statistics.median(times), 3) for name, times in sides.items()}
    result = {
        "steps": args.steps, "runs": len(ids), "reading_s": found["reading"], "cases_s": found["cases"],
        "metrics_s": found["metrics"], "times_reading": round(found["metrics"] / found["reading"], 2),
        "papers_s": parts,
    }  # fmt: skip
    if args.json:
        print(json.dumps(result))
        return 0
    for name, value in result.items():
        print(f"{name:>16}  {value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
