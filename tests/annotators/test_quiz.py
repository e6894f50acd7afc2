"""Questions on a persona's facts: the same for everybody, with one right answer, and wrong ones that could be right."""

from __future__ import annotations

import pytest

from annotators.quiz import PASS, pass_mark, quiz
from lab.core.task.task import Persona
from simulators import library

EVERYBODY = [library.persona(name, "none") for name in library.personas()]


@pytest.mark.parametrize("persona", EVERYBODY, ids=lambda persona: persona.id)
def test_each_question_has_one_right_answer_and_wrong_ones(persona: Persona) -> None:
    asked = quiz(persona, EVERYBODY, 6, 7)
    assert len(asked) == 6
    assert len({item.id for item in asked}) == 6
    for item in asked:
        assert 3 <= len(item.options) <= 4
        assert len({option.casefold() for option in item.options}) == len(item.options)
        held: object = persona.facts
        for key in item.id.split("/"):
            held = held[key] if isinstance(held, dict) and key in held else _named(held, key)
        words = " ".join(map(str, held)) if isinstance(held, list) else str(held)
        assert item.answer.split()[0].strip(",") in words
    assert len({item.place[0] for item in asked}) >= 4  # section after section


def _named(held: object, name: str) -> object:
    assert isinstance(held, list)
    return next(item for item in held if isinstance(item, dict) and item.get("name") == name)


def test_the_seed_draws_the_questions_and_nothing_else_does() -> None:
    ines, *others = EVERYBODY
    assert quiz(ines, others, 5, 1) == quiz(ines, [*others[::-1], ines], 5, 1)
    assert quiz(ines, others, 5, 1) != quiz(ines, others, 5, 2)
    first, again = quiz(ines, others, 5, 1), quiz(ines, others, 5, 1, 2)
    assert [item.id for item in first] == [item.id for item in again]
    assert [item.answer for item in first] == [item.answer for item in again]
    assert [item.options for item in first] != [item.options for item in again]


def test_what_cannot_be_asked_is_not() -> None:
    bare = Persona("x", "X", {"identity": {"full_name": "X"}, "preferences": {"tea": "jasmine"}})
    assert quiz(bare, [], 5, 1) == []
    ids = {item.id for persona in EVERYBODY for item in quiz(persona, EVERYBODY, 200, 1)}
    assert not [id for id in ids if "latitude" in id or "phone" in id or "full_name" in id or "auth" in id]


def test_wrong_answers_of_others_at_the_same_place_come_first() -> None:
    def drinks(id: str, tea: str) -> Persona:
        return Persona(id, id, {"preferences": {"tea": tea, "cake": f"cake of {id}"}})

    asked = quiz(drinks("a", "jasmine"), [drinks("b", "green"), drinks("c", "black"), drinks("d", "Jasmine")], 1, 3)
    options = set(asked[0].options)
    same = {"jasmine", "green", "black"} if asked[0].id.endswith("tea") else {f"cake of {id}" for id in "abcd"}
    assert same <= options
    assert "Jasmine" not in options - {asked[0].answer}


def test_the_bar_is_the_studys_own_where_it_names_one() -> None:
    assert (pass_mark(None), pass_mark(0.5)) == (PASS, 0.5)
