"""Whole numbers in what people type, programs send and files hold."""

from __future__ import annotations

_DIGITS = 18
"""No 64-bit number has more for sure; Python itself refuses to read some thousands."""


def whole_number(text: str) -> int | None:
    """The number that ASCII digits alone write; None for any other text, and for more than 18 digits."""
    return int(text) if len(text) <= _DIGITS and text.isascii() and text.isdigit() else None
