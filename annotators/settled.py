"""What a study settled about runs, as metrics read it: one rater's answers, or what most of its raters say.

What was adjudicated stands in place of what most say.
Nodes, information units and branches fill the case's; `success` and `sr2` are set by whether a run succeeded, `llm` by
the weighted mean of a rubric's criteria (of several raters the mean at each criterion), `sr1` by whether a guess means
the same as what was asked: what was said of two texts holds for every run that guessed the one where the other was
meant. Most means more than half of those who said anything, a reason for having no answer among it; where it is none,
or such a reason, the place stays unrated.
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
from lab.core.adjudication import SignedSettlement, comparable
from lab.core.errors import LabError
from lab.core.label import Label
from lab.core.measured_run import MeasuredRun
from lab.core.protocol import Field, Protocol
from lab.core.rating_sheet import FieldReference
from lab.core.study import Study, Unit
from lab.core.task import Actor

_JUDGED: Mapping[str, tuple[str, ...]] = {"success": ("success", "sr2"), "same": ("sr1",)}
"""Which marks an answer sets: the option that counts 1, and the marks' names."""
_AGAINST: Mapping[str, str] = {"success": "failure", "same": "not_same"}
"""The option beside it that counts 0; others (impossible, cannot tell) settle nothing."""
_SUCCESSES: tuple[tuple[str, str], ...] = (
    ("success", "failure"), ("succeeded", "failed"), ("completed", "not_completed"), ("complete", "incomplete"),
    ("passed", "failed"), ("pass", "fail"), ("solved", "not_solved"), ("solved", "unsolved"),
)  # fmt: skip
"""Options by which a question of one's own about a whole run asks for its success: that counts 1, and that counts 0."""
_NAMES = frozenset({"success", "successful", "succeeded", "completed", "complete", "passed", "pass", "solved"})
"""What such a question is called where it is a flag, or its options are yes and no."""


def reads(protocol: Protocol) -> bool:
    """Whether a protocol asks what a paper's metric reads: nodes, pieces, branches, criteria, success, sameness."""
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
                field.option(yes) and field.option(no) for field in protocol.fields for yes, no in _AGAINST.items()
            )
    return False


def success_field(protocol: Protocol) -> tuple[Field, str, str] | None:
    """The question of a protocol that asks whether a run succeeded, and the answers that say so and deny it."""
    for field in protocol.fields:
        if protocol.unit != "run" or (protocol.targets != "unit" and field.per == "target") or field.show_if:
            continue
        if field.kind == "flag" and field.id.lower() in _NAMES:
            return field, "yes", "no"
        pairs = (*_SUCCESSES, *([("yes", "no")] if field.id.lower() in _NAMES else []))
        if field.kind == "nominal":
            for good, bad in pairs:
                if field.option(good) and field.option(bad):
                    return field, good, bad
    return None


def settled(
    study: Study,
    units: Iterable[Unit],
    labels: Sequence[Label],
    settlements: Mapping[tuple[str, FieldReference], SignedSettlement] = {},  # never written to
) -> list[tuple[str, Marks]]:
    """What the current labels settle, unit by unit, each with where it stands; pilot units count for nothing.

    `labels` are those that are to be counted: of one rater, or of several; `settlements` what was adjudicated. Raises
    `LabError` where the protocol asks nothing that a metric reads, or two units are about one run.
    """
    labels_by_unit = _by_unit(study, labels, settlements)
    marks_by_unit: dict[str, tuple[str, Marks]] = {}
    for unit in units:
        where = f"study {study.name}, unit {unit.id}"
        if unit.pilot or not unit.runs:
            continue
        marks = _marks(study, unit, {**labels_by_unit[unit.id], **_by_rule(study, unit)}, unit.runs[0])
        if marks is None:
            continue
        if marks.run in marks_by_unit:
            raise LabError(where, f"is about run {marks.run}, as {marks_by_unit[marks.run][0]} is.")
        marks_by_unit[marks.run] = (where, marks)
    return list(marks_by_unit.values())


def settled_texts(
    study: Study,
    units: Iterable[Unit],
    labels: Sequence[Label],
    settlements: Mapping[tuple[str, FieldReference], SignedSettlement] = {},  # never written to
) -> dict[tuple[str, str], Marks]:
    """What the labels of a study of texts settle, by what was wanted and the guess; its marks name no run yet.

    Two texts that two units hold are settled where both come to the same.
    """
    labels_by_unit = _by_unit(study, labels, settlements)
    marks: dict[tuple[str, str], list[Marks | None]] = defaultdict(list)
    for unit in units:
        if (pair := _pair_of(unit)) is not None:
            marks[pair].append(_marks(study, unit, {**labels_by_unit[unit.id], **_by_rule(study, unit)}, ""))
    return {pair: one for pair, (one, *others) in marks.items() if one and all(other == one for other in others)}


def _pair_of(unit: Unit) -> tuple[str, str] | None:
    """The two texts that a unit without runs is about."""
    texts = {one.side: one.text for one in unit.given if one.side}
    if unit.pilot or unit.runs or texts.keys() != {"A", "B"}:
        return None
    return _plain(texts["A"]), _plain(texts["B"])


def runs_about(units: Iterable[Unit], cases: Sequence[MeasuredRun]) -> set[str]:
    """The runs that units are about: their own, and those that guessed the second of two texts for the first."""
    runs: set[str] = set()
    pairs: dict[tuple[str, str], Marks] = {}
    for unit in units:
        runs.update(unit.runs)
        if (pair := _pair_of(unit)) is not None:
            pairs[pair] = Marks("")
    return runs | guessed(pairs, cases).keys() if pairs else runs


def guessed(texts: Mapping[tuple[str, str], Marks], cases: Sequence[MeasuredRun]) -> dict[str, Marks]:
    """What was settled about two texts, for each run that guessed the second where the first was meant."""
    gold = context_of(cases).gold
    guesses: dict[str, Marks] = {}
    for case in cases:
        marks = texts.get((_plain(intent_of(case, gold)), _plain(guess_in(case)))) if case.steps else None
        if marks is not None:
            guesses[case.id] = msgspec.structs.replace(marks, run=case.id)
    return guesses


def _plain(text: str) -> str:
    return " ".join(text.split())


def _by_unit(
    study: Study, labels: Sequence[Label], settlements: Mapping[tuple[str, FieldReference], SignedSettlement]
) -> defaultdict[str, dict[FieldReference, list[Label]]]:
    """Labels by unit and place; what was adjudicated stands in place of the others."""
    labels_by_unit: defaultdict[str, dict[FieldReference, list[Label]]] = defaultdict(lambda: defaultdict(list))
    for label in labels:
        labels_by_unit[label.unit][FieldReference(label.target, label.field)].append(label)
    for (id, spot), one in settlements.items():
        labels_by_unit[id][spot] = _decided(study, one, labels_by_unit[id][spot])
    return labels_by_unit


def _decided(study: Study, one: SignedSettlement, labels: Sequence[Label]) -> list[Label]:
    """The labels that say what was adjudicated, for their steps; one of the adjudicator's where none does."""
    what = one.what
    if what.reason_missing is None:
        agreeing = [label for label in labels if comparable(label.value) == comparable(what.value)]
        if agreeing:
            return agreeing
    name = (study.id, study.version, one.unit, what.target, what.field)
    return [Label("", *name, one.by, what.value, reason_missing=what.reason_missing)]


def _by_rule(study: Study, unit: Unit) -> dict[FieldReference, list[Label]]:
    """What a rule gave stands in place of what anybody says."""
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
            nodes = _nodes(_of(labels_by_place, _field(study, COMPLETED)))
            return Marks(run, nodes=nodes) if nodes else None
        case "information units":
            unit_uses = {
                id: most[0].value for id, most in _most(_of(labels_by_place, _field(study, "correct"))).items()
            }
            return Marks(run, units=unit_uses) if unit_uses else None
        case "branches":
            field = next(one for one in protocol.fields if one.per == "target" and one.kind == "nominal")
            branch_ways = {id: str(most[0].value) for id, most in _most(_of(labels_by_place, field)).items()}
            return Marks(run, branches=branch_ways) if branch_ways else None
        case "criteria":
            score = _rubric(study, unit, labels_by_place)
            return Marks(run, marks={"llm": score}) if score is not None else None
        case "unit":
            return _judged(study, run, labels_by_place)
    raise LabError(f"study {study.name}", f"{protocol.id} asks nothing that a metric reads.")


def _judged(study: Study, run: str, labels_by_place: Mapping[FieldReference, list[Label]]) -> Marks | None:
    for option, names in _JUDGED.items():
        field = next(
            (one for one in study.protocol.fields if one.option(option) and one.option(_AGAINST[option])), None
        )
        if field is None:
            continue
        most = _most({"": labels_by_place.get(FieldReference("", field.id), [])}).get("")
        value = most[0].value if most else None
        if value not in (option, _AGAINST[option]):
            return None
        return Marks(run, marks=dict.fromkeys(names, float(value == option)))
    raise LabError(f"study {study.name}", f"{study.protocol.id} asks nothing that a metric reads.")


def _rubric(study: Study, unit: Unit, labels_by_place: Mapping[FieldReference, list[Label]]) -> float | None:
    """The weighted mean of all criteria, 0 to 1, each the mean of its raters; None where one has no number."""
    field = next((one for one in study.protocol.fields if one.per == "target" and one.kind == "interval"), None)
    if field is None:
        raise LabError(f"study {study.name}", f"{study.protocol.id} asks nothing that a metric reads.")
    means: dict[str, float] = {}
    for id, labels in _of(labels_by_place, field).items():
        numbers = [label.value for label in labels if isinstance(label.value, int | float)]
        if numbers:
            means[id] = sum(numbers) / len(numbers)
    return weighted_mean(unit, field, means)


def _field(study: Study, option: str) -> Field:
    field = next((one for one in study.protocol.fields if one.per == "target" and one.option(option)), None)
    if field is None:
        raise LabError(f"study {study.name}", f"{study.protocol.id} has no option {option!r}, which metrics read.")
    return field


def _of(labels_by_place: Mapping[FieldReference, list[Label]], field: Field) -> dict[str, list[Label]]:
    return {spot.target: labels for spot, labels in labels_by_place.items() if spot.field == field.id and spot.target}


def _most(labels_by_target: Mapping[str, list[Label]]) -> dict[str, list[Label]]:
    """By target the labels that most say, where they say a value."""
    agreed_labels = {}
    for target, labels in labels_by_target.items():
        counts: Counter[tuple[str, Any]] = Counter(_word(label) for label in labels)
        if not counts:
            continue
        word, count = counts.most_common(1)[0]
        if 2 * count > len(labels) and word[0] == "value":
            agreed_labels[target] = [label for label in labels if _word(label) == word]
    return agreed_labels


def _word(label: Label) -> tuple[str, Any]:
    return ("missing", label.reason_missing) if label.reason_missing else ("value", comparable(label.value))


def _nodes(labels_by_target: Mapping[str, list[Label]]) -> dict[str, int | None]:
    """For each node the step (from 1) of its completion, None where it is not: of several raters' the middle one.

    Where no step is told it is the latest that is, so that it never decides between paths.
    """
    nodes: dict[str, int | None] = {}
    steps_by_node: dict[str, list[int]] = {}
    for id, labels in _most(labels_by_target).items():
        if labels[0].value == COMPLETED:
            steps_by_node[id] = [step + 1 for label in labels if (step := step_of(label)) is not None]
        nodes[id] = None
    latest = max((step for steps in steps_by_node.values() for step in steps), default=1)
    return {**nodes, **{id: median_low(steps) if steps else latest for id, steps in steps_by_node.items()}}
