"""Values that follow from a rater's answers: paths, rates and scores, hidden until a unit is handed in.

Source: PSPA-Bench 2.3 and Prompt 2 (P*, APR, PPR, the dependency rule), MemGUI-Bench Prompt 8 (IRR), DAC-Bench 2.6.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from annotators.papers.dac.decisions import plain
from annotators.papers.memgui.attempts import DONE
from annotators.papers.memgui.irr import Irr, rate
from annotators.papers.pspa.run_values import path_taken
from annotators.papers.pspa.tdg import PathAlignment, Steps, fulfilled_nodes
from lab.core.study.label import Label
from lab.core.study.label_rules import COMPLETED as COMPLETED
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import FieldReference, Sheet
from lab.core.study.study import Gold, Study, Unit
from lab.core.task.task import InformationUnit, Tdg
from lab.core.values.whole_number import whole_number

NOT_COMPLETED = "not_completed"


class TdgDerived(NamedTuple):
    """Result of a sheet of node answers. `aligned` is None if `why` gives a reason.

    `before` are the answers as given. `after` are those after the dependency rule and the path (`not_applicable` for
    nodes on paths that were not taken). A reason replaces an answer that was not given.
    """

    aligned: PathAlignment | None
    why: str
    before: Mapping[str, str]
    after: Mapping[str, str]


class DecisionCount(NamedTuple):
    """Number of right decisions among the `known` rated ones for which the right option is known."""

    right: int
    known: int

    @property
    def accuracy(self) -> float | None:
        return self.right / self.known if self.known else None


def derived_words(
    study: Study,
    unit: Unit,
    sheet: Sheet,
    *,
    done: bool | None = None,
    right: Mapping[str, Collection[str]] | None = None,
    in_words: bool = False,
) -> list[tuple[str, str]]:
    """Return the derived values of a sheet as (name, words), empty before it is handed in.

    With `in_words` they are for a person: names in place of ids, and explanations of rates. `done` is True if the run
    succeeded, as settled elsewhere. `right` are the options that its demonstrations took.
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
            return [*lines, ("right decisions", f"{decisions.right} of {decisions.known}")]
        case "criteria":
            score = rubric_score(unit, sheet)
            return lines if score is None else [*lines, ("score", f"{score:.2f}")]
    return lines


def names_of(unit: Unit) -> dict[str, str]:
    """Return the text of each target of a unit, by id."""
    return {target.id: " ".join(target.says.split()) or target.id for target in unit.targets}


def _by_rule(study: Study, gold: Gold, *, in_words: bool) -> tuple[str, str]:
    field = study.protocol.field(gold.field) if in_words else None
    option = field.option(gold.value) if field is not None and isinstance(gold.value, str) else None
    name = field.ask if field is not None else gold.field
    return name, f"{option.display_name if option is not None else gold.value}, by rule: {gold.reason}"


# -- nodes -----------------------------------------------------------------------------------------------------


def tdg_derived(unit: Unit, sheet: Sheet, field: str = "state") -> TdgDerived:
    """Return the best path through a unit's graph for a rater's node answers."""
    heads = {target.id: sheet.head(FieldReference(target.id, field)) for target in unit.targets}
    labels = {id: label for id, label in heads.items() if label is not None}
    before = {id: label.reason_missing or str(label.value) for id, label in labels.items()}
    return path_of(graph_of(unit), before, node_steps(labels))


def graph_of(unit: Unit) -> Tdg:
    """Return a unit's own graph, or its task's."""
    return unit.tdg if unit.tdg.nodes or unit.task is None else unit.task.tdg


def path_of(tdg: Tdg, before: Mapping[str, str], steps: Steps) -> TdgDerived:
    """Return the result of node answers. `steps` are those of the rated nodes."""
    path = path_taken(tdg, steps)
    fulfilled_ids = fulfilled_nodes(tdg, steps)
    after: dict[str, str] = {}
    beside = set() if isinstance(path, str) else set(path.not_applicable)
    for id, state in before.items():
        completion = COMPLETED if id in fulfilled_ids else NOT_COMPLETED
        after[id] = "not_applicable" if id in beside else completion if state in (COMPLETED, NOT_COMPLETED) else state
    if isinstance(path, str):
        return TdgDerived(None, path, before, after)
    return TdgDerived(path, "", before, after)


def node_steps(labels: Mapping[str, Label]) -> dict[str, int | None]:
    """Return for each rated node the step (from 0) of its completion, None if it is not completed.

    A completion without a step counts as late as the latest known one, so that it never decides between paths.
    """
    steps_by_id = {id: step_of(label) for id, label in labels.items() if label.value == COMPLETED}
    latest = max((step for step in steps_by_id.values() if step is not None), default=0)
    steps: dict[str, int | None] = {id: latest if step is None else step for id, step in steps_by_id.items()}
    return {**steps, **dict.fromkeys((id for id, one in labels.items() if one.value == NOT_COMPLETED), None)}


def step_of(label: Label) -> int | None:
    """Return the step (from 0) that a label cites, or None if it cites none."""
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


def is_success(score: float | None) -> bool | None:
    """Return True if a run with this score succeeded, or None if it has no score."""
    return None if score is None else score > DONE


def irr_derived(unit: Unit, sheet: Sheet, done: bool | None, field: str = "use") -> Irr:
    """Return the share of a run's information that was used correctly: all of it if the run succeeded (`done`)."""
    if done:
        return Irr(1.0)
    marks: dict[str, Any] = {}
    for target in unit.targets:
        if (value := sheet.value(FieldReference(target.id, field))) is not None:
            marks[target.id] = value
    # Without an outcome the rule for successes and that for failures give different rates.
    if done is None:
        return Irr(None, "not judged")
    return rate(information_units(unit), marks) if unit.targets else Irr(None, "without information units")


def _irr_words(unit: Unit, sheet: Sheet, done: bool | None, field: str = "use") -> str:
    """Return words that explain a rate."""
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
    """Return a unit's targets as a task declares them.

    Targets without a kind of their own are explicit if the whole task is.
    """
    whole = unit.explicit is not False
    explicit = {"explicit": True, "implicit": False}
    return [InformationUnit(one.id, one.says, explicit=explicit.get(one.kind, whole)) for one in unit.targets]


# -- criteria and branches -------------------------------------------------------------------------------------


def rubric_score(unit: Unit, sheet: Sheet) -> float | None:
    """Return the weighted mean of all criteria, 0 to 1, or None if one has no number."""
    field = next((one for one in sheet.protocol.fields if one.per == "target" and one.kind == "interval"), None)
    if field is None or not unit.targets:
        return None
    values = {one.id: sheet.value(FieldReference(one.id, field.id)) for one in unit.targets}
    return weighted_mean(unit, field, {id: value for id, value in values.items() if isinstance(value, int | float)})


def weighted_mean(unit: Unit, field: Field, values: Mapping[str, float]) -> float | None:
    """Return the weighted mean of a unit's criteria, 0 to 1, or None if one has no value or the weights sum to 0."""
    whole = sum(one.weight for one in unit.targets)
    if not whole or any(one.id not in values for one in unit.targets):
        return None
    least, most = field.least or 0.0, field.most if field.most is not None else 1.0
    return float(sum((values[one.id] - least) / (most - least) * one.weight for one in unit.targets) / whole)


def decisions_derived(
    unit: Unit, sheet: Sheet, right: Mapping[str, Collection[str]] | None = None, field: str = ""
) -> DecisionCount:
    """Return how many branches went the right way.

    Only rated branches count for which a demonstration or the task gives the right way.
    """
    task_ways = {branch.id: {branch.right} for branch in (unit.task.branches if unit.task else ()) if branch.right}
    decisions = {**(right or {}), **task_ways}
    name = field or next((one.id for one in sheet.protocol.fields if one.per == "target" and one.kind == "nominal"), "")
    answers = [(sheet.value(FieldReference(one.id, name)), decisions.get(one.id, ())) for one in unit.targets]
    pairs = [(plain(str(value)), set(map(plain, ways))) for value, ways in answers if value is not None and ways]
    return DecisionCount(sum(value in ways for value, ways in pairs), len(pairs))
