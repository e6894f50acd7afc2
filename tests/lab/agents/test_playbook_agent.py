"""The playbook agent: branches, values and loops on painted screens; runs that another agent began; hostile texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab.agents.playbook import PlaybookAgent
from lab.agents.replies import meaning
from lab.core.run.step import Action, Decision, Observation, Proposed, Reply
from lab.core.run.trace import Step
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.seams import Screen, TaskBrief
from lab.core.task.playbook import Do, PlaybookMove
from lab.core.task.task import Actor, Task
from simulators import library
from simulators.users.scripted import ReplyRule, Script
from tests.crossed import crossed, spread
from tests.simulators.playing import Played, first_state, persona, play, playing, task_named
from tests.store.formats.test_long_runs import guarded

OLD: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "rule_runs.json").read_text(encoding="utf-8")
)
"""What the agent of version 0.1.0, which worked by rules, did in its runs."""
PERSON = Actor("human", "P1")


def moves(*raw: Any) -> tuple[Do, ...]:
    return msgspec.convert(raw, tuple[Do, ...])


def played(*raw: Any, replies: Sequence[str] = (), kind: Any = "general") -> Played:
    """A run of these moves on the phone of `usual_lunch`, where a person gives the replies in turn."""
    task = Task("t", kind, instruction="" if kind == "proactive" else "x", budget=40)
    script = Script("s", replies=tuple(ReplyRule("", text, times=1) for text in replies))
    state = first_state(task_named("usual_lunch"), 0)
    return play(task, None, script, state=state, agent=PlaybookAgent(moves(*raw)))


def last(run: Played) -> Proposed:
    return run.steps[-1].proposed


# -- what a move does -------------------------------------------------------------------------------------------


def test_a_branch_is_taken_by_what_is_seen() -> None:
    run = played({"if_seen": "Noshwell", "then": [{"done": "There it is."}], "else": [{"done": "No."}]})
    assert last(run).thought == "There it is."
    run = played({"if_seen": "Nothing of this", "then": [{"done": "There it is."}], "else": [{"done": "No."}]})
    assert last(run).thought == "No."


def test_numbers_and_times_are_compared() -> None:
    def compared(one: str, other: str) -> str:
        return last(played({"if_less": [one, other], "then": [{"done": "Less."}]}, {"done": "Not less."})).thought

    assert compared("$9.80", "from $12.00") == "Less."
    assert compared("17:30", "17:00") == "Not less."
    assert compared("nothing", "1") == "Not less."


def test_a_value_is_read_beside_a_label_and_typed() -> None:
    run = played(
        {"open": "Noshwell"},
        {"tap": "View cart"},
        {"read": {"into": "total", "beside": "Total"}},
        {"type": {"into": "Note to the restaurant", "text": "{total}?"}},
        {"done": "It is {total}."},
    )
    assert last(run).thought == "It is $7.30."
    assert any(step.proposed.action.text == "$7.30?" for step in run.steps)


def test_a_loop_ends_when_it_has_what_it_waits_for_and_at_its_bound() -> None:
    run = played({"until_seen": "no such words", "most": 3, "do": ["home"]}, {"done": "Enough."})
    assert [step.proposed.action.kind for step in run.steps] == ["navigate_home"] * 3 + ["status"]
    run = played({"until_seen": "Noshwell", "most": 3, "do": ["home"]}, {"done": "Enough."})
    assert len(run.steps) == 1


def test_a_loop_within_a_loop_begins_anew_and_asks_in_each_round() -> None:
    inner = {"until_seen": "no such words", "most": 2, "do": ["home"]}
    ask = {"ask": "Again?", "into": "a"}
    outer = {"until_seen": "no such words", "most": 2, "do": [ask, inner]}
    run = played(outer, {"done": "{a}"}, replies=["one", "two"])
    once = ["ask_user", "navigate_home", "navigate_home"]
    assert [step.proposed.action.kind for step in run.steps] == [*once, *once, "status"]
    assert last(run).thought == "two"


def test_what_is_not_there_ends_the_run_with_a_reason() -> None:
    for move, words in (({"tap": "Zebra crossing"}, "Zebra crossing"), ({"open": "Zebra"}, "the app 'Zebra'")):
        ended = last(played({"open": "Settings"}, move))
        assert ended.action.status == "infeasible"
        assert words in ended.thought


def test_a_switch_that_is_on_is_left() -> None:
    run = played({"open": "Settings"}, {"tap": "Display"}, {"turn_off": "Dark theme"}, {"turn_on": "Dark theme"},
                 {"turn_on": "Dark theme"})  # fmt: skip
    assert run.last["apps"]["settings"]["dark_theme"] is True
    assert len(run.steps) == 5


# -- what a reply means -----------------------------------------------------------------------------------------


def reply(text: str, decision: Any = None) -> Reply:
    return Reply("q", text, PERSON, decision)


ASK = PlaybookMove(ask="?", options={"06:30": ("half past six",), "07:15": ()}, into="time")


@pytest.mark.parametrize(
    ("text", "decision", "found"),
    [
        ("Half past SIX, please.", None, ("accept", "06:30")),
        ("07:15", None, ("accept", "07:15")),
        ("Not 07:15, 06:30.", None, ("accept", "06:30")),
        ("06:30", "reject", ("reject", None)),
        ("No, leave it.", None, ("reject", None)),
        ("不用了", None, ("reject", None)),
        ("As always.", None, ("accept", "06:30")),
        ("What is the weather like?", None, ("else", None)),
        ("", None, ("else", None)),
    ],
)
def test_a_reply_names_an_option_refuses_or_says_something_else(text: str, decision: Any, found: Any) -> None:
    assert meaning(ASK, reply(text, decision)) == found


def test_a_reply_leads_to_its_branch() -> None:
    ask = {
        "ask": "Tea?",
        "into": "words",
        "on_reply": {"with milk": [{"done": "Milk."}], "reject": [{"done": "No tea."}]},
    }
    assert last(played(ask, {"done": "{words}"}, replies=["Yes, with milk."])).thought == "Milk."
    assert last(played(ask, {"done": "{words}"}, replies=["No, thanks."])).thought == "No tea."
    assert last(played(ask, {"done": "{words}"}, replies=['Write "green tea".'])).thought == "green tea"


def test_what_names_no_option_is_asked_once_more() -> None:
    ask = {"ask": "Mild or hot?", "options": ["Mild", "Hot"], "into": "spice"}
    run = played(ask, {"done": "{spice}"}, replies=["Is it Monday?", "Hot."])
    assert [step.question.text for step in run.steps if step.question] == [
        "Mild or hot?", "I need one of these: Mild, Hot. Which shall it be?"
    ]  # fmt: skip
    assert last(run).thought == "Hot"
    run = played(ask, replies=["Is it Monday?", "Is it June?"])
    assert last(run).action.status == "infeasible"


def test_an_offer_that_is_not_agreed_to_is_none() -> None:
    offer = {"offer": "Shall I?"}
    assert "agreed" in last(played(offer, {"done": "agreed."}, replies=["Yes, please."], kind="proactive")).thought
    for text in ("No.", "别"):
        assert "said no" in last(played(offer, {"done": "agreed."}, replies=[text], kind="proactive")).thought
    run = played(offer, {"done": "agreed."}, replies=["Why?", "Who are you?"], kind="proactive")
    assert len(run.steps) == 3
    assert "said no" in last(run).thought


# -- on a phone it has never seen ---------------------------------------------------------------------------------


def node(text: str, top: int, *, cls: str = "TextView", left: int = 0, right: int = 1080, **more: Any) -> Node:
    return Node(Bounds(left, top, right, top + 120), text=text, cls=f"android.widget.{cls}", **more)


def screen(*nodes: Node, package: str = "org.other") -> Screen:
    root = Node(Bounds(0, 0, 1080, 2400), cls="android.widget.FrameLayout", package=package, children=nodes)
    return Screen(b"", (1080, 2400), UiTree((root,)))


LAUNCHER = screen(node("Settings", 400, clickable=True), node("Clock", 600, clickable=True), package="org.launcher")


def drive(agent: PlaybookAgent, *screens: Screen) -> list[Proposed]:
    """What the agent proposes as one screen follows the other."""
    out: list[Proposed] = []
    steps: list[Step] = []
    for seen in screens:
        out.append(agent.propose(TaskBrief("general", "x"), seen, steps))
        decision = Decision("approve", agent.actor, out[-1].action)
        steps.append(Step(index=len(steps), proposed=out[-1], before=Observation(tree=seen.tree), decision=decision))
    return out


def test_it_finds_a_switch_by_the_words_in_its_row() -> None:
    def page(on: bool) -> Screen:
        row = Node(Bounds(0, 300, 1080, 480), clickable=True, children=(
            node("Dark theme", 320, right=800), node("", 320, cls="Switch", left=900, checkable=True, checked=on),
        ))  # fmt: skip
        return screen(node("Display", 100), row)

    agent = PlaybookAgent(moves({"open": "Settings"}, {"turn_on": "Dark theme"}))
    said = drive(agent, LAUNCHER, LAUNCHER, page(False), page(True))
    assert [p.action.kind for p in said] == ["navigate_home", "click", "click", "status"]
    assert said[1].action.at == (540, 460)
    assert said[2].action.at == (990, 380)
    assert said[3].action.status == "complete"


def test_it_stops_with_a_reason_where_nothing_moves() -> None:
    agent = PlaybookAgent(moves({"open": "Settings"}, {"tap": "Display"}))
    said = drive(agent, *[LAUNCHER] * 12)
    assert said[-1].action.status == "infeasible"
    assert "'Display'" in said[-1].thought


# -- runs that another agent began ------------------------------------------------------------------------------


class Handover:
    """Does what an older agent did, up to some step; from there on the playbook acts."""

    def __init__(self, task: Task, acts: Sequence[dict[str, Any]], cut: int) -> None:
        self.acts = [msgspec.convert(act, Action) for act in acts[:cut]]
        self.agent = playing(task)
        self.actor = self.agent.actor

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        if len(history) < len(self.acts):
            return Proposed(self.acts[len(history)])
        return self.agent.propose(brief, screen, history)


@crossed
@pytest.mark.parametrize("name", spread(sorted(OLD), 5))
def test_a_run_that_was_begun_by_rules_goes_on_by_the_playbook(name: str) -> None:
    task = task_named(name)
    for cut in spread(range(1, len(OLD[name]), max(2, len(OLD[name]) // 5)), 2):
        agent = Handover(task, OLD[name], cut)
        run = play(task, persona(task.persona), library.script(name), state=first_state(task, 0), agent=agent)
        assert run.ended.score == 1.0, f"cut at {cut}\n{run.told()}"


def test_any_history_at_all_leads_to_a_proposal() -> None:
    task = task_named("usual_lunch")
    for other in ("train_home", "flight_alarm"):
        run = play(task, persona("ines"), library.script("usual_lunch"), state=first_state(task, 0),
                   agent=Handover(task, OLD[other], 12))  # fmt: skip
        assert run.ended.status in ("completed", "budget"), run.told()


# -- hostile texts ----------------------------------------------------------------------------------------------

UNITS = [" ", "\n", "a", "0", ".", "'", "a ", "{a}", "{", "10:30 ", "Large ", "“x", "一"]


@pytest.mark.parametrize("unit", UNITS)
def test_no_text_hangs_it(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    nodes = tuple(Node(Bounds(0, 100 * i, 900, 100 * i + 99), text, desc=text, clickable=True) for i in range(20))
    screen = Screen(b"", (1080, 2400), UiTree((Node(Bounds(0, 0, 1080, 2400), package="com.x", children=nodes),)))
    play_by = PlaybookAgent(
        moves({"read": {"into": "a", "after": "a", "until": "b"}}, {"tap": {"text": "Large", "near": "a"}})
    )
    with guarded():
        assert play_by.propose(TaskBrief("general", text), screen, ()) is not None
        assert meaning(ASK, reply(text)) is not None
