"""Quiz questions on a persona's facts as sentences."""

from __future__ import annotations

import re

from annotators.quiz import QuizItem
from lab.core.text.plain_text import plain
from lab.studies.playing.persona_prose import key_words
from lab.studies.playing.persona_words import ASKED, words_in

_TIMES = re.compile(r"(\d{1,2}:\d{2}), (\d{1,2}:\d{2})")
_MACHINE = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
"""An identifier, such as `do_not_disturb`."""
_FORMS = {"trigger", "action", "contact info", "auth documents", "system settings", "security"}
_OF_HABITS = {"time", "time_range", "days", "place", "event", "description", "detail", "settings"}
"""Keys with a question of their own if they belong to a habit."""
_OF_OTHERS = {"address": "locations", "label": "locations", "instructions": "locations", "role": "social graph",
              "app_preference": "social graph"}  # fmt: skip


def quiz_question(item: QuizItem, name: str, locale: str) -> str:
    """Return a question in one sentence: `At what time does Ines Varga keep this habit: morning coffee?`"""
    section, *inner = item.place
    key = (inner[-1] if inner else section).replace(" ", "_")
    owners = [word for word in inner[:-1] if word not in _FORMS] or ([section] if inner else [])
    templates = words_in(ASKED, locale)
    template = templates["_owned" if owners else "_alone"]
    if _fits_section(key, section):
        template = templates.get(key, template)
    owner = owners[-1].replace(" ", "_") if owners else ""
    values = {"name": name, "owner": key_words(owner, locale), "fact": key_words(key, locale)}
    for place, words in values.items():
        template = template.replace("{" + place + "}", plain(words, lines=False))
    return template


def option_words(option: str, locale: str) -> str:
    """Return an option in words: `do_not_disturb` without underscores, two times as a range."""
    between = _TIMES.fullmatch(option)
    if between is not None:
        return f"{between[1]} {'到' if locale.startswith('zh') else 'to'} {between[2]}"
    return plain(_MACHINE.sub(lambda name: name[0].replace("_", " "), option), lines=False)


def _fits_section(key: str, section: str) -> bool:
    """Return True if the key's own question fits in this section."""
    if key in _OF_HABITS:
        return section == "habits"
    return _OF_OTHERS.get(key, section) == section
