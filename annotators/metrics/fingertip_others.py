"""Another user's episode to compare a run with: the most similar intent among users of another type (4.4, 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from annotators.metrics import Context
from annotators.metrics.fingertip_text import Likest
from annotators.metrics.fingertip_tracks import Execution, sequence_of, type_of, user_of
from lab.case import Case

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Others:
    """All demonstrations with an intent and a user whose type is known; made when first asked for."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._made = False
        self._found: dict[tuple[str, str], Case | None] = {}
        self._sequences: dict[str, str] = {}
        self._rows: NDArray[Any] | None = None

    def of(self, run: Execution) -> tuple[Case | None, str]:
        """The episode to compare with, or why there is none."""
        self._make()
        intent = run.demonstration.task.instruction or run.case.task.instruction
        kind = self._type(run)
        if not kind:
            return None, "of a user whose age is not told"
        if not intent:
            return None, "of an untold intent"
        key = (intent, kind)
        if key not in self._found:
            self._found[key] = self._nearest(intent, kind)
        found = self._found[key]
        return found, "" if found else "without a demonstration by a user of another type"

    def sequence(self, demonstration: Case) -> str:
        """All that was done in a demonstration, written once."""
        if demonstration.id not in self._sequences:
            self._sequences[demonstration.id] = sequence_of(demonstration)
        return self._sequences[demonstration.id]

    def _type(self, run: Execution) -> str:
        told = [type_of(case.persona.facts) for case in (run.case, run.demonstration) if case.persona]
        return next(filter(None, told), "") or self._types.get(user_of(run.case), "")

    def _make(self) -> None:
        if self._made:
            return
        self._made = True
        gold = [case for cases in self._context.gold.values() for case in cases if case.steps]
        self._types = {user_of(case): kind for case in gold if case.persona and (kind := type_of(case.persona.facts))}
        self._cases = [case for case in gold if case.task.instruction and self._types.get(user_of(case))]
        self._kinds = [self._types[user_of(case)] for case in self._cases]
        self._intents = [case.task.instruction for case in self._cases]
        self._index = None if self._context.terms.embed else Likest(self._intents)

    def _nearest(self, intent: str, kind: str) -> Case | None:
        allowed = [place for place, other in enumerate(self._kinds) if other != kind]
        if not allowed:
            return None
        place = self._index.find(intent, allowed) if self._index else self._closest(intent, allowed)
        return None if place is None else self._cases[place]

    def _closest(self, intent: str, allowed: Sequence[int]) -> int:
        """By the embedding model: the first of those with the highest cosine."""
        import numpy as np

        if self._rows is None:
            self._rows = self._directions(self._intents)
        likeness = self._rows @ self._directions([intent])[0]
        return allowed[int(np.argmax(likeness[list(allowed)]))]

    def _directions(self, texts: Sequence[str]) -> NDArray[Any]:
        """The vectors of texts, each of length 1, or 0 where it has none."""
        import numpy as np

        embed = self._context.terms.embed
        assert embed is not None
        rows = np.asarray(embed(texts), dtype=float)
        largest = np.abs(rows).max(axis=1, keepdims=True)
        rows = rows / np.where(largest > 0, largest, 1.0)
        found: NDArray[Any] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        return found
