"""Quotations of a person's erased words in what others wrote: what is one, and what is left of a text without them.

A text that holds one of their texts of 12 characters or more, or 24 characters in a row of one, is gone as a whole. A
shorter text of theirs is taken out where it stands as words, and so is their code. Case and spacing do not matter. This
rather takes out too much: a short word of theirs may be anybody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lab.core.text_redaction import WITHDRAWN

LONG = 12
"""Characters from which the same text elsewhere is a quotation, and no coincidence."""
_PART = 24
"""Characters of a text that are a quotation of it; of Chinese, which says more in one, a third."""
_WORDLESS = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""Writing in which words are not set apart."""


class ErasedWords:
    """The words of one person that are erased, and their code."""

    def __init__(self, code: str, texts: Iterable[str]) -> None:
        self.code = code
        self._texts = {tidy for text in texts if len(tidy := _tidy(text)) > 1}
        self._long = {text for text in self._texts if len(text) >= LONG}
        self._parts = {
            text[at : at + n] for text in self._long for n in (_part(text),) for at in range(len(text) - n + 1)
        }
        short = sorted(self._texts - self._long, key=len, reverse=True)
        self._short = re.compile("|".join(map(_as_words, short)), re.IGNORECASE) if short else None
        self._code = re.compile(rf"(?<![\w-]){re.escape(code)}(?![\w-])")

    def holds(self, text: str) -> bool:
        """Whether a text is one of theirs."""
        return _tidy(text) in self._texts

    def unsaid(self, text: str) -> str:
        """A text without what it quotes of them, and without their code."""
        tidy = _tidy(text)
        if any(one in tidy for one in self._long) or not self._parts.isdisjoint(_windows(tidy)):
            return WITHDRAWN
        text = self._short.sub(WITHDRAWN, text) if self._short is not None else text
        return self._code.sub(WITHDRAWN, text)


def _tidy(text: str) -> str:
    return " ".join(text.split()).casefold()


def _part(text: str) -> int:
    return _PART // 3 if re.search(_WORDLESS, text) else _PART


def _windows(text: str) -> Iterable[str]:
    return (text[at : at + n] for n in (_PART, _PART // 3) for at in range(len(text) - n + 1))


def _as_words(text: str) -> str:
    """A short text where it stands by itself, however it is spaced."""
    pattern = r"\s+".join(map(re.escape, text.split()))
    before = "" if re.match(_WORDLESS, text[0]) or not text[0].isalnum() else r"(?<!\w)"
    after = "" if re.match(_WORDLESS, text[-1]) or not text[-1].isalnum() else r"(?!\w)"
    return f"{before}{pattern}{after}"
