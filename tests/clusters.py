"""A Dask cluster of real processes on this machine, for tests, soak and bench."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "5s",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "2s",
}
"""What keeps Dask from looking at itself hundreds of times a second, as docs/guides/judges.md has it."""


class LocalWorkers:
    """A scheduler, and workers that are processes of their own; one that is killed is started anew."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster

    @property
    def address(self) -> str:
        """What `--cluster` is given."""
        address: str = self._cluster.scheduler_address
        return "dask://" + address.partition("://")[2]

    @property
    def pids(self) -> list[int]:
        """The workers' processes, as far as they are up."""
        return [one.pid for one in self._cluster.workers.values() if one.pid is not None]

    def kill(self, number: int) -> None:
        """Kills a worker with SIGKILL."""
        os.kill(self.pids[number], signal.SIGKILL)

    def scale(self, count: int) -> None:
        """Has so many workers, soon; those that are too many are ended, and none is started in their place."""
        self._cluster.scale(count)


@contextmanager
def local_workers(count: int, threads: int = 1, env: Mapping[str, str] | None = None) -> Iterator[LocalWorkers]:
    """A cluster for the length of a test; its workers are forked from a process in which all is loaded already."""
    import dask
    from distributed import LocalCluster
    from distributed.utils import get_mp_context

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    quiet = {
        name.removeprefix("DASK_").lower().replace("__", "."): dask.config.interpret_value(value)
        for name, value in QUIET.items()
    }
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"} | quiet):
        get_mp_context().set_forkserver_preload(["distributed", "tests.warm_judge"])
        with LocalCluster(
            n_workers=count, threads_per_worker=threads, processes=True, dashboard_address=":0", host="127.0.0.1",
            silence_logs=logging.CRITICAL, env=dict(env or {}),
        ) as cluster:  # fmt: skip
            yield LocalWorkers(cluster)


class RemoteWorkers:
    """The same in a process of its own, as a cluster elsewhere is; `kill` kills a worker there."""

    def __init__(self, count: int, threads: int, env: Mapping[str, str]) -> None:
        command = [sys.executable, "-m", "tests.clusters", str(count), str(threads)]
        env = {**os.environ, **QUIET, **env}
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **QUIET, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        self.pid = self._process.pid

    def kill(self, number: int) -> None:
        """Kills a worker with SIGKILL; another is started in its place."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{number}\n")
        self._process.stdin.flush()
        self._process.stdout.readline()

    def close(self) -> None:
        """Ends the cluster."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(180)


def _main() -> None:
    """Starts a cluster, prints its address, and kills the worker of each number that is read."""
    count, threads = map(int, sys.argv[1:3])
    with local_workers(count, threads) as workers:
        print(workers.address, flush=True)
        for line in sys.stdin:
            workers.kill(int(line))
            print("killed", flush=True)


if __name__ == "__main__":
    _main()
