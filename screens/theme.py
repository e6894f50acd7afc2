"""Colours of texts by meaning, as variables of the theme. Colours of boxes are in the rooms' style sheets."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES

from lab.core.errors import LabError
from lab.core.settings import source_of
from lab.core.text.plain_text import plain
from lab.core.text.suggestion import unknown_name

PLAIN = "$foreground"
"""Normal text within something coloured."""
MUTED = "$foreground-muted"
"""Secondary text: labels, counts, times, missing values."""
ACCENT = "$text-accent"
"""Text to find first: the question, what is offered, what a chart draws."""
HEADING = "bold $text-accent"
"""Title of a section within a text."""
SUCCESS = "$text-success"
"""Correct, accepted or done."""
WARNING = "$text-warning"
"""Waiting, different or doubtful."""
LOUD_WARNING = "bold $text-warning"
"""The same in lists that people scan for it."""
ERROR = "$text-error"
"""Wrong, rejected or unreadable."""
LOUD_ERROR = "bold $text-error"
"""The same, not to be overlooked."""
FOUND = "bold reverse $text-warning"
"""A match of a search."""


def check_theme(name: str) -> None:
    """Raise `LabError` if there is no theme of that name."""
    if name not in BUILTIN_THEMES:
        what, field = source_of("theme")
        raise LabError(what, f"field {field}: {unknown_name(plain(name), sorted(BUILTIN_THEMES))}")
