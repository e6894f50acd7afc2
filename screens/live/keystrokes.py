"""How an answer came about, beside what it says."""

from __future__ import annotations


class ReplyTyping:
    """How an answer was typed: the first key, the deletions, the longest text that was taken back."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.first_key_at: str | None = None
        self.edits = 0
        self.draft = ""

    def touch(self, at: str) -> None:
        """A key was pressed."""
        self.first_key_at = self.first_key_at or at

    def change(self, text: str, at: str) -> None:
        """The text is now this."""
        if text == self.text:
            return
        self.touch(at)
        if _removes(self.text, text):
            self.edits += 1
            self.draft = max(self.draft, self.text, key=len)
        self.text = text


def _removes(before: str, after: str) -> bool:
    """Whether any character of `before` is gone, and not only new ones put in."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return start + end < len(before)
