"""A persona's facts as prose: sections of paragraphs, in sentences that a participant reads; no form for machines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lab.core.plain_text import plain
from lab.studies.persona_words import NAMES, SAID, words_in

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TIME = re.compile(r"\d{1,2}:\d{2}")
_MACHINE = re.compile(r"[a-z]+(?:_[a-z]+)+")
"""A value that is a name for a machine."""
_ENDS = (".", "。", "!", "?", "！", "？")
_SHORT = 60
"""Characters up to which a value without stops is said in a short sentence."""
_FORMS = ("trigger", "action", "contact_info", "auth_documents", "system_settings", "security")
"""Parts of a profile's form that say nothing to who reads it."""
_NOTHING = ("None", "none", "N/A", "n/a")
"""How a profile says that there is none: no value that a sentence takes as a name."""
_WHEN = ("event", "time", "time_range", "days", "place")


class Paragraph(NamedTuple):
    """What it is about, in a word or two (empty where its section says that), and its sentences."""

    lead: str
    text: str


class ProseSection(NamedTuple):
    """A part of a profile: its title, and what it says."""

    title: str
    paragraphs: tuple[Paragraph, ...]

    @property
    def text(self) -> str:
        """All of it as one text."""
        return " ".join(part for one in self.paragraphs for part in (f"{one.lead}:" * bool(one.lead), one.text) if part)


def persona_prose(facts: Mapping[str, Any], name: str, locale: str = "en") -> list[ProseSection]:
    """Every fact of a persona of that name, section by section; values stay in the language of the profile."""
    writer = _Writer(plain(name, lines=False), locale)
    sections = [
        ProseSection(writer.title(key), tuple(writer.paragraphs(key, content))) for key, content in facts.items()
    ]
    return [section for section in sections if section.paragraphs]


def key_words(key: object, locale: str) -> str:
    """What a key of a profile is called."""
    return words_in(NAMES, locale).get(str(key)) or plain(str(key), lines=False).replace("_", " ")


class _Writer:
    def __init__(self, name: str, locale: str) -> None:
        self._name = name
        self._locale = locale
        self._said = words_in(SAID, locale)

    def title(self, key: object) -> str:
        """A section's title, or a paragraph's lead."""
        words = key_words(key, self._locale)
        return words[:1].upper() + words[1:]

    def paragraphs(self, key: str, content: Any) -> Iterator[Paragraph]:
        """What stands under a key of the profile: what is said of it alone first, then part by part."""
        if not isinstance(content, dict):
            yield from self._part(key, content, lead="")
            return
        alone = {name: part for name, part in content.items() if not _holds_more(part)}
        if alone:
            yield Paragraph("", self._sentences(alone))
        for name, part in content.items():
            if name not in alone:
                yield from self._part(name, part, lead="" if name in _FORMS else self.title(name))

    def _part(self, key: str, content: Any, lead: str) -> Iterator[Paragraph]:
        if isinstance(content, dict):
            yield Paragraph(lead, self._sentences(content))
        elif isinstance(content, list) and _holds_more(content):
            items = (self._item(number, one) for number, one in enumerate(content, 1))
            yield Paragraph(lead, self._said["_gap"].join(items))
        else:
            yield Paragraph(lead, self._sentences({key: content}))

    def _item(self, number: int, content: Any) -> str:
        """One of a list: by its own name, where it has one."""
        if not isinstance(content, dict):
            return _ended(self.value(content))
        name = self.value(content["name"]) if content.get("name") else f"{number}"
        rest = self._sentences({key: one for key, one in content.items() if key != "name"})
        return self._said["_item"].format(item=name, value=rest) if rest else _ended(name)

    def _sentences(self, facts: Mapping[str, Any], owner: str = "") -> str:
        facts = _paired(facts)
        when = {key: facts[key] for key in _WHEN if key in facts} if not owner else {}
        sentences = []
        for key, content in facts.items():
            if key in when:
                sentences += [self._when(when)] if key == next(one for one in facts if one in when) else []
            elif isinstance(content, dict):
                sentences.append(self._sentences(content, "" if key in _FORMS else key_words(key, self._locale)))
            elif isinstance(content, list) and _holds_more(content):
                sentences += [self._item(number, one) for number, one in enumerate(content, 1)]
            else:
                sentences.append(self._sentence(key, content, owner))
        return self._said["_gap"].join(filter(None, sentences))

    def _sentence(self, key: str, content: Any, owner: str) -> str:
        value = self.value(content)
        if key == "description" or (isinstance(content, list) and value.endswith(_ENDS)):
            return _ended(value)
        if key in ("detail", "instructions", "special_notes") and value.endswith(_ENDS):
            return value
        fact = key_words(key, self._locale)
        fact = self._said["_of"].format(fact=fact, owner=owner) if owner else fact
        says = self._said.get(key)
        none = content is None or value in _NOTHING
        if says is not None and not none and not value.endswith(_ENDS):
            return self._fill(says, value=_small(value) if key == "occupation" else value)
        plural = fact.endswith("s") and not fact.endswith("ss")
        several = isinstance(content, list) and len(content) > 1 and not plural
        long = value.endswith(_ENDS) or len(value) > _SHORT or ":" in value
        if isinstance(content, bool) or none or long or several:
            return _ended(self._fill(self._said["_as for"], fact=fact, value=value))
        return self._fill(self._said["_are" if plural else "_is"], fact=fact, value=value)

    def _fill(self, says: str, **values: str) -> str:
        """A sentence with values in it as they are."""
        for name, value in {"name": self._name, **values}.items():
            says = says.replace("{" + name + "}", value)
        return says

    def _when(self, facts: Mapping[str, Any]) -> str:
        """When and where something comes, in one sentence."""
        parts = [self._moment(key, self.value(content).rstrip(".。"), content) for key, content in facts.items()]
        return self._fill(self._said["_when"], value=self._said["_comma"].join(parts))

    def _moment(self, key: str, value: str, content: Any) -> str:
        match key:
            case "time" | "time_range":
                return self._fill(self._said["_at" if key == "time" else "_between"], value=value)
            case "event":
                return self._fill(self._said["_event"], value=_small(value))
            case "place" if " " not in value:
                return self._fill(self._said["_in"], value=key_words(value, self._locale))
            case "days" if _days(content):
                return self._fill(self._said["_from" if " to " in value else "_on"], value=value)
        return _small(value)

    def value(self, content: Any) -> str:
        """A value as a person reads it."""
        if isinstance(content, bool) or content is None:
            return self._said["_none" if content is None else "_yes" if content else "_no"]
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


def _paired(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Latitude and longitude as one fact."""
    if not {"latitude", "longitude"} <= set(facts):
        return dict(facts)
    where = f"{facts['latitude']}, {facts['longitude']}"
    pairs = (("position", where) if key == "latitude" else (key, value) for key, value in facts.items())
    return {key: value for key, value in pairs if key != "longitude"}


def _holds_more(content: Any) -> bool:
    """Whether there is more beneath it than values."""
    return isinstance(content, dict) or (
        isinstance(content, list) and any(isinstance(one, dict | list) for one in content)
    )


def _days(content: Any) -> bool:
    return all(str(one) in _DAYS for one in (content if isinstance(content, list) else [content]))


def _small(text: str) -> str:
    """A text with a small first letter, where it does not begin with a name or letters that are all large."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def _ended(text: str) -> str:
    """A text with a stop at its end."""
    return text if not text or text.endswith(_ENDS) else f"{text}."
