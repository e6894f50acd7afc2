"""A screen that was packed before is not drawn again, as far as memory goes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from PIL.Image import Image

from lab.core.run.step import Action
from simulators.phone import phone
from simulators.phone.kit import draw
from simulators.phone.kit.boxes import Window
from simulators.phone.phone import PackedScreens, Phone


def test_what_was_used_longest_ago_goes_first() -> None:
    packed: list[int] = []
    screens = PackedScreens(300)

    def png(number: int) -> bytes:
        def pack() -> bytes:
            packed.append(number)
            return bytes([number]) * 100

        return screens.png({"number": number}, pack)

    for number in (1, 2, 3, 1, 4, 1, 2):
        assert png(number) == bytes([number]) * 100
    assert packed == [1, 2, 3, 4, 2]
    assert screens.size == 300


def test_one_that_is_too_large_is_not_kept() -> None:
    screens = PackedScreens(10)
    assert screens.png({}, lambda: bytes(11)) == bytes(11)
    assert screens.size == 0


def test_a_second_phone_in_the_same_state_is_not_drawn_and_one_in_another_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phone, "_PACKED", PackedScreens())
    drawn: list[int] = []
    picture = draw.picture

    def counted(windows: list[Window], artists: Mapping[str, draw.Artist]) -> Image:
        drawn.append(1)
        return picture(windows, artists)

    monkeypatch.setattr(draw, "picture", counted)
    one, other = Phone(), Phone()
    home = one.observe().png
    assert other.observe().png == home
    assert len(drawn) == 1
    other.perform(Action("open_app", app="Settings"))
    assert other.observe().png != home
    assert len(drawn) == 2
    assert one.observe().png == home
