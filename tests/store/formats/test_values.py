"""What readers share: a stranger's values, files by number, and what stops a reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from lab.core.task.task import Actor, Task
from store.formats import FailedRun, KnownRun, RunSource
from store.formats.draft import RunDraft
from store.formats.failures import with_failures
from store.formats.files import files_by_number, unreadable_reason
from store.formats.geometry import swipe_vector, vector_between
from store.formats.json_parts import is_list
from store.formats.values import as_amount, as_count, as_mappings, as_str, as_text, decode_utf8, notes_below


@pytest.mark.parametrize("value", [-1, True, 1.0, "1", None, 2**53, [1]])
def test_only_a_whole_number_from_0_is_a_count(value: Any) -> None:
    assert as_count(value) is None
    assert as_count(0) == 0


@pytest.mark.parametrize("value", [-0.1, True, "1", None, float("nan"), float("inf"), 2**60])
def test_only_a_number_from_0_is_an_amount(value: Any) -> None:
    assert as_amount(value) is None
    assert as_amount(2) == 2.0


def test_words_stand_as_they_are_and_other_values_only_where_they_are_wanted() -> None:
    assert (as_text("a"), as_text(5), as_text(None)) == ("a", "", "")
    assert (as_str("a"), as_str(5), as_str(None)) == ("a", "5", None)
    assert decode_utf8(b"\xef\xbb\xbfa") == "a"


@pytest.mark.parametrize(
    ("value", "field", "sentence"),
    [
        ({}, "", "f: holds no list of steps"),
        (None, "0.traj", "f: field 0.traj: is no list of steps"),
        ([{}, 1], "", "f: field [1]: is no step"),
        ([{}, 1], "0.traj", "f: field 0.traj[1]: is no step"),
    ],
)
def test_what_is_no_list_of_mappings_names_its_field(value: Any, field: str, sentence: str) -> None:
    with pytest.raises(LabError) as raised:
        as_mappings(value, "f", "step", field)
    assert raised.value.sentence == sentence


def test_notes_below_a_place_are_told_without_it() -> None:
    notes = [("[1].a", "nan"), ("[10].a", "inf"), ("[1]", "Infinity")]
    assert notes_below(notes, "[1].") == [["a", "nan"]]
    assert notes_below(notes) == [list(note) for note in notes]


@pytest.mark.parametrize("data", [b"[", b"\xef\xbb\xbf\n [{}]", b" \t\r\n[]"])
def test_a_list_is_told_by_its_first_sign(data: bytes) -> None:
    assert is_list(data)
    assert not is_list(b'{"a": []}')


def test_files_are_found_by_their_number_and_a_folder_that_is_not_there_holds_none(tmp_path: Path) -> None:
    for name in ("shot_2.png", "shot_10.png", "shot_1.png.tmp", "other_3.png"):
        (tmp_path / name).touch()
    assert files_by_number(tmp_path, re.compile(r"\Ashot_(\d+)\.png\Z")) == {
        2: tmp_path / "shot_2.png", 10: tmp_path / "shot_10.png"
    }  # fmt: skip
    assert files_by_number(tmp_path / "none", re.compile(r"(\d+)")) == {}
    assert unreadable_reason(tmp_path / "a.xml", LabError("a.xml", "is not XML")) == "a.xml is not XML"


def test_a_scroll_moves_the_finger_against_its_direction_and_a_swipe_along_it() -> None:
    assert swipe_vector("scroll", "down", (100, 200)) == (0, -100)
    assert swipe_vector("swipe", "down", (100, 200)) == (0, 100)
    assert (
        swipe_vector("drag", "down", (100, 200)),
        swipe_vector("swipe", None, (1, 1)),
        swipe_vector("swipe", "up", None),
    ) == (None,) * 3
    assert vector_between((5, 5), (2, 9)) == (-3, 4)
    assert (vector_between(None, (2, 9)), vector_between((-(2**31) + 1, 0), (2**31 - 1, 0))) == (None, None)


def test_what_stops_a_reader_is_told_after_the_runs_that_came_before(tmp_path: Path) -> None:
    found = RunSource("x", tmp_path / "f", tmp_path)
    for error, sentence in (
        (LabError("f", "is not JSON"), "f: is not JSON"),
        (PermissionError(13, "Permission denied", "g"), "g: cannot be read (Permission denied)."),
    ):

        @with_failures
        def read(
            found: RunSource, known: Callable[[str], bool], error: Exception = error
        ) -> Iterator[Imported | KnownRun | FailedRun]:
            yield KnownRun("r", "f")
            raise error

        assert list(read(found, bool)) == [KnownRun("r", "f"), FailedRun(str(tmp_path / "f"), sentence)]


def test_a_verdicts_further_fields_may_be_called_like_its_own() -> None:
    draft = RunDraft("r", Task(id="t", kind="general"), Actor("model", "m"), format="x", path="f")
    draft.verdict("source", 1, "why", name="n", value=2, reason="r", self="s")
    (verdict,) = draft.verdicts
    assert (verdict.name, verdict.value, verdict.reason) == ("source", 1, "why")
    assert verdict.extra == {"name": "n", "value": 2, "reason": "r", "self": "s"}
