"""Clean text for storage: what a person typed or a stranger sent, without control characters.

`clean` is for data and `lab.core.text.plain_text.plain` for display. Escaped text is never stored.
"""

from __future__ import annotations

import re
from typing import Any

_SEQUENCES = re.compile(
    r"""(?x)
    (?:\x1b\[|\x9b)[0-?]*+[\ -/]*+[@-~]                                 # CSI: colours, the marks of a bracketed paste
    | (?:\x1b[]P^_X]|[\x9d\x90\x9e\x9f\x98])[^\x07\x1b\x9c]*+(?:\x07|\x1b\\|\x9c)   # OSC, DCS, PM, APC, SOS
    | \x1b[()*+][0-9A-Za-z]                                             # a character set
    """
)
_LINE_END = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BLANKS_AROUND = re.compile(r"(?<![ \t])[ \t]*\n\s*")


def clean(text: str, *, lines: bool = True) -> str:
    """Return `text` with LF as its only line end, without terminal sequences and control characters.

    Tabs stay. Format characters stay, because languages and emoji need them. A lone surrogate becomes U+FFFD. With
    `lines` false, a line end with the blanks around it becomes one blank, and so does a tab.
    """
    if not text.isprintable():
        text = _LINE_END.sub("\n", _SEQUENCES.sub("", text))
        text = _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))
        if not lines:
            text = _BLANKS_AROUND.sub(" ", text.strip("\n")).replace("\t", " ")
    return text


def clean_value(value: Any) -> Any:
    """Return a JSON-shaped value with every text in it cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | tuple):
        return [clean_value(one) for one in value]
    return value
