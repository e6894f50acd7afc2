"""A phone to take pictures of: it opens at a given screen, and taps find their target by its text."""

from __future__ import annotations

from typing import Any

from lab.core.run.step import Action
from simulators.phone.phone import Phone


def at(app: str, screen: str, args: dict[str, Any], *, dark: bool = False) -> Phone:
    """Return a phone that shows the given screen."""
    phone = Phone()
    stack = [phone.snapshot()["nav"]["stacks"][app][0]]
    if screen != stack[0]["screen"]:
        stack.append({"screen": screen, "args": args})
    phone.lay({"nav": {"app": app, "stacks": {app: stack}}, "apps": {"settings": {"dark_theme": dark}}})
    return phone


def tap(phone: Phone, label: str) -> None:
    """Tap the last node on the screen with that text or description."""
    tree = phone.look().tree
    nodes = [node for node in tree.nodes() if label in (node.text, node.desc)]
    phone.perform(Action("click", at=tree.target(nodes[-1]).bounds.center))
