"""The built-in tasks, played whole: rule agent, embedded phone, scripted person, the real loop and the real checks."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from lab import checks, episode
from lab.agents.rule import RuleAgent
from lab.control import Control
from lab.errors import LabError
from lab.seams import Agent, Brief, Gate, Screen
from lab.session import brief_of
from lab.task import LogEntry, Persona, Task, check_task
from lab.trace import Action, Decision, Ended, Observation, Proposed, Step
from lab.uitree import UiTree
from lab.wire import decode, encode
from simulators import library
from simulators.human import PassGate
from simulators.phone.installed import APPS
from simulators.phone.phone import Phone
from simulators.phone.stage import activity
from simulators.scripted import Line, Script, Scripted

ROOT = Path(__file__).parents[2]
TASKS = sorted(library.tasks())
ASKING = ["morning_coffee", "night_mode", "usual_lunch"]


class Blind(Phone):
    """The phone without its pictures, which no rule looks at: what is tested here is quicker so."""

    def observe(self) -> Screen:
        with self._changed:
            state = self._state
            return Screen(b"", (1080, 2400), self._draw().tree, activity(state, APPS), state["clock"])


class Keep:
    """Keeps nothing but the tree."""

    def screen(self, screen: Screen) -> Observation:
        return Observation(size=screen.size, tree=screen.tree, activity=screen.activity, at=screen.at)

    def state(self, state: dict[str, Any] | None) -> str | None:
        return None


class Spy:
    """An agent that remembers all that the agent in it was given."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.actor = agent.actor
        self.given: list[tuple[Brief, UiTree]] = []

    def propose(self, brief: Brief, screen: Screen, history: Sequence[Step]) -> Proposed:
        self.given.append((brief, screen.tree))
        return self.agent.propose(brief, screen, history)


class Played(NamedTuple):
    """A run's steps, its end, and the phone's state before and after."""

    steps: list[Step]
    ended: Ended
    first: dict[str, Any]
    last: dict[str, Any]

    @property
    def orders(self) -> list[dict[str, Any]]:
        return list(self.last["apps"]["food"]["orders"][len(self.first["apps"]["food"]["orders"]) :])

    def told(self) -> str:
        """The run in lines, for a test that fails."""
        lines = [
            f"{s.index} {s.proposed.action.kind} {s.proposed.action.text or ''} | {s.proposed.thought}"
            for s in self.steps
        ]
        return "\n".join([*lines, self.ended.reason])


def play(
    task: Task, persona: Persona | None, script: Script, *, state: dict[str, Any], agent: Agent | None = None,
    gate: Gate | None = None,
) -> Played:  # fmt: skip
    """One run by the real loop, from a state of the phone."""
    phone = Blind(state=state)
    first = phone.snapshot()

    def judge(state: dict[str, Any] | None, steps: Sequence[Step]) -> episode.Verdict:
        return episode.Verdict(*checks.score(task, first, state or {}, steps))

    seats = episode.Seats(agent or RuleAgent(), Scripted(script), gate or PassGate(), phone)
    events = list(episode.run(brief_of(task, persona), seats, Control(), Keep(), judge))
    ended = events[-1]
    assert isinstance(ended, Ended)
    return Played([e for e in events if isinstance(e, Step)], ended, first, phone.snapshot())


def first_state(task: Task, seed: int) -> dict[str, Any]:
    state = _first_states(task.id, seed)
    return dict(json.loads(json.dumps(state)))


@functools.cache
def _first_states(name: str, seed: int) -> dict[str, Any]:
    task = task_named(name)
    phone = Blind(seed=seed, clock=task.time)
    phone.lay(task.phone)
    return phone.snapshot()


task_named = functools.cache(library.task)


@functools.cache
def persona(source: Any = "noise") -> Persona:
    return library.persona("ines", source)


@functools.cache
def fitting(name: str, script: str = "", *, seed: int = 0, source: Any = "noise") -> Played:
    task = task_named(name)
    return play(task, persona(source), library.script(script or name), state=first_state(task, seed))


# -- as they are ----------------------------------------------------------------------------------------------


def test_there_are_two_of_each_kind_and_one_ends_in_silence() -> None:
    tasks = [task_named(name) for name in TASKS]
    assert sorted(task.kind for task in tasks) == ["general"] * 2 + ["personalized"] * 2 + ["proactive"] * 2
    assert sum(any(check.run == "silent" for check in task.checks) for task in tasks) == 1
    assert any(task.units for task in tasks)
    assert any(node.alternatives for task in tasks for node in task.tdg.walk())


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_whole(name: str) -> None:
    task = task_named(name)
    check_task(task, name)
    assert task.persona in library.personas()
    assert task.title
    assert task.policy
    assert task.golden
    assert len(task.golden) <= task.budget
    assert task.tdg.nodes
    assert task.tdg.edges
    assert task.rubric.criteria
    assert task.checks
    assert library.script(name).persona == task.persona


@pytest.mark.parametrize(("seed", "source"), [(0, "noise"), (7, "clean")])
@pytest.mark.parametrize("name", TASKS)
def test_the_fitting_script_passes_every_check(name: str, seed: int, source: str) -> None:
    played = fitting(name, seed=seed, source=source)
    assert played.ended.status == "completed", played.told()
    assert played.ended.score == 1.0, played.told()


@pytest.mark.parametrize("name", ASKING)
def test_after_a_refusal_nothing_is_done(name: str) -> None:
    played = fitting(name, f"{name}.refuse")
    refused = next(i for i, step in enumerate(played.steps) if step.reply and step.reply.decision == "reject")
    assert [step.proposed.action.kind for step in played.steps[refused + 1 :]] == ["status"], played.told()
    assert played.ended.score == 1.0, played.told()
    assert not played.orders


def test_another_reply_leads_to_another_end() -> None:
    mild, hot = fitting("usual_lunch"), fitting("usual_lunch", "usual_lunch.hot")
    assert [p.orders[0]["items"][0]["options"]["Spice"] for p in (mild, hot)] == ["Mild", "Hot"]
    early, late = fitting("night_mode"), fitting("night_mode", "night_mode.late")
    assert [[a["time"] for a in p.last["apps"]["clock"]["alarms"]][-1] for p in (early, late)] == ["06:30", "07:15"]
    assert hot.ended.score is not None
    assert hot.ended.score < 1


def test_only_what_is_open_is_asked() -> None:
    for name in TASKS:
        asked = [step.question.text for step in fitting(name).steps if step.question]
        assert len(asked) == (1 if name in ASKING else 0), asked


@pytest.mark.parametrize("name", TASKS)
def test_every_proposal_says_why(name: str) -> None:
    for step in fitting(name).steps:
        assert step.proposed.thought.endswith((".", "?", "!")), step.proposed


# -- what stays hidden ----------------------------------------------------------------------------------------


def test_neither_facts_nor_labels_reach_the_agent() -> None:
    def marked(value: Any, place: str) -> Any:
        if isinstance(value, dict):
            return {k: marked(v, f"{place}-{k}") for k, v in value.items()}
        if isinstance(value, list):
            return [marked(v, f"{place}-{i}") for i, v in enumerate(value)]
        return f"canary{place}"

    real = persona()
    log = tuple(msgspec.structs.replace(e, label="canary-label", category="canary-category") for e in real.log)
    facts = marked(real.facts, "")
    hidden = msgspec.structs.replace(real, name="canary-name", facts=facts, log=log)
    for name in TASKS:
        task = task_named(name)
        secret = msgspec.structs.replace(
            task, policy="canary-policy", title="canary-title",
            checks=tuple(msgspec.structs.replace(check, name=f"canary-{check.name}") for check in task.checks),
        )  # fmt: skip
        spy = Spy(RuleAgent())
        play(secret, hidden, library.script(name), state=first_state(task, 0), agent=spy)
        assert spy.given
        for brief, seen in spy.given:
            assert b"canary" not in encode(brief)
            assert "canary" not in seen.to_xml()
            assert (len(brief.log) > 0) == (task.kind != "general")


def test_the_log_says_nothing_that_only_the_profile_knows() -> None:
    told = " ".join(entry.exposed for entry in persona().log).casefold()
    for word in ("sore throat", "oven is hers", "earlier of her two", "soap"):
        assert word in json.dumps(persona().facts, ensure_ascii=False).casefold()
        assert word not in told


def test_about_a_quarter_of_the_noisy_log_is_noise() -> None:
    clean, noisy = persona("clean").log, persona("noise").log
    assert {entry.label for entry in clean} == {"signal"}
    assert [entry for entry in noisy if entry.label == "signal"] == list(clean)
    assert 0.2 < sum(entry.label == "noise" for entry in noisy) / len(noisy) < 0.3
    assert 50 <= len(clean) <= 70
    assert list(noisy) == sorted(noisy, key=lambda entry: entry.time)


# -- the agent knows none of it -------------------------------------------------------------------------------


def own_words() -> set[str]:
    """Names that only tasks, persona, log and menus know: people, places to eat, dishes, drinks, apps, remarks."""
    state = first_state(task_named("usual_lunch"), 0)["apps"]
    food = state["food"]
    names = {place["name"] for place in food["restaurants"]} | {APPS["food"].label}
    names |= {dish["name"] for place in food["restaurants"] for part in place["sections"] for dish in part["dishes"]}
    names |= {entry["line"] for entry in food["addresses"]} | set(food["payments"])
    names |= {person["name"] for person in state["contacts"]["people"]} | {"Ines", "Varga", "Tomas", "Noor"}
    names |= {choice for pairs in food["option_groups"].values() for choice, _ in pairs}
    names |= {place.split(",")[0] for place in (task_named(name).place for name in TASKS)}
    words = {
        "coriander",
        "noodles",
        "coffee",
        "flight",
        "poster",
        "KX417",
        "06:30",
        "07:15",
        "15:35",
        "sesame",
        "garden",
    }
    return names | words | {t.title for t in map(task_named, TASKS)} | set(TASKS)


def test_the_agent_source_names_no_task_person_or_dish() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "lab/agents").rglob("*.py")))
    found = [word for word in own_words() if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", source, re.IGNORECASE)]
    assert found == []


RENAMED = {
    "Tomas Brandt": "Leocadia Finch", "Tomas": "Leocadia", "Noor Haddad": "Ruben Achterberg", "Noor": "Ruben",
    "KX417": "ZP088", "KX409": "ZP031", "Penang": "Oslo", "15:35": "19:05", "14:10": "16:25", "13:05": "12:45",
    "Poster kit": "Trade fair bag", "Poster printing": "Trade fair stand", "Adhesive putty": "Blue tape",
    "Spare name badges": "Extension cord", "Sample case with films 3 and 7": "Box of 12 lenses",
    "Sesame dan noodles": "Walnut trout platter", "Copper Ladle": "Old Harbour Kitchen",
    "no coriander": "no dill", "Crane flat white": "Hibiscus cooler", "flat white": "Hibiscus cooler",
    "Little Crane Coffee": "The Third Kettle", "PennyPurse wallet": "Moonshell account",
    "Lab": "Studio", "lab": "studio",
    "Spice": "Fire", "Mild": "Gentle", "Hot": "Fierce", "mild": "gentle", "hot": "fierce", "spicy": "fiery",
    "spice": "fire", "Oat milk": "Hemp milk", "oat milk": "hemp milk", "No sugar": "Unsweet", "no sugar": "unsweet",
    "06:30": "05:45", "half past six": "quarter to six", "07:15": "08:10", "7:15": "8:10",
    "Institute of Soft Matter": "House of Lenses", "3 Lantern Road": "19 Quarry Street",
}  # fmt: skip
_NAMES = re.compile("|".join(rf"(?<!\w){re.escape(n)}(?!\w)" for n in sorted(RENAMED, key=len, reverse=True)))


def renamed(value: Any) -> Any:
    """A JSON value with every name replaced, in keys too."""
    text = _NAMES.sub(lambda m: RENAMED[m[0]], json.dumps(value, ensure_ascii=False))
    return json.loads(text)


def struct_renamed(value: Any) -> Any:
    kind = type(value)
    return decode(encode(renamed(json.loads(encode(value)))), kind, "a renamed value")


@pytest.mark.parametrize("seed", [3, 11])
@pytest.mark.parametrize("name", TASKS)
def test_with_every_name_replaced_and_menus_shuffled_it_still_passes(name: str, seed: int) -> None:
    task = task_named(name)
    other = struct_renamed(task)
    assert other != task
    played = play(
        other, struct_renamed(persona()), struct_renamed(library.script(name)), state=renamed(first_state(task, seed))
    )
    assert played.ended.score == 1.0, played.told()


# -- with people in between -----------------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", [name for name in TASKS if name != "saturday_walk"])
def test_it_goes_on_from_wherever_a_person_leaves_the_phone(name: str) -> None:
    task = task_named(name)
    whole = len(fitting(name).steps)
    for number, turn in enumerate(range(1, whole - 1, 4)):
        action = INSTEAD[number % len(INSTEAD)]
        played = play(
            task, persona(), library.script(name), state=first_state(task, 0), gate=Meddling(turn, action)
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

    played = play(task, persona(), library.script("morning_coffee"), state=first_state(task, 0), gate=Helpful())
    assert len(played.orders) == 1, played.told()
    assert played.steps[-1].proposed.action.status == "complete"


def test_a_held_back_agent_gives_up_with_a_reason() -> None:
    class Never(PassGate):
        def decide(self, proposed: Proposed, screen: Screen, history: Sequence[Step], stop: Any) -> Decision:
            passes = proposed.action.kind == "status"
            return Decision("approve" if passes else "reject", self.actor, proposed.action if passes else None)

    task = task_named("poster_kit")
    played = play(task, persona(), library.script("poster_kit"), state=first_state(task, 0), gate=Never())
    last = played.steps[-1].proposed
    assert (last.action.kind, last.action.status) == ("status", "infeasible")
    assert "let through" in last.thought


@pytest.mark.parametrize("kind", ["largest", "open chat", "left searches", "quick settings"])
@pytest.mark.parametrize("name", [name for name in TASKS if name != "saturday_walk"])
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
    played = play(task, persona(), library.script(name), state=phone.snapshot())
    assert played.ended.score == 1.0, played.told()


def test_a_run_can_be_cut_anywhere_and_go_on_the_same() -> None:
    task = task_named("usual_lunch")
    whole = fitting("usual_lunch").steps
    brief = brief_of(task, persona())
    for cut in range(0, len(whole), 3):
        tree_then = whole[cut].before.tree
        assert tree_then is not None
        again = RuleAgent().propose(brief, Screen(b"", (1080, 2400), tree_then), whole[:cut])
        assert again == whole[cut].proposed


def test_where_a_dish_is_gone_it_gives_up_and_orders_nothing() -> None:
    task = task_named("usual_lunch")
    state = first_state(task, 0)
    for place in state["apps"]["food"]["restaurants"]:
        for part in place["sections"]:
            part["dishes"] = [dish for dish in part["dishes"] if dish["name"] != "Sesame dan noodles"]
    played = play(task, persona(), library.script("usual_lunch"), state=state)
    assert played.steps[-1].proposed.action.status == "infeasible", played.told()
    assert not played.orders


def test_a_long_sheet_with_one_word_in_two_groups_is_set_as_the_log_and_the_person_say() -> None:
    state = first_state(task_named("morning_coffee"), 2)
    dishes = [d for p in state["apps"]["food"]["restaurants"] for part in p["sections"] for d in part["dishes"]]
    drink = next(dish for dish in dishes if dish["name"] == "Crane flat white")
    drink |= {
        "options": ["Cup", "Spice", "Milk", "Sugar", "Ice", "Base"],
        "extras": ["Extra shot", "Pickles", "Avocado"],
    }
    log = tuple(
        LogEntry(
            f"2026-03-{day:02d}T08:50:00+08:00", "Lab",
            f"At 08:50, she ordered a Crane flat white (large, {'mild' if day % 2 else 'medium spice'}, oat milk, "
            "no ice, greens, pickles) from Little Crane Coffee in Noshwell, and paid.",
        )
        for day in range(2, 7)
    )  # fmt: skip
    task = Task(
        "t", "personalized", instruction="Order my usual coffee.", time="2026-03-09T08:50:00+08:00", place="Lab"
    )
    script = Script("s", replies=(Line("spice", "medium"),))
    played = play(task, Persona("p", "P", log=log), script, state=state)
    assert len([step for step in played.steps if step.question]) == 1, played.told()
    assert played.orders[0]["items"][0] | {"price": 0} == {
        "dish": "Crane flat white", "quantity": 1, "extras": ["Pickles"], "price": 0,
        "options": {"Cup": "Large", "Spice": "Medium", "Milk": "Oat milk", "Sugar": "No sugar", "Ice": "No ice",
                    "Base": "Greens"},
    }, played.told()  # fmt: skip


# -- the library ----------------------------------------------------------------------------------------------


def test_names_and_paths_both_lead_to_a_task(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(library.tasks()["poster_kit"].read_bytes())
    assert library.task(str(path)).id == "mine"
    assert library.task("poster_kit").id == "poster_kit"
    with pytest.raises(LabError, match="poster_kit"):
        library.task("poster_kt")
    with pytest.raises(LabError, match="is not there"):
        library.task("gone/poster_kit.yaml")
    with pytest.raises(LabError, match="ines"):
        library.persona("inez")
    assert library.script("usual_lunch.refuse").id == "usual_lunch.refuse"


def test_a_path_that_cannot_be_read_is_told_when_the_task_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("kind: general\ninstruction: do it\nchecks: [{name: broken, path: 'a[', count: 1}]\n")
    with pytest.raises(LabError, match="broken"):
        library.task(str(path))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("phone: {battery: lots}", "battery"),
        ("phone: {apps: {food: 3}}", "apps.food"),
        ("time: yesterday", "yesterday"),
        ("persona: nobody", "nobody"),
    ],
)
def test_a_task_file_is_tried_whole_and_named(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"kind: general\ninstruction: Open the notes\n{line}\n")
    with pytest.raises(LabError, match=words) as caught:
        library.task(str(path))
    assert caught.value.title == f"task file {path}"


def test_a_folder_is_not_a_task() -> None:
    with pytest.raises(LabError, match="is a folder"):
        library.task(str(library.HERE))
