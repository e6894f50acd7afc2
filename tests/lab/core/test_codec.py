"""The tolerant reader: a stranger's ugliest JSON and YAML become storable values, or one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lab.core.codec import (
    MARK,
    convert,
    decode,
    encode,
    escape_surrogates,
    read_file,
    read_json,
    read_yaml,
    unescape_surrogates,
)
from lab.core.errors import LabError

ANY_TEXT = st.text(st.characters() | st.sampled_from(["\ud83d", "\ude00", "\udc80", MARK, "u", "d", "8"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


def joined(text: str) -> str:
    """Surrogates that make a pair are one character, however they came."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@given(ANY_TEXT)
@example("\ud83d\ude00")
@example(MARK + "ud83d")
@example(MARK * 3 + "\ud83d" + MARK)
def test_escaping_surrogates_is_undone_exactly(text: str) -> None:
    escaped = escape_surrogates(text)
    escaped.encode()
    assert unescape_surrogates(escaped) == joined(text)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters=MARK)))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert escape_surrogates(text) == text


@given(JSON)
def test_any_json_of_a_stranger_is_read_into_what_can_be_stored(value: Any) -> None:
    read, notes = read_json(json.dumps(value).encode(), "stranger.json")
    assert msgspec.json.decode(encode(read)) == read
    assert all(stood for _, stood in notes)


@given(JSON)
def test_what_was_read_once_is_read_again_without_a_note(value: Any) -> None:
    clean, _ = read_json(json.dumps(value).replace("\\u241b", "").encode(), "stranger.json")
    if MARK not in json.dumps(clean, ensure_ascii=False):
        assert read_json(json.dumps(clean).encode(), "stranger.json") == (clean, [])


def test_what_was_changed_is_said_place_by_place() -> None:
    data = b'\xef\xbb\xbf{"a": [1, NaN, -Infinity, 1e999], "b": {"c": "\\ud83d"}, "d": 9223372036854775808}'
    value, notes = read_json(data, "ugly.json")
    assert value["a"] == [1, None, None, None]
    assert unescape_surrogates(value["b"]["c"]) == "\ud83d"
    assert value["d"] == "9223372036854775808"
    assert ("a[1]", "nan") in notes
    assert ("a[2]", "-inf") in notes
    assert ("b.c", "lone surrogate") in notes
    assert ("d", "integer too large") in notes


def test_bytes_that_are_no_utf8_are_refused_with_what_they_may_be() -> None:
    with pytest.raises(LabError, match=r"latin\.json: is not UTF-8 text \(byte 13\); it may be cp1252"):
        read_json(b'{"name": "caf\xe9"}', "latin.json")


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'{"a": 1', b"[1,]", b"\xff\xfe{\x00", b"nope", b"[" * 100_000, b'{"a":' * 5_000, b"9" * 5_000],
    ids=["empty", "open", "cut", "comma", "utf-16", "word", "deep", "deep mapping", "long number"],
)
def test_what_is_no_json_gets_a_sentence_that_names_the_file(data: bytes) -> None:
    with pytest.raises(LabError, match=r"traj\.json: (is|holds)") as caught:
        read_json(data, "traj.json")
    assert "\n" not in caught.value.sentence


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_called_by_its_name(encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    with pytest.raises(LabError, match=r"traj\.json: is UTF-16 text"):
        read_json(f'{mark}{{"a": 1}}'.encode(encoding), "traj.json")


def test_what_is_read_is_never_too_deep_to_be_written_again() -> None:
    for depth in range(0, 400, 20):
        data = b"[" * depth + b"1" + b"]" * depth
        try:
            value = read_json(data, "deep.json").value
        except LabError:
            assert depth > 150
            continue
        assert msgspec.json.decode(encode({"a": {"b": value}}))["a"]["b"] == value


def test_times_dates_and_words_in_yaml_stay_text() -> None:
    value, notes = read_yaml(
        b"at: 18:00\non: 2025-01-31\nyes: no\nzip: 007\ntel: +86139\nn: 7\nf: 1.5\ntrue_: true\nnone:\n", "p.yaml"
    )
    assert notes == []
    assert value == {
        "at": "18:00", "on": "2025-01-31", "yes": "no", "zip": "007", "tel": "+86139", "n": 7, "f": 1.5,
        "true_": True, "none": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [b"a: [1", b"a: b: c", b"\xff", b"!!python/object/apply:os.system [x]", b"a: &a [*a]", b"a: \x00"],
    ids=["open", "nested", "latin", "object", "circle", "null byte"],
)
def test_what_is_no_yaml_of_ours_gets_a_sentence(data: bytes) -> None:
    with pytest.raises(LabError, match=r"task\.yaml") as caught:
        read_yaml(data, "task.yaml")
    assert "\n" not in caught.value.sentence


def test_yaml_that_multiplies_itself_is_refused() -> None:
    lines = [b"a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [b"a%d: &a%d [%s]" % (i, i, b",".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 9)]
    with pytest.raises(LabError, match="values"):
        read_yaml(b"\n".join(lines), "laughs.yaml")


class Ours(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    size: int = 0


def test_our_own_bytes_are_read_strictly_and_the_field_is_named() -> None:
    assert decode(b'{"name":"x"}', Ours, "ours") == Ours("x")
    with pytest.raises(LabError, match="field size"):
        decode(b'{"name":"x","size":"y"}', Ours, "ours")
    with pytest.raises(LabError, match="colour"):
        convert({"name": "x", "colour": 1}, Ours, "ours")
    with pytest.raises(LabError, match="newer hitlab"):
        decode(b'{"v":9,"anything":1}', Ours, "ours", newest=1)


def test_text_that_utf8_cannot_hold_is_written_escaped() -> None:
    value: Ours = decode(encode(Ours("half \ud83d")), Ours, "ours")
    assert unescape_surrogates(value.name) == "half \ud83d"


def test_a_file_that_cannot_be_read_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="is not there"):
        read_file(tmp_path / "none.json")
    with pytest.raises(LabError, match="is a folder"):
        read_file(tmp_path)
    (tmp_path / "big.json").write_bytes(b"12345")
    with pytest.raises(LabError, match="more than the 4"):
        read_file(tmp_path / "big.json", most=4)


@pytest.mark.parametrize("data", [b"[" * 100_000, b"{a: " * 100_000, b"- " * 50_000], ids=["lists", "maps", "dashes"])
def test_yaml_that_nests_without_end_is_refused_and_the_process_lives(data: bytes) -> None:
    with pytest.raises(LabError, match="nested too deeply"):
        read_yaml(data, "task file x.yaml")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"name": "x", "colour": 1}, "ours: field colour: there is none of that name"),
        ({}, "ours: field name: is not there"),
        ({"name": "x", 1: 2}, "ours: field names: each key there must be text"),
        ({"name": "x", "size": "y"}, "ours: field size: must be"),
    ],
)
def test_a_field_that_does_not_fit_comes_first_in_the_sentence(value: object, words: str) -> None:
    with pytest.raises(LabError) as caught:
        convert(value, Ours, "ours")
    assert caught.value.sentence.startswith(words)


class Part(msgspec.Struct, forbid_unknown_fields=True):
    """One of a few kinds."""

    kind: Literal["green", "blue"]


class Whole(msgspec.Struct, forbid_unknown_fields=True):
    """A name and parts."""

    name: str
    parts: list[Part] = []


def test_a_field_or_choice_that_there_is_not_comes_with_what_may_have_been_meant() -> None:
    for data, sentence in (
        ('{"nmae": "x"}', "nmae: there is none of that name; did you mean name?"),
        ('{"name": "x", "parts": [{"kidn": "a"}]}', "parts[0].kidn: there is none of that name; did you mean kind?"),
        ('{"name": "x", "parts": [{"kind": "gren"}]}', "'gren' is none of blue, green; did you mean green?"),
        ('{"name": "x", "parts": [{"kind": "octarine"}]}', "'octarine' is none of blue, green"),
    ):
        with pytest.raises(LabError) as refused:
            decode(data, Whole, "ours")
        assert refused.value.message.endswith(sentence)
