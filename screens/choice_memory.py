"""Last choices as rooms take them up and keep them: of designers and developers alone, and of no server's guests."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from textual.dom import DOMNode

from lab.core.last_choices import LastChoices, keep_choices, last_choices
from lab.studies.seats import may_run
from screens.lab import lab_of


def _keeps(node: DOMNode) -> bool:
    """Whether choices made here are kept: a rater's and a participant's app begins as it comes, whoever sat before."""
    return may_run(lab_of(node).settings.seat) and not node.app.is_web


def recall(node: DOMNode) -> LastChoices:
    """What was chosen last; all as it comes where nothing is kept."""
    return last_choices() if _keeps(node) else LastChoices()


def remember(node: DOMNode, **changes: Any) -> None:
    """Keeps what was chosen now."""
    if _keeps(node):
        keep_choices(**changes)


def mark_of(*names: object) -> str:
    """A mark by which something is known again that is named nowhere but in its file."""
    return sha256("\x1f".join(map(str, names)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
