"""What a person's action lacks, in words."""

from __future__ import annotations

import pytest

from lab.core.run.step import Action
from lab.runs.fork.incomplete_action import action_problem

SIZE = (1080, 2400)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Action("click"), "needs a place"),
        (Action("ask_user"), "needs a text"),
        (Action("input_text", text=" "), "needs a text"),
        (Action("open_app"), "needs an app"),
        (Action("click", at=(1080, 5)), "1080, 5: that is off the screen, which is 1080 by 2400"),
        (Action("drag", at=(1, 1), to=(5, -1)), "goes to 5, -1: that is off the screen"),
    ],
)
def test_what_cannot_be_done_is_said(action: Action, words: str) -> None:
    assert words in action_problem(action, SIZE)


@pytest.mark.parametrize(
    "action",
    [
        Action("click", at=(0, 0)),
        Action("click", at=(1079, 2399)),
        Action("navigate_back"),
        Action("ask_user", text="?"),
    ],
)
def test_nothing_is_said_of_what_can(action: Action) -> None:
    assert action_problem(action, SIZE) == ""


def test_places_are_not_looked_at_where_the_screen_is_not_known() -> None:
    assert action_problem(Action("click", at=(9999, 9999)), None) == ""
    assert action_problem(Action("click", at=(9999, 9999)), (0, 0)) == ""
