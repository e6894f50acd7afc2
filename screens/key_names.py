"""Names of keys in texts, as a person's keymap has them, and the keyboard focus."""

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
    """Return the keys of one of this node's bindings as they are displayed, empty if it has no such binding."""
    for owner in type(node).__mro__:
        for binding in owner.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id == binding_id:
                keys = _moved_keys(node).get(binding_id) or binding.key
                return [display_name(key.strip()) for key in keys.split(",")]
    return []


def _moved_keys(node: DOMNode) -> dict[str, str]:
    moved_keys: dict[str, str] = getattr(node.app, "moved_keys", {})
    return moved_keys


_usual: dict[str, str] = {}
"""Default keys by binding id, of all widgets and screens imported so far."""


def _usual_keys(binding_id: str) -> str:
    """Return the default keys of a binding, empty if no imported widget has it."""
    if binding_id not in _usual:
        kinds: list[type[DOMNode]] = [DOMNode]
        # The list grows while it is walked, so that it reaches subclasses of any depth.
        for kind in kinds:
            kinds += kind.__subclasses__()
            for binding in kind.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.id:
                    _usual.setdefault(binding.id, binding.key)
    return _usual.get(binding_id, "")


def typed_character(key: str) -> str:
    """Return the character that a key types, such as `/` for `slash`, empty if it types none."""
    if len(key) == 1:
        return key
    name = REPLACED_KEYS.get(key, key)
    try:
        return unicodedata.lookup(KEY_TO_UNICODE_NAME.get(name, name.replace("_", " ")))
    except KeyError:
        return ""


def with_keys(node: DOMNode, text: str, **values: str) -> str:
    """Fill the current keys, then `values` into one of our sentences.

    `{app.home}` is the first key of that binding. `{home.author:a}` names the default key, for a screen that may not be
    imported yet or for another of its keys. `{name}` is a value. A stranger's text goes into `values`: in `text` its
    braces would be read as keys.
    """

    def key(match: re.Match[str]) -> str:
        keys = _moved_keys(node).get(match[1]) or match[2] or _usual_keys(match[1])
        return display_name(keys.split(",")[0].strip())

    # Split by the names of values, so that no value is searched for keys or for another value.
    parts = re.split(rf"\{{({'|'.join(values)})\}}", text) if values else [text]
    return "".join(values[part] if at % 2 else _NAMED_KEY.sub(key, part) for at, part in enumerate(parts))


def focus_now(widget: Widget) -> None:
    """Focus a widget at once, unless its room was taken down.

    `Widget.focus` waits for the app's queue. If something opens by itself meanwhile, such as a run's next question, a
    late focus would take the keys from it.
    """
    if widget.is_attached:
        widget.screen.set_focus(widget)


def focus_opened(widget: Widget) -> None:
    """Focus a widget that has just opened, at once and again after its pending messages.

    A widget that was hidden a moment ago may receive its show event only now, and Textual then moves the focus on.
    """
    focus_now(widget)
    if widget.is_attached:
        # Runs after the pending show event.
        widget.call_later(_focus_again, widget)


def _focus_again(widget: Widget) -> None:
    """Focus a visible widget, unless the focus is within its own panel."""
    panel = widget if widget.children else widget.parent
    is_visible = widget.is_attached and widget.focusable and all(node.display for node in widget.ancestors_with_self)
    if is_visible and isinstance(panel, Widget) and not panel.has_focus_within:
        widget.screen.set_focus(widget)


def display_name(key: str) -> str:
    """Return a key's name as people read it: `ctrl+x`, `?`, `F5`, `Enter`."""
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    return "+".join([*modifiers, _NAMED.get(last) or (last.upper() if _FUNCTION.fullmatch(last) else format_key(last))])
