"""Textual's busiest steps with fewer calls: what they give is the same, and the screens' tests are them mostly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import CO_VARARGS, CO_VARKEYWORDS, signature
from types import FunctionType
from typing import Any

import pytest
from textual import _callback, strip
from textual.css.styles import RenderStyles
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.message import Message
from textual.message_pump import MessagePump
from textual.reactive import Reactive

from tests.screens.styling import remember_styles

Handlers = list[tuple[type, Any]]

_plans: dict[tuple[type, str, type], Handlers | None] = {}
"""Which handlers a node of this class has for such a message; None where selectors say which."""


def quicken(patch: pytest.MonkeyPatch) -> None:
    """Puts all of them in place."""
    patch.setattr(RenderStyles, "get_rule", _rule)
    patch.setattr(Reactive, "__get__", _value())
    patch.setattr(MessagePump, "_get_dispatch_methods", _dispatched())
    patch.setattr(Stylesheet, "replace_rules", _ruled())
    remember_styles(patch)
    patch.setattr(strip, "FIFOCache", _strips_cache)
    patch.setattr(_callback, "_count_parameters", _parameters)


def forget_handlers() -> None:
    """A test may have given a class another handler."""
    _plans.clear()


def _strips_cache(_: int) -> dict[Any, Any]:
    """A line of a test's screen lives shortly and has seven of these, mostly empty."""
    return {}


def _rule(styles: RenderStyles, rule_name: str, default: object = None) -> object:
    inline: Any = styles._inline_styles._rules
    if rule_name in inline:
        return inline[rule_name]
    rules: Any = styles._base_styles._rules
    return rules.get(rule_name, default)


def _ruled() -> Any:
    """Most of what is styled anew, as all below whatever has the focus is, keeps its rules."""
    replace = Stylesheet.replace_rules

    def ruled(node: DOMNode, rules: Any, animate: bool = False) -> None:
        if node.styles.base._rules != rules:
            replace(node, rules, animate)
        elif not animate:
            node.notify_style_update()

    return staticmethod(ruled)


def _parameters(function: Callable[..., Any]) -> int:
    """How many a function has; each lambda is a new one, and its signature takes longer than its call."""
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        code = function.__code__
        more = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
        return code.co_argcount + code.co_kwonlyargcount + more
    return len(signature(function).parameters)


def _value() -> Callable[..., Any]:
    """A value that was set before and that nothing computes is taken from where it is kept."""
    asked, computed = Reactive.__get__, dict[tuple[type, str], bool]()

    def value(reactive: Reactive[Any], node: Any, kind: Any = None) -> Any:
        if node is None:
            return reactive
        key = (type(node), reactive.compute_name)
        if key not in computed:
            computed[key] = hasattr(node, reactive.compute_name)
        if not computed[key]:
            try:
                return node.__dict__[reactive.internal_name]
            except KeyError:
                pass
        return asked(reactive, node, kind)

    return value


def _dispatched() -> Callable[..., Iterable[tuple[type, Any]]]:
    searched = MessagePump._get_dispatch_methods

    def planned(pump: type, name: str, message: type) -> Handlers | None:
        kinds = [kind for kind in message.__mro__ if issubclass(kind, Message)]
        handlers: Handlers = []
        for cls in pump.__mro__:
            if any(kind in cls.__dict__.get("_decorated_handlers", ()) for kind in kinds):
                return None
            method = cls.__dict__.get(f"_{name}") or cls.__dict__.get(name)
            if method is not None and not getattr(method, "_textual_on", None):
                handlers.append((cls, method))
        return handlers

    def dispatched(pump: MessagePump, name: str, message: Message) -> Iterable[tuple[type, Any]]:
        key = (type(pump), name, type(message))
        if key not in _plans:
            _plans[key] = planned(*key)
        handlers = _plans[key]
        if handlers is None:
            yield from searched(pump, name, message)
            return
        for cls, method in handlers:
            if message._no_default_action:
                break
            yield cls, method.__get__(pump, cls)

    return dispatched
