"""A study's results about runs in the form that metrics read: one rater's answers, or the majority's.

Adjudicated answers replace the majority. Nodes, information units and branches fill the run's own. `success` and `sr2`
come from the answer about success, `llm` from the weighted mean of a rubric's criteria (of several raters the mean of
each criterion). `sr1` comes from the answer that a guess has the same meaning as the intent: an answer about two texts
applies to every run with this guess and this intent.

A majority is more than half of those who answered or gave a reason. Without one, or if it is a reason, the place stays
unrated.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median_low
from typing import Any

import msgspec

from annotators.derived import COMPLETED, step_of, weighted_mean
from annotators.papers.fingertip.tracks import guess_in, intent_of
from annotators.papers.marks import Marks
from annotators.papers.metrics import context_of
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.adjudication import SignedSettlement, comparable
from lab.core.study.label import Label
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor

_MARKS_BY_OPTION: Mapping[str, tuple[str, ...]] = {"success": ("success", "sr2"), "same": ("sr1",)}
"""Marks that an answer sets, by the option that counts as 1."""
_OPPOSITE_OPTION: Mapping[str, str] = {"success": "failure", "same": "not_same"}
"""The option that counts as 0, by the option that counts as 1. Others (impossible, cannot tell) set no mark."""
_SUCCESS_OPTIONS: tuple[tuple[str, str], ...] = (
    ("success", "failure"), ("succeeded", "failed"), ("completed", "not_completed"), ("complete", "incomplete"),
    ("passed", "failed"), ("pass", "fail"), ("solved", "not_solved"), ("solved", "unsolved"),
)  # fmt: skip
"""Pairs of options by which a custom question about a whole run asks for success: counts as 1, counts as 0."""
_SUCCESS_IDS = frozenset({"success", "successful", "succeeded", "completed", "complete", "passed", "pass", "solved"})
"""Ids of such a question if it is a flag or its options are yes and no."""


def feeds_metrics(protocol: Protocol) -> bool:
    """Return True if a protocol asks for the input of a paper's metric.

    That is nodes, information units, branches, criteria, success or sameness.
    """
    of_targets = [field for field in protocol.fields if field.per == "target"]
    match protocol.targets:
        case "tdg nodes":
            return any(field.option(COMPLETED) for field in of_targets)
        case "information units":
            return any(field.option("correct") for field in of_targets)
        case "branches":
            return any(field.kind == "nominal" for field in of_targets)
        case "criteria":
            return any(field.kind == "interval" for field in of_targets)
        case "unit":
            return any(
                field.option(yes) and field.option(no)
                for field in protocol.fields
                for yes, no in _OPPOSITE_OPTION.items()
            )
    return False


def success_field(protocol: Protocol) -> tuple[Field, str, str] | None:
    """Return the question about a run's success with its positive and negative answer, or None if there is none."""
    for field in protocol.fields:
        if protocol.unit != "run" or (protocol.targets != "unit" and field.per == "target") or field.show_if:
            continue
        if field.kind == "flag" and field.id.lower() in _SUCCESS_IDS:
            return field, "yes", "no"
        pairs = (*_SUCCESS_OPTIONS, *([("yes", "no")] if field.id.lower() in _SUCCESS_IDS else []))
        if field.kind == "nominal":
            for good, bad in pairs:
                if field.option(good) and field.option(bad):
                    return field, good, bad
    return None


def settled_marks(
    study: Study,
    units: Iterable[Unit],
    labels: Sequence[Label],
    settlements: Mapping[tuple[str, FieldReference], SignedSettlement] = {},  # never written to
) -> list[tuple[str, Marks]]:
    """Return the results of the current labels, one per run, each with a text that locates its unit.

    Pilot units do not count. `labels` are those to count, of one rater or several. `settlements` are adjudicated
    answers. Raise `LabError` if the protocol asks for nothing that a metric reads, or if two units are about one run.
    """
    labels_by_unit = _by_unit(study, labels, settlements)
    marks_by_unit: dict[str, tuple[str, Marks]] = {}
    for unit in units:
        where = f"study {study.name}, unit {unit.id}"
        # Calibration never counts, and units of texts are matched by `settled_marks_of_texts`.
        if unit.pilot or not unit.runs:
            continue
        marks = _marks(study, unit, {**labels_by_unit[unit.id], **_by_rule(study, unit)}, unit.runs[0])
        if marks is None:
            continue
        if marks.run in marks_by_unit:
            raise LabError(where, f"is about run {marks.run}, as {marks_by_unit[marks.run][0]} is.")
        marks_by_unit[marks.run] = (where, marks)
    return list(marks_by_unit.values())


def settled_marks_of_texts(
    study: Study,
    units: Iterable[Unit],
    labels: Sequence[Label],
    settlements: Mapping[tuple[str, FieldReference], SignedSettlement] = {},  # never written to
) -> dict[tuple[str, str], Marks]:
    """Return the results of a study of texts, by intent and guess. The marks name no run yet.

    If several units hold the same two texts, their results must agree to count.
    """
    labels_by_unit = _by_unit(study, labels, settlements)
    marks: dict[tuple[str, str], list[Marks | None]] = defaultdict(list)
    for unit in units:
        if (pair := _pair_of(unit)) is not None:
            marks[pair].append(_marks(study, unit, {**labels_by_unit[unit.id], **_by_rule(study, unit)}, ""))
    return {pair: one for pair, (one, *others) in marks.items() if one and all(other == one for other in others)}


def _pair_of(unit: Unit) -> tuple[str, str] | None:
    """Return the two texts of a unit without runs, or None if it has no such pair."""
    texts = {one.side: one.text for one in unit.given if one.side}
    if unit.pilot or unit.runs or texts.keys() != {"A", "B"}:
        return None
    return _normalise(texts["A"]), _normalise(texts["B"])


def runs_of_units(units: Iterable[Unit], cases: Sequence[MeasuredRun]) -> set[str]:
    """Return the runs that units are about: their own, and those with the unit's guess and intent."""
    runs: set[str] = set()
    pairs: dict[tuple[str, str], Marks] = {}
    for unit in units:
        runs.update(unit.runs)
        if (pair := _pair_of(unit)) is not None:
            pairs[pair] = Marks("")
    return runs | marks_of_guesses(pairs, cases).keys() if pairs else runs


def marks_of_guesses(texts: Mapping[tuple[str, str], Marks], cases: Sequence[MeasuredRun]) -> dict[str, Marks]:
    """Return the results about two texts for each run that guessed the second when the first was meant."""
    gold = context_of(cases).gold
    guesses: dict[str, Marks] = {}
    for case in cases:
        marks = texts.get((_normalise(intent_of(case, gold)), _normalise(guess_in(case)))) if case.steps else None
        if marks is not None:
            guesses[case.id] = msgspec.structs.replace(marks, run=case.id)
    return guesses


def _normalise(text: str) -> str:
    return " ".join(text.split())


def _by_unit(
    study: Study, labels: Sequence[Label], settlements: Mapping[tuple[str, FieldReference], SignedSettlement]
) -> defaultdict[str, dict[FieldReference, list[Label]]]:
    """Return labels by unit and place, with adjudicated answers in place of the others."""
    labels_by_unit: defaultdict[str, dict[FieldReference, list[Label]]] = defaultdict(lambda: defaultdict(list))
    for label in labels:
        labels_by_unit[label.unit][FieldReference(label.target, label.field)].append(label)
    for (id, spot), one in settlements.items():
        labels_by_unit[id][spot] = _adjudicated_labels(study, one, labels_by_unit[id][spot])
    return labels_by_unit


def _adjudicated_labels(study: Study, one: SignedSettlement, labels: Sequence[Label]) -> list[Label]:
    """Return the labels equal to the adjudicated answer, for their steps, or one label by the adjudicator."""
    what = one.what
    if what.reason_missing is None:
        agreeing = [label for label in labels if comparable(label.value) == comparable(what.value)]
        if agreeing:
            return agreeing
    name = (study.id, study.version, one.unit, what.target, what.field)
    return [Label("", *name, one.by, what.value, reason_missing=what.reason_missing)]


def _by_rule(study: Study, unit: Unit) -> dict[FieldReference, list[Label]]:
    """Return a rule's answers as labels, which replace everyone else's."""
    rule = Actor("script", "rule")
    return {
        FieldReference(one.target, one.field): [
            Label("", study.id, study.version, unit.id, one.target, one.field, rule, one.value)
        ]
        for one in unit.mechanical
    }


def _marks(study: Study, unit: Unit, labels_by_place: Mapping[FieldReference, list[Label]], run: str) -> Marks | None:
    protocol = study.protocol
    match protocol.targets:
        case "tdg nodes":
            nodes = _nodes(_labels_of_field(labels_by_place, _field(study, COMPLETED)))
            return Marks(run, nodes=nodes) if nodes else None
        case "information units":
            unit_uses = {
                id: most[0].value
                for id, most in _majority_labels(_labels_of_field(labels_by_place, _field(study, "correct"))).items()
            }
            return Marks(run, units=unit_uses) if unit_uses else None
        case "branches":
            field = next(one for one in protocol.fields if one.per == "target" and one.kind == "nominal")
            branch_ways = {
                id: str(most[0].value)
                for id, most in _majority_labels(_labels_of_field(labels_by_place, field)).items()
            }
            return Marks(run, branches=branch_ways) if branch_ways else None
        case "criteria":
            score = _rubric(study, unit, labels_by_place)
            return Marks(run, marks={"llm": score}) if score is not None else None
        case "unit":
            return _success_marks(study, run, labels_by_place)
    raise LabError(f"study {study.name}", f"{protocol.id} asks nothing that a metric reads.")


def _success_marks(study: Study, run: str, labels_by_place: Mapping[FieldReference, list[Label]]) -> Marks | None:
    for option, names in _MARKS_BY_OPTION.items():
        field = next(
            (one for one in study.protocol.fields if one.option(option) and one.option(_OPPOSITE_OPTION[option])), None
        )
        if field is None:
            continue
        most = _majority_labels({"": labels_by_place.get(FieldReference("", field.id), [])}).get("")
        value = most[0].value if most else None
        # Other options, such as impossible, leave the mark unset.
        if value not in (option, _OPPOSITE_OPTION[option]):
            return None
        return Marks(run, marks=dict.fromkeys(names, float(value == option)))
    raise LabError(f"study {study.name}", f"{study.protocol.id} asks nothing that a metric reads.")


def _rubric(study: Study, unit: Unit, labels_by_place: Mapping[FieldReference, list[Label]]) -> float | None:
    """Return the weighted mean of all criteria, 0 to 1, each the mean of its raters, or None if one has no number."""
    field = next((one for one in study.protocol.fields if one.per == "target" and one.kind == "interval"), None)
    if field is None:
        raise LabError(f"study {study.name}", f"{study.protocol.id} asks nothing that a metric reads.")
    means: dict[str, float] = {}
    for id, labels in _labels_of_field(labels_by_place, field).items():
        numbers = [label.value for label in labels if isinstance(label.value, int | float)]
        if numbers:
            means[id] = sum(numbers) / len(numbers)
    return weighted_mean(unit, field, means)


def _field(study: Study, option: str) -> Field:
    field = next((one for one in study.protocol.fields if one.per == "target" and one.option(option)), None)
    if field is None:
        raise LabError(f"study {study.name}", f"{study.protocol.id} has no option {option!r}, which metrics read.")
    return field


def _labels_of_field(labels_by_place: Mapping[FieldReference, list[Label]], field: Field) -> dict[str, list[Label]]:
    return {spot.target: labels for spot, labels in labels_by_place.items() if spot.field == field.id and spot.target}


def _majority_labels(labels_by_target: Mapping[str, list[Label]]) -> dict[str, list[Label]]:
    """Return by target the labels of the majority, if that is a value."""
    agreed_labels = {}
    for target, labels in labels_by_target.items():
        counts: Counter[tuple[str, Any]] = Counter(_label_key(label) for label in labels)
        if not counts:
            continue
        word, count = counts.most_common(1)[0]
        if 2 * count > len(labels) and word[0] == "value":
            agreed_labels[target] = [label for label in labels if _label_key(label) == word]
    return agreed_labels


def _label_key(label: Label) -> tuple[str, Any]:
    return ("missing", label.reason_missing) if label.reason_missing else ("value", comparable(label.value))


def _nodes(labels_by_target: Mapping[str, list[Label]]) -> dict[str, int | None]:
    """Return for each node the step (from 1) of its completion, None if not completed: the median of several raters.

    A node without a step gets the latest known one, so that it never decides between paths.
    """
    nodes: dict[str, int | None] = {}
    steps_by_node: dict[str, list[int]] = {}
    for id, labels in _majority_labels(labels_by_target).items():
        if labels[0].value == COMPLETED:
            steps_by_node[id] = [step + 1 for label in labels if (step := step_of(label)) is not None]
        nodes[id] = None
    latest = max((step for steps in steps_by_node.values() for step in steps), default=1)
    return {**nodes, **{id: median_low(steps) if steps else latest for id, steps in steps_by_node.items()}}
