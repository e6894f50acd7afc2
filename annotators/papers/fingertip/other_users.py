"""Other users' episodes for a comparison: the most similar intent among users of another type (4.4, 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from annotators.papers.fingertip.text_similarity import most_similar
from annotators.papers.fingertip.tracks import Execution, sequence_of, type_of
from annotators.papers.metrics import MetricContext
from lab.core.run.measured_run import MeasuredRun

if TYPE_CHECKING:
    from numpy.typing import NDArray


_HAIR = 1e-6
"""Tolerance for equal cosines: models return slightly different vectors for a text in another batch."""


class OtherUsers:
    """All demonstrations with an intent and a user of known type, prepared on first use."""

    def __init__(self, context: MetricContext) -> None:
        self._context = context
        self._prepared = False
        self._nearest_by_intent: dict[tuple[str, str], list[MeasuredRun]] = {}
        self._sequences: dict[str, str] = {}
        self._rows: NDArray[Any] | None = None

    def comparable_episodes(self, run: Execution) -> tuple[list[MeasuredRun], str]:
        """Return the episodes to compare with, several if their intents are equally similar, and why there are none."""
        self._prepare()
        intent = run.demonstration.task.instruction or run.case.task.instruction
        kind = self._type(run)
        if not kind:
            return [], "of a user whose age is not told"
        if not intent:
            return [], "of an untold intent"
        key = (intent, kind)
        if key not in self._nearest_by_intent:
            self._nearest_by_intent[key] = self._nearest(intent, kind)
        others = self._nearest_by_intent[key]
        return others, "" if others else "without a demonstration by a user of another type"

    def sequence(self, demonstration: MeasuredRun) -> str:
        """Return a demonstration's action sequence, cached."""
        if demonstration.id not in self._sequences:
            self._sequences[demonstration.id] = sequence_of(demonstration)
        return self._sequences[demonstration.id]

    def _type(self, run: Execution) -> str:
        types = [type_of(case.persona.facts) for case in (run.case, run.demonstration) if case.persona]
        # Another demonstration of the same user may state an age that this run's persona lacks.
        return next(filter(None, types), "") or self._types.get(run.case.persona_id, "")

    def _prepare(self) -> None:
        if self._prepared:
            return
        self._prepared = True
        gold = [case for cases in self._context.gold.values() for case in cases if case.steps]
        self._types = {case.persona_id: kind for case in gold if case.persona and (kind := type_of(case.persona.facts))}
        self._cases = [case for case in gold if case.task.instruction and self._types.get(case.persona_id)]
        self._kinds = [self._types[case.persona_id] for case in self._cases]
        self._intents = [case.task.instruction for case in self._cases]

    def _nearest(self, intent: str, kind: str) -> list[MeasuredRun]:
        candidates = [place for place, other in enumerate(self._kinds) if other != kind]
        if not candidates:
            return []
        if self._context.terms.embed:
            places = self._closest_places(intent, candidates)
        else:
            places = most_similar(intent, [self._intents[place] for place in candidates])
        return [self._cases[candidates[place]] for place in places]

    def _closest_places(self, intent: str, candidates: Sequence[int]) -> list[int]:
        """Return the indices in `candidates` with the highest cosine, by the embedding model."""
        import numpy as np

        if self._rows is None:
            self._rows = self._directions(self._intents)
        likeness = (self._rows @ self._directions([intent])[0])[list(candidates)]
        return [int(place) for place in np.flatnonzero(likeness >= likeness.max() - _HAIR)]

    def _directions(self, texts: Sequence[str]) -> NDArray[Any]:
        """Return the vectors of texts, normalised to length 1, or 0 for zero vectors."""
        import numpy as np

        embed = self._context.terms.embed
        assert embed is not None
        rows = np.asarray(embed(texts), dtype=float)
        # Scaling by the largest component first keeps the squares of a huge vector finite.
        largest = np.abs(rows).max(axis=1, keepdims=True)
        rows = rows / np.where(largest > 0, largest, 1.0)
        directions: NDArray[Any] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        return directions
