"""How units are laid out: one that says all that is shown stands without its run, whose length would tell more."""

from __future__ import annotations

import pytest

from annotators.protocols import protocol
from lab.core.study.study import Study, Unit, UnitText
from screens.annotate.unit_plan import columns_of, titled_runs

GIVEN = (UnitText("Question", "Which colour?"), UnitText("Reply", "Blue."), UnitText("Profile", "likes: blue"))


@pytest.mark.parametrize(
    ("name", "steps"),
    [("reply-support", False), ("intent-guess", False), ("failure-mode-knowu-personalized", True), ("success", True)],
)
def test_a_run_of_which_no_step_is_shown_is_not_laid_out(name: str, steps: bool) -> None:
    study = Study("s", 1, "S", protocol(name), ("R1",), 1, "")
    unit = Unit("u", ("a-run",), given=GIVEN)
    assert bool(titled_runs(study, unit, swap=False)) is steps
    columns = columns_of(study, unit, swap=False)
    assert len(columns) == (not steps)
    if columns:
        said = columns[0][1].plain
        assert said.index("Which colour?") < said.index("Blue.") < said.index("likes: blue")
