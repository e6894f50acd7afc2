"""Find and remove quotations of an erased person's text in other people's text.

Texts are compared word by word. Case, punctuation, spacing, accents, the width and composition of letters and JSON
escapes do not count. A quotation is a whole text
of theirs, or 24 characters of a longer one (a third of that in Chinese or Japanese). A text that says little by itself
(a number, a short word, an everyday phrase) is not *telling*: its occurrence elsewhere may be a coincidence.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import storable
from lab.core.redaction.text_redaction import WITHDRAWN, TextRedaction, fold_letters

LONG = 12
"""Minimum characters of a text whose occurrence elsewhere is not a coincidence."""
_PART = 24
"""Minimum characters of a part that counts as a quotation. In Chinese, where each says more, a third suffices."""
_WORDLESS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Scripts that do not separate words by blanks."""
_WORDLESS_CHARACTER = re.compile(f"[{_WORDLESS}]")
_WORD = re.compile(rf"[{_WORDLESS}]|[^\W_{_WORDLESS}]+")
_LETTER = re.compile(
    "[\u1100-\u115f\ua960-\ua97c][\u1160-\u11a7\ud7b0-\ud7c6]?[\u11a8-\u11ff\ud7cb-\ud7fb]?"
    "|.[\u0300-\u036f\u3099\u309a\uff9e\uff9f]*",
    re.DOTALL,
)
"""One letter with its marks: Korean syllables and Japanese letters may come in parts."""
_ESCAPE = re.compile(r"(?<!\\)\\+(?:u([0-9a-fA-F]{4})|[nrtbf\"'/])")
_REMARK_FIELDS = frozenset({"note", "why", "reason"})
"""Fields with people's remarks. A remark with a quotation is covered whole, because its rest tells of the text too."""
_REPLY_FIELDS = frozenset({"text", "draft"})
"""Fields with people's replies and typed text. Two people may say the same independently."""
_ENGLISH = """
a about after again all alright also always am an and any anything are as at back be because been before but by can
cancel choose come completed confirm correct could course did do does done dont either else enough everything
exactly fine first for from get give go going good great had has have he hello help her here hey hi him his how i if
ill im in instead is it its just know last later let like little lot make many maybe me more much my need never next
nice no not nothing now of off ok okay on one only option or order other our out over perfect please pick possible
right same say second see she should so some something sorry stop sure take thank thanks that thats the them then
there these they thing think third this those time to too tell two up us very wait want was way we well were what
whatever when where which who why will with without would wrong yeah yep yes yet you your don t s m ll re ve d isn
doesn didn won ahead sounds sound agree agreed welcome anyway really still sir madam today tomorrow tonight morning
afternoon evening night day days week hour hours minute minutes two three four five six seven eight nine ten eleven
twelve half small medium large big bigger smaller hot cold mild spicy cheap cheaper cheapest fast faster fastest
free new old
"""
_CHINESE = "好的是不可以谢请没问题行对嗯要了吧就这个我你他她它们在有都也很再一二三没事那吗呢啊想给"
_EVERYDAY = frozenset(_ENGLISH.split()) | frozenset(_CHINESE)
"""Everyday words. A text of these alone is not telling."""


class OwnText(NamedTuple):
    """One text of a person, with its time (UTC, empty if unknown) and the question that it answers.

    `runs` are the runs that the person saw when they wrote it. `repeats` are the texts, or parts, that only repeat what
    they had been shown.
    """

    text: str
    at: str = ""
    question: str = ""
    runs: frozenset[str] = frozenset()
    repeats: frozenset[str] = frozenset()


class QuotedText(msgspec.Struct, frozen=True):
    """A text of a person found outside their own rows: the number of texts that quote it, and some `places` in words.

    `covered` is true if it is covered there.
    """

    text: str
    count: int
    places: tuple[str, ...] = ()
    covered: bool = False


class Quotation(NamedTuple):
    """A quotation in a text: of the whole `text`, or of the words `part` of it."""

    start: int
    end: int
    text: str
    part: str = ""

    @property
    def quoted_words(self) -> str:
        """The quoted words."""
        return self.part or self.text


def normalize(text: str) -> str:
    """Normalize a text to its words, for comparison."""
    return " ".join(word for word, _, _ in _split_words(text))


def is_telling(text: str) -> bool:
    """Return True if a text's occurrence elsewhere cannot be a coincidence."""
    words = normalize(text).split()
    return _text_weight(words) >= LONG and any(not word.isdigit() and word not in _EVERYDAY for word in words)


class Quotations:
    """Search other texts for these texts, and with `parts` also for parts of them."""

    def __init__(self, texts: Iterable[str], *, parts: bool = True) -> None:
        self.texts: set[str] = set()
        """The texts to find, normalized."""
        self._wholes: dict[str, list[tuple[list[str], str]]] = {}
        self._parts: dict[str, str] = {}
        self._starts: set[str] = set()
        """First words of the whole texts and parts."""
        self._pairs: dict[str, set[str]] = {}
        """Filter of `may_occur_in`: the longest word of each text or part, with the second longest that goes with it.

        The second word is empty if there is only one.
        """
        for text in dict.fromkeys(map(normalize, texts)):
            words = text.split()
            # A single character is found everywhere.
            if len(text) < 2:
                continue
            self.texts.add(text)
            self._wholes.setdefault(words[0], []).append((words, text))
            self._index_text(text)
            if parts:
                found = {part: text for at in range(len(words)) if is_telling(part := _shortest_part(words, at))}
                for part in found:
                    self._index_text(part)
                self._starts |= {part.partition(" ")[0] for part in found}
                self._parts |= found
        self._starts |= self._wholes.keys()

    def occur_in(self, raw: str) -> bool:
        """Return True if a text, or the JSON of one, quotes any of them."""
        return self.may_occur_in(raw) and next(self.find(raw), None) is not None

    def may_occur_in(self, raw: str) -> bool:
        """Return False if a text, or the JSON of one, cannot quote any of them. A quick filter."""
        if "\\" in raw:
            # Escaped letters hide words from this search, so a quotation is possible.
            if "\\u" in raw:
                return bool(self._pairs)
            raw = _ESCAPE.sub(" ", raw)
        words = set(_WORD.findall(_fold(raw)))
        found = (self._pairs[word] for word in self._pairs.keys() & words)
        return any("" in beside or not beside.isdisjoint(words) for beside in found)

    def _index_text(self, text: str) -> None:
        longest, beside, *_ = [*sorted(set(text.split()), key=len, reverse=True), ""]
        self._pairs.setdefault(longest, set()).add(beside)

    def find(self, text: str) -> Iterator[Quotation]:
        """Yield every quotation, whole or in part. They may overlap."""
        words = list(_split_words(text))
        for at, (word, start, _) in enumerate(words):
            if word not in self._starts:
                continue
            # A part has at most `_PART` words, as each has a character.
            following = [one for one, _, _ in words[at : at + _PART]]
            for whole, says in self._wholes.get(word, ()):
                end = at + len(whole)
                if (following if len(whole) <= _PART else [one for one, _, _ in words[at:end]])[: len(whole)] == whole:
                    yield Quotation(start, words[end - 1][2], says)
            part = _shortest_part(following, 0) if self._parts else ""
            if part in self._parts:
                yield Quotation(start, words[at + part.count(" ")][2], self._parts[part], part)


class QuotationRedaction(TextRedaction):
    """Search any of our values for quotations, at any depth and in JSON within a text, and cover those to cover.

    `found` are the quotations since it was last emptied. Texts of `covers` are covered everywhere. Texts of `spares`
    are covered unless another person said the same independently. Texts of `answers` (question and reply, normalized)
    are covered if a dialogue repeats the two, one after the other.
    """

    fixed = frozenset[str]()

    def __init__(
        self,
        quotations: Quotations,
        covers: Iterable[str] = (),
        spares: Iterable[str] = (),
        answers: Iterable[tuple[str, str]] = (),
    ) -> None:
        super().__init__(())
        self._quotations = quotations
        self._covers = frozenset(covers)
        self._spares = frozenset(spares)
        self._answers = frozenset(answers)
        self.is_filled_in = False
        """True if a signed text was prefilled for a person, so that it is not their own."""
        self.found: list[Quotation] = []
        self.own: list[str] = []
        """Texts, and parts of them, that another person said independently."""
        self.repeated = 0
        """Number of replies that a dialogue repeats after their questions."""
        self._signer_kind = ""
        """Kind of the actor who signs the current part, empty if nobody does."""
        self._field = ""

    def cover(self, value: Any, field: str = "") -> Any:
        match value:
            case {"kind": "human" | "model" | "script", "id": str()} if value.keys() <= {"kind", "id", "name"}:
                name = value.get("name", "")
                return {**value, "name": self.mask(name)} if name and self.mask(name) != name else value
            case dict():
                # Whoever signs a mapping signs its parts, too, unless these name another.
                signed, self._signer_kind = self._signer_kind, _signer_kind(value, self._signer_kind)
                try:
                    return self._cover_mapping(value)
                finally:
                    self._signer_kind = signed
            case list() if self._answers:
                return super().cover(self._drop_answers(value), field)
        return super().cover(value, field)

    def _cover_mapping(self, value: dict[str, Any]) -> dict[str, Any]:
        mapping = {}
        for key, item in value.items():
            self._field = ""
            mapping[self.mask(key)] = self.cover(item, key)
        return value if mapping == value else mapping

    def _drop_answers(self, items: list[Any]) -> list[Any]:
        """Return a dialogue of (role, text) pairs without the person's answers."""
        if not all(isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[1], str) for item in items):
            return items
        left, before = [], ""
        for role, text in items:
            is_theirs = (before, normalize(text)) in self._answers
            self.repeated += is_theirs
            left.append([role, WITHDRAWN if is_theirs else text])
            before = normalize(text)
        return left if left != items else items

    def _cover_text(self, text: str, field: str) -> str:
        if not self._quotations.may_occur_in(text):
            return text
        self._field = field
        if self.is_filled_in and any(normalize(text) == reply for _, reply in self._answers):
            self.repeated += 1
            return WITHDRAWN
        document, style = _parse_json(text)
        if style is not None:
            covered = self.cover(document)
            return text if covered == document else json.dumps(covered, ensure_ascii=text.isascii(), separators=style)
        is_reply = self._signer_kind == "human" and not self.is_filled_in and field in _REPLY_FIELDS
        if is_reply and normalize(text) in self._quotations.texts:
            self.own += [one.quoted_words for one in self._quotations.find(text)]
            return self._mask_quotations(text, self._covers - self._spares)
        return self._mask_quotations(text, self._covers | self._spares)

    def mask(self, text: str) -> str:
        """Return `text` with the quotations to cover replaced."""
        return self._mask_quotations(text, self._covers | self._spares)

    def _mask_quotations(self, text: str, covers: frozenset[str]) -> str:
        if not self._quotations.may_occur_in(text):
            return text
        found = list(self._quotations.find(text))
        self.found += found
        places = sorted((one.start, one.end) for one in found if one.quoted_words in covers)
        if (
            places
            and self._signer_kind
            and self._field in _REMARK_FIELDS
            and any(is_telling(one.quoted_words) for one in found if one.quoted_words in covers)
        ):
            self.count += 1
            return WITHDRAWN
        pieces: list[str] = []
        last = 0
        for start, end in places:
            # Overlapping quotations become one replacement.
            if start >= last or not pieces:
                pieces += [text[last:start], WITHDRAWN]
            last = max(last, end)
        self.count += bool(places)
        return "".join([*pieces, text[last:]]) if places else text


class ErasedWords:
    """One person's erased texts and their code, to remove from what others wrote about the same items."""

    def __init__(self, code: str, texts: Iterable[str]) -> None:
        self.code = code
        self._texts = set(map(normalize, texts)) - {""}
        self._long = Quotations(text for text in self._texts if len(text) >= LONG)
        self._short = Quotations((text for text in self._texts if 1 < len(text) < LONG), parts=False)
        self._covers = QuotationRedaction(self._short, self._short.texts)
        self._code = re.compile(rf"(?<![\w-]){re.escape(code)}(?![\w-])")

    def contains(self, text: str) -> bool:
        """Return True if a text is one of theirs."""
        return normalize(text) in self._texts

    def remove_from(self, text: str) -> str:
        """Return a text without quotations of theirs and without their code.

        A quotation of a text of 12 characters or more, or of a part of it, replaces the whole text. A shorter quotation
        is replaced alone.
        """
        if next(self._long.find(text), None) is not None:
            return WITHDRAWN
        return self._code.sub(WITHDRAWN, self._covers.mask(text))


# -- words of a text -------------------------------------------------------------------------------------------


def _split_words(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a text with their start and end in it. JSON escapes are decoded."""
    places = [*range(len(text) + 1)]
    if "\\" in text:
        text, places = _unescape(text)
    if text.isascii():
        for match in _WORD.finditer(text):
            yield match[0].casefold(), places[match.start()], places[match.end()]
        return
    pieces, starts, ends = list[str](), list[int](), list[int]()
    for letter in _LETTER.finditer(text):
        piece = _fold(letter[0], wide=True)
        pieces.append(piece)
        starts += [places[letter.start()]] * len(piece)
        if not piece and ends:
            # What nobody sees belongs to the letter before it.
            ends[-1] = places[letter.end()]
        ends += [places[letter.end()]] * len(piece)
    for match in _WORD.finditer("".join(pieces)):
        yield match[0], starts[match.start()], ends[match.end() - 1]


def _fold(text: str, *, wide: bool | None = None) -> str:
    """Return a text as its words are compared. It is composed: Korean counts by syllables, not by their parts."""
    return unicodedata.normalize("NFC", fold_letters(text, wide=wide).casefold())


def _unescape(text: str) -> tuple[str, list[int]]:
    """Decode a text's JSON escapes. Return it with the original position of each character, and of the end."""
    pieces: list[str] = []
    places: list[int] = []
    last = 0
    for match in _ESCAPE.finditer(text):
        pieces += [text[last : match.start()], storable(chr(int(match[1], 16)))[:1] if match[1] else " "]
        places += [*range(last, match.start()), match.start()]
        last = match.end()
    pieces.append(text[last:])
    places += [*range(last, len(text)), len(text)]
    return "".join(pieces), places


def _shortest_part(words: list[str], at: int) -> str:
    """Return the fewest words from a position on that are long enough for a quotation, empty if the text ends first."""
    length = 0 if _WORDLESS_CHARACTER.match(words[at]) else -1
    for end in range(at, len(words)):
        length += _PART // 8 if _WORDLESS_CHARACTER.match(words[end]) else len(words[end]) + 1
        if length >= _PART:
            return " ".join(words[at : end + 1])
    return ""


def _text_weight(words: Iterable[str]) -> float:
    """Return the number of characters of a text. A Chinese one counts one and a half."""
    words = list(words)
    wordless = sum(bool(_WORDLESS_CHARACTER.match(word)) for word in words)
    return sum(map(len, words)) + max(0, len(words) - wordless - 1) + wordless / 2


def _signer_kind(value: dict[str, Any], signed: str) -> str:
    """Return the kind of actor who signs a part of a row, or `signed`, that of the whole, if nobody signs it."""
    for key in ("by", "rater"):
        match value.get(key):
            case {"kind": str(kind), "id": str()}:
                return kind
    return signed


def _parse_json(text: str) -> tuple[Any, tuple[str, str] | None]:
    """Parse a text as a JSON mapping or list. Return it with its separators, or None twice.

    A text that would not be written the same again does not count as JSON, so that only what is covered changes.
    """
    if text[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            document = json.loads(text)
            for style in ((", ", ": "), (",", ":")):
                if json.dumps(document, ensure_ascii=text.isascii(), separators=style) == text:
                    return document, style
    return None, None
