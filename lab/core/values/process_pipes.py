"""A subprocess in its own process group, with which we exchange lines over pipes. No call blocks past its deadline."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple
from uuid import uuid4

from lab.core.errors import LabError
from lab.core.redaction.secret_keys import without_keys
from lab.core.seams import WaitCancelled
from lab.core.text.plain_text import plain

MOST_LINE = 1024 * 1024
"""Longest line to read, in bytes."""
MOST_KEPT = 4096
"""Bytes of the program's standard error, the last ones, from which `last_errors` takes its text."""
MOST_HEARD = 8192
"""Bytes of standard error stored between two reads: half of them the first, half the last."""
_POLL = 0.05
"""Seconds between two polls of `stop`."""
_CHUNK = 65536
_MOST_STRAY_READS = 64
"""Maximum number of chunks of unrequested output to read."""
_KILL_SECONDS = 3.0
"""Seconds after which a killed child that still runs is reported."""
_EXIT_SECONDS = 0.5
"""Seconds to wait for a program that closed its output, to report its exit code."""


class Program:
    """One started program. A failure of it raises `LabError` and ends it.

    Its children die with it: those in its group, and on Linux also those that left it (`setsid`, a daemon). `outliving`
    describes those that could not be ended. Only one thread may use it at a time.
    """

    def __init__(self, argv: Sequence[str], what: str) -> None:
        """Start the program with this process's environment and working folder. `what` names it in errors."""
        self.what = what
        self._out = bytearray()
        self._err = bytearray()
        self._errors_start, self._errors_end, self._errors_dropped = bytearray(), bytearray(), 0
        self._to_write = memoryview(b"")
        self._closed_output = False
        self.outliving: list[str] = []
        self._children: set[tuple[int, int]] = set()
        """Its child processes, found while it was their parent."""
        mark = f"_HITLAB_PROGRAM_{uuid4().hex}"
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Unbuffered, because `select` only sees what is still in the pipe.
                bufsize=0,
                # A group of its own, so that its children can be killed with it.
                start_new_session=True,
                # Children inherit the variable, which finds those that left the group.
                env={**os.environ, mark: "1"},
            )
        except OSError as error:
            raise LabError(what, f"cannot be started ({error.strerror})") from error
        # Runs at interpreter exit at the latest, so that no program outlives us.
        self._finalizer = weakref.finalize(self, _end_all, self._process, mark, self._children, self.outliving)
        self._selector = selectors.DefaultSelector()
        for stream in self._streams():
            # No read or write may block past its deadline.
            os.set_blocking(stream.fileno(), False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)

    @property
    def pid(self) -> int:
        """Its process id, which is also the group's."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """True until we end it."""
        return self._finalizer.alive

    def ask(self, lines: bytes, seconds: float, stop: threading.Event) -> bytes:
        """Write lines and return the one line that answers them, without its line feed.

        Raise `LabError` if no line comes in time, or one is too long, or more than one comes, and `WaitCancelled` once
        `stop` is set.
        """
        self._refuse_stray_output()
        self._to_write = memoryview(lines)
        deadline = time.monotonic() + seconds
        if not self._pump_until(lambda: b"\n" in self._out.lstrip() or self._is_finished(), deadline, stop):
            unread_note = "" if not self._to_write else " It did not read all that it was sent."
            raise self._end_with_error(
                f"did not answer within {seconds:g} seconds.{unread_note}", "Does it flush each line?"
            )
        line, feed, extra = bytes(self._out.lstrip()).partition(b"\n")
        if not feed:
            raise self._end_with_error(f"{self._describe_end()} before it answered")
        if extra.strip():
            raise self._end_with_error(
                "wrote more than one line where one was due",
                f"{_quote_start(line)} {_quote_start(extra, 'It went on')}",
            )
        self._out.clear()
        return line

    def send(self, line: bytes, seconds: float) -> None:
        """Write a line that needs no answer. What the program does not read in time is dropped."""
        self._children |= _descendants(self.pid)
        self._to_write = memoryview(line)
        self._pump_until(
            lambda: not self._to_write or self._closed_output, time.monotonic() + seconds, threading.Event()
        )

    def end(self, grace: float = 0.0) -> None:
        """Close its input, wait `grace` seconds for it to exit, then kill its whole group.

        A second call does nothing.
        """
        if self._selector.get_map() is None:
            return
        self._children |= _descendants(self.pid)
        self._to_write = memoryview(b"")
        self._close_input()
        if grace:
            self._pump_until(self._is_finished, time.monotonic() + grace, threading.Event(), discard=True)
            self._wait_for_exit(_EXIT_SECONDS)
        self._finalizer()
        self._selector.close()
        for stream in self._streams():
            with contextlib.suppress(OSError):
                stream.close()

    def last_errors(self) -> str:
        """Return the last lines of its standard error as plain text without keys, empty if there are none."""
        errors = self._err.decode("utf-8", "backslashreplace")
        if len(self._err) >= MOST_KEPT:
            errors = (errors.split(maxsplit=1) or [""])[-1]  # it may begin in the middle of a key
        lines = [line.strip() for line in without_keys(errors).splitlines()]
        lines_told = [line for line in lines if line.strip("~^ ")]
        return plain(" / ".join(lines_told[-2:])[-400:], lines=False)

    def take_errors(self, *, look: bool = False) -> str:
        """Return its standard error since the last call, without keys. The middle of a long one is left out.

        `look` reads the pipe first. Only the thread that calls `ask` may do that.
        """
        if look:
            self._drain_errors()
        heard, last, left_out = bytes(self._errors_start), bytes(self._errors_end), self._errors_dropped
        self._errors_start, self._errors_end, self._errors_dropped = bytearray(), bytearray(), 0
        text = (heard + (b"" if left_out else last)).decode("utf-8", "backslashreplace")
        if left_out:
            text += f"\n... {left_out:,} bytes left out ...\n{last.decode('utf-8', 'backslashreplace')}"
        return without_keys(text).strip()

    # -- waiting ---------------------------------------------------------------------------------------------

    def _pump_until(
        self, ready: Callable[[], bool], deadline: float, stop: threading.Event, *, discard: bool = False
    ) -> bool:
        """Read and write until `ready` is true. Return False at the deadline."""
        while not ready():
            if stop.is_set():
                raise WaitCancelled
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                return False
            self._poll_pipes(min(seconds, _POLL))
            if discard:
                self._out.clear()
            elif len(self._out) > MOST_LINE:
                raise self._end_with_error(f"wrote a line longer than {MOST_LINE:,} bytes")
        return True

    def _poll_pipes(self, wait: float) -> bool:
        """Poll the pipes once. Return True if there was something to read or write."""
        writing = bool(self._to_write) and not self._stdin.closed
        if writing:
            # A pipe is nearly always writable. Registered for longer, `select` would never wait.
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        try:
            ready = self._selector.select(wait)
        finally:
            if writing:
                self._selector.unregister(self._stdin)
        for key, _ in ready:
            if key.fileobj is self._stdin:
                self._write_input()
            else:
                self._read_stream(self._stdout if key.fileobj is self._stdout else self._stderr)
        return bool(ready)

    def _write_input(self) -> None:
        try:
            self._to_write = self._to_write[os.write(self._stdin.fileno(), self._to_write) :]
        except BlockingIOError:
            return
        except OSError:
            self._close_input()  # it reads no more; whether it still answers is seen by its output

    def _read_stream(self, stream: IO[bytes]) -> None:
        try:
            chunk = os.read(stream.fileno(), _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._selector.unregister(stream)
            self._closed_output = self._closed_output or stream is self._stdout
        elif stream is self._stdout:
            self._out += chunk
        else:
            self._err += chunk
            del self._err[:-MOST_KEPT]
            self._store_errors(chunk)

    def _store_errors(self, chunk: bytes) -> None:
        """Store the beginning and the end of standard error, and count the bytes in between."""
        room = MOST_HEARD // 2 - len(self._errors_start)
        self._errors_start += chunk[:room]
        self._errors_end += chunk[room:]
        excess = max(0, len(self._errors_end) - MOST_HEARD // 2)
        del self._errors_end[:excess]
        self._errors_dropped += excess

    def _refuse_stray_output(self) -> None:
        """Raise `LabError` for unrequested output, before it can pass for the answer to the next question."""
        for _ in range(_MOST_STRAY_READS):
            if self._out.strip() or self._closed_output or not self._poll_pipes(0):
                break
        if self._out.strip():
            raise self._end_with_error("wrote a line that nothing was asked for", _quote_start(self._out))
        if self._closed_output:
            raise self._end_with_error(f"{self._describe_end()} before it was asked")

    # -- what went wrong -------------------------------------------------------------------------------------

    def reject_answer(self, error: LabError, answer: bytes) -> LabError:
        """End the program after an unusable answer. Return the error with the beginning of the answer."""
        return self._end_with_error(f"wrote a line that cannot be used: {error.message}", _quote_start(answer))

    def _end_with_error(self, message: str, hint: str = "") -> LabError:
        """End the program. Return an error with the end of its standard error."""
        self._drain_errors()
        self.end()
        own_words = self.last_errors()
        stop = "" if message.endswith(".") else "."
        return LabError(self.what, f'{message}{stop} Its standard error: "{own_words}"' if own_words else message, hint)

    def _drain_errors(self) -> None:
        """Read the rest of its standard error, for a short time only: a flood is cut off."""
        until = time.monotonic() + _POLL
        while time.monotonic() < until and self._selector.get_map() and self._poll_pipes(0):
            pass

    def _describe_end(self) -> str:
        """Describe the end of a program whose output is closed."""
        has_exited = self._wait_for_exit(_EXIT_SECONDS)
        self._drain_errors()
        self._finalizer()
        code = self._process.returncode
        # The SIGKILL was ours: it had closed its output without exiting.
        if code is None or (code == -signal.SIGKILL and not has_exited):
            return "closed its output"
        return f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"

    def _is_finished(self) -> bool:
        """Return True if no more output can come: it is closed, or the program exited and all is read.

        A child may hold the pipe open after the program's exit.
        """
        return self._closed_output or (self._has_exited() and not self._poll_pipes(0))

    def _wait_for_exit(self, seconds: float) -> bool:
        """Wait for the program's exit. Return False if it does not come in time."""
        until = time.monotonic() + seconds
        while not self._has_exited() and time.monotonic() < until:
            time.sleep(0.005)
        return self._has_exited()

    def _has_exited(self) -> bool:
        """Return True if the program has exited. It is not reaped, so that its group id is not reused before we end it.

        Always False if the system cannot tell without reaping (macOS before Python 3.13).
        """
        if not hasattr(os, "waitid"):
            return False
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # the interpreter leaves, and has reaped it meanwhile
            return True

    # -- its ends of the pipes -------------------------------------------------------------------------------

    def _close_input(self) -> None:
        self._to_write = memoryview(b"")
        with contextlib.suppress(OSError):
            self._stdin.close()

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def _stderr(self) -> IO[bytes]:
        assert self._process.stderr is not None
        return self._process.stderr

    def _streams(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        return self._stdin, self._stdout, self._stderr


def _quote_start(data: bytes | bytearray, words: str = "It began") -> str:
    """Return the beginning of some output as a sentence."""
    text = without_keys(bytes(data[:4096]).strip().decode("utf-8", "backslashreplace"))
    return f'{words}: "{plain(text[:80], lines=False)}".'


# -- its children ----------------------------------------------------------------------------------------------


class _Process(NamedTuple):
    """A process of this machine. Its start time `began` tells it from a later one with the same id."""

    pid: int
    parent: int
    began: int
    state: str
    name: str

    @property
    def is_running(self) -> bool:
        return self.state not in "ZX"


def _end_all(process: subprocess.Popen[bytes], mark: str, children: set[tuple[int, int]], outliving: list[str]) -> None:
    """Kill a program and its children, and reap it. Also runs at interpreter exit.

    Children that left the group are found by the environment variable `mark`, or by their parent. An adb server is left
    alone, because other programs use it too.
    """
    children |= _descendants(process.pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    until = time.monotonic() + _KILL_SECONDS
    # A killed child may have started another one, so look again until none is left.
    while running := [one for one in _running_children(children, mark) if one.pid != process.pid]:
        for one in running:
            _kill(one)
        if time.monotonic() > until:
            outliving += [f"process {one.pid} ({one.name}) of it goes on, and cannot be ended" for one in running]
            break
        time.sleep(0.01)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)


def _processes() -> Iterator[_Process]:
    """Yield every process in /proc, or nothing if the system has no such folder."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return
    yield from (one for pid in pids if (one := _process(pid)) is not None)


def _process(pid: int) -> _Process | None:
    """Return the process that has this id now, or None if there is none."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        name, after = stat.partition("(")[2].rpartition(")")[::2]
        # See proc(5). The name may have blanks and parentheses, so fields count from the last parenthesis.
        fields = after.split()
        return _Process(pid, int(fields[1]), int(fields[19]), fields[0], plain(name, lines=False))
    return None


def _descendants(pid: int) -> set[tuple[int, int]]:
    """Return id and start time of a process and all its descendants."""
    processes = list(_processes())
    pids = {pid}
    while children := {one.pid for one in processes if one.parent in pids} - pids:
        pids |= children
    return {(one.pid, one.began) for one in processes if one.pid in pids}


def _running_children(children: set[tuple[int, int]], mark: str) -> list[_Process]:
    """Return those of a program's processes that still run."""
    return [
        one
        for one in _processes()
        if one.is_running
        and ((one.pid, one.began) in children or _has_variable(one.pid, mark))
        and not _is_adb_server(one)
    ]


def _has_variable(pid: int, mark: str) -> bool:
    """Return True if a process was started with the environment variable `mark`."""
    with contextlib.suppress(OSError):
        return f"{mark}=".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    return False


def _is_adb_server(one: _Process) -> bool:
    with contextlib.suppress(OSError):
        return one.name == "adb" and b"server" in Path(f"/proc/{one.pid}/cmdline").read_bytes()
    return False


def _kill(one: _Process) -> None:
    """Kill a process, unless a later one has its id by now."""
    with contextlib.suppress(OSError):
        # The handle keeps the id from being reused between the check and the signal.
        handle = os.pidfd_open(one.pid)
        try:
            now = _process(one.pid)
            if now is not None and now.began == one.began:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
