"""Pictures become the cells that a terminal can show, and only rows that differ are drawn again."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from rich.color import ColorSystem
from rich.console import Console

from screens.mirror import paint
from screens.mirror.canvas import strips
from screens.mirror.fit import ZOOMS, Zoom, fit, phone_room
from screens.mirror.glyphs import Codes
from screens.mirror.paint import BLANK, BOLD, UPPER, Cells, pack, unpack
from screens.mirror.painter import Painter
from screens.mirror.shot import MirrorShot, MirrorView

RED, BLUE = pack(255, 0, 0), pack(0, 0, 255)


def two_colours(size: tuple[int, int]) -> bytes:
    """Red above, blue below."""
    image = Image.new("RGB", size, (255, 0, 0))
    image.paste((0, 0, 255), (0, size[1] // 2, size[0], size[1]))
    return image.tobytes()


def test_a_picture_of_two_colours_is_blank_cells_and_half_blocks_where_they_meet() -> None:
    cells = Painter().paint(MirrorShot(two_colours((40, 120)), (40, 120)), MirrorView((2, 3))).cells
    assert cells.codes.tolist() == [[BLANK, BLANK], [UPPER, UPPER], [BLANK, BLANK]]
    assert cells.bg.tolist() == [[RED, RED], [BLUE, BLUE], [BLUE, BLUE]]
    assert cells.fg[1].tolist() == [RED, RED]


def test_a_phone_keeps_its_shape_and_lies_in_the_middle() -> None:
    painted = Painter().paint(MirrorShot(two_colours((100, 200)), (100, 200)), MirrorView((30, 10)))
    assert painted.fit is not None
    assert (painted.fit.left, painted.fit.top, painted.fit.cols, painted.fit.rows) == (10, 0, 10, 10)
    beside = painted.cells.bg[:, :10]
    assert (beside == paint.NOTHING).all()
    assert not (painted.cells.bg[:, 10:20] & paint.NOTHING).any()


@given(
    st.tuples(st.integers(1, 3000), st.integers(1, 3000)),
    st.tuples(st.integers(1, 200), st.integers(1, 90)),
    st.sampled_from(ZOOMS),
    st.tuples(st.integers(-50, 5000), st.integers(-50, 5000)),
)
def test_every_cell_of_a_fit_leads_to_a_pixel_of_the_phone(
    size: tuple[int, int], cells: tuple[int, int], zoom: Zoom, pan: tuple[int, int]
) -> None:
    where = fit(size, cells, zoom, pan)
    assert where is not None
    assert where.left >= 0
    assert where.left + where.cols <= cells[0]
    assert where.top >= 0
    assert where.top + where.rows <= cells[1]
    for column, row in ((where.left, where.top), (where.left + where.cols - 1, where.top + where.rows - 1)):
        at = where.pixel(column, row)
        assert at is not None
        assert 0 <= at[0] < size[0]
        assert 0 <= at[1] < size[1]
    assert where.pixel(where.left - 1, where.top) is None
    assert where.pixel(where.left, where.top + where.rows) is None


def test_no_room_or_no_phone_is_no_fit() -> None:
    assert fit((0, 10), (10, 10)) is None
    assert fit((10, 10), (10, 0)) is None


def test_a_trembling_video_does_not_move_a_cell() -> None:
    old = np.full((4, 4), pack(100, 100, 100), np.uint32)
    near, far = np.full_like(old, pack(103, 98, 100)), np.full_like(old, pack(110, 100, 100))
    assert (paint.steadied(near, old) == old).all()
    assert (paint.steadied(far, old) == far).all()


def test_rounding_keeps_black_and_white() -> None:
    both = np.array([[0, 0xFFFFFF]], np.uint32)
    assert (paint.rounded_colours(both) == both).all()


@given(st.lists(st.integers(0, 0xFFFFFF), min_size=1, max_size=30))
def test_256_colours_are_ones_that_rich_leaves_as_they_are(colours: list[int]) -> None:
    few = paint.to_256(np.array([colours], np.uint32))[0]
    for colour in few.tolist():
        red, green, blue = unpack(colour)
        levels = (0, 95, 135, 175, 215, 255)
        assert {red, green, blue} <= set(levels) or (red == green == blue and (red - 8) % 10 == 0)


@given(st.integers(0, 0xFFFFFF), st.integers(0, 0xFFFFFF))
def test_ink_always_stands_out_from_its_paper(ink: int, paper: int) -> None:
    assert paint.contrast(paint.legible(ink, paper), paper) >= 3.6


def test_changed_rows_are_those_that_differ() -> None:
    old = paint.empty(4, 3)
    new = old.copy()
    assert paint.changed_rows(old, new) == []
    new.codes[2, 1] = ord("x")
    assert paint.changed_rows(old, new) == [2]
    assert paint.changed_rows(None, new) == [0, 1, 2, 3]


def console(colours: ColorSystem) -> Console:
    made = Console(file=io.StringIO(), force_terminal=True)
    made._color_system = colours
    return made


def test_a_row_states_only_what_differs_from_the_run_before() -> None:
    row = Cells(
        *(np.array([values], np.uint32) for values in ([97, 98, 99, 32], [RED, RED, RED | BOLD, BLUE], [BLUE] * 4))
    )
    (strip,) = strips(row, [0], Codes())
    assert strip.render(console(ColorSystem.TRUECOLOR)) == (
        "\x1b[38;2;255;0;0;48;2;0;0;255mab\x1b[1;38;2;255;0;0mc\x1b[22;38;2;0;0;255m \x1b[0m"
    )
    assert [segment.text for segment in strip] == ["ab", "c", " "]
    assert strip.cell_length == 4


def test_a_row_is_the_same_drawn_in_runs_and_in_segments() -> None:
    random = np.random.default_rng(3)
    row = Cells(*(random.integers(33, 120, (1, 20)).astype(np.uint32) for _ in range(3)))
    (strip,) = strips(row, [0], Codes())
    assert "".join(segment.text for segment in strip) == row.codes[0].tobytes().decode("utf-32-le")
    assert "\x1b[38;5;" in strip.crop(3, 9).render(console(ColorSystem.EIGHT_BIT))
    assert strip.crop(3, 9).cell_length == 6


@pytest.mark.parametrize("cells", [(20, 12), (45, 25), (80, 45), (7, 3), (1, 1)])
@pytest.mark.parametrize("zoom", ZOOMS)
def test_any_size_given_is_filled_exactly(cells: tuple[int, int], zoom: Zoom) -> None:
    for shot in (MirrorShot(two_colours((108, 240)), (108, 240)), MirrorShot(None, None, None)):
        assert Painter().paint(shot, MirrorView(cells, zoom=zoom)).cells.shape == (cells[1], cells[0])


@pytest.mark.parametrize(
    ("lines", "most", "widened", "found"),
    [
        (21, 40, 42, (38, "wide")),
        (36, 60, 60, (45, "wide")),
        (56, 100, 100, (50, "fit")),
        (19, 32, 15, (17, "fit")),
        (35, 44, 45, (45, "wide")),
        (60, 50, 50, (50, "fit")),
    ],
)
def test_a_phone_is_given_the_columns_that_its_words_need(
    lines: int, most: int, widened: int, found: tuple[int, str]
) -> None:
    assert phone_room((1080, 2400), lines, most, widened) == found
