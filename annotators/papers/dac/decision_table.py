"""Decision accuracy from people's labels (DAC-Bench 2.6, Table 3): right ways by depth, and agreement of raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from annotators.agreement.coefficients.categorical import gwet_ac, krippendorff_alpha, percent
from annotators.agreement.ratings.fields import ratings_of
from annotators.papers import cells
from annotators.papers.cells import UnitValue, coefficient, column_bars, few_runs_warning, share
from annotators.papers.dac.decisions import plain
from annotators.papers.field_answers import Truth, asked_units, cases_of, truths, unsettled_counts
from annotators.papers.metrics import demonstrations_of_task
from annotators.study_data import StudyData
from annotators.units.pairs import method_names, method_of
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.report import Cell, Number, Section, Table
from lab.core.study.study import Unit
from lab.core.values.whole_number import whole_number

TAKEN = "taken"
_SOURCE = "DAC-Bench 2.6, Table 3"


class LabelledDecision(NamedTuple):
    """A decision that a run reached and raters labelled, for which the right way is known."""

    unit: Unit
    agent: str
    depth: int
    right: bool


def sections(study_data: StudyData) -> list[Section]:
    """Return accuracy by agent and depth, and agreement."""
    truth_by_place = truths(study_data, TAKEN)
    title = "Decision accuracy"
    if not truth_by_place:
        return [Section(title, ("No decision is settled yet.",))]
    cases = cases_of(study_data)
    choices, left_out = decisions(study_data, truth_by_place, cases)
    says = tuple(f"{n} left out: {why}." for why, n in sorted(left_out.items()))
    accuracy = (_accuracy(study_data, choices),) if choices else ()
    pictures = column_bars(accuracy[0], "All") if accuracy else ()
    return [Section(title, says, (*accuracy, _agreement(study_data)), pictures)]


def decisions(
    study_data: StudyData, truth_by_place: Mapping[tuple[str, str], Truth], cases: Mapping[str, MeasuredRun]
) -> tuple[list[LabelledDecision], dict[str, int]]:
    """Return each decision of agents' runs, and the number left out by reason."""
    golds = _golds(study_data, truth_by_place, cases)
    names = method_names(cases.values())
    rows: list[LabelledDecision] = []
    left_out: dict[str, int] = {}
    for unit in asked_units(study_data):
        case = cases.get(unit.id)
        if case is None or case.gold:
            continue
        for target in unit.targets:
            right = _right_ways(case, target.id, golds)
            one = truth_by_place.get((unit.id, target.id))
            # A branch that the run did not reach has no truth either, so the two reasons cannot be separated.
            why = "not settled, or not reached" if one is None else "" if right else "nothing tells which way is right"
            if why or one is None:
                left_out[why] = left_out.get(why, 0) + 1
            else:
                rows.append(
                    LabelledDecision(unit, names[method_of(case)], _depth(target.kind), plain(one.value) in right)
                )
    return rows, left_out


def _golds(
    study_data: StudyData, truth_by_place: Mapping[tuple[str, str], Truth], cases: Mapping[str, MeasuredRun]
) -> dict[str, list[tuple[MeasuredRun, dict[str, str]]]]:
    """Return the demonstrations among the study's runs by task, with the ways that they took."""
    golds: dict[str, list[tuple[MeasuredRun, dict[str, str]]]] = {}
    for unit in asked_units(study_data):
        case = cases.get(unit.id)
        if case is not None and case.gold:
            ways = {
                target.id: truth_by_place[unit.id, target.id].value
                for target in unit.targets
                if (unit.id, target.id) in truth_by_place
            }
            golds.setdefault(case.task.id, []).append((case, ways))
    return golds


def _right_ways(
    case: MeasuredRun, branch: str, golds: Mapping[str, Sequence[tuple[MeasuredRun, Mapping[str, str]]]]
) -> set[str]:
    """Return the right ways: the task's own, else all that its demonstrations took."""
    own = next((one.right for one in case.task.branches if one.id == branch and one.right), "")
    if own:
        return {plain(own)}
    beside = golds.get(case.task.id, ())
    same = {one.id for one in demonstrations_of_task(case, [gold for gold, _ in beside])}
    return {plain(ways[branch]) for gold, ways in beside if gold.id in same and branch in ways}


def _depth(kind: str) -> int:
    number = whole_number(kind.removeprefix("depth "))
    return 1 if number is None else number


def _accuracy(study_data: StudyData, choices: Sequence[LabelledDecision]) -> Table:
    depths = sorted({one.depth for one in choices})
    parts = [("All", None), *((f"Depth {depth}", depth) for depth in depths)]
    rows: list[tuple[Cell, ...]] = []
    for agent in [*sorted({one.agent for one in choices}), "All"]:
        own = [one for one in choices if agent in (one.agent, "All")]
        depth_by_place = _asked_depths(study_data, agent)
        rows.append((agent, *(_share(study_data, own, depth_by_place, agent, depth) for _, depth in parts)))
    n = len({one.unit.id for one in choices})
    notes = (
        f"{len(choices)} decisions in {n} run{'' if n == 1 else 's'}; "
        "positions that a run never reached are not in it.",
        "Right is what the task says, else any way that its demonstrations in this study took.",
        "The paper's branch accuracy averages 38 %; its Table 3 computes exact match at the step instead.",
        *few_runs_warning(n),
    )
    head = ("Agent", *(name for name, _ in parts))
    return Table("dac-decisions", "Decision accuracy by depth", head, tuple(rows), _SOURCE, notes)


def _asked_depths(study_data: StudyData, agent: str) -> dict[tuple[str, str], int]:
    """Return the depth of every decision that an agent's runs were asked about, by place."""
    cases = cases_of(study_data)
    names = method_names(cases.values())
    return {
        (unit.id, target.id): _depth(target.kind)
        for unit in asked_units(study_data)
        if (case := cases.get(unit.id)) is not None and not case.gold and agent in (names[method_of(case)], "All")
        for target in unit.targets
    }


def _share(
    study_data: StudyData,
    choices: Sequence[LabelledDecision],
    depth_by_place: Mapping[tuple[str, str], int],
    agent: str,
    depth: int | None,
) -> Number:
    items = [
        UnitValue(one.unit.id, one.unit.clustered, float(one.right)) for one in choices if depth in (None, one.depth)
    ]
    part = agent if depth is None else f"{agent}, depth {depth}"
    why = "no decision of that depth was reached"
    left_out = unsettled_counts(
        study_data, TAKEN, places={place for place, at in depth_by_place.items() if depth in (None, at)}
    )
    return cells.percent(share(study_data, items, TAKEN, "decision accuracy", part=part, why=why, left_out=left_out))


def _agreement(study_data: StudyData) -> Table:
    of = ratings_of(study_data, TAKEN)
    row: tuple[Cell, ...] = (
        "way taken",
        cells.percent(coefficient(study_data, percent(of), of)),
        Number(coefficient(study_data, krippendorff_alpha(of), of)),
        Number(coefficient(study_data, gwet_ac(of), of)),
    )
    notes = (
        "Each decision has ways of its own; chance is worked out over all ways together, so alpha and AC1 are upper "
        "bounds. Percent agreement is not touched by that.",
        *few_runs_warning(len(of.traces)),
    )
    head = ("", "Pairs agree", "Alpha", "AC1")
    return Table("dac-decisions-agreement", "Agreement of raters", head, (row,), "DAC-Bench 2.6", notes)
