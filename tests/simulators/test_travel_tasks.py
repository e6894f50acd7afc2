"""The tasks of weather, ways, trains and triggers in other worlds than their own: what the phone shows decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from simulators import library
from tests.simulators.playing import Played, first_state, persona, play, task_named

State = dict[str, Any]


def played(name: str, change: Callable[[State], None], script: str = "") -> Played:
    """A task with its script on a phone that was changed before."""
    task = task_named(name)
    state = first_state(task, 0)
    change(state)
    return play(task, persona(task.persona), library.script(script or name), state=state)


def last_message(run: Played, name: str) -> str:
    threads = run.last["apps"]["messages"]["threads"]
    return str(next(t for t in threads if t["name"] == name)["messages"][-1]["text"])


def dry(state: State) -> None:
    for day in state["apps"]["browser"]["weather"]:
        if (day["city"], day["date"]) == ("Larkmoor", "2026-03-28"):
            day |= {"rain": 30, "sky": "Cloudy", "wet": []}


def open_late(state: State) -> None:
    museum = next(p for p in state["apps"]["maps"]["places"] if p["name"] == "Canal Museum")
    museum["hours"]["Sat"] = "11:00-19:00"


def closed(state: State) -> None:
    museum = next(p for p in state["apps"]["maps"]["places"] if p["name"] == "Canal Museum")
    del museum["hours"]["Sat"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (dry, "Larkmoor on Saturday, as planned"),
        (open_late, "Museum on Saturday at half past five?"),
        (closed, "Wet on Saturday. Shall we climb instead?"),
    ],
)
def test_the_forecast_and_the_hours_decide(change: Callable[[State], None], text: str) -> None:
    run = played("rainy_saturday", change)
    assert last_message(run, "Jonas Weil") == text, run.told()
    looked = [step.before.activity for step in run.steps]
    assert any("maps" in (activity or "") for activity in looked) == (change is not dry)


def test_a_way_that_takes_longer_is_told_as_it_is() -> None:
    def slower(state: State) -> None:
        legs = [
            {
                "how": "Bus",
                "line": "61",
                "origin": "Quay Square",
                "destination": "Lantern Road",
                "minutes": 58,
                "stops": 9,
            }
        ]
        way = {"origin": "Quayside Station", "destination": "Institute of Soft Matter", "mode": "Bus", "legs": legs}
        state["apps"]["maps"]["routes"] = [way]

    assert last_message(played("way_for_priya", slower), "Priya Raman").splitlines()[0] == "58 min, bus 61"


def test_on_a_phone_in_use_with_large_letters_the_right_train_is_booked() -> None:
    def busy(state: State) -> None:
        state["apps"]["settings"]["font_size"] = "largest"
        state["apps"]["browser"] |= {"address": "lemon", "station": "x"}
        stack = state["nav"]["stacks"]["browser"]
        stack.append({"screen": "train", "args": {"number": "W102", "date": "2026-03-26"}})
        stack.append({"screen": "who", "args": {}})
        state["nav"]["app"] = "browser"

    run = played("train_home", busy)
    assert run.ended.score == 1.0, run.told()


def test_a_strangers_message_without_a_link_and_a_full_battery_call_for_nothing() -> None:
    def no_link(state: State) -> None:
        state["notifications"][-1]["text"] = "Hello Rosa, this is the tenor. See you on Tuesday."

    def charged(state: State) -> None:
        state["battery"] = 80
        state["notifications"] = []

    for name, change in (("parcel_fee", no_link), ("low_battery", charged)):
        run = played(name, change)
        assert [step.proposed.action.kind for step in run.steps] == ["status"], run.told()


def test_another_earphone_is_the_one_that_is_offered_and_rung() -> None:
    def other(state: State) -> None:
        state["notifications"][-1] |= {"title": "Alder headset left behind", "args": {"name": "Alder headset"}}
        state["apps"]["settings"]["devices"][0]["name"] = "Alder headset"

    run = played("earbuds_left", other, "earbuds_left.accept")
    assert [d["ringing"] for d in run.last["apps"]["settings"]["devices"]] == [True, False], run.told()
