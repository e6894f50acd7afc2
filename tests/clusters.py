"""A Dask cluster of real processes on this machine, for tests, soak and bench."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


class LocalWorkers:
    """A scheduler, and workers that are processes of their own; one that is killed is started anew."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster

    @property
    def address(self) -> str:
        """What `--on` is given."""
        return "dask://" + self._cluster.scheduler_address.partition("://")[2]

    @property
    def pids(self) -> list[int]:
        """The workers' processes, as far as they are up."""
        return [one.pid for one in self._cluster.workers.values() if one.pid is not None]

    def kill(self, number: int) -> None:
        """Kills a worker with SIGKILL."""
        os.kill(self.pids[number], signal.SIGKILL)


@contextmanager
def local_workers(count: int, threads: int = 1, env: Mapping[str, str] | None = None) -> Iterator[LocalWorkers]:
    """A cluster for the length of a test."""
    from distributed import LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with LocalCluster(
        n_workers=count, threads_per_worker=threads, processes=True, dashboard_address=":0", host="127.0.0.1",
        silence_logs=logging.CRITICAL, env=dict(env or {}),
    ) as cluster:  # fmt: skip
        yield LocalWorkers(cluster)
