"""Covering words however they are written, and what looks private."""

from __future__ import annotations

import json
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.errors import LabError
from lab.core.redaction.private_text import suspects
from lab.core.redaction.run_redaction import is_under_boxes, texts_under
from lab.core.redaction.text_redaction import MASK, TextRedaction, is_coverable
from lab.core.run.step import Action
from lab.core.run.trace import Started, Trace, fold
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.task.task import Actor, Persona, Task
from tests.demonstrations import demonstration


@pytest.mark.parametrize(
    ("word", "text", "covered"),
    [
        ("Mara Quill", "by mara  QUILL, and Mara\nQuill", f"by {MASK}, and {MASK}"),
        ("Mara Quill", "Write_to_Mara_Quill_now #mara-quill", f"Write_to_{MASK}_now #{MASK}"),
        ("Mara Quill", json.dumps({"to": "Mara\nQuill"}), f'{{"to": "{MASK}"}}'),
        ("Ann", "Ann, annual, Joann: ann", f"{MASK}, annual, Joann: {MASK}"),
        ("Zoë 王", json.dumps({"to": "Zoë 王"}), f'{{"to": "{MASK}"}}'),
        ('a "b" c', json.dumps(['a "b" c']), f'["{MASK}"]'),
        (
            "020 7946 0018",
            "call 02079460018 or (020) 7946-0018, not 020 7946 0019",
            f"call {MASK} or {MASK}, not 020 7946 0019",
        ),
        (".*+[x]", "a .*+[x] b", f"a {MASK} b"),
        ("王", "王 alone", "王 alone"),
    ],
)
def test_words_are_covered_however_they_are_written(word: str, text: str, covered: str) -> None:
    if len(word) < 2:
        with pytest.raises(LabError, match="too short"):
            TextRedaction([word])
        return
    assert TextRedaction([word]).mask(text).replace("(█", "█") == covered


@pytest.mark.parametrize(
    ("word", "text", "covered"),
    [
        ("José García", unicodedata.normalize("NFD", "Hi José García!"), f"Hi {MASK}!"),
        (unicodedata.normalize("NFD", "José García"), "Hi José García!", f"Hi {MASK}!"),
        ("Mara", "Ｍａｒａ, 𝐌𝐚𝐫𝐚", f"{MASK}, {MASK}"),
        ("Ｍａｒａ", "mara", MASK),
        ("Straße", "STRASSE", MASK),
        ("İpek", "ipek ve İPEK", f"{MASK} ve {MASK}"),
        ("O'Brien", "O’Brien's", f"{MASK}'s"),
        ("Noor Haddad", "No\u00ador\u200b Had\u200bdad!", f"{MASK}!"),
        ("Noor Haddad", "\u202eNoor\u2011Haddad\u202c.", f"\u202e{MASK}."),
        ("Noor Haddad", "noor.haddad@mail NoorHaddad Noor\x00Haddad", f"{MASK}@mail {MASK} {MASK}"),
        ("Mara", "M" + "\u0334" * 500 + "a\u0301ra\u0336!", f"{MASK}!"),
        ("王明", "王明来了，王\n明，王 明", f"{MASK}来了，{MASK}，{MASK}"),
        ("민수", "민수가", f"{MASK}가"),
        ("555123456", "５５５ １２３ ４５６", MASK),
        ("José", "\\u004A JOS\\u00C9", f"\\u004A {MASK}"),
        ("Ann", "Annual Änn", f"Annual {MASK}"),
    ],
)
def test_words_are_covered_in_each_form_that_people_read_as_the_same(word: str, text: str, covered: str) -> None:
    cloak = TextRedaction([word])
    assert cloak.matches(text)
    assert cloak.mask(text) == covered


def test_a_word_that_nobody_sees_is_too_short() -> None:
    with pytest.raises(LabError, match="too short"):
        TextRedaction(["\u200b\u2060\u0301"])
    assert TextRedaction(["Mara"]).with_words(["\u200b\u2060\u0301"]).mask("x Mara") == f"x {MASK}"


@given(
    st.text(min_size=2, max_size=12).filter(is_coverable),
    st.text(),
)
def test_what_was_covered_does_not_stand_there_any_more(word: str, around: str) -> None:
    cloak = TextRedaction([word])
    assert not cloak.matches(cloak.mask(f"{around}{word}{around}"))


def test_structs_are_covered_as_deep_as_they_go_and_stay_what_they_are() -> None:
    cloak = TextRedaction(["click", "Mara"])
    action = Action("click", text="click Mara", raw={"Mara": [{"kind": "click"}]})
    covered = cloak.cover(action)
    assert (covered.kind, covered.text) == ("click", f"{MASK} {MASK}")
    assert covered.raw == {MASK: [{"kind": MASK}]}
    assert cloak.cover(Actor("human", "Mara", "Mara")) == Actor("human", "Mara", MASK)
    same = Action("wait", ms=3)
    assert cloak.cover(same) is same
    assert cloak.count == 5


def test_what_lies_under_a_box_shares_a_good_part_with_it() -> None:
    row = Node(Bounds(0, 0, 100, 20), "row")
    assert is_under_boxes(row, [Bounds(40, 5, 60, 15)])
    assert is_under_boxes(row, [Bounds(0, 0, 500, 500)])
    assert not is_under_boxes(row, [Bounds(0, 19, 100, 200)])
    tree = UiTree((Node(Bounds(0, 0, 500, 500), children=(row, Node(Bounds(0, 300, 100, 320), "far"))),))
    assert texts_under(tree, [Bounds(0, 0, 100, 20)]) == ["row"]


def seeing(*texts: str, persona: Persona | None = None) -> Trace:
    """A demonstration on whose first screen these texts stand."""
    events = list(demonstration().events)
    first = events[0]
    assert isinstance(first, Started)
    task = Task("t", "general", instruction="Do it.")
    events[0] = msgspec.structs.replace(first, task=task, persona=persona)
    tree = UiTree(tuple(Node(Bounds(0, 0, 9, 9), text) for text in texts))
    trace = fold(events)
    step = trace.steps[0]
    step = msgspec.structs.replace(step, before=msgspec.structs.replace(step.before, tree=tree))
    proposed = msgspec.structs.replace(step.proposed, instruction="")
    return msgspec.structs.replace(trace, steps=(msgspec.structs.replace(step, proposed=proposed),), ended=None)


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("write to a.b+c@mail.example.org now", "e-mail"),
        ("call +44 20 7946 0018", "phone"),
        ("(020) 7946-0018", "phone"),
        ("card 4111 1111 1111 1111", "card"),
        ("card 4111 1111 1111 1112", None),
        ("Your code is 481902", "code"),
        ("481902 people", None),
        ("2026-03-04 10:00", None),
        ("04.03.2026 10:00", None),
        ("$1,234,567.50", None),
        ("1080x2400", None),
        ("12:05", None),
        ("Lin's Bakery", "name"),
    ],
)
def test_what_looks_private(text: str, looks: str | None) -> None:
    persona = Persona("lin", "Lin", {"identity": {"nickname": "Bakery"}, "habits": {"shop": "Lin's"}})
    assert [one.looks for one in suspects(seeing(text, persona=persona))] == ([looks] if looks else [])
