"""The command study runs: list a study's plays with person, condition and times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from lab.cli.arguments import Parser, StudyArguments, TableArguments
from lab.cli.database import open_store, settings_for
from lab.cli.output import print_line, print_result, print_table, table_form
from lab.core.errors import LabError
from lab.core.run.step import Reply
from lab.core.run.trace import Answered, AnyEvent, Asked, Trace
from lab.core.study.label import Act
from lab.core.study.study import Study
from lab.core.values.ids_and_clock import seconds_between
from lab.studies.planning.study_places import study_named
from lab.studies.playing.played_runs import StudyPlay, pauses, study_plays
from lab.studies.seats import sees_outcomes
from store.store import Store


class QuestionPlayed(msgspec.Struct, frozen=True):
    """One question of the agent and its answer. Times are UTC, null if missing.

    `waited` is the seconds from showing to sending it, pauses included. `characters` and `edits` (deletions) describe
    the answer as sent. `step` counts from 1.
    """

    step: int
    kind: Literal["ask", "propose"]
    shown_at: str | None
    first_key_at: str | None
    sent_at: str | None
    waited: float | None
    edits: int | None
    characters: int
    decision: Literal["accept", "reject"] | None


class RunPlayed(msgspec.Struct, frozen=True):
    """One run of a played study. `position` is its place in the person's order, from 0, null for programs.

    `play` counts from 1 how often it was dealt. `waited` is the seconds with an open question, `paused` the seconds
    that a person held the phone, `pauses` how often. `quiz_tries` counts the answers to the persona's quiz,
    `quiz_share` is the share right at first try in the passed round. `consent` is the version of the text last agreed
    to before the run.
    """

    unit: str
    task: str
    condition: str
    mirror: bool
    by: str
    kind: str
    position: int | None
    play: int
    trace: str
    status: str
    began: str | None
    ended: str | None
    score: float | None
    questions: tuple[QuestionPlayed, ...]
    waited: float
    paused: float
    pauses: int
    quiz_tries: int
    quiz_rounds: int
    quiz_share: float | None
    consent: str | None


class RunsPlayed(msgspec.Struct, frozen=True):
    """Runs of a played study by person, in the order of play."""

    study: str
    version: int
    runs: tuple[RunPlayed, ...]


class StudyRunsArguments(StudyArguments, TableArguments):
    pass


def add_study_runs(parser: Parser) -> None:
    parser.runs(runs, StudyRunsArguments, prints={"study-runs": RunsPlayed})
    parser.examples(
        """\
  hitlab study runs knowu-5c
  hitlab study runs knowu-5c --json | jq '.runs[].score'
"""
    )


def runs(args: StudyArguments) -> int:
    """Print the study's plays."""
    settings = settings_for(args.db, sees_outcomes, "study runs")
    with open_store(settings, create=False, readonly=True) as store:
        study = study_named(store, args.study)
        if study.protocol.unit != "task to play":
            problem = f"is rated, not played: its unit is a {study.protocol.unit}."
            raise LabError(f"study {study.name}", problem, "`hitlab study status` says how far it is.")
        played_runs = RunsPlayed(study.id, study.version, tuple(runs_of(store, study)))
    print_result(played_runs, _print_runs, json=args.json)
    return 0


def runs_of(store: Store, study: Study) -> list[RunPlayed]:
    """Return every run of a study, by person."""
    acts = store.labels.acts(study)
    positions = {
        (assignment.rater, assignment.unit, assignment.run): assignment.position
        for assignment in store.studies.assignments(study)
    }
    rows = [_run_played(store, study, play, acts, positions) for play in study_plays(store, study)]
    return sorted(rows, key=lambda row: (row.kind, row.by, row.position or 0, row.play, row.task))


def _run_played(
    store: Store, study: Study, study_play: StudyPlay, acts: Sequence[Act], positions: dict[tuple[str, str, int], int]
) -> RunPlayed:
    trace = store.runs.trace(study_play.trace) if store.runs.has_run(study_play.trace) else None
    events = list(store.runs.events(study_play.trace)) if trace is not None else []
    play = store.studies.unit(study, study_play.unit).play
    assert play is not None
    theirs = [act for act in acts if act.rater.id == study_play.by.id and act.rater.kind == study_play.by.kind]
    run = _times_dealt(theirs, study_play)
    began = next((act.at for act in theirs if act.act == "played" and act.detail.get("run") == study_play.trace), None)
    questions = tuple(_questions(events))
    pause_seconds = pauses(events)
    quiz = [
        act.detail for act in theirs if act.act == "quiz" and play.persona and act.detail["persona"] == play.persona.id
    ]
    consent_shas = [
        str(act.detail["sha"]) for act in theirs if act.act == "consent" and (began is None or act.at <= began)
    ]
    return RunPlayed(
        study_play.unit,
        study_play.task,
        study_play.condition,
        trace.conditions.mirror if trace is not None else play.mirror and play.user == "person",
        study_play.by.id,
        study_play.by.kind,
        positions.get((study_play.by.id, study_play.unit, run)),
        run,
        study_play.trace,
        study_play.status,
        events[0].at if events else None,
        events[-1].at if trace is not None and trace.ended is not None else None,
        _score(trace),
        questions,
        round(sum(question.waited or 0.0 for question in questions), 3),
        round(sum(pause_seconds), 3),
        len(pause_seconds),
        len(quiz),
        len({row["round"] for row in quiz}),
        next((float(row["share"]) for row in quiz if row.get("passed")), None),
        consent_shas[-1] if consent_shas else None,
    )


def _times_dealt(theirs: Iterable[Act], study_play: StudyPlay) -> int:
    """Return how many times this play had been dealt when its run began."""
    return next((act.run for act in theirs if act.act == "played" and act.detail.get("run") == study_play.trace), 1)


def _score(trace: Trace | None) -> float | None:
    return trace.ended.score if trace is not None and trace.ended is not None else None


def _questions(events: Iterable[AnyEvent]) -> Iterable[QuestionPlayed]:
    """Yield every question of a run in order. The last may be open."""
    open_one: Asked | None = None
    for event in events:
        if isinstance(event, Asked):
            open_one = event
        elif isinstance(event, Answered) and open_one is not None:
            yield _question_played(open_one, event.reply)
            open_one = None
    if open_one is not None:
        yield _question_played(open_one, None)


def _question_played(event: Asked, reply: Reply | None) -> QuestionPlayed:
    shown_at, sent_at = (reply.shown_at, reply.sent_at) if reply is not None else (None, None)
    return QuestionPlayed(
        event.index + 1,
        "propose" if event.question.kind == "propose" else "ask",
        shown_at,
        reply.first_key_at if reply is not None else None,
        sent_at,
        _round_seconds(seconds_between(shown_at, sent_at)),
        reply.edits if reply is not None else None,
        len(reply.text) if reply is not None else 0,
        reply.decision if reply is not None else None,
    )


def _round_seconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _print_runs(result: RunsPlayed) -> None:
    print_line(f"{result.study} v{result.version}: {len(result.runs):,} played")
    rows = [
        [
            run.by, "-" if run.position is None else str(run.position + 1), run.task, run.condition, run.trace,
            run.status,
            "-" if run.score is None else f"{run.score:.2f}", str(len(run.questions)), f"{run.waited:.1f}",
        ]
        for run in result.runs
    ]  # fmt: skip
    if rows or table_form.is_data:
        print_table(["person", "place", "task", "condition", "run", "status", "score", "asked", "waited"], rows)
