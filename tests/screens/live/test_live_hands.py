"""A developer's gate and hands: every decision is kept with who and how long, and the phone does what was decided."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from textual.widgets import Input

from lab.core.run.step import Action
from lab.core.run.trace import Acting, Paused
from lab.core.run.ui_tree import Node, UiTree
from screens.live.gate import GatePanel, GateRow
from screens.live.session_messages import GatedActionChanged
from screens.live.takeover import TakeOverPanel
from screens.mirror.canvas import Canvas
from screens.mirror.mirror import Mirror
from screens.widgets.tap_choices import NearList
from tests.crossed import IN_SOAK, crossed, soak
from tests.screens.live.conftest import TAP, Slate
from tests.screens.resting import burst
from tests.screens.runs import painted

TYPE = Action("input_text", text="milc")


class SlowSlate(Slate):
    """A phone that performs nothing before `go`."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def perform(self, action: Action) -> None:
        assert self.go.wait(600)
        super().perform(action)


def hint(app: Any) -> str:
    return str(app.live.query_one("#gate-hint").render())


async def gate_open(app: Any, pilot: Any, until: Any, steps: int = 0) -> None:
    """Waits until an action waits at the gate after so many steps, and was seen."""
    panel = app.live.query_one(GatePanel)

    def waits() -> bool:
        waiting = app.session.decisions.waiting
        return len(app.steps) == steps and waiting is not None and panel.proposed == waiting and app.gated

    await until(pilot, waits)


async def test_what_waits_at_the_gate_is_approved_changed_moved_or_rejected_by_keys(
    live: Any, until: Any, cast: Any
) -> None:
    device, first = cast.Slate(), Action("click", at=(1, 1))
    turns = [(cast.TAP, "The first icon."), (TYPE, ""), (first, ""), (first, "")]
    app = live(*turns, *[(cast.TAP, "")] * 3, gate="ask", device=device)
    async with app.run_test(size=(120, 40)) as pilot:
        await gate_open(app, pilot, until)
        await until(pilot, lambda: app.shows("thinks: The first icon."))
        assert not app.events(Acting)
        await pilot.press("a")
        await gate_open(app, pilot, until, 1)
        await pilot.press("e", "tab")
        await until(pilot, lambda: "Enter goes back to what you edit" in hint(app))
        await pilot.press("enter")
        assert app.live.query_one("#gate-text", Input).value == "milc"
        await pilot.press("backspace", "k", "enter")
        await gate_open(app, pilot, until, 2)
        at = await _a_tap_on_the_mirror_says_where_it_should_go(app, pilot, until)
        await gate_open(app, pilot, until, 3)
        await pilot.press("escape")  # the keys stayed with the phone that was tapped
        await burst(pilot, "e", *["backspace"] * 4, *"30, 40", "enter")
        await gate_open(app, pilot, until, 4)
        await _what_is_no_place_is_said(app, pilot)
        await burst(pilot, "tab", *"no")
        assert "Enter goes back to the choices" in hint(app)
        await pilot.press("enter")
        assert app.session.decisions.waiting is not None
        assert len(app.steps) == 4
        done = list(device.did)
        await pilot.press("x")  # one key rejects, with the note that was typed
        await gate_open(app, pilot, until, 5)
        assert device.did == done
        await pilot.press("g")
        await until(pilot, lambda: app.session.over)
        assert not app.session.gate.asking
    decisions = [step.decision for step in app.steps]
    assert [(one.verdict, one.action) for one in decisions[:5]] == [
        ("approve", cast.TAP),
        ("amend", Action("input_text", text="milk")),
        ("amend", Action("click", at=at)),
        ("amend", Action("click", at=(30, 40))),
        ("reject", None),
    ]
    assert decisions[0].by == app.session.person
    assert decisions[0].seconds > 0
    assert decisions[4].note == "no"
    assert device.did[:4] == [one.action for one in decisions[:4]]
    assert [one.note for one in decisions[5:]] == ["no longer gated", "", ""]


async def test_the_keys_come_to_the_next_action_however_late_the_program_is(live: Any, until: Any, cast: Any) -> None:
    """The next action may wait at the gate before the app has got to what it was told when the last one went."""
    app = live((cast.TAP, ""), gate="ask")
    async with app.run_test(size=(120, 40)) as pilot:
        await gate_open(app, pilot, until)
        panel, row = app.live.query_one(GatePanel), app.live.query_one(GateRow)
        assert row.has_focus
        late, opened = asyncio.Event(), asyncio.Event()
        app.call_later(late.wait)
        app.live.post_message(GatedActionChanged(None))
        app.live.post_message(GatedActionChanged(panel.proposed))
        app.live.call_later(row.call_later, row.call_later, opened.set)
        await asyncio.wait_for(opened.wait(), 180)
        late.set()
        await pilot.pause()
        assert row.has_focus
        assert panel.display


async def test_an_edit_that_changes_nothing_approves(live: Any, until: Any) -> None:
    typed, tapped = Action("input_text", text="milk", raw="milk"), Action("click", at=(1, 1), raw="tap 1 1")
    app = live((typed, ""), (tapped, ""), (tapped, ""), gate="ask")
    async with app.run_test(size=(120, 40)) as pilot:
        await gate_open(app, pilot, until)
        await burst(pilot, "e", "enter")
        await gate_open(app, pilot, until, 1)
        await burst(pilot, "e", "enter")
        await gate_open(app, pilot, until, 2)
    decisions = [step.decision for step in app.steps[:2]]
    assert [(one.verdict, one.action) for one in decisions] == [("approve", typed), ("approve", tapped)]


async def _a_tap_on_the_mirror_says_where_it_should_go(app: Any, pilot: Any, until: Any) -> Any:
    mirror = app.live.query_one(Mirror)
    await until(pilot, lambda: mirror.fit is not None and mirror.settled and mirror.interactive)
    column, row = mirror.fit.left + 10, mirror.fit.top + 5
    at = mirror.fit.pixel(column, row)
    await pilot.click(mirror, offset=(column + 1, row + 1))
    near = app.live.query_one("#gate-near", NearList)
    await until(pilot, lambda: near.has_focus and near.count == 4)
    await pilot.press("4", "enter")  # the last line is the very pixel
    return at


async def _what_is_no_place_is_said(app: Any, pilot: Any) -> None:
    await pilot.press("e")
    field = app.live.query_one("#gate-text", Input)
    assert field.cursor_position == len(field.value)  # wherever it stood in what was changed before
    await pilot.press("x", "enter")
    assert "Two numbers are needed" in hint(app)
    await burst(pilot, "ctrl+u", *"9999, 5", "enter")
    assert "This goes to 9999, 5: that is off the screen" in hint(app)
    field.value = f"{'9' * 5000}, 5"
    await pilot.press("enter")
    assert "Two numbers are needed" in hint(app)
    await pilot.press("escape")
    assert not app.live.query_one("#gate-text").display
    assert app.gated


@crossed
async def test_by_keys_or_by_a_near_miss_the_waiting_action_goes_elsewhere_on_a_real_phone(
    live: Any, until: Any, cast: Any
) -> None:
    """After each the phone is sent home again, so that each begins at the same icons.

    In `make test` each is done once, each at another size; in a soak both are at two.
    """
    home, typing = (Action("navigate_home"), ""), (Action("input_text", text="x"), "")
    tap = (cast.TAP, "")
    by_keys, by_digit = (tap, _by_keys_alone_it_goes_elsewhere), (typing, _a_digit_takes_a_near_miss)
    rounds = [(by_keys, (64, 18)), (by_keys, (120, 40)), (by_digit, (120, 40)), (by_digit, (80, 24))]
    rounds = rounds if IN_SOAK else rounds[::2]
    turns = [turn for (waits, _), _ in rounds for turn in (waits, home)]
    app = live(*turns, tap, gate="ask", embedded=True)
    async with app.run_test(size=(64, 18)) as pilot:
        await gate_open(app, pilot, until)
        await until(pilot, lambda: bool(_icons(app)))
        icons = _icons(app)
        await _a_list_that_is_opened_right_after_one_was_left_takes_the_letters(app, pilot, until)
        await pilot.press("escape")
        await until(pilot, lambda: app.shows("1 approve"))
        for number, ((_, elsewhere), size) in enumerate(rounds):
            if app.size != size:
                await pilot.resize_terminal(*size)
            await elsewhere(app, pilot, until)
            await _sent_home(app, pilot, until, 2 * number + 1, icons)
        await pilot.resize_terminal(80, 24)
        await _by_keys_alone_a_person_taps_in_the_agents_place(app, pilot, until)
        app.session.stop()


def _icons(app: Any) -> list[Node]:
    """What can be tapped on the phone's screen as the mirror has it, which is that of a moment ago."""
    return [node for node in app.live._watch.tree.nodes() if node.clickable]


async def _sent_home(app: Any, pilot: Any, until: Any, steps: int, icons: list[Node]) -> None:
    """A screen that the mirror had not yet seen when the next action waited came after the icons, under a click."""
    await gate_open(app, pilot, until, steps)
    await until(pilot, lambda: _icons(app) != icons)
    await pilot.press("a")
    await gate_open(app, pilot, until, steps + 1)
    await until(pilot, lambda: _icons(app) == icons)


async def _a_digit_takes_a_near_miss(app: Any, pilot: Any, until: Any) -> None:
    """What is done is in the middle of what was taken."""
    before, mirror = len(app.steps), app.live.query_one(Mirror)
    await until(pilot, lambda: mirror.fit is not None and mirror.settled and mirror.interactive)
    tree = app.live._watch.tree
    icon = next(node for node in tree.nodes() if node.clickable)
    column, row = (int(f(v)) for f, v in zip((mirror.fit.column, mirror.fit.row), icon.bounds.center, strict=True))
    canvas = mirror.query_one(Canvas)
    app.live.query_one(GatePanel)._tree = UiTree()  # as where the action came before this screen was seen
    await pilot.click(canvas, offset=(mirror.fit.left + column, mirror.fit.top + row))
    near = app.live.query_one("#gate-near", NearList)
    await until(pilot, lambda: near.has_focus)
    assert near.rows[0].hit
    assert near.rows[0].node == icon
    other = near.rows[1].node.bounds.center
    await pilot.press("escape")
    assert not near.display
    await until(pilot, lambda: mirror.interactive)
    await pilot.click(canvas, offset=(mirror.fit.left + column, mirror.fit.top + row))
    await pilot.press("2")
    await until(pilot, lambda: app.shows("2  ") and near.chosen_point == other)
    await pilot.press("enter")
    await until(pilot, lambda: len(app.steps) == before + 1)
    decision = app.steps[before].decision
    assert (decision.verdict, decision.action) == ("amend", Action("click", at=other))


async def _a_list_that_is_opened_right_after_one_was_left_takes_the_letters(app: Any, pilot: Any, until: Any) -> None:
    """The choices that were gone back to took the keys once the app came to it: `e` of `settings` was their edit."""
    panel = app.live.query_one(GatePanel)
    panel._tree = None  # as where the action came before the phone's first picture was read
    panel.list_nodes(None)
    assert "What can be tapped is not read yet." in hint(app)
    await pilot.press("slash")
    await until(pilot, lambda: app.shows("Enter does it there"))

    async def busy() -> None:
        panel.go_back()
        panel.list_nodes(app.live._watch.tree)
        for _ in range(100):
            await asyncio.sleep(0)

    app.call_later(busy)
    await burst(pilot, *"settings")
    await until(pilot, lambda: app.shows("1› Settings") and app.shows("Enter does it there"))


async def _by_keys_alone_it_goes_elsewhere(app: Any, pilot: Any, until: Any) -> None:
    before = len(app.steps)
    await burst(pilot, "slash", *"settings")
    await until(pilot, lambda: app.shows("1› Settings") and app.shows("Enter does it there"))
    await pilot.press("escape")
    await until(pilot, lambda: app.shows("1 approve"))
    await burst(pilot, "slash", *"settings", "enter")
    await until(pilot, lambda: len(app.steps) == before + 1)
    decision = app.steps[before].decision
    assert decision.verdict == "amend"
    assert decision.action.kind == "click"
    assert decision.action.at != TAP.at


async def _by_keys_alone_a_person_taps_in_the_agents_place(app: Any, pilot: Any, until: Any) -> None:
    before = len(app.steps)
    await pilot.press("t")
    await until(pilot, lambda: app.session.turns.waiting is not None)
    await burst(pilot, "slash", *"settings")
    await until(pilot, lambda: app.shows("1› Settings"))
    await burst(pilot, "escape", "slash", *"settings", "enter")
    await until(pilot, lambda: len(app.steps) == before + 2)
    assert app.steps[before + 1].proposed.by == app.session.person
    assert app.steps[before + 1].action.kind == "click"


@soak
async def test_one_step_and_then_the_phone_stands_still(live: Any, until: Any, cast: Any) -> None:
    app = live((Action("ask_user", text="?"), ""), (cast.TAP, ""), (cast.TAP, ""))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.asked)
        await pilot.press("ctrl+x", "7", "enter")
        await until(pilot, lambda: len(app.steps) == 1)
        await pilot.press("s")
        await until(pilot, lambda: len(app.steps) == 2)
        await until(pilot, lambda: len(app.events(Paused)) == 2)
        assert app.events(Paused)[1].reason == "one turn"
        assert app.session.control.paused


async def test_a_person_takes_over_and_gives_back_and_no_other_key_is_promised_for_the_phones_letters(
    live: Any, until: Any, cast: Any
) -> None:
    device = SlowSlate()
    app = live((cast.TAP, "mine"), (cast.TAP, "mine"), gate="ask", device=device)
    async with app.run_test(size=(120, 40)) as pilot:
        await gate_open(app, pilot, until)
        await _while_letters_are_the_phones_no_other_key_is_promised(app, pilot, until)
        await gate_open(app, pilot, until, 1)
        assert not device.did
        mirror = app.live.query_one(Mirror)
        await until(pilot, lambda: mirror.fit is not None and mirror.settled)
        await pilot.press("t")
        await until(pilot, lambda: mirror.interactive)
        assert app.live.query_one(TakeOverPanel).has_class("-open")
        column, row = mirror.fit.left + 10, mirror.fit.top + 5
        await pilot.click(mirror, offset=(column + 1, row + 1))
        mirror_pixel = mirror.fit.pixel(column, row)
        mirror.focus()
        await until(pilot, lambda: "The phone will be yours as soon as this turn ends" in painted(app))
        device.go.set()
        await until(pilot, lambda: len(device.did) == 1)
        await until(pilot, lambda: "Keys type into the phone; Esc comes back to these" in painted(app))
        await pilot.press("o", "y", "enter")  # o means something to the mirror, and here it is a letter
        await until(pilot, lambda: len(device.did) == 2)
        await until(pilot, lambda: app.session.turns.waiting is not None)
        await pilot.press("escape")
        await until(pilot, lambda: app.live.query_one("#hands-row").has_focus and "tab: text to type" in painted(app))
        await pilot.press("b")
        await until(pilot, lambda: len(device.did) == 3)
        await until(pilot, lambda: app.session.turns.waiting is not None)
        await pilot.press("5")
        await until(pilot, lambda: app.gated)
        assert not app.live.query_one(TakeOverPanel).has_class("-open")
        await pilot.press("a")
        await until(pilot, lambda: app.session.over)
    touch, *rest = device.did
    assert touch.kind in ("click", "long_press")  # on a busy machine the test's own finger is slow
    assert touch.at == mirror_pixel
    assert rest == [Action("input_text", text="oy"), Action("navigate_back")]
    assert [step.decision.note for step in app.steps[:2]] == ["took over"] * 2
    assert [step.proposed.by for step in app.steps[2:5]] == [app.session.person] * 3
    assert app.steps[-1].proposed.by is None


async def test_a_run_that_was_left_in_take_over_stands_still_until_the_person_lets_the_agent_go_on(
    live: Any, until: Any, cast: Any
) -> None:
    turns = (cast.TAP, "mine"), (cast.TAP, "mine")
    first = live(*turns, gate="ask")
    async with first.run_test(size=(120, 40)) as pilot:
        await gate_open(first, pilot, until)
        await pilot.press("t")
        await until(pilot, lambda: first.session.turns.waiting is not None and first.live.query_one(Mirror).interactive)
        first.session.turns.answer(first.session.turns.waiting, Action("click", at=(5, 5)))
        await until(pilot, lambda: len(first.steps) == 2 and first.session.turns.waiting is not None)
    trace = first.store.runs.trace(first.session.trace_id)
    device = cast.Slate()
    second = live(*turns, resume=trace, device=device)
    async with second.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: second.shows("left in take-over") and "goes on" in painted(second))
        assert not device.did
        await pilot.press("ctrl+r")
        await until(pilot, lambda: second.session.over)
    by_hand = [step.proposed.by is not None for step in second.store.runs.trace(trace.id).steps]
    assert by_hand[:3] == [False, True, False]


async def _while_letters_are_the_phones_no_other_key_is_promised(app: Any, pilot: Any, until: Any) -> None:
    await pilot.press("t")
    await until(pilot, lambda: app.session.turns.waiting is not None and "g Gate" in footer(app))
    mirror = app.live.query_one(Mirror)
    for part in (mirror, app.live.query_one("#hands-text")):
        part.focus()
        await until(pilot, lambda: "g Gate" not in footer(app) and "f1 Help" in footer(app))
        assert "Take over" not in footer(app)
        assert " o Words" not in footer(app)
    await pilot.press("g", "t", "backspace", "backspace", "escape")
    assert app.session.control.taken_over
    assert app.session.gate.asking
    assert app.live.query_one("#hands-row").has_focus
    await until(pilot, lambda: app.shows("5 give back (t)"))
    await pilot.press("t")
    await until(pilot, lambda: not app.session.control.taken_over)


def footer(app: Any) -> str:
    """The line of keys."""
    return str(list(app.screen._compositor.render_strips())[-1].text)
