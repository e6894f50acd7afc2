"""Other users' episodes to compare a run with: the most similar intent among users of another type (4.4, 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from annotators.papers.fingertip.text_similarity import most_similar
from annotators.papers.fingertip.tracks import Execution, sequence_of, type_of, user_of
from annotators.papers.metrics import MetricContext
from lab.core.measured_run import MeasuredRun

if TYPE_CHECKING:
    from numpy.typing import NDArray


_HAIR = 1e-6
"""Cosines that differ by less are equal: models give one text other last digits in another batch."""


class Others:
    """All demonstrations with an intent and a user whose type is known; made when first asked for."""

    def __init__(self, context: MetricContext) -> None:
        self._context = context
        self._made = False
        self._found: dict[tuple[str, str], list[MeasuredRun]] = {}
        self._sequences: dict[str, str] = {}
        self._rows: NDArray[Any] | None = None

    def of(self, run: Execution) -> tuple[list[MeasuredRun], str]:
        """The episodes to compare with, several where their intents are equally similar; or why there is none."""
        self._make()
        intent = run.demonstration.task.instruction or run.case.task.instruction
        kind = self._type(run)
        if not kind:
            return [], "of a user whose age is not told"
        if not intent:
            return [], "of an untold intent"
        key = (intent, kind)
        if key not in self._found:
            self._found[key] = self._nearest(intent, kind)
        others = self._found[key]
        return others, "" if others else "without a demonstration by a user of another type"

    def sequence(self, demonstration: MeasuredRun) -> str:
        """All that was done in a demonstration, written once."""
        if demonstration.id not in self._sequences:
            self._sequences[demonstration.id] = sequence_of(demonstration)
        return self._sequences[demonstration.id]

    def _type(self, run: Execution) -> str:
        types = [type_of(case.persona.facts) for case in (run.case, run.demonstration) if case.persona]
        return next(filter(None, types), "") or self._types.get(user_of(run.case), "")

    def _make(self) -> None:
        if self._made:
            return
        self._made = True
        gold = [case for cases in self._context.gold.values() for case in cases if case.steps]
        self._types = {user_of(case): kind for case in gold if case.persona and (kind := type_of(case.persona.facts))}
        self._cases = [case for case in gold if case.task.instruction and self._types.get(user_of(case))]
        self._kinds = [self._types[user_of(case)] for case in self._cases]
        self._intents = [case.task.instruction for case in self._cases]

    def _nearest(self, intent: str, kind: str) -> list[MeasuredRun]:
        candidates = [place for place, other in enumerate(self._kinds) if other != kind]
        if not candidates:
            return []
        if self._context.terms.embed:
            places = self._closest(intent, candidates)
        else:
            places = most_similar(intent, [self._intents[place] for place in candidates])
        return [self._cases[candidates[place]] for place in places]

    def _closest(self, intent: str, candidates: Sequence[int]) -> list[int]:
        """By the embedding model: the places in `candidates` of those with the highest cosine."""
        import numpy as np

        if self._rows is None:
            self._rows = self._directions(self._intents)
        likeness = (self._rows @ self._directions([intent])[0])[list(candidates)]
        return [int(place) for place in np.flatnonzero(likeness >= likeness.max() - _HAIR)]

    def _directions(self, texts: Sequence[str]) -> NDArray[Any]:
        """The vectors of texts, each of length 1, or 0 where it has none."""
        import numpy as np

        embed = self._context.terms.embed
        assert embed is not None
        rows = np.asarray(embed(texts), dtype=float)
        largest = np.abs(rows).max(axis=1, keepdims=True)
        rows = rows / np.where(largest > 0, largest, 1.0)
        directions: NDArray[Any] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        return directions
