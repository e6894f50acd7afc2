"""The demonstrations of a file in a line each, as one person may see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lab.review import Place, Proof, Review, Sheet, State, standing_of
from lab.suspects import suspects

if TYPE_CHECKING:
    from store.store import Store


class Waiting(NamedTuple):
    """One demonstration; `mine` says how far this person is: none, begun, handed in."""

    id: str
    intent: str
    annotator: str
    steps: int
    state: State
    mine: str
    proofreaders: int
    differences: int
    cleared: bool
    proof: Proof
    rows: tuple[Review, ...]


class Unclear(NamedTuple):
    """One demonstration that nobody has cleared, and how much in it looks private."""

    id: str
    intent: str
    annotator: str
    steps: int
    suspects: int


def review_queue(store: Store, person: str) -> list[Waiting]:
    """Every demonstration, the newest first."""
    uncleared = set(store.uncleared())
    found = []
    for id in store.demonstrations():
        proof, rows = store.proof(id), store.reviews(id)
        standing, sheet = standing_of(proof, rows), Sheet(proof, rows, person)
        found.append(
            Waiting(
                id=id,
                intent=str(proof.values[Place(None, "intent")]),
                annotator=proof.annotator.id,
                steps=proof.steps,
                state=standing.state,
                mine="handed in" if sheet.committed else "begun" if sheet.heads else "none",
                proofreaders=len(standing.proofreaders),
                differences=len(standing.differences),
                cleared=id not in uncleared,
                proof=proof,
                rows=tuple(rows),
            )
        )
    return found


def privacy_queue(store: Store) -> list[Unclear]:
    """Every demonstration that nobody has cleared, the newest first."""
    traces = (store.trace(id) for id in store.uncleared())
    return [Unclear(one.id, one.task.shown, one.agent.id, len(one.steps), len(suspects(one))) for one in traces]
