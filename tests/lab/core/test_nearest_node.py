"""Which node a tap meant: what it reaches first, and then what it missed, the nearest first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lab.core.run.step import Action
from lab.core.run.tap_targets import nearest_targets
from lab.core.run.ui_tree import Bounds, Node, UiTree
from simulators.phone.phone import Phone

SCREEN = Bounds(0, 0, 1080, 2400)


def button(words: str, left: int, top: int, right: int, bottom: int, **more: object) -> Node:
    return Node(Bounds(left, top, right, bottom), words, cls="android.widget.Button", clickable=True, **more)  # type: ignore[arg-type]


def tree(*nodes: Node) -> UiTree:
    return UiTree((Node(SCREEN, children=nodes),))


def test_what_is_hit_comes_first_and_the_misses_follow_by_their_distance() -> None:
    near = nearest_targets(
        tree(button("Far", 0, 2000, 200, 2100), button("Milk", 0, 0, 400, 200), button("Oats", 0, 230, 400, 400)),
        (100, 190),
    )
    assert [(one.words, one.px, one.hit) for one in near] == [
        ("Milk", 0, True),
        ("Oats", 40, False),
        ("Far", 1810, False),
    ]
    assert near[1].dp == 15
    assert near[0].role == "Button"


def test_between_two_buttons_nothing_is_hit_and_the_nearer_one_leads() -> None:
    near = nearest_targets(tree(button("Above", 0, 0, 400, 200), button("Below", 0, 260, 400, 460)), (200, 240))
    assert [(one.words, one.hit, one.px) for one in near] == [("Below", False, 20), ("Above", False, 41)]


def test_what_reacts_comes_before_nearer_words_that_do_not() -> None:
    title = Node(Bounds(0, 0, 1080, 100), "Your cart")
    near = nearest_targets(tree(title, button("Pay", 0, 500, 400, 600)), (200, 130))
    assert [(one.words, one.reacts) for one in near] == [("Pay", True), ("Your cart", False)]


def test_words_inside_something_that_reacts_are_its_own() -> None:
    row = Node(
        Bounds(0, 0, 1080, 200),
        clickable=True,
        children=(Node(Bounds(20, 20, 300, 90), "Wonton"), Node(Bounds(20, 100, 300, 180), "$8.80")),
    )
    assert [one.words for one in nearest_targets(tree(row), (40, 40))] == ["Wonton, $8.80"]


def test_what_lies_under_a_dialog_is_left_out() -> None:
    under = UiTree(
        (
            Node(SCREEN, children=(button("Hidden", 100, 1000, 400, 1100), button("Beside", 0, 100, 400, 200))),
            Node(Bounds(50, 800, 1030, 1400), children=(button("OK", 50, 800, 1030, 1400),)),
        )
    )
    assert [one.words for one in nearest_targets(under, (500, 700))] == ["OK", "Beside"]


def test_a_button_in_a_row_is_hit_before_the_row_around_it() -> None:
    row = Node(Bounds(0, 0, 1080, 200), "Row", clickable=True, children=(button("Add", 800, 50, 1000, 150),))
    assert [(one.words, one.px, one.hit) for one in nearest_targets(tree(row), (900, 100))] == [
        ("Add", 0, True),
        ("Row", 0, False),
    ]


def test_a_screen_without_anything_has_nothing_near() -> None:
    assert nearest_targets(UiTree(), (5, 5)) == []
    assert nearest_targets(tree(), (5, 5)) == []


@given(x=st.integers(0, 1079), y=st.integers(0, 2399))
def test_wherever_a_phone_is_tapped_the_misses_are_in_order(x: int, y: int) -> None:
    near = nearest_targets(_MENU, (x, y), most=50)
    assert sum(one.hit for one in near) <= 1
    assert not any(one.hit for one in near[1:])
    rest = [one for one in near if not one.hit]
    reacting = [one.px for one in rest if one.reacts]
    assert reacting == sorted(reacting)
    assert [one.reacts for one in rest] == sorted((one.reacts for one in rest), reverse=True)


def _menu() -> UiTree:
    phone = Phone()
    phone.perform(Action("open_app", app="Settings"))
    return phone.observe().tree


_MENU = _menu()
