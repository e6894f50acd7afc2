"""Textual's stylesheet, which keeps what it found out of a widget for the next one like it.

A widget's rules follow from its class, classes and id, and from which selectors hold for it where it stands. Which
selectors may hold is looked up once for each kind of widget, and what follows from those that do once for all apps.
`tests/screens/test_styling.py` compares the styles with those that Textual finds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from textual.css.model import CombinatorType, RuleSet, Selector, SelectorType
from textual.css.styles import Styles
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

Rules = dict[str, Any]
Step = tuple[SelectorType, str, tuple[str, ...], CombinatorType]
Specificity = tuple[int, int, int]

ORDER = frozenset({"first-of-type", "last-of-type", "first-child", "last-child", "empty"})
TEXTUALS = {name: getattr(Stylesheet, name) for name in ("apply", "_process_component_classes", "replace_rules")}
"""What it has in place of what follows."""
_default = Styles()


@dataclass(slots=True)
class Kind:
    """All widgets of one class, classes and id: which selectors may hold for them."""

    pseudo_classes: frozenset[str]
    selectors: list[tuple[tuple[Step, ...], RuleSet, Specificity]]
    outcomes: dict[tuple[int, ...], Rules] = field(default_factory=dict)
    """The rules that follow, by which of the selectors hold."""

    @property
    def alone(self) -> bool:
        """Whether such widgets beside one another get the same rules, wherever among them they stand."""
        return self.pseudo_classes.isdisjoint(Stylesheet._EXCLUDE_PSEUDO_CLASSES_FROM_CACHE)


class Sheet:
    """What is known of one list of rules."""

    def __init__(self, rules: list[RuleSet], by_name: dict[str, list[RuleSet]]) -> None:
        self._rules = rules
        self._by_name = by_name
        self._kinds: dict[tuple[type, frozenset[str], str | None], Kind] = {}

    def name(self, node: DOMNode) -> str | None:
        """A widget's id where a rule names it."""
        return node._id if node._id is not None and f"#{node._id}" in self._by_name else None

    def kind(self, node: DOMNode, classes: frozenset[str], name: str | None) -> Kind:
        """Which kind a widget is of."""
        key = (type(node), classes, name)
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = self._new_kind(node)
        return kind

    def _new_kind(self, node: DOMNode) -> Kind:
        may_hold = {rule for name in self._by_name.keys() & node._selector_names for rule in self._by_name[name]}
        rules = [rule for rule in reversed(self._rules) if rule in may_hold]
        return Kind(
            frozenset[str]().union(*(rule.pseudo_classes for rule in rules)),
            [(_steps(each.selectors), rule, each.specificity) for rule in rules for each in rule.selector_set],
        )


_sheets: dict[tuple[RuleSet, ...], Sheet] = {}
_values: dict[int, tuple[Rules, Rules]] = {}
_components: dict[type, list[str]] = {}
_variables: dict[tuple[tuple[str, str], ...], int] = {}


def keep_styles(patch: pytest.MonkeyPatch) -> None:
    """Puts it in place."""
    patch.setattr(Stylesheet, "apply", _apply)
    patch.setattr(Stylesheet, "_process_component_classes", _style_components)
    patch.setattr(Stylesheet, "replace_rules", staticmethod(_replace_changed))
    parse, parsed = Stylesheet._parse_rules, dict[Any, list[RuleSet]]()

    def known(sheet: Stylesheet, css: str, *args: Any, **more: Any) -> list[RuleSet]:
        """What a test's app parsed of the same text with the same colours, the next need not."""
        key = (css, args, tuple(more.items()), _colours(sheet))
        if key not in parsed:
            parsed[key] = parse(sheet, css, *args, **more)
        return parsed[key]

    patch.setattr(Stylesheet, "_parse_rules", known)
    patch.setattr(RuleSet, "__hash__", object.__hash__)  # the same, without a call: 300 of them for each widget


def _colours(sheet: Stylesheet) -> int:
    """A number for the variables of a stylesheet, the same for the same ones."""
    known: tuple[dict[str, str], int] | None = sheet.__dict__.get("_known_colours")
    if known is None or known[0] is not sheet._variables:
        number = _variables.setdefault(tuple(sheet._variables.items()), len(_variables))
        known = sheet.__dict__["_known_colours"] = (sheet._variables, number)
    return known[1]


def _sheet(stylesheet: Stylesheet) -> Sheet:
    rules = stylesheet.rules
    known: tuple[list[RuleSet], Sheet] | None = stylesheet.__dict__.get("_known_sheet")
    if known is None or known[0] is not rules:
        key = tuple(rules)
        if key not in _sheets:
            _sheets[key] = Sheet(rules, stylesheet.rules_map)
        known = stylesheet.__dict__["_known_sheet"] = (rules, _sheets[key])
    return known[1]


def _apply(
    stylesheet: Stylesheet, node: DOMNode, *, animate: bool = False, cache: dict[Any, Rules] | None = None
) -> None:
    sheet = _sheet(stylesheet)
    classes, name = frozenset(node._classes), sheet.name(node)
    kind = sheet.kind(node, classes, name)
    names = kind.pseudo_classes
    node._has_hover_style = "hover" in names
    node._has_focus_within = "focus-within" in names
    node._has_order_style = not names.isdisjoint(ORDER)
    node._has_odd_or_even = "odd" in names or "even" in names
    if cache is None or not kind.alone:
        rules = _rules_of(kind, node)
    else:
        key = (node._parent, name, classes, node._pseudo_classes_cache_key, node._css_type_name)
        if (known := cache.get(key)) is None:
            known = cache[key] = _rules_of(kind, node)
        rules = known
    if rules:
        stylesheet.replace_rules(node, rules, animate)  # type: ignore[arg-type]
    stylesheet._process_component_classes(node)


def _rules_of(kind: Kind, node: DOMNode) -> Rules:
    path = node.css_path_nodes
    last = len(path) - 1
    hold = tuple([at for at, (steps, _, _) in enumerate(kind.selectors) if _holds(steps, 0, path, last)])
    if hold not in kind.outcomes:
        kind.outcomes[hold] = _outcome([kind.selectors[at][1:] for at in hold])
    return kind.outcomes[hold]


def _steps(selectors: list[Selector]) -> tuple[Step, ...]:
    """From the last selector, which is of the widget itself, to the first."""
    return tuple((each.type, each.name, tuple(each.pseudo_classes), each.combinator) for each in reversed(selectors))


def _holds(steps: tuple[Step, ...], at: int, path: list[DOMNode], index: int) -> bool:
    """Whether these selectors from `at` on hold for this widget of the path and for those that it is in."""
    kind, name, pseudo_classes, combinator = steps[at]
    node = path[index]
    if (
        (kind is SelectorType.TYPE and name not in node._css_type_names)
        or (kind is SelectorType.CLASS and name not in node._classes)
        or (kind is SelectorType.ID and name != node._id)
    ):
        return False
    for each in pseudo_classes:
        holds = node._PSEUDO_CLASSES.get(each)
        if holds is None or not holds(node):
            return False
    above = range(index - 1, -1, -1)
    if at + 1 == len(steps):
        return combinator is CombinatorType.DESCENDENT or index == 0
    if combinator is CombinatorType.SAME:
        return _holds(steps, at + 1, path, index)
    if combinator is CombinatorType.CHILD:
        return index > 0 and _holds(steps, at + 1, path, index - 1)
    return any(_holds(steps, at + 1, path, each) for each in above)


def _outcome(holding: Iterable[tuple[RuleSet, Specificity]]) -> Rules:
    """Of each rule the value of the most specific selector; `initial` is what the widget's own sheet says of it."""
    said: defaultdict[str, list[tuple[Any, Any]]] = defaultdict(list)
    initial, own_initial = set[str](), set[str]()
    for rule, specificity in holding:
        for name, found, value in rule.styles.extract_rules(specificity, rule.is_default_rules, rule.tie_breaker):
            if value is None:
                (own_initial if rule.is_default_rules else initial).add(name)
            said[name].append((found, value))
    rules = {name: _most_specific(values) for name, values in said.items()}
    for name in initial:
        if rules[name] is None:
            own = [each for each in said[name] if not each[0][0]]
            rules[name] = _most_specific(own)
            if not own:
                own_initial.add(name)
    for name in own_initial:
        if rules[name] is None:
            others = [each for each in said[name] if each[0][0]]
            rules[name] = _most_specific(others) if others else getattr(_default, name)
    return rules


def _most_specific(values: list[tuple[Any, Any]]) -> Any:
    return max(values, key=lambda each: each[0], default=(None, None))[1]


def _set_values(rules: Rules) -> Rules:
    """What styles hold once they were given these rules, some of which they turn into others."""
    known = _values.get(id(rules))
    if known is None:
        styles = Styles()
        for name, value in rules.items():
            setattr(styles, name, value)
        known = _values[id(rules)] = (rules, dict(styles._rules))
    return known[1]


def _replace_changed(node: DOMNode, rules: Rules, animate: bool = False) -> None:
    """Sets what is not so already: most that is styled anew, as all below whatever has the focus, keeps its rules."""
    base, values = node.styles.base, _set_values(rules)
    held: Rules = base._rules  # type: ignore[assignment]
    if held == values:
        if not animate:
            node.notify_style_update()
    elif animate:
        TEXTUALS["replace_rules"](node, rules, animate)
    elif not held and not node._is_mounted and "pointer" not in values:
        held.update(values)  # nobody is told of the styles of what is not there yet
        base._updates += len(values)
        if "display" in values and node._parent is not None:
            node._nodes.updated()
        node.notify_style_update()
    else:
        for name in held.keys() | values.keys():
            if held.get(name) != values.get(name):
                setattr(base, name, rules.get(name))
        node.notify_style_update()


def _style_components(stylesheet: Stylesheet, node: DOMNode) -> None:
    """The styles of a widget's parts; a part is a node that is in no tree, and stays the same one."""
    kind = type(node)
    if kind not in _components:
        _components[kind] = sorted(node._get_component_classes())
    changed = False
    for component in _components[kind]:
        styles = node._component_styles.get(component)
        if styles is None:
            part = DOMNode(classes=component)
            part._attach(node)
            stylesheet.apply(part)
            node._component_styles[component] = part.styles
            changed = True
        else:
            before = styles.base._updates
            stylesheet.apply(styles.node)
            changed = changed or before != styles.base._updates
    if changed:
        node.refresh()
