"""Form fields of each kind of item, and the parsing of their texts into the design."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.task import design_outline
from lab.core.task.design import Design
from lab.core.task.task import Branch, Criterion, InformationUnit, TdgNode
from lab.core.text.plain_text import plain
from lab.core.values.whole_number import whole_number
from lab.studies.designing import design_editing
from lab.studies.designing.design_checks import ANSWER
from lab.studies.designing.design_editing import Item

# With the punctuation of Chinese input methods.
_SEVERAL = re.compile(r"[,;，；、\s]+")
_DEEPEST = 999
"""Maximum depth of a branch."""
_SHOWN = 40
"""Characters of typed text that an error message repeats."""
_OPTIONS = re.compile(r"[;；\n]")


class FormField(NamedTuple):
    """One line of the form. `switch` are the two words of a switch, empty for a text field."""

    name: str
    label: str
    value: str
    hint: str = ""
    switch: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    """Possible values, offered as completion."""
    replaced: bool = False
    """True if typing usually replaces the value: focus selects it."""


def fields_of(design: Design, key: str, apps: Sequence[str]) -> list[FormField]:
    """Return the form of one item, the most important fields first."""
    item = design_editing.item_at(design, key)
    match item:
        case TdgNode():
            return _node_fields(design, item)
        case Branch():
            return [
                FormField("ask", "asks", item.ask, "what is decided here"),
                FormField("options", "options", " ; ".join(item.options), "one ; another ; a third"),
                FormField("depth", "depth", str(item.depth), "how many decisions deep, from 1", replaced=True),
                FormField("id", "id", item.id),
            ]
        case InformationUnit():
            return [
                FormField("name", "name", item.name, "what it is: the price, the flight number"),
                FormField("value", "value", item.value, "as it stands there"),
                FormField("source", "seen in", item.source, "an app", suggestions=tuple(apps)),
                FormField("used", "used in", item.used, f"an app, or {ANSWER}", suggestions=(*apps, ANSWER)),
                FormField(
                    "explicit", "kind", "explicit" if item.explicit else "steering", switch=("explicit", "steering")
                ),
                FormField("id", "id", item.id),
            ]
        case Criterion():
            return [
                FormField("ask", "asks", item.ask, "what is judged, 0 to 1"),
                FormField("weight", "weight", f"{item.weight:g}", "above 0; weights are relative", replaced=True),
                FormField("id", "id", item.id),
            ]
    return []


def detail_words(design: Design, key: str) -> str:
    """Return in one line what the list does not show of an item."""
    filled = [field for field in fields_of(design, key, ()) if field.value and field.name not in ("name", "ask")]
    # A no-break space keeps a label on the line of its value.
    return "   ".join(f"{field.label}:\u00a0{plain(field.value, lines=False)}" for field in filled)


def _node_fields(design: Design, node: TdgNode) -> list[FormField]:
    numbers = {row.node.id: row.number for row in design_outline.rows(design.tdg)}
    before = [a for a, b in design.tdg.edges if b == node.id]
    flow = [FormField("after", "after", _node_numbers(before, numbers), "numbers or ids of what comes right before")]
    return [
        FormField("name", "name", node.name, "what is to be done"),
        FormField("description", "about", node.description, "what tells that it is done"),
        FormField("kind", "kind", node.kind, switch=("fixed", "flexible")),
        *(flow if node in design.tdg.nodes else []),
        FormField(
            "requires", "requires", _node_numbers(node.requires, numbers), "numbers or ids of what must be done before"
        ),
        FormField("id", "id", node.id),
    ]


def _node_numbers(ids: Sequence[str], numbers: dict[str, str]) -> str:
    return ", ".join(numbers.get(id, id) for id in ids)


def store_typed(design: Design, key: str, name: str, text: str) -> tuple[Design, str]:
    """Return the design with the text of one field stored, and the item's new key.

    Raise `LabError` if it does not fit.
    """
    item = design_editing.item_at(design, key)
    text = text.strip()
    if item is None:
        raise LabError("form", "the item is no longer there.")
    if name == "after":
        nodes = _parse_ids(design, text)
        return msgspec.structs.replace(design, tdg=design_outline.set_predecessors(design.tdg, item.id, nodes)), key
    replacement = msgspec.structs.replace(item, **{name: _parse_value(design, name, text)})
    section = design_editing.section_of(key)
    used_ids = {other.id for other in design_editing.entries(design, section)} - {item.id}
    if name == "id" and (not text or text in used_ids):
        raise LabError("id", f"{text!r} is taken." if text else "an item needs one.", f"It stays {item.id!r}.")
    if name in ("name", "ask") and item.id == named_id(item, used_ids):
        replacement = msgspec.structs.replace(replacement, id=named_id(replacement, used_ids))
    return design_editing.change(design, key, replacement), f"{section}/{replacement.id}"


def named_id(item: Item, used_ids: set[str]) -> str:
    """Return the id that an item gets from its own words unless a person typed one."""
    words = item.ask if isinstance(item, Branch | Criterion) else item.name
    return design_outline.fresh_id(words, used_ids, STEMS[type(item)])


STEMS: dict[type, str] = {TdgNode: "node", Branch: "branch", InformationUnit: "unit", Criterion: "criterion"}


def _parse_value(design: Design, name: str, text: str) -> Any:
    match name:
        case "requires":
            return tuple(_parse_ids(design, text))
        case "options":
            return tuple(option for part in _OPTIONS.split(text) if (option := part.strip()))
        case "depth":
            depth = whole_number(text)
            if depth is None or depth > _DEEPEST:
                raise LabError("depth", f"{text[:_SHOWN]!r} is no whole number up to {_DEEPEST}.", "Type 1, 2, ...")
            return depth
        case "weight":
            with suppress(ValueError):
                if math.isfinite(weight := float(text)):
                    return weight
            raise LabError("weight", f"{text[:_SHOWN]!r} is no number.", "Type 1, 0.5, ...")
        case "explicit":
            return text == "explicit"
    return text


def _parse_ids(design: Design, text: str) -> list[str]:
    """Parse ids and outline numbers to ids, in the order typed, each once."""
    rows = design_outline.rows(design.tdg)
    ids_by_word = {row.number.casefold(): row.node.id for row in rows} | {row.node.id: row.node.id for row in rows}
    ids = []
    for word in filter(None, _SEVERAL.split(text)):
        if word not in ids_by_word and word.casefold() not in ids_by_word:
            raise LabError("form", f"there is no node {word!r}.", "Type numbers or ids that stand in the outline.")
        ids.append(ids_by_word.get(word) or ids_by_word[word.casefold()])
    return list(dict.fromkeys(ids))
