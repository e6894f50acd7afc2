"""Many items settled at once in the room: reasons by digits, one question alone, a question first, and taken back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import pytest
from msgspec.structs import replace

from lab.core.study.adjudication import SignedSettlement
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.studies.progress.study_data import load_study_data
from lab.studies.settling.adjudication import AdjudicationSession
from lab.studies.settling.batch_settlement import BatchScope, batch_of, settle_batch
from screens.app import LabApp
from screens.dialogs import AskScreen
from screens.widgets.footer import Footer
from store.store import Store
from tests.blind import found
from tests.crossed import crossed, spread
from tests.lab.cli.test_adjudicate_at_once import CODES, PROTOCOL, SAID, TARGETS, WORDS
from tests.rated import rated
from tests.screens.adjudicate.test_adjudicate import listed, pane, room, settling
from tests.screens.annotate.watched import Watched
from tests.screens.resting import burst, press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps

Until = Callable[..., Awaitable[None]]
_NUMBERS = count(1)
HIDDEN = {code: f"Z{code}code" for code in CODES}


def studied(store: Store, **more: Any) -> Study:
    store.runs.add(whole_run())
    answers: dict[str, Any] = {name: {} for name in HIDDEN.values()}
    for unit, (opened, paid, well) in SAID.items():
        for at, name in enumerate(HIDDEN.values()):
            answers[name][unit] = {
                ("open", "state"): WORDS[opened[at]], ("pay", "state"): WORDS[paid[at]], ("", "well"): WORDS[well[at]],
            }  # fmt: skip
    units = [Unit(id, (WHOLE,), targets=TARGETS) for id in SAID]
    return rated(store, units, more.pop("protocol", PROTOCOL), answers, **{"id": f"at-once-{next(_NUMBERS)}", **more})


def standing(store: Store, plan: Study) -> list[SignedSettlement]:
    return list(store.adjudications.settlements(plan).values())


async def queued(pilot: Any, app: LabApp, until: Until, count: int = 6) -> None:
    await until(pilot, lambda: listed(app, count) and room(app).disputes.has_focus)


async def test_the_footer_of_the_queue_has_its_verbs(store: Store, shared_apps: SharedApps, until: Until) -> None:
    plan = studied(store)
    app = settling(store, plan, shared_apps=shared_apps)

    def footer() -> list[str]:
        return [verb.binding.description for verb in app.screen.query_one(Footer).verbs]

    async with shared_apps.at((80, 24)) as pilot:
        await queued(pilot, app, until)
        await until(pilot, lambda: {"Settle all", "One question"} <= {*footer()})
        assert "Undo" not in footer(), "nothing is settled yet"
        await press(pilot, "enter")
        await until(pilot, lambda: "Settle" in footer() and "Settle all" not in footer())
        await press(pilot, "escape")
        await queued(pilot, app, until)
        await press(pilot, "a")
        await until(pilot, lambda: "At once" in painted(app) or "at once" in painted(app))


async def test_a_digit_writes_a_reason_and_typing_stays_free(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    plan = studied(store)
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await queued(pilot, app, until)
        await press(pilot, "enter", "1", "enter")
        await until(pilot, lambda: "1 The recording was cut off" in painted(app))
        assert "A digit writes a reason" in painted(app)
        await press(pilot, "1", "2")
        await until(pilot, lambda: pane(app).line.text == "A slip of one rater")
        await burst(pilot, *" 2 of 4")
        await until(pilot, lambda: pane(app).line.text == "A slip of one rater 2 of 4")
        await press(pilot, "enter")
        await until(pilot, lambda: len(standing(store, plan)) == 1)
        [one] = standing(store, plan)
        assert (one.what.reason, one.what.reason_id) == ("A slip of one rater 2 of 4", "slip")
        await until(pilot, lambda: pane(app).answers.has_focus and not pane(app).typing)
        await press(pilot, "2", "enter")
        await until(pilot, lambda: pane(app).typing == "reason")
        await burst(pilot, *"9 of my own")
        await press(pilot, "enter")
        await until(pilot, lambda: len(standing(store, plan)) == 2)
        assert sorted((one.what.reason, one.what.reason_id) for one in standing(store, plan))[0] == ("9 of my own", "")


async def test_all_that_is_listed_is_settled_and_taken_back(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    plan = studied(store)
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await queued(pilot, app, until)
        await press(pilot, "a")
        await until(pilot, lambda: "by what most say: 4 of 6" in painted(app))
        assert "only where all but one agree: 4 of 6" in painted(app)
        assert "by one rater" not in painted(app)
        await press(pilot, "1")
        await until(pilot, lambda: "4 items are settled as most say; left open: 2 (no majority)." in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: "A reason must be said" in painted(app))
        await press(pilot, "2", "enter")
        await until(pilot, lambda: isinstance(app.screen, AskScreen) and "A slip of one rater" in painted(app))
        assert standing(store, plan) == []
        await press(pilot, "escape")
        await until(pilot, lambda: not isinstance(app.screen, AskScreen) and room(app).batch_pane.line.has_focus)
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await press(pilot, "enter")
        await until(pilot, lambda: not isinstance(app.screen, AskScreen) and "2 to settle   4 settled" in painted(app))
        assert {(one.what.by_means, one.what.reason_id) for one in standing(store, plan)} == {("majority", "slip")}
        assert len({one.what.batch for one in standing(store, plan)}) == 1
        await queued(pilot, app, until)
        await press(pilot, "z")
        await until(pilot, lambda: "6 to settle   0 settled" in painted(app))
        assert standing(store, plan) == []
        acts = [act for act in store.labels.acts(plan) if act.act == "adjudicated"]
        assert len(acts) == 8, "four rows, and four that supersede them"


async def test_where_others_settled_all_of_it_meanwhile_nothing_is_said_to_be_taken_back(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    plan = studied(store)
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await queued(pilot, app, until)
        await press(pilot, "a", "1")
        await until(pilot, lambda: "4 items are settled as most say" in painted(app))
        await press(pilot, "2")
        await until(pilot, lambda: room(app).batch_pane.line.text == "A slip of one rater")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        other = AdjudicationSession(store, plan, Actor("human", "D2"))
        majority = batch_of(other, other.queue(load_study_data(store, plan)).open, BatchScope())
        assert len(settle_batch(other, majority, "Most of them.")) == 4
        await press(pilot, "enter")
        await until(pilot, lambda: bool(app._notifications))
        [told] = [note.message for note in app._notifications]
        await until(pilot, lambda: "2 to settle   4 settled" in painted(app))
        assert told == "Nothing was settled: others have settled them meanwhile. Left open: 2 (no majority)."
        assert {one.by.id for one in standing(store, plan)} == {"D2"}


async def test_one_question_alone_is_settled(store: Store, shared_apps: SharedApps, until: Until) -> None:
    plan = studied(store)
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await queued(pilot, app, until)
        await press(pilot, "f", "f")
        await until(pilot, lambda: listed(app, 2) and "only well   2 to settle" in painted(app))
        await press(pilot, "a", "2")
        await until(
            pilot, lambda: "1 item is settled as most say; left open: 1 (more than one differs)" in painted(app)
        )
        await burst(pilot, *"Most")
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: "only well   1 to settle   1 settled" in painted(app))
        assert [one.what.value for one in standing(store, plan)] == ["bad"]
        await queued(pilot, app, until, 2)
        await press(pilot, "f")
        await until(pilot, lambda: listed(app, 6))
        await press(pilot, "a", "escape")
        await until(pilot, lambda: not room(app).batch_pane.display and room(app).disputes.has_focus)


async def test_by_one_raters_answers_where_the_study_names_raters(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    plan = studied(store, blind=("people", "models", "method", "outcome"))
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await queued(pilot, app, until)
        await press(pilot, "a", "3", "2")
        await until(pilot, lambda: "6 items are settled as ZR2code says." in painted(app))
        await burst(pilot, *"The expert")
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: "0 to settle   6 settled" in painted(app))
        assert {one.what.by_means for one in standing(store, plan)} == {"adjudicator"}


async def test_codes_are_never_shown_where_raters_are_hidden(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = studied(store)
    app, watched = settling(store, plan), Watched(monkeypatch)
    async with app.run_test(size=(120, 40)) as pilot:
        await queued(pilot, app, until)
        await press(pilot, "a", "1")
        await until(pilot, lambda: room(app).batch_pane.stage == "reason")
        watched.look(app)
        await press(pilot, "1", "enter", "enter")
        await until(pilot, lambda: "2 to settle   4 settled" in painted(app))
        watched.look(app)
        await queued(pilot, app, until)
        await press(pilot, "z")
        await until(pilot, lambda: "6 to settle   0 settled" in painted(app))
        watched.look(app)
    assert found(["no majority"], watched.text)
    assert found(list(HIDDEN.values()), watched.text) == set()


async def test_what_was_begun_in_one_study_is_not_asked_in_another(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    first = studied(store)
    other = rated(store, [Unit("u9", (WHOLE,), targets=TARGETS)], PROTOCOL, {}, id="at-once-other")
    app = settling(store, first, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await queued(pilot, app, until)
        await press(pilot, "a", "1")
        await until(pilot, lambda: "4 items are settled as most say" in painted(app))
        app.open_numbers(other, "adjudicate")
        await until(pilot, lambda: "at-once-other" in painted(app) and "People differ on nothing" in painted(app))
        assert "items are settled" not in painted(app)


LONG = replace(PROTOCOL.reasons[0], says="The recording was cut off before anything of it could be seen at all. " * 3)


@crossed
@pytest.mark.parametrize("size", spread([(64, 18), (80, 24), (120, 40)], 2))
async def test_long_reasons_are_read_in_any_room(
    store: Store, shared_apps: SharedApps, until: Until, size: Any
) -> None:
    reasons = (replace(LONG, says=LONG.says.strip()), *PROTOCOL.reasons[1:])
    app = settling(
        store, studied(store, protocol=replace(PROTOCOL, reasons=reasons), locale="zh"), shared_apps=shared_apps
    )
    async with shared_apps.at(size) as pilot:
        await queued(pilot, app, until)
        await press(pilot, "a", "1")
        await until(pilot, lambda: room(app).batch_pane.stage == "reason" and "一名标注者的疏忽" in painted(app))
        await press(pilot, "2")
        await until(pilot, lambda: room(app).batch_pane.line.text == "一名标注者的疏忽")
        assert "left open" in painted(app)
