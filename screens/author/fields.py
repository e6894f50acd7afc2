"""What can be typed about each kind of item, and how what was typed goes into the design."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from lab.design import editing, outline
from lab.design.editing import Item
from lab.design.revision import Design
from lab.design.soundness import ANSWER
from lab.errors import LabError
from lab.plain import plain
from lab.task import Branch, Criterion, InformationUnit, TdgNode

_SEVERAL = re.compile(r"[,;，；、\s]+")
_OPTIONS = re.compile(r"\s*[;；\n]\s*")


class Field(NamedTuple):
    """One line of the form. `turns` are the two words of a switch, empty for a line that is typed."""

    name: str
    label: str
    value: str
    hint: str = ""
    turns: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    """What may stand there, offered while it is typed."""
    whole: bool = False
    """Whether what stands there is rather replaced than added to."""


def fields_of(design: Design, key: str, apps: Sequence[str]) -> list[Field]:
    """The form of one item, what matters most first."""
    item = editing.item_at(design, key)
    match item:
        case TdgNode():
            return _node(design, item)
        case Branch():
            return [
                Field("ask", "asks", item.ask, "what is decided here"),
                Field("options", "options", " ; ".join(item.options), "one ; another ; a third"),
                Field("depth", "depth", str(item.depth), "how many decisions deep, from 1", whole=True),
                Field("id", "id", item.id),
            ]
        case InformationUnit():
            return [
                Field("name", "name", item.name, "what it is: the price, the flight number"),
                Field("value", "value", item.value, "as it stands there"),
                Field("source", "seen in", item.source, "an app", known=tuple(apps)),
                Field("used", "used in", item.used, f"an app, or {ANSWER}", known=(*apps, ANSWER)),
                Field("explicit", "kind", "explicit" if item.explicit else "steering", turns=("explicit", "steering")),
                Field("id", "id", item.id),
            ]
        case Criterion():
            return [
                Field("ask", "asks", item.ask, "what is judged, 0 to 1"),
                Field("weight", "weight", f"{item.weight:g}", "above 0; weights are relative", whole=True),
                Field("id", "id", item.id),
            ]
    return []


def about(design: Design, key: str) -> str:
    """What the list does not show of an item, in a line."""
    shown = [field for field in fields_of(design, key, ()) if field.value and field.name not in ("name", "ask")]
    return "   ".join(f"{field.label}:\u00a0{plain(field.value, lines=False)}" for field in shown)


def _node(design: Design, node: TdgNode) -> list[Field]:
    numbers = {row.node.id: row.number for row in outline.rows(design.tdg)}
    before = [a for a, b in design.tdg.edges if b == node.id]
    flow = [Field("after", "after", _listed(before, numbers), "numbers or ids of what comes right before")]
    return [
        Field("name", "name", node.name, "what is to be done"),
        Field("description", "about", node.description, "what tells that it is done"),
        Field("kind", "kind", node.kind, turns=("fixed", "flexible")),
        *(flow if node in design.tdg.nodes else []),
        Field("requires", "requires", _listed(node.requires, numbers), "numbers or ids of what must be done before"),
        Field("id", "id", node.id),
    ]


def _listed(ids: Sequence[str], numbers: dict[str, str]) -> str:
    return ", ".join(numbers.get(id, id) for id in ids)


def typed(design: Design, key: str, name: str, text: str) -> tuple[Design, str]:
    """The design with what was typed into one field, and the item's key then; `LabError` says what does not fit."""
    item = editing.item_at(design, key)
    text = plain(text, lines=False).strip()
    if item is None:
        raise LabError("form", "the item is no longer there.")
    if name == "after":
        nodes = _ids(design, text)
        return msgspec.structs.replace(design, tdg=outline.follow(design.tdg, item.id, nodes)), key
    changed = msgspec.structs.replace(item, **{name: _value(design, name, text)})
    section = editing.section_of(key)
    taken = {other.id for other in editing.entries(design, section)} - {item.id}
    if name == "id" and (not text or text in taken):
        raise LabError("id", f"{text!r} is taken." if text else "an item needs one.", f"It stays {item.id!r}.")
    if name in ("name", "ask") and item.id == named_id(item, taken):
        changed = msgspec.structs.replace(changed, id=named_id(changed, taken))
    return editing.change(design, key, changed), f"{section}/{changed.id}"


def named_id(item: Item, taken: set[str]) -> str:
    """The id that an item gets from its own words, as long as nobody typed another."""
    words = item.ask if isinstance(item, Branch | Criterion) else item.name
    return outline.fresh_id(words, taken, STEMS[type(item)])


STEMS: dict[type, str] = {TdgNode: "node", Branch: "branch", InformationUnit: "unit", Criterion: "criterion"}


def _value(design: Design, name: str, text: str) -> Any:
    match name:
        case "requires":
            return tuple(_ids(design, text))
        case "options":
            return tuple(option for option in _OPTIONS.split(text) if option)
        case "depth":
            if not text.isascii() or not text.isdigit():
                raise LabError("depth", f"{text!r} is no whole number.", "Type 1, 2, ...")
            return int(text)
        case "weight":
            try:
                return float(text)
            except ValueError as error:
                raise LabError("weight", f"{text!r} is no number.", "Type 1, 0.5, ...") from error
        case "explicit":
            return text == "explicit"
    return text


def _ids(design: Design, text: str) -> list[str]:
    """Ids from ids and outline numbers, in the order typed, each once."""
    rows = outline.rows(design.tdg)
    known = {row.number.casefold(): row.node.id for row in rows} | {row.node.id: row.node.id for row in rows}
    found = []
    for word in filter(None, _SEVERAL.split(text)):
        if word not in known and word.casefold() not in known:
            raise LabError("form", f"there is no node {word!r}.", "Type numbers or ids that stand in the outline.")
        found.append(known.get(word) or known[word.casefold()])
    return list(dict.fromkeys(found))
