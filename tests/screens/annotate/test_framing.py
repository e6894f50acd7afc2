"""A frame that keys move: every thing can be reached, a frame of any size drawn, and never one beyond the screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.run.step import Observation
from lab.core.run.ui_tree import Bounds, Node, UiTree
from screens.annotate.phone_pane import RegionFrame, first_frame

SIZE = (1000, 2000)
TOP, LEFT, RIGHT, LOW = (
    Bounds(0, 0, 1000, 100), Bounds(0, 200, 400, 300), Bounds(600, 220, 1000, 320), Bounds(0, 1800, 1000, 1900),
)  # fmt: skip


def seen(*boxes: Bounds) -> Observation:
    return Observation(size=SIZE, tree=UiTree(tuple(Node(box, text="x") for box in boxes)))


def frame() -> RegionFrame:
    return first_frame(seen(LOW, RIGHT, Bounds(0, 0, 1000, 2000), TOP, LEFT), (1, 1))


def test_things_are_what_says_something_or_can_be_clicked_upper_ones_first_and_no_background() -> None:
    whole = Node(Bounds(0, 0, 1000, 2000), text="background")
    mute = Node(Bounds(5, 5, 10, 10))
    button = Node(Bounds(700, 50, 900, 90), clickable=True)
    outside = Node(Bounds(900, 1900, 1100, 2100), text="cut")
    empty = Node(Bounds(40, 40, 40, 90), text="nothing of it is seen")
    tree = UiTree((whole, outside, mute, empty, button, button))
    made = first_frame(Observation(size=SIZE, tree=tree), (1, 1))
    assert made.things == ((700, 50, 900, 90), (900, 1900, 1000, 2000))
    assert made.box == made.things[0]
    assert made.size == SIZE


def test_arrows_go_to_the_nearest_thing_that_way_and_stay_where_there_is_none() -> None:
    at = frame()
    assert at.box == TOP
    assert at.move_to_nearest(0, -1).box == TOP
    assert at.move_to_nearest(0, 1).box == LEFT
    assert at.move_to_nearest(0, 1).move_to_nearest(1, 0).box == RIGHT
    assert at.move_to_nearest(0, 1).move_to_nearest(1, 0).move_to_nearest(-1, 0).box == LEFT
    assert at.move_to_nearest(0, 1).move_to_nearest(0, 1).box == LOW
    assert at.move_to_nearest(0, 1).move_to_nearest(0, 1).move_to_nearest(0, 1).box == LOW


def test_of_two_that_way_the_one_on_the_line_comes_first_though_it_is_further() -> None:
    here, far, off = Bounds(0, 0, 100, 100), Bounds(400, 0, 500, 100), Bounds(200, 300, 300, 400)
    assert first_frame(seen(here, far, off), SIZE).move_to_nearest(1, 0).box == far


def test_tab_goes_through_all_things_and_around() -> None:
    at = frame()
    way = [at]
    for _ in range(4):
        way.append(way[-1].move_to_next(1))
    assert [one.box for one in way] == [TOP, LEFT, RIGHT, LOW, TOP]
    assert at.move_to_next(-1).box == LOW
    moved = at.move_to_nearest(0, 1).grow(1, 1)
    assert moved.box not in moved.things
    assert moved.move_to_next(1).box == RIGHT
    assert moved.move_to_next(-1).box == LEFT


def test_the_corner_is_dragged_by_a_fortieth_of_the_screen() -> None:
    at = frame().move_to_nearest(0, 1)
    assert at.grow(1, 0).box == (0, 200, 425, 300)
    assert at.grow(0, -1).box == (0, 200, 400, 250)
    assert at.nudge(1, 1).box == (25, 250, 425, 350)
    assert at.nudge(-1, 0).box == LEFT


@pytest.mark.parametrize("known", [None, Observation(), Observation(tree=UiTree())])
def test_where_nothing_is_known_it_is_moved_freely_from_the_middle(known: Observation | None) -> None:
    at = first_frame(known, SIZE)
    assert at.box == (400, 800, 600, 1200)
    assert at.move_to_nearest(1, 0).box == (450, 800, 650, 1200)
    assert at.move_to_nearest(0, -1).box == (400, 700, 600, 1100)
    assert at.move_to_next(1) == at


@pytest.mark.parametrize("side", range(1, 12))
def test_of_the_smallest_screen_there_is_a_middle(side: int) -> None:
    left, top, right, bottom = first_frame(None, (side, 12 - side)).box
    assert 0 <= left < right <= side
    assert 0 <= top < bottom <= 12 - side


MOVES = st.lists(
    st.tuples(st.sampled_from(["go", "grow", "nudge"]), st.sampled_from([(0, 1), (0, -1), (1, 0), (-1, 0)])),
    max_size=60,
)


@given(
    st.tuples(st.integers(1, 300), st.integers(1, 300)),
    st.lists(st.tuples(*[st.integers(-50, 350)] * 4), max_size=6),
    MOVES,
)
def test_it_never_leaves_the_screen_and_never_closes(
    size: tuple[int, int], boxes: list[tuple[int, ...]], moves: list[tuple[str, tuple[int, int]]]
) -> None:
    nodes = tuple(Node(Bounds(a, b, c, d), text="x") for a, b, c, d in boxes)
    at = first_frame(Observation(size=size, tree=UiTree(nodes)), (1, 1))
    for verb, way in moves:
        at = getattr(at, {"go": "move_to_nearest"}.get(verb, verb))(*way)
        left, top, right, bottom = at.box
        assert 0 <= left < right <= size[0]
        assert 0 <= top < bottom <= size[1]
