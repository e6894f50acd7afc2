"""Ratings from files: a number is the option of that name, in gold as in answers, and nothing else becomes one."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.gold import GoldLine, with_gold
from annotators.protocols import protocol
from annotators.units import units_for
from lab.core.errors import LabError
from lab.core.study.label_rules import as_option
from lab.core.study.protocol import Field, Option
from lab.core.study.study import Target, Unit

STARS = Field("stars", "How?", "ordinal", tuple(Option(str(n)) for n in range(1, 6)))
RATING = protocol("personal-rating")


@pytest.mark.parametrize(
    ("value", "option"), [(4, "4"), ("4", "4"), (6, 6), (True, True), (4.0, 4.0), (None, None), ("four", "four")]
)
def test_a_whole_number_is_its_option(value: Any, option: Any) -> None:
    found = as_option(STARS, None, value)
    assert (found, type(found)) == (option, type(option))


def test_a_targets_own_options_go_first_and_numbers_stay_numbers_elsewhere() -> None:
    target = Target("b", "Which way?", options=("1", "2"))
    assert as_option(STARS, target, 2) == "2"
    assert as_option(STARS, target, 4) == 4
    assert as_option(Field("n", "How many?", "interval", least=0, most=9), None, 4) == 4


def test_gold_of_a_rating_is_kept_as_its_option() -> None:
    line = GoldLine(4, unit="u", field="personal", reason="as they do it")
    (unit,) = with_gold(RATING, [Unit("u", ("u",))], [("line 1", line)])
    assert [one.value for one in unit.gold] == ["4"]
    with pytest.raises(LabError, match="7 is none of 1, 2, 3, 4, 5"):
        with_gold(RATING, [Unit("u", ("u",))], [("line 1", GoldLine(7, unit="u", field="personal"))])


def test_gold_in_a_line_of_texts_is_checked_as_before() -> None:
    line = {"A": "x", "B": "y", "gold": {"same": "same"}}
    (unit,) = units_for(protocol("same-intent"), lines=[("line 1", line)])
    assert unit.gold[0].value == "same"
    with pytest.raises(LabError, match="field gold: 'other' is none of same"):
        units_for(protocol("same-intent"), lines=[("line 1", {**line, "gold": {"other": 1}})])
