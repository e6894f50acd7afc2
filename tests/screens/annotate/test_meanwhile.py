"""What becomes of a study while it is rated in: what is refused for it is a sentence, and the app goes on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from lab.core.errors import LabError
from lab.core.study.label import Act, ActKind
from lab.core.study.study import Assignment, Unit
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.rating.rating_session import RatingSession
from screens.annotate.annotate import AnnotateScreen
from store.store import Store
from tests.screens.annotate.sample_studies import STARS, one_field, rating, ready, studied
from tests.screens.resting import press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.studies import R1

Until = Callable[..., Awaitable[None]]

CLOSED = {"locked": "This study is locked", "left": "R1 has left this study"}


@pytest.mark.parametrize("kind", ["locked", "left"])
async def test_a_study_that_is_closed_between_two_items_is_told_so(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch, kind: ActKind
) -> None:
    store.runs.add(whole_run())
    study = studied(store, one_field(STARS), [Unit("u1", (WHOLE,)), Unit("u2", (WHOLE,))])
    app = rating(store, study)
    commit = RatingSession.commit

    def committed(session: RatingSession) -> object:
        """Handed in; then another process closes the study, before the next item is opened."""
        handed = commit(session)
        with Store.open(store.path) as other:
            other.labels.record_act(Act(uuid7(), study.id, 1, R1, kind, now(), detail={"for": "R2"}))
        return handed

    monkeypatch.setattr(RatingSession, "commit", committed)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "3", "enter")
        await until(pilot, lambda: CLOSED[kind] in " ".join(painted(app).split()))
        assert isinstance(app.screen, AnnotateScreen)
        await press(pilot, "escape")
        await until(pilot, lambda: app.screen.query_one("#study-shelf").has_focus)
        await until(pilot, lambda: "A study" in painted(app))


async def test_what_else_is_refused_between_two_items_is_told_and_may_be_tried_again(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.runs.add(whole_run())
    study = studied(store, one_field(STARS), [Unit("u1", (WHOLE,)), Unit("u2", (WHOLE,))])
    app = rating(store, study)
    following = RatingSession.next_assignment

    def refuse(session: RatingSession, after: int = -1) -> Assignment | None:
        raise LabError("study.db", "cannot be read now.")

    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: ready(app))
        monkeypatch.setattr(RatingSession, "next_assignment", refuse)
        await press(pilot, "3", "enter")
        await until(pilot, lambda: "cannot be read now" in painted(app))
        monkeypatch.setattr(RatingSession, "next_assignment", following)
        await press(pilot, "enter")
        await until(pilot, lambda: "2 of 2" in painted(app) and ready(app))
