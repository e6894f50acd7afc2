"""Agreement opened a second time: pairs and grids are there without an answer being read, until more comes in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from contextlib import nullcontext
from typing import Any

import pytest

from lab.core.study.agreement import IntervalTerms
from lab.core.study.study import Study
from lab.core.task.task import Actor
from lab.studies.progress.agreement_cache import cached_overview, last_agreements, last_overview, stored_overview
from lab.studies.progress.study_data import load_study_data, study_agreements
from screens.agreement import computation
from store.erasing.withdrawal import withdraw
from store.store import Store
from store.studies.agreement_labels import AgreementLabels
from tests.rated import hand_in
from tests.screens.agreement.sample_study import JUDGE, NOT, made, units
from tests.screens.agreement.test_agreement import opened, ready, room
from tests.screens.runs import painted
from tests.studies import label

Until = Callable[..., Awaitable[None]]


async def first_opening(store: Store, study: Study, until: Until) -> tuple[Any, Any]:
    """What pairs and grid hold, once all of it is kept."""
    app = opened(store, study)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and room(app).beneath.pairs.count > 0)
        it = room(app)
        await until(pilot, lambda: stored_overview(store, study, IntervalTerms()) is not None)
        return it.beneath.pairs.rows, it.beneath.grid.grid


def unread(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keeps answers from being read; lists who tried."""
    tried: list[str] = []

    def read(labels: AgreementLabels, study: Study) -> Any:
        tried.append(study.name)
        raise AssertionError("answers are read")

    monkeypatch.setattr(AgreementLabels, "columns", read)
    return tried


async def test_a_second_opening_reads_no_answer(store: Store, until: Until, monkeypatch: pytest.MonkeyPatch) -> None:
    study = made(store)
    first = await first_opening(store, study, until)
    tried = unread(monkeypatch)
    app = opened(store, study)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and room(app).beneath.pairs.count > 0)
        it = room(app)
        assert (it.beneath.pairs.rows, it.beneath.grid.grid) == first
        assert "72 answers of 3 raters, 1 judge" in painted(app)
        for row in range(it.fields.count):
            it.fields.go(row)
            await until(pilot, lambda: "counting" not in str(it.beneath.grid.border_title))
        it.fields.go(0)
        await pilot.press("tab", "down")
        await until(pilot, lambda: "R1 × R2" in str(it.beneath.grid.border_title))
    assert tried == []


def test_what_is_kept_is_what_would_be_drawn(store: Store) -> None:
    study = made(store)
    studied = load_study_data(store, study)
    kept = kept_beside(store, study)
    for field in ("state", "seen", "rating"):
        assert kept.pairs[field] == computation.pairs_of(studied, field)
    grids = {(one.field, one.one, one.other): one for one in kept.grids}
    for ask in (
        ("state", "", ""),
        ("state", "R1", "R3"),
        ("state", "truth", JUDGE.partition(":")[2]),
        ("rating", "", ""),
    ):
        assert grids[ask] == computation.confusion_of(studied, *ask)
    assert grids["state", "R1", "R3"].grid is not None
    assert grids["rating", "", ""].grid is None
    assert "no categories" in grids["rating", "", ""].why


def kept_beside(store: Store, study: Study, how: IntervalTerms = IntervalTerms()) -> Any:  # noqa: B008  # frozen
    """Everything beside the numbers, kept."""
    studied = load_study_data(store, study, how)
    found = study_agreements(store, study, how)
    return cached_overview(
        store, study, how, lambda: computation.build_overview(studied, found, nullcontext(), lambda: True)
    )


def test_nothing_is_taken_for_what_holds_once_more_came_in(store: Store) -> None:
    study = made(store, open=[("R3", "u5")])
    kept = kept_beside(store, study)
    assert stored_overview(store, study, IntervalTerms()) == kept
    assert stored_overview(store, study, IntervalTerms(seed=4)) is None
    hand_in(store, study, "R3", "u5")
    assert stored_overview(store, study, IntervalTerms()) is None
    before = last_agreements(store, study, IntervalTerms())
    assert before is not None
    assert last_overview(store, study, IntervalTerms(), before[1]) == kept
    study_agreements(store, study)
    now = last_agreements(store, study, IntervalTerms())
    assert now is not None
    assert last_overview(store, study, IntervalTerms(), now[1]) is None
    assert kept_beside(store, study).open < kept.open


def test_who_withdraws_goes_from_it(store: Store) -> None:
    study = made(store)
    kept_beside(store, study)
    withdraw(store, "R3", Actor("human", "D1"))
    assert stored_overview(store, study, IntervalTerms()) is None


async def test_after_more_came_in_pairs_are_counted_anew(store: Store, until: Until) -> None:
    study = made(store)
    pairs, _ = await first_opening(store, study, until)
    unit = units()[0]
    for target in ("open", "pay"):
        store.labels.record(study, unit, label(study, unit, target, "state", NOT, rater=Actor("model", "other")))
    app = opened(store, study)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "2 judges" in painted(app))
        await until(pilot, lambda: stored_overview(store, study, IntervalTerms()) is not None)
        assert [one.value for one in room(app).beneath.pairs.rows] == [one.value for one in pairs]


def test_what_is_no_longer_wanted_is_not_made(store: Store) -> None:
    study = made(store)
    with pytest.raises(CancelledError):
        computation.build_overview(
            load_study_data(store, study), study_agreements(store, study), nullcontext(), lambda: False
        )
