"""Sets of options: one form for each, whatever a file or a hand wrote; what is none is refused in a sentence."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.study.adjudication import PlaceAnswer, majority_of, set_of_most
from lab.core.study.label_rules import as_option, check_value
from lab.core.study.protocol import Field
from lab.core.task.task import Actor
from lab.studies.rating.typed_answers import typed_value, words_of
from tests.modes import MODES

FREE = replace(MODES, most=None)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["memory", "ask", "ask"], ["ask", "memory"]),
        ([], []),
        ("ask", ["ask"]),
        ("memory,ask", ["ask", "memory"]),
        (" memory , ask ", ["ask", "memory"]),
        ("none", []),
        ('["memory", "ask"]', ["ask", "memory"]),
        ("[]", []),
    ],
)
def test_a_set_has_one_form(given: Any, kept: list[str]) -> None:
    assert as_option(FREE, None, given) == kept
    check_value("label", FREE, None, kept)


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        (FREE, "ask", "'ask' is no list of options"),
        (FREE, True, "True is no list of options"),
        (FREE, None, "None is no list of options"),
        (FREE, ["slow"], "'slow' is none of ask, misread, plan, memory"),
        (FREE, [["ask"]], "is none of ask, misread"),
        (FREE, [1], "1 is none of ask"),
        (FREE, ["memory", "ask"], "memory, ask is not in the order of the protocol, each option once"),
        (FREE, ["ask", "ask"], "each option once"),
        (MODES, ["ask", "misread", "plan", "memory"], "4 options chosen; at most 3 may be."),
        (replace(MODES, least=2), ["ask"], "1 option chosen; at least 2 must be."),
        (replace(MODES, least=1), [], "0 options chosen; at least 1 must be."),
    ],
)
def test_what_is_no_set_of_the_field_is_refused(field: Field, value: Any, problem: str) -> None:
    with pytest.raises(LabError, match=f"field value: modes.*{problem}"):
        check_value("label", field, None, value)


def test_what_was_typed_names_options_by_id_or_by_words() -> None:
    assert typed_value(FREE, "Forgot what it had read, ask") == ["ask", "memory"]
    assert typed_value(FREE, "none") == []
    assert (words_of(["ask", "plan"]), words_of([])) == ("ask, plan", "none")
    for words in ("", "ask, slow"):
        with pytest.raises(LabError):
            typed_value(FREE, words)


def test_a_condition_holds_where_one_of_its_options_is_chosen() -> None:
    what = Field("what", "What?", "text", show_if="modes=memory,none")
    assert [what.is_asked_for(value) for value in (["ask", "memory"], [], ["ask"], None)] == [True, True, False, False]
    flagged = Field("what", "What?", "text", show_if="slip=True")
    assert [flagged.is_asked_for(value) for value in (True, False)] == [True, False]


# -- what most choose ------------------------------------------------------------------------------------------


def answers(*sets: list[str] | None) -> list[PlaceAnswer]:
    missing: Any = "cannot_judge"
    return [PlaceAnswer(Actor("human", f"R{at}"), one, missing if one is None else None) for at, one in enumerate(sets)]


@pytest.mark.parametrize(
    ("sets", "most"),
    [
        ((["ask"], ["ask"], ["plan"]), ["ask"]),
        ((["ask", "plan"], ["ask"], ["plan"]), ["ask", "plan"]),
        ((["ask"], ["plan"], ["memory"]), []),
        ((["ask"], ["plan"]), None),  # one of two is not more than half
        ((["ask"], ["ask", "plan"]), None),
        ((["ask"], ["ask"], None), ["ask"]),
        ((["ask"], ["ask", "plan"], None), None),  # whether plan holds, one says no and one yes
        ((["ask", "misread"], ["plan", "memory"], ["ask", "misread", "plan"]), ["ask", "misread", "plan"]),
    ],
)
def test_a_majority_of_sets_is_one_of_each_option(sets: tuple[list[str] | None, ...], most: list[str] | None) -> None:
    for order in permutations(sets):
        found = majority_of(answers(*order), MODES)
        assert (found.value if found is not None else None) == most


def test_a_majority_is_a_set_that_the_field_allows() -> None:
    assert set_of_most(replace(MODES, least=1), [(["ask"], 1), (["plan"], 1), (["memory"], 1)], 3) is None
    many = [(["ask", "misread", "plan"], 1), (["ask", "misread", "memory"], 1), (["plan", "memory", "ask"], 1)]
    assert set_of_most(MODES, many, 3) is None
    assert set_of_most(replace(MODES, most=None), many, 3) == ["ask", "misread", "plan", "memory"]
