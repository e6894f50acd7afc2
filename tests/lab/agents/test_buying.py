"""Buying by rules: how purchases are said, what the log makes of them, and shops in other states than a task's own."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from lab.agents.goals import Either, Order, goals_in
from lab.agents.goals.buying import Buy, Cheaper, Thing, needed, things_in
from lab.agents.habits import deeds
from lab.agents.purchases import merged_buys
from lab.agents.reading import read_log
from simulators import library
from tests.simulators import playing


def only(text: str) -> Any:
    (goal,) = goals_in(text)
    return goal


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("2 loaves (sliced, small) and 1 Pear jam", (Thing("loaves", 2, ("sliced", "small")), Thing("Pear jam"))),
        ("three Corded mats in green for my sister", (Thing("Corded mats", 3, ("green",)),)),
        ("1 Lentils in wine (Family), an Oat cake", (Thing("Lentils in wine", 1, ("Family",)), Thing("Oat cake"))),
        ("for 18:30: 4 Rice cups", (Thing("Rice cups", 4),)),
        ("2份雪菊茶（250克）和1个杏仁酥", (Thing("雪菊茶", 2, ("250克",)), Thing("杏仁酥"))),
    ],
)
def test_things_are_read_with_their_numbers_and_traits(text: str, things: tuple[Thing, ...]) -> None:
    assert things_in(text) == things


def test_a_described_thing_keeps_its_limits() -> None:
    goal = only(
        "Buy two of one cap at Fernhill that costs less than $12.50, can be had in blue and has 4 stars or more; "
        "have them sent to Otto and pay with the old card."
    )
    assert goal == Buy((Thing("cap", 2, ("blue",)),), "Fernhill", to="Otto", payment="old card", under=12.5, stars=4.0)


def test_a_line_of_the_log_is_the_same_purchase() -> None:
    goal = only(
        "At 16:31, she opened the Fernhill app, ordered the family dinner from Otto's Oven for 18:30: "
        "2 Bean pie (Large) and 1 Fig cup, delivered to Home, and paid with the old card."
    )
    assert goal.things == (Thing("Bean pie", 2, ("Large",)), Thing("Fig cup"))
    assert (goal.app, goal.source, goal.label) == ("Fernhill", "Otto's Oven", "family dinner")
    assert (goal.to, goal.payment, goal.when) == ("Home", "old card", 18 * 60 + 30)
    assert only("Order the family dinner as always.").label == "family dinner"
    assert only("Do my weekly shopping, please.").label == "shopping"


def test_a_single_dish_is_still_an_order_of_food() -> None:
    assert isinstance(only("Order a bowl of lentils from Otto's Oven"), Order)


def test_where_it_costs_less_decides_between_two_purchases() -> None:
    text = (
        "I need a Desk fan in black. If it costs less at Fernhill than at Oakley, delivery included, "
        "buy it at Fernhill. Otherwise, buy it at Oakley."
    )
    goal = only(text)
    assert isinstance(goal, Either)
    assert goal.condition == Cheaper("Fernhill", "Oakley")
    fan = (Thing("Desk fan", 1, ("black",)),)
    assert needed(text) == fan
    assert [g.things for g in (*goal.then, *goal.otherwise) if isinstance(g, Buy)] == [fan, fan]
    assert [g.app for g in (*goal.then, *goal.otherwise) if isinstance(g, Buy)] == ["Fernhill", "Oakley"]


def test_the_usual_purchase_is_what_nearly_all_share() -> None:
    buys = [
        Buy((Thing("Milk", 2, ("1 litre",)), Thing("Eggs", 1, (pack,)), *more), "Fernhill", "groceries", when=when)
        for pack, more, when in (
            ("Six", (), 600), ("Ten", (Thing("Jam"),), 600), ("Six", (), 630), ("Ten", (), 660),
        )
    ]  # fmt: skip
    usual = merged_buys(buys)
    assert usual.things == (Thing("Milk", 2, ("1 litre",)), Thing("Eggs", 1))
    assert usual.when is None
    assert usual.label == "groceries"


def test_nothing_but_purchases_is_read_from_the_log() -> None:
    entries = read_log([entry.exposed for entry in library.persona("rosa", "noise").log])
    bought = [deed for deed in deeds(entries) if isinstance(deed.goal, Buy)]
    assert len(bought) == 10
    assert {deed.goal.label for deed in bought if isinstance(deed.goal, Buy)} == {"groceries", "family dinner", ""}


def played(name: str, overlay: dict[str, Any], **changes: Any) -> playing.Played:
    task = msgspec.structs.replace(library.task(name), **changes)
    phone = playing.Blind(clock=task.time)
    phone.lay(task.phone)
    phone.lay(overlay)
    return playing.play(task, library.persona(task.persona), library.script(name), state=phone.snapshot())


def orders(run: playing.Played, shop: str) -> list[dict[str, Any]]:
    return list(run.last["apps"][shop]["orders"])


def test_the_other_shop_is_taken_where_that_one_costs_less() -> None:
    run = played("cheaper_lamp", {"apps": {"marrowby": {"threshold": 60.0}}})
    assert len(orders(run, "quillbarn")) == 2, run.told()
    assert orders(run, "quillbarn")[-1]["items"][0]["variants"] == {"Colour": "White"}
    assert not orders(run, "marrowby")
    assert run.last["apps"]["marrowby"]["cart"]["items"] == []


def test_nothing_is_bought_where_nothing_keeps_to_the_limits() -> None:
    text = library.task("two_scarves").instruction.replace("$40", "$12")
    run = played("two_scarves", {}, instruction=text)
    assert run.steps[-1].proposed.action.status == "infeasible", run.told()
    assert not orders(run, "marrowby")


def test_a_purchase_that_is_in_the_cart_already_is_not_doubled() -> None:
    entry = {"product": "Merino scarf", "quantity": 3, "variants": {"Colour": "Red"}, "price": 34.0}
    run = played("two_scarves", {"apps": {"marrowby": {"cart": {"items": [entry]}}}})
    assert run.ended.score == 1.0, run.told()


def test_filters_that_someone_left_on_are_taken_off() -> None:
    run = played("two_scarves", {"apps": {"marrowby": {"filters": {"colour": "Blue", "high": "30"}}}})
    assert run.ended.score == 1.0, run.told()


def test_an_hour_without_its_half_of_the_day_is_the_evening() -> None:
    run = played("family_dinner", {})
    assert orders(run, "supper")[-1]["when"] == "18:30", run.told()
