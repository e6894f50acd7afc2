"""A program in a process group of its own, spoken to in lines over pipes; no call waits past its deadline."""

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
from lab.core.plain_text import plain
from lab.core.seams import WaitCancelled
from lab.core.secret_keys import without_keys

MOST_LINE = 1024 * 1024
"""Bytes of the longest line that is read."""
MOST_KEPT = 4096
"""Bytes of the program's standard error that a sentence on it is made of: the last."""
MOST_HEARD = 8192
"""Bytes of its standard error that are kept between two looks: half of them the first, half the last."""
_POLL = 0.05
"""Seconds between two looks at `stop`."""
_CHUNK = 65536
_MOST_LOOKS = 64
"""Chunks of what was written unasked that are looked at."""
_ENDING = 3.0
"""Seconds after which a child that was ended, and still runs, is told of."""
_AFTERWARDS = 0.5
"""Seconds for which a program that closed its output is waited for, so that its exit code can be told."""


class Program:
    """One started program. What it does wrong is a `LabError`, after which it is ended and of no more use.

    Its children die with it: those in its group, and on Linux those that left it, too (`setsid`, a daemon). `outliving`
    are those that go on nevertheless, in words. Used by one thread at a time.
    """

    def __init__(self, argv: Sequence[str], what: str) -> None:
        """Starts it with this process's environment and working folder; `what` names it in sentences."""
        self.what = what
        self._out = bytearray()
        self._err = bytearray()
        self._heard, self._heard_last, self._unheard = bytearray(), bytearray(), 0
        self._to_write = memoryview(b"")
        self._closed_output = False
        self.outliving: list[str] = []
        self._children: set[tuple[int, int]] = set()
        """Its processes as they were last looked for, while it was their parent."""
        mark = f"_HITLAB_PROGRAM_{uuid4().hex}"
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env={**os.environ, mark: "1"},
            )
        except OSError as error:
            raise LabError(what, f"cannot be started ({error.strerror})") from error
        self._ended = weakref.finalize(self, _end_all, self._process, mark, self._children, self.outliving)
        self._selector = selectors.DefaultSelector()
        for stream in self._streams():
            os.set_blocking(stream.fileno(), False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)

    @property
    def pid(self) -> int:
        """Its process id, which is its group's too."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether we have not ended it."""
        return self._ended.alive

    def ask(self, lines: bytes, seconds: float, stop: threading.Event) -> bytes:
        """Writes lines and waits for the one that answers them, returned without its line feed.

        Raises `LabError` when none comes in time, it is too long, or more than one comes, and `WaitCancelled` once
        `stop` is set.
        """
        self._take_stray()
        self._to_write = memoryview(lines)
        deadline = time.monotonic() + seconds
        if not self._until(lambda: b"\n" in self._out.lstrip() or self._left(), deadline, stop):
            unread_note = "" if not self._to_write else " It did not read all that it was sent."
            raise self._wrong(f"did not answer within {seconds:g} seconds.{unread_note}", "Does it flush each line?")
        line, feed, rest = bytes(self._out.lstrip()).partition(b"\n")
        if not feed:
            raise self._wrong(f"{self._fate()} before it answered")
        if rest.strip():
            raise self._wrong(
                "wrote more than one line where one was due", f"{_once(line)} {_once(rest, 'It went on')}"
            )
        self._out.clear()
        return line

    def tell(self, line: bytes, seconds: float) -> None:
        """Writes a line that needs no answer; what is not read in time stays unread."""
        self._children |= _below(self.pid)
        self._to_write = memoryview(line)
        self._until(lambda: not self._to_write or self._closed_output, time.monotonic() + seconds, threading.Event())

    def end(self, grace: float = 0.0) -> None:
        """Closes its input, waits `grace` seconds for it to leave, then ends its whole group; safe to call twice."""
        if self._selector.get_map() is None:
            return
        self._children |= _below(self.pid)
        self._to_write = memoryview(b"")
        self._close_input()
        if grace:
            self._until(self._left, time.monotonic() + grace, threading.Event(), discard=True)
            self._exits(_AFTERWARDS)
        self._ended()
        self._selector.close()
        for stream in self._streams():
            with contextlib.suppress(OSError):
                stream.close()

    def complaint(self) -> str:
        """The last lines of its standard error, in plain characters and without keys; empty where it said nothing."""
        errors = self._err.decode("utf-8", "backslashreplace")
        if len(self._err) >= MOST_KEPT:
            errors = (errors.split(maxsplit=1) or [""])[-1]  # it may begin in the middle of a key
        lines = [line.strip() for line in without_keys(errors).splitlines()]
        lines_told = [line for line in lines if line.strip("~^ ")]
        return plain(" / ".join(lines_told[-2:])[-400:], lines=False)

    def take_errors(self, *, look: bool = False) -> str:
        """What it wrote on standard error since the last time, without keys; of much the beginning and the end.

        With `look` what has come meanwhile is read first, which the thread alone may do that asks.
        """
        if look:
            self._until_silent()
        heard, last, left_out = bytes(self._heard), bytes(self._heard_last), self._unheard
        self._heard, self._heard_last, self._unheard = bytearray(), bytearray(), 0
        text = (heard + (b"" if left_out else last)).decode("utf-8", "backslashreplace")
        if left_out:
            text += f"\n... {left_out:,} bytes left out ...\n{last.decode('utf-8', 'backslashreplace')}"
        return without_keys(text).strip()

    # -- waiting ---------------------------------------------------------------------------------------------

    def _until(
        self, ready: Callable[[], bool], deadline: float, stop: threading.Event, *, discard: bool = False
    ) -> bool:
        """Reads and writes until `ready`; False when the deadline comes first."""
        while not ready():
            if stop.is_set():
                raise WaitCancelled
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                return False
            self._turn(min(seconds, _POLL))
            if discard:
                self._out.clear()
            elif len(self._out) > MOST_LINE:
                raise self._wrong(f"wrote a line longer than {MOST_LINE:,} bytes")
        return True

    def _turn(self, wait: float) -> bool:
        """One look at the pipes; True where there was something to read or write."""
        writing = bool(self._to_write) and not self._stdin.closed
        if writing:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        try:
            ready = self._selector.select(wait)
        finally:
            if writing:
                self._selector.unregister(self._stdin)
        for key, _ in ready:
            if key.fileobj is self._stdin:
                self._write()
            else:
                self._read(self._stdout if key.fileobj is self._stdout else self._stderr)
        return bool(ready)

    def _write(self) -> None:
        try:
            self._to_write = self._to_write[os.write(self._stdin.fileno(), self._to_write) :]
        except BlockingIOError:
            return
        except OSError:
            self._close_input()  # it reads no more; whether it still answers is seen by its output

    def _read(self, stream: IO[bytes]) -> None:
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
            self._hear(chunk)

    def _hear(self, chunk: bytes) -> None:
        """Keeps the beginning and the end of standard error, and counts what lies between."""
        room = MOST_HEARD // 2 - len(self._heard)
        self._heard += chunk[:room]
        self._heard_last += chunk[room:]
        over = max(0, len(self._heard_last) - MOST_HEARD // 2)
        del self._heard_last[:over]
        self._unheard += over

    def _take_stray(self) -> None:
        """What it wrote unasked is an error, before a new question could take it for the answer."""
        for _ in range(_MOST_LOOKS):
            if self._out.strip() or self._closed_output or not self._turn(0):
                break
        if self._out.strip():
            raise self._wrong("wrote a line that nothing was asked for", _once(self._out))
        if self._closed_output:
            raise self._wrong(f"{self._fate()} before it was asked")

    # -- what went wrong -------------------------------------------------------------------------------------

    def refuse(self, error: LabError, answer: bytes) -> LabError:
        """Ends it for an answer that cannot be used; the error's sentence, with how the answer began."""
        return self._wrong(f"wrote a line that cannot be used: {error.message}", _once(answer))

    def _wrong(self, message: str, hint: str = "") -> LabError:
        """Ends it; the sentence holds what it said last on standard error."""
        self._until_silent()
        self.end()
        own_words = self.complaint()
        stop = "" if message.endswith(".") else "."
        return LabError(self.what, f'{message}{stop} Its standard error: "{own_words}"' if own_words else message, hint)

    def _until_silent(self) -> None:
        """Reads what is left of its standard error; a flood is cut off."""
        until = time.monotonic() + _POLL
        while time.monotonic() < until and self._selector.get_map() and self._turn(0):
            pass

    def _fate(self) -> str:
        """What became of a program whose output is closed."""
        has_exited = self._exits(_AFTERWARDS)
        self._until_silent()
        self._ended()
        code = self._process.returncode
        if code is None or (code == -signal.SIGKILL and not has_exited):
            return "closed its output"
        return f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"

    def _left(self) -> bool:
        """Whether no more can come: its output is closed, or it exited (a child may hold the pipe) and all is read."""
        return self._closed_output or (self._has_exited() and not self._turn(0))

    def _exits(self, seconds: float) -> bool:
        """Whether the program exits in time."""
        until = time.monotonic() + seconds
        while not self._has_exited() and time.monotonic() < until:
            time.sleep(0.005)
        return self._has_exited()

    def _has_exited(self) -> bool:
        """Whether the program itself exited; it is not reaped, so its group keeps its number until we have ended it.

        Always false where the system cannot tell without reaping (macOS before Python 3.13).
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


def _once(data: bytes | bytearray, words: str = "It began") -> str:
    """The beginning of what stood there, as a sentence."""
    text = without_keys(bytes(data[:4096]).strip().decode("utf-8", "backslashreplace"))
    return f'{words}: "{plain(text[:80], lines=False)}".'


# -- its children ----------------------------------------------------------------------------------------------


class _Process(NamedTuple):
    """A process of this machine: `began` tells it from a later one of the same number."""

    pid: int
    parent: int
    began: int
    state: str
    name: str

    @property
    def runs(self) -> bool:
        return self.state not in "ZX"


def _end_all(process: subprocess.Popen[bytes], mark: str, children: set[tuple[int, int]], outliving: list[str]) -> None:
    """Ends a program and its children, and reaps it; also run when the interpreter leaves.

    A child that left the group is told by the variable `mark`, which it was started with, or by its parent. A server
    of adb is left alone, whoever started it: others use it, too.
    """
    children |= _below(process.pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    until = time.monotonic() + _ENDING
    while left := [one for one in _still(children, mark) if one.pid != process.pid]:
        for one in left:
            _kill(one)
        if time.monotonic() > until:
            outliving += [f"process {one.pid} ({one.name}) of it goes on, and cannot be ended" for one in left]
            break
        time.sleep(0.01)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)


def _processes() -> Iterator[_Process]:
    """Every process of this machine that the system tells of in /proc; none where there is no such folder."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return
    yield from (one for pid in pids if (one := _process(pid)) is not None)


def _process(pid: int) -> _Process | None:
    """The process that has a number now."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        name, after = stat.partition("(")[2].rpartition(")")[::2]
        fields = after.split()
        return _Process(pid, int(fields[1]), int(fields[19]), fields[0], plain(name, lines=False))
    return None


def _below(pid: int) -> set[tuple[int, int]]:
    """The number and the beginning of each process below one."""
    processes = list(_processes())
    found = {pid}
    while more := {one.pid for one in processes if one.parent in found} - found:
        found |= more
    return {(one.pid, one.began) for one in processes if one.pid in found}


def _still(children: set[tuple[int, int]], mark: str) -> list[_Process]:
    """Those of a program's processes that run still."""
    return [
        one
        for one in _processes()
        if one.runs and ((one.pid, one.began) in children or _bears(one.pid, mark)) and not _is_adb_server(one)
    ]


def _bears(pid: int, mark: str) -> bool:
    """Whether a process was started with a variable."""
    with contextlib.suppress(OSError):
        return f"{mark}=".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    return False


def _is_adb_server(one: _Process) -> bool:
    with contextlib.suppress(OSError):
        return one.name == "adb" and b"server" in Path(f"/proc/{one.pid}/cmdline").read_bytes()
    return False


def _kill(one: _Process) -> None:
    """Ends a process, and no other that has its number by now."""
    with contextlib.suppress(OSError):
        handle = os.pidfd_open(one.pid)
        try:
            now = _process(one.pid)
            if now is not None and now.began == one.began:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
