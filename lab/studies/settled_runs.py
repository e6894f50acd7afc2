"""What a study's raters settled about runs, for the command that measures them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from annotators.papers.marks import Marks
from annotators.settled import guessed, settled, settled_texts
from lab.core.errors import LabError
from lab.core.label import Label
from lab.core.measured_run import MeasuredRun
from lab.core.rating_sheet import current, handed_in
from lab.core.study import Study
from lab.studies.study_places import study_named
from store.store import Store


def study_marks(
    store: Store, name: str, rater: str, cases: Sequence[MeasuredRun] = ()
) -> tuple[dict[str, tuple[str, Marks]], str]:
    """By run what one rater says, or of a locked study what was adjudicated, else what most of its people say; and
    whose word that is, with what of it had to be left out. `cases` are the runs that are measured.

    Of a person only what is handed in counts, and of repeated ratings the first. Raises `LabError` where nothing is
    settled yet.
    """
    study = study_named(store, name)
    if not rater and not store.studies.locked(study):
        raise LabError(
            "metrics", f"study {study.name} is not locked: what most of its raters say may still change.",
            "--rater R1 takes one rater's answers as they are.",
        )  # fmt: skip
    labels = counted(store, study, rater)
    settlements = {} if rater else store.adjudications.settled(study)
    units = list(store.studies.units(study))
    marks = {one.run: (where, one) for where, one in settled(study, units, labels, settlements)}
    texts = settled_texts(study, units, labels, settlements)
    people = sorted({label.rater.id for label in labels})
    if not people or not (marks or texts):
        whose = f"of {rater} " if rater else ""
        raise LabError("metrics", f"study {study.name} has no answers {whose}that are handed in and settle anything.")
    marks |= {run: (f"study {study.name}", one) for run, one in guessed(texts, cases).items()}
    if not marks:
        raise LabError(
            "metrics", f"study {study.name} settles {_count(len(texts), 'pair')} of texts, and no run here guessed the "
            "second of one where its first was meant.", "`hitlab report` tells the share of the pairs themselves.",
        )  # fmt: skip
    marks, dropped_nodes = _on_steps(marks, {case.id: len(case.steps) for case in cases})
    whose = people[0] if len(people) == 1 else f"most of {', '.join(people)}"
    if settlements:
        whose += f", {_count(len(settlements), 'item')} adjudicated,"
    rest = (
        f"; left out: {_count(dropped_nodes, 'item')} completed at a step that the run does not have"
        if dropped_nodes
        else ""
    )
    return marks, f"by {whose} in {study.name}, {_count(len(marks), 'run')}{rest}{_by_own_score(marks, cases)}"


def _by_own_score(marks: Mapping[str, tuple[str, Marks]], cases: Sequence[MeasuredRun]) -> str:
    """How many runs beside those whose success was settled are taken for what their own score says."""
    judged = {run for run, (_, one) in marks.items() if "success" in one.marks}
    own = sum(case.id not in judged and case.score is not None for case in cases)
    return f"; by their own score: {_count(own, 'other run')}" if judged and own else ""


def _on_steps(
    marks: dict[str, tuple[str, Marks]], steps: Mapping[str, int]
) -> tuple[dict[str, tuple[str, Marks]], int]:
    """The marks without nodes that stand as completed at a step that their run does not have; and how many these are.

    Such a node is then one that nobody rated; what was seen at a run's end was completed by its last step. Runs that
    are not measured keep what they have.
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


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def counted(store: Store, study: Study, rater: str) -> list[Label]:
    """The answers that count: of people what is handed in; models hand nothing in."""
    committed_sheets = handed_in(store.labels.acts(study, rater or None))
    labels = [label for label in current(store.labels.read(study, rater=rater or None)) if label.run == 1]
    if not rater:
        labels = [label for label in labels if label.rater.kind == "human"]
    return [
        label for label in labels if label.rater.kind != "human" or (label.rater.id, label.unit, 1) in committed_sheets
    ]
