"""Two runs side by side in the app: opened at the first difference, jumped through, replayed from, at three sizes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import structs
from textual.binding import Binding

from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import Ended, Started, Step
from lab.core.settings import Settings
from lab.core.task.task import Actor, Task
from lab.runs.replay.comparison import compare, sign_of
from screens.app import LabApp
from screens.compare.compare import CompareScreen, StepPairList, fit_both
from screens.compare.keys import KEYS
from screens.mirror.mirror import Mirror
from screens.navigation import Opening
from screens.replay.replay import ReplayScreen
from screens.runs.runs import RunsScreen
from store.store import Store
from tests.screens.compare.sample_pair import ONE, OTHER, THIRD, bare, one, other
from tests.screens.resting import rests
from tests.screens.runs import WAITING, painted

BESIDE_NO_PHONE = (110, 40)
"""Where the list stands alone: what is not about the phones need not paint them."""
ACTIONS = {binding.key: binding.action for binding in KEYS if isinstance(binding, Binding)}
Until = Callable[..., Awaitable[None]]


@pytest.fixture
def filled(store: Store) -> Store:
    store.runs.add_all([one(), other(), bare()])
    return store


class Compare(LabApp):
    """An app that opens two runs at once."""

    def __init__(self, store: Store, left: str = ONE, right: str = OTHER) -> None:
        super().__init__(store, Settings(), Opening("compare"))
        self._two = left, right

    async def on_mount(self) -> None:
        self.open_compare(*self._two)


def room(app: LabApp) -> CompareScreen:
    assert isinstance(app.screen, CompareScreen)
    return app.screen


def ready(app: LabApp) -> bool:
    """Whether both runs stand there and what was last looked at is shown."""
    if not isinstance(app.screen, CompareScreen) or app.screen.compared is None:
        return False
    return not any(places.busy for places in app.screen._places) and all(page.border_title for page in app.screen.pages)


def test_steps_answer_one_another_and_a_reply_is_a_difference(filled: Store) -> None:
    compared = compare(filled, ONE, OTHER)
    assert [sign_of(compared, i) for i in range(len(compared.pairs))] == ["=", "≠", "→", "≠", "≠", "=", "=", "≠"]
    assert [(p.left, p.right) for p in compared.pairs] == [
        (0, 0), (1, 1), (None, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7),
    ]  # fmt: skip
    assert compared.starts == [1, 7]
    assert compared.words(1) == ('tap "Search"', 'type "milk"')
    assert compared.words(2) == ("no step", "back")
    assert compared.words(3) == ('ask "Small or large?" → "large"', 'ask "Small or large?" → "small"')
    assert compared.words(7) == ("end: score 1.00, completed", "end: score 0.50, completed")
    assert compared.left.facts == "score 1.00   completed   6 steps   6,120 tokens   $0.0600"
    swapped, again = compared.swapped(), compare(filled, OTHER, ONE)
    assert (swapped.pairs, swapped.starts) == (again.pairs, again.starts)


def test_a_run_beside_itself_is_the_same_and_an_open_one_has_no_end(filled: Store) -> None:
    compared = compare(filled, ONE, ONE)
    assert compared.first_difference is None
    assert all(pair.same for pair in compared.pairs)
    beside = compare(filled, ONE, THIRD)
    assert not beside.same_task
    assert beside.words(len(beside.pairs) - 1) == ("end: score 1.00, completed", "no step")
    assert beside.right.facts == "no score   open   2 steps"


async def test_after_the_last_difference_the_key_that_leads_back_is_told(store: Store, until: Until) -> None:
    changed = one(trace=OTHER)
    typed = changed.events[2]
    assert isinstance(typed, Step)
    changed.events[2] = structs.replace(typed, proposed=Proposed(Action("input_text", text="milk")))
    store.runs.add_all([one(), changed])
    app = Compare(store)
    async with app.run_test(size=BESIDE_NO_PHONE) as pilot:
        await until(pilot, lambda: ready(app) and "the first difference" in painted(app))
        await pilot.press("up")
        await until(pilot, lambda: "n: the difference" in painted(app))
        await pilot.press("down", "down")
        await until(pilot, lambda: "p: the difference" in painted(app))


def test_the_question_that_a_run_stands_at_is_compared_and_is_no_step_yet(full: Store) -> None:
    compared = compare(full, WAITING, WAITING)
    assert len(compared.pairs) == 2
    assert compared.left.facts == "no score   open   1 step"


def test_long_words_of_one_run_leave_room_for_the_other() -> None:
    assert fit_both(("ask a", "ask b"), 40) == ("ask a", "ask b")
    assert fit_both(("x" * 90, "back"), 40) == ("x" * 35 + "…", "back")
    assert fit_both(("back", "x" * 90), 40) == ("back", "x" * 35 + "…")
    assert fit_both(("x" * 90, "界" * 90), 40) == ("x" * 19 + "…", "界" * 9 + " …")


async def test_it_opens_at_the_first_difference_and_says_it(filled: Store, until: Until) -> None:
    app = Compare(filled)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "the first difference" in painted(app))
        seen = painted(app)
        for words in (
            "Compare   The usual lunch",
            "left   model A   score 1.00   completed   6 steps   6,120 tokens   $0.0600   c1",
            "right  model B   score 0.50   completed   7 steps",
            'the first difference:  tap "Search"  /  type "milk"',
            "Steps  2/7",
            "2 differences",
            "model A thinks 2.",
            "model B thinks 2.",
            "Left  step 2",
        ):
            assert words in seen
        line = next(line for line in seen.splitlines() if "►≠" in line)
        assert 'tap "Search"' in line
        assert 'type "milk"' in line


async def test_keys_go_through_the_differences_and_the_sides_stay_apart(filled: Store, until: Until) -> None:
    app = Compare(filled)
    async with app.run_test(size=BESIDE_NO_PHONE, notifications=True) as pilot:
        await until(pilot, lambda: ready(app) and "Steps  2/7" in painted(app))
        await pilot.press("n")
        await until(
            pilot, lambda: ready(app) and "difference 2 of 2:" in painted(app) and "Left  the end" in painted(app)
        )
        assert "basket" not in painted(app)
        await pilot.press("n")
        await until(pilot, lambda: "No further difference." in painted(app))
        await pilot.press("p")
        await until(pilot, lambda: "the first difference" in painted(app))
        await pilot.press("p")
        await until(pilot, lambda: "No difference before this." in painted(app))
        await pilot.press("k")
        await until(pilot, lambda: "the same in both   n: the next of 2 differences" in painted(app))
        await pilot.press("d", "j")
        await until(pilot, lambda: ready(app) and "Left  no step here" in painted(app))
        assert "Only the other run" in painted(app)
        assert "difference 1 of 2:  no step  /  back" in painted(app)
        await pilot.press("s")
        await until(pilot, lambda: ready(app) and "Right  no step here" in painted(app))
        assert "left   model B" in painted(app)
        await pilot.press("y")
        assert app.clipboard == f"{OTHER} {ONE}"


async def test_either_run_is_replayed_at_its_step_and_escape_comes_back(filled: Store, until: Until) -> None:
    app = Compare(filled)
    async with app.run_test(size=BESIDE_NO_PHONE) as pilot:
        await until(pilot, lambda: ready(app) and "Steps  2/7" in painted(app))
        for _ in range(2):
            await pilot.press("j")
        for key, title in (("enter", "Steps  3/6"), ("r", "Steps  4/7")):
            await pilot.press(key)
            await until(pilot, lambda title=title: isinstance(app.screen, ReplayScreen) and title in painted(app))
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, CompareScreen) and "Steps  4/7" in painted(app))
        assert {"v": "replay(0)", "r,shift+enter": "replay(1)"}.items() <= ACTIONS.items()
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))


async def test_phones_stand_beside_the_list_where_there_is_room(filled: Store, until: Until) -> None:
    app = Compare(filled)
    async with app.run_test(size=(119, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        assert not any(phone.is_on_screen for phone in room(app).phones)
        await pilot.resize_terminal(140, 44)
        await until(pilot, lambda: all(phone.is_on_screen for phone in room(app).phones))
        await rests(pilot, lambda: ready(app) and painted(app).count("Milk") >= 2)
        assert [phone.mirror.border_title for phone in room(app).phones] == ["Left  step 2", "Right  step 2"]
        await pilot.press("b")
        await until(pilot, lambda: room(app).phones[0].mirror.border_title == "Left  step 2, after")
        await pilot.press("o")
        await rests(pilot, lambda: "Milk" not in painted(app))


async def test_two_tasks_hostile_names_and_no_screens(filled: Store, until: Until) -> None:
    app = Compare(filled, THIRD, ONE)
    async with app.run_test(size=(160, 50)) as pilot:
        await rests(pilot, lambda: ready(app) and "two tasks: " in painted(app))
        assert "[bold red]not bold[/] \\x1b[31mred\\x1b]0;title\\x07" in painted(app)
        for _ in range(8):
            await pilot.press("j")
        await rests(pilot, lambda: ready(app) and "end: score 1.00, completed" in painted(app))
        assert "\x1b" not in painted(app)


async def test_a_run_without_steps_or_one_that_is_gone_is_said(filled: Store, until: Until) -> None:
    started = Started(trace="e", task=Task("t", "general", instruction="x"), agent=Actor("script", "a"))
    filled.runs.add(Imported(number_events([started]), {}, []))
    app = Compare(filled, "e", "e")
    async with app.run_test(size=BESIDE_NO_PHONE) as pilot:
        await until(pilot, lambda: "Neither run has a step." in painted(app))
        for key in ("n", "p", "enter", "r", "d", "b", "s", "y", "end", "j"):
            await pilot.press(key)
        app.open_compare("e", ONE)
        await until(pilot, lambda: ready(app) and "Steps  1/6" in painted(app))
        app.open_compare(ONE, "nowhere")
        await until(pilot, lambda: "run nowhere: is not in" in painted(app))
        app.open_compare(ONE, ONE)
        await until(pilot, lambda: "Both did the same" in painted(app))


async def test_without_two_runs_it_names_the_key(filled: Store, until: Until) -> None:
    app = LabApp(filled, Settings(), Opening("compare"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "c on two runs in Runs (F11) opens them" in painted(app))
        for key in ("n", "p", "enter", "r", "d", "b", "s", "y", "o", "right_square_bracket"):
            await pilot.press(key)
        await pilot.press("f11")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))


async def test_a_run_with_an_end_and_no_step(filled: Store, until: Until) -> None:
    task = Task("t", "general", instruction="x")
    events = [Started(trace="f", task=task, agent=Actor("script", "a")), Ended(status="failed", reason="crashed")]
    filled.runs.add(Imported(number_events(events), {}, []))  # type: ignore[arg-type]
    app = Compare(filled, "f", ONE)
    async with app.run_test(size=BESIDE_NO_PHONE) as pilot:
        await until(pilot, lambda: ready(app) and "Steps  1/6" in painted(app))
        await pilot.press("end")
        await until(pilot, lambda: ready(app) and "Left  the end" in painted(app))
        assert "end: failed" in painted(app)


async def test_the_footer_has_its_verbs_and_those_of_phones_only_beside_phones(filled: Store, until: Until) -> None:
    def titles() -> set[str]:
        return {command.title for command in app.get_system_commands(app.screen)}

    app = Compare(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        verbs = ("Difference", "Previous", "Replay right", "Swap", "Copy ids", "Help")
        await until(pilot, lambda: all(verb in painted(app).splitlines()[-1] for verb in verbs))
        assert "After" not in painted(app).splitlines()[-1]
        assert {"Replay left", "First difference", "Back"} <= titles()
        assert not {"After", "Text on phones"} & titles()
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "After" in painted(app).splitlines()[-1])
        assert "Text on phones" in titles()
        assert "4 % of the screen" in StepPairList.HELP


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
def test_compare_looks_as_it_did(filled: Store, snap_compare: Any, size: tuple[int, int]) -> None:
    app = Compare(filled)

    async def settle(pilot: Any) -> None:
        await rests(pilot, lambda: ready(app) and "the first difference" in painted(app) and _drawn(app))

    assert snap_compare(app, terminal_size=size, run_before=settle)


def _drawn(app: LabApp) -> bool:
    return all(not mirror.empty for mirror in app.screen.query(Mirror) if mirror.is_on_screen and mirror.size.area)
