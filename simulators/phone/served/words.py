"""Words of a command line to what a command is given: parameters and outputs put in, split, and matched with files.

Source: POSIX.1-2017, Shell Command Language 2.6.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping

from simulators.phone.served import folders
from simulators.phone.served.line import Word

_PATTERN = re.compile(r"[*?\[]")
_CHOICE = re.compile(r"([A-Za-z_][A-Za-z_0-9]*|[0-9?$#@*!-]):?([-=+?])(.*)", re.DOTALL)

Field = list[tuple[str, bool]]
"""One word to be: pieces of text, each with whether it was quoted."""


class WordExpander:
    """`parameter` gives a parameter's value (None where it has none), `output` what a command line writes."""

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

    def one(self, word: Word) -> str:
        """A word that stays one, as an assignment's value or the name of a file."""
        return "".join(text for field in self._fields(word, split=False) for text, _ in field)

    def all(self, words: list[Word]) -> list[str]:
        """What a command is called with."""
        return [name for word in words for field in self._fields(word, split=True) for name in self._matched(field)]

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

    def _matched(self, field: Field) -> list[str]:
        """The files that a word with an unquoted pattern stands for; itself where there are none."""
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
