"""A limit on each test: one that waits for something that never comes fails, says where it waited, and the run goes on.

The limit is an alarm in the main thread, which raises there. A test that swallows what is raised, or is stuck in a
library's code, is ended with its process a while later: pytest-xdist then fails that test alone and starts another
worker.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

from tests.fuzzing_examples import soaking

LIMIT = float(os.environ.get("TESTS_LIMIT", "300"))
"""Seconds a test may take, its fixtures included: the longest takes 10, and a busy machine is ten times slower."""
_TEARDOWN = LIMIT / 5
"""Seconds of them that are left to the teardown, whatever the test took."""
_AGAIN = LIMIT / 20
"""Seconds until the alarm rings again: a library may have swallowed what it raised."""
_LAST = LIMIT / 3
"""Seconds after the limit at which the process ends."""
_ROOT = Path(__file__).parents[1]


class TimeLimit:
    """What is left of the limit of the test that runs; without effect in a soak and in a debugger."""

    def __init__(self, config: pytest.Config) -> None:
        self._stderr = config.stash.get(fault_handler_stderr_fd_key, 2)
        self._is_off = soaking() or config.getoption("usepdb", False) or not hasattr(signal, "setitimer")
        self._test, self._left = "", LIMIT

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._test, self._left = nodeid, LIMIT

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        with self._limited(self._left):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        with self._limited(self._left):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        with self._limited(max(self._left, _TEARDOWN)):
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """End a worker that does not come to say that it has finished; pytest-xdist ends one that has within 10 s."""
        if "PYTEST_XDIST_WORKER" in os.environ and not self._is_off:
            faulthandler.dump_traceback_later(_LAST, exit=True, file=self._stderr)

    def pytest_unconfigure(self) -> None:
        faulthandler.cancel_dump_traceback_later()

    @contextmanager
    def _limited(self, seconds: float) -> Iterator[None]:
        if self._is_off or threading.current_thread() is not threading.main_thread():
            yield
            return
        is_over = False

        def ring(_: int, frame: FrameType | None) -> None:
            if not is_over:  # else the phase ended while the alarm rang
                pytest.fail(f"{self._test} took more than {LIMIT:g} s.\n{describe_waits(frame)}")

        before = signal.signal(signal.SIGALRM, ring)
        faulthandler.dump_traceback_later(seconds + _LAST, exit=True, file=self._stderr)
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        try:
            yield
        finally:
            is_over = True
            self._left = max(signal.setitimer(signal.ITIMER_REAL, 0)[0], _AGAIN)
            faulthandler.cancel_dump_traceback_later()
            signal.signal(signal.SIGALRM, before)


def describe_waits(frame: FrameType | None) -> str:
    """Return where the main thread, each task of its loop and each other thread of this process stands, a line each."""
    told = [f"waited at {_place(frame)}"]
    loop = asyncio._get_running_loop()
    if loop is not None:
        told += [f"  task {task.get_name()}: {_task_place(task)}" for task in asyncio.all_tasks(loop)]
    frames = sys._current_frames()
    told += [
        f"  thread {thread.name}: {_place(frames.get(thread.ident or 0))}"
        for thread in threading.enumerate()
        if thread is not threading.main_thread()
    ]
    return "\n".join(told)


def _place(frame: FrameType | None) -> str:
    """Return the innermost line that is not of a library, and the library's line it waits in."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    ours = next((one for one in frames if _is_ours(one)), None)
    return " in ".join(_line(one) for one in dict.fromkeys((ours, *frames[:1])) if one is not None)


def _task_place(task: asyncio.Task[Any]) -> str:
    """Return the innermost line of a task that is not of a library, else its innermost line."""
    waiting: Any = task.get_coro()
    frames = []
    while (frame := getattr(waiting, "cr_frame", None) or getattr(waiting, "ag_frame", None)) is not None:
        frames.append(frame)
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "ag_await", None)
    found = [one for one in frames if _is_ours(one)] or frames
    return _line(found[-1]) if found else "-"


def _is_ours(frame: FrameType) -> bool:
    return not frame.f_code.co_filename.startswith((sys.prefix, sys.base_prefix, "<"))


def _line(frame: FrameType) -> str:
    path = Path(frame.f_code.co_filename)
    name = path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else path
    return f"{name}:{frame.f_lineno} ({frame.f_code.co_qualname})"
