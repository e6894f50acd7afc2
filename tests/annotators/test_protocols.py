"""The built-in protocols: all there, whole in two languages, with the papers' cases; versions follow from them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from annotators.protocol import check_protocol, load_protocol, untranslated
from annotators.protocols import protocol, protocols
from lab.core.errors import LabError
from lab.core.study.label import Label
from lab.core.study.label_rules import SheetState, check_next
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import Sheet
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.rating.scale_entry import largest_number, may_continue, parse_digits

NAMES = [
    "completion-rating", "decision-points", "demonstration", "disagreement-cause", "failure-mode-dac",
    "failure-mode-knowu-personalized", "failure-mode-knowu-proactive", "failure-mode-memgui", "golden-steps",
    "information-units", "intent-guess", "pairwise-runs", "pairwise-sets", "personal-rating", "play", "reply-support",
    "rubric", "same-intent", "step-correct", "success", "tdg",
]  # fmt: skip
FAILURES = {
    "failure-mode-memgui": [
        "execution_timeout", "intent_misunderstanding", "knowledge_deficiency", "process_memory_hallucination",
        "output_memory_hallucination", "partial_memory_hallucination", "other",
    ],
    "failure-mode-knowu-personalized": ["clarify", "preference", "partial", "gui"],
    "failure-mode-knowu-proactive": ["rejection", "intervention", "passive", "gui"],
    "failure-mode-dac": [
        "inconsistent_reasoning", "branch_ignored", "affordance", "off_screen", "localization", "termination", "other",
    ],
}  # fmt: skip
"""Each taxonomy in its order of precedence."""
CASES = [
    ("failure-mode-memgui", 7, "execution_timeout", "MyTestAudio|letter by letter"),
    ("failure-mode-memgui", 8, "partial_memory_hallucination", "143.92.*226.91"),
    ("failure-mode-memgui", 9, "process_memory_hallucination", "Joplin.*step 5"),
    ("failure-mode-memgui", 10, "output_memory_hallucination", "4 of the first and 7 of the second"),
    ("failure-mode-memgui", 11, "knowledge_deficiency", "N Calendar"),
    ("failure-mode-memgui", 12, "intent_misunderstanding", "English.*German"),
    ("failure-mode-memgui", 13, "other", "loading"),
    ("failure-mode-knowu-personalized", 10, "preference", "followers only"),
    ("failure-mode-knowu-personalized", 11, "clarify", "never asked"),
    ("failure-mode-knowu-personalized", 12, "partial", "shops in another"),
    ("failure-mode-knowu-personalized", 13, "gui", "24 times"),
    ("failure-mode-knowu-proactive", 14, "passive", "weather"),
    ("failure-mode-knowu-proactive", 15, "intervention", "without asking"),
    ("failure-mode-knowu-proactive", 16, "rejection", "blocked the number"),
    ("failure-mode-knowu-proactive", 17, "gui", "thirty days"),
]
"""The papers' figures, the mode that each of them shows, and words that it is known by."""


def test_every_protocol_is_there() -> None:
    assert list(protocols()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_protocol_is_whole_in_both_languages(name: str) -> None:
    one = protocol(name)
    assert one.id == name
    assert one.source
    assert set(one.guide) == {"en", "zh"}
    assert untranslated(one, "zh") == []
    assert untranslated(one, "fr")[0] == "guide"
    assert re.search("[\u4e00-\u9fff]", one.guideline("zh-Hans"))
    assert not re.search("[\u4e00-\u9fff]", one.guideline("en"))
    assert one.guideline("fr") == one.guideline("en")
    for key, words in one.words["zh"].items():
        assert re.search("[\u4e00-\u9fff]", words) or key.endswith((".A", ".B")), key


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_is_defined_and_one_digit_away(name: str) -> None:
    one = protocol(name)
    for field in one.fields:
        keys = [option.key for option in field.options if not option.by_rule]
        assert all(re.fullmatch("[1-9]", key) for key in keys)
        assert len(set(keys)) == len(keys)
        for option in field.options:
            earlier = one.field(field.after) if field.after else None
            assert option.means or (earlier is not None and earlier.option(option.id)), (field.id, option.id)
        if field.kind == "interval" and field.id != "steps":
            assert largest_number(field) <= 100


def test_a_translation_that_is_missing_is_named() -> None:
    one = protocol("tdg")
    words = {key: text for key, text in one.words["zh"].items() if key not in ("state", "state.completed.cases")}
    assert untranslated(replace(one, words={"zh": words}), "zh") == ["state", "state.completed.cases"]


@pytest.mark.parametrize(("name", "order"), FAILURES.items())
def test_failure_modes_stand_in_their_precedence(name: str, order: list[str]) -> None:
    one = protocol(name)
    primary, secondary = one.fields
    assert [option.id for option in primary.options] == order
    assert (primary.required, secondary.required, secondary.after) == (True, False, "primary")
    asked = [option.id for option in primary.options if not option.by_rule]
    assert [option.id for option in secondary.options] == asked[1:], "the first of all is never the second reason"
    for option in secondary.options:
        first = primary.option(option.id)
        assert first is not None
        assert (option.key, option.says) == (first.key, first.says), "one key and one name for one mode"
    assert one.only_failed
    assert "outcome" in one.shows
    assert "reason" not in one.shows, "a source's words may name the mode"


@pytest.mark.parametrize(("name", "figure", "mode", "words"), CASES)
def test_the_papers_cases_come_out_as_printed(name: str, figure: int, mode: str, words: str) -> None:
    one = protocol(name)
    field = one.fields[0]
    for locale, start, known in (("en", f"Figure {figure}.", words), ("zh", f"图 {figure}。", "")):
        held = {
            option.id: [case for case in one.cases(locale, field, option) if case.startswith(start)]
            for option in field.options
        }
        assert {id for id, cases in held.items() if cases} == {mode}
        (case,) = held[mode]
        assert re.search(known, case)
        option = field.option(mode)
        assert option is not None
        said = one.word(locale, f"{field.id}.{mode}", option.display_name)
        assert said in case, "the case says which answer comes out"


def test_what_raters_see_is_what_the_papers_say() -> None:
    def shows(name: str) -> set[str]:
        return set(protocol(name).shows)

    assert {"outcome", "reason"} <= shows("information-units")
    assert {"persona", "log", "outcome"} <= shows("failure-mode-knowu-personalized") & shows(
        "failure-mode-knowu-proactive"
    )
    assert "thoughts" in shows("failure-mode-dac")
    assert shows("intent-guess") == {"persona", "context", "log"}
    assert protocol("intent-guess").forward
    assert not {"rubric", "golden", "outcome", "reason"} & shows("completion-rating")
    assert "rubric" in shows("rubric")
    for name in NAMES:
        assert "method" not in shows(name)
        assert "outcome" not in shows(name) or name.startswith(("failure-mode", "information-units"))
        assert "thoughts" not in shows(name) or name in ("failure-mode-memgui", "failure-mode-dac", "demonstration")


def label(field: str, value: object, kind: str = "human") -> Label:
    rater = Actor(kind, "R1")  # type: ignore[arg-type]
    return Label(uuid7(), "s", 1, "u", "", field, rater, value=value, at=now())


def standing(one: Protocol, *labels: Label) -> SheetState:
    unit = Unit("u", runs=("r",))
    study = Study("s", 1, "S", one, ("R1",), 1, "")
    return SheetState(study, unit, Assignment("s", 1, "R1", 0, "u"), Sheet(one, unit, labels))


def test_a_timeout_is_set_by_a_rule_and_by_nobody_else() -> None:
    one = protocol("failure-mode-memgui")
    for kind in ("human", "model"):
        with pytest.raises(LabError, match="'execution_timeout' is set by a rule, and asked of nobody"):
            check_next(standing(one), label("primary", "execution_timeout", kind))
    check_next(standing(one), label("primary", "execution_timeout", "script"))
    assert one.fields[0].options[0].key == ""


def test_a_second_reason_comes_later_in_the_order() -> None:
    one = protocol("failure-mode-memgui")
    output = label("primary", "output_memory_hallucination")
    check_next(standing(one, output), label("secondary", "partial_memory_hallucination"))
    with pytest.raises(LabError, match="goes before"):
        check_next(standing(one, output), label("secondary", "knowledge_deficiency"))
    with pytest.raises(LabError, match="is the same as"):
        check_next(standing(one, output), label("secondary", "output_memory_hallucination"))


# -- versions --------------------------------------------------------------------------------------------------


def test_the_version_changes_with_all_that_is_asked_and_not_with_the_guideline() -> None:
    one = protocol("tdg")
    first, *rest = one.fields
    option, *others = first.options
    changed = [
        replace(one, title="Other"),
        replace(one, shows=(*one.shows, "thoughts")),
        replace(one, only_failed=True),
        replace(one, fields=(replace(first, ask="Other?"), *rest)),
        replace(one, fields=(replace(first, required=False), *rest)),
        replace(one, fields=(replace(first, options=(*others, option)), *rest)),
        replace(one, fields=(replace(first, options=(replace(option, means="Other."), *others)), *rest)),
        replace(one, fields=(replace(first, options=(replace(option, key="7"), *others)), *rest)),
        replace(one, words={"zh": {**one.words["zh"], "state": "别的？"}}),
    ]
    shas = [one.sha, *(other.sha for other in changed)]
    assert len(set(shas)) == len(shas)
    guided = replace(one, guide={**one.guide, "en": one.guide["en"] + " More."})
    assert guided.sha == one.sha
    assert guided.guide_sha("en") != one.guide_sha("en")
    assert guided.guide_sha("zh") == one.guide_sha("zh")


def test_the_version_is_the_same_in_another_file_of_the_same_words(tmp_path: Path) -> None:
    here = Path(__file__).parents[2] / "annotators" / "protocols" / "success.yaml"
    there = tmp_path / "success.yaml"
    there.write_text("# a remark\n" + here.read_text(encoding="utf-8"), encoding="utf-8")
    assert load_protocol(there).sha == protocol("success").sha


def test_a_name_that_is_not_there_names_what_is_near(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="did you mean success"):
        protocol("sucess")
    with pytest.raises(LabError, match="is not there"):
        protocol("mine.yaml")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tdg").write_text("no protocol", encoding="utf-8")
    assert protocol("tdg").id == "tdg", "a stray file of that name changes nothing"


# -- numbers as they read ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "id"), [("completion-rating", "completion"), ("rubric", "score")])
def test_every_step_of_a_scale_is_typed_as_it_reads(name: str, id: str) -> None:
    field = protocol(name).field(id)
    assert field is not None
    assert field.least is not None
    assert field.most is not None
    assert field.step is not None
    reached = {parse_digits(field, str(n)) for n in range(-1, 200)}
    every = {round(field.least + field.step * n, 9) for n in range(round((field.most - field.least) / field.step) + 1)}
    assert reached - {None} == every
    for typing in map(str, range(101)):  # two keys reach all but 10 and 100, and what goes on is ended by Enter
        assert len(typing) + may_continue(field, typing) <= (3 if typing in ("10", "100") else 2)


def test_typed_digits_are_hundredths_below_one() -> None:
    score, completion = protocol("rubric").field("score"), protocol("completion-rating").field("completion")
    assert score is not None
    assert completion is not None
    assert [parse_digits(score, text) for text in ("85", "05", "0", "00", "5", "83", "x", "", "²")] == [
        0.85, 0.05, 0.0, 0.0, 0.05, None, None, None, None
    ]  # fmt: skip
    assert [parse_digits(completion, text) for text in ("85", "07", "0", "00", "100", "101")] == [
        85,
        7,
        0,
        0,
        100,
        None,
    ]
    five = Field("f", "?", "interval", least=1, most=5, step=1)
    assert (parse_digits(five, "5"), parse_digits(five, "6"), parse_digits(five, "0"), parse_digits(five, "05")) == (
        5,
        None,
        None,
        None,
    )
    assert not any(may_continue(five, digit) for digit in "0123456789")


def test_ratings_are_numbers_in_order_so_that_statistics_can_take_them() -> None:
    ratings = [(one.id, field) for one in protocols().values() for field in one.fields if field.kind == "ordinal"]
    assert {id for id, _ in ratings} == {"personal-rating", "play"}
    for id, field in ratings:
        numbers = [float(option.id) for option in field.options]
        assert numbers == [1, 2, 3, 4, 5], f"{id}.{field.id}"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"unit": "run"}, "names of a pair of texts"),
        ({"sides": ("One",)}, "there are two"),
        ({"sides": ("One", " ")}, "neither is empty"),
        ({"words": {"zh": {"sides.C": "x"}}}, "'sides.C' is nothing that this protocol says"),
    ],
)
def test_names_of_sides_that_are_wrong(change: dict[str, object], words: str) -> None:
    with pytest.raises(LabError, match=re.escape(words)):
        check_protocol(replace(protocol("same-intent"), **change), "protocol file x")
