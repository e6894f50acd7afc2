"""The one exception that people read: what went wrong, where, and what to do."""

from __future__ import annotations

import re

_TWO_STOPS = re.compile(r"(?<=[?!])\.(?=\s|\Z)")


class LabError(Exception):
    """A sentence for a person, raised at a seam and caught in two places: the command line and the app.

    `title` says what failed, `message` names file and field, `hint` says what to do next (may be empty).
    `code` is the exit code of a command that ends with it: 1 refused, 2 usage.
    """

    def __init__(self, title: str, message: str, hint: str = "", *, code: int = 1) -> None:
        message = _TWO_STOPS.sub("", message)  # a suggestion ends with a question mark, wherever it was put
        super().__init__(f"{title}: {message}")
        self.title = title
        self.message = message
        self.hint = hint
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
