"""Presets and plans: every paper's study needs no file, and a file that is wrong is refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.plan import Plan, differences, freeze, mark_pilot, plan_of, preset_named
from annotators.presets import presets
from annotators.protocols import protocol
from lab.cli.study.new import PRESETS
from lab.core.errors import LabError
from lab.core.study.study import Gold, Unit
from lab.core.task.task import Actor

NAMES = [
    "dac", "fingertip-guess", "fingertip-rating", "knowu-5a", "knowu-5b", "knowu-5c", "memgui-a7", "memgui-failures",
    "memgui-irr", "pspa-d2", "pspa-e1", "pspa-e3",
]  # fmt: skip
PEOPLE = ["R1", "R2", "R3", "R4"]
BY = Actor("human", "P1")


def plan(name: str = "pspa-e3", **given: object) -> Plan:
    return plan_of(name, {"raters": PEOPLE, **given})


def units(count: int) -> list[Unit]:
    return [Unit(f"u{at}", runs=(f"t{at}",)) for at in range(count)]


def test_every_paper_has_its_presets() -> None:
    assert presets() == NAMES == sorted(PRESETS)


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_is_a_whole_plan_but_for_who_and_what(name: str) -> None:
    made = plan(name)
    assert made.preset == made.name == name
    for asked in (made.protocol, *made.protocols.values()):
        if asked:
            assert protocol(asked).fields
    assert made.statistics
    assert set(made.blind) == {"people", "models", "method", "outcome", "raters"}


def test_presets_hold_what_was_settled_of_each_study() -> None:
    assert (plan().overlap, plan().pilot, plan().main, plan().protocol) == (3, 20, 100, "tdg")
    assert (plan("pspa-d2").overlap, plan("pspa-d2").repeats) == (3, 0.1)
    assert (plan("knowu-5a").overlap, plan("knowu-5a").protocol) == (4, "rubric")
    assert plan("knowu-5b").protocols == {
        "personalized": "failure-mode-knowu-personalized",
        "proactive": "failure-mode-knowu-proactive",
    }
    played = plan("knowu-5c")
    assert (played.conditions, played.overlap) == (("person, no mirror", "model"), 2)
    assert isinstance(played.consent, dict)
    assert set(played.consent) == {"en", "zh"}
    assert (plan("fingertip-guess").overlap, plan("fingertip-guess").shared) == ("all", 0.0909)
    assert (plan("fingertip-rating").overlap, plan("fingertip-rating").repeats) == (1, 0.1)


def test_a_short_name_serves_where_it_is_one_presets_alone(tmp_path: Path) -> None:
    assert preset_named("5b") == "knowu-5b"
    assert plan("e3").preset == "pspa-e3"
    with pytest.raises(LabError, match="is none of dac, fingertip-guess"):
        preset_named("e")
    with pytest.raises(LabError, match="is none of"):
        preset_named("")


def test_a_protocols_name_is_a_plan_too() -> None:
    made = plan("success")
    assert (made.name, made.preset, made.protocol, made.overlap) == ("success", "", "success", None)
    assert freeze(made, "success", protocol("success"), units(2), BY, "").overlap == 2


# -- the pilot -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "pilot"), [(120, 20), (200, 20), (60, 10), (12, 2), (5, 1), (2, 0)])
def test_a_small_sample_has_a_pilot_in_proportion_and_is_told(count: int, pilot: int) -> None:
    made, told = mark_pilot(plan(), units(count), exact=False)
    assert sum(unit.pilot for unit in made) == pilot
    assert [unit.id for unit in made] == [unit.id for unit in units(count)]
    assert told == ([] if count >= 120 else [f"pilot: {pilot} of {count}, in proportion to 20 of 120"])


def test_a_pilot_that_was_asked_for_is_exact() -> None:
    assert sum(unit.pilot for unit in mark_pilot(plan(pilot=3), units(5), exact=True).units) == 3
    assert not any(unit.pilot for unit in mark_pilot(plan(pilot=0), units(5), exact=True).units)
    with pytest.raises(LabError, match="5 of 5 leaves nothing to rate after it"):
        mark_pilot(plan(pilot=5), units(5), exact=True)


def test_what_has_gold_is_the_pilot_and_what_a_rule_answers_never() -> None:
    some = [*units(6), Unit("gold", gold=(Gold("", "f", "x"),)), Unit("rule", mechanical=(Gold("", "f", "x"),))]
    made = mark_pilot(plan(), some, exact=False).units
    assert [unit.id for unit in made if unit.pilot or unit.gold] == ["gold"]
    made = mark_pilot(plan(pilot=6), some, exact=True).units
    chosen = {unit.id for unit in made if unit.pilot or unit.gold}
    assert len(chosen) == 6
    assert "gold" in chosen
    assert "rule" not in chosen


def test_a_pilot_takes_whole_runs() -> None:
    some = [Unit(f"{run}-{step}", runs=(run,), step=step) for run in "abcd" for step in range(3)]
    made = mark_pilot(plan(pilot=4), some, exact=True).units
    runs = [unit.runs[0] for unit in made if unit.pilot]
    assert sorted(runs) == sorted(run for run in set(runs) for _ in range(3))


def test_a_bar_without_gold_holds_nobody_and_that_is_told() -> None:
    assert any("nobody is held" in line for line in mark_pilot(plan(bar=0.8), units(9), exact=False).messages)
    some = [*units(6), Unit("gold", gold=(Gold("", "f", "x"),))]
    assert mark_pilot(plan(bar=0.8), some, exact=False).messages == []


# -- files -----------------------------------------------------------------------------------------------------


def written(folder: Path, text: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(text)
    return str(path)


def test_a_file_begins_from_a_preset_and_names_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "consent.txt").write_text("You may stop.\n")
    text = "preset: knowu-5c\noverlap: 1\nraters: [a, b]\nconsent: consent.txt\ngold: g.jsonl\n"
    text += "tasks: [usual_lunch, t.yaml]"
    made = plan_of(written(tmp_path, text), {"seed": 4})
    assert (made.preset, made.name, made.overlap, made.seed) == ("knowu-5c", "knowu-5c", 1, 4)
    assert made.conditions == ("person, no mirror", "model")
    assert made.consent == {"en": "You may stop."}
    assert made.gold == str(tmp_path / "g.jsonl")
    assert made.tasks == ("usual_lunch", str(tmp_path / "t.yaml"))


def test_a_file_without_a_preset_is_named_after_itself(tmp_path: Path) -> None:
    made = plan_of(written(tmp_path, "protocol: success\nraters: [a]"), {})
    assert (made.name, made.protocol) == ("mine", "success")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("protocol: success\nraters: [a]\noverlap: lots", "field overlap"),
        ("protocol: success\nraters: [a]\nratres: [b]", "field ratres: there is none of that name"),
        ("protocol: success", "field raters: there is none"),
        ("raters: [a]", "field protocol: there is none"),
        ("protocol: success\nprotocols: {proactive: success}\nraters: [a]", "field protocols: beside protocol"),
        ("protocol: success\nraters: [a, b c]", "field raters: 'b c' is no study code"),
        ("protocol: success\nraters: [ann@mail.org]", "field raters: 'ann@mail.org' is no study code"),
        ("protocol: success\nname: ../x\nraters: [a]", "field name: '../x' is no study code"),
        ("protocol: success\nraters: [a]\noverlap: 2", "field overlap: 2 is not from 1 to 1, the number of raters"),
        ("protocol: success\nraters: [a]\nbar: 1.5", "field bar: 1.5 is no share"),
        ("protocol: success\nraters: [a]\npilot: -1", "field pilot: -1 is less than none"),
        ("protocol: success\nraters: [a]\nblind: [everything]", "field blind"),
        ("protocol: success\nraters: [a]\nstatistics: [kapa]", "field statistics: 'kapa' is none of percent"),
        ("protocol: success\nraters: [a]\nsteps: 0", "field steps: 0 is less than one"),
        ("preset: nope\nraters: [a]", "'nope' is none of dac"),
        ("title: T\nfields: [{id: f, ask: A}]", "this is a protocol, no plan"),
        ("- a\n- b", "holds no mapping of fields"),
        ("tasks: 7\nprotocol: play\nraters: [a]", "field tasks"),
        ("tasks: [7]\nprotocol: play\nraters: [a]", "field tasks"),
        ("protocol: [\n", "plan file"),
    ],
)
def test_a_plan_that_is_wrong_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(LabError) as refused:
        plan_of(written(tmp_path, text), {})
    assert said in refused.value.sentence
    assert "\n" not in refused.value.sentence.strip()


def test_a_consent_file_that_holds_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text(" \n")
    with pytest.raises(LabError, match="holds no text"):
        plan(consent=str(tmp_path / "c.txt"))
    with pytest.raises(LabError, match="is not there"):
        plan(consent=str(tmp_path / "d.txt"))
    (tmp_path / "c.yaml").write_text("en: Yes?\nzh: 好吗？\n")
    assert plan(consent=str(tmp_path / "c.yaml")).consent == {"en": "Yes?", "zh": "好吗？"}


# -- freezing --------------------------------------------------------------------------------------------------


def test_the_hash_of_a_study_follows_all_that_is_in_it_but_who_froze_it_and_when() -> None:
    asked = protocol("tdg")
    first = freeze(plan(), "s", asked, units(3), BY, "2026-01-01T00:00:00.000000+00:00")
    again = freeze(plan(), "s", asked, units(3), Actor("human", "P2"), "2027-01-01T00:00:00.000000+00:00")
    assert first.sha == again.sha
    assert differences(first, again) == []
    others = {
        "seed 0 -> 1": freeze(plan(seed=1), "s", asked, units(3), BY, ""),
        "overlap 3 -> 2": freeze(plan(overlap=2), "s", asked, units(3), BY, ""),
        "units 3 -> 4": freeze(plan(), "s", asked, units(4), BY, ""),
        "other units": freeze(plan(), "s", asked, [*units(2), Unit("x")], BY, ""),
        "protocol tdg -> success": freeze(plan(), "s", protocol("success"), units(3), BY, ""),
        "consent": freeze(plan(consent={"en": "May we?"}), "s", asked, units(3), BY, ""),
        "bar none -> 0.8": freeze(plan(bar=0.8), "s", asked, units(3), BY, ""),
    }
    for said, other in others.items():
        assert other.sha != first.sha
        assert said in differences(first, other)


def test_a_guide_that_changed_alone_is_another_version() -> None:
    from msgspec.structs import replace

    asked = protocol("tdg")
    first = freeze(plan(), "s", asked, units(3), BY, "")
    other = freeze(plan(), "s", replace(asked, guide={"en": "Otherwise."}), units(3), BY, "")
    assert other.sha != first.sha
    assert differences(first, other) == ["guide"]


def test_people_read_a_title_in_their_language() -> None:
    asked = protocol("success")
    assert freeze(plan("success"), "s", asked, units(1), BY, "").title == asked.title
    assert freeze(plan("success", locale="zh-CN"), "s", asked, units(1), BY, "").title == asked.words["zh"]["title"]


def test_an_owner_who_is_no_rater_is_refused() -> None:
    with pytest.raises(LabError, match="'u7', whose unit x is, is not among them"):
        freeze(plan("fingertip-rating"), "s", protocol("personal-rating"), [Unit("x", owner="u7")], BY, "")
