"""Many writers on one file: processes and threads lose nothing, and a kill loses nothing that was acknowledged."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.core.run.step import Action, Proposed
from lab.core.run.trace import Ended, Started, Step
from lab.core.task.task import Actor, Task
from store.store import Store
from tests.warm import Warm
from tests.warm_code import CODE

ROOT = Path(__file__).parents[2]
STEPS = 15


def write_run(store: Store, id: str, steps: int = STEPS) -> None:
    store.runs.append_event(id, Started(trace=id, task=Task("x", "general"), agent=Actor("script", "rule"), seq=0))
    for i in range(steps):
        store.runs.append_event(id, Step(index=i, proposed=Proposed(Action("wait")), seq=i + 1))
    store.runs.append_event(id, Ended(status="completed", seq=steps + 1))


PROCESS = """
import sys
from pathlib import Path
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, sys.argv[2])
from test_at_once import write_run
from store.store import Store
with Store.open(Path(sys.argv[1])) as store, ThreadPoolExecutor(5) as pool:
    for done in [pool.submit(write_run, store, f"{sys.argv[3]}-{i}") for i in range(5)]:
        done.result()
"""


def test_two_processes_of_five_threads_each_lose_nothing(tmp_path: Path) -> None:
    """They also open, and so lay, the same new file at the same moment."""
    path = tmp_path / "lab.db"
    here = str(Path(__file__).parent)
    processes = [
        Warm([PROCESS, str(path), here, name], main=CODE, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for name in ("a", "b")
    ]
    errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], errors
    with Store.open(path) as store:
        assert store.check() == []
        summaries = store.runs.summaries()
        assert sorted(s.id for s in summaries) == sorted(f"{p}-{i}" for p in "ab" for i in range(5))
        assert {(s.steps, s.status) for s in summaries} == {(STEPS, "completed")}


def test_ten_threads_write_and_read_one_store(store: Store) -> None:
    with ThreadPoolExecutor(10) as pool:
        for done in [pool.submit(write_run, store, f"t{i}") for i in range(10)]:
            done.result()
    assert {s.steps for s in store.runs.summaries()} == {STEPS}
    assert store.check() == []


def test_two_threads_that_append_the_same_event_do_not_both_succeed(store: Store) -> None:
    from lab.core.errors import LabError

    store.runs.append_event("t", Started(trace="t", task=Task("x", "general"), agent=Actor("script", "rule"), seq=0))
    gate = threading.Barrier(4)

    def append(_: int) -> bool:
        gate.wait()
        try:
            store.runs.append_event("t", Step(index=0, proposed=Proposed(Action("wait")), seq=1))
        except LabError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(append, range(4))) == [False, False, False, True]
    assert store.runs.last_seq("t") == 1


def test_the_connections_of_threads_that_ended_are_closed(store: Store) -> None:
    for i in range(5):
        thread = threading.Thread(target=write_run, args=(store, f"t{i}", 0))
        thread.start()
        thread.join()
    assert len(store.database._open) <= 2
    connections = [connection for connection, _ in store.database._open.values()]
    store.close()
    for connection in connections:
        try:
            connection.execute("SELECT 1")
        except Exception as error:  # noqa: BLE001 - sqlite3 raises ProgrammingError from C; its kind is the assertion
            assert "closed" in str(error)  # noqa: PT017
        else:
            raise AssertionError("a connection stayed open")


CLOSED = """
import sys, threading
from pathlib import Path
from lab.core.errors import LabError
from store.store import Store
LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT sum(i) FROM n"
read, refused = [], []
def reads(database, begun):
    try:
        while True:
            begun.set()
            read.append(database.read(LONG))
    except LabError as error:
        refused.append(str(error))
for turn in range(10):
    store = Store.open(Path(sys.argv[1]))
    begun = threading.Event()
    thread = threading.Thread(target=reads, args=(store.database, begun))
    thread.start()
    begun.wait()
    store.close()
    done = len(read)
    thread.join()
    assert len(read) - done <= 1, "what was being read when it was closed was waited for"  # it may not be noted yet
assert len(refused) == 10 and all("is closed" in one for one in refused), refused
assert {tuple(rows[0]) for rows in read} == {(20000100000,)}
"""


def test_a_file_is_closed_while_another_thread_reads_it(tmp_path: Path) -> None:
    """What is being read is read to its end: SQLite, closed under it, takes the whole program with it."""
    with Warm([CLOSED, str(tmp_path / "lab.db")], main=CODE, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as done:
        _, error = done.communicate(timeout=180)
    assert done.returncode == 0, error


WRITER = """
import sys
from pathlib import Path
from lab.core.task.task import Actor, Task
from lab.core.run.trace import Started, Step
from lab.core.run.step import Action, Proposed
from store.store import Store
store = Store.open(Path(sys.argv[1]))
store.runs.append_event("t", Started(trace="t", task=Task("x", "general"), agent=Actor("script", "rule"), seq=0))
for i in range(100_000):
    store.runs.append_event("t", Step(index=i, proposed=Proposed(Action("wait")), seq=i + 1))
    print(i + 1, flush=True)
"""


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    writer = Warm([WRITER, str(path)], main=CODE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(40)][-1]
    os.kill(writer.pid, signal.SIGKILL)
    rest = writer.stdout.read().split()
    writer.stdout.close()
    writer.wait()
    acknowledged = max([acknowledged, *map(int, rest)])
    with Store.open(path) as store:
        assert store.check() == []
        assert store.runs.last_seq("t") in (acknowledged, acknowledged + 1)
        assert len(store.runs.trace("t").steps) == store.runs.last_seq("t")
