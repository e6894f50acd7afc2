"""Parser of the phone's shell: words with their quotes, pipes, lists, redirections.

It covers a part of POSIX sh as mksh has it, and `$'...'`, without `case` and functions. Source: POSIX.1-2017, Shell
Command Language 2.2 to 2.9. Error messages are mksh's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, NamedTuple


class BadLine(Exception):
    """A syntax error. The text is mksh's message."""


class WordPart(NamedTuple):
    """A piece of a word: plain text, a parameter's name (with `:-default`), or a command substitution.

    `quoted` parts are neither split into words nor used as a pattern.
    """

    kind: Literal["text", "parameter", "command"]
    value: str
    quoted: bool


Word = tuple[WordPart, ...]


class Redirect(NamedTuple):
    """Redirection of `fd` to or from a target. `&` duplicates another descriptor."""

    fd: int
    how: Literal["<", ">", ">>", "&"]
    target: Word


@dataclass(slots=True)
class Simple:
    """One command with its words, a condition or loop, or a bracketed list (`body`), in a subshell if `apart`."""

    words: list[Word] = field(default_factory=list)
    compound: IfCommand | Loop | None = None
    redirects: list[Redirect] = field(default_factory=list)
    body: Sequence | None = None
    apart: bool = False


class Pipeline(NamedTuple):
    """Commands connected by pipes. `after` is the condition to run: always, or the result of the previous pipeline.

    `aside` runs it in the background.
    """

    after: Literal[";", "&&", "||"]
    turned: bool
    commands: list[Simple]
    aside: bool = False


Sequence = list[Pipeline]


@dataclass(slots=True)
class IfCommand:
    """`if ...; then ...; elif ...; then ...; else ...; fi`: each test with its body."""

    branches: list[tuple[Sequence, Sequence]]
    otherwise: Sequence


@dataclass(slots=True)
class Loop:
    """`for name in words; do body; done`, or `while`, `until` (`turned`) with its `test`."""

    body: Sequence
    name: str = ""
    words: list[Word] = field(default_factory=list)
    test: Sequence | None = None
    turned: bool = False


_OPERATORS = ("&&", "||", ";;", ";", "&", "|", "(", ")", "\n")
_REDIRECT = re.compile(r"([0-9]?)(>>|>&|<&|>\||>|<)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*|[0-9?$#@*!-]")
_UNKNOWN = ("case", "select", "function", "[[")
_BEGINS = re.compile(r"(if|for|while|until)(?=[\s;&|()]|$)")
_RESERVED = re.compile(r"(then|elif|else|fi|do|done)(?=[\s;&|()<>]|$)")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def parse(line: str) -> Sequence:
    """Parse a line. Raise `BadLine` on a syntax error."""
    reader = _Reader(line)
    sequence = reader.sequence("")
    if reader.at < len(line):
        raise BadLine(f"syntax error: unexpected '{line[reader.at]}'")
    return sequence


class _Reader:
    def __init__(self, line: str) -> None:
        self.line = line
        self.at = 0

    # -- commands ----------------------------------------------------------------------------------------------

    def sequence(self, end: str | tuple[str, ...]) -> Sequence:
        """Read pipelines up to `end`: a closing bracket, one of some reserved words, or the line's end."""
        parts: Sequence = []
        after: Literal[";", "&&", "||"] = ";"
        while True:
            self._skip(lines=True)
            if self._at_end(end):
                if after != ";":
                    raise BadLine("syntax error: unexpected EOF")
                return parts
            parts.append(self._pipeline(after))
            operator = self._operator((";", "&&", "||", "&", "\n"))
            if not operator and not self._at_end(end):
                raise BadLine(f"syntax error: unexpected '{self.line[self.at]}'")
            if operator == "&":
                parts[-1] = parts[-1]._replace(aside=True)
            after = "&&" if operator == "&&" else "||" if operator == "||" else ";"

    def _at_end(self, end: str | tuple[str, ...]) -> bool:
        self._skip()
        if self.at >= len(self.line):
            if end:
                raise BadLine(f"syntax error: unexpected EOF, no {end if isinstance(end, str) else end[-1]!r}")
            return True
        if isinstance(end, tuple):
            match = _RESERVED.match(self.line, self.at)
            return match is not None and match[1] in end
        return bool(end) and self.line[self.at] == end

    def _pipeline(self, after: Literal[";", "&&", "||"]) -> Pipeline:
        negated = bool(re.match(r"!\s", self.line[self.at :]))
        self.at += negated
        commands = [self._command()]
        while self._operator(("|",)):
            self._skip(lines=True)
            commands.append(self._command())
        return Pipeline(after, negated, commands)

    def _command(self) -> Simple:
        self._skip()
        command = Simple()
        bracket = self.line[self.at : self.at + 1]
        if bracket == "(" or re.match(r"\{\s", self.line[self.at :]):
            self.at += 1
            command.apart = bracket == "("
            command.body = self.sequence(")" if command.apart else "}")
            self.at += 1
        elif match := _BEGINS.match(self.line, self.at):
            self.at = match.end()
            command.compound = self._if() if match[1] == "if" else self._loop(match[1])
        elif stray := _RESERVED.match(self.line, self.at):
            raise BadLine(f"syntax error: unexpected '{stray[1]}'")
        while True:
            self._skip()
            redirect = self._redirect()
            if redirect is not None:
                command.redirects.append(redirect)
            elif self._more_words() and command.body is None and command.compound is None:
                command.words.append(self._read_word())
            else:
                break
        if not (command.words or command.redirects or command.compound) and command.body is None:
            raise BadLine(f"syntax error: unexpected '{self.line[self.at : self.at + 1] or 'EOF'}'")
        if command.words and command.words[0] in [(WordPart("text", word, False),) for word in _UNKNOWN]:
            raise BadLine(f"syntax error: '{command.words[0][0].value}' is not known to this phone's shell")
        return command

    def _if(self) -> IfCommand:
        branches: list[tuple[Sequence, Sequence]] = []
        otherwise: Sequence = []
        word = "if"
        while word in ("if", "elif"):
            test = self._commands_before("then")
            body = self._nonempty_sequence(("elif", "else", "fi"))
            branches.append((test, body))
            word = self._read_reserved()
        if word == "else":
            otherwise = self._commands_before("fi")
        return IfCommand(branches, otherwise)

    def _loop(self, kind: str) -> Loop:
        if kind != "for":
            test = self._commands_before("do")
            return Loop(self._commands_before("done"), test=test, turned=kind == "until")
        self._skip()
        name = _VARIABLE.match(self.line, self.at)
        if name is None:
            raise BadLine("syntax error: 'for' names no variable")
        self.at = name.end()
        self._skip(lines=True)
        words: list[Word] = []
        if re.compile(r"in(?=[\s;])").match(self.line, self.at):
            self.at += 2
            self._skip()
            while self._more_words():
                words.append(self._read_word())
                self._skip()
        self._operator((";", "\n"))
        self._skip(lines=True)
        if self._read_reserved() != "do":
            raise BadLine("syntax error: 'for' without 'do'")
        return Loop(self._commands_before("done"), name=name[0], words=words)

    def _commands_before(self, end: str) -> Sequence:
        """Read the commands before a reserved word, and skip that word."""
        inner = self._nonempty_sequence((end,))
        self._read_reserved()
        return inner

    def _nonempty_sequence(self, ends: tuple[str, ...]) -> Sequence:
        inner = self.sequence(ends)
        if not inner:
            raise BadLine(f"syntax error: nothing before '{ends[-1]}'")
        return inner

    def _read_reserved(self) -> str:
        match = _RESERVED.match(self.line, self.at)
        self.at = match.end() if match else self.at
        return match[1] if match else ""

    def _more_words(self) -> bool:
        return self.at < len(self.line) and self.line[self.at] not in "&|;()\n"

    def _skip(self, lines: bool = False) -> None:
        """Skip blanks, comments and line continuations."""
        while self.at < len(self.line):
            if self.line.startswith("\\\n", self.at):
                self.at += 2
            elif self.line[self.at] in (" \t\n" if lines else " \t"):
                self.at += 1
            elif self.line[self.at] == "#":
                end = self.line.find("\n", self.at)
                self.at = len(self.line) if end < 0 else end
            else:
                return

    def _operator(self, operators: tuple[str, ...]) -> str:
        self._skip()
        operator = next((op for op in _OPERATORS if self.line.startswith(op, self.at)), "")
        if operator not in operators:
            return ""
        self.at += len(operator)
        return operator

    def _redirect(self) -> Redirect | None:
        match = _REDIRECT.match(self.line, self.at)
        both = self.line.startswith("&>", self.at)
        if not match and not both:
            return None
        how = match[2] if match else ">"
        self.at = match.end() if match else self.at + 2
        self._skip()
        if not self._more_words():
            raise BadLine("syntax error: unexpected redirection")
        target = self._read_word()
        if both:
            return Redirect(-1, ">", target)
        fd = int(match[1]) if match and match[1] else 0 if how[0] == "<" else 1
        ways: dict[str, Literal["<", ">", ">>", "&"]] = {"<": "<", ">": ">", ">|": ">", ">>": ">>"}
        return Redirect(fd, ways.get(how, "&"), target)

    # -- words -------------------------------------------------------------------------------------------------

    def _read_word(self) -> Word:
        parts: list[WordPart] = []
        while self.at < len(self.line) and self.line[self.at] not in " \t\n&|;()<>":
            parts.extend(self._piece())
        return tuple(parts)

    def _piece(self) -> list[WordPart]:
        """Read the next piece of a word: quoted text, a substitution, or plain text."""
        ch = self.line[self.at]
        if ch == "\\":
            self.at += 2
            character = self.line[self.at - 1 : self.at]
            return [] if character == "\n" else [WordPart("text", character or "\\", True)]
        if ch == "'":
            return [WordPart("text", self._read_up_to("'", self.at + 1), True)]
        if self.line.startswith("$'", self.at):
            self.at += 2
            return [WordPart("text", self._ansi(), True)]
        if ch == '"':
            self.at += 1
            return self._double()
        if ch in "$`":
            return [self._read_substitution(quoted=False)]
        begin = self.at
        while self.at < len(self.line) and self.line[self.at] not in " \t\n&|;()<>\\'\"$`":
            self.at += 1
        return [WordPart("text", self.line[begin : self.at], False)]

    def _read_up_to(self, mark: str, begin: int) -> str:
        end = self.line.find(mark, begin)
        if end < 0:
            raise BadLine("no closing quote")
        self.at = end + 1
        return self.line[begin:end]

    def _double(self) -> list[WordPart]:
        """Read up to a closing double quote. Only `$`, a backquote and a backslash before one of these are special."""
        parts, text = [WordPart("text", "", True)], ""
        while self.at < len(self.line):
            ch = self.line[self.at]
            if ch == '"':
                self.at += 1
                return [*parts, WordPart("text", text, True)]
            if ch == "\\" and self.line[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                text += self.line[self.at + 1].replace("\n", "")
                self.at += 2
            elif ch in "$`":
                parts += [WordPart("text", text, True), self._read_substitution(quoted=True)]
                text = ""
            else:
                text += ch
                self.at += 1
        raise BadLine("no closing quote")

    def _read_substitution(self, quoted: bool) -> WordPart:
        if self.line[self.at] == "`":
            return WordPart("command", self._read_up_to("`", self.at + 1), quoted)
        if self.line.startswith("$(", self.at):
            begin = self.at = self.at + 2
            self.sequence(")")
            self.at += 1
            return WordPart("command", self.line[begin : self.at - 1], quoted)
        if self.line.startswith("${", self.at):
            return WordPart("parameter", self._read_up_to("}", self.at + 2), quoted)
        match = _NAME.match(self.line, self.at + 1)
        self.at = match.end() if match else self.at + 1
        return WordPart("parameter", match[0], quoted) if match else WordPart("text", "$", True)

    def _ansi(self) -> str:
        """Read text between `$'` and `'`, with C's backslash escapes."""
        text = ""
        while self.at < len(self.line):
            pattern = re.compile(
                r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
            ).match(self.line, self.at)
            if self.line[self.at] == "'":
                self.at += 1
                return text
            if not pattern:
                text += self.line[self.at]
                self.at += 1
                continue
            self.at = pattern.end()
            code = next((int(d, 8 if i == 3 else 16) for i, d in enumerate(pattern.groups()[:4]) if d), None)
            text += _ESCAPES.get(pattern[5], pattern[5]) if code is None else chr(min(code, 0x10FFFF))
        raise BadLine("no closing quote")
