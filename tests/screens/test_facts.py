"""Who a person is, as lines that a person reads: sentences and names, and no form for machines."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.quiz import QuizItem, quiz
from lab.studies.playing.persona_prose import persona_prose
from lab.studies.playing.quiz_wording import option_words, quiz_question
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
  Ines Varga is 36 years old. Vegetarian: no.
Locations
  Home. The address is Heron Walk 14.
Habits
  Morning coffee. Has a coffee brought on workdays. This is between 08:30 and 09:00, from Monday to Wednesday, \
at work. On the phone this means: change settings. Always the same drink. She is glad to be asked.
Social graph
  Friends. Noor Haddad: Colleague. Bo.
Rules
  A question is better. Silence is best.
Numbers and places on the map
  Home, position on the map. 1.3161, 103.7649."""


def lines(facts: dict[str, Any], name: str = "Ines Varga", locale: str = "en") -> str:
    told = []
    for section in persona_prose(facts, name, locale):
        told.append(section.title)
        told += [f"  {one.lead}. {one.text}" if one.lead else f"  {one.text}" for one in section.paragraphs]
    return "\n".join(told)


def test_facts_read_as_sentences() -> None:
    assert lines(PROFILE) == READS


ODD: dict[str, Any] = {
    "profile": {
        "employer": "None", "age": None, "note": "", "homeTown": "Lyon", "employeeID": "E-1", "user_id": 7,
        "geo": {"lat": 1.5, "lng": 103.25}, "tags": [], "nested": {"deep": {"x": None, "y": ["a", None]}},
    },
    "where": [1.25, 103.5],
    "notes": "1.3, 103.4",
    "empty": {"a": {"b": [None, "n/a"]}},
    "friends": [{"name": "Bo", "id": "x1"}, {"name": None, "role": "Boss"}],
    "爱好": {"食物": "寿司。", "颜色": "{name}"},
}  # fmt: skip


def test_prose_leaves_out_what_says_nothing_and_lists_ids_and_places_on_the_map_last() -> None:
    said = lines(ODD, "Ana")
    prose, _, details = said.partition("Numbers and places on the map\n")
    assert prose == (
        "Profile\n  The home town is Lyon.\n  Nested. The y (deep) is a.\nFriends\n  Bo. 2: Boss.\n"
        "爱好\n  食物: 寿司。The 颜色 is {name}.\n"
    ).replace("。The", "。 The")
    for line in ("employee id. E-1.", "user id. 7.", "map. 1.5, 103.25.", "map. 1.3, 103.4.", "Bo, id. x1."):
        assert line in details.replace("Notes. ", "map. "), line
    assert "Where. 1.25, 103.5." in details
    assert "None" not in said
    for locale in ("en", "zh"):
        assert lines({"a": {"b": None, "employer": "None", "c": ""}}, locale=locale) == ""


@pytest.mark.parametrize("name", ["ines", "rosa", "tobin", "xiaoman"])
@pytest.mark.parametrize("locale", ["en", "zh"])
def test_prose_of_a_built_in_persona_holds_no_coordinates_ids_or_machine_phrases(name: str, locale: str) -> None:
    persona = library.persona(name)
    *sections, details = persona_prose(persona.facts, persona.name, locale)
    said = " ".join(section.text for section in sections)
    assert not any(words in said for words in ("As for", "关于", "None", "On the map", "103.", "(None)"))
    assert "103." in details.text


def test_facts_read_as_sentences_in_chinese_with_their_values_as_they_are() -> None:
    told = lines(PROFILE, "伊内丝", "zh")
    assert "伊内丝今年 36 岁。" in told
    assert "时间和场合：08:30和09:00 之间，Monday to Wednesday，在工作地点。" in told
    assert "地址是 Heron Walk 14。" in told


def test_what_no_profile_s_form_knows_is_told_under_what_it_belongs_to() -> None:
    assert lines({"budget": {"week": {"food": 50, "travel": 20}}, "empty": {}}) == (
        "Budget\n  Week. The food is 50 and the travel is 20."
    )
    assert lines({"a": {"b": {"c": {"d_e": "x"}}}}) == "A\n  B. The d e (c) is x."


PLACES = (("zh", "home"), ("zh", "work"))
"""What is said in the reader's language."""


@pytest.mark.parametrize("locale", ["en", "zh"])
@pytest.mark.parametrize("name", ["ines", "rosa", "tobin", "xiaoman"])
def test_every_fact_of_a_persona_is_still_told(name: str, locale: str) -> None:
    facts = library.persona(name).facts
    said = lines(facts, locale=locale)
    stack: list[Any] = [facts]
    while stack:
        held = stack.pop()
        if isinstance(held, dict):
            stack += held.values()
        elif isinstance(held, list) and not all(str(one).endswith("day") for one in held):
            stack += held
        elif not isinstance(held, list) and held not in (None, "None", ""):
            words = str(held).replace("_", " ").casefold().rstrip(".")
            assert words in said.replace("_", " ").casefold() or (locale, words) in PLACES, held
    assert "latitude" not in said


@pytest.mark.parametrize(
    ("place", "english", "chinese"),
    [
        (("habits", "morning coffee", "trigger", "time"),
         "At what time does Ines keep this habit: morning coffee?", "Ines的这个习惯（morning coffee）是在几点？"),
        (("habits", "wind down", "description"), "What does Ines do in this habit: wind down?",
         "在这个习惯（wind down）里，Ines做什么？"),
        (("preferences", "diet", "special notes"), "What did you read of Ines, under “diet”, about “special notes”?",
         "关于Ines，在“饮食”里，您读到的“特别说明”是怎样的？"),
        (("identity", "age"), "How old is Ines?", "Ines多大年纪？"),
        (("social graph", "friends", "Bo", "role"), "Who is Bo to Ines?", "对Ines来说，Bo 是什么人？"),
        (("tasks", "detail"), "What did you read of Ines, under “tasks”, about “detail”?",
         "关于Ines，在“tasks”里，您读到的“做法”是怎样的？"),
        (("hobbies",), "What did you read of Ines about “hobbies”?", "关于Ines，您读到的“hobbies”是怎样的？"),
    ],
)  # fmt: skip
def test_a_fact_is_asked_about_in_a_sentence(place: tuple[str, ...], english: str, chinese: str) -> None:
    item = QuizItem("id", place, ("a", "b", "c"), 0)
    assert quiz_question(item, "Ines", "en") == english
    assert quiz_question(item, "Ines", "zh-CN") == chinese


def test_answers_to_choose_are_no_names_for_machines() -> None:
    assert option_words("do_not_disturb, media_volume", "en") == "do not disturb, media volume"
    assert (option_words("11:45, 12:40", "en"), option_words("11:45, 12:40", "zh")) == (
        "11:45 to 12:40",
        "11:45 到 12:40",
    )
    assert option_words("Asks [b]first[/b]", "en") == "Asks [b]first[/b]"


@pytest.mark.parametrize("name", ["ines", "rosa", "tobin", "xiaoman"])
def test_each_question_on_a_built_in_persona_is_a_sentence(name: str) -> None:
    persona = library.persona(name)
    others = [library.persona(one) for one in library.personas()]
    items = quiz(persona, others, 100, 0)
    assert len(items) > 20
    for item in items:
        for locale, end in (("en", "?"), ("zh", "？")):
            asked = quiz_question(item, persona.name, locale)
            assert asked.endswith(end)
            assert persona.name in asked
            assert not {"_", "{", "}"} & set(asked)
        assert not any("_" in option_words(option, "en") for option in item.options)
