"""Quotations of a person's erased words: which of their texts another text quotes, and the text without them.

Texts are compared by their words, whatever the case, the punctuation, the spacing or the escapes of JSON between them.
A quotation is a whole text of theirs, or 24 characters of a longer one (a third of that in Chinese or Japanese). A
text that says little by itself (a number, a short word, an everyday phrase) is not *telling*: that it stands elsewhere
may be a coincidence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import storable
from lab.core.text_redaction import WITHDRAWN, TextRedaction

LONG = 12
"""Characters from which the same text elsewhere is a quotation, and no coincidence."""
_PART = 24
"""Characters of a text that are a quotation of it; of Chinese, which says more in one, a third."""
_WORDLESS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Writing in which words are not set apart."""
_WORDLESS_CHARACTER = re.compile(f"[{_WORDLESS}]")
_WORD = re.compile(rf"[{_WORDLESS}]|[^\W_{_WORDLESS}]+")
_ESCAPE = re.compile(r"(?<!\\)\\+(?:u([0-9a-fA-F]{4})|[nrtbf\"'/])")
_GOES_WHOLE = frozenset({"note", "why", "reason"})
"""What people wrote about a run or an answer: a remark that quotes tells of the rest, too, so that it goes whole."""
_REPLIED = frozenset({"text", "draft"})
"""What people replied and typed: two may say the same, each of their own accord."""
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
"""Words of which a text may consist that anybody says."""


class OwnText(NamedTuple):
    """One text of a person: when it was said (UTC, empty where that is unknown), and what it answered.

    `runs` are the runs that were before them as they wrote it; `repeats` is what of it, whole or in part, only repeats
    what they had been shown.
    """

    text: str
    at: str = ""
    question: str = ""
    runs: frozenset[str] = frozenset()
    repeats: frozenset[str] = frozenset()


class QuotedText(msgspec.Struct, frozen=True):
    """A text of a person that stands outside their own rows: how many texts hold it or a part of it, and where.

    `places` are some of them, in words. `covered` is whether it is covered there.
    """

    text: str
    count: int
    places: tuple[str, ...] = ()
    covered: bool = False


class Quotation(NamedTuple):
    """A place in a text where one of the texts is quoted: whole, or the words `part` of it."""

    start: int
    end: int
    text: str
    part: str = ""

    @property
    def says(self) -> str:
        """The words that are quoted."""
        return self.part or self.text


def tidy(text: str) -> str:
    """The words of a text, by which two texts are compared."""
    return " ".join(word for word, _, _ in _words(text))


def is_telling(text: str) -> bool:
    """Whether it is no coincidence that a text stands elsewhere."""
    words = tidy(text).split()
    return _weight(words) >= LONG and any(not word.isdigit() and word not in _EVERYDAY for word in words)


class Quotations:
    """Finds texts, and with `parts` pieces of them, in other texts."""

    def __init__(self, texts: Iterable[str], *, parts: bool = True) -> None:
        self.texts: set[str] = set()
        """What is looked for, as it is compared."""
        self._wholes: dict[str, list[tuple[list[str], str]]] = {}
        self._parts: dict[str, str] = {}
        self._starts: set[str] = set()
        """Words with which a whole text or a part begins."""
        self._pairs: dict[str, set[str]] = {}
        """The longest word of each text or part, and the second longest ones beside it; empty where it stands alone."""
        for text in dict.fromkeys(map(tidy, texts)):
            words = text.split()
            if len(text) < 2:
                continue
            self.texts.add(text)
            self._wholes.setdefault(words[0], []).append((words, text))
            self._look_for(text)
            if parts:
                found = {part: text for at in range(len(words)) if is_telling(part := _part_from(words, at))}
                for part in found:
                    self._look_for(part)
                self._starts |= {part.partition(" ")[0] for part in found}
                self._parts |= found
        self._starts |= self._wholes.keys()

    def stand_in(self, raw: str) -> bool:
        """Whether any of them stands in a text, or in the JSON of one."""
        return self.may_stand_in(raw) and next(self.find(raw), None) is not None

    def may_stand_in(self, raw: str) -> bool:
        """Whether a text, or the JSON of one, may quote any of them: a quick look."""
        if "\\" in raw:
            if "\\u" in raw:
                return bool(self._pairs)
            raw = _ESCAPE.sub(" ", raw)
        words = set(_WORD.findall(raw.casefold()))
        found = (self._pairs[word] for word in self._pairs.keys() & words)
        return any("" in beside or not beside.isdisjoint(words) for beside in found)

    def _look_for(self, text: str) -> None:
        longest, beside, *_ = [*sorted(set(text.split()), key=len, reverse=True), ""]
        self._pairs.setdefault(longest, set()).add(beside)

    def find(self, text: str) -> Iterator[Quotation]:
        """Every place where one of them stands, whole or in part; places may overlap."""
        words = list(_words(text))
        for at, (word, start, _) in enumerate(words):
            if word not in self._starts:
                continue
            following = [one for one, _, _ in words[at : at + _PART]]
            for whole, says in self._wholes.get(word, ()):
                end = at + len(whole)
                if (following if len(whole) <= _PART else [one for one, _, _ in words[at:end]])[: len(whole)] == whole:
                    yield Quotation(start, words[end - 1][2], says)
            part = _part_from(following, 0) if self._parts else ""
            if part in self._parts:
                yield Quotation(start, words[at + part.count(" ")][2], self._parts[part], part)


class QuotationRedaction(TextRedaction):
    """Looks through any of our values for quotations, as deep as it goes, JSON in a text too; covers those to cover.

    `found` are the quotations met since it was last emptied. A text of `covers` is covered wherever it stands, one of
    `spares` but where another person said the very same of their own accord. A text of `answers` (question and reply,
    tidy) is covered where a dialogue repeats the two, one after the other.
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
        self.put_in = False
        """Whether what is signed was put in for a person, so that it is nobody's own word."""
        self.found: list[Quotation] = []
        self.own: list[str] = []
        """Texts, and parts of them, that another person said of their own accord."""
        self.repeated = 0
        """Replies that a dialogue repeats after their questions."""
        self._signed = ""
        """What kind of actor signs the part that is looked at; empty where nobody does."""
        self._field = ""

    def cover(self, value: Any, field: str = "") -> Any:
        match value:
            case {"kind": "human" | "model" | "script", "id": str()} if value.keys() <= {"kind", "id", "name"}:
                name = value.get("name", "")
                return {**value, "name": self.mask(name)} if name and self.mask(name) != name else value
            case dict():
                signed, self._signed = self._signed, _signed(value, self._signed)
                try:
                    return self._mapping(value)
                finally:
                    self._signed = signed
            case list() if self._answers:
                return super().cover(self._without_answers(value), field)
        return super().cover(value, field)

    def _mapping(self, value: dict[str, Any]) -> dict[str, Any]:
        mapping = {}
        for key, item in value.items():
            self._field = ""
            mapping[self.mask(key)] = self.cover(item, key)
        return value if mapping == value else mapping

    def _without_answers(self, items: list[Any]) -> list[Any]:
        """A dialogue, pairs of role and text, without what is theirs of it."""
        if not all(isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[1], str) for item in items):
            return items
        left, before = [], ""
        for role, text in items:
            is_theirs = (before, tidy(text)) in self._answers
            self.repeated += is_theirs
            left.append([role, WITHDRAWN if is_theirs else text])
            before = tidy(text)
        return left if left != items else items

    def _text(self, text: str, field: str) -> str:
        if not self._quotations.may_stand_in(text):
            return text
        self._field = field
        if self.put_in and any(tidy(text) == reply for _, reply in self._answers):
            self.repeated += 1
            return WITHDRAWN
        document, style = _json_in(text)
        if style is not None:
            covered = self.cover(document)
            return text if covered == document else json.dumps(covered, ensure_ascii=text.isascii(), separators=style)
        is_reply = self._signed == "human" and not self.put_in and field in _REPLIED
        if is_reply and tidy(text) in self._quotations.texts:
            self.own += [one.says for one in self._quotations.find(text)]
            return self._masked(text, self._covers - self._spares)
        return self._masked(text, self._covers | self._spares)

    def mask(self, text: str) -> str:
        """`text` without what is to be covered."""
        return self._masked(text, self._covers | self._spares)

    def _masked(self, text: str, covers: frozenset[str]) -> str:
        if not self._quotations.may_stand_in(text):
            return text
        found = list(self._quotations.find(text))
        self.found += found
        places = sorted((one.start, one.end) for one in found if one.says in covers)
        if (
            places
            and self._signed
            and self._field in _GOES_WHOLE
            and any(is_telling(one.says) for one in found if one.says in covers)
        ):
            self.count += 1
            return WITHDRAWN
        pieces: list[str] = []
        last = 0
        for start, end in places:
            if start >= last or not pieces:
                pieces += [text[last:start], WITHDRAWN]
            last = max(last, end)
        self.count += bool(places)
        return "".join([*pieces, text[last:]]) if places else text


class ErasedWords:
    """The words of one person that are erased, and their code, for what others wrote about the same items."""

    def __init__(self, code: str, texts: Iterable[str]) -> None:
        self.code = code
        self._texts = set(map(tidy, texts)) - {""}
        self._long = Quotations(text for text in self._texts if len(text) >= LONG)
        self._short = Quotations((text for text in self._texts if 1 < len(text) < LONG), parts=False)
        self._covers = QuotationRedaction(self._short, self._short.texts)
        self._code = re.compile(rf"(?<![\w-]){re.escape(code)}(?![\w-])")

    def holds(self, text: str) -> bool:
        """Whether a text is one of theirs."""
        return tidy(text) in self._texts

    def unsaid(self, text: str) -> str:
        """A text without what it quotes of them, and without their code.

        One that quotes a text of 12 characters or more, or a part of one, goes whole; of a shorter text its words go.
        """
        if next(self._long.find(text), None) is not None:
            return WITHDRAWN
        return self._code.sub(WITHDRAWN, self._covers.mask(text))


# -- words of a text -------------------------------------------------------------------------------------------


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a text, each with where it begins and ends there; what JSON escapes is read."""
    places: list[int] | None = None
    if "\\" in text:
        text, places = _unescaped(text)
    for match in _WORD.finditer(text):
        start, end = match.span()
        if places is not None:
            start, end = places[start], places[end - 1] + (places[end] - places[end - 1])
        yield match[0].casefold(), start, end


def _unescaped(text: str) -> tuple[str, list[int]]:
    """A text with its escapes read, and where each of its characters stood; at the end the length."""
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


def _part_from(words: list[str], at: int) -> str:
    """The fewest words from a place on that are a quotation; empty where the text ends before."""
    length = 0 if _WORDLESS_CHARACTER.match(words[at]) else -1
    for end in range(at, len(words)):
        length += _PART // 8 if _WORDLESS_CHARACTER.match(words[end]) else len(words[end]) + 1
        if length >= _PART:
            return " ".join(words[at : end + 1])
    return ""


def _weight(words: Iterable[str]) -> float:
    """How many characters a text has; one of Chinese says as much as one and a half."""
    words = list(words)
    wordless = sum(bool(_WORDLESS_CHARACTER.match(word)) for word in words)
    return sum(map(len, words)) + max(0, len(words) - wordless - 1) + wordless / 2


def _signed(value: dict[str, Any], signed: str) -> str:
    """What kind of actor signs a part of a row; that of the whole where nobody signs it."""
    for key in ("by", "rater"):
        match value.get(key):
            case {"kind": str(kind), "id": str()}:
                return kind
    return signed


def _json_in(text: str) -> tuple[Any, tuple[str, str] | None]:
    """The mapping or list that a text is the JSON of, and what separates its values; None where it is none.

    What cannot be written again as it stands is no JSON here, so that nothing but what is covered changes in it.
    """
    if text[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            document = json.loads(text)
            for style in ((", ", ": "), (",", ":")):
                if json.dumps(document, ensure_ascii=text.isascii(), separators=style) == text:
                    return document, style
    return None, None
