"""A protocol of one's own: what is wrong with it is said in one sentence, which names the file and the field."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from annotators.protocol import load_protocol, untranslated
from annotators.protocols import protocol
from lab.core.errors import LabError

CHOICE: dict[str, Any] = {"id": "a", "ask": "A?", "kind": "nominal", "options": [{"id": "x"}, {"id": "y"}]}
FLAG: dict[str, Any] = {"id": "f", "ask": "F?", "kind": "flag"}
SCALE: dict[str, Any] = {"id": "s", "ask": "S?", "kind": "interval", "least": 0, "most": 1, "step": 0.25}
TEXT: dict[str, Any] = {"id": "t", "ask": "T?", "kind": "text"}


MANY: dict[str, Any] = {**CHOICE, "id": "m", "kind": "many", "options": [{"id": "x"}, {"id": "y"}, {"id": "z"}]}


def fields(*given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"title": "Mine", "unit": "run", "fields": list(given), **more}


def options(*given: dict[str, Any]) -> dict[str, Any]:
    return fields({**CHOICE, "options": list(given)})


def write(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(value if isinstance(value, str) else yaml.safe_dump(value, allow_unicode=True), encoding="utf-8")
    return path


def test_a_file_of_ones_own_is_a_protocol(tmp_path: Path) -> None:
    value = fields(
        CHOICE,
        {**CHOICE, "id": "b", "after": "a", "required": False},
        {**FLAG, "show_if": "a=x,y", "key": "9"},
        {**TEXT, "show_if": "f=True"},
        SCALE,
        guide={"en": "Do.", "pt-BR": "Faça."},
        words={"de": {"title": "Meins", "a": "A?", "a.x": "x", "a.x.means": "..", "a.x.cases": "1\n2", "t.hint": ""}},
    )
    one = protocol(str(write(tmp_path, value)))
    assert one.id == "mine"
    assert [option.key for option in one.fields[0].options] == ["1", "2"]
    assert one.cases("de", one.fields[0], one.fields[0].options[0]) == ("1", "2")
    assert one.guideline("pt-BR") == "Faça."


def test_a_field_of_many_options_is_a_field(tmp_path: Path) -> None:
    value = fields(
        MANY, {**MANY, "id": "n", "least": 1, "most": 2}, {**TEXT, "show_if": "m=x,none"}, {**FLAG, "show_if": "n=z"},
    )  # fmt: skip
    one = protocol(str(write(tmp_path, value)))
    assert [option.key for option in one.fields[0].options] == ["1", "2", "3"]
    assert (one.fields[1].least, one.fields[1].most) == (1, 2)


WRONG: list[tuple[Any, str]] = [
    (fields({**MANY, "options": []}), "field fields.m.options: a choice is between two or more"),
    (fields({**MANY, "options": []}, targets="branches"), "field fields.m.options: a choice is between two or more"),
    (fields({**MANY, "options": [{"id": "x"}, {"id": "none"}]}), "field fields.m.options: 'none' is how no option"),
    (fields({**MANY, "most": 4}), "field fields.m: least and most are numbers of its 3 options, and 4 is not"),
    (fields({**MANY, "least": 0.5}), "field fields.m: least and most are numbers of its 3 options, and 0.5 is not"),
    (fields({**MANY, "least": 3, "most": 2}), "field fields.m: least is above most"),
    (fields({**MANY, "most": 0}), "field fields.m: least is above most, or most is 0"),
    (fields({**MANY, "step": 1}), "field fields.m: least, most and step belong to intervals"),
    (fields(CHOICE, {**MANY, "after": "a"}), "field fields.m: a field of kind many has no sides or precedence"),
    (fields(MANY, {**CHOICE, "after": "m"}), "field fields.a.after: 'm' is of kind many, which has no order"),
    (fields(MANY, {**TEXT, "show_if": "m=w"}), "field fields.t.show_if: 'w' is none of x, y, z, none"),
    ("- a list", "holds no mapping of fields"),
    ("a: [", "is not YAML"),
    (fields(CHOICE, id="My Own"), "field id: 'My Own' is not small letters and digits, joined by - or _"),
    (fields(CHOICE, title=" "), "field title: is empty"),
    (fields(), "field fields: there is none"),
    (fields(CHOICE, colour="red"), "field colour: there is none of that name"),
    (fields(CHOICE, unit="walk"), "field unit: 'walk' is none of"),
    (fields(CHOICE, shows=["persona", "secrets"]), "field shows[1]: 'secrets' is none of"),
    (fields(CHOICE, shows=["log", "log"]), "field shows: 'log' is there twice"),
    (fields(CHOICE, CHOICE), "field fields: 'a' is there twice"),
    (fields({**CHOICE, "id": "A b"}), "field fields.A b: the id 'A b' is not small letters"),
    (fields({**CHOICE, "ask": ""}), "field fields.a.ask: is empty"),
    (fields({**CHOICE, "kind": "choice"}), "field fields[0].kind: 'choice' is none of"),
    (fields(CHOICE, targets="tdg nodes", unit="task"), "field targets: a task has no tdg nodes; a run has"),
    (
        fields({**CHOICE, "per": "unit"}, targets="criteria"),
        "field targets: no field is asked of each of the criteria",
    ),
    (fields(CHOICE, only_failed=True, unit="step"), "field only_failed: is said of runs"),
    (fields(CHOICE, reference=True, unit="task"), "field reference: is said of runs"),
    (options(), "field fields.a.options: a choice is between two or more"),
    (options({"id": "x"}, {"id": "y", "by_rule": True}), "field fields.a.options: a choice is between two or more"),
    (options({"id": "x"}, {"id": "x"}), "field fields.a.options: 'x' is there twice"),
    (options({"id": "x.y"}, {"id": "z"}), "field fields.a.options: the id 'x.y' is not letters and digits"),
    (options({"id": "x", "key": "5"}, {"id": "y", "key": "5"}), "field fields.a.options, a key: '5' is there twice"),
    (options({"id": "x", "key": "2"}, {"id": "y"}), "field fields.a.options, a key: '2' is there twice"),
    (options({"id": "x", "key": "10"}, {"id": "y"}), "field fields.a.options.x.key: '10' is not one key"),
    (options({"id": "x", "key": " "}, {"id": "y"}), "field fields.a.options.x.key: ' ' is not one key"),
    (
        options({"id": "x"}, {"id": "y"}, {"id": "z", "by_rule": True, "key": "3"}),
        "field fields.a.options.z.key: nobody is asked for it, so it has none",
    ),
    (
        options(*({"id": f"o{n}"} for n in range(10))),
        "field fields.a.options: there are 10; more than 9 need a key each",
    ),
    (fields({**TEXT, "options": CHOICE["options"]}), "field fields.t: a field of kind text has no options"),
    (fields({**CHOICE, "sided": True}), "field fields.a.sided: needs a pair, and options A and B"),
    (fields({**CHOICE, "sided": True}, unit="pair of runs"), "field fields.a.sided: needs a pair, and options A and B"),
    (fields({**CHOICE, "key": "ab"}), "field fields.a.key: 'ab' is not one key"),
    (fields(CHOICE, {**FLAG, "key": "2"}), "field fields.f.key: '2' is taken by 'a'"),
    (fields({**TEXT, "key": "5"}, {**FLAG, "key": "5"}), "field fields.t.key: '5' is taken by 'f'"),
    (fields({**CHOICE, "show_if": "b=x"}), "field fields.a.show_if: there is no field 'b' before it"),
    (fields({**TEXT, "show_if": "a=x"}, CHOICE), "field fields.t.show_if: there is no field 'a' before it"),
    (fields(CHOICE, {**TEXT, "show_if": "a"}), "field fields.t.show_if: 'a' is not FIELD=value,value"),
    (fields(CHOICE, {**TEXT, "show_if": "a=x,"}), "field fields.t.show_if: 'a=x,' is not FIELD=value,value"),
    (fields(CHOICE, {**TEXT, "show_if": "a=x,z"}), "field fields.t.show_if: 'z' is none of x, y"),
    (fields(FLAG, {**TEXT, "show_if": "f=true"}), "field fields.t.show_if: 'true' is none of True, False"),
    (fields(SCALE, {**TEXT, "show_if": "s=1"}), "field fields.t.show_if: 's' is of kind interval, which has no values"),
    (
        fields(CHOICE, {**TEXT, "show_if": "a=x", "per": "unit"}, targets="steps"),
        "field fields.t.show_if: 'a' is asked of each target, and this of the whole",
    ),
    (fields(CHOICE, {**CHOICE, "id": "b", "after": "c"}), "field fields.b.after: there is no field 'c' before it"),
    (fields(SCALE, {**CHOICE, "after": "s"}), "field fields.a.after: 's' is of kind interval, which has no order"),
    (
        fields(CHOICE, {**CHOICE, "id": "b", "after": "a", "options": [{"id": "x"}, {"id": "z"}]}),
        "field fields.b.after: 'z' is no option of 'a', so nothing says what it comes after",
    ),
    (
        fields(CHOICE, {**CHOICE, "id": "b", "after": "a", "options": [{"id": "y"}, {"id": "x"}]}),
        "field fields.b.after: the options stand in another order than those of 'a'",
    ),
    (
        fields(CHOICE, {**CHOICE, "id": "b", "after": "a", "per": "unit"}, targets="steps"),
        "field fields.b.after: 'a' is not asked of the same thing",
    ),
    (fields({**SCALE, "most": None}), "field fields.s: an interval needs least and most"),
    (fields({**SCALE, "least": 1}), "field fields.s: least 1 is not below most 1"),
    (fields({**SCALE, "step": 0.3}), "field fields.s.step: 0.3 does not lead from 0 to 1"),
    (fields({**SCALE, "step": -1}), "field fields.s.step: -1 does not lead from 0 to 1"),
    (fields({**SCALE, "step": 2}), "field fields.s.step: 2 does not lead from 0 to 1"),
    (fields({**FLAG, "least": 0}), "field fields.f: least, most and step belong to intervals"),
    (
        fields({"id": "b", "ask": "B?", "kind": "box"}, shows=["actions"]),
        "field fields.b: a box is drawn on a screen, and this protocol shows none",
    ),
    (fields({"id": "b", "ask": "B?", "kind": "box"}, unit="question"), "field fields.b: a box is drawn on a screen"),
    (fields({"id": "b", "ask": "B?", "kind": "step"}, unit="task"), "field fields.b: a task has no steps"),
    (fields({**CHOICE, "evidence": True}, unit="task"), "field fields.a.evidence: a task has no steps to point at"),
    (fields(CHOICE, words={"zh": {"b": "B"}}), "field words.zh: 'b' is nothing that this protocol says"),
    (fields(CHOICE, words={"zh": {"a.z": "Z"}}), "field words.zh: 'a.z' is nothing that this protocol says"),
    (fields(CHOICE, words={"Chinese!": {}}), "field words: 'Chinese!' is no locale, such as en or zh-Hans"),
    (fields(CHOICE, guide={"": "Do."}), "field guide: '' is no locale"),
]


@pytest.mark.parametrize(("value", "sentence"), WRONG)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path: Path, value: Any, sentence: str) -> None:
    path = write(tmp_path, value)
    with pytest.raises(LabError) as told:
        load_protocol(path)
    assert told.value.title == f"protocol file {path}"
    assert told.value.message.startswith(sentence)
    assert "\n" not in told.value.sentence


def test_decisions_alone_have_their_own_options(tmp_path: Path) -> None:
    bare = {"id": "taken", "ask": "Which?", "kind": "nominal"}
    assert load_protocol(write(tmp_path, fields(bare, targets="branches"))).fields[0].options == ()


def test_the_guides_example_of_many_options_is_a_protocol(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "annotators.md").read_text("utf-8")
    [text] = re.findall(r"^```yaml\n(title: What went wrong.*?)^```", guide, re.MULTILINE | re.DOTALL)
    one = protocol(str(write(tmp_path, text)))
    assert (one.fields[0].kind, one.fields[0].most) == ("many", 3)
    assert one.fields[1].is_asked_for(["clarify", "stuck"])
    assert one.reason_words("zh")["slip"] == "一名标注者的疏忽"
    assert one.reason_words("en")["unseen"] == "It happens on a screen that one rater passed by"
    assert untranslated(one, "zh")


@pytest.mark.parametrize(
    ("reasons", "sentence"),
    [
        ([{"id": "a b"}], "field reasons: the id 'a b' is not letters and digits"),
        ([{"id": "a"}, {"id": "a"}], "field reasons: 'a' is there twice"),
        ([{"id": "a", "says": "x"}, {"id": "b", "says": "x"}], "field reasons: 'x' is there twice"),
        ([{"id": "a", "says": "x\ny"}], "field reasons.a.says: is not one line of words"),
        ([{"id": f"r{at}"} for at in range(10)], "field reasons: there are 10; 9 have a digit each"),
    ],
)
def test_wrong_reasons_are_refused(tmp_path: Path, reasons: list[dict[str, str]], sentence: str) -> None:
    with pytest.raises(LabError) as told:
        load_protocol(write(tmp_path, fields(CHOICE, reasons=reasons)))
    assert told.value.message.startswith(sentence)
