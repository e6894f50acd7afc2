"""What a phone's screencap gives: whole pictures are taken, all else is said to be what it is."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lab.core.seams import Trouble
from lab.devices.adb import screencap
from lab.devices.adb.screencap import checked, parsed, png_size
from tests.lab.devices.answering import answering


def png(size: tuple[int, int] = (9, 5)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, (1, 2, 3)).save(out, "PNG")
    return out.getvalue()


def raw(size: tuple[int, int], format: int, pixels: bytes, *, space: bool) -> bytes:
    return struct.pack("<3I", *size, format) + (struct.pack("<I", 1) if space else b"") + pixels


def test_a_whole_png_is_taken_from_where_it_begins() -> None:
    assert checked(png(), "phone") == png()
    assert checked(b"[Warning] Multiple displays were found\n" + png(), "phone") == png()
    assert png_size(png()) == (9, 5)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "failed"),
        (b"Error: no display\n", "failed"),
        (b"\0" * 9000, "no picture"),
        (png()[:-1], "cut short"),
        (png()[:40], "cut short"),
        (png()[:20], "no picture"),
        (png().replace(b"IHDR", b"IHDX"), "no picture"),
        (png()[:16] + struct.pack(">II", 0, 5) + png()[24:], "no picture"),
    ],
)
def test_what_is_no_whole_png_is_trouble(data: bytes, said: str) -> None:
    with pytest.raises(Trouble, match=said):
        checked(data, "phone")


@pytest.mark.parametrize("space", [False, True])
@pytest.mark.parametrize("format", [1, 2, 3, 4, 5])
def test_raw_pixels_of_every_format_become_rgb(format: int, space: bool) -> None:
    rgb = np.array([[[248, 252, 0], [8, 4, 248]], [[0, 0, 0], [255, 255, 255]]], np.uint8)
    alpha = np.full((2, 2, 1), 7, np.uint8)
    red, green, blue = (rgb[:, :, i].astype("<u2") for i in range(3))
    pixels = {
        1: np.concatenate([rgb, alpha], axis=2).tobytes(),
        2: np.concatenate([rgb, alpha], axis=2).tobytes(),
        3: rgb.tobytes(),
        4: (red >> 3 << 11 | green >> 2 << 5 | blue >> 3).astype("<u2").tobytes(),
        5: np.concatenate([rgb[:, :, ::-1], alpha], axis=2).tobytes(),
    }[format]
    got = parsed(raw((2, 2), format, pixels, space=space), "phone")
    assert got.size == (2, 2)
    off = 7 if format == 4 else 0
    assert np.abs(np.frombuffer(got.rgb(), np.uint8).astype(int) - rgb.ravel().astype(int)).max() <= off


@pytest.mark.parametrize("format", [22, 43])
def test_pixels_of_more_bits_are_taken_as_png(format: int) -> None:
    deep = raw((9, 5), format, b"x" * 9 * 5 * 8, space=True)
    shown = screencap.raw(answering(lambda command: png() if "-p" in command else deep))
    assert (shown.size, shown.rgb()) == ((9, 5), bytes((1, 2, 3)) * 45)


@given(st.binary(max_size=200))
def test_raw_garbage_is_trouble(data: bytes) -> None:
    try:
        shown = parsed(data, "phone")
    except Trouble:
        return
    assert len(shown.rgb()) == shown.size[0] * shown.size[1] * 3


def test_a_cut_screencap_is_said_to_be_cut() -> None:
    with pytest.raises(Trouble, match="cut short"):
        parsed(raw((4, 4), 1, b"x" * 40, space=True), "phone")
