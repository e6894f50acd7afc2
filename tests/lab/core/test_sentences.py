"""What people read where a value does not fit, a name is none, or a suggestion ends a sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest

from lab.core.codec import convert, decode
from lab.core.errors import LabError
from lab.core.task.task import load_task
from lab.core.text.suggestion import list_sentence, suggestion

RAW = re.compile(r"Expected|`|got |Invalid|Object |array|\bstr\b|\bint\b|truncated|malformed")


class Kinds(msgspec.Struct, forbid_unknown_fields=True):
    whole: int | None = None
    list: tuple[int, ...] = ()
    two: tuple[int, int] = (1, 2)
    share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0
    code: Annotated[str, msgspec.Meta(max_length=3, pattern="^a")] = "a"
    some: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)] = ("a",)
    way: Literal["up", "down"] = "up"
    number: Literal[1, 2] = 1
    named: dict[str, bool] = {}
    many: str | int | float = ""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"list": None}, "field list: must be a list, not null (nothing)"),
        ({"list": {"a": 1}}, "field list: must be a list, not a mapping"),
        ({"list": ["x"]}, "field list[0]: must be a whole number, not text"),
        ({"whole": 1.5}, "field whole: must be a whole number or null (nothing), not a number"),
        ({"two": [1]}, "field two: must be a list of 2 entries, not 1"),
        ({"share": 2}, "field share: must be a number of at most 1.0"),
        ({"share": -1}, "field share: must be a number of at least 0.0"),
        ({"code": "abcd"}, "field code: must be text of at most 3 characters"),
        ({"code": "b"}, "field code: must be text that matches '^a'"),
        ({"some": []}, "field some: must be a list of at least 1 entry"),
        ({"way": "dwon"}, "field way: 'dwon' is none of down, up; did you mean down?"),
        ({"way": 3}, 'field way: must be text, not a whole number; write it in quotes, as in way: "1"'),
        ({"number": 3}, "field number: 3 is none of 1, 2"),
        ({"named": {"a": "yes"}}, "field named[...]: must be true or false, not text"),
        ({"many": []}, "field many: must be a whole number or a number or text, not a list"),
        ([1], "must be a mapping, not a list"),
        (None, "must be a mapping, not null (nothing)"),
    ],
)
def test_a_value_that_does_not_fit_is_told_in_the_words_of_yaml(value: Any, words: str) -> None:
    with pytest.raises(LabError) as refused:
        convert(value, Kinds, "the file")
    assert refused.value.message == words
    assert not RAW.search(words)


@pytest.mark.parametrize("text", ['{"whole":', '{"whole" 1}', "", "nope"])
def test_json_that_is_none_is_told_without_a_librarys_words(text: str) -> None:
    with pytest.raises(LabError) as refused:
        decode(text, Kinds, "the line")
    assert not RAW.search(refused.value.message)


def test_a_task_file_with_an_empty_field_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("kind: general\ninstruction: Do it\nchecks:\n", encoding="utf-8")
    with pytest.raises(LabError, match=r"field checks: must be a list, not null \(nothing\)"):
        load_task(tmp_path / "t.yaml")


def test_a_suggestion_ends_its_sentence_wherever_it_is_put() -> None:
    near = suggestion("noshwel", ["noshell", "slow"])
    error = LabError("fault", f"there is no fault 'noshwel'{near}.", "Say which.")
    assert error.message == "there is no fault 'noshwel'; did you mean noshell?"
    assert error.sentence == "fault: there is no fault 'noshwel'; did you mean noshell? Say which."
    assert LabError("x", f"no{near}. Try again.").message == "no; did you mean noshell? Try again."


def test_what_there_is_is_listed_in_a_sentence() -> None:
    assert list_sentence(["slow"]) == "There is slow."
    assert list_sentence(["slow", "video"]) == "There are slow and video."
    assert list_sentence(["slow", "screencap", "video"]) == "There are slow, screencap and video."
