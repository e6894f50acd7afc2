"""The brake: pause, one turn, stop, and who may wait on it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from lab.core.run.run_control import RunControl
from lab.core.seams import WaitCancelled


def on_thread(call: Callable[[], None]) -> tuple[threading.Thread, list[WaitCancelled]]:
    raised: list[WaitCancelled] = []

    def body() -> None:
        try:
            call()
        except WaitCancelled as error:
            raised.append(error)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    return thread, raised


def test_a_turn_begins_at_once_when_nothing_holds_it() -> None:
    thread, raised = on_thread(RunControl().begin_turn)
    thread.join(180)
    assert not thread.is_alive()
    assert not raised


def test_a_paused_run_waits_until_it_goes_on() -> None:
    control = RunControl()
    control.pause()
    thread, raised = on_thread(control.begin_turn)
    thread.join(0.15)
    assert thread.is_alive()
    control.resume()
    thread.join(180)
    assert not thread.is_alive()
    assert not raised


def test_stop_ends_a_wait_with_withdrawn() -> None:
    control = RunControl()
    control.pause()
    thread, raised = on_thread(control.begin_turn)
    control.stop_run()
    thread.join(180)
    assert [type(error) for error in raised] == [WaitCancelled]
    with pytest.raises(WaitCancelled):
        control.before_act()


def test_one_turn_lets_exactly_one_pass_and_its_act_too() -> None:
    control = RunControl()
    control.pause()
    control.one_turn()
    control.begin_turn()
    control.before_act()
    thread, _ = on_thread(control.begin_turn)
    thread.join(0.15)
    assert thread.is_alive()
    assert control.paused
    control.stop_run()
    thread.join(180)


def test_a_pause_in_mid_turn_holds_the_act() -> None:
    control = RunControl()
    control.begin_turn()
    control.pause()
    thread, raised = on_thread(control.before_act)
    thread.join(0.15)
    assert thread.is_alive()
    control.one_turn()
    thread.join(180)
    assert not thread.is_alive()
    assert not raised


def test_the_pace_holds_the_second_turn_and_stop_ends_that_wait() -> None:
    control = RunControl(pace=3600)
    control.begin_turn()
    thread, raised = on_thread(control.begin_turn)
    thread.join(0.15)
    assert thread.is_alive()
    control.stop_run()
    thread.join(180)
    assert [type(error) for error in raised] == [WaitCancelled]
