"""Record of how an answer was typed."""

from __future__ import annotations


class ReplyTyping:
    """First key, number of deletions, and longest deleted text of an answer."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.first_key_at: str | None = None
        self.edits = 0
        self.draft = ""

    def touch(self, at: str) -> None:
        """Record the time of a key, if it is the first."""
        self.first_key_at = self.first_key_at or at

    def change(self, text: str, at: str) -> None:
        """Record that the text changed."""
        if text == self.text:
            return
        self.touch(at)
        if _removes(self.text, text):
            self.edits += 1
            self.draft = max(self.draft, self.text, key=len)
        self.text = text


def _removes(before: str, after: str) -> bool:
    """Return True if the change removed characters, and did not only insert some."""
    # Compare the common start and end: everything of `before` between them was removed.
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return start + end < len(before)
