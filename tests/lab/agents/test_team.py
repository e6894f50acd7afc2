"""Team chat and shared pictures as the rule agent understands them, and what becomes of them under other hands."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from lab.agents.goals import Fact, goals_in
from lab.agents.goals.mail import Mail
from lab.agents.goals.social import Share
from lab.agents.goals.team import Post, Presence, Update
from lab.agents.skills.team import shape
from lab.seams import Screen
from lab.task import Actor
from lab.trace import Step
from lab.turn import Action, Decision, Proposed
from simulators import library
from tests.simulators.playing import first_state, persona, play, task_named


@pytest.mark.parametrize(
    ("text", "goals"),
    [
        ("Post in #kiln on Tern that the glaze is dry.", (Post("kiln", "the glaze is dry", (), "Tern"),)),
        ("At 09:12, he posted 'Glaze is dry' in #kiln.", (Post("kiln", "Glaze is dry"),)),
        (
            "She posted 'Off now' in #kiln on Tern and set her status there to Away.",
            (Post("kiln", "Off now", (), "Tern"), Presence("Away", "Tern")),
        ),
        ("He set his status to In a meeting for the review.", (Presence("In a meeting"),)),
        ("Send my usual morning report.", (Update("morning report"),)),
        (
            "Mail Dana the time that Kai wrote in #kiln.",
            (Mail("Dana", "", "", (Fact("channel", "Kai in #kiln", "time"),)),),
        ),
        (
            "Post the picture 'Snow' from my Winter album on Gable for friends.",
            (Share("Snow", "winter", "friends", "", "Gable"),),
        ),
        (
            "She shared the photo 'Cup' on Gable with everybody, with the words 'Mine'.",
            (Share("Cup", "", "everyone", "Mine", "Gable"),),
        ),
        ("She wrote in #kiln.", ()),
        ("She looked at the pictures in the Winter album.", ()),
    ],
)
def test_what_is_asked_or_was_done(text: str, goals: object) -> None:
    assert goals_in(text) == goals


def test_a_way_without_a_name_leads_to_what_was_looked_up_before_it() -> None:
    goal = goals_in("Post in #kiln: the address from Dana Kerr's mail, how many minutes the bus takes there.")[0]
    assert isinstance(goal, Post)
    where = Fact("mail", "Dana Kerr", "address")
    assert goal.facts == (where, Fact("way", "", "minutes by bus", where))


def test_the_shape_of_texts_is_what_they_share() -> None:
    assert shape(["Back at 9, as ever", "Back at 11, as ever", "Back at 9, as ever"]) == (
        "Back at ",
        ["9", "11"],
        ", as ever",
    )
    assert shape(["One thing", "Quite another one", "A third"]) is None


class OtherHands:
    """A gate whose person goes to the home screen instead, once."""

    actor = Actor("human", "someone")

    def __init__(self, at: int) -> None:
        self.at = at

    def decide(self, proposed: Proposed, screen: Screen, history: Sequence[Step], stop: threading.Event) -> Decision:
        if len(history) == self.at and proposed.action.kind not in ("ask_user", "status"):
            return Decision("amend", self.actor, Action("navigate_home"))
        return Decision("approve", self.actor, proposed.action)


@pytest.mark.parametrize(
    ("name", "at"), [(n, at) for n in ("evening_update", "family_picture") for at in (3, 5, 6, 8, 9)]
)
def test_it_is_done_once_though_somebody_comes_between(name: str, at: int) -> None:
    task = task_named(name)
    played = play(task, persona(task.persona), library.script(name), state=first_state(task, 0), gate=OtherHands(at))
    assert played.ended.score == 1.0, played.told()
