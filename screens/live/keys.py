"""Which keys do a thing now: a person may have put others in the place of ours."""

from __future__ import annotations

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import format_key

from lab.settings import Settings


def keys_of(node: DOMNode, binding_id: str) -> list[str]:
    """The keys of one of this node's bindings, as they are written on a screen; none where it has no such binding."""
    settings: Settings = getattr(node.app, "settings", Settings())
    for owner in type(node).__mro__:
        for binding in owner.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id == binding_id:
                keys = settings.keymap.get(binding_id) or binding.key
                return [written(key.strip()) for key in keys.split(",")]
    return []


def written(key: str) -> str:
    """A key's name as people read it: `ctrl+x`, `?`, `f5`."""
    *held, last = key.split("+") if len(key) > 1 else [key]
    return "+".join([*held, "Enter" if last == "enter" else format_key(last)])
