"""Which name somebody may have meant: a slip, a beginning, a word of it; nothing where all are far."""

from __future__ import annotations

import pytest

from lab.core.text.suggestion import near_names, suggestion, unknown_name

NAMES = ["usual_lunch", "usual_review", "way_home", "quiet_hours", "memgui-a7", "pspa-e1", "pspa-e3", "tdg", "Noor"]


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("usual_lnch", ["usual_lunch"]),
        ("usaul_lunch", ["usual_lunch"]),
        ("Usual-Lunch", ["usual_lunch"]),
        ("usual lunch", ["usual_lunch"]),
        ("usual_l", ["usual_lunch"]),
        ("lunch", ["usual_lunch"]),
        ("hours", ["quiet_hours"]),
        ("tgd", ["tdg"]),
        ("noor", ["Noor"]),
        ("pspa-e2", ["pspa-e1", "pspa-e3"]),
        ("usual", ["usual_lunch"]),
        ("dac", []),
        ("t", []),
        ("", []),
        ("-", []),
        ("x" * 5000, []),
        ("usual_lunch" * 10, []),
    ],
)
def test_a_name_is_near_by_a_few_slips_or_as_a_beginning(typed: str, near: list[str]) -> None:
    assert near_names(typed, NAMES) == near


def test_many_that_are_as_near_are_no_suggestion() -> None:
    assert near_names("R9", [f"R{number}" for number in range(5)]) == []
    assert near_names("R9", ["R1", "R2", "R1"]) == ["R1", "R2"]


def test_it_ends_a_sentence() -> None:
    assert suggestion("way_hom", NAMES) == "; did you mean way_home?"
    assert suggestion("pspa-e2", NAMES) == "; did you mean pspa-e1 or pspa-e3?"
    assert suggestion("R9", ["R1", "R2", "R3"]) == "; did you mean R1, R2 or R3?"
    assert suggestion("nothing like it", NAMES) == ""
    assert unknown_name("tgd", ["dac", "tdg"]) == "'tgd' is none of dac, tdg; did you mean tdg?"
