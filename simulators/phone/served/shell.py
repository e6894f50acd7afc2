"""The served phone's shell: it runs `adb shell` and `adb exec-out` as Android's sh would.

A command's words are expanded first: parameters and command substitution, splitting, and file patterns. Source:
POSIX.1-2017, Shell Command Language 2.6.
"""

from __future__ import annotations

import fnmatch
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from lab.core.errors import LabError
from simulators.phone.served import folders
from simulators.phone.served.commands.call import (
    CommandCall,
    CommandRefused,
    Io,
    Reader,
    ServiceException,
    decoded,
    encoded,
    number,
)
from simulators.phone.served.commands.table import COMMANDS
from simulators.phone.served.line import BadLine, IfCommand, Loop, Redirect, Sequence, Simple, Word, parse
from simulators.phone.served.services import Console, HungUp, Services

SH = "/system/bin/sh"
_HUNG_UP = 129
_DEEPEST = 20
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)=")
_BINARIES = re.compile(r"/(?:system|vendor)/(?:bin|xbin)/(?=[^/]+$)")
_ENVIRONMENT = {
    "HOME": "/", "PATH": "/product/bin:/apex/com.android.runtime/bin:/system/bin:/system/xbin", "USER": "shell",
    "LOGNAME": "shell", "SHELL": "/bin/sh", "EXTERNAL_STORAGE": "/sdcard", "ANDROID_DATA": "/data",
    "ANDROID_ROOT": "/system", "TMPDIR": "/data/local/tmp", "HOSTNAME": "lantern",
}  # fmt: skip


def run(services: Services, command: str, console: Console) -> int:
    """Run one command line (empty: a shell that reads lines from the console). Return its exit code, 0 to 255."""
    io = Io(console.read, console.write_output, console.err, console.gone, console.terminal)
    if console.terminal:
        # The host's terminal is raw: the phone's side adds carriage returns, as a pty does (onlcr).
        io.write_output = lambda data: console.write_output(bytes(data).replace(b"\n", b"\r\n"))
        io.err = io.write_output
    shell = _Shell(services)
    try:
        return shell.line(command, io) if command else _talk(shell, io)
    except _Exit as end:
        return end.code
    except _Break:
        return 0
    except HungUp:
        return _HUNG_UP


class _Exit(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code & 0xFF


class _Break(Exception):
    """`break`, or (`goes_on`) `continue`."""

    def __init__(self, *, goes_on: bool) -> None:
        super().__init__()
        self.goes_on = goes_on


class _Shell:
    def __init__(self, services: Services, depth: int = 0) -> None:
        self._services = services
        self._variables = dict(_ENVIRONMENT)
        self._depth = depth
        self.within = "/"
        self.status = 0

    def line(self, line: str, io: Io) -> int:
        """Run a line. Print mksh's message on a syntax error."""
        try:
            commands = parse(line)
        # The parser is recursive: a deeply nested line exhausts Python's stack.
        except (BadLine, RecursionError) as error:
            io.err(encoded(f"{SH}: {error if isinstance(error, BadLine) else 'too deep'}\n"))
            self.status = 1
            return 1
        return self._sequence(commands, io)

    def _sequence(self, commands: Sequence, io: Io) -> int:
        for pipeline in commands:
            if io.gone.is_set() and io.terminal:
                raise HungUp  # a terminal that goes hangs up on its shell; one at a bare line runs on
            if pipeline.after == ";" or (pipeline.after == "&&") == (self.status == 0):
                if pipeline.aside:
                    self._run_in_background(pipeline.commands, io)
                    continue
                status = self._pipeline(pipeline.commands, io)
                self.status = int(not status) if pipeline.turned else status
        return self.status

    def _run_in_background(self, commands: list[Simple], io: Io) -> None:
        """Run in the background with empty input, until nobody listens to the shell."""
        io = replace(io, read=_reader_of(b""))

        def work() -> None:
            with suppress(HungUp):
                self._run_in_subshell(lambda shell: shell._pipeline(commands, io))

        threading.Thread(target=work, name="served phone command", daemon=True).start()
        self.status = 0

    def _pipeline(self, commands: list[Simple], io: Io) -> int:
        """Run commands in turn, each with the whole output of the one before as its input."""
        here, status = io, 0
        for command in commands[:-1]:
            output = bytearray()
            status = self._command(command, replace(here, write_output=output.extend))
            here = replace(io, read=_reader_of(bytes(output)))
        status = self._command(commands[-1], here)
        return status

    def _command(self, command: Simple, io: Io) -> int:
        files: list[tuple[str, bytearray]] = []
        try:
            io = self._redirect_streams(command.redirects, io, files)
            if command.body is not None:
                return self._group(command, io)
            if isinstance(command.compound, IfCommand):
                return self._run_if(command.compound, io)
            if command.compound is not None:
                return self._loop(command.compound, io)
            return self._call(command, io)
        except CommandRefused as refused:
            io.err(encoded(refused.text + "\n"))
            return refused.code
        finally:
            for path, data in files:
                if folders.has_room(self._services.files, path, len(data)):
                    self._services.files[path] = bytes(data)

    def _group(self, command: Simple, io: Io) -> int:
        assert command.body is not None
        if not command.apart:
            return self._sequence(command.body, io)
        return self._run_in_subshell(lambda shell: shell._sequence(command.body or [], io))

    def _run_if(self, command: IfCommand, io: Io) -> int:
        for test, body in command.branches:
            if self._sequence(test, io) == 0:
                return self._sequence(body, io)
        return self._sequence(command.otherwise, io) if command.otherwise else 0

    def _loop(self, loop: Loop, io: Io) -> int:
        """Repeat until the loop ends or nobody listens."""
        values, status = self._words().all(loop.words), 0
        while not io.gone.is_set():
            if loop.test is None and not values:
                return status
            if loop.test is None:
                self._variables[loop.name] = values.pop(0)
            elif (self._sequence(loop.test, io) == 0) == loop.turned:
                return status
            try:
                status = self._sequence(loop.body, io)
            except _Break as end:
                status = 0
                if not end.goes_on:
                    return status
        raise HungUp

    def _run_in_subshell(self, does: Callable[[_Shell], int]) -> int:
        """Run `does` in a subshell that starts as a copy of this one."""
        if self._depth >= _DEEPEST:
            raise CommandRefused(f"{SH}: too deep")
        shell = _Shell(self._services, self._depth + 1)
        shell._variables, shell.within, shell.status = dict(self._variables), self.within, self.status
        try:
            return does(shell)
        except _Exit as end:
            return end.code
        except _Break:
            return 0

    # -- words -------------------------------------------------------------------------------------------------

    def _words(self) -> WordExpander:
        return WordExpander(self._parameter, self._output, self._services.files, self.within)

    def _parameter(self, name: str) -> str | None:
        special_values = {"?": str(self.status), "$": "4242", "#": "0", "0": SH, "-": "", "!": "", "PWD": self.within}
        return special_values.get(name, self._variables.get(name))

    def _output(self, line: str) -> str:
        output = bytearray()
        io = Io(_reader_of(b""), output.extend, lambda data: None, threading.Event())
        self.status = self._run_in_subshell(lambda shell: shell.line(line, io))
        return decoded(bytes(output))

    def _redirect_streams(self, redirects: list[Redirect], io: Io, files: list[tuple[str, bytearray]]) -> Io:
        """Return the streams after redirections. Output to a file is collected in `files`."""
        for redirect in redirects:
            target = self._words().expand_one(redirect.target)
            if redirect.how == "&":
                io = (
                    replace(io, err=io.write_output)
                    if redirect.fd == 2
                    else _output_to_errors(io)
                    if target == "2"
                    else io
                )
            elif redirect.how == "<":
                io = replace(io, read=_reader_of(self._read_file(target)))
            else:
                out = self._open_output(target, redirect.how == ">>", io, files)
                io = replace(
                    io,
                    write_output=out if redirect.fd != 2 else io.write_output,
                    err=out if redirect.fd != 1 else io.err,
                )
        return io

    def _read_file(self, name: str) -> bytes:
        path = folders.normal(name, self.within)
        if path == "/dev/null":
            return b""
        if path not in self._services.files:
            raise CommandRefused(f"{SH}: can't open {name}: No such file or directory")
        return self._services.files[path]

    def _open_output(
        self, name: str, more: bool, io: Io, files: list[tuple[str, bytearray]]
    ) -> Callable[[bytes | memoryview], None]:
        path = folders.normal(name, self.within)
        if path == "/dev/null":
            return lambda data: None
        if path in ("/dev/tty", "/dev/stdout"):
            return io.write_output
        if folders.is_folder(self._services.files, path):
            raise CommandRefused(f"{SH}: can't create {name}: Is a directory")
        if not folders.writable(path):
            raise CommandRefused(f"{SH}: can't create {name}: Read-only file system")
        data = bytearray(self._services.files.get(path, b"") if more else b"")
        files.append((path, data))
        return data.extend

    # -- commands ----------------------------------------------------------------------------------------------

    def _call(self, command: Simple, io: Io) -> int:
        """Perform assignments, then run the command."""
        assignments: dict[str, str] = {}
        rest = list(command.words)
        while rest and rest[0] and rest[0][0].kind == "text" and not rest[0][0].quoted:
            match = _ASSIGNMENT.match(rest[0][0].value)
            if not match:
                break
            assignments[match[1]] = self._words().expand_one(rest.pop(0))[match.end() :]
        words = self._words().all(rest)
        if words:
            return self._run_command(words, assignments, io)
        self._variables |= assignments
        return 0

    def _run_command(self, words: list[str], assignments: dict[str, str], io: Io) -> int:
        name, args = words[0], words[1:]
        if name in _BUILTINS:
            return _BUILTINS[name](self, args, assignments, io)
        program = COMMANDS.get(_BINARIES.sub("", name))
        if program is None:
            path = folders.normal(name, self.within)
            there = "/" in name and (path in self._services.files or folders.is_folder(self._services.files, path))
            io.err(encoded(f"{SH}: {name}: {_BARRED if there else _MISSING}\n"))
            return 126 if there else 127
        call = CommandCall(
            self._services, io, name.rpartition("/")[2], args, {**self._variables, **assignments}, self.within
        )
        try:
            return program(call) & 0xFF
        except ServiceException as exception:
            trace = f"\nException occurred while executing '{args[0] if args else ''}':\n{exception.kind}: "
            io.err(encoded(f"{trace}{exception.message}\n\tat {exception.at}\n"))
            return 255
        except LabError as error:
            raise CommandRefused(f"{name}: {error.message}") from error

    def _cd(self, args: list[str], assignments: dict[str, str], io: Io) -> int:
        path = folders.normal(args[0] if args else "/", self.within)
        if not folders.is_folder(self._services.files, path):
            raise CommandRefused(f"{SH}: cd: {path}: No such file or directory", 2)
        self.within = path
        return 0

    def _exit(self, args: list[str], assignments: dict[str, str], io: Io) -> int:
        raise _Exit(number(args[0]) or 0 if args else self.status)

    def _break(self, args: list[str], assignments: dict[str, str], io: Io) -> int:
        raise _Break(goes_on=False)

    def _continue(self, args: list[str], assignments: dict[str, str], io: Io) -> int:
        raise _Break(goes_on=True)

    def _export(self, args: list[str], assignments: dict[str, str], io: Io) -> int:
        for arg in args:
            name, equals, value = arg.partition("=")
            if equals:
                self._variables[name] = value
        return 0

    def _unset(self, args: list[str], assignments: dict[str, str], io: Io) -> int:
        for name in args:
            self._variables.pop(name, None)
        return 0

    def _eval(self, args: list[str], assignments: dict[str, str], io: Io) -> int:
        return self.line(" ".join(args), io)

    def _prefix(self, args: list[str], assignments: dict[str, str], io: Io) -> int:
        """Run the command after `exec`, `nohup`, `env` or `command`, as if without them."""
        while args and (match := _ASSIGNMENT.match(args[0])):
            assignments, args = {**assignments, match[1]: args[0][match.end() :]}, args[1:]
        return self._run_command(args, assignments, io) if args else 0

    def _sh(self, args: list[str], assignments: dict[str, str], io: Io) -> int:
        """Run another shell: `sh -c LINE`, `sh FILE`, or lines from standard input."""
        if args[:1] == ["-c"] and len(args) > 1:
            line = args[1]
        elif args:
            line = decoded(self._read_file(args[0]))
        else:
            line = decoded(CommandCall(self._services, io, "sh", []).stdin())
        return self._run_in_subshell(lambda shell: shell.line(line, io))


_MISSING, _BARRED = "inaccessible or not found", "can't execute: Permission denied"
_BUILTINS: dict[str, Callable[[_Shell, list[str], dict[str, str], Io], int]] = {
    "break": _Shell._break, "continue": _Shell._continue,
    "cd": _Shell._cd, "exit": _Shell._exit, "export": _Shell._export, "unset": _Shell._unset, "eval": _Shell._eval,
    "exec": _Shell._prefix, "nohup": _Shell._prefix, "env": _Shell._prefix, "sh": _Shell._sh, SH: _Shell._sh,
}  # fmt: skip


def _output_to_errors(io: Io) -> Io:
    """Return the streams with output sent to standard error."""
    err = io.err
    return replace(io, write_output=lambda data: err(bytes(data)))


def _reader_of(data: bytes) -> Reader:
    """Return a reader of `data`, then its end."""
    chunks = [data]

    def read(timeout: float | None = None) -> bytes:
        return chunks.pop() if chunks else b""

    return read


_PROMPT = "lantern:{} $ "
_MOST_LINE = 1 << 20


def _talk(shell: _Shell, io: Io) -> int:
    """Read lines from a person or a script until `exit` or the end of the input."""
    buffer = bytearray()
    prompt = encoded(_PROMPT.format(shell.within)) if io.terminal else b""
    io.write_output(prompt)
    while part := io.read(None):
        for byte in part:
            # Ctrl-D on an empty line ends the shell.
            if io.terminal and byte == 0x04 and not buffer:
                return shell.status
            if byte in b"\r\n" and (byte != 0x0D or io.terminal):
                io.write_output(b"\n" if io.terminal else b"")
                line, buffer = decoded(bytes(buffer)), bytearray()
                shell.line(line, io)
                io.write_output(encoded(_PROMPT.format(shell.within)) if io.terminal else b"")
            elif io.terminal and byte in (0x03, 0x7F, 0x08):
                _edit(byte, buffer, io, prompt)
            elif len(buffer) < _MOST_LINE:
                buffer.append(byte)
                io.write_output(bytes([byte]) if io.terminal else b"")
    return shell.line(decoded(bytes(buffer)), io) if buffer else shell.status


def _edit(byte: int, buffer: bytearray, io: Io, prompt: bytes) -> None:
    """Handle backspace (delete a character) and Ctrl-C (clear the line)."""
    if byte == 0x03:
        buffer.clear()
        io.write_output(b"^C\n" + prompt)
        return
    # A character may have several bytes in UTF-8: remove its continuation bytes first.
    while buffer and (buffer[-1] & 0xC0) == 0x80:
        buffer.pop()
    if buffer:
        buffer.pop()
        io.write_output(b"\b \b")


_PATTERN = re.compile(r"[*?\[]")
_CHOICE = re.compile(r"([A-Za-z_][A-Za-z_0-9]*|[0-9?$#@*!-]):?([-=+?])(.*)", re.DOTALL)

Field = list[tuple[str, bool]]
"""A word during expansion: pieces of text, each with True if it was quoted."""


class WordExpander:
    """Expander of words. `parameter` returns a parameter's value (None if unset), `output` a command line's output."""

    def __init__(
        self,
        parameter: Callable[[str], str | None],
        output: Callable[[str], str],
        files: Mapping[str, bytes],
        within: str,
    ) -> None:
        self._parameter = parameter
        self._output = output
        self._files = files
        self._within = within

    def expand_one(self, word: Word) -> str:
        """Expand a word that stays one, as an assignment's value or a file name."""
        return "".join(text for field in self._fields(word, split=False) for text, _ in field)

    def all(self, words: list[Word]) -> list[str]:
        """Expand the words of a command."""
        return [
            name for word in words for field in self._fields(word, split=True) for name in self._matching_files(field)
        ]

    def _fields(self, word: Word, *, split: bool) -> list[Field]:
        fields: list[Field] = []
        in_field = False
        for i, part in enumerate(word):
            value = self._value(part.kind, part.value)
            if part.kind == "text" and not i and not part.quoted and re.match(r"~(/|$)", value):
                value = (self._parameter("HOME") or "/").rstrip("/") + value[1:] or "/"
            if part.kind == "text" or part.quoted or not split:
                if not in_field:
                    fields.append([])
                fields[-1].append((value, part.quoted))
                in_field = True
                continue
            for j, piece in enumerate(re.split(r"[ \t\n]+", value)):
                if (j or not in_field) and piece:
                    fields.append([])
                if piece:
                    fields[-1].append((piece, False))
                in_field = bool(piece)
        return fields

    def _value(self, kind: str, value: str) -> str:
        if kind == "text":
            return value
        if kind == "command":
            return self._output(value).rstrip("\n")
        match = _CHOICE.fullmatch(value)
        if match is None:
            return self._parameter(value) or ""
        text = self._parameter(match[1]) or ""
        if match[2] == "+":
            return match[3] if text else ""
        return text or match[3]

    def _matching_files(self, field: Field) -> list[str]:
        """Return the files that match a word with an unquoted pattern, or the word itself if none does."""
        plain = "".join(text for text, _ in field)
        if not any(not quoted and _PATTERN.search(text) for text, quoted in field):
            return [plain]
        pattern = "".join(_PATTERN.sub(lambda m: f"[{m[0]}]", text) if quoted else text for text, quoted in field)
        begin = "" if pattern.startswith("/") else self._within.rstrip("/") + "/"
        paths = ["/"]
        for step in [s for s in (begin + pattern).split("/") if s]:
            paths = [
                f"{base.rstrip('/')}/{name}"
                for base in paths
                for name in folders.entries(self._files, base)
                if fnmatch.fnmatchcase(name, step) and (not name.startswith(".") or step.startswith("."))
            ]
        return [name.removeprefix(begin) for name in paths] or [plain]
