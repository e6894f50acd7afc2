"""Where a finger goes: always on the screen, the way that was meant, as far as was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.errors import LabError
from lab.core.run.step import Action, ActionKind, Direction
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.devices.adb.actions import Stroke, stroke

SIZE = (1080, 2400)
LIST, ROW = Bounds(0, 400, 1080, 2200), Bounds(0, 500, 1080, 800)
TREE = UiTree(
    (Node(Bounds(0, 0, 1080, 2400), children=(Node(LIST, scrollable=True), Node(ROW, scrollable=True))),)
)  # fmt: skip
FINGER: dict[Direction, tuple[int, int]] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def sign(value: int) -> int:
    return (value > 0) - (value < 0)


@pytest.mark.parametrize("direction", list(FINGER))
def test_a_swipe_goes_where_it_says_and_a_scroll_the_other_way(direction: Direction) -> None:
    x, y = FINGER[direction]
    for kind, turn in (("swipe", 1), ("scroll", -1)):
        way = stroke(Action("swipe" if kind == "swipe" else "scroll", direction=direction), SIZE, TREE)
        assert (sign(way.to[0] - way.at[0]), sign(way.to[1] - way.at[1])) == (turn * x, turn * y)


def test_a_scroll_stays_in_the_list_it_is_about() -> None:
    largest = stroke(Action("scroll", direction="down"), SIZE, TREE)
    assert LIST.contains(*largest.at)
    assert LIST.contains(*largest.to)
    assert largest.at[1] - largest.to[1] == round(LIST.height * 0.6)
    row = stroke(Action("scroll", direction="right", at=(300, 600)), SIZE, TREE)
    assert row.at[1] == row.to[1] == 600
    assert ROW.contains(*row.at)


def test_a_place_and_a_vector_are_kept_to_the_pixel() -> None:
    assert stroke(Action("drag", at=(0, 0), to=(5, 7), ms=90), SIZE, TREE) == Stroke((0, 0), (5, 7), 90)
    assert stroke(Action("swipe", at=(500, 900), vector=(-40, 300)), SIZE, TREE)[:2] == ((500, 900), (460, 1200))
    assert stroke(Action("swipe", at=(500, 100), vector=(0, -900)), SIZE, TREE).to == (500, 0)


kinds: st.SearchStrategy[ActionKind] = st.sampled_from(["scroll", "swipe", "drag"])
points = st.tuples(st.integers(-50, 1200), st.integers(-50, 2600))


@given(
    kind=kinds,
    at=st.none() | points,
    to=st.none() | points,
    vector=st.none() | points,
    direction=st.none() | st.sampled_from(list(FINGER)),
    tree=st.sampled_from([TREE, UiTree()]),
)
def test_a_finger_is_on_the_screen_or_refused(
    kind: ActionKind,
    at: tuple[int, int] | None,
    to: tuple[int, int] | None,
    vector: tuple[int, int] | None,
    direction: Direction | None,
    tree: UiTree,
) -> None:
    try:
        way = stroke(Action(kind, at=at, to=to, vector=vector, direction=direction), SIZE, tree)
    except LabError:
        assert any(p and not (0 <= p[0] < SIZE[0] and 0 <= p[1] < SIZE[1]) for p in (at, to))
        return
    for x, y in (way.at, way.to):
        assert 0 <= x < SIZE[0]
        assert 0 <= y < SIZE[1]
    assert way.ms > 0
