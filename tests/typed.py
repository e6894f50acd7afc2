"""A text as terminals paste it, with all that must not be kept, and all that languages need; and what is kept of it."""

from __future__ import annotations

NEEDED = (
    "می\u200cخواهم क्\u200dष Silben\u00adtrennung 葛\U000e0100 ❤\ufe0f 👩\u200d💻"
    " \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
    " \u200eA\u200f \u061c٣ ไทย\u200bภาษา a\u2060b ᠠ\u180b \u2067x\u2069 e\u0301"
)
"""Joiners, a soft hyphen, variation selectors, a flag's tags, marks and isolates of direction, a combining accent."""
PASTED = f"Mild please.\rAnd [no] \x1b[31monions\x1b[0m.\r\nThird\x85{NEEDED}\x07"
KEPT = f"Mild please.\nAnd [no] onions.\nThird\n{NEEDED}"
KEPT_AS_LINE = KEPT.replace("\n", " ")
