"""What is typed for an answer: numbers of any length are a sentence where they are none."""

from __future__ import annotations

import pytest

from lab.core.errors import LabError
from lab.core.study.protocol import Field
from lab.studies.rating.typed_answers import typed_value

LONG = "9" * 5000


@pytest.mark.parametrize(
    ("kind", "words"), [("step", LONG), ("box", f"1, 2, {LONG}, 4"), ("step", "0x7")], ids=["step", "box", "hex"]
)
def test_what_is_no_step_or_box_is_told_in_a_sentence(kind: str, words: str) -> None:
    with pytest.raises(LabError, match=f"is no {kind}") as refused:
        typed_value(Field("f", "Where?", kind), words)  # type: ignore[arg-type]
    assert len(refused.value.sentence) < 200


def test_a_step_and_a_box_are_numbers() -> None:
    assert typed_value(Field("f", "Where?", "step"), " 12 ") == 12
    assert typed_value(Field("f", "Where?", "box"), "1, 2 3,4") == [1, 2, 3, 4]
