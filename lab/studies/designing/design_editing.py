"""Edits of one item of a design. Its evidence follows each edit."""

from __future__ import annotations

from typing import TypeAlias, cast

import msgspec

from lab.core.task import design_outline
from lab.core.task.design import Design, Section, drop_stale_evidence
from lab.core.task.task import Branch, Criterion, InformationUnit, Rubric, Tdg, TdgNode

Item: TypeAlias = TdgNode | Branch | InformationUnit | Criterion
Flat: TypeAlias = tuple[Branch | InformationUnit | Criterion, ...]


def section_of(key: str) -> Section:
    """Return the section in an item's key."""
    return cast(Section, key.partition("/")[0])


def id_of(key: str) -> str:
    """Return the item's id in its key."""
    return key.partition("/")[2]


def entries(design: Design, section: Section) -> list[Item]:
    """Return a section's items in order, for the graph every node with those in alternatives."""
    return list(design.tdg.walk()) if section == "tdg" else list(_flatten(design, section))


def item_at(design: Design, key: str) -> Item | None:
    """Return the item with this key, None if missing."""
    return next((item for item in entries(design, section_of(key)) if item.id == id_of(key)), None)


def add(design: Design, section: Section, item: Item, after: str = "") -> Design:
    """Insert an item behind the one with key `after` (of the same section), else at the end."""
    if section == "tdg":
        assert isinstance(item, TdgNode)
        return _with_graph(design, design_outline.add(design.tdg, item, id_of(after)))
    flat = list(_flatten(design, section))
    at = next((i for i, one in enumerate(flat) if f"{section}/{one.id}" == after), len(flat) - 1)
    assert not isinstance(item, TdgNode)
    flat.insert(at + 1, item)
    return _with_flat(design, section, tuple(flat))


def change(design: Design, key: str, item: Item) -> Design:
    """Replace the item with this key. Edges, requirements and evidence follow a new id."""
    section = section_of(key)
    links = {f"{section}/{item.id}" if one == key else one: where for one, where in design.evidence.items()}
    with_links = msgspec.structs.replace(design, evidence=links)
    if section == "tdg":
        assert isinstance(item, TdgNode)
        return msgspec.structs.replace(with_links, tdg=design_outline.replace_node(design.tdg, id_of(key), item))
    assert not isinstance(item, TdgNode)
    flat = tuple(item if one.id == id_of(key) else one for one in _flatten(design, section))
    return _with_flat(with_links, section, flat)


def remove(design: Design, key: str) -> Design:
    """Remove the item with this key, with its evidence."""
    section = section_of(key)
    if section == "tdg":
        return drop_stale_evidence(_with_graph(design, design_outline.remove(design.tdg, id_of(key))))
    return drop_stale_evidence(
        _with_flat(design, section, tuple(one for one in _flatten(design, section) if one.id != id_of(key)))
    )


def move(design: Design, key: str, by: int) -> Design:
    """Move an item `by` places among its siblings."""
    section = section_of(key)
    if section == "tdg":
        return _with_graph(design, design_outline.move(design.tdg, id_of(key), by))
    flat = list(_flatten(design, section))
    at = next(i for i, one in enumerate(flat) if one.id == id_of(key))
    if 0 <= at + by < len(flat):
        flat.insert(at + by, flat.pop(at))
    return _with_flat(design, section, tuple(flat))


def nest(design: Design, key: str, *, deeper: bool) -> Design:
    """Indent or outdent a node. Other items have no depth."""
    if section_of(key) != "tdg":
        return design
    way = design_outline.indent if deeper else design_outline.outdent
    return _with_graph(design, way(design.tdg, id_of(key)))


def toggle_kind(design: Design, key: str) -> Design:
    """Toggle a node between fixed and flexible, a unit between explicit and steering."""
    match item_at(design, key):
        case TdgNode() as node:
            kind = "fixed" if node.kind == "flexible" else "flexible"
            return change(design, key, msgspec.structs.replace(node, kind=kind))
        case InformationUnit() as unit:
            return change(design, key, msgspec.structs.replace(unit, explicit=not unit.explicit))
    return design


def toggle_evidence(design: Design, key: str, link: str) -> Design:
    """Toggle a step as evidence of an item."""
    links = design.evidence.get(key, ())
    evidence = tuple(one for one in links if one != link) if link in links else (*links, link)
    return drop_stale_evidence(msgspec.structs.replace(design, evidence={**design.evidence, key: evidence}))


def _flatten(design: Design, section: Section) -> Flat:
    if section == "branches":
        return design.branches
    return design.units if section == "units" else design.rubric.criteria


def _with_flat(design: Design, section: Section, flat: Flat) -> Design:
    if section == "rubric":
        return msgspec.structs.replace(design, rubric=Rubric(cast(tuple[Criterion, ...], flat)))
    return msgspec.structs.replace(design, **{section: flat})


def _with_graph(design: Design, tdg: Tdg) -> Design:
    return msgspec.structs.replace(design, tdg=tdg)
