"""The clauses of a guideline: its lines, numbered, so that a label can cite one and a report can name it."""

from __future__ import annotations

import re
from typing import NamedTuple

_LIST = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
_CITED = re.compile(r"^§\s?([1-9]\d{0,5})$")


class Clause(NamedTuple):
    """One line of a guideline: its number from 1, as labels cite it (`§7`), and its words without a list's mark."""

    number: int
    says: str

    @property
    def cited(self) -> str:
        """How a label cites it."""
        return f"§{self.number}"


def clauses(guide: str) -> tuple[Clause, ...]:
    """Every line that says something, headings among them: translations of a guide have the same numbers."""
    lines = [line.strip() for line in guide.splitlines() if line.strip()]
    return tuple(Clause(at, _LIST.sub("", line)) for at, line in enumerate(lines, 1))


def clause_of(cites: str, guide: str) -> Clause | None:
    """The clause that a label cites; None where it cites something else, or a line that is not there."""
    match = _CITED.match(cites.strip())
    guide_clauses = clauses(guide) if match else ()
    at = int(match[1]) if match else 0
    return guide_clauses[at - 1] if 1 <= at <= len(guide_clauses) else None
