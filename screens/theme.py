"""The colours of words on screens: the theme's variables by what they mean. Those of boxes are in the rooms' sheets."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES

from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.settings import source_of
from lab.core.suggestion import none_of

PLAIN = "$foreground"
"""What is read as it is, within something coloured."""
MUTED = "$foreground-muted"
"""What can be passed over: labels, counts, times, what is absent."""
ACCENT = "$text-accent"
"""What is looked for first: the question asked, what is offered, what a chart draws."""
HEADING = "bold $text-accent"
"""The title of a section within a text."""
SUCCESS = "$text-success"
"""What is right, accepted or done."""
WARNING = "$text-warning"
"""What waits for somebody, differs, or is doubtful."""
LOUD_WARNING = "bold $text-warning"
"""The same where a list is read for it."""
ERROR = "$text-error"
"""What is wrong, rejected or cannot be read."""
LOUD_ERROR = "bold $text-error"
"""The same where it must not be overlooked."""
FOUND = "bold reverse $text-warning"
"""A place that a search found."""


def check_theme(name: str) -> None:
    """A `LabError` where there is no theme of that name."""
    if name not in BUILTIN_THEMES:
        what, field = source_of("theme")
        raise LabError(what, f"field {field}: {none_of(plain(name), sorted(BUILTIN_THEMES))}")
