"""Graphs made to mislead PSPA-Bench's alignment, and all that brute force can say of small ones (2.3, Prompt 2)."""

from __future__ import annotations

from annotators.papers.pspa.tdg import align, fulfilled_nodes
from lab.core.task.task import Tdg
from tests.annotators.test_tdg import F, chain, node, steps


def test_the_greedy_way_at_a_fork_is_the_wrong_one() -> None:
    """At s the way over b has a completed node and the one over c none, yet c-d-e completes 2 and b-x only 1.

    s-b-x: s, b = 2 of 3. s-c-d-e: s, d, e = 3 of 4.
    """
    tdg = Tdg(tuple(map(node, "sbxcde")), (("s", "b"), ("b", "x"), ("s", "c"), ("c", "d"), ("d", "e")))
    found = align(tdg, steps(s=0, b=1, x=None, c=None, d=5, e=6))
    assert (found.path, found.apr, found.not_applicable) == (("s", "c", "d", "e"), 3 / 4, ("b", "x"))


def test_more_completed_goes_before_flexible_and_flexible_before_short_and_short_before_early() -> None:
    """Path by path: 2 of 9 fixed; then 1 fixed and 1 flexible of 9; then 2 nodes; then the first step."""
    long = [node(f"x{i}") for i in range(7)]
    fixed = [node("a"), node("b"), *long]
    flexible = [node("c", F)]
    tdg = chain(node("way", "fixed", (), fixed, flexible))
    blank = dict.fromkeys(one.id for one in long)
    assert align(tdg, {**blank, "a": 8, "b": 9, "c": 0}).path[:2] == ("a", "b")
    even = chain(node("way", "fixed", (), [node("a"), node("b")], [node("c", F), node("d"), *long]))
    assert align(even, {**blank, "a": 0, "b": 1, "c": 8, "d": 9}).path[:2] == ("c", "d")
    same = chain(node("way", "fixed", (), [node("a", F), *long], [node("c", F), node("d")]))
    assert align(same, {**blank, "a": 0, "c": 9, "d": None}).path == ("c", "d")
    late = chain(node("way", "fixed", (), [node("a", F), node("b")], [node("c", F), node("d")]))
    assert align(late, {"a": None, "b": 3, "c": None, "d": 2}).path == ("c", "d")


def test_the_earliest_node_is_looked_for_over_the_whole_path_and_not_way_by_way() -> None:
    """Two forks one after the other; each is settled by itself, and together they are the earliest of four paths.

    a 5 or b 4, then c 1 or d 2: b, c comes first at 1 and next at 4.
    """
    tdg = Tdg(
        tuple(map(node, "sabmcd")),
        (("s", "a"), ("s", "b"), ("a", "m"), ("b", "m"), ("m", "c"), ("m", "d")),
    )
    assert align(tdg, steps(s=0, a=5, b=4, m=3, c=1, d=2)).path == ("s", "b", "m", "c")


def test_of_required_nodes_on_two_ways_of_a_fork_one_will_do() -> None:
    """d follows b or c and is said to require both: whoever comes over b has no c, and 3 of 3."""
    tdg = Tdg((*map(node, "abc"), node("d", "fixed", ["b", "c"])), (("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")))
    assert align(tdg, steps(a=0, b=1, c=None, d=2)).apr == 1
    assert align(tdg, steps(a=0, b=None, c=1, d=2)).apr == 1
    assert align(tdg, steps(a=0, b=None, c=None, d=2)).completed == ("a",)


def test_of_required_nodes_on_two_paths_of_a_node_one_will_do() -> None:
    """`end` requires the last node of each path: a2, or b1, or z within path c."""
    inner = node("in", "fixed", (), [node("y")], [node("z")])
    way = node("way", "fixed", (), [node("a1"), node("a2")], [node("b1")], [inner])
    tdg = chain(way, node("end", "fixed", ["a2", "b1", "z"]))
    assert "end" in fulfilled_nodes(tdg, steps(b1=0, end=1))
    assert "end" in fulfilled_nodes(tdg, steps(z=0, end=1))
    assert "end" not in fulfilled_nodes(tdg, steps(a1=0, y=0, end=1))


def test_required_nodes_of_one_path_are_all_required() -> None:
    """One after the other, one holding the other, both in one path, beside every path, or where a fork means all."""
    edges = (("a", "b"), ("b", "c"))
    row = Tdg((node("a"), node("b"), node("c", "fixed", ["a", "b"])), edges)
    assert "c" not in fulfilled_nodes(row, steps(b=0, c=1))
    held = chain(node("way", "fixed", (), [node("a1"), node("a2")], [node("b")]), node("c", "fixed", ["way", "a1"]))
    assert "c" not in fulfilled_nodes(held, steps(b=0, c=1))
    inside = chain(node("way", "fixed", (), [node("a1"), node("a2")], [node("b")]), node("c", "fixed", ["a1", "a2"]))
    assert "c" not in fulfilled_nodes(inside, steps(a1=0, c=1))
    beside = Tdg((node("a"), node("b"), node("c", "fixed", ["a", "b"])))
    assert "c" not in fulfilled_nodes(beside, steps(a=0, c=1))
    fork = (("s", "a"), ("s", "b"), ("a", "c"), ("b", "c"))
    every = Tdg((node("s"), node("a"), node("b"), node("c", "fixed", ["a", "b"])), fork, "all")
    assert "c" not in fulfilled_nodes(every, steps(s=0, a=0, c=1))


def test_a_fork_of_any_and_one_of_all() -> None:
    """The same four nodes: any is a-b-d or a-c-d, 3 of 3; all is the four of them, 3 of 4."""
    edges = (("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"))
    at = steps(a=0, b=1, c=None, d=2)
    assert align(Tdg(tuple(map(node, "abcd")), edges), at).apr == 1
    assert align(Tdg(tuple(map(node, "abcd")), edges, "all"), at).apr == 3 / 4


def test_a_flexible_node_with_paths_is_none_of_the_units_that_are_counted() -> None:
    """Checklist 1's way to the cart: a flexible node whose paths are fixed; 2 of 2, and nothing flexible in it."""
    tdg = chain(node("cart", F, (), [node("straight")], [node("home"), node("from home", "fixed", ["home"])]))
    found = align(tdg, {"straight": None, "home": 0, "from home": 1})
    assert (found.apr, found.ppr) == (1.0, None)
