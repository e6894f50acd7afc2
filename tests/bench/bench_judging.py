"""How many sheets a second a judge fills in on a cluster of processes, beside what the model's server can give.

The server takes 50 ms for an answer and answers no more than RATE a second: RATE x 0.05 at a time. A scheduler and the
workers are processes of their own, and so is the command's side, which alone reads and writes the file. Halfway a
worker is killed. Measured are sheets in a second, processor time of each part for one sheet, and the memory of the
command's side and of the cluster (scheduler and workers) at each tenth.
`--alone` leaves out model and cluster: each question is answered at once, which shows what the command's side can do.

    python -m tests.bench.bench_judging --judgements 100000 --rate 40
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from lab.core.run.step import Usage
from lab.llm.client import Llm, ModelAnswer, ModelTerms
from lab.llm.cluster_executor import ClusterExecutor
from lab.llm.executor import ModelExecutor, ModelQuestion, closing_executor
from lab.studies.judging.judge_job import job_of
from lab.studies.judging.judge_terms import JobProgress, JudgeTerms, JudgingDone
from lab.studies.judging.judging import JudgingJob
from store.store import Store
from tests.bench.timed_model import ANSWERS
from tests.clusters import RemoteWorkers
from tests.lab.studies.test_judging import MODEL, RUN_UNIT
from tests.screens.annotate.host import AGENT, lunch
from tests.screens.runs import WHOLE
from tests.studies import frozen, unit

ROOT = Path(__file__).parents[2]
AIM = 0.9
"""Of what the server can give."""


class Judged(NamedTuple):
    """What a job took: processor seconds of each part, and the memory of each in MB at each tenth."""

    seconds: float
    processor: dict[str, float]
    memory: dict[str, list[float]]
    done: JudgingDone


class AtOnce:
    """An executor in which every question is answered already."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._answer = ModelAnswer(
            json.dumps({"answers": ANSWERS}), Usage(prompt_tokens=1000, completion_tokens=20, cost=0.001)
        )

    def submit(self, question: ModelQuestion) -> Future[ModelAnswer]:
        answer: Future[ModelAnswer] = Future()
        answer.set_result(self._answer)
        return answer

    def close(self, *, at_once: bool = False) -> None:
        """Nothing is open."""


class TimedServer:
    """The model's server, in a process of its own."""

    def __init__(self, seconds: float, slots: int) -> None:
        command = [sys.executable, "-m", "tests.bench.timed_model", str(seconds), str(slots)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.base = self._process.stdout.readline().strip()
        self.pid = self._process.pid

    def answered(self) -> int:
        """How many questions it has answered."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


def laid(store: Store, sheets: int, base: str) -> tuple[Llm, JudgingJob]:
    """A study of so many sheets, and a judge that has judged none."""
    store.runs.add(lunch(WHOLE, AGENT))
    study = frozen(store, [unit(f"u{n}", runs=(WHOLE,)) for n in range(sheets)], RUN_UNIT)
    llm = Llm(MODEL, ModelTerms(base, price_in=1.0, price_out=4.0))
    job = job_of(store, study, MODEL, llm, "", JudgeTerms(), most=0, longest=512, reads=False)
    job.sign()
    return llm, job


def measured(llm: Llm, job: JudgingJob, executor: ModelExecutor, parts: Mapping[str, int], kill: Any) -> Judged:
    """Does the job, with a kill halfway; `parts` are processes by name, their children counted with them."""
    memory: dict[str, list[float]] = {name: [] for name in parts}
    killed, tenths = False, 0

    def tell(progress: JobProgress) -> None:
        nonlocal killed, tenths
        if not killed and progress.done * 2 >= progress.total:
            killed = True
            kill()
        if progress.done * 10 >= (tenths + 1) * progress.total:
            tenths += 1
            for name, pid in parts.items():
                memory[name].append(_memory(pid))

    before = {name: _processor(pid) for name, pid in parts.items()}
    began = time.perf_counter()
    done = job.run(llm, tell, executor)
    seconds = time.perf_counter() - began
    processor = {
        name: sum(spent - before[name].get(one, 0.0) for one, spent in _processor(pid).items())
        for name, pid in parts.items()
    }
    return Judged(seconds, processor, memory, done)


def _processor(pid: int) -> dict[int, float]:
    """Processor seconds of a process and its children, by their ids."""
    return {one.pid: sum(one.cpu_times()[:2]) for one in _family(pid)}


def _memory(pid: int) -> float:
    """MB of a process and its children."""
    total = 0.0
    for one in _family(pid):
        with suppress(psutil.NoSuchProcess):  # a worker was killed this very moment
            total += one.memory_info().rss / 2**20
    return total


def _family(pid: int) -> list[psutil.Process]:
    """A process and, but for this one, its children that are there."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)] if pid != os.getpid() else [process]


def alone(sheets: int) -> Judged:
    """The command's side with nobody else."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "lab.db") as store:
        llm, job = laid(store, sheets, "http://127.0.0.1:9/v1")
        return measured(llm, job, AtOnce(16), {"command": os.getpid()}, lambda: None)


def on_cluster(
    sheets: int, workers: int, threads: int, slots: int, latency: float, *, kill: bool
) -> tuple[Judged, int]:
    """The whole, and how many questions the server answered."""
    os.environ.setdefault("OPENAI_API_KEY", "sk-of-nobody")
    server = TimedServer(latency, slots)
    cluster = RemoteWorkers(workers, threads, {})
    try:
        with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "lab.db") as store:
            llm, job = laid(store, sheets, server.base)
            warmed(cluster, llm, job, workers * threads)
            asked = server.answered()
            parts = {"command": os.getpid(), "cluster": cluster.pid, "server": server.pid}
            executor = ClusterExecutor(cluster.address, job.stop)
            halfway = (lambda: cluster.kill(0)) if kill else (lambda: None)
            return measured(llm, job, executor, parts, halfway), server.answered() - asked
    finally:
        cluster.close()
        server.close()


def warmed(cluster: RemoteWorkers, llm: Llm, job: JudgingJob, threads: int) -> None:
    """Every worker has loaded what it asks models with."""
    unit, run = next(job.sheets())
    question = job.first_question(unit, run)
    stop = threading.Event()
    asked = ModelQuestion(llm, question.messages, question.schema)
    with closing_executor(ClusterExecutor(cluster.address, stop), stop) as executor:
        for _ in range(3):
            for answer in [executor.submit(asked) for _ in range(threads * 4)]:
                answer.result()


def _rows(took: Judged, sheets: int) -> list[tuple[str, str]]:
    rows = [
        ("sheets handed in", f"{took.done.progress.done:,} of {sheets:,}"),
        ("sheets in a second", f"{sheets / took.seconds:.1f}"),
    ]
    rows += [
        (f"processor time of {name}, a sheet", f"{spent / sheets * 1000:.2f} ms")
        for name, spent in took.processor.items()
    ]
    rows += [
        (f"memory of {name} at each tenth, MB", " ".join(f"{one:.0f}" for one in at))
        for name, at in took.memory.items()
    ]
    rows.append(("load of the machine", " ".join(f"{one:.1f}" for one in os.getloadavg())))
    return rows


def main() -> int:
    """Prints a table; 1 where a sheet is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", "--sheets", dest="sheets", type=int, default=5_000)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1, help="of each worker")
    parser.add_argument("--rate", type=float, default=40.0, help="answers a second that the server can give")
    parser.add_argument("--slots", type=int, help="the same told as questions that it answers at a time")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds of an answer")
    parser.add_argument("--no-kill", dest="kill", action="store_false", help="no worker is killed halfway")
    parser.add_argument("--alone", action="store_true", help="the command's side, without model and cluster")
    args = parser.parse_args()
    if args.alone:
        took = alone(args.sheets)
        rows = _rows(took, args.sheets)
    else:
        slots = args.slots or max(1, round(args.rate * args.latency))
        took, answered = on_cluster(args.sheets, args.workers, args.threads, slots, args.latency, kill=args.kill)
        gives = slots / args.latency
        share = args.sheets / took.seconds / gives
        rows = _rows(took, args.sheets)
        rows.append(("what the server can give, a second", f"{gives:.1f}"))
        rows.append((f"share of that (aim {AIM:.0%})", f"{share:.1%}"))
        rows.append(
            (
                "questions answered twice",
                f"{answered - took.done.progress.asked:,}" + (" (a worker was killed)" if args.kill else ""),
            )
        )
    sys.stdout.write("| what | measured |\n|---|---|\n")
    for name, value in rows:
        sys.stdout.write(f"| {name} | {value} |\n")
    return int(took.done.progress.done != args.sheets)


if __name__ == "__main__":
    sys.exit(main())
