"""Sim2 of each sequence that an owner rated (FingerTip 20K 5.1): its likeness to theirs over that to another's."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.metrics import Context, Terms
from annotators.metrics.fingertip_distances import Pair, similarities
from annotators.metrics.fingertip_others import Others
from annotators.metrics.fingertip_text import LONGEST
from annotators.metrics.fingertip_tracks import Execution, sequence_of
from annotators.studied import Studied
from lab.case import Case
from lab.study import Unit


def likeness(studied: Studied, units: Sequence[Unit]) -> tuple[dict[str, float], dict[str, int]]:
    """Sim2 by unit; and how many have none, by reason.

    The owner's sequence is the run that a unit is rated beside. The other user's is that of the most similar intent
    among all demonstrations of the file by users of another type, by the embedding model where one is named, else by
    Levenshtein.
    """
    others = Others(Context(_gold(studied), Terms(embed=studied.further.embed)))
    left: dict[str, int] = {}
    kept: list[str] = []
    near: list[Pair] = []
    far: list[Pair] = []
    for unit in units:
        case, own = (studied.case(run) for run in (*unit.runs, "", "")[:2])
        why, texts = _texts(others, case, own)
        if texts is None:
            left[why] = left.get(why, 0) + 1
        else:
            kept.append(unit.id)
            near.append((texts[0], texts[1]))
            far.append((texts[0], texts[2]))
    found: dict[str, float] = {}
    for id, one, other in zip(kept, similarities(near), similarities(far), strict=True):
        if other:
            found[id] = one / other
        else:
            left[_NOTHING] = left.get(_NOTHING, 0) + 1
    return found, left


_NOTHING = "shares nothing with the other user's sequence"


def _gold(studied: Studied) -> dict[str, list[Case]]:
    """All demonstrations of the file, by task."""
    found: dict[str, list[Case]] = {}
    for case in studied.further.runs():
        if case.gold:
            found.setdefault(case.task.id, []).append(case)
    return found


def _texts(others: Others, case: Case | None, own: Case | None) -> tuple[str, tuple[str, str, str] | None]:
    """The sequences of a run, of its owner and of another user; or why one is not there."""
    if case is None or own is None:
        return "its run, or its owner's, is not in this file", None
    other, why = others.of(Execution(case, own, len(own.steps), None))
    if other is None:
        return why, None
    texts = (sequence_of(case), sequence_of(own), others.sequence(other))
    return ("too long to compare", None) if max(map(len, texts)) > LONGEST else ("", texts)
