"""A design's own rules: what is wrong with it, editing its outline, first drafts, and the way to YAML and back."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from lab.core.codec import convert, read_yaml
from lab.core.errors import LabError
from lab.core.run.step import Action, Observation, Proposed, Question
from lab.core.run.trace import Step
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.task import design_outline
from lab.core.task.design import Design, Section, design_items, drop_stale_evidence
from lab.core.task.task import Branch, Criterion, GoldenStep, InformationUnit, Rubric, Task, Tdg, TdgNode, load_task
from lab.studies.designing import design_editing
from lab.studies.designing.design_checks import problems
from lab.studies.designing.design_drafts import (
    chained,
    first_draft_of,
    golden_design,
    run_design,
    task_design,
    texts,
    unit_of,
    visits,
)
from lab.studies.designing.design_files import as_yaml, read_parts
from lab.studies.designing.design_graph import draw_graph
from simulators import library
from tests.fuzzing_examples import examples


def node(id: str, **more: object) -> TdgNode:
    return TdgNode(id, id.title(), **more)  # type: ignore[arg-type]


CHAIN = chained([node("a"), node("b"), node("c"), node("d")])


def shape(tdg: Tdg) -> list[str]:
    return [f"{row.number} {row.node.id}" for row in design_outline.rows(tdg)]


def edges(tdg: Tdg) -> set[str]:
    return {f"{a}{b}" for a, b in tdg.edges}


# -- what is wrong ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", library.tasks())
def test_what_the_tasks_ship_is_sound(name: str) -> None:
    task = library.task(name)
    assert problems(task_design(task), task.apps) == []


@pytest.mark.parametrize(
    ("design", "words"),
    [
        (Design(), "nothing in it yet"),
        (Design(Tdg((TdgNode("a", " "),))), "Node 'a' has no name"),
        (Design(Tdg((node("a"), node("b")))), '"A" stands alone'),
        (Design(Tdg((node("a"), node("a")))), "'a' is used twice"),
        (Design(Tdg((node("a"),), (("a", "x"),))), "leads to 'x', which is not there"),
        (Design(Tdg((node("a", requires=("x",)),))), "requires 'x', which is not there"),
        (Design(Tdg((node("a", requires=("a",)),))), "requires itself"),
        (Design(Tdg((node("a"), node("b")), (("a", "b"), ("b", "a")))), "circle through a, b"),
        (Design(Tdg((node("a"), node("b", requires=("c",)), node("c")), (("a", "b"), ("b", "c")))), "circle"),
        (Design(Tdg((node("a", alternatives=((node("b"),),)),))), "has one path"),
        (Design(Tdg((node("a", alternatives=((node("b"),), ())),))), "empty path"),
        (Design(Tdg((node("a", alternatives=((node("b"),), (node("c"),))), node("d")), (("b", "d"),))), "inside"),
        (Design(branches=(Branch("w", "Which?", ("x",)),)), "two options or more"),
        (Design(branches=(Branch("w", "Which?", ("x", "x ")),)), "an option twice"),
        (Design(branches=(Branch("w", "", ("x", "y")),)), "does not say what is decided"),
        (Design(branches=(Branch("w", "?", ("x", "y"), 0),)), "depth 0"),
        (Design(units=(InformationUnit("u", "U", "7", "Mail"),)), "in which app it is used"),
        (Design(units=(InformationUnit("u", "U", "", "Mail", "Notes"),)), "explicit but has no value"),
        (Design(units=(InformationUnit("u", "U", "7", "Mial", "answer"),)), "'Mial', not an app of this task"),
        (Design(units=(InformationUnit("", "U", "7", "Mail", "answer"),)), "has no id"),
        (Design(rubric=Rubric((Criterion("c", ""),))), "asks nothing"),
        (Design(rubric=Rubric((Criterion("c", "Fit?", 0.0),))), "weighs 0; a weight is above 0"),
    ],
)
def test_each_problem_is_one_sentence(design: Design, words: str) -> None:
    found = problems(design, ("Mail", "Notes"))
    assert any(words in one.words for one in found)
    assert all("\n" not in one.words and one.words.endswith(".") for one in found)
    assert all(not one.key or one.key in design_items(design) or one.key.endswith("/") for one in found)


def test_an_unexplicit_unit_needs_no_value_and_an_answer_is_no_app() -> None:
    unit = InformationUnit("u", "U", "", "Mail", "answer", explicit=False)
    assert problems(Design(units=(unit,)), ("Mail",)) == []


# -- the outline -----------------------------------------------------------------------------------------------


def test_nodes_are_put_behind_others_in_the_list_and_in_the_flow() -> None:
    more = design_outline.add(CHAIN, node("x"), "b")
    assert shape(more) == ["1 a", "2 b", "3 x", "4 c", "5 d"]
    assert edges(more) == {"ab", "bx", "xc", "cd"}
    assert shape(design_outline.add(CHAIN, node("x")))[-1] == "5 x"
    assert edges(design_outline.add(Tdg(), node("x"))) == set()


def test_removing_one_leaves_no_hole() -> None:
    left = design_outline.remove(CHAIN, "b")
    assert (shape(left), edges(left)) == (["1 a", "2 c", "3 d"], {"ac", "cd"})
    needy = design_outline.replace_node(CHAIN, "d", node("d", requires=("b", "a")))
    assert design_outline.remove(needy, "b").nodes[-1].requires == ("a",)
    assert design_outline.remove(CHAIN, "none") == CHAIN


def test_moving_changes_the_flow_only_between_joined_nodes() -> None:
    up = design_outline.move(CHAIN, "c", -1)
    assert (shape(up), edges(up)) == (["1 a", "2 c", "3 b", "4 d"], {"ac", "cb", "bd"})
    first = design_outline.move(CHAIN, "b", -1)
    assert (shape(first), edges(first)) == (["1 b", "2 a", "3 c", "4 d"], {"ba", "ac", "cd"})
    fork = Tdg(CHAIN.nodes, (("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")))
    swapped = design_outline.move(fork, "c", -1)
    assert (shape(swapped), swapped.edges) == (["1 a", "2 c", "3 b", "4 d"], fork.edges)
    assert design_outline.move(CHAIN, "a", -1) == CHAIN


def test_paths_are_made_by_indenting() -> None:
    grown = design_outline.indent(CHAIN, "b")
    assert (shape(grown), edges(grown)) == (["1 a", "1A1 b", "2 c", "3 d"], {"ac", "cd"})
    two = design_outline.indent(grown, "c")
    assert shape(two) == ["1 a", "1A1 b", "1B1 c", "2 d"]
    joined = design_outline.indent(design_outline.indent(two, "d"), "d")
    assert (shape(joined), edges(joined)) == (["1 a", "1A1 b", "1B1 c", "1B2 d"], set())
    assert problems(Design(joined)) == []
    back = design_outline.outdent(joined, "d")
    assert (shape(back), edges(back)) == (["1 a", "1A1 b", "1B1 c", "2 d"], {"ad"})
    apart = design_outline.outdent(design_outline.outdent(joined, "c"), "b")
    assert shape(apart) == ["1 a", "1A1 d", "2 b", "3 c"]
    assert design_outline.indent(CHAIN, "a") == CHAIN
    assert design_outline.outdent(CHAIN, "a") == CHAIN


def test_a_new_id_is_followed_everywhere() -> None:
    needy = design_outline.replace_node(CHAIN, "d", node("d", requires=("b",)))
    renamed = design_outline.replace_node(needy, "b", TdgNode("bb", "Bee"))
    assert edges(renamed) == {"abb", "bbc", "cd"}
    assert renamed.nodes[-1].requires == ("bb",)


def test_what_leads_to_a_node_is_set_at_once() -> None:
    assert edges(design_outline.set_predecessors(CHAIN, "d", ["a", "c", "a", "d"])) == {"ab", "bc", "ad", "cd"}


def test_ids_are_made_of_words() -> None:
    assert design_outline.fresh_id('Noshwell: tap "Milk"!', {"noshwell_tap_milk"}, "node") == "noshwell_tap_milk_2"
    assert design_outline.fresh_id("打开 设置", set(), "node") == "打开_设置"
    assert design_outline.fresh_id("…", {"node"}, "node") == "node_2"


VERBS = ("add", "remove", "up", "down", "indent", "outdent")


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 30)), max_size=25))
def test_no_way_of_editing_loses_a_node_or_leaves_an_edge_astray(ways: list[tuple[str, int]]) -> None:
    tdg, there = CHAIN, {"a", "b", "c", "d"}
    for n, (verb, which) in enumerate(ways):
        all_rows = design_outline.rows(tdg)
        id = all_rows[which % len(all_rows)].node.id if all_rows else ""
        match verb:
            case "add":
                tdg = design_outline.add(tdg, node(f"n{n}"), id)
                there.add(f"n{n}")
            case "remove":
                gone = {x.id for row in all_rows if row.node.id == id for x in Tdg((row.node,)).walk()}
                tdg, there = design_outline.remove(tdg, id), there - gone
            case "up" | "down":
                tdg = design_outline.move(tdg, id, -1 if verb == "up" else 1)
            case "indent":
                tdg = design_outline.indent(tdg, id)
            case _:
                tdg = design_outline.outdent(tdg, id)
        tdg.check("it")
        assert design_outline.ids(tdg) == there
        assert {end for edge in tdg.edges for end in edge} <= {one.id for one in tdg.nodes}
        assert len(set(tdg.edges)) == len(tdg.edges)


# -- first drafts ----------------------------------------------------------------------------------------------


def test_golden_steps_become_a_chain() -> None:
    steps = (
        GoldenStep("Go home", "navigate_home"), GoldenStep("Open Notes"), GoldenStep("Put the cursor in"),
        GoldenStep("Type the name", "input_text"), GoldenStep("Ask which", "ask_user"), GoldenStep("Done", "status"),
    )  # fmt: skip
    drafted = golden_design(steps)
    assert [(n.name, n.kind) for n in drafted.tdg.nodes] == [
        ("Open Notes", "fixed"), ("Type the name", "fixed"), ("Ask which", "flexible"),
    ]  # fmt: skip
    assert len(drafted.tdg.edges) == 2


def test_a_task_without_golden_steps_says_so() -> None:
    task = Task(id="imported", kind="general", title="An imported one", instruction="Do it.")
    with pytest.raises(LabError, match="has no golden steps"):
        first_draft_of("golden", task, None)


def seen(package: str, *labels: str) -> Observation:
    nodes = tuple(
        Node(Bounds(0, 100 * i, 540, 100 * i + 90), text, package=package, clickable=True)
        for i, text in enumerate(labels)
    )
    return Observation(size=(540, 1200), tree=UiTree(nodes), activity=f"{package}/.Main")


def a_run() -> list[Step]:
    tap = Action("click", (10, 10))
    ask = Question("q", "ask", "Which one?")
    turns: list[tuple[Action, Observation, Question | None]] = [
        (tap, seen("com.x.launcher", "Notes"), None),
        (tap, seen("com.x.memo", "Shopping"), None),
        (Action("input_text", text="Milk"), seen("com.x.memo", "Body"), None),
        (Action("ask_user", text="Which one?"), seen("com.x.memo", "Body"), ask),
        (Action("navigate_home"), seen("com.x.memo", "Body"), None),
        (tap, seen("com.x.launcher", "Messages"), None),
        (tap, seen("com.x.sms", "Send"), None),
        (Action("status", status="complete"), seen("com.x.sms", "Sent"), None),
    ]
    return [
        Step(index=i, proposed=Proposed(action), before=before, question=question)
        for i, (action, before, question) in enumerate(turns)
    ]


def test_a_run_becomes_a_chain_of_its_visits() -> None:
    drafted = run_design("r1", a_run())
    assert [(n.name, n.kind) for n in drafted.tdg.nodes] == [
        ("tap Notes", "fixed"), ('Notes: type "Milk"', "fixed"), ("Notes: ask: Which one?", "flexible"),
        ("tap Messages", "fixed"), ("Messages: tap Send", "fixed"),
    ]  # fmt: skip
    assert drafted.evidence["tdg/notes_type_milk"] == ("r1@2", "r1@3")
    assert drafted.tdg.nodes[1].description == "tap Shopping"
    assert problems(drafted) == []
    assert [visit.app for visit in visits(a_run())] == ["", "Notes", "", "Messages"]


def test_a_run_without_trees_still_gives_a_chain() -> None:
    steps = [
        Step(index=0, proposed=Proposed(Action("open_app", app="Clock"))),
        Step(index=1, proposed=Proposed(Action("click", (0, 7)))),
        Step(index=2, proposed=Proposed(Action("answer", text="07:00"))),
    ]
    assert [n.name for n in run_design("r", steps).tdg.nodes] == [
        "open Clock",
        "Clock: tap at 0,7",
        "Clock: answer: 07:00",
    ]


def test_units_come_from_what_stands_on_a_screen() -> None:
    memo = seen("com.x.memo", "Shopping", "Milk\x1b[31m", "Shopping")
    assert memo.tree is not None
    bar = Node(Bounds(0, 0, 540, 20), "12:05", package="com.android.systemui")
    both = msgspec.structs.replace(memo, tree=UiTree((bar, *memo.tree.roots)))
    assert texts(both) == ["Shopping", "Milk", "12:05"]
    assert texts(Observation()) == []
    assert unit_of("Milk", "", "Notes", ["milk"]) == InformationUnit("milk_2", "Milk", "Milk", "Notes")


# -- YAML ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", library.tasks())
def test_a_written_design_is_a_part_of_a_task_and_the_same(name: str, tmp_path: Path) -> None:
    task = library.task(name)
    path = tmp_path / "own.yaml"
    path.write_text("kind: general\ninstruction: Do it.\n" + as_yaml(task_design(task)), encoding="utf-8")
    assert task_design(load_task(path)) == task_design(task)


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=examples(150), deadline=None)
@given(
    WORDS, WORDS, st.sampled_from(["1e5", "0x1f", "yes", "null", "~", "12:05", "- a", "a: b", "#", "007", ".nan", "<<"])
)
def test_whatever_is_written_is_read_again(one: str, other: str, tricky: str) -> None:
    unit = InformationUnit(tricky, one, other, tricky, one, explicit=False)
    design = Design(Tdg((TdgNode(one, other, tricky),)), (Branch("b", one, (other, tricky)),), (unit,))
    value = read_yaml(as_yaml(design).encode(), "it").value
    assert convert(value, Design, "it") == design


def test_a_file_lays_in_what_it_holds_and_leaves_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "units.yaml"
    path.write_text("units: [{id: u, name: U}]\n")
    before = Design(CHAIN, units=(InformationUnit("old", "Old"),), evidence={"units/old": ("r@1",), "tdg/a": ("r@2",)})
    after = read_parts(path).apply_to(before)
    assert (after.tdg, after.units) == (CHAIN, (InformationUnit("u", "U"),))
    assert after.evidence == {"tdg/a": ("r@2",)}
    assert drop_stale_evidence(after) is after
    for text, words in (
        ("", "holds none of"),
        ("[1]", "holds none of"),
        ("nodes: []", "field nodes"),
        ("tdg: {nodes: 3}", "tdg.nodes"),
    ):
        path.write_text(text)
        with pytest.raises(LabError, match=words):
            read_parts(path)


def test_items_say_what_was_changed() -> None:
    tdg = chained([node("a"), node("b")])
    before, after = design_items(Design(tdg)), design_items(Design(design_outline.set_predecessors(tdg, "b", [])))
    assert before["tdg/a"] == after["tdg/a"]
    assert before["tdg/b"] != after["tdg/b"]
    assert msgspec.json.encode(Design()) == b"{}"


# -- one item after the other ----------------------------------------------------------------------------------


def test_an_item_takes_its_evidence_along() -> None:
    design = Design(CHAIN, units=(InformationUnit("u", "U"), InformationUnit("w", "W")))
    design = design_editing.toggle_evidence(design_editing.toggle_evidence(design, "tdg/b", "r@1"), "tdg/b", "r@2")
    assert design.evidence == {"tdg/b": ("r@1", "r@2")}
    renamed = design_editing.change(design, "tdg/b", TdgNode("bee", "Bee"))
    assert renamed.evidence == {"tdg/bee": ("r@1", "r@2")}
    assert edges(renamed.tdg) == {"abee", "beec", "cd"}
    assert design_editing.remove(renamed, "tdg/bee").evidence == {}
    once = design_editing.toggle_evidence(design_editing.toggle_evidence(design, "tdg/b", "r@1"), "tdg/b", "r@2")
    assert once.evidence == {}


def test_the_flat_sections_are_edited_alike() -> None:
    design = Design()
    for section, first, second in (
        ("branches", Branch("x", "X?"), Branch("y", "Y?")),
        ("units", InformationUnit("x", "X"), InformationUnit("y", "Y")),
        ("rubric", Criterion("x", "X?"), Criterion("y", "Y?")),
    ):
        part: Section = section  # type: ignore[assignment]
        design = design_editing.add(design_editing.add(design, part, first), part, second, f"{part}/x")
        design = design_editing.move(design, f"{part}/y", -1)
        assert [item.id for item in design_editing.entries(design, part)] == ["y", "x"]
        design = design_editing.move(design, f"{part}/y", -1)
        design = design_editing.change(design, f"{part}/y", msgspec.structs.replace(second, id="z"))
        assert [item.id for item in design_editing.entries(design, part)] == ["z", "x"]
        assert design_editing.nest(design, f"{part}/x", deeper=True) == design
        assert design_editing.item_at(design_editing.remove(design, f"{part}/z"), f"{part}/z") is None
    turned = design_editing.toggle_kind(design_editing.toggle_kind(design, "units/x"), "rubric/x")
    assert [unit.explicit for unit in turned.units] == [True, False]


def test_nodes_are_turned_flexible_and_nested() -> None:
    design = design_editing.toggle_kind(Design(CHAIN), "tdg/c")
    assert design.tdg.nodes[2].kind == "flexible"
    assert design_editing.toggle_kind(design, "tdg/c") == Design(CHAIN)
    nested = design_editing.nest(design, "tdg/b", deeper=True)
    assert shape(nested.tdg)[1] == "1A1 b"
    assert shape(design_editing.nest(nested, "tdg/b", deeper=False).tdg) == shape(CHAIN)


# -- the drawing -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", library.tasks())
def test_each_task_is_drawn_within_the_width(name: str) -> None:
    tdg = library.task(name).tdg
    for width in (40, 60, 120):
        lines = draw_graph(tdg, width)
        if lines or width > 40:
            assert all(f"{row.number} " in "\n".join(lines) for row in design_outline.rows(tdg)), width
        assert all(cell_len(line) <= width for line in lines), width


def test_forks_and_joins_are_drawn_and_far_edges_written() -> None:
    tdg = Tdg(CHAIN.nodes, (("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")))
    text = "\n".join(draw_graph(tdg, 60))
    assert "┴" in text
    assert "4 D (after 1)" in text
    assert draw_graph(Tdg(CHAIN.nodes, (("a", "b"), ("b", "a"))), 60) == []
    assert draw_graph(Tdg(), 60) == []
    assert draw_graph(Tdg((TdgNode("x", "打开设置里面的网络与互联网\x1b[31m"),)), 30)[1].startswith("│ 1 打开")
