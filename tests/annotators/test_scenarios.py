"""The four scenarios of PSPA-Bench as task files: what the paper's checklists say, and that APR can be told of them."""

from __future__ import annotations

import pytest

from annotators.papers.pspa.tdg import align, align_items, first_path
from annotators.scenarios import HERE, scenarios
from lab.core.task import design_outline
from lab.core.task.design import Design
from lab.core.task.task import Tdg, TdgNode, load_task
from lab.studies.designing import design_checks
from simulators import library


def paths(nodes: tuple[TdgNode, ...]) -> list[list[str]]:
    """Every choice of paths through a chain of nodes, written out."""
    found: list[list[str]] = [[]]
    for node in nodes:
        own = [path for way in node.alternatives for path in paths(way)] if node.alternatives else [[node.id]]
        found = [[*before, *after] for before in found for after in own]
    return found


CHECKLISTS = {
    # fixed, flexible, nodes that hold paths, ways through the whole
    "shopping": (6, 3, 2, 4),
    "dining": (3, 5, 1, 2),
    "navigation": (2, 4, 1, 2),
    "travel": (4, 4, 1, 2),
}


def test_the_four_are_there() -> None:
    assert sorted(scenarios()) == sorted(CHECKLISTS)


@pytest.mark.parametrize("name", CHECKLISTS)
def test_kinds_and_ways_are_the_checklists(name: str) -> None:
    task = scenarios()[name]
    fixed, flexible, holders, ways = CHECKLISTS[name]
    leaves = [node for node in task.tdg.walk() if not node.alternatives]
    assert sum(node.kind == "fixed" for node in leaves) == fixed
    assert sum(node.kind == "flexible" for node in leaves) == flexible
    assert sum(bool(node.alternatives) for node in task.tdg.walk()) == holders
    assert len(paths(task.tdg.nodes)) == ways
    assert task.traits == {"scenario": name.capitalize()}


@pytest.mark.parametrize("name", CHECKLISTS)
def test_each_way_taken_whole_is_all_of_it(name: str) -> None:
    task = scenarios()[name]
    for way in paths(task.tdg.nodes):
        steps = {node.id: way.index(node.id) if node.id in way else None for node in task.tdg.walk()}
        found = align(task.tdg, steps)
        assert (list(found.path), found.apr, found.ppr) == (way, 1.0, 1.0)
        assert not set(found.not_applicable) & set(way)


def test_what_hangs_on_an_uncompleted_step_falls_with_it() -> None:
    """Shopping without a search page: of the six nodes of the shortest way only the first stands, 1 / 6."""
    task = scenarios()["shopping"]
    steps: dict[str, int | None] = {node.id: 1 for node in task.tdg.walk()}
    found = align(task.tdg, {**steps, "search_page": None})
    assert found.completed == ("open_app",)
    assert found.apr == 1 / 6


def test_a_step_with_paths_that_the_checklist_calls_flexible_is_an_item() -> None:
    """Checklist 1: way A of the conditions, then straight to the cart, is 6 actions, 2 of them flexible (search
    conditions, product); as items also Set Conditions, fixed, and Navigate to Cart Page, flexible: 8 and 3.

    Here the product is selected and put into the cart, the cart's page is never reached: 5 of 6 actions, 2 of 2; as
    items 6 of 8, as Set Conditions is done by way A, and 2 of 3.
    """
    tdg = scenarios()["shopping"].tdg
    done = ("open_app", "search_page", "search_conditions", "product", "add_to_cart")
    steps = {node.id: done.index(node.id) if node.id in done else None for node in tdg.walk()}
    plain, items = align(tdg, steps), align_items(tdg, steps)
    assert (plain.apr, plain.ppr) == (5 / 6, 2 / 2)
    assert (items.apr, items.ppr) == (6 / 8, 2 / 3)
    whole = align_items(tdg, {**steps, "cart_directly": 7})
    assert (whole.apr, whole.ppr) == (8 / 8, 3 / 3)


@pytest.mark.parametrize("name", CHECKLISTS)
def test_they_are_sound_designs_and_no_tasks_of_the_phone(name: str) -> None:
    task = load_task(HERE / f"{name}.yaml")
    assert not design_checks.problems(Design(task.tdg))
    assert name not in library.tasks()


def test_every_task_of_the_phone_can_be_aligned() -> None:
    for path in library.tasks().values():
        tdg = load_task(path).tdg
        leaves = [node.id for node in tdg.walk() if not node.alternatives]
        assert align(tdg, dict.fromkeys(leaves, 0)).apr == 1.0
        assert align(tdg, dict.fromkeys(leaves)).apr == 0.0
        way = first_path(tdg)
        assert align(tdg, {id: 0 if id in way else None for id in leaves}).apr == 1.0


def test_side_by_side_steps_of_a_task_of_the_phone_are_all_needed() -> None:
    """Calendar to mail: 11 top nodes, all on each way; what the mail lacks of three facts counts as not done."""
    tdg = load_task(library.tasks()["calendar_to_mail"]).tdg
    assert tdg.forks == "all"
    steps: dict[str, int | None] = {node.id: 0 for node in tdg.walk()}
    steps |= {"by_search": None, "from_results": None, "read_room": None, "put_room": None}
    found = align(tdg, steps)
    assert len(found.path) == 11
    assert found.apr == 9 / 11


def test_a_fork_means_any_of_its_ways_unless_told_otherwise() -> None:
    nodes = tuple(TdgNode(id, id) for id in "abcd")
    edges = (("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"))
    steps = {"a": 0, "b": None, "c": 1, "d": 2}
    assert align(Tdg(nodes, edges), steps).apr == 1.0
    assert align(Tdg(nodes, edges, forks="all"), steps).apr == 3 / 4


def test_what_forks_mean_stays_while_a_graph_is_edited() -> None:
    tdg = load_task(library.tasks()["calendar_to_mail"]).tdg
    edited = design_outline.add(tdg, TdgNode("more", "More"), "begin")
    edited = design_outline.move(edited, "read_day", 1)
    edited = design_outline.set_predecessors(edited, "finish", ["more"])
    edited = design_outline.replace_node(edited, "more", TdgNode("most", "Most"))
    assert design_outline.remove(edited, "most").forks == "all"
