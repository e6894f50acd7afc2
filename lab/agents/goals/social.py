"""Goals of a social app: a picture shared with those for whom it is meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.goals.nouns import NAME, Clause, Goal, Grammar

_QUOTE = r"[\"“「'‘](?P<{0}>.+?)[\"”」'’](?!\w)"
_PICTURE = re.compile(
    rf"\b(?:pictures?|photos?|snapshots?)\s+(?:(?:called|titled|named|of)\s+)?{_QUOTE.format('name')}", re.IGNORECASE
)
_ALBUM = re.compile(
    r"\b(?:from|in|of)\s+(?:the\s+|my\s+|her\s+|his\s+|our\s+)?(?P<album>[\w-]+)\s+album\b", re.IGNORECASE
)
_FOR = re.compile(
    r"\b(?:for|to|with|visible to)\s+(?:my\s+|her\s+|his\s+|the\s+|just\s+)*(?P<who>everyone|everybody"
    r"|(?:close\s+)?friends|only\s+me|(?:her|him)self)\b",
    re.IGNORECASE,
)  # fmt: skip
_WORDS = re.compile(rf"\b(?:words|text|caption|line|saying)\s*:?\s+{_QUOTE.format('text')}", re.IGNORECASE)
_APP = re.compile(
    rf"\b(?:on|in|via|using|opened)\s+(?:the\s+)?({NAME})(?:\s+app)?(?=\s*[,;.:]|\s+(?:and|to|for|that|with)\b|$)"
)


class Share(NamedTuple):
    """A picture of the phone, posted; `who` may see it, and `album` is where it is from."""

    picture: str
    album: str = ""
    who: str = ""
    text: str = ""
    app: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        return ("share", self.picture.casefold(), self.who)

    @property
    def definite(self) -> bool:
        return bool(self.picture and self.who)

    def said(self) -> str:
        return f"post the picture {self.picture!r}{f' for {self.who}' if self.who else ''}"


def _share(clause: Clause) -> Sequence[Goal]:
    picture, album, who = _PICTURE.search(clause.words), _ALBUM.search(clause.words), _FOR.search(clause.words)
    if not picture:
        return []
    words, app = _WORDS.search(clause.text), _APP.search(clause.words) or _APP.search(clause.text)
    audience = re.sub(r"everybody", "everyone", who["who"].casefold()) if who else ""
    audience = "only me" if audience.endswith("self") else " ".join(audience.split())
    return [
        Share(
            picture["name"].strip(), album["album"].casefold() if album else "", audience,
            words["text"].strip() if words else "", app[1] if app else "",
        )
    ]  # fmt: skip


GRAMMAR = Grammar(
    {
        "share": (
            r"(?:post|posted|share|shared|put|upload|uploaded|publish|published)\b"
            r"(?=[^.;,]{0,30}?\b(?:picture|photo|snapshot)s?\b)",
            _share,
        )
    }
)
