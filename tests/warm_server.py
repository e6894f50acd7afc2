"""The process in which hitlab is loaded, and from which `hitlab ARGS` are forked; see `tests.warm`.

It listens on a socket, answers each question with the pid of a new process and, once that ended, its wait status, and
ends when its standard input does. Its socket is in a folder of its own, which ends with it.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import io
import marshal
import os
import select
import selectors
import shutil
import signal
import socket
import sys
import termios
import threading
from collections.abc import Callable
from importlib import import_module, reload
from pathlib import Path
from typing import NamedTuple

import textual.constants

from tests.drawn_once import keep_drawn
from tests.warm_client import SIZE
from tests.warm_lock import locked

LOADED = ("lab.cli", "lab.runs", "lab.studies", "annotators", "screens", "simulators", "store")
"""Packages of which every module is loaded; what these import comes along."""
NOT_LOADED = ("lab.cli.__main__",)
BESIDES = ("tests.bounded_child", "adbutils")
"""What some of them import in a function, and what tests have forks do besides."""

_PATIENCE = 60.0
"""Seconds in which a question must be here whole: all others wait meanwhile."""


class Question(NamedTuple):
    """What to call (`module:name`), the command's words, where it is to run, and its descriptors by their numbers."""

    main: str
    args: list[str]
    folder: str
    environment: dict[str, str]
    session: bool
    numbers: list[int]
    files: list[int]


def load() -> None:
    """Imports what commands import and reads what comes with the program, so that no fork has to."""
    root = Path(__file__).parents[1]
    for package in LOADED:
        for path in sorted((root / package.replace(".", "/")).rglob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            if name not in NOT_LOADED:
                import_module(name)
    for name in BESIDES:
        import_module(name)
    import_module("screens.slip").GUARD_SECONDS = 0.0  # type: ignore[attr-defined]  # tests press the next key at once
    from simulators import library
    from simulators.phone.phone import Phone

    for name in library.tasks():
        library.task(name)
    keep_drawn()
    Phone().observe().png  # noqa: B018 - it is drawn when it is looked at
    gc.collect()
    gc.freeze()


def questions(listener: socket.socket) -> Question:
    """Forks for each question; comes back in each fork with what it is to do, and never in the server."""
    ended_reader, ended_writer = os.pipe()
    for end in (ended_reader, ended_writer):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(ended_writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    lines: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        for file in (listener.fileno(), ended_reader, 0):
            selector.register(file, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd == 0:
                    _end_if_unused(Path(listener.getsockname()).parent)
                    continue
                if key.fd == ended_reader:
                    _tell_ended(ended_reader, lines, selector)
                    continue
                if key.data is not None:
                    if key.data in lines:  # whoever asked was killed: nobody is left to end what was asked for
                        selector.unregister(key.fileobj)
                        os.kill(key.data, signal.SIGKILL)
                    continue
                line, _ = listener.accept()
                line.settimeout(_PATIENCE)
                try:
                    question = _heard(line)
                except (OSError, EOFError):  # whoever asks was killed or stopped in the middle of the question
                    line.close()
                    continue
                pid = os.fork()
                if pid == 0:
                    return question
                for file in question.files:
                    os.close(file)
                lines[pid] = line
                selector.register(line, selectors.EVENT_READ, pid)
                with contextlib.suppress(OSError):
                    line.sendall(pid.to_bytes(SIZE, "big"))


def _end_if_unused(folder: Path) -> None:
    with locked():
        if not select.select([0], [], [], 0)[0]:
            return  # there is another worker by now
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


def _heard(line: socket.socket) -> Question:
    head, files, _, _ = socket.recv_fds(line, SIZE, 10)
    size, data = int.from_bytes(head, "big"), bytearray()
    while len(data) < size:
        if not (piece := line.recv(size - len(data))):
            raise ConnectionError
        data += piece
    main, args, folder, environment, session, numbers = marshal.loads(data)
    return Question(main, args, folder, environment, session, numbers, files)


def _tell_ended(reader: int, lines: dict[int, socket.socket], selector: selectors.BaseSelector) -> None:
    with contextlib.suppress(BlockingIOError):
        os.read(reader, 4096)
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with lines.pop(ended[0]) as line:
                with contextlib.suppress(KeyError):
                    selector.unregister(line)
                with contextlib.suppress(OSError):
                    line.sendall(ended[1].to_bytes(SIZE, "big"))


def become(question: Question) -> None:
    """Makes this fork what a process is that was started with these descriptors, in this folder."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    apart = [fcntl.fcntl(file, fcntl.F_DUPFD, 64) for file in question.files]
    os.closerange(0, 64)
    for number, file in zip(question.numbers, apart, strict=True):
        os.dup2(file, number)
    os.closerange(64, max(apart) + 1)
    if question.session:
        os.setsid()
        if os.isatty(0):
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(question.folder)
    os.environ.clear()
    os.environ.update(question.environment)
    reload(textual.constants)  # read from the environment when it is loaded
    sys.argv = ["hitlab", *question.args]
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
        assert isinstance(stream, io.TextIOWrapper)
        stream.reconfigure(line_buffering=number == 2 or os.isatty(number))
        setattr(sys, name, stream)


def end(main: Callable[[], int]) -> None:
    """Calls it, and ends this fork as Python ends a process, but for taking all that is loaded to pieces first.

    That would copy every page that is shared with the server, and take four fifths of a short command's time. What is
    raised, but for an exit code, goes on to the caller and ends the process in Python's own way.
    """
    try:
        code = main()
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        code = ended.code or 0
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads that are no daemons
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def serve(place: str) -> Callable[[], int]:
    """Listens until the one who asks is gone; in each fork, gets it ready and comes back with what to call."""
    load()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(place)
    listener.listen(64)
    os.write(1, b".")
    question = questions(listener)
    become(question)
    module, _, name = question.main.partition(":")
    main: Callable[[], int] = getattr(import_module(module), name)
    return main


if __name__ == "__main__":
    end(serve(sys.argv[1]))
