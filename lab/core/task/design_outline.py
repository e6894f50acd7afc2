"""Edit a task's graph as an outline, node by node, so that no edge is left dangling."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

import msgspec

from lab.core.task.task import Tdg, TdgNode

_NO_WORD = re.compile(r"\W+")
_LONGEST = 32


class NodePlace(NamedTuple):
    """Position of a node: `at` in the graph's list, or in path `path` of the node `within`."""

    at: int
    within: str = ""
    path: int = 0


class OutlineRow(NamedTuple):
    """One line of the outline: a node, its number (such as `2` or `2B1`) and its nesting `depth`."""

    node: TdgNode
    number: str
    depth: int
    place: NodePlace


def rows(tdg: Tdg) -> list[OutlineRow]:
    """Return every node in outline order."""
    lines: list[OutlineRow] = []
    for index, node in enumerate(tdg.nodes):
        _append_rows(node, str(index + 1), 0, NodePlace(index), lines)
    return lines


def _append_rows(node: TdgNode, number: str, depth: int, place: NodePlace, outline: list[OutlineRow]) -> None:
    outline.append(OutlineRow(node, number, depth, place))
    for p, path in enumerate(node.alternatives):
        for i, inner in enumerate(path):
            _append_rows(inner, f"{number}{letter(p)}{i + 1}", depth + 1, NodePlace(i, node.id, p), outline)


def letter(path: int) -> str:
    """Return the letter of a path: A to Z, then P27 and on."""
    return chr(65 + path) if path < 26 else f"P{path + 1}"


def fresh_id(name: str, used_ids: Collection[str], stem: str) -> str:
    """Return an unused id made of a name's words, or of `stem` if the name has no words."""
    base = _NO_WORD.sub("_", name.casefold()).strip("_")[:_LONGEST].strip("_") or stem
    id, number = base, 1
    while id in used_ids:
        number += 1
        id = f"{base}_{number}"
    return id


def ids(tdg: Tdg) -> set[str]:
    """Return the ids of all nodes."""
    return {node.id for node in tdg.walk()}


def add(tdg: Tdg, node: TdgNode, after: str = "") -> Tdg:
    """Insert a node after `after` in its list and its flow, or at the end of the graph if `after` is empty."""
    place = _find_place(tdg, after)
    if place is None:
        place = NodePlace(len(tdg.nodes) - 1)
    return _insert(tdg, node, place._replace(at=place.at + 1))


def replace_node(tdg: Tdg, id: str, node: TdgNode) -> Tdg:
    """Replace the node `id` by `node`. Edges and requirements follow a changed id."""

    def new_id(other: str) -> str:
        return node.id if other == id else other

    def change_nodes(nodes: tuple[TdgNode, ...]) -> tuple[TdgNode, ...]:
        return tuple(change_node(node if one.id == id else one) for one in nodes)

    def change_node(one: TdgNode) -> TdgNode:
        return msgspec.structs.replace(
            one, requires=tuple(map(new_id, one.requires)), alternatives=tuple(map(change_nodes, one.alternatives))
        )

    edges = tuple((new_id(a), new_id(b)) for a, b in tdg.edges)
    return msgspec.structs.replace(tdg, nodes=change_nodes(tdg.nodes), edges=edges)


def remove(tdg: Tdg, id: str) -> Tdg:
    """Remove a node and the nodes in it, and join its predecessors to its successors."""
    node = _find_node(tdg, id)
    if node is None:
        return tdg
    removed_ids = ids(Tdg((node,)))
    before, after = [a for a, b in tdg.edges if b == id], [b for a, b in tdg.edges if a == id]
    bridges = [(a, b) for a in before for b in after if a not in removed_ids and b not in removed_ids]
    other_edges = [edge for edge in tdg.edges if not removed_ids & set(edge)]
    other_nodes = _drop_nodes(tdg.nodes, removed_ids)
    return msgspec.structs.replace(tdg, nodes=other_nodes, edges=tuple(dict.fromkeys([*other_edges, *bridges])))


def _drop_nodes(nodes: tuple[TdgNode, ...], removed_ids: set[str]) -> tuple[TdgNode, ...]:
    return tuple(
        msgspec.structs.replace(
            one,
            requires=tuple(r for r in one.requires if r not in removed_ids),
            alternatives=tuple(path for path in (_drop_nodes(p, removed_ids) for p in one.alternatives) if path),
        )
        for one in nodes
        if one.id not in removed_ids
    )


def move(tdg: Tdg, id: str, by: int) -> Tdg:
    """Move a node up or down within its own list by `by` positions.

    The flow changes with the list only if an edge joins the node to the one it changes places with.
    """
    place, node = _find_place(tdg, id), _find_node(tdg, id)
    if place is None or node is None:
        return tdg
    siblings = _siblings(tdg, place)
    target = place.at + by
    if not 0 <= target < len(siblings):
        return tdg
    other = siblings[target].id
    moved_tdg = _insert(_detach(tdg, node), node, place._replace(at=target))
    edges_between = {(id, other), (other, id)} & set(tdg.edges)
    return moved_tdg if edges_between else msgspec.structs.replace(tdg, nodes=moved_tdg.nodes)


def indent(tdg: Tdg, id: str) -> Tdg:
    """Move a node into the one above it, as a new path. A path's first node moves to the end of the path before."""
    place, node = _find_place(tdg, id), _find_node(tdg, id)
    if place is None or node is None:
        return tdg
    without_node = _detach(tdg, node)
    if place.at:
        above = _siblings(tdg, place)[place.at - 1]
        return _insert(without_node, node, NodePlace(0, above.id, len(above.alternatives)))
    if not place.within or not place.path:
        return tdg
    holder = _find_node(tdg, place.within)
    assert holder is not None
    return _insert(without_node, node, NodePlace(len(holder.alternatives[place.path - 1]), holder.id, place.path - 1))


def outdent(tdg: Tdg, id: str) -> Tdg:
    """Move a node out of its path, to after the node that holds it."""
    place, node = _find_place(tdg, id), _find_node(tdg, id)
    if place is None or node is None or not place.within:
        return tdg
    return add(_detach(tdg, node), node, place.within)


def set_predecessors(tdg: Tdg, id: str, before: Collection[str]) -> Tdg:
    """Replace the edges that lead to a node: exactly the nodes `before` lead to it."""
    others = [edge for edge in tdg.edges if edge[1] != id]
    return msgspec.structs.replace(tdg, edges=(*others, *((a, id) for a in dict.fromkeys(before) if a != id)))


def _find_place(tdg: Tdg, id: str) -> NodePlace | None:
    return next((row.place for row in rows(tdg) if row.node.id == id), None) if id else None


def _find_node(tdg: Tdg, id: str) -> TdgNode | None:
    return next((node for node in tdg.walk() if node.id == id), None)


def _siblings(tdg: Tdg, place: NodePlace) -> tuple[TdgNode, ...]:
    holder = _find_node(tdg, place.within) if place.within else None
    return holder.alternatives[place.path] if holder is not None else tdg.nodes


def _detach(tdg: Tdg, node: TdgNode) -> Tdg:
    """Return the graph without a node that is about to be reinserted. Requirements of it and its inner nodes stay."""
    without_node = remove(tdg, node.id)
    inside = ids(Tdg((node,)))
    for other in tdg.walk():
        if other.id not in inside and inside & set(other.requires):
            there = _find_node(without_node, other.id)
            if there is not None:
                without_node = replace_node(
                    without_node, other.id, msgspec.structs.replace(there, requires=other.requires)
                )
    return without_node


def _insert(tdg: Tdg, node: TdgNode, place: NodePlace) -> Tdg:
    """Insert a node at a place. On the top level the flow leads through it after the node before it."""
    if place.within:
        holder = _find_node(tdg, place.within)
        assert holder is not None
        paths = [list(path) for path in holder.alternatives]
        while len(paths) <= place.path:
            paths.append([])
        paths[place.path].insert(place.at, node)
        alternatives = tuple(tuple(path) for path in paths)
        return replace_node(tdg, holder.id, msgspec.structs.replace(holder, alternatives=alternatives))
    nodes = list(tdg.nodes)
    nodes.insert(place.at, node)
    flow = _flow_through(tdg, node.id, [one.id for one in nodes], place.at)
    return msgspec.structs.replace(tdg, nodes=tuple(nodes), edges=flow)


def _flow_through(tdg: Tdg, id: str, order: list[str], index: int) -> tuple[tuple[str, str], ...]:
    if index:
        above = order[index - 1]
        successors = [b for a, b in tdg.edges if a == above]
        other_edges = [edge for edge in tdg.edges if edge[0] != above]
        return tuple(dict.fromkeys([*other_edges, (above, id), *((id, b) for b in successors)]))
    ends = {b for _, b in tdg.edges}
    first = [one for one in order[1:] if one not in ends][:1]
    return (*((id, one) for one in first), *tdg.edges)
