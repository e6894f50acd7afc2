"""Processes that judge, forked from one in which litellm is loaded already: that takes longer than all the rest."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess


def forked(run: Callable[..., None], *args: str) -> ForkServerProcess:
    """A process that runs a function of a test's; of this one it shares nothing but what it is given."""
    forking = get_context("forkserver")
    forking.set_forkserver_preload(["tests.warm_judge"])
    process = forking.Process(target=run, args=args)
    process.start()
    return process
