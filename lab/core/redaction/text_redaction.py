"""Cover words in values: text, structs and mappings, at any depth."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from lab.core.errors import LabError
from lab.core.run.ui_tree import Bounds
from lab.core.task.task import Actor

MASK = "█████"
"""Replacement of covered text. It does not reveal the text's length."""

WITHDRAWN = "(withdrawn)"
"""Replacement of quotations from a person who withdrew."""
_COVERS = re.compile(f"{re.escape(MASK)}|{re.escape(WITHDRAWN)}")

_SHORT = 4
"""Words with fewer characters are covered only as whole words: Ann, but not in Annual.

That holds for scripts with capital letters alone. Chinese and others put no blank around a name.
"""
_LOCAL = 3
"""Minimum characters of a text under a box that is also covered in the words and actions of its step."""
_SEPARATORS = r"(?:[\s_.-]|\\+[nrt])+"
"""Separators of two words. Names of tasks, files and addresses have no blanks. JSON escapes line feeds in a text."""
_JOINED = 6
"""Minimum letters of words that are also covered without separators, as in NoorHaddad."""
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]{2,}")
"""Chinese and Japanese. A line may end anywhere in a word."""
_NUMBER = re.compile(r"[\d\s()+./\-]+")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
"""Control and format characters, which nobody sees inside a word, and accents."""
_SAME = str.maketrans({**dict.fromkeys("‘’ʼ′", "'"), **dict.fromkeys("‐‒–—−", "-"), "ı": "i"})
"""Quotation marks, dashes and a letter that people use interchangeably."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
FIXED = frozenset({
    "at", "started", "ended", "shown_at", "first_key_at", "sent_at", "time", "trace", "parent", "image", "images",
    "state", "sha256", "kind", "status", "verdict", "direction", "decision", "space", "seat", "log",
    "log_source", "gate", "format", "cls", "package", "run", "when", "supersedes", "undoes", "asked", "act", "task",
    "field", "release", "sdk",
})  # fmt: skip
"""Fields whose text is a hash, a time or one of our own words, never a person's."""

_ACTOR_WORDS = ("name", "implementation", "version", "model")
"""An actor's text fields. Its id is a study code, or how an agent was started."""


class TextRedaction:
    """Cover words in text, in any case and with any separators (also Mara_Quill) or JSON escapes.

    Accents, the width of letters, their composition (NFC, NFD) and characters that nobody sees make no difference. A
    long number is covered with any punctuation.
    """

    fixed = FIXED
    """Names of fields whose text is never covered."""

    def __init__(self, words: Iterable[str], ids: Mapping[str, str] | None = None) -> None:
        """Prepare to cover `words`.

        `ids` map old run ids to new ones. Raise `LabError` for a word that is too short.
        """
        self.words = tuple(dict.fromkeys(_normalize_word(word) for word in words))
        # The longest first, because a regex takes the first alternative that matches.
        patterns = sorted({pattern for word in self.words for pattern in _word_patterns(word)}, key=len, reverse=True)
        self._pattern = re.compile("|".join(patterns), re.IGNORECASE) if patterns else None
        self._ids = dict(ids or {})
        self.count = 0

    def mask(self, text: str) -> str:
        """Return `text` with the words covered and the run ids replaced."""
        for old, new in self._ids.items():
            text = text.replace(old, new)
        if self._pattern is None:
            return text
        folded = fold_letters(text)
        spans = [match.span() for match in self._pattern.finditer(folded)]
        self.count += len(spans)
        return _mask_spans(text, folded, spans) if spans else text

    def matches(self, text: str) -> bool:
        """Return True if a text contains any of the words."""
        return self._pattern is not None and self._pattern.search(fold_letters(text)) is not None

    def with_words(self, words: Iterable[str]) -> TextRedaction:
        """Return a redaction of these words too. It shares this one's count."""
        more = [word for word in words if len(fold_letters(word).strip()) >= _LOCAL]
        return _CountingRedaction(self, more) if more else self

    def cover(self, value: Any, field: str = "") -> Any:
        """Return a value with the words covered in structs, mappings (keys too) and lists at any depth.

        An actor's id stays, because people are study codes.
        """
        match value:
            case str():
                return self._cover_text(value, field)
            case Bounds():
                return value
            case Actor():
                words = {name: self.mask(text) for name in _ACTOR_WORDS if (text := getattr(value, name))}
                arguments = tuple((key, self.mask(text)) for key, text in value.arguments)
                covered = msgspec.structs.replace(value, **words, arguments=arguments)
                return value if covered == value else covered
            case msgspec.Struct():
                changes = {}
                for name in value.__struct_fields__:
                    old = getattr(value, name)
                    if (new := self.cover(old, name)) is not old:
                        changes[name] = new
                return msgspec.structs.replace(value, **changes) if changes else value
            case tuple() | list():
                if field in self.fixed and value and isinstance(value[0], str):
                    return value
                # A loop, because a comprehension is a second call per level (before Python 3.12), and deep values would
                # exceed the recursion limit.
                items = []
                for item in value:
                    items.append(self.cover(item))
                same = all(new is old for new, old in zip(items, value, strict=True))
                return value if same else type(value)(items)
            case dict():
                mapping = {}
                for key, item in value.items():
                    mapping[self.mask(str(key))] = self.cover(item)
                return value if mapping == value else mapping
        return value

    def _cover_text(self, text: str, field: str) -> str:
        if field in self.fixed or (field == "id" and _UUID.fullmatch(text)):
            return text
        masked = self.mask(text)
        return text if masked == text else masked


class _CountingRedaction(TextRedaction):
    """A redaction with more words, which adds to the count of the one it was made from."""

    def __init__(self, first: TextRedaction, words: Iterable[str]) -> None:
        super().__init__([*first.words, *words], first._ids)
        self._base = first

    def mask(self, text: str) -> str:
        before = self.count
        masked = super().mask(text)
        self._base.count += self.count - before
        return masked


class LongTextRedaction(TextRedaction):
    """A redaction that leaves some texts unchanged if they stand alone: names by which rows refer to one another."""

    def __init__(self, first: TextRedaction, spared: Iterable[str]) -> None:
        super().__init__(first.words, first._ids)
        self._base = first
        self._spared = frozenset(spared)

    def mask(self, text: str) -> str:
        return self._base.mask(text)

    def _cover_text(self, text: str, field: str) -> str:
        return text if text in self._spared else super()._cover_text(text, field)


# -- two copies of a row, one of them covered ------------------------------------------------------------------


class ValuesDiffer(Exception):
    """Raised if two values differ in more than in what is covered."""


def merge_covered(one: Any, other: Any, ids: Mapping[str, str]) -> Any:
    """Merge two copies of a JSON value, each perhaps covered. Raise `ValuesDiffer` if they are different values.

    `ids` map old run ids to new ones. A text that both copies cover differently is covered whole. The result does not
    depend on their order.
    """
    if isinstance(one, str) and isinstance(other, str):
        return _merge_texts(one, other, ids)
    if isinstance(one, dict) and isinstance(other, dict) and len(one) == len(other):
        mapping = {}
        for (a, b), (c, d) in zip(one.items(), other.items(), strict=True):
            mapping[merge_covered(a, c, ids)] = merge_covered(b, d, ids)
        return mapping
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        items = []
        for a, b in zip(one, other, strict=True):
            items.append(merge_covered(a, b, ids))
        return items
    if one != other or isinstance(one, bool) is not isinstance(other, bool):
        raise ValuesDiffer
    return one


def _merge_texts(one: str, other: str, ids: Mapping[str, str]) -> str:
    if one == other:
        return one
    for old, new in ids.items():
        one, other = one.replace(old, new), other.replace(old, new)
    if one == other or _covered_spans(other, one) is not None:
        return one
    if _covered_spans(one, other) is not None:
        return other
    if _COVERS.search(one) and _COVERS.search(other):
        return MASK
    raise ValuesDiffer


def texts_covered_in(whole: Any, covered: Any) -> tuple[set[str], set[str]]:
    """Return the texts that are gone from a covered copy of a JSON value: parts of texts, and whole texts.

    Values without a counterpart are skipped.
    """
    parts: set[str] = set()
    wholes: set[str] = set()
    pairs: list[tuple[Any, Any]] = []
    if isinstance(whole, str) and isinstance(covered, str) and whole != covered:
        (wholes if covered == MASK else parts).update(_covered_spans(whole, covered) or ())
    elif isinstance(whole, dict) and isinstance(covered, dict):
        pairs = [(value, covered[key]) for key, value in whole.items() if key in covered]
    elif isinstance(whole, list) and isinstance(covered, list):
        pairs = list(zip(whole, covered, strict=False))
    for a, b in pairs:
        more = texts_covered_in(a, b)
        parts |= more[0]
        wholes |= more[1]
    return parts, wholes


def _covered_spans(whole: str, covered: str) -> tuple[str, ...] | None:
    """Return the covered parts of a text, or None if `covered` is not a covered copy of it."""
    if not _COVERS.search(covered):
        return None
    pattern = "(.+?)".join(map(re.escape, _COVERS.split(covered)))
    match = re.fullmatch(pattern, whole, re.DOTALL)
    return match.groups() if match else None


def is_coverable(word: str) -> bool:
    """Return True if a word is long enough to be looked for."""
    return len(" ".join(fold_letters(word).split())) > 1 and MASK not in word


def _normalize_word(word: str) -> str:
    word = " ".join(word.split())
    if not is_coverable(word):
        raise LabError("redact", f"{word!r} is too short to be looked for.", "Write at least two characters.", code=2)
    return word


def fold_letters(text: str, *, wide: bool | None = None) -> str:
    """Return a text in the form in which words are looked for.

    Each character folds apart from the others. A character of a text that is not ASCII folds as a `wide` one.
    """
    if not text.isascii() if wide is None else wide:
        text = unicodedata.normalize("NFKD", text).casefold().translate(_SAME)
    return _UNSEEN.sub("", text)


def _mask_spans(text: str, folded: str, spans: list[tuple[int, int]]) -> str:
    """Return a text with the parts covered that `spans` of its folded form name."""
    if folded == text:
        pieces, end = list[str](), 0
        for start, stop in spans:
            pieces += [text[end:start], MASK]
            end = stop
        return "".join((*pieces, text[end:]))
    parts = [fold_letters(ch, wide=not text.isascii()) for ch in text]
    if "".join(parts) != folded:  # marks in an unusual order: no part of the text can be told from the others
        return MASK
    origins = [at for at, part in enumerate(parts) for _ in part]
    pieces, end = [], 0
    for start, stop in spans:
        # Accents and unseen characters that follow belong to the word.
        after = origins[stop] if stop < len(origins) else len(text)
        last = origins[stop - 1] + 1
        while last < after and not parts[last]:
            last += 1
        pieces += [text[end : max(end, origins[start])], MASK]
        end = max(last, end)
    return "".join((*pieces, text[end:]))


def _word_patterns(word: str) -> set[str]:
    spellings = {word, word.upper(), word.lower(), unicodedata.normalize("NFD", word)}
    escaped = {json.dumps(spelling)[1:-1] for spelling in spellings if not spelling.isascii()}
    word = fold_letters(word).strip()
    digits = re.sub(r"\D", "", word)
    if len(digits) >= 6 and _NUMBER.fullmatch(word):
        return {r"\+?" + r"[\s().\-/]{0,2}".join(digits)}
    patterns = set()
    # As it is, and as JSON in a text escapes it.
    alone = len(word) < _SHORT and word.isalnum() and all(ch.isdigit() or ch.lower() != ch.upper() for ch in word)
    separators = _SEPARATORS[:-1] + "*" if len(word.replace(" ", "")) >= _JOINED else _SEPARATORS
    for text in {word, json.dumps(word, ensure_ascii=False)[1:-1], *escaped}:
        pattern = separators.join(map(_part_pattern, text.split(" ")))
        patterns.add(rf"(?<!\w){pattern}(?!\w)" if alone else pattern)
    return patterns


def _part_pattern(part: str) -> str:
    return r"\s*".join(part) if _UNSPACED.fullmatch(part) else re.escape(part)
