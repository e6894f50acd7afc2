"""Letters for raters, what most say, and what of a settlement is left without a person."""

from __future__ import annotations

from typing import Any

import pytest

from lab.core.redaction.quotations import ErasedWords
from lab.core.redaction.text_redaction import WITHDRAWN
from lab.core.study.adjudication import (
    Move,
    PlaceAnswer,
    Settlement,
    current_settlements,
    majority_of,
    place_answers,
    rater_letters,
    without_person,
)
from lab.core.study.label import Act
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Study
from lab.core.task.task import Actor
from tests.studies import R1, R2, label, study, unit

PEOPLE = [Actor("human", f"R{n}") for n in range(1, 6)]


def said(*values: Any, person: bool = True) -> list[PlaceAnswer]:
    return [PlaceAnswer(Actor("human", f"R{at}"), value, person=person) for at, value in enumerate(values)]


def plan(seed: int = 0) -> Study:
    return study([unit()], seed=seed)


def test_letters_are_the_same_for_whoever_asks_in_whatever_order() -> None:
    assert rater_letters(plan(), "u1", PEOPLE) == rater_letters(plan(), "u1", PEOPLE[::-1])
    assert sorted(rater_letters(plan(), "u1", PEOPLE).values()) == ["A", "B", "C", "D", "E"]
    assert sorted(rater_letters(plan(), "u1", [Actor("human", str(n)) for n in range(30)]).values())[:2] == ["A", "A1"]


def test_letters_are_shuffled_anew_in_each_unit_and_by_the_seed() -> None:
    of_r1 = {rater_letters(plan(), f"u{n}", PEOPLE)["human", "R1"] for n in range(60)}
    assert of_r1 == {"A", "B", "C", "D", "E"}
    assert {rater_letters(plan(seed), "u1", PEOPLE)["human", "R1"] for seed in range(60)} == of_r1


def test_most_is_more_than_half_of_the_people_who_said_anything() -> None:
    assert majority_of(said("a", "a", "b")) is not None
    assert majority_of(said("a", "b")) is None
    assert majority_of(said("a", "b", "c")) is None
    assert majority_of(said("a")) is None
    assert majority_of([]) is None
    assert majority_of([*said("a", "b"), *said("a", "a", person=False)]) is None
    unsure = PlaceAnswer(PEOPLE[0], None, "cannot_judge")
    most = majority_of([unsure, unsure._replace(rater=PEOPLE[1]), *said("a")])
    assert most is not None
    assert most.reason_missing == "cannot_judge"


def test_one_and_one_point_nothing_are_one_answer_and_yes_is_no_number() -> None:
    assert majority_of(said(1, 1.0, 2)) is not None
    assert majority_of(said(True, 1, 0)) is None
    assert majority_of(said([1, 2, 3, 4], (1, 2, 3, 4), [0, 0, 0, 0])) is not None


def test_repeated_ratings_and_rules_are_nobodys_word() -> None:
    one = unit()
    labels = [
        label(plan(), one, "open", "state", "completed"),
        label(plan(), one, "open", "state", "not_completed", run=2),
        label(plan(), one, "open", "state", "completed", rater=Actor("script", "rule")),
        label(plan(), one, "open", "state", "completed", rater=Actor("script", "R2")),
        label(plan(), one, "open", "state", "completed", rater=Actor("model", "m")),
        label(plan(), one, "pay", "state", "completed", rater=R2),
    ]
    handed = {("R1", one.id, 1), ("R1", one.id, 2)}
    found = place_answers(plan(), FieldReference("open", "state"), labels, handed)
    assert [(one.rater.id, one.value, one.person) for one in found] == [
        ("R1", "completed", True), ("R2", "completed", True), ("m", "completed", False),
    ]  # fmt: skip


def test_the_newest_word_stands_and_a_withdrawn_one_leaves_nothing() -> None:
    def act(at: str, **told: Any) -> Act:
        detail = {"target": "open", "field": "state", "by_means": "adjudicator", "reason": "x", **told}
        return Act(f"id{at}", "trial", 1, R1, "adjudicated", at, "u1", detail=detail)

    first, second, gone = act("1", value="a"), act("2", value="b"), act("3", withdrawn=True)
    place = ("u1", FieldReference("open", "state"))
    assert current_settlements([second, first])[place].what.value == "b"
    assert current_settlements([gone, second, first]) == {}
    assert current_settlements([gone, act("4", value="c"), first])[place].what.value == "c"


def test_without_a_person_their_moves_words_and_code_are_gone() -> None:
    moves = (Move("R1", "a", "b", "slip", "I slipped"), Move("R2", "a", "b", "", "as R1 did, not R10"))
    what = Settlement("t", "f", "discussion", "b", reason="R1 convinced R1-b: some words of R1", moves=moves)
    left = without_person(what, ErasedWords("R1", {"nothing like it"}), free=True)
    assert left is not None
    assert left.moves == (Move("R2", "a", "b", "", f"as {WITHDRAWN} did, not R10"),)
    assert left.reason == f"{WITHDRAWN} convinced R1-b: some words of {WITHDRAWN}"
    words = ErasedWords("R9", {"some words of R1"})
    assert without_person(what, words, free=True) == Settlement(
        "t", "f", "discussion", "b", reason=WITHDRAWN, moves=moves
    )
    settled = Settlement("t", "f", "majority", "their own words")
    assert without_person(settled, ErasedWords("R9", {"their own words"}), free=True) is None
    assert without_person(settled, ErasedWords("R9", {"their own words"}), free=False) == settled


@pytest.mark.parametrize(
    ("text", "reason", "left"),
    [
        ("a blue bag", "they wrote: A  blue bag, twice", f"they wrote: {WITHDRAWN}, twice"),
        ("a blue bag", "a blue bagpipe", "a blue bagpipe"),
        ("蓝色的包", "她说蓝色的包很好", f"她说{WITHDRAWN}很好"),
        ("x", "x marks it", "x marks it"),
        ("my sister Mara is ill and I will be late for lunch", "is ill and I will be late", WITHDRAWN),
        ("my sister Mara is ill and I will be late for lunch", "ill and late", "ill and late"),
        ("my sister Mara", "says MY SISTER  MARA, so yes", WITHDRAWN),
        ("", "nothing was said", "nothing was said"),
    ],
)
def test_a_quotation_is_taken_out_however_short(text: str, reason: str, left: str) -> None:
    assert ErasedWords("R1", {text}).remove_from(reason) == left
