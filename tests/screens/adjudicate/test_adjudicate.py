"""The room Adjudicate: the queue, one item beside its run, what keys choose, the reason, and what stays hidden."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import pytest
from msgspec.structs import replace
from textual.binding import Binding

from annotators.protocols import protocol
from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.study.adjudication import Settlement
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Study, Target, Unit, UnitText
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.settling.adjudication import AdjudicationSession
from screens.adjudicate.adjudicate import AdjudicateScreen
from screens.adjudicate.keys import ADJUDICATE_KEYS, SETTLE_KEYS
from screens.adjudicate.settlement_pane import SettlementPane
from screens.annotate.unit_pane import UnitPane
from screens.app import LabApp
from screens.navigation import Opening
from store.store import Store
from tests.blind import found
from tests.crossed import IN_SOAK, crossed
from tests.screens.annotate.watched import Watched
from tests.screens.resting import burst, press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps
from tests.studies import frozen, label

Until = Callable[..., Awaitable[None]]
TDG = protocol("tdg")
TARGETS = tuple(Target(f"n{n}", f"Node {n}: open what belongs to it") for n in (1, 2, 3))
CODES = ("ZR1code", "ZR2code", "ZR3code")
D1 = Actor("human", "D1")
SAID = {"u1": ("ccn", "ccc", "cn?"), "u2": ("ccc", "nnc", "ccc")}
"""By run what the three say of its items: completed, not completed, cannot judge."""
WORDS = {"c": "completed", "n": "not_completed"}
SIZES = [(80, 24), (120, 40), (200, 60)]
_NUMBERS = count(1)


def studied(store: Store, said: dict[str, tuple[str, ...]] | None = None, **more: Any) -> Study:
    """A locked study of the whole run, rated by three people and a judge."""
    answers = SAID if said is None else said
    store.runs.add(whole_run())
    units = [Unit(id, (WHOLE,), targets=TARGETS) for id in answers]
    locked = more.pop("locked", True)
    id = more.pop("id", None) or f"s{next(_NUMBERS)}"  # what is opened at one app is told apart by it
    plan = frozen(store, units, TDG, raters=CODES, id=id, seed=4, **more)
    for one in units:
        for target, words in zip(TARGETS, answers[one.id], strict=True):
            for at, (code, word) in enumerate(zip(CODES, words, strict=True)):
                given: dict[str, Any] = {"rater": Actor("human", code), "evidence": f"{WHOLE}@{at + 2}"}
                given |= {"reason_missing": "cannot_judge"} if word == "?" else {}
                note = f"As {word} says" if target.id == "n1" else ""
                row = label(plan, one, target.id, "state", WORDS.get(word), note=note, **given)
                store.labels.record(plan, one, row)
        judge = Actor("model", "Zjudge")
        store.labels.record(plan, one, label(plan, one, "n1", "state", "not_completed", rater=judge, config_sha="x"))
        for code in CODES:
            store.labels.record_act(Act(uuid7(), id, 1, Actor("human", code), "commit", now(), one.id))
    if locked:
        store.labels.record_act(Act(uuid7(), id, 1, D1, "locked", now()))
    return plan


def copied(store: Store, plan: Study, id: str) -> Study:
    """Another study of the same units, in which the same was said."""
    units = list(store.studies.units(plan))
    other = frozen(store, units, TDG, raters=CODES, id=id, seed=4)
    for one in units:
        for said in store.labels.read(plan, one.id):
            store.labels.record(other, one, replace(said, id=f"{id}-{said.id}", study=id))
        for code in CODES:
            store.labels.record_act(Act(uuid7(), id, 1, Actor("human", code), "commit", now(), one.id))
    store.labels.record_act(Act(uuid7(), id, 1, D1, "locked", now()))
    return other


def settling(store: Store, plan: Study, person: str = "D1", shared_apps: SharedApps | None = None) -> LabApp:
    """The app in the room where that study is settled: the one that tests share, or one of its own."""
    given = Settings(person=person, seat="designer", bell=False)
    opening = Opening("adjudicate", study=plan)
    return LabApp(store, given, opening) if shared_apps is None else shared_apps.open(store, given, opening)


def room(app: LabApp) -> AdjudicateScreen:
    assert isinstance(app.screen, AdjudicateScreen)
    return app.screen


def pane(app: LabApp) -> SettlementPane:
    return room(app).pane


def listed(app: LabApp, count: int = 3) -> bool:
    return isinstance(app.screen, AdjudicateScreen) and room(app).disputes.count == count


def seen(app: LabApp, unit: str, target: str) -> bool:
    case = pane(app).case
    return room(app).shown == "case" and case is not None and (case.unit.id, case.spot.target) == (unit, target)


def stands(store: Store, plan: Study, unit: str, target: str) -> Settlement | None:
    one = store.adjudications.settlements(plan).get((unit, FieldReference(target, "state")))
    return one.what if one is not None else None


async def begun(pilot: Any, app: LabApp, until: Until) -> str:
    """Opens the first of the queue; gives its run."""
    await until(pilot, lambda: listed(app))
    await press(pilot, "enter")
    await until(pilot, lambda: room(app).shown == "case" and pane(app).answers.has_focus)
    case = pane(app).case
    assert case is not None
    return case.unit.id


async def test_the_queue_lists_what_differs(store: Store, shared_apps: SharedApps, until: Until) -> None:
    plan = studied(store)
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: listed(app) and "3 to settle" in painted(app))
        rows = [(row.unit, row.spot.target) for row in room(app).disputes.rows]
        assert set(rows) == {("u1", "n1"), ("u1", "n3"), ("u2", "n2")}
        assert rows in ([*sorted(rows)[:2], ("u2", "n2")], [("u2", "n2"), *sorted(rows)[:2]]), "a run stays together"
        text = painted(app)
        assert "2 completed, 1 not completed" in text
        assert "1 completed, 1 not completed, 1 cannot judge" in text
        headings = [room(app).disputes.heading(width).plain.split() for width in (40, 42, 60, 118)]
        names = ["in", "question", "item", "answers", "moves"]
        assert headings == [[name for name in names if name != "item"], names, names, names]


async def test_a_digit_enter_and_a_reason_settle_and_the_next_comes(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    plan = studied(store, {"u1": SAID["u1"]})
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: listed(app, 2))
        await press(pilot, "enter")
        await until(pilot, lambda: seen(app, "u1", "n1"))
        await press(pilot, "enter")
        await until(pilot, lambda: "Choose what is right first" in painted(app))
        await press(pilot, "2")
        await until(pilot, lambda: "not completed by the adjudicator" in painted(app))
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: "A reason must be said" in painted(app))
        assert store.adjudications.settlements(plan) == {}
        await burst(pilot, *"It was not")
        await press(pilot, "enter")
        await until(pilot, lambda: seen(app, "u1", "n3"))
        what = stands(store, plan, "u1", "n1")
        assert what is not None
        assert (what.value, what.by_means, what.reason) == ("not_completed", "adjudicator", "It was not")
        await until(pilot, lambda: "1 to settle   1 settled" in painted(app))
        await press(pilot, "0", "1", "enter")
        await burst(pilot, *"Too dark")
        await press(pilot, "enter")
        await until(pilot, lambda: "0 to settle   2 settled" in painted(app))
        last = stands(store, plan, "u1", "n3")
        assert last is not None
        assert (last.value, last.reason_missing) == (None, "cannot_judge")


async def test_the_last_reason_stands_ready_and_typing_replaces_it(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    plan = studied(store)
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await begun(pilot, app, until)
        reasons = ("Most of them", "Most of them", "It was late")
        for at, reason in enumerate(reasons):
            await until(pilot, lambda: pane(app).answers.has_focus and not pane(app).typing)
            await press(pilot, "1", "enter")
            await until(pilot, lambda: pane(app).typing == "reason")
            if at:
                await until(pilot, lambda: "as the last one; typing writes another" in painted(app))
            if at != 1:
                await burst(pilot, *reason)
            await press(pilot, "enter")
            await until(pilot, lambda at=at: f"{at + 1} settled" in painted(app))
    assert sorted(one.what.reason for one in store.adjudications.settlements(plan).values()) == sorted(reasons)


async def test_majority_by_one_key_and_a_discussion(store: Store, shared_apps: SharedApps, until: Until) -> None:
    plan = studied(store, {"u2": SAID["u2"]})
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: listed(app, 1))
        await press(pilot, "enter")
        await until(pilot, lambda: seen(app, "u2", "n2"))
        await press(pilot, "m")
        await until(pilot, lambda: "not completed by majority" in painted(app))
        await press(pilot, "1")
        await until(pilot, lambda: "completed by the adjudicator" in painted(app))
        voices = pane(app).answers
        movers = [at for at, voice in enumerate(voices.rows) if voice.said.value == "not_completed"]
        await press(pilot, *(["down"] * movers[0]), "c", "2")
        await until(pilot, lambda: "said that already." in painted(app))
        await press(pilot, "c", "1")
        await burst(pilot, *"slip: missed it")
        await press(pilot, "enter", "d", "4", "enter")
        await until(pilot, lambda: "completed by discussion, 4 min" in painted(app))
        await press(pilot, "enter")
        await burst(pilot, *"Seen")
        await press(pilot, "enter")
        await until(pilot, lambda: stands(store, plan, "u2", "n2") is not None)
        what = stands(store, plan, "u2", "n2")
        assert what is not None
        assert (what.by_means, what.minutes, what.value) == ("discussion", 4.0, "completed")
        moved = voices.rows[movers[0]].said.rater.id
        assert [(one.rater, one.was, one.now, one.code, one.why) for one in what.moves] == [
            (moved, "not_completed", "completed", "slip", "missed it")
        ]
        await until(pilot, lambda: "Settled:" in painted(app) and "(slip, missed it)" in painted(app))


async def test_what_is_settled_is_left_unsettled_with_a_reason(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    plan = studied(store)
    unit = store.studies.unit(plan, "u1")
    store.adjudications.settle(plan, unit, Settlement("n1", "state", "majority", "completed", reason="most"), D1)
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: listed(app))
        await press(pilot, "end", "enter")
        await until(pilot, lambda: seen(app, "u1", "n1") and "Settled:" in painted(app))
        await press(pilot, "z")
        await burst(pilot, *"Wrong run")
        await press(pilot, "enter")
        await until(pilot, lambda: stands(store, plan, "u1", "n1") is None)
        await until(pilot, lambda: "3 to settle   0 settled" in painted(app))


async def test_the_run_goes_to_the_step_of_the_answer_under_the_cursor(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = settling(store, studied(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await begun(pilot, app, until)
        beside = app.screen.query_one(UnitPane)
        for at, voice in enumerate(pane(app).answers.rows):
            await press(pilot, *(["down"] if at else []))
            assert voice.said.label is not None
            await until(pilot, lambda voice=voice: beside.place == voice.said.label.evidence)
        await press(pilot, "left")
        await until(pilot, lambda: beside.place != pane(app).answers.rows[-1].said.label.evidence)  # type: ignore[union-attr]


async def test_esc_goes_back_and_what_was_chosen_stays(store: Store, shared_apps: SharedApps, until: Until) -> None:
    app = settling(store, studied(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        unit = await begun(pilot, app, until)
        await press(pilot, "2", "enter")
        await burst(pilot, *"Half a rea")
        await press(pilot, "escape")
        await until(pilot, lambda: not pane(app).typing and "Half a rea" in painted(app))
        await press(pilot, "escape")
        await until(pilot, lambda: room(app).shown == "queue")
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: pane(app).line.text == "Half a rea")
        case = pane(app).case
        assert case is not None
        assert case.unit.id == unit
        await press(pilot, "escape", "escape", "escape")
        await until(pilot, lambda: app.current_mode == "home")


async def test_what_another_adjudicator_settles_meanwhile_is_told_at_the_item_and_in_the_queue(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    plan = studied(store)
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await begun(pilot, app, until)
        other = AdjudicationSession(store, plan, Actor("human", "D2"))
        for row in room(app).disputes.rows:
            other.settle(other.case(store.studies.unit(plan, row.unit), row.spot), "completed", reason="Seen.")
        await press(pilot, "n")
        await until(pilot, lambda: "Settled: completed" in painted(app) and "2 to settle   1 settled" in painted(app))
        await press(pilot, "escape")
        await until(pilot, lambda: room(app).shown == "queue" and "0 to settle   3 settled" in painted(app))


async def test_what_another_settles_while_a_reason_is_typed_is_told_and_not_overruled(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    plan = studied(store)
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await begun(pilot, app, until)
        await press(pilot, "1", "enter")
        await burst(pilot, *"Mine")
        row = room(app).disputes.rows[0]
        other = AdjudicationSession(store, plan, Actor("human", "D2"))
        other.settle(other.case(store.studies.unit(plan, row.unit), row.spot), "not_completed", reason="Theirs.")
        await press(pilot, "enter")
        await until(pilot, lambda: "Meanwhile another one settled it" in painted(app) and "Theirs." in painted(app))
        assert [one.by.id for one in store.adjudications.settlements(plan, row.unit).values()] == ["D2"]
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: [one.by.id for one in store.adjudications.settlements(plan).values()] == ["D1"])


async def test_what_was_chosen_in_one_study_is_not_chosen_in_another_of_the_same_runs(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    first = studied(store, {"u1": SAID["u1"]})
    other = copied(store, first, "other")
    app = settling(store, first, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: listed(app, 2))
        await press(pilot, "enter", "2", "enter")
        await burst(pilot, *"It was late")
        await press(pilot, "enter")
        await until(pilot, lambda: seen(app, "u1", "n3"))
        await press(pilot, "1", "enter")
        await burst(pilot, *"Half a rea")
        await press(pilot, "escape")
        app.open_numbers(other, "adjudicate")
        await until(pilot, lambda: listed(app, 2) and room(app).shown == "queue" and "0 settled" in painted(app))
        await press(pilot, "down", "enter")
        await until(pilot, lambda: seen(app, "u1", "n3") and pane(app).answers.has_focus)
        assert pane(app).draft.has_choice is False
        assert "Half a rea" not in painted(app)
        await press(pilot, "2", "enter")
        await until(pilot, lambda: pane(app).typing == "reason")
        assert pane(app).line.text == ""
        await press(pilot, "escape")
        app.open_numbers(first, "adjudicate")
        await until(pilot, lambda: "1 settled" in painted(app) and room(app).disputes.has_focus)
        room(app).disputes.go([row.spot.target for row in room(app).disputes.rows].index("n3"))
        await press(pilot, "enter")
        await until(pilot, lambda: seen(app, "u1", "n3") and "Half a rea" in painted(app))


async def test_judges_stand_beside_people_on_request(store: Store, until: Until) -> None:
    plan = studied(store, {"u1": ("ccn", "ccc", "ccc")})
    app = settling(store, plan)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: listed(app, 1))
        await press(pilot, "enter")
        await until(pilot, lambda: seen(app, "u1", "n1"))
        assert "J1" not in painted(app)
        await press(pilot, "J")
        await until(pilot, lambda: "J1" in painted(app))
        await press(pilot, "end", "c")
        await until(pilot, lambda: "A judge does not discuss" in painted(app))
        await press(pilot, "1", "enter", "x", "enter")
        await until(pilot, lambda: stands(store, plan, "u1", "n1") is not None)
        what = stands(store, plan, "u1", "n1")
        assert what is not None
        assert what.judges_seen


async def test_judges_that_were_not_looked_at_are_kept_so(store: Store, shared_apps: SharedApps, until: Until) -> None:
    plan = studied(store, {"u1": ("ccn", "ccc", "ccc")})
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: listed(app, 1))
        await press(pilot, "enter", "1", "enter", "x", "enter")
        await until(pilot, lambda: stands(store, plan, "u1", "n1") is not None)
        what = stands(store, plan, "u1", "n1")
        assert what is not None
        assert not what.judges_seen


@pytest.mark.parametrize("seat", ["rater", "participant"])
def test_no_such_room_is_there_for_who_rates(store: Store, seat: Any) -> None:
    plan = studied(store)
    with pytest.raises(LabError, match="is not there for the seat"):
        LabApp(store, Settings(person="ZR1code", seat=seat), Opening("adjudicate", study=plan))


async def test_who_rated_the_unit_is_told_so_and_settles_nothing(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    plan = studied(store)
    app = settling(store, plan, person=CODES[0], shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await begun(pilot, app, until)
        await until(pilot, lambda: "rated it; who settles it is somebody else" in painted(app).replace("\n", " "))
        await press(pilot, "1", "m", "enter")
        assert not pane(app).typing
        assert not pane(app).draft.has_choice
    assert store.adjudications.settlements(plan) == {}


async def test_who_still_rates_sees_no_answer(store: Store, shared_apps: SharedApps, until: Until) -> None:
    plan = studied(store, locked=False)
    more = Unit("u3", (WHOLE,), targets=TARGETS)
    later = frozen(store, [more], TDG, raters=CODES, id="later")
    app = settling(store, later, person=CODES[0], shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: "rates in it and is not done" in painted(app))
        assert room(app).disputes.count == 0
    assert store.adjudications.settlements(plan) == {}


@crossed
@pytest.mark.parametrize("turn", range(len(SIZES)) if IN_SOAK else [0])
async def test_nobody_is_named_before_it_is_decided(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    """All that was painted, toasted or copied, through every key of the room, a third of them in each size."""
    plan = studied(store)
    app, watched = settling(store, plan), Watched(monkeypatch)
    hidden = [*CODES, "Zjudge"]
    keys = [binding.key.split(",")[0] for binding in (*SETTLE_KEYS, *ADJUDICATE_KEYS) if isinstance(binding, Binding)]
    assert len(keys) > 20
    async with app.run_test(size=SIZES[turn], notifications=True) as pilot:
        await begun(pilot, app, until)
        for number, key in enumerate(key for key in keys if key != "escape"):
            size = SIZES[(turn + number * len(SIZES) // len(keys)) % len(SIZES)]
            if app.size != size:
                await pilot.resize_terminal(*size)
                watched.look(app)
            await press(pilot, key)
            watched.look(app)
            while len(app.screen_stack) > 1 or pane(app).typing or pane(app).menu.display:
                await press(pilot, "escape")
            if room(app).shown == "queue":
                await press(pilot, "enter")
        assert app.size == SIZES[(turn + 2) % len(SIZES)]
        await press(pilot, "escape", "f2", "f7")
        watched.look(app)
        assert found(["A  ", "completed"], watched.text)
        assert found(hidden, watched.text) == set()
        await press(pilot, "enter", "1", "enter", "x", "enter")
        await until(pilot, lambda: bool(store.adjudications.settlements(plan)))
        watched.look(app)
    assert found(hidden, watched.text) == set()


async def test_once_all_of_a_run_is_decided_codes_are_shown_where_the_study_does_not_hide_them(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = studied(store, {"u1": SAID["u1"]}, blind=("people", "models", "method", "outcome"))
    app, watched = settling(store, plan), Watched(monkeypatch)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: listed(app, 2))
        await press(pilot, "enter", "1", "enter", "x", "enter")
        await until(pilot, lambda: seen(app, "u1", "n3"))
        await press(pilot, "p")
        watched.look(app)
        assert found(CODES, watched.text) == set(), "another item of the run is still open"
        await press(pilot, "n", "1", "enter", "x", "enter")
        await until(pilot, lambda: all(code in painted(app) for code in CODES))


async def test_a_study_on_which_all_agree_and_one_without_answers(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    agreed = studied(store, {"u1": ("ccc", "ccc", "ccc")})
    empty = frozen(store, [Unit("e1", (WHOLE,), targets=TARGETS)], TDG, raters=("R7", "R8"), id="empty")
    app = settling(store, agreed, shared_apps=shared_apps)
    async with shared_apps.at((80, 24)) as pilot:
        await until(pilot, lambda: "People differ on nothing that is handed in" in painted(app))
        app.open_numbers(empty, "adjudicate")
        await until(
            pilot, lambda: "differ on nothing that is handed in" in painted(app) and room(app).session is not None
        )
        await press(pilot, "enter", "1", "n")
        assert room(app).shown == "queue"


async def test_a_number_is_typed(store: Store, shared_apps: SharedApps, until: Until) -> None:
    share = Field("share", "How much was done?", "interval", least=0, most=100, step=1)
    plan = frozen(store, [Unit("u1", ("gone",))], Protocol("share", "Share", "run", (share,)), raters=CODES[:2], id="n")
    unit = store.studies.unit(plan, "u1")
    for code, value in zip(CODES, (40, 90), strict=False):
        store.labels.record(plan, unit, label(plan, unit, "", "share", value, rater=Actor("human", code)))
    store.labels.record_act(Act(uuid7(), "n", 1, D1, "locked", now()))
    for code in CODES[:2]:
        store.labels.record_act(Act(uuid7(), "n", 1, Actor("human", code), "commit", now(), "u1"))
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: listed(app, 1))
        await press(pilot, "enter", "8", "0", "5", "enter")
        await until(pilot, lambda: "805 is not" in painted(app))
        await press(pilot, "backspace", "enter")
        await until(pilot, lambda: "80 by the adjudicator" in painted(app))
        await press(pilot, "enter", "y", "enter")
        await until(pilot, lambda: bool(store.adjudications.settlements(plan)))
    assert [one.what.value for one in store.adjudications.settlements(plan).values()] == [80]


async def test_beside_texts_no_key_of_a_run_is_offered(store: Store, shared_apps: SharedApps, until: Until) -> None:
    given = (UnitText("One", items=("Left words",), side="A"), UnitText("Two", items=("Right words",), side="B"))
    plan = frozen(store, [Unit("u1", given=given)], protocol("pairwise-sets"), raters=CODES[:2], id="sets")
    unit = store.studies.unit(plan, "u1")
    for code, value in zip(CODES, "AB", strict=False):
        for field in plan.protocol.fields:
            store.labels.record(plan, unit, label(plan, unit, "", field.id, value, rater=Actor("human", code)))
        store.labels.record_act(Act(uuid7(), "sets", 1, Actor("human", code), "commit", now(), "u1"))
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: listed(app, 3))
        await press(pilot, "enter")
        await until(pilot, lambda: "Left words" in painted(app) and "A digit chooses" in painted(app))
        enabled = {found.binding.action for found in app.screen.active_bindings.values() if found.enabled}
        assert "turn(1)" in enabled
        assert not enabled & {"step(1)", "question(1)", "side", "view", "after", "closely", "overlay"}


def test_every_key_has_an_id_and_a_tooltip() -> None:
    keys = [key for key in (*SETTLE_KEYS, *ADJUDICATE_KEYS) if isinstance(key, Binding)]
    assert all(key.id and key.tooltip for key in keys)
    shown = [key for key in keys if key.show]
    assert len(shown) <= 9
