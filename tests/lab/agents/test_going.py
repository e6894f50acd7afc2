"""Ways, opening hours, weather, train tickets, blocking and ringing as the rule agent understands them."""

from __future__ import annotations

import pytest

from lab.agents.cues import CUES
from lab.agents.goals import Either, Fact, Send, condition_in, fact_in, goals_in
from lab.agents.goals.going import Opened, Takes, Way
from lab.agents.goals.journey import Ticket, Weather
from lab.agents.goals.keeping import Block, Ring


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("Take me home.", Way("home")),
        ("Please navigate to the Hall of Clocks by bike.", Way("Hall of Clocks", "bike")),
        ("Take me to Mill Street 40 on foot", Way("Mill Street 40", "walk")),
        ("At 18:12, she opened the map and went home by bus, with a box on her knees.", Way("home", "bus")),
        ("带我回家", Way("home")),
        ("Book my usual train home for Friday.", Ticket(day="Friday", told="home")),
        (
            "He booked a train from Weir to Tollgate for Monday at 09:05 (first class, aisle seat, family coach).",
            Ticket("Weir", "Tollgate", "Monday", 545, "first", "aisle", "family"),
        ),
        ("Block and report +44 555 0134.", Block("+44 555 0134")),
        ("She blocked +44 555 0134 in Messages.", Block("+44 555 0134", report=False)),
        ("Ring my Finch earbuds.", Ring("Finch earbuds")),
        ("She rang the Finch pods in Settings.", Ring("Finch pods")),
        ("He rang the Finch headset in Settings and went back for it.", Ring("Finch headset")),
    ],
)
def test_what_is_asked_or_told(text: str, goal: object) -> None:
    assert goals_in(text) == (goal,)


@pytest.mark.parametrize(
    "text",
    [
        "She looked at the way home.", "He rang up the office.", "She read about a block of flats.",
        "She booked a table for two.", "The phone said that the earbuds were left behind.",
    ],
)  # fmt: skip
def test_what_only_sounds_like_it_is_nothing(text: str) -> None:
    assert not [goal for goal in goals_in(text) if isinstance(goal, Way | Ticket | Block | Ring)]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "how long the bus takes from Weir Station to the Hall of Clocks",
            Fact("way", "Hall of Clocks", "minutes by bus from Weir Station"),
        ),
        ("the way on foot to Mill Street 40", Fact("way", "Mill Street 40", "way by walk")),
        ("the walking time to the Hall of Clocks", Fact("way", "Hall of Clocks", "minutes by walk")),
        ("the address of the Hall of Clocks on Maps", Fact("place", "Hall of Clocks", "address")),
        ("the Hall of Clocks' opening hours on Sunday", Fact("place", "Hall of Clocks", "opening hours Sunday")),
        ("the weather in Tollgate on Friday", Fact("weather", "Tollgate", "weather Friday")),
    ],
)
def test_where_a_fact_stands(text: str, fact: Fact) -> None:
    assert fact_in(text, "all") == fact


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("the Hall of Clocks is still open at 17:30 on Sunday", Opened("Hall of Clocks", "Sunday", 1050)),
        ("the chance of rain in Weir on Friday is above 40%", Weather("Weir", "Friday", "chance of rain", True, 40)),
        ("it rains in Tollgate tomorrow", Weather("Tollgate", "tomorrow", "chance of rain", True, 49)),
        ("the high in Tollgate today is below 12 degrees", Weather("Tollgate", "today", "high", False, 12)),
        ("the bus to Mill Street 40 takes more than 25 min", Takes("Mill Street 40", "", "bus", True, 25)),
    ],
)  # fmt: skip
def test_what_an_if_asks(text: str, condition: object) -> None:
    assert condition_in(text) == condition


def test_an_if_within_an_if_and_what_stands_in_quotation_marks() -> None:
    [outer] = goals_in(
        'If it rains in Tollgate tomorrow: if the Hall of Clocks is open at 16:00, send Ada Fox "Hall. At four?"; '
        'if not, send Ada Fox "At home, then I set an alarm". Otherwise, send Ada Fox "Out!"'
    )
    assert isinstance(outer, Either)
    [inner] = outer.then
    assert isinstance(inner, Either)
    assert inner.then == (Send("Ada Fox", "Hall. At four?"),)
    assert inner.otherwise == (Send("Ada Fox", "At home, then I set an alarm"),)
    assert outer.otherwise == (Send("Ada Fox", "Out!"),)


def test_cues_are_told_from_lines_of_the_log_that_only_sound_like_them() -> None:
    logged = {cue.name: cue.logged for cue in CUES}
    stranger, low = logged["a message with a link from a stranger"], logged["a low battery"]
    assert stranger.search("a message from an unknown number, +44 555 0134, asked for a fee through a link")
    assert not stranger.search("an SMS from an unknown number promised a prize")
    assert low.search("with the battery at 14%, he turned on battery saver")
    assert not low.search("he bought a battery for the clock")
