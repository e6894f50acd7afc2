"""What a study's raters settled about runs, for the command that measures them."""

from __future__ import annotations

from annotators.metrics.marks import Marks
from annotators.settled import settled
from lab.commands.studying import study_named
from lab.errors import LabError
from lab.label import Label
from lab.labels import current, handed_in
from lab.study import Study
from store.store import Store


def study_marks(store: Store, name: str, rater: str) -> tuple[dict[str, tuple[str, Marks]], str]:
    """By run what one rater says, or of a locked study what was adjudicated, else what most of its people say; and
    whose word that is.

    Of a person only what is handed in counts, and of repeated ratings the first. Raises `LabError` where nothing is
    settled yet.
    """
    study = study_named(store, name)
    if not rater and not store.locked(study):
        raise LabError(
            "metrics", f"study {study.name} is not locked: what most of its raters say may still change.",
            "--rater R1 takes one rater's answers as they are.",
        )  # fmt: skip
    labels = counted(store, study, rater)
    decided = {} if rater else store.settled(study)
    marks = {one.run: (where, one) for where, one in settled(study, store.units(study), labels, decided)}
    people = sorted({label.rater.id for label in labels})
    if not people or not marks:
        whose = f"of {rater} " if rater else ""
        raise LabError("metrics", f"study {study.name} has no answers {whose}that are handed in and settle anything.")
    whose = people[0] if len(people) == 1 else f"most of {', '.join(people)}"
    if decided:
        whose += f", {len(decided)} item{'' if len(decided) == 1 else 's'} adjudicated,"
    return marks, f"by {whose} in {study.name}, {len(marks)} run{'' if len(marks) == 1 else 's'}"


def counted(store: Store, study: Study, rater: str) -> list[Label]:
    """The answers that count: of people what is handed in; models hand nothing in."""
    handed = handed_in(store.acts(study, rater or None))
    found = [label for label in current(store.labels(study, rater=rater or None)) if label.run == 1]
    if not rater:
        found = [label for label in found if label.rater.kind == "human"]
    return [label for label in found if label.rater.kind != "human" or (label.rater.id, label.unit, 1) in handed]
