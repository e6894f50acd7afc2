"""Runs of a played study: their players, how they are made, and the list by task and condition.

An act `study_plays` with status `open` stores a run's id before the run begins, so that no play starts twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from lab.core.run.trace import AnyEvent, Ended, Paused, Resumed, Trace
from lab.core.settings import EMBEDDED
from lab.core.study.label import ActKind
from lab.core.study.signing import sign_act
from lab.core.study.study import Play, Study
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import uuid7
from lab.runs.session import Session
from lab.runs.spec import Spec, in_world, resume_spec
from store.store import Store

SCRIPT = Actor("script", "script")
"""The player if a task's own script answers."""


class StudyPlay(NamedTuple):
    """One run of a study: its task, condition and player. `status` is `open` until it ends."""

    task: str
    condition: str
    by: Actor
    unit: str
    trace: str
    status: str


def claimed_run(store: Store, study: Study, by: Actor, unit: str, run: int = 1) -> str:
    """Return the id of the run claimed for a play by this person, model or script, empty if none.

    Of two concurrent claims the first row wins, in this file and in every file it is merged into.
    """
    acts = [
        act for act in store.labels.acts(study, by.id, unit, run) if act.act == "played" and act.rater.kind == by.kind
    ]
    first = min(acts, key=lambda act: (act.at, act.id), default=None)
    return str(first.detail.get("run", "")) if first is not None else ""


def claim(store: Store, study: Study, by: Actor, unit: str, run: int = 1, **details: Any) -> str:
    """Return the claimed run's id. Claim a new one with `details` (condition, position) if there is none."""
    if not claimed_run(store, study, by, unit, run):
        record(store, study, by, "played", unit, run, {"run": uuid7(), "status": "open", **details})
    # Read back rather than returned: another process may have claimed first.
    return claimed_run(store, study, by, unit, run)


def record_end(store: Store, study: Study, by: Actor, unit: str, run: int, trace: Trace) -> None:
    """Record how a play's run ended, once."""
    acts = store.labels.acts(study, by.id, unit, run)
    play_acts = [act for act in acts if act.act == "played" and act.rater.kind == by.kind]
    if trace.ended is not None and not any(act.detail.get("status") == trace.status for act in play_acts):
        detail = {"run": trace.id, "status": trace.status}
        if trace.conditions.user_sha:
            detail["config"] = trace.conditions.user_sha
        record(store, study, by, "played", unit, run, detail)


def record(store: Store, study: Study, by: Actor, kind: ActKind, unit: str, run: int, detail: dict[str, Any]) -> None:
    """Record an act at a study, now."""
    store.labels.record_act(sign_act(study, by, kind, unit, run, detail=detail))


def session_of(
    store: Store, play: Play, run: str, person: str, user: str, *, pace: float = 0.0, device: str = EMBEDDED,
    study: Study | None = None,
) -> Session:  # fmt: skip
    """Return the session of a run: resumed if it has begun, else made as the play says."""
    if store.runs.has_run(run):
        trace = store.runs.trace(run)
        return Session(store, resume_spec(trace, agent=play.agent, pace=pace), trace)
    return Session(store, spec_of(play, person, user, pace=pace, device=device, study=study), run_id=run)


def spec_of(
    play: Play, person: str, user: str, *, pace: float = 0.0, device: str = EMBEDDED, study: Study | None = None
) -> Spec:
    """Return the spec of a play's run. Only a person sees the phone. A model sees its words if the study shows screens.

    The study's shadow models are asked beside people only.
    """
    spec = Spec(
        play.task,
        play.persona,
        agent=play.agent,
        user=user,
        person=person or Spec._field_defaults["person"],
        seat="participant",
        mirror=play.mirror and user == "human",
        seed=play.seed,
        pace=pace,
        device=device,
        user_screens=user.startswith("model:") and study is not None and "screens" in study.visible_parts,
        shadows=study.shadows if study is not None and user == "human" else (),
    )
    return in_world(spec, play.vary) if play.vary else spec


def study_plays(store: Store, study: Study) -> list[StudyPlay]:
    """Return every run of a study by task and condition, the input of paired comparisons.

    An interrupted and dealt-again run has the status `interrupted`. A run that has ended is not `open`, even if its
    player left before the end was recorded.
    """
    units = {unit.id: unit.play for unit in store.studies.units(study) if unit.play is not None}
    by_run: dict[tuple[str, str, str, int], StudyPlay] = {}
    for act in sorted(store.labels.acts(study), key=lambda act: (act.at, act.id)):
        play = units.get(act.unit)
        key = (act.rater.kind, act.rater.id, act.unit, act.run)
        if play is None or act.act not in ("played", "interrupted"):
            continue
        status = "interrupted" if act.act == "interrupted" else str(act.detail.get("status", ""))
        run = str(act.detail.get("run", ""))
        if key not in by_run:
            by_run[key] = StudyPlay(play.task.id, play.condition, act.rater, act.unit, run, status)
        elif by_run[key].trace == run and by_run[key].status != "interrupted":
            by_run[key] = by_run[key]._replace(status=status)
    plays = [
        one._replace(status=store.runs.summary(one.trace).status)
        if one.status == "open" and store.runs.has_run(one.trace)
        else one
        for one in by_run.values()
    ]
    return sorted(plays, key=lambda one: (one.task, one.condition, one.by.id, one.trace))


def people_runs(store: Store, study: Study) -> list[str]:
    """Return the runs that people played to the end and that this file holds, by task."""
    return [
        one.trace
        for one in study_plays(store, study)
        if one.by.kind == "human" and one.status not in ("open", "interrupted") and store.runs.has_run(one.trace)
    ]


def pauses(events: Iterable[AnyEvent]) -> list[float]:
    """Return the seconds of each pause by a person."""
    spans: list[float] = []
    since: str | None = None
    for event in events:
        if isinstance(event, Paused) and event.by.kind == "human":
            since = since or event.at
        elif since is not None and (isinstance(event, Resumed | Ended)):
            spans.append((datetime.fromisoformat(event.at) - datetime.fromisoformat(since)).total_seconds())
            since = None
    return spans
