"""Units over runs as they were published; skipped where these are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from annotators.protocols import protocol
from annotators.units import UnitTerms, units_for
from annotators.units.outcomes import DONE
from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun
from store.store import Store

SHARED = Path(__file__).parents[2].parent / "shared" / "traces"


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[MeasuredRun]:
    """MobileWorld's runs as they come out of a hitlab file."""
    bundle = SHARED / "mobileworld" / "kimi-k2.5.json.gz"
    if not bundle.is_file():
        pytest.skip("no shared/traces here")
    db = tmp_path_factory.mktemp("traces") / "lab.db"
    for path in (bundle, bundle.parent / "runs"):
        assert main(["import", str(path), "--db", str(db)]) == 0
    with Store(db) as store:
        return list(store.runs.measured())


def test_failed_runs_are_those_that_their_source_scored_so_and_timeouts_its_spent_budgets(
    cases: list[MeasuredRun],
) -> None:
    told = [case for case in cases if case.score is not None or case.status in ("failed", "budget")]
    failed = [case for case in told if case.score is None or case.score <= DONE]
    assert 0 < len(failed) < len(told)
    units = units_for(protocol("failure-mode-memgui"), told)
    assert [unit.id for unit in units] == [case.id for case in failed]
    spent = {unit.id for unit in units if unit.mechanical}
    assert spent == {case.id for case in failed if case.status == "budget"}
    assert spent


def test_questions_and_replies_are_those_of_the_runs(cases: list[MeasuredRun]) -> None:
    replied = [(case, n) for case in cases for n, step in enumerate(case.steps) if step.question and step.reply]
    assert replied
    with pytest.raises(LabError, match="has no profile"):
        units_for(protocol("reply-support"), cases)
    alone = replace(protocol("reply-support"), shows=("instruction",))
    units = units_for(alone, cases)
    assert [(unit.runs[0], unit.step) for unit in units] == [(case.id, n) for case, n in replied]
    for unit, (case, n) in zip(units, replied, strict=True):
        step = case.steps[n]
        assert step.question is not None
        assert step.reply is not None
        said = {one.title: one.text for one in unit.given}
        assert said["Question"] == step.question.text
        assert step.reply.text in said["Reply"]


def test_pairs_are_of_one_task_by_different_models(cases: list[MeasuredRun]) -> None:
    by_id = {case.id: case for case in cases}
    units = units_for(protocol("pairwise-runs"), cases)
    assert units
    for unit in units:
        a, b = (by_id[id] for id in unit.runs)
        assert a.task.id == b.task.id
        assert unit.hidden["A"] != unit.hidden["B"]


def test_steps_are_drawn_alike_whatever_else_is_in_the_study(cases: list[MeasuredRun]) -> None:
    some = [case for case in cases if case.steps][:20]
    terms = UnitTerms(steps=3, seed=11)
    units = units_for(protocol("step-correct"), some, terms=terms)
    assert len({unit.id for unit in units}) == len(units)
    again = units_for(protocol("step-correct"), some[::-1], terms=terms)
    assert {unit.id for unit in again} == {unit.id for unit in units}


def test_runs_without_a_design_are_named(cases: list[MeasuredRun]) -> None:
    for name in ("tdg", "information-units", "decision-points", "rubric"):
        with pytest.raises(LabError) as told:
            units_for(protocol(name), cases)
        assert told.value.sentence.startswith(f"run {cases[0].id}: its task {cases[0].task.id} has no ")
        assert "`hitlab tasks design` drafts" in told.value.hint
