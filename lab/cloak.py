"""Covering words in values: text, structs and mappings, as deep as they go."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from lab.errors import LabError
from lab.task import Actor
from lab.uitree import Bounds

MASK = "█████"
"""What stands where something was covered; it does not tell how long that was."""

_SHORT = 4
"""Words of fewer characters are covered only where they stand alone: Ann, but not in Annual."""
_LOCAL = 3
"""A text under a box of at least this many characters is also covered in what was said and done in its step."""
_NUMBER = re.compile(r"[\d\s()+./\-]+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FIXED = frozenset({
    "at", "started", "ended", "shown_at", "first_key_at", "sent_at", "time", "trace", "parent", "image", "images",
    "state", "sha256", "kind", "status", "verdict", "direction", "decision", "space", "seat", "log",
    "log_source", "gate", "format", "cls", "package", "run", "when", "supersedes", "undoes", "asked", "act", "task",
    "field", "release", "sdk",
})  # fmt: skip
"""Fields that hold hashes, times and words of our own where they hold text: nothing of a person's."""


class Cloak:
    """Covers words in text, whatever their case, spacing or JSON escapes; a long number whatever its punctuation."""

    def __init__(self, words: Iterable[str], ids: Mapping[str, str] | None = None) -> None:
        """`ids` are runs' old ids and the new ones that are written in their place. Raises `LabError` for no words."""
        self.words = tuple(dict.fromkeys(_tidy(word) for word in words))
        found = sorted({pattern for word in self.words for pattern in _patterns(word)}, key=len, reverse=True)
        self._pattern = re.compile("|".join(found), re.IGNORECASE) if found else None
        self._ids = dict(ids or {})
        self.count = 0

    def mask(self, text: str) -> str:
        """`text` without the words."""
        for old, new in self._ids.items():
            text = text.replace(old, new)
        if self._pattern is None:
            return text
        text, count = self._pattern.subn(MASK, text)
        self.count += count
        return text

    def holds(self, text: str) -> bool:
        """Whether any of the words stands in a text."""
        return self._pattern is not None and self._pattern.search(text) is not None

    def with_words(self, words: Iterable[str]) -> Cloak:
        """The same, and these words too; they are counted together."""
        more = [word for word in words if len(word.strip()) >= _LOCAL]
        return _Counted(self, more) if more else self

    def cover(self, value: Any, field: str = "") -> Any:
        """Any of our values without the words: structs, mappings (their keys too) and lists, as deep as they go.

        An actor's id is left as it is: people are study codes.
        """
        match value:
            case str():
                return self._text(value, field)
            case Bounds():
                return value
            case Actor():
                return msgspec.structs.replace(value, name=self.mask(value.name)) if value.name else value
            case msgspec.Struct():
                pairs = ((name, getattr(value, name)) for name in value.__struct_fields__)
                changes = {name: new for name, old in pairs if (new := self.cover(old, name)) is not old}
                return msgspec.structs.replace(value, **changes) if changes else value
            case tuple() | list():
                if field in _FIXED and value and isinstance(value[0], str):
                    return value
                items = [self.cover(item) for item in value]
                same = all(new is old for new, old in zip(items, value, strict=True))
                return value if same else type(value)(items)
            case dict():
                held = {self.mask(str(key)): self.cover(item) for key, item in value.items()}
                return value if held == value else held
        return value

    def _text(self, text: str, field: str) -> str:
        if field in _FIXED or (field == "id" and _UUID.fullmatch(text)):
            return text
        masked = self.mask(text)
        return text if masked == text else masked


class _Counted(Cloak):
    """A cloak with more words, which counts for the one it was made from."""

    def __init__(self, first: Cloak, words: Iterable[str]) -> None:
        super().__init__([*first.words, *words], first._ids)
        self._first = first

    def mask(self, text: str) -> str:
        before = self.count
        masked = super().mask(text)
        self._first.count += self.count - before
        return masked


def _tidy(word: str) -> str:
    word = " ".join(word.split())
    if len(word) < 2 or MASK in word:
        raise LabError("redact", f"{word!r} is too short to be looked for.", "Write at least two characters.", code=2)
    return word


def _patterns(word: str) -> set[str]:
    digits = re.sub(r"\D", "", word)
    if len(digits) >= 6 and _NUMBER.fullmatch(word):
        return {r"\+?" + r"[\s().\-/]{0,2}".join(digits)}
    found = set()
    for text in {word, json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1]}:
        pattern = r"\s+".join(re.escape(part) for part in text.split(" "))
        alone = len(word) < _SHORT and word.isalnum()
        found.add(rf"(?<!\w){pattern}(?!\w)" if alone else pattern)
    return found
