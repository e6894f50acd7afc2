"""Edges of a task's graph: the successors of a node, and nodes that no path holds together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lab.core.task import Tdg, TdgNode

_Place = tuple[str | int, ...]
"""Location of a node: the first-level node that holds it, the number of its path, the node in there, ..., its
own id."""


def successors(tdg: Tdg) -> dict[str, list[str]]:
    """Return the successors of each first-level node. An edge of a node within another counts for the outer one."""
    holder = {inner.id: node.id for node in tdg.nodes for inner in Tdg((node,)).walk()}
    follows: dict[str, list[str]] = {node.id: [] for node in tdg.nodes}
    for a, b in tdg.edges:
        if a in holder and b in holder and holder[a] != holder[b] and holder[b] not in follows[holder[a]]:
            follows[holder[a]].append(holder[b])
    return follows


def interchangeable_requirements(tdg: Tdg, required: Sequence[str]) -> list[tuple[str, ...]]:
    """Return for each required node the alternatives of which one must be completed.

    They are the node itself, and those that no path holds together with it.
    """
    if len(required) < 2:
        return [(one,) for one in required]
    places = dict(_node_places(tdg.nodes, ()))
    follows = successors(tdg) if tdg.forks == "any" else {}
    return [
        (one, *(other for other in required if _are_exclusive(places[one], places[other], follows))) for one in required
    ]


def _node_places(nodes: Iterable[TdgNode], above: _Place) -> Iterator[tuple[str, _Place]]:
    for node in nodes:
        yield node.id, (*above, node.id)
        for number, path in enumerate(node.alternatives):
            yield from _node_places(path, (*above, node.id, number))


def _are_exclusive(one: _Place, other: _Place, follows: Mapping[str, Sequence[str]]) -> bool:
    """Return True if two nodes are on two paths of one node, or on two ways of a fork."""
    level = next((level for level, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if level is None:
        return False
    # Below the first level they differ in a path's number (exclusive), or in a node of the same path.
    if level > 0:
        return isinstance(one[level], int)
    ends = {b for following in follows.values() for b in following} | {
        a for a, followers in follows.items() if followers
    }
    a, b = str(one[0]), str(other[0])
    return {a, b} <= ends and not _leads_to(a, b, follows) and not _leads_to(b, a, follows)


def _leads_to(start: str, end: str, follows: Mapping[str, Sequence[str]]) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        nodes = set(follows[waiting.pop()]) - seen
        seen |= nodes
        waiting += nodes
    return end in seen
