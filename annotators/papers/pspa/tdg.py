"""The path of a run through a task's graph: PSPA-Bench's trace-graph alignment (2.3, E.2, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from lab.core.task.task import Tdg, TdgNode

Steps = Mapping[str, int | None]
"""The step (from 0) at which each rated node was completed, None if it was not."""


class PathAlignment(NamedTuple):
    """The path P* that fits a run best. All are ids of unit instructions, never of nodes that hold paths.

    `completed`, `flexible` and `unrated` are on the path. `not_applicable` are on paths that were not taken.
    """

    path: tuple[str, ...]
    completed: tuple[str, ...]
    flexible: tuple[str, ...]
    unrated: tuple[str, ...]
    not_applicable: tuple[str, ...]

    @property
    def apr(self) -> float:
        """A-process ratio: the completed share of the path's unit instructions."""
        return len(self.completed) / len(self.path)

    @property
    def ppr(self) -> float | None:
        """P-process ratio: the completed share of its flexible ones, or None if the path has none."""
        flexible = set(self.flexible)
        return len(flexible & set(self.completed)) / len(flexible) if flexible else None


def align(tdg: Tdg, steps: Steps) -> PathAlignment:
    """Return the path that fits a run best, with the dependency rule (Prompt 2) applied first.

    A node whose required node is not completed counts as not completed, and does not support its path.
    """
    return _align_completed(tdg, steps, fulfilled_nodes(tdg, steps))


def align_raw(tdg: Tdg, steps: Steps) -> PathAlignment:
    """Return the path by matches alone, as Algorithm 1 counts them, without the dependency rule."""
    return _align_completed(tdg, steps, {node.id for node in tdg.walk() if steps.get(node.id) is not None})


def align_items(tdg: Tdg, steps: Steps) -> PathAlignment:
    """Return the path of `align` plus the nodes that hold paths on it, which are items of the paper's checklists (E.4).

    Such an item is completed if any of its paths is (Prompt 2), and flexible if the graph says so.
    """
    alignment = align(tdg, steps)
    on, completed_ids = set(alignment.path), fulfilled_nodes(tdg, steps)
    groups = [node for node in tdg.walk() if node.alternatives and not on.isdisjoint(_leaves(node))]
    return alignment._replace(
        path=(*alignment.path, *(node.id for node in groups)),
        completed=(*alignment.completed, *(node.id for node in groups if node.id in completed_ids)),
        flexible=(*alignment.flexible, *(node.id for node in groups if node.kind == "flexible")),
    )


def _leaves(node: TdgNode) -> set[str]:
    return {one.id for one in Tdg((node,)).walk() if not one.alternatives}


def _align_completed(tdg: Tdg, steps: Steps, completed_ids: set[str]) -> PathAlignment:
    """Return the path with the most completed nodes, then the most completed flexible ones, then the fewest nodes.

    Remaining ties go to the path whose completed nodes are earliest: their steps are compared one by one in order, so
    the first completed node decides first (E.2). After that the path declared first wins. Each node and each edge is
    visited once: the best path within a node is chosen by itself, because additions to both of two paths never change
    their order. So no product of alternatives is computed. Raise `ValueError` if the best path has no unit instruction,
    or the edges form a circle.
    """
    way = _best_way_through(tdg, {id: step for id in completed_ids if (step := steps.get(id)) is not None})
    path = tuple(node.id for node in way.nodes)
    if not path:
        raise ValueError("no unit instruction in the graph")
    on = set(path)
    return PathAlignment(
        path,
        completed=tuple(id for id in path if id in completed_ids),
        flexible=tuple(node.id for node in way.nodes if node.kind == "flexible"),
        unrated=tuple(id for id in path if id not in steps),
        not_applicable=tuple(node.id for node in tdg.walk() if not node.alternatives and node.id not in on),
    )


def first_path(tdg: Tdg) -> tuple[str, ...]:
    """Return the path that is declared first, as a fixed reference: first alternatives, and first edges of forks."""
    only = Tdg(tuple(map(_first_alternatives, tdg.nodes)), tdg.edges, tdg.forks)
    return tuple(node.id for node in _best_way_through(only, {}, lambda ways: ways[0]).nodes)


def fulfilled_nodes(tdg: Tdg, steps: Steps) -> set[str]:
    """Return the nodes that are completed under the dependency rule.

    A node that holds paths is completed if any of them is. Nodes within a node share its requirements. Of required
    nodes that no path holds together one suffices, because no run takes two paths. A requirement outside the graph has
    no effect.
    """
    node_ids = {node.id for node in tdg.walk()}
    fulfilment = [
        (node, [r for r in required if r in node_ids]) for node, required in _with_requirements(tdg.nodes, ())
    ]
    remaining_nodes = [(node, interchangeable_requirements(tdg, required)) for node, required in fulfilment]
    completed_ids: set[str] = set()
    # Repeated until nothing changes, because each completed node may fulfil the requirement of another.
    while True:
        waiting = []
        for node, required in remaining_nodes:
            ready = all(not completed_ids.isdisjoint(any_of) for any_of in required)
            if ready and (_any_path(node, completed_ids) if node.alternatives else steps.get(node.id) is not None):
                completed_ids.add(node.id)
            else:
                waiting.append((node, required))
        if len(waiting) == len(remaining_nodes):
            return completed_ids
        remaining_nodes = waiting


def _with_requirements(nodes: Iterable[TdgNode], above: tuple[str, ...]) -> Iterator[tuple[TdgNode, tuple[str, ...]]]:
    """Yield every node with its requirements.

    Nodes within a node come before it, because it depends on them.
    """
    for node in nodes:
        required = (*above, *node.requires)
        for path in node.alternatives:
            yield from _with_requirements(path, required)
        yield node, required


def _any_path(node: TdgNode, completed_ids: set[str]) -> bool:
    return any(all(one.id in completed_ids for one in path) for path in node.alternatives)


class _Way(NamedTuple):
    """A stretch of a path. A greater `rank` is better: completed, flexible ones, fewer nodes, earlier steps."""

    completed: int = 0
    flexible: int = 0
    shorter: int = 0
    earlier: tuple[int, ...] = ()
    nodes: tuple[TdgNode, ...] = ()

    @property
    def rank(self) -> tuple[int, int, int, tuple[int, ...]]:
        return self[:4]

    def followed_by(self, other: _Way) -> _Way:
        return _Way(
            self.completed + other.completed,
            self.flexible + other.flexible,
            self.shorter + other.shorter,
            # Negative steps in descending order: the earliest completion is compared first, and greater is earlier.
            tuple(sorted(self.earlier + other.earlier, reverse=True)),
            self.nodes + other.nodes,
        )


def _best_way(ways: Sequence[_Way]) -> _Way:
    return max(ways, key=lambda way: way.rank)


def _best_way_through(
    tdg: Tdg, step_by_node: Mapping[str, int], best: Callable[[Sequence[_Way]], _Way] = _best_way
) -> _Way:
    """Return the best way through a graph.

    Nodes without edges, and all nodes if a fork means all, are on every way.
    """

    def alone(node: TdgNode) -> _Way:
        if node.alternatives:
            return best([_join_ways(map(alone, path)) for path in node.alternatives])
        if node.id not in step_by_node:
            return _Way(shorter=-1, nodes=(node,))
        return _Way(1, int(node.kind == "flexible"), -1, (-step_by_node[node.id],), (node,))

    follows = successors(tdg)
    order = _order(follows)
    led_to = {b for following in follows.values() for b in following}
    touched = led_to | {a for a, following in follows.items() if following}
    ways = {node.id: alone(node) for node in tdg.nodes}
    if tdg.forks == "all" or not touched:
        return _join_ways(ways.values())
    on: dict[str, _Way] = {}
    # From the end backwards, so that the best continuation of a node is known before the node.
    for id in reversed(order):
        on[id] = ways[id].followed_by(best([on[b] for b in follows[id]])) if follows[id] else ways[id]
    edge_way = best([on[node.id] for node in tdg.nodes if node.id in touched - led_to])
    return _join_ways([*(way for id, way in ways.items() if id not in touched), edge_way])


def _join_ways(ways: Iterable[_Way]) -> _Way:
    whole = _Way()
    for way in ways:
        whole = whole.followed_by(way)
    return whole


def _order(after: Mapping[str, list[str]]) -> list[str]:
    """Return nodes in topological order. Raise `ValueError` if the edges form a circle."""
    waiting = dict.fromkeys(after, 0)
    for following in after.values():
        for b in following:
            waiting[b] += 1
    order = [id for id, predecessors in waiting.items() if not predecessors]
    for id in order:
        for b in after[id]:
            waiting[b] -= 1
            if not waiting[b]:
                order.append(b)
    if len(order) < len(after):
        raise ValueError("a circle of edges in the graph")
    return order


def _first_alternatives(node: TdgNode) -> TdgNode:
    return msgspec.structs.replace(
        node, alternatives=tuple(tuple(map(_first_alternatives, p)) for p in node.alternatives[:1])
    )


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
