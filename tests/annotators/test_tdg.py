"""PSPA-Bench's trace-graph alignment, worked out by hand and against all paths written out (2.3, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotators.papers.pspa.tdg import align, first_path, fulfilled_nodes
from lab.core.task.task import Tdg, TdgNode

F = "flexible"


def node(id: str, kind: str = "fixed", requires: Sequence[str] = (), *paths: Sequence[TdgNode]) -> TdgNode:
    return TdgNode(id, id, "", kind, tuple(requires), tuple(map(tuple, paths)))  # type: ignore[arg-type]


def chain(*nodes: TdgNode) -> Tdg:
    return Tdg(nodes, tuple((a.id, b.id) for a, b in pairwise(nodes)))


def steps(**at: int | None) -> Mapping[str, int | None]:
    return at


def test_the_path_with_most_completed_nodes_is_taken() -> None:
    """a-b-d completes 2 of 3, a-c-d 3 of 3."""
    tdg = Tdg(tuple(map(node, "abcd")), (("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")))
    found = align(tdg, steps(a=0, b=None, c=1, d=2))
    assert (found.path, found.apr, found.not_applicable) == (("a", "c", "d"), 1.0, ("b",))


def test_first_tie_more_completed_flexible_nodes() -> None:
    """Both complete 1 of 1; that b is declared later, longer or later in the run does not help a."""
    tdg = chain(node("way", "fixed", (), [node("a")], [node("b", F), node("c")]))
    found = align(tdg, steps(a=0, b=5, c=None))
    assert found.path == ("b", "c")
    assert (found.apr, found.ppr) == (1 / 2, 1.0)


def test_second_tie_fewer_nodes() -> None:
    """Each completes one fixed node; b's path is of one node, a's of two."""
    tdg = chain(node("way", "fixed", (), [node("a"), node("x")], [node("b")]))
    assert align(tdg, steps(a=0, x=None, b=9)).path == ("b",)


def test_third_tie_the_first_completed_node_that_comes_earliest() -> None:
    """Steps 2, 9 against 3, 4: the first completed node decides (E.2), so 2 wins though 9 is the last."""
    tdg = chain(node("way", "fixed", (), [node("a"), node("b")], [node("c"), node("d")]))
    assert align(tdg, steps(a=3, b=4, c=2, d=9)).path == ("c", "d")
    assert align(tdg, steps(a=2, b=9, c=2, d=8)).path == ("c", "d")
    assert align(tdg, steps(a=2, b=8, c=8, d=2)).path == ("a", "b")


def test_a_run_that_takes_path_b_is_not_punished_for_path_a() -> None:
    tdg = chain(
        node("open"), node("way", F, (), [node("a1"), node("a2", F)], [node("b1", F)]), node("end", "fixed", ["way"])
    )
    found = align(tdg, steps(open=0, a1=None, a2=None, b1=1, end=2))
    assert (found.path, found.apr, found.ppr) == (("open", "b1", "end"), 1.0, 1.0)
    assert found.not_applicable == ("a1", "a2")


def test_a_node_whose_required_node_is_not_completed_is_not_completed() -> None:
    """c needs b, b needs a: with a missing none of three stands; with b missing 1 of 3."""
    tdg = chain(node("a"), node("b", "fixed", ["a"]), node("c", "fixed", ["b"]))
    assert align(tdg, steps(a=None, b=1, c=2)).apr == 0
    assert align(tdg, steps(a=0, b=None, c=2)).apr == 1 / 3


def test_any_whole_path_completes_a_node_that_holds_paths() -> None:
    """`end` needs the whole of one way: half of a and half of b is neither."""
    tdg = chain(
        node("way", "fixed", (), [node("a1"), node("a2")], [node("b1"), node("b2")]), node("end", "fixed", ["way"])
    )
    assert fulfilled_nodes(tdg, steps(a1=0, a2=None, b1=1, b2=None, end=2)) == {"a1", "b1"}
    assert fulfilled_nodes(tdg, steps(a1=0, a2=3, b1=1, b2=None, end=2)) == {"a1", "a2", "b1", "way", "end"}


def test_what_a_node_with_paths_requires_its_paths_require() -> None:
    tdg = chain(node("open"), node("way", "fixed", ["open"], [node("a")], [node("b")]))
    assert align(tdg, steps(open=None, a=1, b=None)).completed == ()


def test_a_requirement_that_goes_in_a_circle_or_leads_nowhere() -> None:
    circle = Tdg((node("a", "fixed", ["b"]), node("b", "fixed", ["a"]), node("c", "fixed", ["gone"])))
    assert fulfilled_nodes(circle, steps(a=0, b=1, c=2)) == {"c"}


def test_paths_within_paths() -> None:
    """way = x, then (y or z); 2 of 2 by x and z."""
    tdg = chain(
        node("way", "fixed", (), [node("x"), node("in", "fixed", (), [node("y")], [node("z", F)])], [node("w")])
    )
    found = align(tdg, steps(x=0, y=None, z=1, w=None))
    assert (found.path, found.apr, found.not_applicable) == (("x", "z"), 1.0, ("y", "w"))


def test_a_list_without_edges_is_one_path_and_a_node_without_edges_is_on_every_path() -> None:
    assert align(Tdg(tuple(map(node, "abc"))), steps(a=0, b=None, c=1)).apr == 2 / 3
    found = align(Tdg(tuple(map(node, "abc")), (("a", "b"),)), steps(a=None, b=None, c=1))
    assert (set(found.path), found.apr) == ({"a", "b", "c"}, 1 / 3)


def test_graphs_that_have_no_path_are_said_to() -> None:
    with pytest.raises(ValueError, match="circle"):
        align(Tdg((node("a"), node("b")), (("a", "b"), ("b", "a"))), {})
    with pytest.raises(ValueError, match="no unit instruction"):
        align(Tdg(), {})


def test_twenty_nodes_of_three_paths_each() -> None:
    """3 ** 20 paths: of each node the whole third path was taken, 20 times 2 nodes of 2."""
    three = [
        node(f"w{i}", "fixed", (), *[[node(f"w{i}p{p}a"), node(f"w{i}p{p}b", F)] for p in range(3)]) for i in range(20)
    ]
    tdg = chain(*three)
    at = {one.id: 3 * i if "p2" in one.id else None for i, one in enumerate(tdg.walk())}
    found = align(tdg, at)
    assert (len(found.path), found.apr, found.ppr) == (40, 1.0, 1.0)
    assert len(found.not_applicable) == 80
    assert all("p2" in id for id in found.path)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Tdg, dict[str, int | None]]:
    """Small acyclic graphs, some nodes with paths of their own, and when each node was completed."""
    count = draw(st.integers(1, 5))
    kinds = st.sampled_from(["fixed", F])
    nodes = []
    for i in range(count):
        held = draw(st.lists(st.integers(1, 2), max_size=3)) if draw(st.booleans()) else []
        ways = [[node(f"n{i}p{p}{k}", draw(kinds)) for k in range(length)] for p, length in enumerate(held)]
        nodes.append(node(f"n{i}", draw(kinds), (), *ways))
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    tdg = Tdg(tuple(nodes), tuple((f"n{a}", f"n{b}") for a, b in edges))
    return tdg, {one.id: draw(st.none() | st.integers(0, 4)) for one in tdg.walk()}


def every_path(tdg: Tdg) -> list[list[TdgNode]]:
    """All paths, written out one by one."""
    after: dict[str, list[str]] = {one.id: [b for a, b in tdg.edges if a == one.id] for one in tdg.nodes}
    ends = {end for edge in tdg.edges for end in edge}
    by_id = {one.id: one for one in tdg.nodes}

    def leading(id: str) -> list[list[str]]:
        return [[id, *rest] for b in after[id] for rest in leading(b)] or [[id]]

    led = {b for _, b in tdg.edges}
    alone = [one.id for one in tdg.nodes if one.id not in ends]
    ways = [[*alone, *way] for one in tdg.nodes if one.id in ends - led for way in leading(one.id)] or [alone]
    found: list[list[TdgNode]] = []
    for way in ways:
        whole: list[list[TdgNode]] = [[]]
        for id in way:
            own = [list(path) for path in by_id[id].alternatives] or [[by_id[id]]]
            whole = [[*before, *more] for before in whole for more in own]
        found += whole
    return found


@given(graphs())
def test_the_path_is_the_best_of_all_written_out(drawn: tuple[Tdg, dict[str, int | None]]) -> None:
    tdg, at = drawn

    def rank(path: list[TdgNode]) -> tuple[Any, ...]:
        done = [one for one in path if at[one.id] is not None]
        times = sorted(step for one in done if (step := at[one.id]) is not None)
        return len(done), sum(one.kind == F for one in done), -len(path), [-time for time in times]

    found = align(tdg, at)
    on = [one for one in tdg.walk() if one.id in found.path]
    assert rank(on) == max(map(rank, every_path(tdg)))
    assert 0 <= found.apr <= 1
    assert sorted([*found.path, *found.not_applicable]) == sorted(o.id for o in tdg.walk() if not o.alternatives)


@given(graphs())
def test_completing_more_never_lowers_what_is_completed(drawn: tuple[Tdg, dict[str, int | None]]) -> None:
    tdg, at = drawn
    before = len(align(tdg, at).completed)
    for id in at:
        assert len(align(tdg, {**at, id: 0}).completed) >= before


def test_the_path_that_is_declared_first() -> None:
    tdg = Tdg(
        (node("a"), node("w", "fixed", (), [node("x"), node("y")], [node("z")]), node("b"), node("c")),
        (("a", "w"), ("a", "b"), ("w", "c"), ("b", "c")),
    )
    assert first_path(tdg) == ("a", "x", "y", "c")
