"""No test reads or writes a person's home, or looks at or starts a person's adb server."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import signal
import sys
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from screens.memory_use import free_closed_screens, give_pictures_back
from tests.compiled import compile_all, read_constants
from tests.fuzzing_examples import SOAK, examples
from tests.memory_files import keep_files_in_memory
from tests.schema_template import SchemaTemplate
from tests.time_limit import TimeLimit

NOBODY = "::ffff:127.0.0.1"
"""This machine by a name that is not taken for it: where nobody listens, no adb server is started there."""

keep_files_in_memory()
settings.register_profile(
    "busy machine", max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy machine")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(TimeLimit(config), "time limit")
    if (terminal := config.pluginmanager.getplugin("terminalreporter")) is not None:
        config.pluginmanager.register(_FailuresAtOnce(terminal), "failures at once")


class _FailuresAtOnce:
    """The name and the message of each failure as it happens: a run that is killed prints no summary."""

    _LINES = 6

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            lines = (crash.message if crash else report.longreprtext).splitlines()[: self._LINES]
            self._terminal.ensure_newline()
            self._terminal.write_line(f"FAILED {report.nodeid} [{report.when}]", red=True)
            for line in lines:
                self._terminal.write_line(f"    {line[:300]}")
            self._terminal.flush()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before the workers start; a worker, and pytest without any, compiles what it loads.

    Pictures and closed screens are given back as the app does it: otherwise a worker grows to some GB.
    """
    give_pictures_back()
    free_closed_screens()
    if session.config.getoption("numprocesses", None) and not sys.dont_write_bytecode:
        compile_all(session.config)
        read_constants()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Eight thousand tests and what they import stay to the end: looking through them for rubbish took a seventh."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 10, 10)
        gc.enable()


class _Memory:
    """Memory of this process, given back each time that it has grown by `_GROWTH`.

    Left to itself Python looks through old objects only once they are a quarter more, and pictures, clients of models
    and apps, of some MB each, lie in circles of a few of them: a process that ran all tests took 5 GB.
    """

    _GROWTH = 100 << 20
    _PAGE = os.sysconf("SC_PAGE_SIZE")
    _STATM = Path("/proc/self/statm")

    def __init__(self) -> None:
        self._after = 0
        self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None)

    def give_back(self) -> None:
        if self._taken() > self._after + self._GROWTH:
            gc.collect()
            if self._trim is not None:
                self._trim(0)
            self._after = self._taken()

    def _taken(self) -> int:
        """Return the resident bytes; 0 where no file of the system has them."""
        return int(self._STATM.read_text().split()[1]) * self._PAGE if self._STATM.exists() else 0


_memory = _Memory()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    try:
        return (yield)
    finally:
        _memory.give_back()


_folders = count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own; pytest's fixture looks through those of all tests before for a free number."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}{next(_folders)}", numbered=False)


@pytest.fixture(scope="session", autouse=True)
def _nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A home of this worker's own, and an adb server that is not there; the rig's fixtures lead to the tests'."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("ANDROID_", "ADB_", "XDG_"))]:
            patch.delenv(name)
        patch.delenv("TMUX", raising=False)  # a test's terminal is its own, also where tests run in tmux
        for name in ("COLUMNS", "LINES"):  # readline says 80x24 to each worker, whatever size a test's terminal has
            patch.delenv(name, raising=False)
        patch.delenv(
            SOAK, raising=False
        )  # which cases there are is settled; commands refuse a setting they do not know
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("ANDROID_ADB_SERVER_ADDRESS", NOBODY)
        patch.setenv("ANDROID_ADB_SERVER_PORT", "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def _signals_are_heard() -> None:
    """What is started in the background ignores Ctrl-C, and under `nohup` a hang-up: so would the tests' programs."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _tables_are_laid_once() -> Iterator[None]:
    """A new file's tables are those of the first: tests make some thousand files."""
    from store.file import connection, schema

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "migrate", SchemaTemplate(schema.migrate))
        yield
