"""A persona's facts as prose that a participant reads: sections of paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from lab.core.text.plain_text import plain
from lab.studies.playing.persona_words import NAMES, SAID, words_in

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TIME = re.compile(r"\d{1,2}:\d{2}")
_MACHINE = re.compile(r"[a-z]+(?:_[a-z]+)+")
"""A value that is an identifier, such as `do_not_disturb`."""
_ENDS = (".", "。", "!", "?", "！", "？")
_SHORT = 60
"""Maximum characters of a value in a short sentence."""
_FORMS = ("trigger", "action", "contact_info", "auth_documents", "system_settings", "security")
"""Keys of a profile's form that mean nothing to a reader."""
_NOTHING = ("", "none", "null", "nil", "n/a", "nan", "-")
"""Lower-case values that mean "nothing" in a profile."""
_POSITION = {"latitude", "lat", "longitude", "lng", "lon", "coordinates", "coords", "gps", "geo", "geohash"}
_IDS = {"id", "ids", "uuid", "guid", "hash"}
"""Last words of keys that hold identifiers."""
_PAIR = re.compile(r"[(\[]?\s*-?\d{1,3}\.\d+\s*[,;]\s*-?\d{1,3}\.\d+\s*[)\]]?")
"""Coordinates."""
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-\s]+")
"""Word boundaries of a key: `home_town`, `homeTown`."""
_WHEN = ("event", "time", "time_range", "days", "place")


class Paragraph(NamedTuple):
    """A paragraph's sentences with a lead of a word or two (empty: the section's title is enough)."""

    lead: str
    text: str


class ProseSection(NamedTuple):
    """A part of a profile with its title."""

    title: str
    paragraphs: tuple[Paragraph, ...]

    @property
    def text(self) -> str:
        """The whole section as one text."""
        return " ".join(part for one in self.paragraphs for part in (f"{one.lead}:" * bool(one.lead), one.text) if part)


def persona_prose(facts: Mapping[str, Any], name: str, locale: str = "en") -> list[ProseSection]:
    """Return every fact of a persona by section. Values stay in the profile's language.

    Values that mean "nothing" are left out. Identifiers and coordinates go to a last section of details instead of
    sentences.
    """
    writer = _ProseWriter(plain(name, lines=False), locale)
    details: list[tuple[tuple[str, ...], Any]] = []
    spoken = _speakable_part(facts, (), details)
    sections = [
        ProseSection(writer.title(key), tuple(writer.paragraphs(key, content)))
        for key, content in (spoken.items() if isinstance(spoken, dict) else ())
    ]
    if details:
        sections.append(ProseSection(writer.phrase("_details"), tuple(writer.details(details))))
    return [section for section in sections if section.paragraphs]


def key_words(key: object, locale: str) -> str:
    """Return the words for a profile's key."""
    words = " ".join(filter(None, _WORDS.split(plain(str(key), lines=False))))
    if re.search(r"[a-z][A-Z]", str(key)):
        words = words.lower()
    return words_in(NAMES, locale).get(str(key)) or words or str(key)


def _speakable_part(content: Any, path: tuple[str, ...], details: list[tuple[tuple[str, ...], Any]]) -> Any:
    """Return the part of a fact for sentences, None if empty. Append identifiers and coordinates to `details`."""
    if path and _is_detail(path[-1], content):
        details.append((path, content))
        return None
    if isinstance(content, dict):
        parts = {str(key): _speakable_part(one, (*path, str(key)), details) for key, one in content.items()}
        return {key: one for key, one in parts.items() if one is not None} or None
    if isinstance(content, list | tuple):
        named = [str(one.get("name", at)) if isinstance(one, dict) else "" for at, one in enumerate(content, 1)]
        items = [
            _speakable_part(one, (*path, name) if name else (*path, ""), details)
            for name, one in zip(named, content, strict=True)
        ]
        return [one for one in items if one is not None] or None
    return None if content is None or str(content).strip().casefold() in _NOTHING else content


def _is_detail(key: str, content: Any) -> bool:
    """Return True if a fact is an identifier or coordinates."""
    if isinstance(content, str) and (_PAIR.fullmatch(content.strip()) or _UUID.fullmatch(content.strip())):
        return True
    last = ([""] + [word for word in _WORDS.split(key) if word])[-1].casefold()
    if isinstance(content, list | tuple) and len(content) == 2 and all(isinstance(one, float) for one in content):
        return True
    if isinstance(content, dict):
        return last in _POSITION and {str(one).casefold() for one in content} <= _POSITION
    return content is not None and str(content).strip().casefold() not in _NOTHING and last in _POSITION | _IDS


class _ProseWriter:
    def __init__(self, name: str, locale: str) -> None:
        self._name = name
        self._locale = locale
        self._said = words_in(SAID, locale)

    def title(self, key: object) -> str:
        """Return a section's title or a paragraph's lead."""
        words = key_words(key, self._locale)
        return words[:1].upper() + words[1:]

    def paragraphs(self, key: str, content: Any) -> Iterator[Paragraph]:
        """Yield the paragraphs of a key: its plain values first, then each nested part."""
        if not isinstance(content, dict):
            yield from self._part_paragraphs(key, content, lead="")
            return
        alone = {name: part for name, part in content.items() if not _holds_more(part)}
        if alone:
            yield Paragraph("", self._join_sentences([*self._introduce_person(alone), self._sentences(alone)]))
        for name, part in content.items():
            if _holds_more(part):
                yield from self._part_paragraphs(name, part, lead="" if name in _FORMS else self.title(name))

    def phrase(self, key: str) -> str:
        """Return words in the writer's locale."""
        return self._said[key]

    def details(self, details: list[tuple[tuple[str, ...], Any]]) -> Iterator[Paragraph]:
        """Yield identifiers and coordinates with their owners. Latitude and longitude go together."""
        pairs: dict[tuple[str, ...], list[str]] = {}
        for path, content in details:
            last = path[-1].casefold()
            at = (*path[:-1], "position") if last in _POSITION else path
            at = tuple(key for key in at if key not in _FORMS)
            pairs.setdefault(at, []).append(self._list_words(content))
        for path, values in pairs.items():
            of = [
                self.title(key) if not at else key_words(key, self._locale) for at, key in enumerate(path[-2:]) if key
            ]
            yield Paragraph(self._said["_comma"].join(of), self._end_sentence(", ".join(values)))

    def _list_words(self, content: Any) -> str:
        items = content.values() if isinstance(content, dict) else content
        parts = items if isinstance(content, dict | list | tuple) else [content]
        return ", ".join(plain(str(one), lines=False) for one in parts)

    def _introduce_person(self, facts: dict[str, Any]) -> Iterator[str]:
        """Yield name, age and employer in one sentence and remove them from the facts."""
        if "age" not in facts:
            return
        if str(facts.get("full_name", "")).strip() == self._name:
            del facts["full_name"]
        values = {key: self.value(facts.pop(key)) for key in ("nickname", "age", "employer") if key in facts}
        says = self._said["_who"] + self._said["_who_works"] * ("employer" in values) + self._said["_stop"]
        also = self._fill_template(self._said["_also"], **values) if "nickname" in values else ""
        yield self._fill_template(says, also=also, **values)

    def _join_sentences(self, sentences: Iterable[str]) -> str:
        """Join sentences, with a blank after Latin punctuation."""
        whole, gap = "", self._said["_gap"]
        for sentence in filter(None, sentences):
            whole += (gap or " " * whole.endswith((".", "!", "?"))) * bool(whole) + sentence
        return whole

    def _end_sentence(self, text: str) -> str:
        """Return a text with a full stop at its end."""
        if not text or text.endswith(_ENDS):
            return text
        return text + ("." if text[-1].isascii() else self._said["_stop"])

    def _part_paragraphs(self, key: str, content: Any, lead: str) -> Iterator[Paragraph]:
        if isinstance(content, dict):
            yield Paragraph(lead, self._sentences(content, lead=lead))
        elif isinstance(content, list) and _holds_more(content):
            items = (self._entry_words(number, one) for number, one in enumerate(content, 1))
            yield Paragraph(lead, self._join_sentences(items))
        else:
            yield Paragraph(lead, self._sentences({key: content}))

    def _entry_words(self, number: int, content: Any) -> str:
        """Return one entry of a list, under its own name if it has one."""
        if not isinstance(content, dict):
            return self._end_sentence(self.value(content))
        name = self.value(content["name"]) if content.get("name") else f"{number}"
        rest = self._sentences({key: one for key, one in content.items() if key != "name"})
        return self._said["_item"].format(item=name, value=rest) if rest else self._end_sentence(name)

    def _sentences(self, facts: Mapping[str, Any], owner: str = "", lead: str = "") -> str:
        if lead and str(facts.get("label", "")).casefold() == lead.casefold():
            facts = {key: content for key, content in facts.items() if key != "label"}
        when = {key: facts[key] for key in _WHEN if key in facts} if not owner else {}
        sentences = []
        for key, content in facts.items():
            if key in when:
                sentences += [self._time_and_place(when)] if key == next(one for one in facts if one in when) else []
            elif isinstance(content, dict):
                sentences.append(self._sentences(content, "" if key in _FORMS else key_words(key, self._locale)))
            elif isinstance(content, list) and _holds_more(content):
                sentences += [self._entry_words(number, one) for number, one in enumerate(content, 1)]
            else:
                sentences.append(self._sentence(key, content, owner))
        return self._join_sentences(_run_on(sentences, self._said))

    def _sentence(self, key: str, content: Any, owner: str) -> str:
        value = self.value(content)
        if key == "description" or (isinstance(content, list) and value.endswith(_ENDS)):
            return self._end_sentence(value)
        if key in ("detail", "instructions", "special_notes") and value.endswith(_ENDS):
            return value
        fact = key_words(key, self._locale)
        fact = self._said["_of"].format(fact=fact, owner=owner) if owner else fact
        says = self._said.get(key)
        if says is not None and not value.endswith(_ENDS):
            return self._fill_template(says, value=_lower_first(value) if key == "occupation" else value)
        plural = fact.endswith("s") and not fact.endswith("ss")
        several = isinstance(content, list) and len(content) > 1 and not plural
        long = value.endswith(_ENDS) or len(value) > _SHORT or ":" in value
        if isinstance(content, bool) or long or several:
            return self._end_sentence(
                self._fill_template(self._said["_as for"], fact=fact[:1].upper() + fact[1:], value=value)
            )
        return self._fill_template(self._said["_are" if plural else "_is"], fact=fact, value=value)

    def _fill_template(self, says: str, **values: str) -> str:
        """Return a sentence with its placeholders replaced. Braces in the values have no effect."""
        # Not str.format: a value is a stranger's text and may hold braces.
        every = {"name": self._name, **values}
        return re.sub(r"\{(\w+)\}", lambda match: every.get(match[1], match[0]), says)

    def _time_and_place(self, facts: Mapping[str, Any]) -> str:
        """Return when and where something happens, in one sentence."""
        parts = [self._moment_words(key, self.value(content).rstrip(".。"), content) for key, content in facts.items()]
        return self._fill_template(self._said["_when"], value=self._said["_comma"].join(parts))

    def _moment_words(self, key: str, value: str, content: Any) -> str:
        match key:
            case "time" | "time_range":
                return self._fill_template(self._said["_at" if key == "time" else "_between"], value=value)
            case "event":
                return self._fill_template(self._said["_event"], value=_lower_first(value))
            case "place" if " " not in value:
                return self._fill_template(self._said["_in"], value=key_words(value, self._locale))
            case "days" if _are_weekdays(content):
                return self._fill_template(self._said["_from" if " to " in value else "_on"], value=value)
        return _lower_first(value)

    def value(self, content: Any) -> str:
        """Return a value in words."""
        if isinstance(content, bool):
            return self._said["_yes" if content else "_no"]
        if isinstance(content, dict):
            return self._sentences(content)
        if not isinstance(content, list):
            text = plain(str(content), lines=False)
            return text.replace("_", " ") if _MACHINE.fullmatch(text) else text
        items = [self.value(item) for item in content]
        if len(items) > 2 and items in [[*_DAYS[at : at + len(items)]] for at in range(len(_DAYS))]:
            return f"{items[0]} to {items[-1]}"
        if items and all(item.endswith(_ENDS) for item in items):
            return " ".join(items)
        comma, last = self._said["_comma"], self._said["_and"]
        return last.join([comma.join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def _run_on(sentences: Iterable[str], said: Mapping[str, str]) -> Iterator[str]:
    """Yield sentences, joining up to three short ones of the form `The a is b.` into one."""
    article, row = said["_article"], list[str]()
    for sentence in [*sentences, ""]:
        short = bool(article) and sentence.startswith(article) and len(sentence) < 2 * _SHORT and " is " in sentence
        if short and sentence.endswith(".") and not re.search(r",|[.!?] ", sentence):
            row.append(sentence)
            continue
        for three in (row[at : at + 3] for at in range(0, len(row), 3)):
            clauses = [
                one.removesuffix(".") if at == 0 else one[:1].lower() + one[1:-1] for at, one in enumerate(three)
            ]
            yield said["_and"].join(filter(None, [said["_comma"].join(clauses[:-1]), clauses[-1]])) + "."
        row = []
        yield sentence


def _holds_more(content: Any) -> bool:
    """Return True if a fact has nested facts."""
    return isinstance(content, dict) or (
        isinstance(content, list) and any(isinstance(one, dict | list) for one in content)
    )


def _are_weekdays(content: Any) -> bool:
    return all(str(one) in _DAYS for one in (content if isinstance(content, list) else [content]))


def _lower_first(text: str) -> str:
    """Return a text with a lower-case first letter, unless it begins with a name or an acronym."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
