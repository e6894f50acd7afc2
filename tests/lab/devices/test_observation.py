"""One observation: picture and tree belong together, and no password is in either."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from PIL import Image

from lab.core.redaction.password_redaction import typed_password
from lab.core.run.step import Action
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.seams import Trouble
from lab.devices.adb.dump import Dumper
from lab.devices.adb.screencap import png_size
from lab.devices.adb.system_state import SystemState
from lab.devices.observation import ScreenObserver, consistent
from lab.devices.screen_watch import ScreenWatch
from tests.lab.devices.answering import answering


def tree(words: str) -> UiTree:
    return UiTree((Node(Bounds(0, 0, 9, 9), words),))


A, B, C = tree("a"), tree("b"), tree("c")


def pair(pictures: list[bytes], trees: list[UiTree | None]) -> tuple[bytes, UiTree | None]:
    """What is taken of these pictures and dumps, as they come."""
    shots, dumps = iter(pictures), iter(trees)
    png, taken = consistent(lambda: next(shots), lambda: next(dumps))
    return png, taken[-1] if taken else None


def test_a_picture_that_stays_the_same_over_the_dump_is_taken() -> None:
    assert pair([b"1", b"1"], [A]) == (b"1", A)
    assert pair([b"1", b"2", b"2"], [A, B]) == (b"2", B)


def test_a_tree_that_stays_the_same_over_the_picture_is_taken() -> None:
    assert pair([b"1", b"2"], [A, A]) == (b"2", A)


def test_after_three_dumps_the_newest_stand() -> None:
    assert pair([b"1", b"2", b"3", b"4"], [A, B, C]) == (b"4", C)


def test_without_a_tree_the_picture_stands_alone() -> None:
    assert pair([b"1"], [None]) == (b"1", None)


def png(colour: tuple[int, int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (40, 40), colour).save(out, "PNG")
    return out.getvalue()


FOCUS = "mCurrentFocus=Window{1 u0 com.bank/com.bank.Login}"
SECRET, PLACE = "hunter2", (4, 8, 20, 12)
FIELD = f'<node text="{SECRET}" content-desc="{SECRET}" password="true" focused="true" bounds="[4,8][20,12]" />'


class Bank:
    """A phone that shows a password: `trees` says whether uiautomator gives its dump."""

    def __init__(self) -> None:
        self.trees = True
        self.field = FIELD
        self.kind = "0x81"
        self.size = ""
        self.picture = png((255, 0, 0))

    def answer(self, command: str) -> bytes:
        if command.startswith("screencap"):
            return self.picture
        if command.startswith("uiautomator"):
            xml = f'<hierarchy rotation="0">{self.field}</hierarchy>'
            return xml.encode() if self.trees else b"ERROR: could not get idle state."
        said = [
            "2026-03-10T08:50:00+0800",
            FOCUS,
            f"mInputShown=true\n inputType={self.kind}",
            self.size,
            "hitlab:exit:0",
        ]
        return "\nhitlab:next\n".join(said[:4]).encode() + b"\n" + said[4].encode()

    def looker(self) -> ScreenObserver:
        shell = answering(self.answer)
        return ScreenObserver(shell, Dumper(shell), ScreenWatch(shell, lambda trouble: None), SystemState())


def painted(data: bytes) -> Iterator[tuple[int, int]]:
    """The pixels that are not as the phone showed them."""
    with Image.open(io.BytesIO(data)) as picture:
        for y in range(picture.height):
            for x in range(picture.width):
                if picture.convert("RGB").getpixel((x, y)) != (255, 0, 0):
                    yield x, y


def inside(place: tuple[int, int, int, int]) -> set[tuple[int, int]]:
    return {(x, y) for x in range(place[0], place[2]) for y in range(place[1], place[3])}


def test_a_password_is_neither_in_the_tree_nor_in_the_picture() -> None:
    screen = Bank().looker().observe()
    assert screen.activity == "com.bank/.Login"
    assert screen.at == "2026-03-10T08:50:00+08:00"
    assert [SECRET in (node.text, node.desc) for node in screen.tree.nodes()] == [False]
    assert set(painted(screen.png)) == inside(PLACE)


def test_a_screen_without_passwords_keeps_its_very_bytes() -> None:
    bank = Bank()
    bank.field = '<node text="hello" bounds="[4,8][20,12]" />'
    assert bank.looker().observe().png == png((255, 0, 0))


def test_without_a_tree_passwords_stay_covered_where_they_were() -> None:
    bank = Bank()
    looker = bank.looker()
    looker.observe()
    bank.trees = False
    screen = looker.observe()
    assert not screen.tree.find(contains=SECRET)
    assert typed_password(Action("input_text", text=SECRET), screen.tree) == SECRET
    assert set(painted(screen.png)) == inside(PLACE)


def test_without_any_tree_a_screen_that_takes_a_password_is_covered_whole() -> None:
    bank = Bank()
    bank.trees = False
    assert set(painted(bank.looker().observe().png)) == inside((0, 0, 40, 40))
    bank.kind = "0x1"
    assert not set(painted(bank.looker().observe().png))


OPEN = FIELD.replace(
    'password="true"', 'password="false" resource-id="com.bank:id/pin" class="android.widget.EditText"'
)
"""A password's field on a phone that was told to show passwords."""


def test_a_password_that_the_phone_shows_is_known_by_its_keyboard() -> None:
    bank = Bank()
    bank.field, bank.kind = OPEN, "0x91"
    looker = bank.looker()
    screen = looker.observe()
    assert not screen.tree.find(contains=SECRET)
    assert set(painted(screen.png)) == inside(PLACE)
    assert typed_password(Action("input_text", text=SECRET), screen.tree) == SECRET
    bank.field, bank.kind = OPEN.replace('focused="true"', ""), "0x1"
    left = looker.observe()
    assert not left.tree.find(contains=SECRET)
    assert set(painted(left.png)) == inside(PLACE)


def test_a_password_is_secret_where_its_field_is_in_no_tree() -> None:
    bank = Bank()
    bank.field = '<node text="drawn by itself" bounds="[0,0][40,40]" />'
    screen = bank.looker().observe()
    assert typed_password(Action("input_text", text=SECRET), screen.tree) == SECRET
    assert typed_password(Action("input_text", text=SECRET, at=(9, 9)), screen.tree) == SECRET


def test_a_picture_of_the_panels_pixels_is_scaled_to_those_of_touches() -> None:
    bank = Bank()
    bank.size = "Physical size: 40x40\nOverride size: 20x20"
    screen = bank.looker().observe()
    assert (screen.size, png_size(screen.png)) == ((20, 20), (20, 20))
    assert set(painted(screen.png)) == inside((4, 8, 20, 12))
    bank.size = "Physical size: 40x40\nOverride size: 20x30"
    assert bank.looker().observe().size == (40, 40)


def test_a_picture_that_cannot_be_read_is_trouble_and_ends_nothing() -> None:
    bank = Bank()
    bank.picture = bank.picture[:40] + b"\0" * 20 + bank.picture[60:]
    with pytest.raises(Trouble, match="no picture"):
        bank.looker().observe()
