"""The playbooks of the built-in tasks that go wrong: each ends in its own way, and its task's checks see it."""

from __future__ import annotations

import pytest

from lab.core.seams import Screen
from lab.core.task.playbook import moves_of
from lab.runs.spec import brief_of
from simulators import library, task_variation
from tests.crossed import IN_SOAK, crossed, soak
from tests.simulators.playing import fitting, playing, task_named

TASKS = sorted(library.tasks())
WRONG = [(name, one.name) for name in TASKS for one in task_named(name).playbooks]
LOOPING = {(name, one) for name, one in WRONG if one == "loops"}


@pytest.mark.parametrize("name", TASKS)
def test_a_task_has_a_playbook_and_two_that_go_wrong(name: str) -> None:
    task = task_named(name)
    assert task.playbook
    assert len({one.name for one in task.playbooks}) == 2
    assert all(one.fault.endswith(".") for one in task.playbooks)


@crossed
@pytest.mark.parametrize(
    ("name", "playbook"), [one for at, one in enumerate(WRONG) if IN_SOAK or at // 2 % 2 == at % 2]
)
def test_what_goes_wrong_is_seen_by_the_checks(name: str, playbook: str) -> None:
    """Of each task one of its two, the first and the second in turn; in a soak both."""
    played = fitting(name, playbook=playbook)
    assert played.ended.score is not None
    assert played.ended.score < 1.0, played.told()
    if (name, playbook) in LOOPING:
        assert played.ended.status == "budget", played.told()
    else:
        assert played.steps[-1].proposed.action.status == "complete", played.told()


def test_who_went_along_and_who_only_reads_the_history_propose_the_same() -> None:
    task, steps = task_named("usual_lunch"), fitting("usual_lunch").steps
    assert len(steps) > 5
    other, brief = playing(task), brief_of(task, None)

    def shown(number: int) -> Screen:
        before = steps[number].before
        assert before.tree is not None
        return Screen(b"", (1080, 2400), before.tree, before.activity, before.at)

    for number in [*range(len(steps)), 3, 2, 2, 5]:
        for agent in (playing(task), other):
            assert agent.propose(brief, shown(number), steps[:number]) == steps[number].proposed
    elsewhere = [*steps[:2], steps[4]]  # another's history is another plan, also after this one
    assert other.propose(brief, shown(5), elsewhere) == playing(task).propose(brief, shown(5), elsewhere)


@soak
def test_in_another_world_it_goes_wrong_too() -> None:
    for name, playbook in WRONG[::9]:
        played = fitting(name, vary=3, seed=3, playbook=playbook)
        assert played.ended.score is not None
        assert played.ended.score < 1.0, played.told()


def test_a_world_renames_playbooks_as_it_renames_the_task() -> None:
    task = task_named("usual_lunch")
    other = task_variation.world(3).task(task)
    assert "Sesame dan noodles" in str(task.playbook)
    assert "Sesame dan noodles" not in str(other.playbook)
    assert [one.name for one in other.playbooks] == [one.name for one in task.playbooks]
    assert moves_of(other.playbook, other.playbooks, "wrong-dish") != moves_of(other.playbook, other.playbooks, "")
