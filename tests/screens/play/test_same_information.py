"""A person and a model in the user's chair are told the same: profile, environment, instruction, policy, dialogue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll

from lab.core.run.trace import Started, Step
from lab.core.task.task import Actor
from lab.runs.spec import Spec
from screens.app import LabApp
from screens.live.seat_pane import SeatPane
from simulators.users.model import dialogue_lines, seat_words
from tests.blind import found, planted
from tests.screens.runs import painted

Until = Callable[..., Awaitable[None]]
TOLD = {
    "persona.name", "persona.facts", "task.instruction", "task.policy", "task.place", "task.time",
}  # fmt: skip
"""What the paper conditions its user on, beside the dialogue."""


class Chair(App[None]):
    """What is pinned beside a run for whom plays its user."""

    CSS_PATH = LabApp.CSS_PATH

    def __init__(self, spec: Spec) -> None:
        super().__init__()
        self.seat = SeatPane(spec, Actor("model", "Zagent", "Zagentname"), knows=False)

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield self.seat


@pytest.mark.parametrize("proactive", [False, True])
async def test_who_plays_the_user_reads_what_a_model_is_sent_and_nothing_else(until: Until, proactive: bool) -> None:
    plant = planted(proactive=proactive)
    started = plant.run.events[0]
    assert isinstance(started, Started)
    prompt = seat_words(started.task, started.persona)
    app = Chair(Spec(started.task, started.persona))
    async with app.run_test(size=(160, 120)) as pilot:
        await until(pilot, lambda: "Who you are" in painted(app))
        screen = painted(app)
        app.seat.unfold("task", "policy", "persona", "facts", "context")
        await until(pilot, lambda: len(found(plant.words, painted(app))) == 6 - proactive)
        screen += painted(app)
    places = {plant.words[word].place for word in found(plant.words, screen)}
    assert found(plant.words, screen) == found(plant.words, prompt)
    assert places == TOLD - ({"task.instruction"} if proactive else set())


def test_of_the_dialogue_the_model_is_told_what_was_said_alone() -> None:
    plant = planted()
    steps = [event for event in plant.run.events if isinstance(event, Step)]
    places = {plant.words[word].place for word in found(plant.words, "\n".join(dialogue_lines(steps)))}
    assert places == {"question.text", "reply.text"}
