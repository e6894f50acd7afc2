"""Who a person is, as lines that a person reads: sentences and names, and no form for machines."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.quiz import QuizItem
from screens.persona_facts import outline
from screens.play.pages import asked_words
from simulators import library

PROFILE: dict[str, Any] = {
    "identity": {"full_name": "Ines Varga", "age": 36, "vegetarian": False},
    "locations": {"home": {"address": "Heron Walk 14", "latitude": 1.3161, "longitude": 103.7649}},
    "habits": {
        "morning_coffee": {
            "description": "Has a coffee brought on workdays.",
            "trigger": {"time_range": ["08:30", "09:00"], "days": ["Monday", "Tuesday", "Wednesday"], "place": "work"},
            "action": {"type": "change_settings", "detail": "Always the same drink. She is glad to be asked."},
        }
    },
    "social_graph": {"friends": [{"name": "Noor Haddad", "role": "Colleague"}, {"name": "Bo"}]},
    "rules": ["A question is better.", "Silence is best."],
}
READS = """\
Identity
  full name: Ines Varga
  age: 36
  vegetarian: no
Locations
  home: address: Heron Walk 14; position on the map: 1.3161, 103.7649
Habits
  morning coffee: Has a coffee brought on workdays.
    trigger: time range: 08:30 to 09:00; days: Monday to Wednesday; place: work
    action: type: change settings; detail: Always the same drink. She is glad to be asked.
Social graph
  friends
    Noor Haddad: role: Colleague
    Bo
Rules: A question is better. Silence is best."""


def lines(facts: dict[str, Any]) -> str:
    return "\n".join(f"{'  ' * depth}{name}{': ' if value else ''}{value}" for depth, name, value in outline(facts))


def test_facts_read_as_sentences_and_names() -> None:
    assert lines(PROFILE) == READS


@pytest.mark.parametrize("name", ["ines", "rosa", "tobin", "xiaoman"])
def test_every_fact_of_a_persona_is_still_told(name: str) -> None:
    facts = library.persona(name).facts
    said = lines(facts)
    stack: list[Any] = [facts]
    while stack:
        held = stack.pop()
        if isinstance(held, dict):
            stack += held.values()
        elif isinstance(held, list) and not all(str(one).endswith("day") for one in held):
            stack += held
        elif not isinstance(held, list):
            assert str(held).replace("_", " ") in said.replace("_", " "), held
    assert "latitude" not in said


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("habits", "morning coffee", "trigger", "time"), "Morning coffee: time"),
        (("habits", "wind down", "description"), "Wind down: what it is"),
        (("preferences", "diet", "special notes"), "Diet: special notes"),
        (("identity", "age"), "Identity: age"),
        (("priorities",), "Priorities"),
    ],
)
def test_a_question_on_a_fact_names_it_as_people_do(place: tuple[str, ...], words: str) -> None:
    assert asked_words(QuizItem("id", place, ("a", "b", "c"), 0)) == words
