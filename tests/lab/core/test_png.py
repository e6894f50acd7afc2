"""Pixels that are written as a PNG are read back the same, by a program of others."""

from __future__ import annotations

import io
import random

import pytest
from PIL import Image

from lab.core.values.png import png_of


@pytest.mark.parametrize("size", [(1, 1), (7, 3), (461, 20)])
@pytest.mark.parametrize("level", [1, 3, 9])
def test_pixels_are_read_back_the_same(size: tuple[int, int], level: int) -> None:
    rgb = random.Random(3).randbytes(3 * size[0] * size[1])
    with Image.open(io.BytesIO(png_of(rgb, size, level))) as picture:
        assert (picture.format, picture.mode, picture.size) == ("PNG", "RGB", size)
        assert picture.tobytes() == rgb
