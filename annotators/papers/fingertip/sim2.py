"""Sim2 of sequences rated by owners (FingerTip 20K 5.1): similarity to the owner's over that to another user's."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.papers.fingertip.other_users import OtherUsers
from annotators.papers.fingertip.text_similarity import LONGEST, mean_similarity, similarity
from annotators.papers.fingertip.tracks import Execution, sequence_of
from annotators.papers.metrics import MetricTerms, context_of
from annotators.study_data import StudyData
from lab.core.measured_run import MeasuredRun
from lab.core.study import Unit


def sim2_by_unit(study_data: StudyData, units: Sequence[Unit]) -> tuple[dict[str, float], dict[str, int]]:
    """Return Sim2 by unit, and the number without it by reason.

    The owner's sequence is the run beside which a unit is rated. The other user's is that of the most similar intent
    among all demonstrations of the file by users of another type, by the embedding model if one is named, else by
    Levenshtein. Of several equally similar ones the mean similarity counts.
    """
    others = OtherUsers(context_of(study_data.further.runs(), MetricTerms(embed=study_data.further.embed)))
    left_out: dict[str, int] = {}
    likenesses: dict[str, float] = {}
    for unit in units:
        case, own = (study_data.case(run) for run in (*unit.runs, "", "")[:2])
        why, texts = _texts(others, case, own)
        if texts is not None and (far := mean_similarity(texts[0], texts[2:])):
            likenesses[unit.id] = similarity(texts[0], texts[1]) / far
        else:
            why = why or _NO_SIMILARITY
            left_out[why] = left_out.get(why, 0) + 1
    return likenesses, left_out


_NO_SIMILARITY = "shares nothing with the other user's sequence"


def _texts(others: OtherUsers, case: MeasuredRun | None, own: MeasuredRun | None) -> tuple[str, tuple[str, ...] | None]:
    """Return the sequences of a run, its owner and other users, or the reason if one is missing."""
    if case is None or own is None:
        return "its run, or its owner's, is not in this file", None
    others_texts, why = others.of(Execution(case, own, len(own.steps), None))
    if not others_texts:
        return why, None
    texts = (sequence_of(case), sequence_of(own), *(others.sequence(other) for other in others_texts))
    return ("too long to compare", None) if max(map(len, texts)) > LONGEST else ("", texts)
