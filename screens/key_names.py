"""Which keys do a thing now: a person may have put others in the place of ours."""

from __future__ import annotations

import re
import unicodedata

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import KEY_TO_UNICODE_NAME, REPLACED_KEYS, format_key
from textual.widget import Widget

_NAMED = {"enter": "Enter", "escape": "Esc", "tab": "Tab"}
_FUNCTION = re.compile(r"f\d+")
_NAMED_KEY = re.compile(r"\{([a-z]+\.[\w-]+)(?::([\w+]+))?\}")


def keys_of(node: DOMNode, binding_id: str) -> list[str]:
    """The keys of one of this node's bindings, as they are written on a screen; none where it has no such binding."""
    for owner in type(node).__mro__:
        for binding in owner.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id == binding_id:
                keys = _moved(node).get(binding_id) or binding.key
                return [written(key.strip()) for key in keys.split(",")]
    return []


def _moved(node: DOMNode) -> dict[str, str]:
    moved_keys: dict[str, str] = getattr(node.app, "moved_keys", {})
    return moved_keys


_usual: dict[str, str] = {}
"""Keys by binding id, as the program comes, of all widgets and screens that are imported."""


def _usual_keys(binding_id: str) -> str:
    """Empty where no widget that is imported has such a binding."""
    if binding_id not in _usual:
        kinds: list[type[DOMNode]] = [DOMNode]
        for kind in kinds:
            kinds += kind.__subclasses__()
            for binding in kind.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.id:
                    _usual.setdefault(binding.id, binding.key)
    return _usual.get(binding_id, "")


def character(key: str) -> str:
    """The character that a key types, as `/` for `slash`; empty where it types none."""
    if len(key) == 1:
        return key
    name = REPLACED_KEYS.get(key, key)
    try:
        return unicodedata.lookup(KEY_TO_UNICODE_NAME.get(name, name.replace("_", " ")))
    except KeyError:
        return ""


def with_keys(node: DOMNode, text: str) -> str:
    """A sentence of ours with keys as they are bound now.

    `{app.home}` is the first key of that binding; `{home.author:a}` another one of its keys, or one of a screen that
    may not be imported yet.
    """

    def key(match: re.Match[str]) -> str:
        keys = _moved(node).get(match[1]) or match[2] or _usual_keys(match[1])
        return written(keys.split(",")[0].strip())

    return _NAMED_KEY.sub(key, text)


def focus_now(widget: Widget) -> None:
    """Puts the keys to a widget at once; to none in a room that was taken down.

    `Widget.focus` does it when the app comes to it. Where something opens by itself meanwhile, as a run's next
    question does, that would take the keys from it.
    """
    if widget.is_attached:
        widget.screen.set_focus(widget)


def give_keys(widget: Widget) -> None:
    """Puts the keys at once to a widget that is opened.

    A widget that was hidden a moment ago may hear of it only now, and Textual then moves the keys on: behind that
    they are put there once more.
    """
    focus_now(widget)
    if widget.is_attached:
        widget.call_later(_give_back, widget)


def _give_back(widget: Widget) -> None:
    """Puts the keys to a widget that is shown, unless they are in its own panel."""
    panel = widget if widget.children else widget.parent
    shown = widget.is_attached and widget.focusable and all(node.display for node in widget.ancestors_with_self)
    if shown and isinstance(panel, Widget) and not panel.has_focus_within:
        widget.screen.set_focus(widget)


def written(key: str) -> str:
    """A key's name as people read it: `ctrl+x`, `?`, `F5`, `Enter`."""
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    return "+".join([*modifiers, _NAMED.get(last) or (last.upper() if _FUNCTION.fullmatch(last) else format_key(last))])
