"""Settled labels about runs, for `hitlab runs metrics`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from annotators.papers.marks import Marks
from annotators.report.study_numbers import success_marks
from annotators.settled import (
    feeds_metrics,
    marks_of_guesses,
    runs_of_units,
    settled_marks,
    settled_marks_of_texts,
    success_field,
)
from annotators.study_data import StudyData
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.label import Label
from lab.core.study.rating_sheet import current_labels, submitted_sheets
from lab.core.study.study import Study
from lab.studies.planning.study_places import study_named
from lab.studies.playing.played_runs import study_plays
from lab.studies.progress.study_data import load_study_data
from store.store import Store


def study_marks(
    store: Store, name: str, rater: str, cases: Sequence[MeasuredRun] = ()
) -> tuple[dict[str, tuple[str, Marks]], str]:
    """Return marks by run and a sentence on their origin and omissions. `cases` are the measured runs.

    They are one rater's answers, or a locked study's adjudicated values, else its people's majority. Of a person only
    handed-in sheets count, and of repeated ratings the first. Raise `LabError` if nothing is settled yet.
    """
    study = study_named(store, name)
    if not rater and not store.studies.locked(study):
        raise LabError(
            "metrics", f"study {study.name} is not locked: what most of its raters say may still change.",
            "--rater R1 takes one rater's answers as they are.",
        )  # fmt: skip
    labels = counted(store, study, rater)
    settlements = {} if rater else store.adjudications.settlements(study)
    units = list(store.studies.units(study))
    is_read = feeds_metrics(study.protocol)
    texts = settled_marks_of_texts(study, units, labels, settlements) if is_read else {}
    marks = (
        {one.run: (where, one) for where, one in settled_marks(study, units, labels, settlements)}
        if is_read
        else _own_marks(store, study, rater)
    )
    people = sorted({label.rater.id for label in labels})
    if not people or (is_read and not (marks or texts)):
        whose = f"of {rater} " if rater else ""
        raise LabError("metrics", f"study {study.name} has no answers {whose}that are handed in and settle anything.")
    marks |= {run: (f"study {study.name}", one) for run, one in marks_of_guesses(texts, cases).items()}
    if is_read and not marks:
        raise LabError(
            "metrics", f"study {study.name} settles {_count_words(len(texts), 'pair')} of texts, and no run here "
            "guessed the second of one where its first was meant.",
            "`hitlab report` tells the share of the pairs themselves.",
        )  # fmt: skip
    marks, dropped_nodes = _on_steps(marks, {case.id: len(case.steps) for case in cases})
    whose = people[0] if len(people) == 1 else f"most of {', '.join(people)}"
    if settlements:
        whose += f", {_count_words(len(settlements), 'item')} adjudicated,"
    rest = (
        f"; left out: {_count_words(dropped_nodes, 'item')} completed at a step that the run does not have"
        if dropped_nodes
        else ""
    )
    own = of_study(store, study, cases)
    about = "" if is_read else _success_question(study, marks)
    return (
        marks,
        f"by {whose} in {study.name}, {_count_words(len(marks), 'run')}{rest}{about}{_describe_unsettled(marks, own)}",
    )


def _success_question(study: Study, marks: Mapping[str, tuple[str, Marks]]) -> str:
    """Name the question of a custom protocol that counts as success for the papers' numbers."""
    found = success_field(study.protocol)
    if found is None or not marks:
        return "; it asks nothing that a paper's number reads"
    return f"; success is what {found[0].id} says"


def _own_marks(store: Store, study: Study, rater: str) -> dict[str, tuple[str, Marks]]:
    """Return the marks about success that a custom protocol yields."""
    study_data = load_study_data(store, study)
    marks = success_marks(study_data, rater_of(study_data, rater) if rater else None)
    return {one.run: (f"study {study.name}", one) for one in marks}


def rater_of(study_data: StudyData, code: str) -> int | None:
    """Return a rater's index among the columns', None if they have no labels there."""
    return next((at for at, one in enumerate(study_data.columns.raters) if one.id == code), None)


def _describe_unsettled(marks: Mapping[str, tuple[str, Marks]], cases: Sequence[MeasuredRun]) -> str:
    """Describe how many runs people were asked about without a settled result. No rate counts these."""
    names = {name for _, one in marks.values() for name in one.marks}
    many = sum(not (case.gold or case.id in marks) for case in cases) if names else 0
    return f"; not settled, in no rate of it: {_count_words(many, 'run')}" if many else ""


def with_unsettled(cases: Iterable[MeasuredRun], marks: Mapping[str, tuple[str, Marks]]) -> list[MeasuredRun]:
    """Return the runs, each with its unsettled marks, so that no score takes their place."""
    names = frozenset(name for _, one in marks.values() for name in one.marks)
    return [
        case._replace(unsettled=names.difference(marks[case.id][1].marks if case.id in marks else ())) for case in cases
    ]


def of_study(store: Store, study: Study, cases: Sequence[MeasuredRun]) -> list[MeasuredRun]:
    """Return the runs of a study: those of its units and those played in it."""
    runs = runs_of_units(store.studies.units(study), cases) | {one.trace for one in study_plays(store, study)}
    return [case for case in cases if case.id in runs]


def _on_steps(
    marks: dict[str, tuple[str, Marks]], steps: Mapping[str, int]
) -> tuple[dict[str, tuple[str, Marks]], int]:
    """Return the marks without nodes completed at a step that their run does not have, and the number of such nodes.

    Such a node counts as unrated. A node seen at a run's end (one step after the last) counts for its last step. Runs
    that are not measured stay unchanged.
    """
    dropped_nodes = 0
    for run, (where, run_marks) in marks.items():
        most = steps.get(run)
        if run_marks.nodes is None or most is None:
            continue
        ended = {node: most if step == most + 1 and most else step for node, step in run_marks.nodes.items()}
        nodes = {node: step for node, step in ended.items() if step is None or step <= most}
        dropped_nodes += len(run_marks.nodes) - len(nodes)
        marks[run] = where, msgspec.structs.replace(run_marks, nodes=nodes)
    return marks, dropped_nodes


def _count_words(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def counted(store: Store, study: Study, rater: str) -> list[Label]:
    """Return the labels that count: of people those handed in, of models all."""
    committed_sheets = submitted_sheets(store.labels.acts(study, rater or None))
    labels = [label for label in current_labels(store.labels.read(study, rater=rater or None)) if label.run == 1]
    if not rater:
        labels = [label for label in labels if label.rater.kind == "human"]
    return [
        label for label in labels if label.rater.kind != "human" or (label.rater.id, label.unit, 1) in committed_sheets
    ]
