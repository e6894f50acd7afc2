"""Goals of pictures: photos or screenshots of certain days thrown away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.goals.nouns import Clause, Goal, Grammar

_THINGS = re.compile(r"\b(screenshots?|photos?|pictures?|images?)\b|(截图|照片)", re.IGNORECASE)
_WHEN = re.compile(r"\b(?:before|older than|from|in|of)\s+.+", re.IGNORECASE | re.DOTALL)


class Discard(NamedTuple):
    """Pictures to be deleted: which kind, and the words that say of which days."""

    things: str
    when: str

    @property
    def key(self) -> tuple[object, ...]:
        return ("discard", self.things)

    @property
    def definite(self) -> bool:
        return False  # what it means hangs on the day, so it is never offered

    def said(self) -> str:
        return f"delete the {self.things} {self.when}"


def _discard(clause: Clause) -> Sequence[Goal]:
    things = _THINGS.search(clause.words)
    bare = re.sub(r"\b(?:in|from)\s+(?:my|the|his|her)\s+(?:gallery|album|phone|photos)\b", " ", clause.words)
    when = _WHEN.search(bare[things.end() :]) if things else None
    if things is None or when is None or re.match(r"(?i)deleted|removed|threw", clause.words):
        return []
    kind = "screenshots" if things[0].casefold().startswith(("screenshot", "截图")) else "photos"
    return [Discard(kind, " ".join(when[0].split()).rstrip(" .!,"))]


GRAMMAR = Grammar(
    {
        "discard": (
            r"(?:delete|remove|discard|throw away|get rid of|clear out)d?\b"
            r"(?=[^.;]*\b(?:screenshots?|photos?|pictures?|images?)\b)",
            _discard,
        )
    }
)
