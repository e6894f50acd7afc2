"""Word an action as the instruction that it carries out: `Tap Send`, `Type 2 in Amount`, `Scroll down in chats`.

It suggests the low-level instruction of a step, which an annotator words on the same screen. Source: DAC-Bench 2.4.
"""

from __future__ import annotations

import re

from lab.core.redaction.password_redaction import typed_password
from lab.core.run.step import Action, Point
from lab.core.run.tap_targets import is_tappable, screen_box
from lab.core.run.ui_tree import Node, UiTree
from lab.core.text.typed_text import clean

_LONGEST = 60
"""Longest name or text that an instruction repeats, in characters."""
_NAMELESS = frozenset(
    {"list", "recycler", "recycler_view", "scroll", "scroll_view", "scrollview", "content", "container"}
)
"""Ids that name a widget's type and not its purpose."""
_SWITCHES = ("switch", "checkbox", "togglebutton")
_KEYS = {
    "navigate_home": "Go to the home screen",
    "navigate_back": "Go back",
    "keyboard_enter": "Press enter",
    "press_recent": "Open the recent apps",
    "wait": "Wait",
}


def suggest_instruction(action: Action, tree: UiTree) -> str:
    """Return the instruction that an action most likely carries out on a screen. It never contains a password."""
    match action.kind:
        case "click":
            return _word_tap(action.at, tree)
        case "double_tap":
            return f"Double tap {name_at(tree, action.at) or _format_point(action.at)}"
        case "long_press":
            return f"Hold {name_at(tree, action.at) or _format_point(action.at)}"
        case "drag" | "swipe":
            return _word_drag(action, tree)
        case "scroll":
            return f"Scroll {action.direction or 'on'}{_list_suffix(tree, action.at)}"
        case "input_text":
            return _word_typing(action, tree)
        case "open_app":
            return f"Open {_shorten(action.app or action.text or 'an app')}"
        case "answer":
            return f"Answer: {_shorten(action.text or '')}"
        case "status" if action.status == "infeasible":
            return "Report that this is impossible"
        case "status":
            return "Report that it is done"
    return _KEYS.get(action.kind, "")


def name_at(tree: UiTree, at: Point | None) -> str:
    """Return the name of the node at a pixel: the one that a tap reaches, else the text there, empty if none."""
    if at is None:
        return ""
    under = tree.nodes_at(*at)
    target = next((node for node in under if is_tappable(node)), None)
    name = name_of(target) if target is not None else ""
    return name or next((_shorten(node.label) for node in under if node.label.strip()), "")


def name_of(node: Node) -> str:
    """Return a node's own label, else the first text inside it, else the words of its id. May be empty."""
    if _is_field(node):
        return _field_name(node)
    inside = [*(below.text for below in node.walk()), *(below.desc for below in node.walk())]
    words = [text for text in (node.label, *inside) if text.strip()]
    # A single letter stands for a picture: the first of somebody's name.
    return _shorten(next((text for text in words if len(text.strip()) > 1), words[0] if words else "")) or _id_words(
        node
    )


def focused_field(tree: UiTree) -> Node | None:
    """Return the focused text field, else any focused node, or None without focus."""
    focus_nodes = [node for node in tree.nodes() if node.focused]
    return next((node for node in focus_nodes if _is_field(node)), focus_nodes[0] if focus_nodes else None)


def tappable(tree: UiTree) -> list[Node]:
    """Return the nodes that a tap on their middle reaches, in reading order."""
    screen = screen_box(tree)
    nodes = [node for node in tree.nodes() if is_tappable(node) and node.bounds.intersection(screen).area]
    node_ids = {id(node) for node in nodes}
    open_ = [
        node
        for node in nodes
        if next((n for n in tree.nodes_at(*node.bounds.center) if id(n) in node_ids), None) is node
    ]
    return sorted(open_, key=lambda node: (node.bounds.top, node.bounds.left))


def _word_tap(at: Point | None, tree: UiTree) -> str:
    target = next((node for node in tree.nodes_at(*at) if is_tappable(node)), None) if at is not None else None
    name = name_at(tree, at) or _format_point(at)
    if target is not None and _is_field(target):
        return f"Tap the field {name}"
    if target is not None and target.checkable and target.cls.rpartition(".")[2].casefold() in _SWITCHES:
        return f"Turn {'off' if target.checked else 'on'} {name}"
    return f"Tap {name}"


def _word_typing(action: Action, tree: UiTree) -> str:
    field = focused_field(tree)
    name = _field_name(field) if field is not None else ""
    if typed_password(action, tree):
        return f"Type the password{f' in {name}' if name else ''}"
    return f"Type {_shorten(action.text or '')}{f' in {name}' if name else ''}"


def _word_drag(action: Action, tree: UiTree) -> str:
    """Word a drag: a swipe if it follows one axis or stays in one thing, else a drag from one thing to another."""
    at, to = action.at, action.to
    if at is None or to is None:
        return f"Swipe {action.direction or 'on'}{_list_suffix(tree, at)}"
    across, down = to[0] - at[0], to[1] - at[1]
    from_, onto = name_at(tree, at), name_at(tree, to)
    # Within about 18 degrees of an axis, because a person's swipe is never quite straight.
    if from_ == onto or min(abs(across), abs(down)) * 3 <= max(abs(across), abs(down)):
        way = ("right" if across > 0 else "left") if abs(across) > abs(down) else ("down" if down > 0 else "up")
        if abs(down) >= abs(across):
            return f"Swipe {way}{_list_suffix(tree, at)}"
        return f"Swipe {way} on {from_}" if from_ else f"Swipe {way}"
    return f"Drag {from_ or _format_point(at)} to {onto or _format_point(to)}"


def _format_point(at: Point | None) -> str:
    return f"at {at[0]}, {at[1]}" if at is not None else "there"


def _list_suffix(tree: UiTree, at: Point | None) -> str:
    """Return ` in the list of chats` if the list under a pixel has a name, else an empty text."""
    lists = [node for node in (tree.nodes_at(*at) if at is not None else tree.nodes()) if node.scrollable]
    name = next(((_shorten(node.desc) or _id_words(node)) for node in lists), "")
    if not name:
        return ""
    many = name.endswith("s") and lists[0].cls.rpartition(".")[2] in ("RecyclerView", "ListView", "GridView")
    return f" in the list of {name}" if many else f" in {name}"


def _is_field(node: Node) -> bool:
    return node.cls.endswith("EditText")


def _field_name(node: Node) -> str:
    """Return what a field is for. Its text comes last, because that is usually what a person typed."""
    return _shorten(node.desc) or _id_words(node) or ("" if node.password else _shorten(node.text))


def _id_words(node: Node) -> str:
    name = node.id.rpartition("/")[2]
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").casefold().strip()
    return "" if name.casefold() in _NAMELESS else _shorten(words)


def _shorten(text: str) -> str:
    words = clean(text.strip()).replace("\n", "⏎").replace("\t", " ")
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1].rstrip() + "…"
