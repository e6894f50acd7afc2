"""Units of runs, tasks and parts of runs: what each asks, by which id, and what is refused, by the run's name."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from annotators.protocols import protocol
from annotators.units import UnitTerms, units_for
from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.step import Action, Question, Reply
from lab.core.study.protocol import Protocol
from lab.core.study.study import Gold, Target, Unit, sample_sha
from lab.core.task.design import Design, subject_of
from lab.core.task.task import (
    Actor,
    Branch,
    Criterion,
    GoldenStep,
    InformationUnit,
    LogEntry,
    Persona,
    Rubric,
    Task,
    Tdg,
    TdgNode,
)
from simulators import library

LUNCH = library.task("usual_lunch")
MODEL = Actor("model", "agent-one")
STEP = MeasuredStep(Action("click"), Action("click"), instruction="Tap it")


def case(id: str = "run-1", task: Task = LUNCH, steps: int = 3, status: str = "completed", **more: Any) -> MeasuredRun:
    more.setdefault("agent", MODEL)
    return MeasuredRun(id, task, steps=more.pop("turns", [STEP] * steps), status=status, **more)


def made(name: str, *cases: MeasuredRun, **more: Any) -> list[Unit]:
    return units_for(protocol(name), cases, **more)


def refused(name: str, *cases: MeasuredRun, **more: Any) -> str:
    with pytest.raises(LabError) as told:
        made(name, *cases, **more)
    return told.value.sentence


# -- targets ---------------------------------------------------------------------------------------------------


def test_every_node_that_something_is_done_at_is_asked_and_none_that_only_holds_others() -> None:
    (unit,) = made("tdg", case())
    ids = [target.id for target in unit.targets]
    assert ids == [
        "open_app", "search", "pick_found", "open_place", "pick_menu", "size", "spice", "to_cart", "remark", "address",
        "payment", "order",
    ]  # fmt: skip
    by_id = {target.id: target for target in unit.targets}
    assert by_id["search"].says == "Get to the usual dish, way A: Search for the dish"
    assert by_id["open_place"].says == "Get to the usual dish, way B: Open the restaurant"
    assert by_id["pick_found"].requires == ("search",)
    assert by_id["size"].kind == "flexible"
    assert by_id["open_app"].kind == "fixed"
    assert by_id["size"].detail == "The log always shows the large one"
    assert unit.tdg == LUNCH.tdg
    assert (unit.id, unit.runs) == ("run-1", ("run-1",))


def test_what_a_node_requires_is_named_only_where_it_is_asked_itself() -> None:
    inner = TdgNode("way", "Way", alternatives=((TdgNode("a", "A"), TdgNode("b", "B", requires=("a",))),))
    task = replace(LUNCH, tdg=Tdg((inner, TdgNode("end", "End", requires=("way", "b")))))
    (unit,) = made("tdg", case(task=task))
    assert unit.targets == (
        Target("a", "Way, way A: A", kind="fixed"),
        Target("b", "Way, way A: B", kind="fixed", requires=("a",)),
        Target("end", "End", kind="fixed", requires=("b",)),
    )


def test_information_units_tell_the_value_and_the_place_and_their_kind() -> None:
    units = (InformationUnit("p", "price", "5.80", "Shop", "Notes"), InformationUnit("d", "day", explicit=False))
    (unit,) = made("information-units", case(task=replace(LUNCH, units=units)))
    assert unit.targets == (
        Target("p", "price", "5.80 · seen in Shop · used in Notes", "explicit"),
        Target("d", "day", "", "implicit"),
    )
    assert unit.explicit is False
    assert made("information-units", case())[0].explicit is True
    assert unit.tdg == Tdg()


def test_a_decision_has_its_own_options_and_never_the_right_one() -> None:
    branch = Branch("cheap", "Which is cheaper?", ("the Harbour shop", "the Hill shop"), 2, "the Hill shop")
    plain = replace(LUNCH, branches=(replace(branch, right=""),))
    (unit,) = made("decision-points", case(task=replace(LUNCH, branches=(branch,))))
    assert unit.targets == (Target("cheap", branch.ask, kind="depth 2", options=branch.options),)
    assert encode(unit) == encode(made("decision-points", case(task=plain))[0])


def test_criteria_steps_and_the_whole() -> None:
    (rubric,) = made("rubric", case())
    assert [target.id for target in rubric.targets] == ["same", "asked", "told"]
    assert not any(target.detail or target.kind for target in rubric.targets), "weights would lead the rater"
    (shown,) = made("demonstration", case())
    assert shown.targets[1] == Target("step-2", "Tap it", step=1)
    hushed = replace(protocol("demonstration"), shows=("screens",))
    assert units_for(hushed, [case()])[0].targets[1] == Target("step-2", "Step 2", step=1)
    assert made("success", case())[0].targets == ()


@pytest.mark.parametrize("name", ["success", "completion-rating", "tdg", "decision-points", "rubric"])
def test_a_unit_holds_nothing_of_what_is_right(name: str) -> None:
    """The task's checks, golden way, policy, profile and score are the designers'; a unit of a run has none of them."""
    right = Branch("how_hot", "How hot?", ("Mild", "Hot"), right="Mild")
    held = case(
        task=replace(LUNCH, branches=(right,)), score=0.123, reason="planted reason", agent=Actor("model", "zz")
    )
    whole = b"".join(encode(unit) for unit in made(name, held))
    for word in (b"right", b"golden", b"sore throat", b"0.123", b"planted", b"zz", b"equals"):
        assert word not in whole


# -- what is refused -------------------------------------------------------------------------------------------


def test_a_run_that_has_nothing_to_ask_is_named() -> None:
    bare = replace(LUNCH, tdg=Tdg(), units=(), branches=(), rubric=Rubric())
    told = "run run-2: its task usual_lunch has no {}. `hitlab tasks design` drafts {}."
    for name, lacks, one in (
        ("tdg", "graph", "one"),
        ("information-units", "information units", "them"),
        ("decision-points", "decision points", "them"),
        ("rubric", "rubric", "one"),
    ):
        assert refused(name, case(), case("run-2", bare)) == told.format(lacks, one)
    assert refused("demonstration", case(steps=0)) == "run run-1: has no step."
    assert refused("step-correct", case(steps=0)) == "run run-1: has no step."
    free = replace(LUNCH, branches=(Branch("free", "Which?"),))
    assert "decision point 'free' of its task usual_lunch has fewer than two ways" in refused(
        "decision-points", case(task=free)
    )
    assert refused("tdg", case(), case()) == "run run-1: is named twice; each is asked about once."
    assert refused("success") == "study by success: has no run to ask about."


def test_a_frozen_design_stands_in_place_of_the_tasks_own_parts() -> None:
    design = Design(tdg=Tdg((TdgNode("only", "The only one"),)), rubric=Rubric((Criterion("c", "C?"),)))
    designs = {subject_of(LUNCH): design}
    assert [target.id for target in made("tdg", case(), designs=designs)[0].targets] == ["only"]
    assert [target.id for target in made("rubric", case(), designs=designs)[0].targets] == ["c"]
    assert len(made("information-units", case(), designs=designs)[0].targets) == 3, "a part it leaves empty stays"
    other = replace(LUNCH, instruction="Something else")
    assert len(made("tdg", case(task=other), designs=designs)[0].targets) == 12


# -- outcomes and rules ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "score", "marks", "asked"),
    [
        ("completed", 0.0, {}, True),
        ("completed", 0.99, {}, True),
        ("completed", 1.0, {}, False),
        ("failed", None, {}, True),
        ("budget", None, {}, True),
        ("budget", 1.0, {}, False),
        ("completed", 1.0, {"success": 0.0}, True),
        ("completed", None, {"success": 0.0}, True),
        ("completed", 0.0, {"success": 1.0}, False),
    ],
)
def test_only_failed_runs_are_asked_why(status: str, score: float | None, marks: dict[str, float], asked: bool) -> None:
    failed = case("run-0", score=0.0)
    for name in ("failure-mode-memgui", "failure-mode-knowu-personalized", "failure-mode-dac"):
        units = made(name, failed, case(status=status, score=score, marks=marks))
        assert [unit.id for unit in units] == ["run-0"] + ["run-1"] * asked


def test_a_run_of_which_nothing_tells_whether_it_failed_is_named() -> None:
    for status in ("completed", "stopped", "open"):
        assert refused("failure-mode-dac", case(status=status)).startswith(
            f"run run-1: is {status} and has no score: nothing tells whether it failed."
        )
    assert refused("failure-mode-dac", case(score=1.0)) == "run run-1: succeeded, and only failed runs are asked about."


def test_a_timeout_is_answered_by_rule_where_the_protocol_has_it() -> None:
    spent = case(status="budget", steps=17)
    (unit,) = made("failure-mode-memgui", spent)
    assert unit.mechanical == (Gold("", "primary", "execution_timeout", "ended by its limit after 17 steps"),)
    assert made("failure-mode-memgui", case(score=0.0))[0].mechanical == ()
    for name in ("failure-mode-knowu-personalized", "failure-mode-dac"):
        assert made(name, spent)[0].mechanical == (), "the paper's own case of such a run is a GUI failure"


def test_a_run_far_beyond_its_golden_steps_has_failed_by_rule_where_that_is_asked_for() -> None:
    short = replace(LUNCH, golden=(GoldenStep("a"), GoldenStep("b")))
    cases = [case("five", short, 5), case("six", short, 6)]
    five, six = made("success", *cases, terms=UnitTerms(beyond=2.5))
    assert five.mechanical == ()
    assert six.mechanical == (Gold("", "outcome", "failure", "6 steps, more than 2.5 x 2 golden steps"),)
    assert all(unit.mechanical == () for unit in made("success", *cases))
    untold = replace(LUNCH, golden=())
    assert refused("success", case(task=untold), terms=UnitTerms(beyond=2.5)).startswith(
        "run run-1: its task usual_lunch tells no golden steps"
    )
    assert refused("tdg", case(), terms=UnitTerms(beyond=2.5)).startswith("protocol tdg: has no option `failure`")


# -- pairs and parts -------------------------------------------------------------------------------------------


def test_runs_of_one_task_by_different_agents_are_paired() -> None:
    two, three = Actor("model", "agent-two"), Actor("model", "agent-three")
    other = replace(LUNCH, instruction="Order dinner.")
    cases = [case("a"), case("b", agent=two), case("c"), case("d", other, agent=two), case("e", agent=three)]
    units = made("pairwise-runs", *cases)
    assert [unit.id for unit in units] == ["a+b", "a+e", "b+c", "b+e", "c+e"]
    assert units[0].runs == ("a", "b")
    assert units[0].hidden == {"A": "agent-one", "B": "agent-two"}
    assert {unit.clustered for unit in units} == {"usual_lunch"}
    assert [unit.id for unit in made("pairwise-runs", *cases, pairs=[("e", "a"), ("a", "c")])] == ["e+a", "a+c"]
    assert refused("pairwise-runs", *cases, pairs=[("a", "d")]).startswith("run d: is of task usual_lunch")
    assert refused("pairwise-runs", *cases, pairs=[("a", "a")]) == "run a: is paired with itself."
    assert "run z of a pair is not among the runs" in refused("pairwise-runs", *cases, pairs=[("a", "z")])
    assert refused("pairwise-runs", case("a"), case("b")).endswith("of one task by different agents to ask about.")
    assert refused("pairwise-runs", *cases, pairs=[("a", "b"), ("a", "b")]).startswith("pair of runs a+b: is named")


def test_steps_are_all_or_drawn_from_the_seed() -> None:
    cases = [case("a", steps=20), case("b", steps=2)]
    every = made("step-correct", *cases)
    assert [unit.id for unit in every[:2]] == ["a@1", "a@2"]
    assert (every[1].step, every[1].runs, len(every)) == (1, ("a",), 22)
    some = made("step-correct", *cases, terms=UnitTerms(steps=5, seed=3))
    assert some == made("step-correct", *cases, terms=UnitTerms(steps=5, seed=3))
    assert [unit.clustered for unit in some] == ["a"] * 5 + ["b"] * 2
    assert [unit.step for unit in some[:5]] == sorted({unit.step or 0 for unit in some[:5]})
    assert some != made("step-correct", *cases, terms=UnitTerms(steps=5, seed=4))
    alone = made("step-correct", cases[0], terms=UnitTerms(steps=5, seed=3))
    assert alone == some[:5], "what is drawn of one run does not hang on the others"
    assert refused("step-correct", *cases, terms=UnitTerms(steps=0)) == "steps: 0 a run is less than one."


PERSON = Persona("ines", "Ines", {"identity": {"age": 31}, "likes": ["tea", "rain"], "smokes": False})


def asked(text: str, reply: Reply | None) -> MeasuredStep:
    return MeasuredStep(Action("ask_user"), Action("ask_user"), question=Question("q1", "propose", text), reply=reply)


def test_replies_are_held_against_the_profile_and_who_gave_them_is_hidden() -> None:
    given = Reply("q1", "The large one", Actor("model", "sim-model"), decision="accept")
    held = case(persona=PERSON, turns=[STEP, asked("Which size?", given), asked("And?", None)])
    (unit,) = made("reply-support", held)
    assert (unit.id, unit.step, unit.question) == ("run-1@2", 1, "q1")
    cards = {one.title: one.text for one in unit.given}
    assert cards["Question"] == "Which size?"
    assert cards["Reply"] == "accept · The large one"
    assert cards["Profile"] == "identity:\n  age: 31\nlikes: tea, rain\nsmokes: no"
    assert cards["Told for this task"] == LUNCH.policy
    assert unit.hidden == {"by": "model"}
    assert "sim-model" not in encode(replace(unit, hidden={})).decode()
    assert refused("reply-support", held._replace(persona=None)).startswith("run run-1: has no profile")
    (named,) = made("reply-support", held._replace(persona=None), personas={"ines": PERSON})
    assert named == unit
    assert refused("reply-support", case()) == "study by reply-support: has no question with a reply to ask about."


# -- what people did -------------------------------------------------------------------------------------------


def episode(id: str, hour: int, user: str = "u1", **more: Any) -> MeasuredRun:
    """A person's own run as FingerTip's reader leaves it."""
    task = Task(
        id, "personalized", instruction=f"intent {id}", persona=user, time=f"2025-03-01T{hour:02}:00:00", place="home",
        golden_steps=3,
    )  # fmt: skip
    more.setdefault("persona", Persona(user, user, {"age": "30"}))
    return case(id, task, agent=Actor("human", user), **more)


def test_a_guess_is_made_from_profile_time_place_and_what_was_done_before() -> None:
    units = made("intent-guess", episode("b", 9), episode("a", 8), episode("x", 7, "u2"), past=[episode("o", 6)])
    by_id = {unit.id: {one.title: one for one in unit.given} for unit in units}
    assert set(by_id) == {"a", "b", "x"}
    assert by_id["b"]["Before"].items == (
        "[2025-03-01T06:00:00] (home) intent o",
        "[2025-03-01T08:00:00] (home) intent a",
    )
    assert by_id["b"]["Profile"].text == "age: 30"
    assert by_id["b"]["Time and place"].text == "2025-03-01T09:00:00 · home"
    assert "Before" not in by_id["x"]
    assert [(unit.id, unit.clustered) for unit in units] == [("x", "u2"), ("a", "u1"), ("b", "u1")], "by time"
    for unit in units:
        assert f"intent {unit.id}" not in encode(unit).decode(), "the true intent is nowhere in the unit"


def test_at_most_twenty_past_intents_and_the_log_are_shown() -> None:
    person = Persona("u1", "u1", log=(LogEntry("t", "p", "logged"),))
    before = [episode(f"e{n:02}", 0)._replace(task=replace(episode("e", 0).task, time=f"2025-02-{n:02}",
              instruction=f"did {n:02}")) for n in range(1, 26)]  # fmt: skip
    (unit,) = made("intent-guess", episode("now", 9, persona=person), past=before)
    (card,) = [one for one in unit.given if one.title == "Before"]
    assert card.items[0] == "[t] (p) logged"
    assert [item.rpartition(" ")[2] for item in card.items[1:]] == [f"{n:02}" for n in range(6, 26)]


def test_a_run_that_tells_nothing_of_its_person_cannot_be_guessed() -> None:
    bare = case(task=Task("t", "general", instruction="Do it"))
    assert refused("intent-guess", bare).startswith("run run-1: tells neither profile, time, place")


def test_a_run_is_rated_by_the_owner_of_its_reference() -> None:
    mine = episode("mine", 8)
    runs = [case(f"m{n}", mine.task, agent=Actor("model", f"model-{n}")) for n in (1, 2)]
    units = made("personal-rating", mine, *runs)
    assert [(unit.id, unit.runs, unit.owner, unit.clustered) for unit in units] == [
        ("m1", ("m1", "mine"), "u1", "u1"),
        ("m2", ("m2", "mine"), "u1", "u1"),
    ]
    assert units == made("personal-rating", *runs, past=[mine])
    other = episode("other", 9)
    named = made("personal-rating", runs[0], references={"m1": "other"}, past=[mine, other])
    assert named[0].runs == ("m1", "other")
    assert refused("personal-rating", runs[0]).startswith("run m1: there is no demonstration of its task mine")
    twice = [mine, mine._replace(id="again")]
    assert "there are 2 demonstrations of its task mine" in refused("personal-rating", runs[0], past=twice)
    assert refused("personal-rating", runs[0], references={"m1": "gone"}).startswith("run m1: its reference gone")
    assert refused("personal-rating", mine).endswith("there is no run but those that others are rated against.")


# -- tasks -----------------------------------------------------------------------------------------------------


def test_a_task_unit_holds_what_was_asked_and_the_way_and_no_more() -> None:
    (unit,) = made("golden-steps", tasks=[LUNCH])
    assert unit.task is not None
    assert (unit.id, unit.task.instruction, unit.task.golden) == ("usual_lunch", LUNCH.instruction, LUNCH.golden)
    kept = (unit.task.policy, unit.task.checks, unit.task.phone, unit.task.tdg.nodes, unit.task.units)
    assert not any(kept)
    hidden = replace(protocol("golden-steps"), shows=("instruction",))
    (bare,) = units_for(hidden, tasks=[LUNCH])
    assert bare.task is not None
    assert (bare.task.golden, bare.task.golden_steps) == ((), None)
    assert made("golden-steps", case("a"), case("b")) == [unit], "runs of one task are one task"
    changed = replace(LUNCH, instruction="Order dinner.")
    assert refused("golden-steps", tasks=[LUNCH, changed]) == (
        "task usual_lunch: is there in two versions that ask different things."
    )


def test_a_play_is_a_task_in_a_condition() -> None:
    tasks = [LUNCH, library.task("calendar_to_mail")]
    personas = {name: library.persona(name) for name in ("ines", "rosa", "tobin", "xiaoman")}
    names = ("person", "person, no mirror", "model", "script")
    terms = UnitTerms(names, agent="rule", phone_seed=7, vary=2)
    units = made("play", tasks=tasks, personas=personas, terms=terms)
    assert [unit.id for unit in units[:4]] == [
        "usual_lunch.person", "usual_lunch.person-no-mirror", "usual_lunch.model", "usual_lunch.script",
    ]  # fmt: skip
    plays = [unit.play for unit in units if unit.play is not None]
    assert [play.condition for play in plays] == [*names, *names]
    assert {(play.agent, play.seed, play.vary) for play in plays} == {("rule", 7, 2)}
    assert plays[0].persona == personas["ines"]
    assert {unit.clustered for unit in units} == {"usual_lunch", "calendar_to_mail"}
    assert refused("play", tasks=[LUNCH]) == "task usual_lunch: its persona 'ines' is not there."
    assert refused("play", tasks=tasks, personas=personas, terms=UnitTerms(("people",))) == (
        "condition 'people': is none of person; person, no mirror; model; script."
    )
    assert refused("play", tasks=tasks, personas=personas, terms=UnitTerms(())).startswith("conditions: there is none")
    assert refused("play") == "study by play: has no task to ask about."


def test_the_same_is_made_again() -> None:
    cases = [case("a"), case("b", agent=Actor("model", "two"))]
    for name in ("tdg", "pairwise-runs", "step-correct", "rubric"):
        assert sample_sha(made(name, *cases)) == sample_sha(made(name, *cases))


def test_every_library_task_gives_its_targets() -> None:
    """Whatever a built-in task has is asked of a run of it, under ids of its own."""
    kinds: dict[str, Any] = {
        "tdg": lambda task: [node.id for node in task.tdg.walk() if not node.alternatives],
        "information-units": lambda task: [unit.id for unit in task.units],
        "decision-points": lambda task: [branch.id for branch in task.branches],
        "rubric": lambda task: [one.id for one in task.rubric.criteria],
    }
    protocols: dict[str, Protocol] = {name: protocol(name) for name in kinds}
    seen = dict.fromkeys(kinds, 0)
    for id in library.tasks():
        task = library.task(id)
        for name, of in kinds.items():
            if of(task):
                (unit,) = units_for(protocols[name], [case(id, task)])
                assert [target.id for target in unit.targets] == of(task)
                seen[name] += 1
    assert min(seen.values()) > 0
    assert seen["tdg"] == len(library.tasks())


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ("as it: stands", "as it: stands"),
        (61, "61"),
        (True, "yes"),
        (None, "not told"),
        (["tea", "noodles"], "tea, noodles"),
        ([], ""),
        ({"home": "Dorm", "work": {"label": "Library"}}, "home: Dorm\nwork:\n  label: Library"),
        ([{"app": "Maps", "often": 3}], "- app: Maps\n  often: 3"),
    ],
)
def test_a_card_holds_whatever_json_does(held: object, told: str) -> None:
    side = {"instructions": ["Do it."]}
    (made,) = units_for(
        protocol("pairwise-sets"), lines=[("line 1", {"context": {"likes": held}, "A": side, "B": side})]
    )
    assert (made.given[0].title, made.given[0].text) == ("likes", told)
