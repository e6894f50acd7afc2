"""The playbook agent among people: held back, overtaken, cut off, begun from any state of the phone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from lab.core.run.step import Action, Decision, Proposed
from lab.core.run.trace import Step
from lab.core.seams import Screen
from lab.runs.spec import brief_of
from simulators import library
from simulators.users.human import PassGate
from tests.crossed import IN_SOAK, crossed
from tests.simulators.playing import Blind, first_state, fitting, persona, play, playing, task_named

ACTIVE = [name for name in sorted(library.tasks()) if not any(c.run == "silent" for c in task_named(name).checks)]

KINDS = ("largest", "open chat", "left searches", "quick settings")
"""Ways in which a phone may be found; every second task begins from one of them in turn, in a soak each from two."""
NOTIFIED = [
    name for name in ACTIVE if task_named(name).kind == "proactive" and task_named(name).phone.get("notifications")
]
"""What a notification calls for is not seen once that is gone from sight: the agent looks at no list of them."""


class Meddling:
    """A person who, at one turn, does something else instead of what is proposed."""

    actor = PassGate.actor

    def __init__(self, turn: int, action: Action | None) -> None:
        self.turn = turn
        self.action = action

    def decide(self, proposed: Proposed, screen: Screen, history: Sequence[Step], stop: Any) -> Decision:
        if len(history) == self.turn and proposed.action.kind not in ("ask_user", "status"):
            return Decision("amend" if self.action else "reject", self.actor, self.action)
        return Decision("approve", self.actor, proposed.action)


INSTEAD = [None, Action("navigate_home"), Action("navigate_back"), Action("open_app", app="Settings"), Action("wait")]


@crossed
@pytest.mark.parametrize("name", ACTIVE if IN_SOAK else ACTIVE[::2])
def test_it_goes_on_from_wherever_a_person_leaves_the_phone(name: str) -> None:
    """In a soak at each third of a run; else at one of them, another for each task, by another of the acts.

    The tasks that are not met here in `make test` are met in `test_it_begins_from_any_state_of_the_phone`.
    """
    task = task_named(name)
    whole = len(fitting(name).steps)
    turns = range(1, whole - 1, max(4, whole // 3))
    at = ACTIVE.index(name)
    for number, turn in enumerate(turns) if IN_SOAK else [(at, turn) for turn in turns[at % max(len(turns), 1) :][:1]]:
        action = INSTEAD[number % len(INSTEAD)]
        played = play(
            task, persona(task.persona), library.script(name), state=first_state(task, 0), gate=Meddling(turn, action)
        )  # fmt: skip
        assert played.ended.score == 1.0, f"turn {turn}\n{played.told()}"


def test_what_a_person_has_ordered_meanwhile_is_not_ordered_again() -> None:
    task = task_named("morning_coffee")
    done = [step.proposed.action for step in fitting("morning_coffee").steps]

    class Helpful(PassGate):
        """Lets the agent ask, then does all the rest in its place and goes home."""

        def decide(self, proposed: Proposed, screen: Screen, history: Sequence[Step], stop: Any) -> Decision:
            own = [Action("wait"), *done[1:-1], Action("navigate_home"), Action("wait")]
            if 0 < len(history) <= len(own):
                return Decision("amend", self.actor, own[len(history) - 1])
            return Decision("approve", self.actor, proposed.action)

    played = play(task, persona("ines"), library.script("morning_coffee"), state=first_state(task, 0), gate=Helpful())
    assert len(played.orders) == 1, played.told()
    assert played.steps[-1].proposed.action.status == "complete"


def test_a_held_back_agent_gives_up_with_a_reason() -> None:
    class Never(PassGate):
        def decide(self, proposed: Proposed, screen: Screen, history: Sequence[Step], stop: Any) -> Decision:
            passes = proposed.action.kind == "status"
            return Decision("approve" if passes else "reject", self.actor, proposed.action if passes else None)

    task = task_named("poster_kit")
    played = play(task, persona("ines"), library.script("poster_kit"), state=first_state(task, 0), gate=Never())
    last = played.steps[-1].proposed
    assert (last.action.kind, last.action.status) == ("status", "infeasible")
    assert "let through" in last.thought


@crossed
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, KINDS[(number + turn) % len(KINDS)])
        for number, name in enumerate(ACTIVE)
        for turn in ((0, 1) if IN_SOAK else (number // len(KINDS) % 2,))
        if IN_SOAK or number % 4 == 3
        if not (KINDS[(number + turn) % len(KINDS)] == "open chat" and name in NOTIFIED)
    ],
)
def test_it_begins_from_any_state_of_the_phone(name: str, kind: str) -> None:
    task = task_named(name)
    phone = Blind(state=first_state(task, 5))
    if kind == "largest":
        phone.lay({"apps": {"settings": {"font_size": "largest"}}})
    elif kind == "open chat":
        for action in (
            Action("open_app", app="Messages"),
            Action("click", at=(540, 500)),
            Action("click", at=(478, 2180)),
        ):
            phone.perform(action)
    elif kind == "left searches":
        phone.lay({"apps": {app: {"query": "zzz"} for app in ("food", "messages", "notes", "settings")}})
        phone.lay({"apps": {"clock": {"tab": "Timer"}}})
    else:
        phone.perform(Action("swipe", at=(500, 10), to=(500, 1500)))
    played = play(task, persona(task.persona), library.script(name), state=phone.snapshot())
    assert played.ended.score == 1.0, played.told()


def test_a_run_can_be_cut_anywhere_and_go_on_the_same() -> None:
    task = task_named("usual_lunch")
    whole = fitting("usual_lunch").steps
    brief = brief_of(task, persona("ines"))
    for cut in range(0, len(whole), 3):
        tree_then = whole[cut].before.tree
        assert tree_then is not None
        again = playing(task).propose(brief, Screen(b"", (1080, 2400), tree_then), whole[:cut])
        assert again == whole[cut].proposed


def test_where_a_dish_is_gone_it_gives_up_and_orders_nothing() -> None:
    task = task_named("usual_lunch")
    state = first_state(task, 0)
    for place in state["apps"]["food"]["restaurants"]:
        for part in place["sections"]:
            part["dishes"] = [dish for dish in part["dishes"] if dish["name"] != "Sesame dan noodles"]
    played = play(task, persona("ines"), library.script("usual_lunch"), state=state)
    assert played.steps[-1].proposed.action.status == "infeasible", played.told()
    assert not played.orders
