"""Goals of sound: a volume set to a level."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.goals.nouns import Clause, Goal, Grammar

_NAME = re.compile(r"\b((?:media|music|ring(?:er|tone)?|alarm|call|notification)\s+volume)\b|(媒体音量|铃声音量)", re.I)
_LEVEL = re.compile(
    r"\b(?:to|at)\s+(?:level\s+)?(?P<n>\d{1,3}|zero|nothing|nought)\b|[到为](?P<zh>\d{1,3})", re.IGNORECASE
)
_NONE = re.compile(r"^(?:mut|silenc)|\b(?:all the way|right) down\b|静音", re.IGNORECASE)


class Level(NamedTuple):
    """A volume and the level it is to have."""

    name: str
    value: int

    @property
    def key(self) -> tuple[object, ...]:
        return ("level", self.name.casefold(), self.value)

    @property
    def definite(self) -> bool:
        return True

    def said(self) -> str:
        return f"set the {self.name} to {self.value}"


def _level(clause: Clause) -> Sequence[Goal]:
    name, level = _NAME.search(clause.words), _LEVEL.search(clause.words)
    if name is None or (level is None and not _NONE.search(clause.words)):
        return []
    told = (level["n"] or level["zh"]) if level is not None else "0"
    return [Level(" ".join((name[1] or name[2]).lower().split()), int(told) if told.isdigit() else 0)]


GRAMMAR = Grammar(
    {
        "level": (
            r"(?:set|put|turn(?:ed)?|lower(?:ed)?|rais(?:e|ed)|mut(?:e|ed)|silenc(?:e|ed)|bring|brought)\b"
            r"(?=[^.;,]*\bvolume\b)(?![^.;,]*\b(?:on|off)\b)|[把调](?=[^。，]*音量)",
            _level,
        )
    }
)
