"""Switches, radio buttons and check boxes tell their state in a character, where they stand and on no text."""

from __future__ import annotations

import io
from itertools import product

import pytest
from PIL import Image, ImageDraw
from rich.cells import cell_len

from lab.core.run.ui_tree import Bounds, Node, UiTree
from screens.mirror.controls import controls
from screens.mirror.fit import ZOOMS
from screens.mirror.glyphs import width_of
from screens.mirror.paint import BOLD
from screens.mirror.painter import PaintedPhone, Painter
from screens.mirror.shot import MirrorShot, MirrorView
from simulators.phone.phone import Phone
from simulators.phone.shots import phone_at, tap
from tests.crossed import crossed, each_once

VIEWS = [MirrorView((45, 25), zoom="wide"), MirrorView((45, 50))]
SIGNS = ("◉", "○", "☑", "☐", "━━━●", "●━━━")


def dish(dark: bool) -> Phone:
    """The sheet of a dish whose second size was chosen."""
    phone = phone_at("food", "menu", {"restaurant": "Copper Ladle"}, dark=dark)
    tap(phone, "Smoked broth noodles")
    tap(phone, "Large")
    return phone


def seen(phone: Phone) -> MirrorShot:
    screen = phone.observe()
    with Image.open(io.BytesIO(screen.png)) as image:
        return MirrorShot(image.convert("RGB").tobytes(), image.size, screen.tree, live=True)


def lines(painted: PaintedPhone) -> dict[int, str]:
    """What was written on each row, from left to right."""
    rows: dict[int, list[tuple[int, str]]] = {}
    for text in painted.texts:
        rows.setdefault(text.row, []).append((text.column, "".join(glyph.text for glyph in text.line)))
    return {row: " ".join(text for _, text in sorted(texts)) for row, texts in rows.items()}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dark", [False, True])
def test_what_is_chosen_is_told_beside_its_words(view: MirrorView, dark: bool) -> None:
    said = lines(Painter().paint(seen(dish(dark)), view)).values()
    for line in ("○ Regular", "◉ Large +$2.50", "◉ Mild", "○ Medium", "○ Hot", "☐ Soft egg +$1.50"):
        assert line in said


def test_a_state_that_finds_no_room_beside_its_words_stands_beside_no_others() -> None:
    said = lines(Painter().paint(seen(dish(False)), MirrorView((12, 13)))).values()
    assert not any("◉" in line and word in line for line in said for word in ("Regular", "Medium", "Hot"))
    assert "○ Medium" in said


def test_a_state_stands_on_the_row_of_its_own_label_or_nowhere() -> None:
    """At sizes at which a label finds no room its mark goes, too; else it would be taken for a neighbour's."""
    shot = seen(dish(False))
    labels = {"◉": ("Large", "Mild"), "○": ("Regular", "Medium", "Hot"), "☐": ("Soft", "Extra")}
    sizes = [(12, 9), (24, 8), (39, 9), (39, 10), (40, 6), (40, 7), (41, 11), (45, 12)]
    for cells, zoom in product(sizes, ZOOMS):
        for line in lines(Painter().paint(shot, MirrorView(cells, zoom=zoom))).values():
            signs = [sign for sign in line if sign in "◉○☑☐"]
            assert len(signs) <= 1, (cells, zoom, line)
            assert all(any(label[:2] in line for label in labels[sign]) for sign in signs), (cells, zoom, line)


@pytest.mark.parametrize("cells", [(22, 19), (24, 19), (28, 20), (30, 20), (33, 24)])
def test_an_apps_label_is_cut_and_never_goes_on_with_its_last_letter_in_the_next_row(cells: tuple[int, int]) -> None:
    painted = Painter().paint(seen(Phone()), MirrorView(cells, zoom="wide"))
    words = ["".join(glyph.text for glyph in text.line) for text in painted.texts]
    assert sum(word[0].isupper() for word in words) >= 12
    assert [word for word in words if word[0].islower()] == []


def test_labels_of_one_grid_are_all_bold_or_none() -> None:
    painted = Painter().paint(seen(Phone()), MirrorView((45, 50)))
    bold = {
        "".join(glyph.text for glyph in text.line): bool(int(painted.cells.fg[text.row, text.column]) & BOLD)
        for text in painted.texts
    }
    assert bold["Tuesday, 10 March"]
    assert [name for name in ("Mail", "Contacts", "Messages", "Windowsill", "Suppertide", "Clock") if bold[name]] == []


SETTINGS = [
    ("display", ("●━━━", "━━━●")),
    ("quiet", ("●━━━", "●━━━")),
    ("wifi", ("━━━●", "━━━●")),
    ("font_size", ("Default",) * 2),
]
"""A screen of the settings, and how the line ends whose control is seen: in light, and in dark."""


@crossed
@pytest.mark.parametrize(("of", "view", "dark"), each_once(SETTINGS, VIEWS, [True, False, False, True]))
def test_settings_tell_what_is_on(of: tuple[str, tuple[str, str]], view: MirrorView, dark: bool) -> None:
    screen, ends = of
    shot = seen(phone_at("settings", screen, {}, dark=dark))
    painted = Painter().paint(shot, view)
    assert shot.tree is not None
    told = [text for text in painted.texts if "".join(glyph.text for glyph in text.line) in SIGNS]
    assert len(told) == sum(one.kind != "icon" for one in controls(shot.tree, (1080, 2400)))
    marked = [line for line in lines(painted).values() if any(sign in line for sign in ("◉", "━"))]
    assert len(marked) == 1
    assert marked[0].endswith(ends[dark])
    taken: set[tuple[int, int]] = set()
    for text in painted.texts:
        cells = {(text.row, text.column + offset) for offset in range(width_of(text.line))}
        assert not cells & taken
        taken |= cells


def test_each_sign_is_as_wide_as_its_characters() -> None:
    assert all(cell_len(sign) == len(sign) for sign in SIGNS)


def test_a_state_goes_when_its_pixels_change_and_no_tree_says_what_to() -> None:
    phone, painter = dish(False), Painter()
    shot = seen(phone)
    assert "◉ Mild" in lines(painter.paint(shot, VIEWS[0])).values()
    tap(phone, "Hot")
    later = lines(painter.paint(seen(phone)._replace(tree=None), VIEWS[0])).values()
    assert "◉ Mild" not in later
    assert "○ Hot" not in later
    assert "○ Medium" in later
    assert "◉ Hot" in lines(painter.paint(seen(phone), VIEWS[0])).values()


@pytest.mark.parametrize("drawn", [None, (100, 940, 700, 1010), (80, 1020, 1000, 1024)])
def test_nothing_is_told_where_no_such_control_is_seen(drawn: tuple[int, int, int, int] | None) -> None:
    image = Image.new("RGB", (1080, 2400), "white")
    if drawn is not None:
        ImageDraw.Draw(image).rectangle(drawn, "black")
    box = Node(Bounds(40, 900, 1040, 1050), cls="android.widget.CheckBox", checkable=True, checked=True)
    assert not Painter().paint(MirrorShot(image.tobytes(), image.size, UiTree((box,))), VIEWS[1]).texts


@pytest.mark.parametrize("dark", [False, True])
def test_a_box_behind_its_words_is_told_there(dark: bool) -> None:
    said = list(lines(Painter().paint(seen(phone_at("social", "close_friends", {}, dark=dark)), VIEWS[1])).values())
    assert sum(line.endswith("☑") for line in said) == 2
    assert sum(line.endswith("☐") for line in said) == 3


@pytest.mark.parametrize("dark", [False, True])
def test_words_in_an_outline_stand_where_they_are_written(dark: bool) -> None:
    painted = Painter().paint(seen(phone_at("marrowby", "filter", {}, dark=dark)), VIEWS[0])
    begins = {"".join(glyph.text for glyph in text.line): text.column for text in painted.texts}
    assert begins["From"] < begins["Cream"] < begins["Up to"] < begins["Green"]
    assert abs(begins["Black"] - begins["White"]) <= 1
    alarm = seen(phone_at("clock", "alarm", {}, dark=dark))
    assert "Label" in "".join(lines(Painter().paint(alarm, VIEWS[0])).values())


def test_what_a_switch_leaves_behind_stays_on_its_card() -> None:
    painted = Painter().paint(seen(phone_at("settings", "wifi", {})), VIEWS[0])
    switch = next(text for text in painted.texts if "".join(glyph.text for glyph in text.line) == "━━━●")
    below = painted.cells.bg[switch.row + 1]
    assert below[switch.column + 1] == below[20]
