"""Judges' answers stand beside a rater's own once these are handed in, where the study reveals models; never before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.study.label import Act
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.judging.judges_beside import judges_beside
from lab.studies.rating.rating_session import RatingSession
from lab.studies.settling.label_import import Rater, RowImport
from lab.studies.settling.label_rows import LabelRow, NumberedRow
from screens.app import LabApp
from store.store import Store
from tests.screens.annotate.sample_studies import STARS, one_field, ready, room, studied
from tests.screens.resting import press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps
from tests.studies import R1, label

Until = Callable[..., Awaitable[None]]
HOSTILE = "Zbecause \x1b[31m[red]it fits[/red]"
OTHERS = ("Zpersonsays", "ZR2", "Zjudgename")
REVEALED = ("people", "method", "outcome", "raters")
JUDGE = Actor("model", "Zjudgename")
UNITS = [Unit("u1", (WHOLE,)), Unit("u2", (WHOLE,))]


def laid(store: Store, blind: tuple[Any, ...] = REVEALED, judged: tuple[str, ...] = ("u1", "u2")) -> Study:
    """Two units; of each a judge and another person have said something."""
    store.runs.add(whole_run())
    study = studied(store, one_field(STARS), UNITS, ("R1", "ZR2"), blind=blind)
    for unit in UNITS:
        for by, note in ((JUDGE, HOSTILE), (Actor("human", "ZR2"), "Zpersonsays")):
            if by is not JUDGE or unit.id in judged:
                said = label(study, unit, "", "personal", "4", rater=by, note=note)
                store.labels.record(study, unit, replace(said, config_sha="c" if by is JUDGE else ""))
                store.labels.record_act(Act(uuid7(), study.id, study.version, by, "commit", now(), unit.id))
    return study


async def answered(app: LabApp, pilot: Any, until: Until, answer: str) -> str:
    """What was painted until the unit that is open is handed in."""
    await until(pilot, lambda: ready(app))
    seen = painted(app)
    for key in (answer, "enter"):
        await press(pilot, key)
        seen += painted(app) if room(app).view == "open" else ""
    return seen


async def test_a_judge_is_shown_after_handing_in_and_nothing_is_taken_back_then(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = laid(store)
    app = shared_apps.rating(store, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        before = await answered(app, pilot, until, "2")
        await until(pilot, lambda: "What judges say" in painted(app))
        told = painted(app)
        assert "Zbecause" not in before
        assert "≠ J1: 4" in told
        assert "you: 2" in told
        assert "[red]it fits[/red]" in told
        assert not any(word in before + told for word in OTHERS)
        assert not app.screen.check_action("reopen", ())
        kept = [act for act in store.labels.acts(study, "R1", "u1") if act.act == "judges"]
        assert [act.detail for act in kept] == [{"judges": ["Zjudgename"]}]
        taken = Act(uuid7(), study.id, study.version, R1, "reopen", now(), "u1")
        with pytest.raises(LabError, match="has shown what judges say"):
            store.labels.reopen(study, UNITS[0], taken)
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app))
        assert "Zbecause" not in painted(app)


@pytest.mark.parametrize("blind", [("people", "models", "method", "outcome", "raters"), ("models",)])
async def test_a_study_that_hides_models_shows_none(
    store: Store, shared_apps: SharedApps, until: Until, blind: tuple[Any, ...]
) -> None:
    study = laid(store, blind)
    app = shared_apps.rating(store, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        seen = await answered(app, pilot, until, "4")
        await until(pilot, lambda: ready(app))
        seen += painted(app)
        seen += await answered(app, pilot, until, "4")
        await until(pilot, lambda: "All 2 are handed in" in painted(app))
        assert not any(word in seen + painted(app) for word in ("Zbecause", "J1", *OTHERS))
    assert [act for act in store.labels.acts(study) if act.act == "judges"] == []


def test_a_unit_that_comes_once_more_shows_no_judge_before_the_last_time(store: Store) -> None:
    study = laid(store)
    store.studies.deal(study, [Assignment(study.id, study.version, "R1", 9, "u1", "repeat", run=2)])
    session = RatingSession(store, study, R1)
    seen = []
    for run in (1, 2):
        session.open(next(one for one in store.studies.assignments(study, "R1", "u1") if one.run == run))
        assert judges_beside(session) == []
        spot = session.sheet.spots[0] if session.sheet is not None else None
        assert spot is not None
        session.answer(spot, "4")
        session.commit()
        seen.append([one.same for one in judges_beside(session)])
    assert seen == [[], [True]]


def test_the_command_tells_a_person_the_same(store: Store) -> None:
    study = laid(store, judged=("u1",))
    taking = RowImport(store, study, Rater("R1", "human", 1, ""), "a file")
    rows = [NumberedRow(f"line {n}", n, LabelRow(f"u{n}", value="4", commit=True)) for n in (1, 2)]
    first, second = (taking.take(row) for row in rows)
    assert [(one.judge, one.value, one.note) for one in first.judges] == [("J1", "4", HOSTILE)]
    assert second.judges == ()
