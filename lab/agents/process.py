"""Agent that is a program in any language: it reads observations and writes actions as JSON lines."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import shlex
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lab.agents.process_lines import (
    End,
    Hello,
    ObservationLine,
    ProgramHello,
    ToProgram,
    brief_line,
    done_line,
    hello_of,
    observation_line,
    proposed_of,
)
from lab.core.codec import encode, read_json
from lab.core.errors import LabError
from lab.core.run.step import Prompt, Proposed
from lab.core.run.trace import Step
from lab.core.seams import Screen, TaskBrief
from lab.core.settings import load
from lab.core.task.task import Actor
from lab.core.text.plain_text import plain
from lab.core.values.made_files import write_bytes
from lab.core.values.process_pipes import Program

T = TypeVar("T")

_GRACE = 2.0
"""Seconds that a program has to exit by itself after its input is closed."""


class ProcessAgent:
    """Run `command` without a shell and exchange the lines of `lab.agents.process_lines` with it.

    The program starts at the first turn. It lives across runs, so it may use a memory, until `close` or until its first
    error. An error ends the run with a sentence, and the next run starts the program again. `seconds` limits one answer
    (default: the setting `agent_timeout`).
    """

    def __init__(self, command: str, *, seconds: float | None = None) -> None:
        what = f"agent process:{plain(command, lines=False)}"
        try:
            self._argv = shlex.split(command)
        except ValueError as error:
            raise LabError(what, f"is no command line ({error})", code=2) from error
        if not self._argv:
            raise LabError("agent process", "names no command", "For example: process:python my_agent.py", code=2)
        if shutil.which(self._argv[0]) is None:
            raise LabError(what, f"there is no program {self._argv[0]!r} to start", code=2)
        self.actor = Actor("script", f"process:{command}")
        self.stop = threading.Event()
        self._title = what
        self._seconds = load().agent_timeout if seconds is None else seconds
        self._busy = threading.Lock()
        self._program: Program | None = None
        self._hello = ProgramHello(0)
        self._start_error: LabError | None = None
        self._pictures: tempfile.TemporaryDirectory[str] | None = None
        self._owes_answer = False
        self._briefed = False
        self._reported_steps = 0
        self._seen_steps: set[int] = set()
        self.outliving: list[str] = []
        """Processes of its programs that survived their end, in words."""

    def introduce(self) -> None:
        """Start the program before its run begins, so that the run carries its name and version.

        An unusable program fails the run at its first turn, not here.
        """
        with self._busy:
            try:
                self._ensure_started()
            except LabError as error:
                # Raised by the first turn, so that a run exists that records it.
                self._start_error = error

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        """Return the program's answer to this screen. The run's brief precedes the first one."""
        with self._busy:
            if self._start_error is not None:
                error, self._start_error = self._start_error, None
                raise error
            program = self._ensure_started()
            turn = len(history)
            lines: list[ToProgram] = []
            if not self._briefed:
                self._briefed, self._reported_steps, self._seen_steps = True, 0, set()
                lines.append(brief_line(brief))
            done_lines = [
                done_line(step, seen=step.index in self._seen_steps) for step in history[self._reported_steps :]
            ]
            lines.append(observation_line(brief, screen, done_lines, turn, self._picture(screen, turn)))
            answer = self._ask(program, b"".join(encode(line) + b"\n" for line in lines))
            self._reported_steps = turn
            self._seen_steps.add(turn)
            proposed = self._parse_answer(program, answer, lambda value: proposed_of(value, screen, self._title))
            return msgspec.structs.replace(
                proposed,
                prompt=_stored_prompt(lines, hashlib.sha256(screen.png).hexdigest()),
                raw=answer.decode("utf-8", "backslashreplace"),
                stderr=program.take_errors(look=True),
            )

    def take_errors(self) -> str:
        """Return the program's standard error since its last action, once."""
        return self._program.take_errors() if self._program is not None else ""

    def remember(self, brief: TaskBrief, steps: Sequence[Step], status: str) -> None:
        """Notify the program that the run is over. Any learning is its own."""
        with self._busy:
            self._end_run(status)

    def close(self, status: str = "") -> None:
        """Notify the program how its run ended, let it exit, and remove all that belongs to it."""
        with self._busy:
            self._end_run(status or "left")
            if self._program is not None:
                self._program.end(_GRACE)
                self.outliving += self._program.outliving
                self._program = None
            if self._pictures is not None:
                self._pictures.cleanup()
                self._pictures = None

    # -- one run ---------------------------------------------------------------------------------------------

    def _ensure_started(self) -> Program:
        """Return the program, ready for a question. Restart one that still owes an answer to a stopped run."""
        if self._program is not None and (self._owes_answer or not self._program.running):
            self._program.end()
            self.outliving += self._program.outliving
            self._program = None
        if self._program is None:
            self._program = Program(self._argv, self._title)
            self._briefed = False
            hello = self._ask(self._program, encode(Hello()) + b"\n")
            self._hello = self._parse_answer(self._program, hello, lambda value: hello_of(value, self._title))
            self.actor = msgspec.structs.replace(
                self.actor,
                implementation=self._hello.name,
                version=str(self._hello.version),
                model=self._hello.model,
            )
        return self._program

    def _ask(self, program: Program, lines: bytes) -> bytes:
        # An exception (stop or timeout) leaves this set. The late answer would be taken for that of the next question.
        self._owes_answer = True
        answer = program.ask(lines, self._seconds, self.stop)
        self._owes_answer = False
        return answer

    def _parse_answer(self, program: Program, answer: bytes, reading: Callable[[Any], T]) -> T:
        """Return the parsed answer. End a program that writes anything else."""
        try:
            return reading(read_json(answer, self._title).value)
        except LabError as error:
            raise program.reject_answer(error, answer) from error

    def _end_run(self, status: str) -> None:
        if self._program is not None and self._program.running and self._briefed:
            with contextlib.suppress(LabError):  # the run is over: what its program does wrong now changes nothing
                self._program.send(encode(End(status)) + b"\n", _GRACE)
        self._briefed = False
        self.take_errors()  # what it wrote after its run's end is in no run
        for path in Path(self._pictures.name).iterdir() if self._pictures is not None else ():
            path.unlink(missing_ok=True)

    # -- pictures --------------------------------------------------------------------------------------------

    def _picture(self, screen: Screen, turn: int) -> str | None:
        """Return the screenshot in the form that the program's hello asked for."""
        match self._hello.screenshot:
            case "base64":
                return base64.b64encode(screen.png).decode()
            case "path":
                return str(self._write_picture(screen.png, f"step-{turn + 1}.png"))
            case _:
                return None

    def _write_picture(self, png: bytes, name: str) -> Path:
        try:
            if self._pictures is None:
                self._pictures = tempfile.TemporaryDirectory(prefix=f"hitlab-{os.getpid()}-")
            path = Path(self._pictures.name) / name
            write_bytes(path, png)
        except OSError as error:
            raise LabError(self._title, f"its screenshot cannot be written ({error.strerror})") from error
        return path


def _stored_prompt(lines: Sequence[ToProgram], sha256: str) -> Prompt:
    """Return the lines as sent, with the picture's sha256 in place of its bytes or path."""
    has_picture = False
    texts = []
    for line in lines:
        if isinstance(line, ObservationLine) and line.screenshot is not None:
            line = msgspec.structs.replace(line, screenshot=f"sha256:{sha256}")
            has_picture = True
        texts.append(encode(line).decode())
    return Prompt("\n".join(texts), (sha256,) if has_picture else ())
