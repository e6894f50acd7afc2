"""The one exception that people read: what went wrong, where, and what to do."""

from __future__ import annotations

import re

_TWO_STOPS = re.compile(r"(?<=[?!])\.(?=\s|\Z)")
_LONGEST, _TITLE = 4_000, 200
_LONG_WORD = re.compile(r"(?<!\w)'[^'\n]{121,}'(?!\w)|(?<!\w)\"[^\"\n]{121,}\"(?!\w)|\S{201,}")
"""What is quoted, or written without a blank: a name that was typed, and not the sentence around it."""


def shortened(text: str, most: int = _LONGEST) -> str:
    """A sentence in which long names, and the sentence itself, are cut in their middle."""
    if len(text) > 120:
        text = _LONG_WORD.sub(lambda word: _cut(word[0], 120), text)
    return _cut(text, most)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most * 2 // 3]}[... {len(text):,} characters ...]{text[-most // 6 :]}"


class LabError(Exception):
    """A sentence for a person, raised at a seam and caught in two places: the command line and the app.

    `title` says what failed, `message` names file and field, `hint` says what to do next (may be empty).
    `code` is the exit code of a command that ends with it: 1 refused, 2 usage.
    """

    def __init__(self, title: str, message: str, hint: str = "", *, code: int = 1) -> None:
        # A suggestion ends with a question mark, wherever it was put.
        title, message = shortened(title, _TITLE), _TWO_STOPS.sub("", shortened(message))
        super().__init__(f"{title}: {message}")
        self.title = title
        self.message = message
        self.hint = shortened(hint)
        self.code = code

    @property
    def sentence(self) -> str:
        """Title, message and hint as one line."""
        return f"{self.title}: {self.body}"

    @property
    def body(self) -> str:
        """Message and hint as one line, for where the title stands above it."""
        if not self.hint:
            return self.message
        return f"{self.message}{'' if self.message.endswith(('.', '!', '?')) else '.'} {self.hint}"
