"""A live run's brake, its end, and leaving: nothing hangs, nothing is lost, nothing ends by accident."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action
from lab.core.run.trace import Acting, Ended, Paused, Resumed, Started
from lab.core.seams import Frame, Trouble
from lab.core.settings import Settings
from lab.runs.spec import Spec
from screens.app import LabApp
from screens.dialogs import AskScreen
from screens.live.dialogue import Transcript
from screens.live.field import ReplyText
from screens.live.live import LiveScreen
from screens.live.result import Result
from screens.navigation import Opening
from screens.widgets.footer import Footer
from simulators import library
from tests.screens.live.conftest import HandClock
from tests.screens.runs import painted

ASK = Action("ask_user", text="06:30 or 07:45?")


def state(app: Any) -> str:
    return str(app.live.query_one("Banner").left)


@pytest.mark.parametrize(("locale", "title"), [("en", "End the run?"), ("zh", "结束这次运行？")])
async def test_a_participants_run_is_ended_only_once_they_say_so(
    live: Any, until: Any, locale: str, title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("screens.slip.GUARD_SECONDS", 0.3)
    app = live((ASK, ""), (ASK, ""), seat="participant")
    app.run_locale = locale
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.asked)
        monkeypatch.setattr(app.live._slip, "clock", clock := HandClock())
        await pilot.press("ctrl+x")
        await until(pilot, lambda: app.events(Paused))
        await pilot.press("ctrl+x")  # the key is held
        assert not isinstance(app.screen, AskScreen)
        clock.at = 1.0
        await pilot.press("ctrl+x")
        await until(pilot, lambda: isinstance(app.screen, AskScreen) and title in painted(app))
        monkeypatch.setattr(app.screen._slip, "clock", still := HandClock())
        app.screen._slip.begin()
        await pilot.press("enter")
        assert isinstance(app.screen, AskScreen)
        assert not app.events(Ended)
        still.at = 1.0
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, AskScreen))
        assert not app.events(Ended)
        await pilot.press("ctrl+x")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        monkeypatch.setattr("screens.slip.GUARD_SECONDS", 0.0)
        await pilot.press("y")
        await until(pilot, lambda: app.events(Ended))


async def test_ctrl_x_pauses_ctrl_r_goes_on_and_ctrl_x_twice_ends_the_run(live: Any, until: Any, cast: Any) -> None:
    app = live((ASK, ""), (cast.TAP, ""), (ASK, ""))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.asked)
        await pilot.press("ctrl+x")
        await until(pilot, lambda: app.events(Paused))
        await pilot.press("7", "enter")
        await until(pilot, lambda: app.steps)
        assert not app.events(Acting)  # the phone moves only when it goes on
        await pilot.press("ctrl+r")
        await until(pilot, lambda: app.events(Acting))
        await until(pilot, lambda: "ctrl+x" not in state(app))
        assert len(app.events(Resumed)) == 1
        await until(pilot, lambda: len(app.steps) == 2 and app.asked)
        await pilot.press("7")
        await pilot.press("ctrl+x")
        await until(pilot, lambda: len(app.events(Paused)) == 2)
        await until(pilot, lambda: "ctrl+x again ends the run" in state(app))
        assert app.session.control.paused
        assert app.session.questions.waiting is not None
        assert app.live.query_one(ReplyText).text == "7"
        await pilot.press("ctrl+x")
        await until(pilot, lambda: app.events(Ended))
        await until(pilot, lambda: app.live.query_one(Result).has_class("-open"))
        assert not app.asked
    assert app.events(Ended)[0].status == "stopped"


async def test_where_the_screen_says_that_the_phone_is_away_ctrl_x_ends_the_run(
    live: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The phone is told to be away before the pause has come that follows from it: the key does what is painted."""
    app = live((ASK, ""))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.asked)
        away = Trouble("phone R58", "is gone.")
        monkeypatch.setattr(app.session.device, "trouble", away)
        await until(pilot, lambda: "phone R58: is gone." in state(app))
        assert app.live.check_action("end", ())
        assert not app.live.check_action("pause", ())
        await pilot.press("ctrl+x")
        await until(pilot, lambda: app.events(Ended))
    assert app.events(Ended)[0].status == "stopped"
    assert not app.events(Paused)


async def test_quitting_never_waits_for_an_agent_that_sleeps(live: Any, until: Any, cast: Any) -> None:
    agent = cast.Sleeper()
    app = live(agent=agent)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, agent.asleep.is_set)
        left = time.monotonic()
        await pilot.press("ctrl+q", "enter")
    assert time.monotonic() - left < 600  # it sleeps for an hour
    assert [event.reason for event in app.events(Paused)] == ["left"]
    assert app.store.runs.trace(app.run_under_test.trace_id).status == "open"


async def test_what_cannot_be_drawn_is_a_toast_and_the_run_goes_on(live: Any, until: Any, cast: Any) -> None:
    class Blind(cast.Slate):  # type: ignore[misc]
        def frames(self, stop: Any) -> Any:
            raise LabError("phone", "has no picture [b]now[/]")

    app = live((ASK, ""), device=Blind())
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, lambda: app.asked)
        await until(pilot, lambda: app.shows("has no picture [b]now[/]"))


async def test_every_key_has_an_id_and_a_word_and_the_footer_is_short(live: Any, until: Any, cast: Any) -> None:
    app = live((cast.TAP, ""), gate="ask")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.gated)
        bindings = [each.binding for each in app.active_bindings.values()]
        ours = [binding for binding in bindings if binding.id and binding.id.startswith(("run.", "gate."))]
        assert {"run.pause", "run.step", "run.gate", "run.take", "gate.approve"} <= {binding.id for binding in ours}
        assert all(binding.tooltip and binding.description for binding in ours)
        app.live.query_one("Mirror").focus()
        for key in ("ctrl+x", "ctrl+r"):  # standing still, and going on
            await pilot.press(key)
            await pilot.pause()
            assert 0 < len(app.screen.query_one(Footer).verbs) <= 7
        await _help_offers_rooms(app, pilot, until, all=True)


async def test_a_run_starts_after_the_first_paint_asks_at_every_size_and_stops_where_the_file_takes_no_more(
    live: Any, until: Any
) -> None:
    app = live((ASK, "Two times, and no line of the log says which of them it is today."), records=True)
    assert not app.store.runs.has_run(app.session.trace_id)
    async with app.run_test(size=(64, 18)) as pilot:
        await until(pilot, lambda: app.events(Started))
        assert any("Nothing was said yet" in line for line in app.painted)
        app.records = False
        await until(pilot, lambda: app.asked)
        for size in ((64, 18), (80, 24), (120, 40), (200, 60)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: app.shows("Enter sends") and app.shows("06:30 or 07:45?"))
            assert app.live.query_one(ReplyText).size.height >= 1
            assert app.live.query_one(Transcript).size.height >= 2
        await pilot.resize_terminal(120, 40)
        other = sqlite3.connect(app.store.path)
        other.executescript("CREATE TRIGGER full BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
        other.close()
        await pilot.press("7", "enter")
        await until(pilot, lambda: app.live.query_one(Result).has_class("-failed"))
        await until(pilot, lambda: app.shows("disk is full"))
        assert app.session.over
        assert "nothing more can be kept" in state(app)
        assert not app.shows("you answered")


def test_a_participant_has_no_gate(live: Any) -> None:
    with pytest.raises(LabError, match="lets no actions through"):
        live((ASK, ""), seat="participant", gate="ask")
    assert LiveScreen.HELP


async def test_a_run_that_is_over_before_a_picture_came_shows_what_the_agent_saw(
    live: Any, cast: Any, until: Any
) -> None:
    class Late(cast.Slate):  # type: ignore[misc]
        """A phone whose video never begins."""

        def frames(self, stop: threading.Event) -> Iterator[Frame]:
            stop.wait()
            yield from ()

    app = live((Action("status", status="complete"), "Done."), device=Late())
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.shows("The run is over"))
        await until(pilot, lambda: app.shows("06:30 evaporation"))
        assert not app.shows("waiting for a picture")


async def test_a_run_that_asked_nothing_promises_no_question_once_it_is_over(live: Any, until: Any) -> None:
    app = live((Action("status", status="complete"), "Done."), seat="participant")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.shows("Thank you, this run is over") and app.shows("Nothing was said."))
        assert not app.shows("will stand here")


def friday() -> Spec:
    """A proactive task as a participant is given it."""
    task = library.task("friday_reorder")
    return Spec(task, library.persona(task.persona, task.log), person="P07", seat="participant")


async def test_a_participant_reads_their_part_before_anything_happens(store: Any, until: Any) -> None:
    settings = Settings(seat="participant", person="P07", bell=False, pace=0.0)
    spec = friday()
    app: Any = LabApp(store, settings, Opening("live", spec=spec))
    async with app.run_test(size=(120, 40)) as pilot:
        for size in ((120, 40), (80, 24), (64, 18)):
            if app.size != size:
                await pilot.resize_terminal(*size)
            await until(pilot, lambda: "Before it begins" in painted(app) and "Enter begins" in painted(app))
            if size == (80, 24):  # whole in a usual terminal
                await until(pilot, lambda: "begin. " in painted(app))
            await pilot.press("ctrl+x", "escape", "escape")
            assert not store.runs.summaries()
            folds = list(app.screen.query("Fold").results())
            folds[0].focus()
            await until(pilot, lambda: "not begun yet: Esc goes there" in painted(app))
            await pilot.press("escape")
        await _help_offers_rooms(app, pilot, until, all=False)
        await pilot.press("enter")
        await until(pilot, lambda: bool(store.runs.summaries()))
        begun = next(iter(store.runs.events(store.runs.summaries()[0].id)))
        assert begun.conditions.read_ms is not None
        await until(pilot, lambda: "The agent says" in painted(app))
        app.session.stop()


async def test_what_is_to_be_read_first_stands_whole_in_a_usual_terminal_in_chinese_too(store: Any, until: Any) -> None:
    settings = Settings(seat="participant", person="P07", locale="zh", bell=False, pace=0.0)
    app: Any = LabApp(store, settings, Opening("live", spec=friday()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "进行。" in painted(app))


async def _help_offers_rooms(app: Any, pilot: Any, until: Any, *, all: bool) -> None:
    """Help names every room to a developer, and to a participant none that is not theirs."""
    await pilot.resize_terminal(120, 90)
    await until(pilot, lambda: "Help" in painted(app))
    await pilot.press("question_mark" if all else "f1")
    await until(pilot, lambda: bool(app.screen.query("HelpPanel")) and "Leave hitlab" in painted(app))
    assert ("Runs, tasks, devices" in painted(app)) is all
    assert ("The run under way" in painted(app)) is all
    await pilot.press("escape")
    await until(pilot, lambda: not app.screen.query("HelpPanel"))


async def test_a_run_that_was_left_before_it_began_leaves_nothing(store: Any, until: Any) -> None:
    spec = friday()
    app: Any = LabApp(store, Settings(seat="participant", person="P07", bell=False), Opening("live", spec=spec))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Before it begins" in painted(app))
        await pilot.press("f2")
        await until(pilot, lambda: "Your run is open." in painted(app))  # not under way: nothing has begun
        await pilot.press("enter")
        await until(pilot, lambda: "Before it begins" in painted(app))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: "Quit?" in painted(app))
        await pilot.press("enter")
    assert not store.runs.summaries()
