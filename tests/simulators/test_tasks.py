"""The built-in tasks, played whole: as they are, refused, answered wrongly, and in worlds that a seed has changed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from annotators.papers.pspa.tdg import first_path
from lab.core.codec import encode
from lab.core.run.step import Action, Decision, Proposed
from lab.core.run.trace import Step
from lab.core.task import task_checks as checks
from lab.core.task.task import Task, check_task
from lab.studies.designing.design_checks import check_sound
from lab.studies.designing.design_drafts import task_design
from simulators import library, task_variation
from simulators.phone.installed import APPS
from tests.crossed import crossed, each_once, spread
from tests.simulators.playing import Spy, first_state, fitting, persona, play, playing, task_named

ROOT = Path(__file__).parents[2]
TASKS = sorted(library.tasks())
SCRIPTS = sorted(library.scripts())
REFUSING = [name for name in SCRIPTS if name.endswith(".refuse")]
WRONG = [name for name in SCRIPTS if "." in name and name not in REFUSING]
PERSONAS = sorted(library.personas())
MIRRORS = [("mail_to_calendar", "calendar_to_mail"), ("choir_weekend", "sawmill_trip")]


def silent(task: Task) -> bool:
    return any(check.run == "silent" for check in task.checks)


# -- what there is --------------------------------------------------------------------------------------------


def test_there_are_eight_of_each_kind_and_some_end_in_silence_or_refusal() -> None:
    tasks = [task_named(name) for name in TASKS]
    kinds = Counter(task.kind for task in tasks)
    assert min(kinds[kind] for kind in ("general", "personalized", "proactive")) >= 8
    assert sum(map(silent, tasks)) >= 3
    refused = [task for task in tasks if task.kind == "proactive" and fitting(task.id).replied("reject")]
    assert len(refused) >= 2
    assert {task.persona for task in tasks} == set(PERSONAS)
    assert len(PERSONAS) >= 4


def test_no_check_says_that_what_the_person_wants_is_what_they_answered() -> None:
    names = [check.name for name in TASKS for check in task_named(name).checks if not check.run]
    assert not [name for name in names if re.search(r"(she|he) (answered|said)", name)], "a person may answer otherwise"


@pytest.mark.parametrize("name", [name for name in TASKS if task_named(name).kind == "personalized"])
def test_the_weight_of_rules_is_the_share_of_what_does_not_depend_on_the_person(name: str) -> None:
    task = task_named(name)
    path = first_path(task.tdg)
    flexible = sum(node.kind == "flexible" for node in task.tdg.walk() if node.id in path)
    assert task.rubric.criteria
    assert task.rule_weight == pytest.approx(1 - flexible / len(path), abs=0.026), "rounded to a twentieth"


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_whole(name: str) -> None:
    task = task_named(name)
    check_task(task, name)
    assert task.persona in PERSONAS
    assert task.title
    assert task.policy
    assert task.golden
    assert len(task.golden) <= task.budget
    assert task.tdg.nodes
    assert task.tdg.edges
    assert task.rubric.criteria
    assert task.checks
    assert task.units
    assert task.apps
    assert set(task.apps) <= {app.label for app in APPS.values()}
    assert library.script(name).persona == task.persona
    check_sound(task_design(task), name, task.apps)


def test_the_shapes_of_the_field_are_there() -> None:
    tasks = [task_named(name) for name in TASKS]
    assert sum(any(node.alternatives for node in task.tdg.walk()) for task in tasks) >= 8
    assert any(branch.depth == 2 for task in tasks for branch in task.branches)
    assert any(branch.depth == 1 for task in tasks for branch in task.branches)
    carried = {len({app for unit in task.units for app in (unit.source, unit.used)} & set(task.apps)) for task in tasks}
    assert {2, 3, 4} <= carried
    assert any(not unit.explicit for task in tasks for unit in task.units)
    assert all(any(node.kind == "flexible" for node in t.tdg.walk()) for t in tasks if t.kind == "personalized")


@pytest.mark.parametrize("pair", MIRRORS, ids="+".join)
def test_a_mirror_pair_asks_the_like_of_other_facts(pair: tuple[str, str]) -> None:
    one, other = map(task_named, pair)
    assert set(one.apps) == set(other.apps)
    assert len(one.units) == len(other.units)
    assert not {unit.value for unit in one.units} & {unit.value for unit in other.units}


# -- played ---------------------------------------------------------------------------------------------------


@crossed
@pytest.mark.parametrize(
    ("name", "source"), [*((name, "noise") for name in TASKS), *((name, "clean") for name in spread(TASKS, 4))]
)
def test_the_fitting_script_passes_every_check(name: str, source: str) -> None:
    played = fitting(name, seed=0 if source == "noise" else 7, source=source)
    assert played.ended.status == "completed", played.told()
    assert played.ended.score == 1.0, played.told()
    assert not silent(task_named(name)) or not any(step.question for step in played.steps)


@crossed
@pytest.mark.parametrize(("name", "vary"), spread(each_once(TASKS, [3, 11]), 6))
def test_with_names_prices_and_menus_changed_it_still_passes(name: str, vary: int) -> None:
    task = task_named(name)
    world = task_variation.world(vary)
    assert encode(world.task(task)) != encode(task)
    played = fitting(name, seed=vary, vary=vary)
    assert played.ended.score == 1.0, played.told()


@pytest.mark.parametrize("name", REFUSING)
def test_after_a_refusal_nothing_is_done(name: str) -> None:
    played = fitting(name.partition(".")[0], name)
    refused = next(i for i, step in enumerate(played.steps) if step.reply and step.reply.decision == "reject")
    assert [step.proposed.action.kind for step in played.steps[refused + 1 :]] == ["status"], played.told()
    assert played.ended.score == 1.0, played.told()


@pytest.mark.parametrize("name", WRONG)
def test_with_a_wrong_reply_the_checks_fail(name: str) -> None:
    played = fitting(name.partition(".")[0], name)
    assert played.ended.score is not None
    assert played.ended.score < 1.0, played.told()


def test_every_task_that_asks_is_refused_and_answered_wrongly_too() -> None:
    asking = {name for name in TASKS if any(step.question for step in fitting(name).steps)}
    assert asking == {name.partition(".")[0] for name in REFUSING} | {
        name for name in asking if fitting(name).replied("reject")
    }
    personal = {name for name in asking if task_named(name).kind == "personalized"}
    assert personal <= {name.partition(".")[0] for name in WRONG}


@pytest.mark.parametrize("name", TASKS)
def test_a_run_that_does_nothing_fails_unless_silence_was_right(name: str) -> None:
    from lab.core.task import task_checks as checks

    task = task_named(name)
    state = first_state(task, 0)
    end = Action("status", status="complete")
    step = Step(index=0, proposed=Proposed(end), decision=Decision("approve", playing(task).actor, end))
    scored = checks.score(task, state, state, [step])
    assert (scored.score == 1.0) == silent(task), scored.checks


@crossed
@pytest.mark.parametrize("name", spread(TASKS, 12))
def test_only_what_is_open_is_asked_and_every_proposal_says_why(name: str) -> None:
    steps = fitting(name).steps
    assert sum(step.question is not None for step in steps) <= 1, [step.question for step in steps if step.question]
    for step in steps:
        assert step.proposed.thought.endswith((".", "?", "!")), step.proposed


def test_another_reply_leads_to_another_end() -> None:
    mild, hot = fitting("usual_lunch"), fitting("usual_lunch", "usual_lunch.hot")
    assert [p.orders[0]["items"][0]["options"]["Spice"] for p in (mild, hot)] == ["Mild", "Hot"]
    early, late = fitting("night_mode"), fitting("night_mode", "night_mode.late")
    assert [checks.value_at(p.last, "apps.clock.alarms[-1].time") for p in (early, late)] == ["06:30", "07:15"]


# -- what stays hidden ----------------------------------------------------------------------------------------


def _marked(value: Any, place: str) -> Any:
    if isinstance(value, dict):
        return {k: _marked(v, f"{place}-{k}") for k, v in value.items()}
    if isinstance(value, list):
        return [_marked(v, f"{place}-{i}") for i, v in enumerate(value)]
    return f"canary{place}"


@crossed
@pytest.mark.parametrize("name", spread(TASKS, 5))
def test_neither_facts_nor_labels_reach_the_agent(name: str) -> None:
    task = task_named(name)
    real = persona(task.persona)
    log = tuple(msgspec.structs.replace(e, label="canary-label", category="canary-category") for e in real.log)
    hidden = msgspec.structs.replace(real, name="canary-name", facts=_marked(real.facts, ""), log=log)
    secret = msgspec.structs.replace(
        task, policy="canary-policy", title="canary-title",
        checks=tuple(msgspec.structs.replace(check, name=f"canary-{check.name}") for check in task.checks),
    )  # fmt: skip
    spy = Spy(playing(task))
    play(secret, hidden, library.script(name), state=first_state(task, 0), agent=spy)
    assert spy.given
    for brief, seen in spy.given:
        assert b"canary" not in encode(brief)
        assert "canary" not in seen.to_xml()
        assert (len(brief.log) > 0) == (task.kind != "general")


@pytest.mark.parametrize("name", PERSONAS)
def test_about_a_quarter_of_the_noisy_log_is_noise(name: str) -> None:
    clean, noisy = persona(name, "clean").log, persona(name, "noise").log
    assert {entry.label for entry in clean} == {"signal"}
    assert [entry for entry in noisy if entry.label == "signal"] == list(clean)
    assert 0.2 < sum(entry.label == "noise" for entry in noisy) / len(noisy) < 0.3
    assert 50 <= len(clean) <= 120
    assert list(noisy) == sorted(noisy, key=lambda entry: entry.time)


# -- the agent knows none of it -------------------------------------------------------------------------------


def own_words() -> set[str]:
    """What only tasks, personas and apps know: every name that a seed may change, and what tasks are called."""
    names = {name for group in task_variation.groups() for name in group}
    state = first_state(task_named("usual_lunch"), 0)["apps"]
    names |= {choice for pairs in state["food"]["option_groups"].values() for choice, _ in pairs}
    names |= {word for name in PERSONAS for word in persona(name).name.split()}
    return names | {task_named(name).title for name in TASKS} | set(TASKS)


def test_the_agent_source_names_no_task_person_or_dish() -> None:
    """The examples of programs, each for one task, may."""
    files = [path for path in sorted((ROOT / "lab/agents").rglob("*.py")) if "examples" not in path.parts]
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    source = "\n".join(line for line in lines if not re.match(r"\s*(from|import) ", line))
    found = [word for word in own_words() if re.search(rf"(?<!\w){re.escape(word)}(?!\.?\w)", source, re.IGNORECASE)]
    assert found == []
