"""Icon buttons in the mirror: a character that says what they do, where they are drawn."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from rich.cells import cell_len

from lab.core.run.ui_tree import Bounds, Node
from screens.mirror.controls import _ICON_SIGNS, icons, sign
from screens.mirror.glyphs import TAIL
from screens.mirror.painter import Painter
from screens.mirror.shot import MirrorShot, MirrorView
from simulators.phone.shots import phone_at


@pytest.mark.parametrize(
    ("desc", "mark"),
    [
        ("Navigate up", "←"), ("Delete contact", "⌫"), ("Remove from favourites", "★"), ("Add to favourites", "☆"),
        ("Not starred", "☆"), ("Starred", "★"), ("Send", "➤"), ("More options", "⋮"),
        ("Mark as unread", "✉"), ("Older photo", "→"), ("Pinned messages", "⚑"), ("Checklist", "☑"),
        ("More", "+"), ("Next hour", "+"), ("Previous hour", "−"), ("搜索", "⌕"),
        ("Archive", "↧"), ("归档", "↧"), ("Cart, 2 items", "Car"), ("翻译", "翻译"), ("!", ""),
    ],
)  # fmt: skip
def test_a_description_has_a_sign_or_its_first_letters(desc: str, mark: str) -> None:
    assert sign(desc) == mark


def test_every_sign_takes_the_cells_that_it_has_characters() -> None:
    assert all(cell_len(mark) == len(mark) for _, mark in _ICON_SIGNS)


def test_only_small_buttons_without_words_count() -> None:
    screen = Bounds(0, 0, 1080, 2400)
    small, large = Bounds(40, 40, 160, 160), Bounds(0, 0, 1080, 900)
    worded = Node(small, desc="Send", clickable=True, children=(Node(small, text="Send it"),))
    for node in (
        worded,
        Node(small, desc="Send"),
        Node(small, clickable=True),
        Node(large, desc="Send", clickable=True),
        Node(small, desc="Send", clickable=True, checkable=True),
    ):
        assert not list(icons(node, screen))
    assert list(icons(Node(small, desc="Send", clickable=True), screen)) == [(small, "➤")]


def test_the_signs_stand_in_the_bar_at_45_by_25() -> None:
    seen = phone_at("contacts", "person", {"name": "Noor Haddad"}).observe()
    with Image.open(io.BytesIO(seen.png)) as image:
        shot = MirrorShot(image.convert("RGB").tobytes(), image.size, seen.tree)
    painter = Painter()
    rows = painter.paint(shot, MirrorView((45, 25), zoom="wide")).cells.codes.tolist()
    lines = ["".join(painter.codes.text(chr(code)) for code in row if code != TAIL) for row in rows]
    bar = next(line for line in lines if "✎" in line)
    assert bar.index("←") < bar.index("✎") < bar.index("⌫")
    assert any("⌂" in line and "□" in line for line in lines[-2:])
