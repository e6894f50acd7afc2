"""What follows from a rater's answers, and is never typed: paths, rates and scores; hidden until a unit is handed in.

Source: PSPA-Bench 2.3 and Prompt 2 (P*, APR, PPR, the dependency rule), MemGUI-Bench Prompt 8 (IRR), DAC-Bench 2.6.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from annotators.papers.dac.decisions import plain
from annotators.papers.memgui.attempts import DONE
from annotators.papers.memgui.irr import Irr, rate
from annotators.papers.pspa.run_values import path_taken
from annotators.papers.pspa.tdg import PathAlignment, Steps, fulfilled
from lab.core.label import Label
from lab.core.label_rules import COMPLETED as COMPLETED
from lab.core.protocol import Field
from lab.core.rating_sheet import FieldReference, Sheet
from lab.core.study import Gold, Study, Unit
from lab.core.task import InformationUnit, Tdg
from lab.core.whole_number import whole_number

NOT_COMPLETED = "not_completed"


class TdgDerived(NamedTuple):
    """What a sheet of node answers comes to. `aligned` is None where `why` says so.

    `before` are the answers as they were given, `after` what stands once the dependency rule and the path are applied
    (`not_applicable` for nodes on ways that were not taken); a reason stands where there is one in place of an answer.
    """

    aligned: PathAlignment | None
    why: str
    before: Mapping[str, str]
    after: Mapping[str, str]


class DecisionCount(NamedTuple):
    """Of `told` decisions that were rated, and of which it is known what is right, `right` ones."""

    right: int
    told: int

    @property
    def accuracy(self) -> float | None:
        return self.right / self.told if self.told else None


def derived(
    study: Study,
    unit: Unit,
    sheet: Sheet,
    *,
    done: bool | None = None,
    right: Mapping[str, Collection[str]] | None = None,
    in_words: bool = False,
) -> list[tuple[str, str]]:
    """What follows from a sheet, as (name, words); nothing before it is handed in.

    With `in_words` as a person reads it: things by what they say and not by their ids, and why a rate is what it is.
    `done` says whether the run succeeded, as it is settled elsewhere; `right` which options its demonstrations took.
    """
    if not sheet.committed:
        return []
    lines = [_by_rule(study, gold, in_words=in_words) for gold in unit.mechanical]
    match study.protocol.targets:
        case "tdg nodes":
            return lines + _tdg_words(tdg_derived(unit, sheet), names_of(unit) if in_words else {})
        case "information units":
            irr = irr_derived(unit, sheet, done)
            why = _irr_words(unit, sheet, done) if in_words else ""
            return [*lines, ("IRR", irr.why if irr.value is None else f"{irr.value:.1%}{why}")]
        case "branches":
            decisions = decisions_derived(unit, sheet, right)
            if decisions.accuracy is None:
                return lines
            return [*lines, ("right decisions", f"{decisions.right} of {decisions.told}")]
        case "criteria":
            score = rubric_score(unit, sheet)
            return lines if score is None else [*lines, ("score", f"{score:.2f}")]
    return lines


def names_of(unit: Unit) -> dict[str, str]:
    """What each target of a unit says, by its id."""
    return {target.id: " ".join(target.says.split()) or target.id for target in unit.targets}


def _by_rule(study: Study, gold: Gold, *, in_words: bool) -> tuple[str, str]:
    field = study.protocol.field(gold.field) if in_words else None
    option = field.option(gold.value) if field is not None and isinstance(gold.value, str) else None
    name = field.ask if field is not None else gold.field
    return name, f"{option.shown if option is not None else gold.value}, by rule: {gold.reason}"


# -- nodes -----------------------------------------------------------------------------------------------------


def tdg_derived(unit: Unit, sheet: Sheet, field: str = "state") -> TdgDerived:
    """The best path through a unit's graph, by what a rater said of its nodes."""
    heads = {target.id: sheet.head(FieldReference(target.id, field)) for target in unit.targets}
    labels = {id: label for id, label in heads.items() if label is not None}
    before = {id: label.reason_missing or str(label.value) for id, label in labels.items()}
    return path_of(graph_of(unit), before, node_steps(labels))


def graph_of(unit: Unit) -> Tdg:
    """A unit's graph: its own, or its task's."""
    return unit.tdg if unit.tdg.nodes or unit.task is None else unit.task.tdg


def path_of(tdg: Tdg, before: Mapping[str, str], steps: Steps) -> TdgDerived:
    """What node answers come to; `steps` are those of the nodes that were rated."""
    path = path_taken(tdg, steps)
    fulfilled_ids = fulfilled(tdg, steps)
    after: dict[str, str] = {}
    beside = set() if isinstance(path, str) else set(path.not_applicable)
    for id, state in before.items():
        completion = COMPLETED if id in fulfilled_ids else NOT_COMPLETED
        after[id] = "not_applicable" if id in beside else completion if state in (COMPLETED, NOT_COMPLETED) else state
    if isinstance(path, str):
        return TdgDerived(None, path, before, after)
    return TdgDerived(path, "", before, after)


def node_steps(labels: Mapping[str, Label]) -> dict[str, int | None]:
    """For each node that was rated the step (from 0) of its completion, None where it is not completed.

    A completion whose step is not told is as late as the latest that is, so that it never decides between paths.
    """
    steps_by_id = {id: step_of(label) for id, label in labels.items() if label.value == COMPLETED}
    latest = max((step for step in steps_by_id.values() if step is not None), default=0)
    steps: dict[str, int | None] = {id: latest if step is None else step for id, step in steps_by_id.items()}
    return {**steps, **dict.fromkeys((id for id, one in labels.items() if one.value == NOT_COMPLETED), None)}


def step_of(label: Label) -> int | None:
    """The step (from 0) that a label points at."""
    number = whole_number((label.evidence or "").rpartition("@")[2])
    return number - 1 if number else None


def _tdg_words(derivation: TdgDerived, names: Mapping[str, str] = {}) -> list[tuple[str, str]]:
    alignment = derivation.aligned
    if alignment is None:
        return [("APR", derivation.why)]
    ppr = alignment.ppr
    flexible = len(set(alignment.flexible) & set(alignment.completed))
    words = [
        ("path", " → ".join(names.get(id, id) for id in alignment.path)),
        ("APR", f"{alignment.apr:.1%} ({len(alignment.completed)} of {len(alignment.path)})"),
        (
            "PPR",
            "no flexible item on the path" if ppr is None else f"{ppr:.1%} ({flexible} of {len(alignment.flexible)})",
        ),
    ]
    if alignment.not_applicable:
        words.append(("not applicable", ", ".join(names.get(id, id) for id in alignment.not_applicable)))
    turned_ids = [
        id for id, state in derivation.before.items() if state == COMPLETED and derivation.after[id] == NOT_COMPLETED
    ]
    if turned_ids:
        turned_names = ", ".join(names.get(id, id) for id in turned_ids)
        words.append(("not completed after all", f"{turned_names} (depends on what is not completed)"))
    return words


# -- information units -----------------------------------------------------------------------------------------


def succeeded(score: float | None) -> bool | None:
    """Whether a run of that score did what was asked; None where it has none."""
    return None if score is None else score > DONE


def irr_derived(unit: Unit, sheet: Sheet, done: bool | None, field: str = "use") -> Irr:
    """The share of a run's information that was used correctly: all of it where the run succeeded (`done`)."""
    if done:
        return Irr(1.0)
    marks: dict[str, Any] = {}
    for target in unit.targets:
        if (value := sheet.value(FieldReference(target.id, field))) is not None:
            marks[target.id] = value
    if done is None:
        return Irr(None, "not judged")
    return rate(information_units(unit), marks) if unit.targets else Irr(None, "without information units")


def _irr_words(unit: Unit, sheet: Sheet, done: bool | None, field: str = "use") -> str:
    """Why a rate is what it is, whatever each unit was marked."""
    wrong = sum(sheet.value(FieldReference(one.id, field)) not in (None, "correct") for one in unit.targets)
    if done:
        exception = f", also the {wrong} that {'is' if wrong == 1 else 'are'} marked otherwise" if wrong else ""
        return f": the run succeeded, and then all information counts as used{exception}"
    units = information_units(unit)
    correct = sum(one.explicit and sheet.value(FieldReference(one.id, field)) == "correct" for one in units)
    silent = sum(not one.explicit for one in units)
    silent_note = f"; the {silent} that only steer a decision count as lost, because the run failed" if silent else ""
    return f": {correct} of {len(units)} written out as they should be{silent_note}"


def information_units(unit: Unit) -> list[InformationUnit]:
    """A unit's targets as a task declares them; whether they are explicit is the whole task's, if it is not each's."""
    whole = unit.explicit is not False
    explicit = {"explicit": True, "implicit": False}
    return [InformationUnit(one.id, one.says, explicit=explicit.get(one.kind, whole)) for one in unit.targets]


# -- criteria and branches -------------------------------------------------------------------------------------


def rubric_score(unit: Unit, sheet: Sheet) -> float | None:
    """The weighted mean of all criteria, 0 to 1; None where one has no number."""
    field = next((one for one in sheet.protocol.fields if one.per == "target" and one.kind == "interval"), None)
    if field is None or not unit.targets:
        return None
    values = {one.id: sheet.value(FieldReference(one.id, field.id)) for one in unit.targets}
    return weighted_mean(unit, field, {id: value for id, value in values.items() if isinstance(value, int | float)})


def weighted_mean(unit: Unit, field: Field, values: Mapping[str, float]) -> float | None:
    """The mean of a unit's criteria by their weights, 0 to 1; None where one has no value, or nothing has weight."""
    whole = sum(one.weight for one in unit.targets)
    if not whole or any(one.id not in values for one in unit.targets):
        return None
    least, most = field.least or 0.0, field.most if field.most is not None else 1.0
    return float(sum((values[one.id] - least) / (most - least) * one.weight for one in unit.targets) / whole)


def decisions_derived(
    unit: Unit, sheet: Sheet, right: Mapping[str, Collection[str]] | None = None, field: str = ""
) -> DecisionCount:
    """How many branches went the right way, of those rated where a demonstration or the task tells which that is."""
    task_ways = {branch.id: {branch.right} for branch in (unit.task.branches if unit.task else ()) if branch.right}
    decisions = {**(right or {}), **task_ways}
    name = field or next((one.id for one in sheet.protocol.fields if one.per == "target" and one.kind == "nominal"), "")
    answers = [(sheet.value(FieldReference(one.id, name)), decisions.get(one.id, ())) for one in unit.targets]
    pairs = [(plain(str(value)), set(map(plain, ways))) for value, ways in answers if value is not None and ways]
    return DecisionCount(sum(value in ways for value, ways in pairs), len(pairs))
