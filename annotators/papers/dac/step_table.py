"""Right steps from people's labels (DAC-Bench 2.6: type match and exact match, asked of people), by agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from annotators.agreement.coefficients.categorical import gwet_ac, krippendorff_alpha, percent
from annotators.agreement.ratings.fields import ratings_of
from annotators.papers import cells
from annotators.papers.cells import UnitValue, coefficient, count, few_runs_warning, share, share_of_independent
from annotators.papers.field_answers import Truth, asked_units, cases_of, truths, unsettled_counts
from annotators.study_data import StudyData
from annotators.units.pairs import method_names, method_of
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.report import Cell, Number, Section, Table
from lab.core.study.study import Unit

CORRECT, ERROR = "correct", "error"
_SOURCE = "DAC-Bench 2.6, asked of people"


def sections(study_data: StudyData) -> list[Section]:
    """Return the section on the share of right steps, on the faults of the others, and on agreement."""
    truth_by_unit = {unit: one for (unit, _), one in truths(study_data, CORRECT).items()}
    title = "Right steps"
    if not truth_by_unit:
        return [Section(title, ("No step is settled yet.",))]
    cases = cases_of(study_data)
    return [
        Section(
            title, tables=(_right_table(study_data, truth_by_unit, cases), _errors(study_data), _agreement(study_data))
        )
    ]


def _right_table(study_data: StudyData, truth_by_unit: Mapping[str, Truth], cases: Mapping[str, MeasuredRun]) -> Table:
    study_units = asked_units(study_data)
    units = [unit for unit in study_units if unit.id in truth_by_unit]
    names = method_names(cases.values())
    agent = {unit.id: names[method_of(cases[unit.id])] if unit.id in cases else "run not here" for unit in study_units}
    rows: list[tuple[Cell, ...]] = []
    for name in [*sorted({agent[unit.id] for unit in units}), "All"]:
        own = [unit for unit in units if name in (agent[unit.id], "All")]
        left_out = unsettled_counts(study_data, CORRECT, {unit for unit, of in agent.items() if name in (of, "All")})
        rows.append((name, count(len(own), CORRECT, part=name), _share(study_data, own, truth_by_unit, name, left_out)))
    lacking = len(asked_units(study_data)) - len(units)
    notes = (
        "A step is right by most people's word; intervals are over runs, since the steps of one run go together.",
        "What is right here need not be what a demonstration did: this is no exact match.",
        *((f"{lacking} steps are not settled and left out.",) if lacking else ()),
        *few_runs_warning(len({unit.clustered for unit in units})),
    )
    return Table("dac-steps", "Right steps by agent", ("Agent", "Steps", "Right"), tuple(rows), _SOURCE, notes)


def _share(
    study_data: StudyData,
    units: Sequence[Unit],
    truth_by_unit: Mapping[str, Truth],
    part: str,
    left_out: Mapping[str, int],
) -> Number:
    items = [UnitValue(unit.id, unit.clustered, float(truth_by_unit[unit.id].value == "right")) for unit in units]
    return cells.percent(share(study_data, items, CORRECT, "share right", part=part, left_out=left_out))


def _errors(study_data: StudyData) -> Table:
    field = study_data.study.protocol.field(ERROR)
    names = {option.id: option.display_name for option in field.options} if field is not None else {}
    right = truths(study_data, ERROR)
    counts = Counter(one.value for one in right.values())
    units, left_out = {unit for unit, _ in right}, unsettled_counts(study_data, ERROR)
    n = sum(counts.values())
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            says,
            count(counts[id], ERROR, part=id),
            cells.percent(
                share_of_independent(study_data, counts[id], n, ERROR, part=id, units=units, left_out=left_out)
            ),
        )
        for id, says in names.items()
    )
    notes = (
        "Of steps that are wrong and of which most name the same fault. Wilson intervals.",
        *few_runs_warning(n, "steps"),
    )
    head = ("What was wrong", "n", "Share")
    return Table("dac-step-errors", "What was wrong with a step", head, rows, _SOURCE, notes)


def _agreement(study_data: StudyData) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for says, field in (("right or wrong", CORRECT), ("what was wrong", ERROR)):
        of = ratings_of(study_data, field)
        rows.append(
            (
                says,
                cells.percent(coefficient(study_data, percent(of), of)),
                Number(coefficient(study_data, krippendorff_alpha(of), of)),
                Number(coefficient(study_data, gwet_ac(of), of)),
            )
        )
    notes = ("What was wrong is compared where both said that something was.",)
    head = ("", "Pairs agree", "Alpha", "AC1")
    return Table("dac-steps-agreement", "Agreement of raters", head, tuple(rows), _SOURCE, notes)
