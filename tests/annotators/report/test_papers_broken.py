"""Papers' tables of empty, thin and hostile studies: sentences and words for what is no number, never a traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotators.papers.report_tables import sections_of
from annotators.report.html import as_html
from annotators.report.markdown import as_markdown
from annotators.report.report import make_report
from annotators.report.text import as_text
from lab.core.run.step import Action
from lab.core.study.report import Section
from lab.core.study.study import Target, Unit, UnitText
from lab.core.task.task import Persona, Task
from store.store import Store
from tests.crossed import crossed, spread
from tests.papers import Rated, run, sound

HOSTILE = "\x1b[31m<script>alert(1)</script>|[b]'; DROP TABLE label; --"
FORK = (Target("b", HOSTILE, kind="depth x", options=("p", HOSTILE)),)
STEPS = (Target("s", HOSTILE, step=0),)
TEXTS = (UnitText("A", HOSTILE, side="A"), UnitText("B", HOSTILE * 300, side="B"))
Answers = dict[Any, Any]
OF: dict[str, tuple[dict[str, Any], Answers]] = {
    "success": ({}, {"outcome": "impossible", "why_impossible": "ambiguous"}),
    "information-units": ({"targets": (Target("i", HOSTILE),)}, {("i", "use"): "wrong"}),
    "failure-mode-memgui": ({}, {"primary": "other"}),
    "failure-mode-dac": ({}, {"primary": "branch_ignored", "secondary": "other"}),
    "golden-steps": ({"task": Task("t", "general", instruction="Go.")}, {"executable": "yes", "steps": 300}),
    "demonstration": ({"targets": STEPS}, {("s", "verdict"): "accept", "whole": "possible"}),
    "decision-points": ({"targets": FORK}, {("b", "taken"): HOSTILE}),
    "step-correct": ({"step": 0}, {"correct": "wrong", "error": "text", "better": HOSTILE}),
    "intent-guess": ({}, {"guess": HOSTILE * 900}),
    "same-intent": ({"given": TEXTS, "hidden": {"source": HOSTILE}}, {"same": "cannot_tell"}),
    "personal-rating": ({"owner": "R1"}, {"personal": "5"}),
}
"""By protocol what else a unit of it has, and an answer."""
TASK = Task(HOSTILE, "general", instruction=HOSTILE, apps=(HOSTILE,), traits={"structure": HOSTILE, "cross_app": "?"})


def made(store: Store, of: str, units: int, runs: bool) -> Rated:
    beside = ("own",) if of == "personal-rating" else ()
    ones = [Unit(f"u{n}", **{"runs": (f"r{n}", *beside), **OF[of][0]}) for n in range(units)]
    acts = [Action("click", (1, 2), boxes=((0, 0, 0, 0),)), Action("other", text=HOSTILE), Action("status")]
    who = Persona(HOSTILE, HOSTILE, {"age": HOSTILE})
    kept = [run(f"r{n}", TASK, "@A1" if of == "demonstration" else HOSTILE, acts, persona=who) for n in range(units)]
    return Rated(
        store, of, ones, [*kept, run("own", TASK, "@R1", [], persona=who)] if runs else [], raters=("R1", "R2")
    )


def papers(rated: Rated) -> list[Section]:
    """The paper's part, and the whole report in each form, which must hold nothing that steers a reader."""
    studied = rated.studied()
    found = [section for make in sections_of(rated.study.protocol) for section in make(studied)]
    sound(found)
    report = make_report(studied, "1", "here")
    text, page = as_text(report, 80), as_html(report)
    for whole in (text, as_markdown(report), page):
        assert "\x1b" not in whole
        assert "nan" not in whole.split()
    assert "<script" not in page
    assert max(map(len, text.splitlines())) <= 80
    return found


@pytest.mark.parametrize("of", OF)
def test_a_study_that_nobody_has_rated_says_so(of: str, tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        found = papers(made(store, of, 2, runs=False))
    assert found
    assert any(section.says for section in found)


@pytest.mark.parametrize("runs", [False, True], ids=["no runs", "runs"])
@pytest.mark.parametrize("of", OF)
def test_one_sheet_by_one_person_is_told_without_agreement(of: str, runs: bool, tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        rated = made(store, of, 2, runs)
        rated.say("u0", "R1", OF[of][1])
        assert papers(rated)


@crossed
@pytest.mark.parametrize("of", spread(list(OF), 4))
def test_constant_answers_hostile_words_a_judge_and_a_rater_who_skipped_half(of: str, tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        rated = made(store, of, 4, runs=True)
        for n in range(4):
            rated.say(f"u{n}", "R1", OF[of][1])
            rated.say(f"u{n}", "model:g", OF[of][1])
            if n % 2:
                first = next(iter(OF[of][1]))
                rated.say(f"u{n}", "R2", {first: "?"} if n == 1 else OF[of][1])
        assert papers(rated)
