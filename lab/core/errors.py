"""The exception whose text people read: what failed, where, and what to do."""

from __future__ import annotations

import re

_TWO_STOPS = re.compile(r"(?<=[?!])\.(?=\s|\Z)")
_LONGEST, _TITLE = 4_000, 200
_LONG_WORD = re.compile(r"(?<!\w)'[^'\n]{121,}'(?!\w)|(?<!\w)\"[^\"\n]{121,}\"(?!\w)|\S{201,}")
"""A quoted text or a word without blanks that is too long: a name that someone typed, not the sentence around it."""


def shortened(text: str, most: int = _LONGEST) -> str:
    """Cut long names, and then the text itself, in the middle."""
    if len(text) > 120:
        text = _LONG_WORD.sub(lambda word: _cut_middle(word[0], 120), text)
    return _cut_middle(text, most)


def _cut_middle(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most * 2 // 3]}[... {len(text):,} characters ...]{text[-most // 6 :]}"


class LabError(Exception):
    """An error as a sentence for a person, raised at a seam and caught by the command line and by the app.

    `title` names what failed, `message` the file and field, `hint` the next thing to do (may be empty). `code` is the
    exit code of the command that it ends: 1 refused, 2 usage.
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
        """Title, message and hint in one line."""
        return f"{self.title}: {self.body}"

    @property
    def body(self) -> str:
        """Message and hint in one line, for use under a title."""
        if not self.hint:
            return self.message
        return f"{self.message}{'' if self.message.endswith(('.', '!', '?')) else '.'} {self.hint}"
