"""Tasks and personas: KnowU-Bench's own files load as they are; a wrong file gets a sentence naming its field."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.task.task import Tdg, TdgNode, load_log, load_persona, load_task

TRACES = Path(__file__).parents[3].parent / "shared" / "traces"
KNOWU = TRACES / "knowu"
needs_knowu = pytest.mark.skipif(not KNOWU.is_dir(), reason="KnowU-Bench's profiles in ../shared/traces are not here")

TASK = """
kind: general
instruction: Set an alarm for 18:00.
time: 2025-11-21T08:00:00+08:00
budget: 12
tdg:
  nodes:
    - {id: a, name: open}
    - {id: b, name: choose, kind: flexible, requires: [a]}
  edges: [[a, b]]
checks:
  - {name: set, path: apps.clock.alarms, count: 1}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "alarm.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_task_file_loads_and_is_named_after_itself(tmp_path: Path) -> None:
    task = load_task(write(tmp_path, TASK))
    assert task.id == "alarm"
    assert task.time == "2025-11-21T08:00:00+08:00"
    assert [node.id for node in task.tdg.walk()] == ["a", "b"]


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("instruction:", "instrution:", "instrution"),
        ("kind: general", "kind: generall", "kind"),
        ("budget: 12", "budget: 12\nrule_weight: 1.5", "rule_weight"),
        ("budget: 12", "budget: 12\nrule_weight: -0.5", "rule_weight"),
        ("kind: general", "kind: proactive", "instruction"),
        ("instruction: Set an alarm for 18:00.", "", "instruction"),
        ("budget: 12", "budget: many", "budget"),
        ("budget: 12", "budget: 0", "budget"),
        ("count: 1", "cuont: 1", "cuont"),
        (", count: 1", "", "checks"),
        ("path: apps.clock.alarms, ", "", "checks"),
        ("requires: [a]", "requires: [c]", "'c'"),
        ("[[a, b]]", "[[a, z]]", "'z'"),
        ("[[a, b]]", "[[b, a]]", "circle"),
        ("id: b", "id: a", "twice"),
        ("kind: general", "kind: [", "YAML"),
    ],
)
def test_a_wrong_task_file_gets_one_sentence_naming_file_and_field(
    tmp_path: Path, old: str, new: str, named: str
) -> None:
    path = write(tmp_path, TASK.replace(old, new, 1))
    with pytest.raises(LabError) as caught:
        load_task(path)
    assert str(path) in caught.value.sentence
    assert named in caught.value.sentence
    assert "\n" not in caught.value.sentence


def test_a_task_file_that_is_a_list_or_missing_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="mapping"):
        load_task(write(tmp_path, "- a\n"))
    with pytest.raises(LabError, match="is not there"):
        load_task(tmp_path / "none.yaml")


def test_alternatives_belong_to_the_graph() -> None:
    inner = TdgNode("c", "by voice")
    node = TdgNode("b", "choose", alternatives=((TdgNode("d", "by hand"),), (inner,)))
    tdg = Tdg((TdgNode("a", "open"), node), (("a", "b"),))
    tdg.check("task")
    assert [n.id for n in tdg.walk()] == ["a", "b", "d", "c"]
    with pytest.raises(LabError, match="twice"):
        Tdg((*tdg.nodes, TdgNode("c", "again"))).check("task")


@needs_knowu
@pytest.mark.parametrize("name", ["user", "student", "developer", "grandma"])
def test_knowus_own_profiles_and_logs_load(name: str) -> None:
    profile = KNOWU / "user_profile" / f"{name}.yaml"
    persona = load_persona(profile, source="clean")
    assert persona.id == name
    assert {"identity", "habits", "preferences"} <= set(persona.facts)
    noisy = load_persona(profile, source="noise")
    assert len(noisy.log) > len(persona.log) > 0
    assert {entry.label for entry in noisy.log} == {"signal", "noise"}
    assert all(entry.label not in entry.exposed.split(")")[0] for entry in noisy.log)
    assert load_persona(profile).log == ()


@needs_knowu
def test_the_counts_of_knowus_logs() -> None:
    counts = {path.stem: len(load_log(path)) for path in (KNOWU / "user_logs").glob("*.json")}
    assert counts["user"] == 159
    assert counts["user_noise_25pct"] == 212
    assert counts["grandma_noise_25pct"] == 224


@pytest.mark.parametrize(
    ("text", "named"),
    [("{{{", "YAML"), ("name: x", "user_profile"), ("user_profile: {habits: {}}", "identity"), ("- 1", "user_profile")],
)
def test_a_persona_that_is_none_gets_a_sentence(tmp_path: Path, text: str, named: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(LabError, match=named) as caught:
        load_persona(path)
    assert str(path) in caught.value.sentence


def test_a_missing_log_says_where_it_was_looked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "user_profile: {identity: {full_name: Lin}}")
    assert load_persona(path).name == "Lin"
    with pytest.raises(LabError, match=r"log_noise\.json"):
        load_persona(path, source="noise")
