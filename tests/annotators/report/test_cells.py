"""Numbers of tables: what a coefficient is called, and by what its interval is made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotators.papers.cells import UnitValue, share, statistic_of
from lab.core.study.study import Unit
from store.store import Store
from tests.answered import Answered, protocol


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Answered]:
    with Store.open(tmp_path / "lab.db") as store:
        yield Answered(store, [Unit("u1", ("run1",))], protocol("success"))


def items(*values: float) -> list[UnitValue]:
    return [UnitValue(f"u{at}", f"run{at}", value) for at, value in enumerate(values)]


def test_ones_and_zeros_that_each_stand_for_themselves_have_wilsons_interval(made: Answered) -> None:
    assert share(made.studied(), items(1, 1, 0, 1), "f").interval == "wilson"


def test_a_tie_that_counts_half_is_no_one_and_no_zero(made: Answered) -> None:
    found = share(made.studied(), items(1, 0.5, 0.5, 0), "f")
    assert (found.value, found.interval) == (0.5, "jackknife-t")


def test_a_statistic_has_one_name_wherever_it_stands() -> None:
    names = {
        "gwet_ac": "ac1", "fleiss_kappa": "fleiss kappa", "percent_exact": "percent exact", "icc_A,1": "icc(A,1)",
        "krippendorff_alpha_nominal": "alpha nominal", "mae": "mae", "mean error": "mean error",
    }  # fmt: skip
    assert {name: statistic_of(name) for name in names} == names
