"""Many runs at once: `hitlab run --jobs N` on N served phones beside the same runs on one, paired.

Each phone is a process of its own behind a real adb server, with its harness. The agent is a language model behind HTTP
on 127.0.0.1 that answers after a fixed time, as long as there is a slot for each job. Tasks are small ones of this
bench: the model opens one app after the other, last the one that is asked for; every fourth task asks for another one
than its rule, so that scores differ. Before all, each phone is run on once, which loads its fonts and pictures.

    python -m tests.bench.bench_jobs [--jobs 8] [--tasks 16] [--steps 20] [--latency 0.3] [--rounds 2]

Seconds are those from the first step to the end of the last run, as the file has them: what both commands need to start
is left out. Processor time is of all processes, startup left out too where it is told a step.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import psutil

from lab.core.run.trace import Ended, Step
from store.store import Store
from tests.served_phones import ServedPhone, served_phones
from tests.simulators.phone.served.rig import AdbServer

ROOT = Path(__file__).parents[2]
AIM = 5.0
"""The speed-up of eight jobs, of work that waits."""
APPS = ("settings", "notes", "mail", "clock", "maps", "food", "messages", "calendar")


class Measured(NamedTuple):
    """One command: seconds of its runs, steps, each task's scores, and processor seconds of command, phones and adb."""

    seconds: float
    steps: int
    scores: dict[str, list[float | None]]
    processor: dict[str, float]


class Rig(NamedTuple):
    """What all commands of the bench share."""

    folder: Path
    environment: dict[str, str]
    phones: Sequence[ServedPhone]
    adb: int
    tasks: Sequence[str]


@contextmanager
def model(seconds: float, slots: int) -> Iterator[str]:
    """The model's base URL."""
    command = [sys.executable, "-m", "tests.bench.timed_model", str(seconds), str(slots), "agent"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


def laid(folder: Path, count: int, steps: int) -> list[str]:
    """Task files, and a script that is never asked."""
    (folder / "silent.yaml").write_text("replies: []\n", encoding="utf-8")
    names = []
    for number in range(count):
        app, wanted = APPS[number % len(APPS)], APPS[(number + (number % 4 == 3)) % len(APPS)]
        path = folder / f"task{number:03}.yaml"
        path.write_text(
            f"kind: general\ninstruction: Open the app {wanted.title()}\nbudget: {steps}\n"
            f"checks: [{{name: it is open, path: nav.app, equals: {app}}}]\n",
            encoding="utf-8",
        )
        names.append(str(path))
    return names


def measured(rig: Rig, name: str, phones: Sequence[ServedPhone], tasks: Sequence[str]) -> Measured:
    """Runs the tasks on those phones by one command, into a file of its own."""
    db = rig.folder / f"{name}.db"
    places = [word for phone in phones for word in ("--device", phone.serial, "--harness", phone.harness)]
    command = [sys.executable, "-m", "lab.cli.main", "run", *tasks, "--agent", "model:openai/timed", *places]
    command += ["--user", f"script:{rig.folder / 'silent.yaml'}", "--db", str(db), "--jobs", str(len(phones)), "--json"]
    parts = {"phones": [phone.process.pid for phone in rig.phones], "adb": [rig.adb]}
    before = {part: sum(map(_processor, pids)) for part, pids in parts.items()}
    with subprocess.Popen(
        command, cwd=ROOT, env=rig.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as run:
        assert run.stdout is not None
        out = run.stdout.read()
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise SystemExit(f"the command {name} ended with {run.returncode}")
    spent = {part: sum(map(_processor, pids)) - before[part] for part, pids in parts.items()}
    result = json.loads(out)
    scores = {task["task"]: [one["score"] for one in task["attempts"]] for task in result["tasks"]}
    steps = sum(one["steps"] for task in result["tasks"] for one in task["attempts"])
    return Measured(_seconds(db), steps, scores, {"command": usage.ru_utime + usage.ru_stime, **spent})


def _seconds(db: Path) -> float:
    """From the end of the first step to the end of the last run."""
    with Store.open(db, readonly=True) as store:
        times = [
            (datetime.fromisoformat(event.at), isinstance(event, Ended))
            for run in store.runs.summaries(archived=None)
            for event in store.runs.events(run.id)
            if isinstance(event, Step | Ended)
        ]
    seconds: float = (max(at for at, over in times if over) - min(at for at, _ in times)).total_seconds()
    return seconds


def _processor(pid: int) -> float:
    user, system = psutil.Process(pid).cpu_times()[:2]
    return float(user + system)


@contextmanager
def rigged(args: argparse.Namespace) -> Iterator[Rig]:
    """Everything that both commands use, with each phone run on once."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        adb = AdbServer(folder)
        adb.start()
        stack.callback(adb.stop)
        base = stack.enter_context(model(args.latency, args.jobs))
        own = {"HITLAB_HARNESS_TOKEN": "of-the-bench", "OPENAI_API_KEY": "sk-of-nobody", "HITLAB_MODEL_BASE": base}
        environment = {**adb.environment, **own, "XDG_CONFIG_HOME": name}
        phones = stack.enter_context(served_phones(args.jobs, environment))
        rig = Rig(folder, environment, phones, adb.pid, laid(folder, args.tasks, args.steps))
        measured(rig, "before", phones, rig.tasks[: args.jobs])
        yield rig


def _row(name: str, took: Measured) -> str:
    shares = ", ".join(f"{part} {spent / took.steps * 1000:.0f}" for part, spent in took.processor.items())
    return f"| {name} | {took.seconds:.1f} s | {took.steps:,} | {took.seconds / took.steps * 1000:.0f} ms | {shares} |"


def main() -> int:
    """Prints a table; 1 where scores differ, or the speed-up is below its aim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--tasks", type=int, default=16)
    parser.add_argument("--steps", type=int, default=20, help="of each run")
    parser.add_argument("--latency", type=float, default=0.3, help="seconds of a model's answer")
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    sys.stdout.write("| runs | took | steps | a step | processor time a step, ms |\n|---|---|---|---|---|\n")
    ups, equal = [], True
    with rigged(args) as rig:
        for number in range(args.rounds):
            alone = measured(rig, f"serial{number}", rig.phones[:1], rig.tasks)
            many = measured(rig, f"jobs{number}", rig.phones, rig.tasks)
            ups.append(alone.seconds / many.seconds)
            equal = equal and alone.scores == many.scores
            sys.stdout.write(f"{_row('one after the other', alone)}\n{_row(f'{args.jobs} jobs', many)}\n")
            sys.stdout.flush()
    least = min(ups)
    sys.stdout.write(f"\nspeed-up in each round: {', '.join(f'{up:.2f}' for up in ups)} (aim {AIM:g})\n")
    sys.stdout.write(f"scores are {'equal' if equal else 'NOT equal'} to those of one after the other\n")
    sys.stdout.write(f"load of the machine: {' '.join(f'{one:.1f}' for one in os.getloadavg())}\n")
    return int(not equal or least < AIM)


if __name__ == "__main__":
    sys.exit(main())
