"""The four scenarios of PSPA-Bench as task files: what the paper's checklists say, and that APR can be told of them."""

from __future__ import annotations

import pytest

from annotators.metrics.tdg import align, first_path
from annotators.scenarios import HERE, scenarios
from lab.design import outline, soundness
from lab.design.revision import Design
from lab.task import Tdg, TdgNode, load_task
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


@pytest.mark.parametrize("name", CHECKLISTS)
def test_they_are_sound_designs_and_no_tasks_of_the_phone(name: str) -> None:
    task = load_task(HERE / f"{name}.yaml")
    assert not soundness.problems(Design(task.tdg))
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
    edited = outline.add(tdg, TdgNode("more", "More"), "begin")
    edited = outline.move(edited, "read_day", 1)
    edited = outline.follow(edited, "finish", ["more"])
    edited = outline.change(edited, "more", TdgNode("most", "Most"))
    assert outline.remove(edited, "most").forks == "all"
