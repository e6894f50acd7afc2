"""Remove the text of password fields from everything that is stored. The phone still gets it."""

from __future__ import annotations

import json

import msgspec

from lab.core.run.step import Action, Decision, Proposed
from lab.core.run.ui_tree import Node, UiTree

HIDDEN = "(hidden)"
"""Text in place of a password. `Action.raw` has this value if the action's text was removed."""


def typed_password(action: Action | None, tree: UiTree) -> str:
    """Return the text that an action types into a password field, empty if it types none."""
    if action is None or action.kind != "input_text" or not action.text:
        return ""
    return action.text if any(node.password for node in _target_fields(action, tree)) else ""


def _target_fields(action: Action, tree: UiTree) -> list[Node]:
    """Return the field that gets the text, or all fields if none is known to have the focus."""
    if action.at is not None and (tapped_fields := [node for node in tree.nodes_at(*action.at) if _is_field(node)]):
        return tapped_fields[:1]
    fields = [node for node in tree.nodes() if _is_field(node)]
    return [node for node in fields if node.focused] or fields


def _is_field(node: Node) -> bool:
    return node.password or node.cls.endswith("EditText")


def without_passwords(proposed: Proposed, decision: Decision, tree: UiTree) -> tuple[Proposed, Decision]:
    """Return a proposal and its decision for storage, without the password that they type."""
    words = {typed_password(proposed.action, tree), typed_password(decision.action, tree)} - {""}
    for word in words:
        proposed = _hide_in_proposal(proposed, word)
        decision = msgspec.structs.replace(
            decision, action=_hide_in_action(decision.action, word), note=_hide_word(decision.note, word)
        )
    return proposed, decision


def without_password_texts(tree: UiTree) -> UiTree:
    """Return a screen's tree without the text of its password fields."""
    if not any(node.password and (node.text or node.desc) for node in tree.nodes()):
        return tree
    return msgspec.structs.replace(tree, roots=tuple(_without_password_text(root) for root in tree.roots))


def _without_password_text(node: Node) -> Node:
    children = tuple(_without_password_text(child) for child in node.children)
    text = HIDDEN if node.password and node.text else node.text
    return msgspec.structs.replace(node, text=text, desc="" if node.password else node.desc, children=children)


def _hide_in_proposal(proposed: Proposed, word: str) -> Proposed:
    prompt = proposed.prompt
    return msgspec.structs.replace(
        proposed,
        action=_hide_in_action(proposed.action, word),
        thought=_hide_word(proposed.thought, word),
        prompt=prompt and msgspec.structs.replace(prompt, text=_hide_word(prompt.text, word)),
        raw=None if proposed.raw is None else _hide_word(proposed.raw, word),
        instruction=_hide_word(proposed.instruction, word),
        thinking=_hide_word(proposed.thinking, word),
    )


def _hide_in_action(action: Action | None, word: str) -> Action | None:
    if action is None or action.text != word:
        return action
    return msgspec.structs.replace(action, text="", raw=HIDDEN)


def _hide_word(text: str, word: str) -> str:
    """Replace a word in `text`, also as JSON spells it, with or without escapes for other scripts."""
    for spelling in (word, json.dumps(word, ensure_ascii=False)[1:-1], json.dumps(word)[1:-1]):
        text = text.replace(spelling, HIDDEN)
    return text
