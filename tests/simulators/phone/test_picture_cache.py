"""Drawn pictures are kept as far as memory goes."""

from __future__ import annotations

import pytest
from PIL import Image

from simulators.phone.kit.picture_cache import keep_pictures, picture_bytes
from simulators.phone.kit.sized_cache import SizedCache
from simulators.phone.pictures.pictures import dish

WHITE = (255, 255, 255)


def grey(side: int) -> Image.Image:
    return Image.new("L", (side, side))


@pytest.mark.parametrize(("mode", "size"), [("1", 100), ("L", 100), ("P", 100), ("RGB", 400), ("RGBA", 400)])
def test_a_picture_takes_what_pillow_keeps_of_it(mode: str, size: int) -> None:
    assert picture_bytes(Image.new(mode, (10, 10))) == size


def test_what_was_used_longest_ago_goes_first() -> None:
    cache = SizedCache(300, picture_bytes)
    one, other, third = grey(10), grey(10), grey(10)
    for key, picture in (("one", one), ("other", other), ("third", third)):
        cache.store(key, picture)
    assert cache.get("one") is one
    cache.store("fourth", grey(10))
    assert cache.get("other") is None
    assert (cache.get("one"), cache.get("third")) == (one, third)
    assert cache.size == 300


def test_one_that_is_too_large_is_not_kept_and_sends_no_other_away() -> None:
    cache = SizedCache(100, picture_bytes)
    small = grey(10)
    cache.store("small", small)
    cache.store("large", grey(11))
    assert cache.get("large") is None
    assert cache.get("small") is small


def test_a_key_that_is_put_twice_counts_once() -> None:
    cache = SizedCache(300, picture_bytes)
    for side in (10, 15):
        cache.store("one", grey(side))
    assert cache.size == 225


def test_a_function_draws_once_what_is_kept() -> None:
    drawn: list[tuple[int, str]] = []

    @keep_pictures(megabytes=1)
    def picture(side: int, colour: str = "") -> Image.Image:
        drawn.append((side, colour))
        return grey(side)

    assert picture(500) is picture(500)
    assert picture(500, colour="red") is not picture(500)
    for side in range(600, 610):  # three times what is kept
        picture(side)
    picture(500)
    assert drawn.count((500, "")) == 2


@pytest.mark.parametrize("shape", [(984, 264), (264, 984), (168, 168)])
def test_a_dish_stands_in_the_middle_of_its_ground(shape: tuple[int, int]) -> None:
    wide, side = dish("soup/Miso", *shape, dark=False), min(shape)
    alone = dish("soup/Miso", side, side, dark=False)
    left, top = (shape[0] - side) // 2, (shape[1] - side) // 2
    assert wide.crop((left, top, left + side, top + side)).tobytes() == alone.tobytes()
    wide.paste(alone.getpixel((0, 0)), (left, top, left + side, top + side))  # type: ignore[arg-type]
    assert wide.getcolors() == [(shape[0] * shape[1], alone.getpixel((0, 0)))]


def test_nobody_else_s_dish_changes_where_one_is_drawn_on() -> None:
    dish("soup/Miso", 168, 168, dark=False).paste(WHITE, (0, 0, 168, 168))
    assert dish("soup/Miso", 168, 168, dark=False).getcolors() != [(168 * 168, WHITE)]
