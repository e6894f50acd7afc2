"""Recording a demonstration: an act is held, put into words, done; slips are flagged; the end is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import events

from lab.core.run.step import Action
from lab.core.run.trace import Ended, Flagged, Started
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.seams import Trouble
from lab.core.settings import UNNAMED
from lab.core.task.task import Actor
from screens.mirror.mirror import Mirror
from screens.replay.replay import ReplayScreen
from tests.screens.record.conftest import Board
from tests.screens.resting import burst

SIZE = (120, 40)


async def ready(app: Any, pilot: Any, until: Any, steps: int = 0) -> None:
    """The phone is the person's, after so many steps."""
    await until(pilot, lambda: app.is_running and app.desk.ready and app.listed.count == steps)


def touch(app: Any, at: tuple[int, int]) -> None:
    mirror = app.record.query_one(Mirror)
    mirror.post_message(Mirror.Tapped(mirror, at, False))


async def test_acts_are_held_until_their_words_are_confirmed(recording: Any, until: Any, board: Board) -> None:
    """A touch, what is typed over the phone, what words find, keys in one burst: nothing is done before Enter."""
    app = recording()
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await ready(app, pilot, until)
        await _a_touch_is_held(app, pilot, until, board)
        await _typing_over_the_phone_gathers_into_one_act(app, pilot, until, board)
        await _keys_in_one_burst_go_where_the_one_before_has_put_the_focus(app, pilot, until)
        await _a_phone_that_moved_on_is_told_of(app, pilot, until, board)
        await _what_could_not_be_done_is_said(app, pilot, until, board)
        await pilot.resize_terminal(80, 24)
        await _what_can_be_tapped_is_found(app, pilot, until, board)
        await pilot.resize_terminal(*SIZE)
        await _paused_it_keeps_what_is_held(app, pilot, until)
    events = list(app.store.runs.events(app.run_under_test.trace_id))
    assert isinstance(events[-1], Ended)
    assert events[-1].status == "stopped"


async def _a_touch_is_held(app: Any, pilot: Any, until: Any, board: Board) -> None:
    mirror = app.record.query_one(Mirror)
    await until(pilot, lambda: mirror.fit is not None and mirror.settled)
    column, row = mirror.fit.left + mirror.fit.cols // 2, mirror.fit.top + mirror.fit.rows * 360 // 1200
    await pilot.click(mirror, offset=(column + 1, row + 1))
    await until(pilot, lambda: "Noor Haddad" in app.line)
    assert not board.did
    assert app.desk.held.at == mirror.fit.pixel(column, row)
    touch(app, (470, 950))  # another touch takes its place
    await until(pilot, lambda: app.line == "Tap Send")
    await pilot.press("escape")
    assert app.desk.held is None
    touch(app, (470, 950))
    await until(pilot, lambda: app.line == "Tap Send")
    await burst(pilot, *", now", "enter")
    await until(pilot, lambda: app.steps)
    await ready(app, pilot, until, 1)
    assert app.shows("Tap Send, now")
    assert app.desk.has_focus_within
    assert board.did == [Action("click", at=(470, 950))]
    (step,) = app.steps
    assert (step.proposed.instruction, step.proposed.by) == ("Tap Send, now", Actor("human", UNNAMED))
    assert step.before.tree is not None
    assert step.before.activity == "com.lab.chat/.List"
    first = next(app.store.runs.events(app.run_under_test.trace_id))
    assert isinstance(first, Started)
    assert first.agent == Actor("human", UNNAMED)
    assert (first.task.place, first.task.budget, first.conditions.quick) == ("residence", 500, False)


async def _typing_over_the_phone_gathers_into_one_act(app: Any, pilot: Any, until: Any, board: Board) -> None:
    mirror = app.record.query_one(Mirror)
    mirror.focus()
    await pilot.press("o", "v", "h")  # the mirror's own letters are letters here
    mirror.post_message(Mirror.Typed(mirror, "你好 it's"))
    await until(pilot, lambda: app.line == "Type ovh你好 it's in Amount")
    assert app.focused is mirror
    await burst(pilot, "tab", "end", *" too", "enter")
    await ready(app, pilot, until, 2)
    mirror.focus()
    await pilot.press("x", "backspace")
    await until(pilot, lambda: app.desk.held is None)
    await pilot.press("enter")
    await until(pilot, lambda: app.line == "Press enter")
    assert board.did[1:] == [Action("input_text", text="ovh你好 it's")]
    assert app.instructions[1:] == ["Type ovh你好 it's in Amount too"]


BURSTS = [
    ("/noor\r, then", Action("click", at=(270, 360)), "Tap Noor Haddad, then"),
    ("/1\x1b/2 now", Action("click", at=(200, 960)), "Tap the field Amount now"),
    ("/send\r\x1btMove, please\r", Action("input_text", text="Move, please"), "Type Move, please in Amount"),
    ("ficno such app\r", Action("status", status="infeasible", text="cannot-complete"), None),
]


async def _keys_in_one_burst_go_where_the_one_before_has_put_the_focus(app: Any, pilot: Any, until: Any) -> None:
    for keys, held, line in BURSTS:
        await _nothing_is_held(app, pilot, until)
        for key in keys:
            name = {"\r": "enter", "\x1b": "escape", "/": "slash"}.get(key, key)
            app.post_message(events.Key(name, key if key.isprintable() else None))
        await until(pilot, lambda held=held, line=line: app.desk.held == held and line in (None, app.line))
    await _nothing_is_held(app, pilot, until)


async def _nothing_is_held(app: Any, pilot: Any, until: Any) -> None:
    """Lets go what is held, back to where each key is an act of its own."""
    while app.desk.held is not None or app.desk.stage != "keys":
        await pilot.press("escape")
    await until(pilot, lambda: app.desk.ready and app.desk.has_focus_within)


async def _what_can_be_tapped_is_found(app: Any, pilot: Any, until: Any, board: Board) -> None:
    before = app.listed.count
    await burst(pilot, "slash", *"noor")
    await until(pilot, lambda: app.shows("1› Noor Haddad"))
    await pilot.press("enter")
    await until(pilot, lambda: app.line == "Tap Noor Haddad")
    await pilot.press("ctrl+t", "ctrl+t")
    await until(pilot, lambda: app.line == "Hold Noor Haddad")
    await pilot.press("enter")
    await ready(app, pilot, until, before + 1)
    assert board.did[-1].kind == "long_press"
    done = list(board.did)
    await pilot.press("slash", "3")
    await until(pilot, lambda: app.line == "Tap Send")
    await pilot.press("escape", "slash", "down", "escape")
    assert app.desk.stage == "keys"
    await burst(pilot, "slash", *"nowhere")
    await until(pilot, lambda: app.shows("Nothing fits these words."))
    await pilot.press("escape")
    assert board.did == done


async def _a_phone_that_moved_on_is_told_of(app: Any, pilot: Any, until: Any, board: Board) -> None:
    done, before = list(board.did), app.listed.count
    touch(app, (470, 950))
    await until(pilot, lambda: app.line == "Tap Send")
    shown = app.record._watch.tree
    app.record._watch.tree = UiTree((Node(Bounds(0, 0, 540, 1200), "Call Noor", clickable=True),))
    await pilot.press("enter")
    await until(pilot, lambda: app.shows("The phone has moved on"))
    assert board.did == done
    assert app.line == "Tap Call Noor"
    await pilot.press("enter")
    await until(pilot, lambda: app.instructions[before:] == ["Tap Call Noor"])
    app.record._watch.tree = shown
    await ready(app, pilot, until, before + 1)


async def _what_could_not_be_done_is_said(app: Any, pilot: Any, until: Any, board: Board) -> None:
    before = app.listed.count
    board.fails = "there is no app 'Nots'."
    await burst(pilot, "o", *"Nots", "enter", "enter")
    await ready(app, pilot, until, before + 1)
    await until(pilot, lambda: app.shows("there is no app 'Nots'"))
    assert app.shows(f"{before + 1} ! Open Nots")
    board.fails = ""


async def _paused_it_keeps_what_is_held(app: Any, pilot: Any, until: Any) -> None:
    before = app.listed.count
    touch(app, (470, 950))
    await until(pilot, lambda: app.line == "Tap Send")
    await pilot.press("ctrl+x")
    await until(pilot, lambda: app.shows("‖ paused"))
    assert not app.record.query_one(Mirror).interactive
    await pilot.press("enter")
    await until(pilot, lambda: app.shows("not yours"))
    assert app.desk.held is not None
    await pilot.press("ctrl+r")
    await ready(app, pilot, until, before)
    await pilot.press("enter")
    await ready(app, pilot, until, before + 1)
    await pilot.press("ctrl+x")
    await until(pilot, lambda: app.shows("‖ paused") and app.shows("The phone stands still."))
    await pilot.press("ctrl+x")
    await until(pilot, lambda: app.session.over and app.shows("Unfinished"))


async def test_every_key_of_the_phone_is_an_act_with_words_and_that_it_is_impossible_has_a_code(
    recording: Any, until: Any, board: Board
) -> None:
    app = recording()
    wanted = [
        (["b"], Action("navigate_back"), "Go back"),
        (["2"], Action("navigate_home"), "Go to the home screen"),
        (["r"], Action("press_recent"), "Open the recent apps"),
        (["4"], Action("keyboard_enter"), "Press enter"),
        (["t", "7", "ctrl+j", "8", "enter"], Action("input_text", text="7\n8"), "Type 7⏎8 in Amount"),
        (["o", *"Notes", "enter"], Action("open_app", app="Notes"), "Open Notes"),
        (["s"], Action("scroll", at=(270, 550), direction="down"), "Scroll down in the list of chats"),
        (["s", "ctrl+t"], Action("scroll", at=(270, 550), direction="up"), "Scroll up in the list of chats"),
        (["w", "ctrl+t"], Action("wait", ms=3000), "Wait"),
    ]
    async with app.run_test(size=SIZE) as pilot:
        for number, (keys, _, said) in enumerate(wanted):
            await ready(app, pilot, until, number)
            await pilot.press(*keys)
            await until(pilot, lambda said=said: app.line == said and app.desk.stage == "line")
            await pilot.press("enter")
        await ready(app, pilot, until, len(wanted))
        await pilot.resize_terminal(80, 24)
        await _it_is_impossible(app, pilot, until, quick=False)
    assert board.did == [action for _, action, _ in wanted]
    assert app.instructions[:-1] == [said for _, _, said in wanted]


async def _it_is_impossible(app: Any, pilot: Any, until: Any, *, quick: bool) -> None:
    await burst(pilot, "f", "i", "a", "escape", "2", *"No such field.", "enter", *([] if quick else ["enter"]))
    await until(pilot, lambda: app.session.over and app.shows("The recording is over"))
    step = app.steps[-1]
    assert step.action == Action("status", status="infeasible", text="cannot-complete")
    assert (step.proposed.thought, step.proposed.instruction) == ("No such field.", "Report that this is impossible")


async def test_quick_acts_at_once_and_a_slip_is_flagged_and_taken_back(
    recording: Any, until: Any, board: Board
) -> None:
    app = recording(quick=True)
    async with app.run_test(size=SIZE) as pilot:
        for number in range(3):
            await ready(app, pilot, until, number)
            touch(app, (470, 950))
        await ready(app, pilot, until, 3)
        await pilot.press("x")
        await until(pilot, lambda: app.listed.slips == {2})
        assert app.shows("slip")
        app.listed.focus()
        await pilot.press("up", "x")
        await until(pilot, lambda: app.listed.slips == {1, 2})
        await pilot.press("x")
        await until(pilot, lambda: app.listed.slips == {2})
        mirror = app.record.query_one(Mirror)
        mirror.post_message(Mirror.Wheeled(mirror, (200, 500), "down"))
        await ready(app, pilot, until, 4)
        mirror.focus()
        await burst(pilot, *"helq", "backspace", "o", "enter")  # typed over the phone, it is held until Enter
        await ready(app, pilot, until, 5)
        assert board.did[-1] == Action("input_text", text="helo")
        await pilot.resize_terminal(80, 24)
        await pilot.press("escape")
        await _it_is_impossible(app, pilot, until, quick=True)
    assert app.instructions[2:-1] == ["Tap Send", "Scroll down in the list of chats", "Type helo in Amount"]
    trace = app.store.runs.trace(app.run_under_test.trace_id)
    assert trace.conditions.quick
    assert trace.slips == (2,)
    flags = [event for event in app.store.runs.events(trace.id) if isinstance(event, Flagged)]
    assert [(flag.index, flag.on, flag.by.id) for flag in flags] == [
        (2, True, UNNAMED),
        (1, True, UNNAMED),
        (1, False, UNNAMED),
    ]


async def test_a_password_is_nowhere_and_it_ends_with_an_answer(recording: Any, until: Any) -> None:
    device = Board(secret=True)
    app = recording(device=device)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot, until)
        for number, keys in enumerate((["t", *"hunter2", "enter"], "hunter2")):
            if number:
                app.record.query_one(Mirror).focus()
            await pilot.press(*keys)
            await until(pilot, lambda: app.line == "Type the password in PIN")
            assert app.shows('Held: type "(hidden)"')
            assert not app.shows("hunter2")
            await pilot.press("enter")
            await ready(app, pilot, until, number + 1)
            assert not app.shows("hunter2")
        assert device.did == [Action("input_text", text="hunter2")] * 2
        await burst(pilot, "escape", "f", "a", "escape", "a", *"At ten.", "enter", "enter")
        await until(pilot, lambda: app.session.over)
    assert app.steps[-1].action == Action("answer", text="At ten.")
    assert app.instructions[-1] == "Answer: At ten."
    path = app.store.path
    assert not any(b"hunter2" in file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


async def test_it_is_left_open_gone_on_with_from_home_ends_complete_and_is_replayed(
    recording: Any, until: Any, store: Any
) -> None:
    first = recording(device=None)
    async with first.run_test(size=SIZE) as pilot:
        await ready(first, pilot, until)
        await burst(pilot, "o", *"Notes", "enter", "enter")
        await ready(first, pilot, until, 1)
        first.session.leave()
        first.open_resume(first.run_under_test.trace_id)
        await until(pilot, lambda: type(first.screen).__name__ == "RecordScreen" and first.screen is not first.record)
        await until(pilot, lambda: first.shows("your turn"))
        first.session.leave()
    trace = store.runs.trace(first.run_under_test.trace_id)
    assert trace.status == "open"
    app = recording(device=None, resume=trace)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot, until, 1)
        assert app.shows("Open Notes")
        await pilot.press("f", "escape", "f", "c")
        await until(pilot, lambda: app.line == "Report that it is done")
        await pilot.press("enter")
        await until(pilot, lambda: app.session.over and app.shows("1 golden (easy)"))
        assert app.shows("Complete")
        assert app.shows("com.hitlab.notes")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and app.shows("Instruction"))
        assert app.shows("Open Notes")
        await pilot.press("end")
        await until(pilot, lambda: app.shows("Demonstration"))
        assert app.shows("residence")
    assert store.runs.trace(trace.id).status == "completed"
    assert app.steps[-1].action == Action("status", status="complete")
    assert app.instructions == ["Open Notes", "Report that it is done"]


async def test_what_could_not_be_done_in_an_earlier_sitting_is_not_told_anew(
    recording: Any, until: Any, store: Any
) -> None:
    first = recording(device=None)
    async with first.run_test(size=SIZE, notifications=True) as pilot:
        await ready(first, pilot, until)
        await burst(pilot, "o", *"Nots", "enter", "enter")
        await ready(first, pilot, until, 1)
        assert first.steps[0].error
        first.session.leave()
    app = recording(device=None, resume=store.runs.trace(first.run_under_test.trace_id))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await ready(app, pilot, until, 1)
        assert app.shows("1 ! Open Nots")
        assert not list(app._notifications)


async def test_a_participant_sees_no_score(recording: Any, until: Any) -> None:
    app = recording(seat="participant", device=None)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot, until)
        await pilot.press("f", "c", "enter")
        await until(pilot, lambda: app.session.over and app.shows("Thank you."))
        assert not app.shows("score")
        assert not app.shows("replays")
        await pilot.press("enter")
        await until(pilot, lambda: app.shows("Nothing to do here now."))


class Wired(Board):
    """The same phone at the end of a line."""

    via = "a wire"
    on_line: Callable[[Trouble | None], None] = staticmethod(lambda trouble: None)


async def test_a_phone_that_is_away_is_waited_for_and_its_pictures_and_marks_stand_beside_the_terminal(
    recording: Any, until: Any
) -> None:
    device = Wired()
    app = recording(device=device, window=True)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot, until)
        await until(pilot, lambda: app.window.wait_newer(-1)["picture"])
        touch(app, (470, 950))
        await until(pilot, lambda: app.line == "Tap Send")
        await until(pilot, lambda: [mark["at"] for mark in app.window.wait_newer(-1)["marks"]] == [(470, 950)])
        device.on_line(Trouble("phone board", "was unplugged."))
        await until(pilot, lambda: app.shows("phone board: was unplugged."))
        assert not app.desk.ready
        await pilot.press("enter")
        assert app.desk.held is not None
        device.on_line(None)
        await ready(app, pilot, until)
        await pilot.press("enter")
        await ready(app, pilot, until, 1)
        await until(pilot, lambda: app.steps and not app.window.wait_newer(-1)["marks"])
    assert device.did == [Action("click", at=(470, 950))]
