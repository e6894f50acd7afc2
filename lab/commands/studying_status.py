"""How far everybody in a study is, and how long they took: from what they did, never from what they said."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from statistics import median

from lab.commands.studying_told import RaterStatus, StudyStatus
from lab.labels import clashing
from lab.study import Study
from store.store import Store

PAUSE = 300.0
"""Seconds without any act or answer from which on somebody is taken to have been away."""


def status_of(store: Store, study: Study) -> StudyStatus:
    """The study's people in the order of its plan, then those who took another's place."""
    kit = store.kit()
    return StudyStatus(
        study.id,
        study.version,
        study.title,
        study.protocol.id,
        study.protocol.unit,
        study.units,
        store.locked(study),
        tuple(_rater(store, study, code) for code in people_of(store, study)),
        kit.rater if kit is not None else None,
    )


def people_of(store: Store, study: Study) -> list[str]:
    """Everybody's code: the plan's, then those who took another's place."""
    more = sorted({act.rater.id for act in store.acts(study) if act.act == "replaced"} - set(study.raters))
    return [*study.raters, *more]


def _rater(store: Store, study: Study, code: str) -> RaterStatus:
    acts = store.acts(study, code)
    answers = [label for label in store.labels(study, rater=code) if label.rater.kind == "human"]
    progress = store.progress(study, code)
    places: dict[tuple[str, int], list[float]] = {}
    for act in acts:
        if act.unit and act.act in ("opened", "commit"):
            places.setdefault((act.unit, act.run), []).append(_seconds(act.at))
    for label in answers:
        times = places.setdefault((label.unit, label.run), [])
        times += [_seconds(at) for at in (label.shown_at, label.at) if at]
    done = {(act.unit, act.run) for act in acts if act.act == "commit"}
    each = [worked(times) for place, times in places.items() if place in done]
    whole = [_seconds(act.at) for act in acts if act.act not in ("left", "replaced", "released", "dealt", "locked")]
    whole += [_seconds(label.at) for label in answers]
    agreed = [act.at for act in acts if act.act == "consent"]
    return RaterStatus(
        code,
        progress.dealt,
        progress.done,
        progress.begun,
        progress.held,
        store.left(study, code),
        store.withdrew(code),
        agreed[-1] if agreed else None,
        round(worked(whole) / 60, 2),
        round(median(each), 2) if each else None,
        len(clashing(answers)),
    )


def worked(times: Iterable[float]) -> float:
    """The seconds from the first of these times to the last, without what lies `PAUSE` or more apart."""
    ordered = sorted(times)
    gaps = (later - earlier for earlier, later in pairwise(ordered))
    return sum(gap for gap in gaps if gap < PAUSE)


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
