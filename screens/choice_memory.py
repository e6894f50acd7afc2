"""A room's last choices, remembered for designers and developers, but not for guests of a server."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from textual.dom import DOMNode

from lab.core.last_choices import LastChoices, last_choices, save_choices
from lab.studies.seats import may_run
from screens.lab import lab_of


def _keeps(node: DOMNode) -> bool:
    """Return True if choices made here are stored. An app of a rater or participant starts with the defaults."""
    return may_run(lab_of(node).settings.seat) and not node.app.is_web


def recall(node: DOMNode) -> LastChoices:
    """Return the last choices, or the defaults if none are stored for this person."""
    return last_choices() if _keeps(node) else LastChoices()


def remember(node: DOMNode, **changes: Any) -> None:
    """Store these choices."""
    if _keeps(node):
        save_choices(**changes)


def hash_of(*names: object) -> str:
    """Return a hash that identifies something by its names without storing them in plain text."""
    # A file's name may hold undecodable bytes, which Python keeps as surrogates.
    return sha256("\x1f".join(map(str, names)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
