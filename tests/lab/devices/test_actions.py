"""What actions come to on a phone's shell, whatever an agent says."""

from __future__ import annotations

import pytest

from lab.core.run.step import Action, ActionKind
from lab.core.run.ui_tree import UiTree
from lab.devices.adb.actions import ActionRunner
from lab.devices.adb.dump import Dumper
from lab.devices.videos import Videos
from tests.lab.devices.answering import answering


@pytest.mark.parametrize(("given", "taken"), [(-5, 0), (900, 900), (10**12, 60_000)])
@pytest.mark.parametrize("kind", ["long_press", "drag"])
def test_a_touch_lasts_a_minute_at_most(kind: ActionKind, given: int, taken: int) -> None:
    sent: list[str] = []

    def answer(command: str) -> bytes:
        sent.append(command)
        return b"\nhitlab:exit:0\n"

    shell = answering(answer)
    acting = ActionRunner(shell, Dumper(shell), Videos(shell.open, shell, "screencap", 5, 0))
    acting.perform(Action(kind, at=(5, 6), to=(5, 60), ms=given), (100, 200), UiTree())
    swipe = next(command for command in sent if "input swipe" in command)
    assert f" {taken or {'long_press': 800, 'drag': 800}[kind]})" in swipe
