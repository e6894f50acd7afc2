"""Parse whole numbers that people type, programs send and files hold."""

from __future__ import annotations

_DIGITS = 18
"""Maximum digits that surely fit 64 bits. Python itself refuses some thousands."""


def whole_number(text: str) -> int | None:
    """Return the number that ASCII digits alone write, or None for other text and for more than 18 digits."""
    return int(text) if len(text) <= _DIGITS and text.isascii() and text.isdigit() else None
