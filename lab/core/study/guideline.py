"""Clauses of a guideline: its lines, numbered, so that labels can cite one and reports can name it."""

from __future__ import annotations

import re
from typing import NamedTuple

_LIST = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
_CITED = re.compile(r"^§\s?([1-9]\d{0,5})$")


class Clause(NamedTuple):
    """One line of a guideline: its number from 1, as labels cite it (`§7`), and its text without a list marker."""

    number: int
    text: str

    @property
    def citation(self) -> str:
        """The form in which a label cites it."""
        return f"§{self.number}"


def clauses(guide: str) -> tuple[Clause, ...]:
    """Return every line that is not blank, headings too, so that translations of a guide have the same numbers."""
    lines = [line.strip() for line in guide.splitlines() if line.strip()]
    return tuple(Clause(at, _LIST.sub("", line)) for at, line in enumerate(lines, 1))


def clause_of(cites: str, guide: str) -> Clause | None:
    """Return the clause that a label cites, or None if it cites something else or an unknown line."""
    match = _CITED.match(cites.strip())
    guide_clauses = clauses(guide) if match else ()
    at = int(match[1]) if match else 0
    return guide_clauses[at - 1] if 1 <= at <= len(guide_clauses) else None
