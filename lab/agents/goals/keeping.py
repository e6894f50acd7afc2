"""Goals of keeping the phone in order: senders to be blocked, devices to be found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.goals.nouns import Clause, Goal, Grammar, cut

_DEVICE = r"(?:ear(?:bud|phone|piece)s?|headphones?|headset|watch|speaker|tag|耳机|手表)"


class Block(NamedTuple):
    """A sender blocked, and reported where that is wanted too."""

    sender: str
    report: bool = True

    @property
    def key(self) -> tuple[object, ...]:
        return ("block", self.sender, self.report)

    @property
    def definite(self) -> bool:
        return bool(self.sender)

    def said(self) -> str:
        return f"block {'and report ' if self.report else ''}{self.sender}"


class Ring(NamedTuple):
    """A device that is looked for made to ring."""

    device: str

    @property
    def key(self) -> tuple[object, ...]:
        return ("ring", self.device.casefold())

    @property
    def definite(self) -> bool:
        return bool(self.device)

    def said(self) -> str:
        return f"ring {self.device}"


def _block(clause: Clause) -> Sequence[Goal]:
    report = re.search(r"\breport(?:ed)?\b|举报", clause.words, re.IGNORECASE) is not None
    if not re.search(r"\bblock(?:ed)?\b|拉黑|屏蔽", clause.words, re.IGNORECASE):
        return []
    number = re.search(r"\+?\d[\d ()-]{4,}\d", clause.words)
    named = re.search(r"\b(?:sender|number|contact)\s+([A-Z][\w ]+)", clause.words)
    return [Block(number[0].strip() if number else named[1].strip() if named else "the sender", report)]


def _ring(clause: Clause) -> Sequence[Goal]:
    name = re.sub(
        r"^(?:ring|rang|made|make|play(?:ed)? a sound on)\s+(?:(?:the|her|his|my|their|your|our)\s+)?", "",
        clause.words, flags=re.IGNORECASE,
    )  # fmt: skip
    found = re.match(rf".{{0,40}}?{_DEVICE}\b", name, re.IGNORECASE)
    device = found[0] if found else cut(name, r"\s+(?:in|with|from|on)\b|[,.;]")
    return [Ring(device)] if device else []


GRAMMAR = Grammar(
    {
        "block": (r"(?:report(?:ed)? and )?block(?:ed)?\b|拉黑了?|屏蔽了?|举报并拉黑", _block),
        "ring": (
            rf"(?:ring|rang)\b(?=[^.;]*(?:{_DEVICE}|\bin Settings\b))|made\b(?=[^.;]*{_DEVICE}[^.;]*\bring\b)"
            rf"|play(?:ed)? a sound on\b(?=[^.;]*{_DEVICE})",
            _ring,
        ),
    }
)
