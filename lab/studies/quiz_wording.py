"""Questions on a persona's facts as sentences that a participant is asked."""

from __future__ import annotations

import re

from annotators.quiz import QuizItem
from lab.core.plain_text import plain
from lab.studies.persona_prose import key_words
from lab.studies.persona_words import ASKED, words_in

_TIMES = re.compile(r"(\d{1,2}:\d{2}), (\d{1,2}:\d{2})")
_MACHINE = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
"""A name for a machine."""
_FORMS = {"trigger", "action", "contact info", "auth documents", "system settings", "security"}
_OF_HABITS = {"time", "time_range", "days", "place", "event", "description", "detail", "settings"}
"""Keys that are asked about as a habit's, where they stand in one."""
_OF_OTHERS = {"address": "locations", "label": "locations", "instructions": "locations", "role": "social graph",
              "app_preference": "social graph"}  # fmt: skip


def quiz_question(item: QuizItem, name: str, locale: str) -> str:
    """What is asked, as one sentence: `At what time does Ines Varga keep this habit: morning coffee?`"""
    section, *inner = item.place
    key = (inner[-1] if inner else section).replace(" ", "_")
    owners = [word for word in inner[:-1] if word not in _FORMS] or ([section] if inner else [])
    templates = words_in(ASKED, locale)
    template = templates["_owned" if owners else "_alone"]
    if _fits(key, section):
        template = templates.get(key, template)
    owner = owners[-1].replace(" ", "_") if owners else ""
    values = {"name": name, "owner": key_words(owner, locale), "fact": key_words(key, locale)}
    for place, words in values.items():
        template = template.replace("{" + place + "}", plain(words, lines=False))
    return template


def option_words(option: str, locale: str) -> str:
    """An answer to choose, as a person reads it: `do_not_disturb` as words, two times as from the one to the other."""
    between = _TIMES.fullmatch(option)
    if between is not None:
        return f"{between[1]} {'到' if locale.startswith('zh') else 'to'} {between[2]}"
    return plain(_MACHINE.sub(lambda name: name[0].replace("_", " "), option), lines=False)


def _fits(key: str, section: str) -> bool:
    """Whether a key is asked about as what it is called, where it stands."""
    if key in _OF_HABITS:
        return section == "habits"
    return _OF_OTHERS.get(key, section) == section
