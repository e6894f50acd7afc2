"""Textual's styling with what it gave before: sheets that are put together once, and nodes that stand as others stood.

What the sheet gives to a node depends on its rules for nodes of that class, id and CSS classes, and on the classes,
ids, CSS classes and pseudo-classes from the app down to the node. `test_styling.py` compares it with Textual's own.
"""

from __future__ import annotations

from collections import defaultdict
from operator import attrgetter
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

TEXTUALS = Stylesheet.apply
"""Textual's own."""
_parse = Stylesheet.parse
_rules_map: Any = Stylesheet.rules_map.fget  # type: ignore[attr-defined]
_OF_APP = frozenset({"dark", "light", "inline", "ansi", "nocolor"})
"""Pseudo-classes that all nodes of an app have, or none."""
_TRAITS = ("_has_hover_style", "_has_focus_within", "_has_order_style", "_has_odd_or_even")
"""What Textual notes of a node while it styles it."""
_traits = attrgetter(*_TRAITS)

Rules = dict[str, list[RuleSet]]


def remember_styles(patch: pytest.MonkeyPatch) -> None:
    """Puts both in place. They go by the identity of rules: each text of a sheet has to be parsed once."""
    patch.setattr(Stylesheet, "parse", _put_together)
    patch.setattr(Stylesheet, "rules_map", property(_named))
    patch.setattr(Stylesheet, "apply", _apply)


class _Kind:
    """Nodes of one class, id and CSS classes under the same rules.

    `styled` has what became of them by their place; `given` has the styles of that, each once.
    """

    def __init__(self, names: tuple[str, ...], rules: Rules) -> None:
        self.names = names
        self.rules = [rules.get(name) for name in names]
        found = {pseudo for each in self.rules for rule in each or () for pseudo in rule.pseudo_classes}
        self.pseudo_classes = tuple(sorted(found - _OF_APP))
        self.given: list[dict[str, Any]] = []
        self.styled: dict[tuple[Any, ...], tuple[dict[str, Any], tuple[bool, ...]]] = {}

    def is_under(self, rules: Rules) -> bool:
        """Whether these rules say the same of it."""
        return all(rules.get(name) == known for name, known in zip(self.names, self.rules, strict=True))


_kinds: dict[Any, list[_Kind]] = defaultdict(list)
"""All kinds that were met, in whatever app: where a text is parsed once, its rules are the same objects in each."""
_kinds_under: dict[int, tuple[Rules, dict[Any, _Kind]]] = {}
"""The kinds of nodes under the same rules, by the identity of those."""
_sheets: dict[Any, list[RuleSet]] = {}
"""What sheets of the same sources and variables say."""
_by_name: dict[int, tuple[list[RuleSet], Rules]] = {}
"""Such rules by name, by the identity of the list of them."""
_of_a_name: dict[tuple[int, ...], list[RuleSet]] = {}
"""The rules of one name, by their identity: they are the same in most of some hundred sheets."""
_known: dict[Any, Any] = {}
"""Parts of places, each once."""


def _put_together(sheet: Stylesheet) -> None:
    """What stands in for `Stylesheet.parse`."""
    key = (tuple(sheet.source.items()), tuple(sheet._variables.items()))
    if key not in _sheets:
        _parse(sheet)
        _sheets[key] = sheet._rules
    sheet._rules, sheet._require_parse = _sheets[key], False


def _named(sheet: Stylesheet) -> Rules:
    """What stands in for `Stylesheet.rules_map`, which would be another one for each app."""
    rules = sheet.rules
    if id(rules) not in _by_name:
        sheet._rules_map = None
        named = _rules_map(sheet)
        _by_name[id(rules)] = (
            rules,
            {name: _of_a_name.setdefault(tuple(map(id, found)), found) for name, found in named.items()},
        )
    return _by_name[id(rules)][1]


def _apply(sheet: Stylesheet, node: DOMNode, *, animate: bool = False, cache: Any = None) -> None:
    """What stands in for `Stylesheet.apply`."""
    kind = _kind(sheet.rules_map, node)
    place = _place(node, kind.pseudo_classes)
    known = kind.styled.get(place)
    base: Any = node.styles.base
    if known is None:
        TEXTUALS(sheet, node, animate=animate, cache=cache)
        if not animate or "transitions" not in base._rules:
            given = next((one for one in kind.given if one == base._rules), None)
            if given is None:
                given = dict(base._rules)
                kind.given.append(given)
            kind.styled[place] = (given, _traits(node))
        node.__dict__["_styled_as"] = None
        return
    rules, traits = known
    for name, value in zip(_TRAITS, traits, strict=True):
        setattr(node, name, value)
    if not base._rules and not node._is_mounted:
        base._rules.update(rules)
        base._updates += 1
        node.notify_style_update()
    elif not animate or base._rules != rules:
        sheet.replace_rules(node, rules, animate=animate)  # type: ignore[arg-type]
    if node.__dict__.get("_styled_as") is not known:
        sheet._process_component_classes(node)
        node.__dict__["_styled_as"] = known


def _kind(rules: Rules, node: DOMNode) -> _Kind:
    _, kinds = _kinds_under.setdefault(id(rules), (rules, {}))
    key = (type(node), node._id, frozenset(node._classes))
    if key not in kinds:
        kind = next((one for one in _kinds[key] if one.is_under(rules)), None)
        if kind is None:
            parts = {f".{name}" for name in node._get_component_classes()}
            kind = _Kind(tuple(node._selector_names | parts | {"DOMNode"}), rules)
            _kinds[key].append(kind)
        kinds[key] = kind
    return kinds[key]


def _place(node: DOMNode, pseudo_classes: tuple[str, ...]) -> tuple[Any, ...]:
    """All from the app down to the node that a selector can ask for."""
    app = node.app
    place: list[Any] = [app.theme, app.is_inline, app.native_ansi_color, app.no_color]
    at: Any = node
    while isinstance(at, DOMNode):
        checks: Any = at._PSEUDO_CLASSES
        part = (
            type(at),
            at._id,
            frozenset(at._classes),
            *(name in checks and checks[name](at) for name in pseudo_classes),
        )
        place.append(_known.setdefault(part, part))
        at = at._parent
    return tuple(place)
