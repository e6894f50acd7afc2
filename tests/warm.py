"""`hitlab` in processes of its own, each forked from one in which the whole program is loaded already.

A fork takes a few milliseconds where a start takes up to a second. It shares nothing with the test: it has a folder,
an environment, descriptors, a pid and an exit code of its own, and is signalled and killed as any other. What a test
asks of the start itself (module paths, encodings, hash seeds) is started, not forked.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests import warm_client
from tests.warm_lock import locked

ROOT = Path(__file__).parents[1]
_TEMPORARY = Path(tempfile.gettempdir())
"""As it is before a test has its own."""


@cache
def server() -> str:
    """The socket of the server, which is started with the first question of all workers, and ends with the last one."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    folder = _TEMPORARY / f"warm-{run}"
    users, place = folder / "users", folder / "socket"
    with locked():
        if not _use(users):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            os.mkfifo(users)
            reader = os.open(users, os.O_RDONLY | os.O_NONBLOCK)
            _use(users)
            _started(reader, place)
            os.close(reader)
    return str(place)


def _use(users: Path) -> bool:
    """Hold the server's standard input open as long as this process lives; return False if there is no server."""
    try:
        os.open(users, os.O_WRONLY | os.O_NONBLOCK)  # else it would wait for a server that was killed
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENXIO):
            raise
        return False
    return True


def _started(reader: int, place: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.warm_server", str(place)]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=reader, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.read(1) == b"."
    process.stdout.close()
    process.returncode = 0  # it is not waited for


def shim(path: Path) -> Path:
    """A program at `path` that does as `hitlab` does, for whoever starts programs by their path."""
    words = [sys.executable, "-I", "-S", warm_client.__file__, server()]
    path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    path.chmod(0o755)
    return path


class Warm(subprocess.Popen[Any]):
    """`hitlab ARGS` in a forked process; takes and tells what `Popen` does.

    With `start_new_session` a terminal that is its standard input is its own: it gets that one's signals. `main` is
    another function to call instead of hitlab's, as `module:name`; what it returns is the exit code.
    """

    _line: Any

    def __init__(self, args: Sequence[str], *, main: str = "lab.cli.main:main", **more: Any) -> None:
        self._main = main
        super().__init__(args, **more)

    def _execute_child(self, *given: Any) -> None:
        args, cwd, env = given[0], given[5], given[6]
        theirs, ours = given[10:16:2], given[11:16:2]
        session: bool = given[21]
        ends = [theirs[0], ours[1], ours[2]]
        environment = dict(os.environ if env is None else env)
        files = {number: number if end == -1 else end for number, end in enumerate(ends)}
        try:
            self._line = warm_client.asked(
                server(), self._main, list(args), files, str(cwd or Path.cwd()), environment, session
            )
        finally:
            self._close_pipe_fds(*given[10:16])  # type: ignore[attr-defined]
        self.pid = warm_client.number(self._line)
        self._child_created = True

    def _internal_poll(self, _deadstate: int | None = None, **_: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):  # type: ignore[attr-defined]
            try:
                pid, status = self._try_wait(os.WNOHANG)
                if pid == self.pid:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode

    def _try_wait(self, flags: int) -> tuple[int, int]:
        self._line.setblocking(flags != os.WNOHANG)
        try:
            status = warm_client.number(self._line)
        except BlockingIOError:
            return 0, 0
        return self.pid, status


def run(args: Sequence[str], given: bytes | str | None = None, **more: Any) -> subprocess.CompletedProcess[Any]:
    """Runs `hitlab ARGS` to its end, which comes within three minutes; gives what it wrote."""
    streams = {"stdin": subprocess.DEVNULL if given is None else subprocess.PIPE}
    with Warm(args, **({**streams, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more)) as process:
        try:
            out, err = process.communicate(given, timeout=180)
        finally:
            process.kill()
    return subprocess.CompletedProcess(args, process.returncode, out, err)
