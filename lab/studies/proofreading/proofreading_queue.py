"""Lists of a file's demonstrations, as one person may see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from lab.core.redaction.private_text import suspects
from lab.core.study.proofreading import Proof, ProofreadingSheet, ProofreadPlace, Review, State, proofreading_state

if TYPE_CHECKING:
    from store.store import Store


class WaitingDemonstration(msgspec.Struct, frozen=True):
    """One demonstration in a list. `mine` is this person's progress: none, begun, handed in."""

    id: str
    task: str
    annotator: str
    steps: int
    state: State
    mine: str
    proofreaders: int
    differences: int
    cleared: bool


class UnclearedDemonstration(msgspec.Struct, frozen=True):
    """One demonstration that is not cleared yet, with the number of suspected private details."""

    id: str
    task: str
    annotator: str
    steps: int
    suspects: int


def review_queue(store: Store, person: str) -> list[WaitingDemonstration]:
    """Return every demonstration that is not archived, the newest first."""
    return [waiting for waiting, _, _ in reviewed_demonstrations(store, person)]


def reviewed_demonstrations(
    store: Store, person: str
) -> Iterator[tuple[WaitingDemonstration, Proof, Sequence[Review]]]:
    """Yield every demonstration that is not archived, with what is proofread and all its reviews, the newest first."""
    uncleared, archived_ids = set(store.reviews.uncleared()), store.runs.acts.archived()
    for id in store.reviews.demonstrations():
        if id in archived_ids:
            continue
        proof, rows = store.reviews.proof_of(id), store.reviews.of_run(id)
        review_state, sheet = proofreading_state(proof, rows), ProofreadingSheet(proof, rows, person)
        waiting = WaitingDemonstration(
            id=id,
            task=str(proof.values[ProofreadPlace(None, "intent")]),
            annotator=proof.annotator.id,
            steps=proof.steps,
            state=review_state.state,
            mine="handed in" if sheet.committed else "begun" if sheet.heads else "none",
            proofreaders=len(review_state.proofreaders),
            differences=len(review_state.differences),
            cleared=id not in uncleared,
        )
        yield waiting, proof, rows


def privacy_queue(store: Store) -> list[UnclearedDemonstration]:
    """Return every demonstration that is not cleared yet, the newest first."""
    traces = (store.runs.trace(id) for id in store.reviews.uncleared())
    return [
        UnclearedDemonstration(one.id, one.task.display_name, one.agent.id, len(one.steps), len(suspects(one)))
        for one in traces
    ]
