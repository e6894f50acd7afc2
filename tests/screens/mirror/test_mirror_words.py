"""A phone's words are drawn as characters where they stood: each whole or cut, none over another, none from before."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont
from rich.cells import cell_len

from lab.core.run.ui_tree import Bounds, Node, UiTree
from screens.mirror import paint
from screens.mirror.fit import fit
from screens.mirror.glyphs import TAIL, Codes, cut, glyphs, on_one_line, width_of, wrap
from screens.mirror.items import TextBlock
from screens.mirror.marks import MarkKind, PhoneMark, draw_marks
from screens.mirror.painter import NO_SCREENSHOT, PaintedPhone, Painter
from screens.mirror.reading import tree_texts
from screens.mirror.shot import MirrorShot, MirrorView
from screens.mirror.typeset import typeset
from tests.fuzzing_examples import examples

SIZE = (1080, 2400)
WIDE = MirrorView((45, 50))
PAPER, PURPLE = (250, 250, 250), (90, 60, 160)


class Sheet:
    """A phone's screen that is drawn word by word, its tree growing with it."""

    def __init__(self, paper: tuple[int, int, int] = PAPER) -> None:
        self.image = Image.new("RGB", SIZE, paper)
        self.pen = ImageDraw.Draw(self.image)
        self.nodes: list[Node] = []

    def text(
        self,
        text: str,
        box: tuple[int, int, int, int],
        at: str = "lm",
        size: int = 44,
        ink: tuple[int, int, int] = (20, 20, 20),
    ) -> None:
        """Writes in a box: anchored left, middle or right of it, as Pillow names it."""
        font = ImageFont.load_default(size)
        x = {"l": box[0], "m": (box[0] + box[2]) // 2, "r": box[2]}[at[0]]
        self.pen.text((x, (box[1] + box[3]) // 2), text, ink, font, anchor=at)
        self.nodes.append(Node(Bounds(*box), text=text, cls="android.widget.TextView"))

    @property
    def tree(self) -> UiTree:
        return UiTree((Node(Bounds(0, 0, *SIZE), children=tuple(self.nodes)),))

    def shot(self, *, tree: bool = True) -> MirrorShot:
        return MirrorShot(self.image.tobytes(), SIZE, self.tree if tree else None, live=True)


def line(painted: PaintedPhone, row: int, codes: Codes) -> str:
    """What a row shows, half blocks as blanks."""
    text = painted.cells.codes[row].tobytes().decode("utf-32-le")
    return codes.text(text.replace("▀", " ")).rstrip()


def rows(painted: PaintedPhone, codes: Codes) -> list[str]:
    return [line(painted, row, codes) for row in range(painted.cells.shape[0])]


def test_words_of_an_upright_app_on_a_turned_phone_stay_within_it() -> None:
    image = Image.new("RGB", (2400, 1080))
    pen = ImageDraw.Draw(image)
    app = Bounds(957, 0, 1443, 1080)
    pen.rectangle((app.left, app.top, app.right - 1, app.bottom), PAPER)
    pen.text((980, 320), "Smoked broth noodles of the house", (20, 20, 20), ImageFont.load_default(24), anchor="lm")
    label = Node(Bounds(970, 300, 1440, 340), text="Smoked broth noodles of the house", cls="android.widget.TextView")
    shot = MirrorShot(image.tobytes(), image.size, UiTree((Node(app, children=(label,)),), 1), live=True)
    for columns in (45, 60, 76):
        painted = Painter().paint(shot, MirrorView((columns, 40)))
        (text,) = painted.texts
        assert painted.fit is not None
        assert text.column >= int(painted.fit.column(app.left))
        assert text.column + width_of(text.line) <= painted.fit.column(app.right) + 1


def drawn(sheet: Sheet, view: MirrorView = WIDE) -> tuple[list[str], PaintedPhone]:
    painter = Painter()
    painted = painter.paint(sheet.shot(), view)
    return rows(painted, painter.codes), painted


def test_a_text_stands_where_it_stood() -> None:
    sheet = Sheet()
    sheet.text("Battery", (240, 1170, 900, 1230))
    lines, _ = drawn(sheet)
    assert lines[25] == " " * 10 + "Battery" or lines[24] == " " * 10 + "Battery"
    assert sum(bool(found.strip()) for found in lines) == 1


@pytest.mark.parametrize(("at", "where"), [("lm", 0), ("mm", 1), ("rm", 2)])
def test_alignment_is_the_pictures(at: str, where: int) -> None:
    sheet = Sheet()
    sheet.text("Alignment", (120, 480, 960, 560), at)
    text = next(found for found in drawn(sheet)[0] if found.strip())
    start, end = len(text) - len(text.lstrip()), len(text)
    assert (start, round((start + end) / 2), end)[where] == pytest.approx((5, 22, 40)[where], abs=1)


def test_the_ink_is_gone_and_the_bubble_stays() -> None:
    sheet = Sheet()
    sheet.pen.rounded_rectangle((300, 600, 900, 740), 50, fill=PURPLE)
    sheet.text("On my way", (340, 640, 860, 700), "mm", ink=(255, 255, 255))
    lines, painted = drawn(sheet)
    row = next(index for index, found in enumerate(lines) if found.strip())
    start = lines[row].index("On")
    purple = paint.pack(*PURPLE)
    for column in range(start, start + 9):
        assert np.abs(np.subtract(paint.unpack(int(painted.cells.bg[row, column])), paint.unpack(purple))).max() < 8
    assert paint.unpack(int(painted.cells.bg[row, 2])) == pytest.approx(PAPER, abs=6)
    assert paint.luminance(int(painted.cells.fg[row, start])) > 0.8


def test_ink_keeps_its_colour_and_always_stands_out() -> None:
    sheet = Sheet()
    sheet.text("Delete", (100, 300, 500, 360), ink=(200, 20, 20))
    sheet.text("Disabled", (100, 600, 500, 660), ink=(215, 215, 215))
    painted = drawn(sheet)[1]
    red, grey = (paint.unpack(placed.words.colour) for placed in sorted(painted.texts, key=lambda p: p.row))
    assert red[0] > 150
    assert max(red[1:]) < 80
    assert min(grey) > 170
    for placed in painted.texts:
        row, column = placed.row, placed.column
        cells = painted.cells
        assert paint.contrast(int(cells.fg[row, column]) & paint.RGB, int(cells.bg[row, column])) > 3


def test_keys_on_one_line_of_pixels_share_a_row() -> None:
    sheet = Sheet((230, 225, 235))
    for index, key in enumerate("asdfghjkl"):
        box = (54 + index * 108, 1800, 54 + index * 108 + 98, 1930)
        sheet.pen.rounded_rectangle(box, 16, fill=(255, 255, 255))
        sheet.text(key, box, "mm", size=56)
    for view in (MirrorView((45, 25), zoom="wide"), WIDE, MirrorView((80, 45))):
        lines = [found for found in drawn(sheet, view)[0] if found.strip()]
        assert [found.split() for found in lines] == [list("asdfghjkl")]


def test_a_paragraph_is_wrapped_in_its_own_rows() -> None:
    sheet = Sheet()
    text = "To improve device experience, apps and services can still scan for networks at any time"
    font = ImageFont.load_default(40)
    box = (100, 1000, 980, 1180)
    for index, part in enumerate((text[:44], text[44:])):
        sheet.pen.text((100, 1010 + index * 80), part.strip(), (40, 40, 40), font)
    sheet.nodes.append(Node(Bounds(*box), text=text))
    lines = [found.strip() for found in drawn(sheet)[0] if found.strip()]
    assert " ".join(lines) == text
    assert 2 <= len(lines) <= 4


def test_a_text_repeated_by_its_child_or_its_description_is_drawn_once() -> None:
    child = Node(Bounds(100, 300, 600, 380), text="Messages", desc="Messages")
    tree = UiTree(
        (Node(Bounds(0, 0, *SIZE), children=(Node(Bounds(90, 290, 700, 390), desc="messages", children=(child,)),)),)
    )
    assert [said.text for said in tree_texts(tree, SIZE).texts] == ["Messages"]


def test_a_description_is_drawn_only_where_its_words_are_in_the_picture() -> None:
    sheet = Sheet()
    sheet.text("Network and internet", (100, 400, 900, 480), size=70)
    sheet.nodes = [
        Node(Bounds(0, 200, 1080, 700), desc="Network and internet"),
        Node(Bounds(900, 100, 1000, 200), desc="Navigate up", cls="android.widget.ImageButton", clickable=True),
    ]
    sheet.pen.ellipse((920, 120, 980, 180), fill=(0, 0, 0))
    assert [found.strip() for found in drawn(sheet)[0] if found.strip()] == ["←", "Network and internet"]


def test_a_hidden_label_of_an_icon_is_not_drawn_over_it() -> None:
    sheet = Sheet()
    sheet.pen.ellipse((100, 1700, 240, 1840), fill=(30, 90, 220))
    sheet.pen.rectangle((140, 1740, 200, 1800), fill=(240, 60, 60))
    sheet.nodes.append(Node(Bounds(90, 1690, 250, 1850), text="Phone", clickable=True))
    assert not any(found.strip() for found in drawn(sheet)[0])


def test_without_a_tree_old_words_go_where_their_pixels_changed_and_come_back_with_them() -> None:
    sheet = Sheet()
    sheet.text("Stays here", (100, 300, 700, 360))
    sheet.text("Goes away", (100, 1300, 700, 1360))
    painter = Painter()
    first = sheet.shot()
    painter.paint(first, WIDE)
    sheet.pen.rectangle((90, 1290, 710, 1370), fill=(200, 220, 200))
    gone = rows(painter.paint(sheet.shot(tree=False), WIDE), painter.codes)
    assert [found.strip() for found in gone if found.strip()] == ["Stays here"]
    back = rows(painter.paint(first._replace(tree=None), WIDE), painter.codes)
    assert [found.strip() for found in back if found.strip()] == ["Stays here", "Goes away"]


def test_words_come_back_with_the_picture_of_a_phone_that_was_black_as_its_tree_came() -> None:
    """Asleep, or secured: the tree is told of what the picture does not show."""
    sheet = Sheet()
    sheet.text("Battery", (240, 1170, 900, 1230))
    painter = Painter()
    black = sheet.shot()._replace(pixels=bytes(SIZE[0] * SIZE[1] * 3))
    said = []
    for shot in (sheet.shot(), black, sheet.shot(tree=False), sheet.shot()):
        painted = painter.paint(shot, WIDE)
        said.append("".join(rows(painted, painter.codes)).strip())
    assert said == ["Battery", "", "", "Battery"]


def test_a_cursor_that_blinks_hides_nothing() -> None:
    sheet = Sheet()
    sheet.text("Half a sentence", (100, 300, 900, 380))
    painter = Painter()
    painter.paint(sheet.shot(), WIDE)
    sheet.pen.rectangle((500, 310, 504, 370), fill=(0, 0, 200))
    assert any("Half a sentence" in found for found in rows(painter.paint(sheet.shot(tree=False), WIDE), painter.codes))


def test_a_scroll_moves_the_words_with_their_pixels() -> None:
    painter = Painter()
    for top in (900, 853, 806, 759):
        sheet = Sheet()
        sheet.text("Rice noodles", (100, top, 900, top + 60))
        painted = painter.paint(sheet.shot(), WIDE)
        placed = painted.texts[0]
        assert placed.row == int((top + 30) / 48) or abs((placed.row + 0.5) * 48 - top - 30) < 30
        assert len(painted.texts) == 1


def test_the_overlay_can_be_left_off() -> None:
    sheet = Sheet()
    sheet.text("Battery", (240, 1170, 900, 1230))
    painter = Painter()
    assert not Painter().paint(sheet.shot(), WIDE._replace(overlay=False)).texts
    assert painter.paint(sheet.shot(), WIDE).texts
    assert not painter.paint(sheet.shot(), WIDE._replace(overlay=False)).texts
    assert painter.paint(sheet.shot(), WIDE).texts


HOSTILE = "\x1b[31mred\x1b]52;c;eA==\x07 \u202eevil\u2066 [bold]markup[/] \x9b2J\u200b\ue000\U00100000\U0010fffd"


def test_a_strangers_text_cannot_steer_the_terminal() -> None:
    tree = UiTree((Node(Bounds(0, 0, 1080, 400), text=HOSTILE), Node(Bounds(0, 600, 1080, 900), desc=HOSTILE)))
    painter = Painter()
    for cells in ((45, 50), (20, 12)):
        painted = painter.paint(MirrorShot(None, SIZE, tree), MirrorView(cells))
        if painted.fit is not None:
            draw_marks(
                painted.cells,
                painted.fit,
                [PhoneMark("type", None, None, HOSTILE), PhoneMark("tap", (5, 5), None, HOSTILE)],
                painter.codes,
            )
        text = "".join(rows(painted, painter.codes))
        assert "\\x1b[31mred" in text.replace(" ", "") or cells == (20, 12)
        for ch in text:
            assert unicodedata.category(ch) not in {"Cc", "Cf", "Cs", "Co"} or ch in "\u200d\ufe0e\ufe0f"


def test_a_run_without_screenshots_shows_its_tree_or_says_so() -> None:
    painter = Painter()
    tree = UiTree(
        (Node(Bounds(0, 0, *SIZE), children=(Node(Bounds(80, 300, 600, 380), text="Order now", clickable=True),)),)
    )
    assert any("Order now" in found for found in rows(painter.paint(MirrorShot(None, None, tree), WIDE), painter.codes))
    for cells in ((45, 50), (20, 12)):
        told = rows(painter.paint(MirrorShot(None, None, None), MirrorView(cells)), painter.codes)
        assert " ".join(" ".join(told).split()) == NO_SCREENSHOT


def test_a_stored_picture_that_cannot_be_read_is_none() -> None:
    painter = Painter()
    told = rows(painter.paint(MirrorShot(None, None, None, stored=b"\x89PNG\r\n\x1a\nnope"), WIDE), painter.codes)
    assert NO_SCREENSHOT in " ".join(" ".join(told).split())
    assert "run" not in NO_SCREENSHOT, "other steps of it may have one"


TEXTS = st.text(st.sampled_from("ab c好世界é́\u0301👍🏽\u200d🇳🇱\x1b\n…▀W"), max_size=30)


@given(TEXTS, st.integers(0, 40))
def test_glyphs_are_never_split_by_cutting_or_wrapping(text: str, width: int) -> None:
    whole = glyphs(text)
    assert all(glyph.width in (1, 2) or glyph.text == "\n" for glyph in whole)
    short = cut(on_one_line(whole), width)
    assert width_of(short) <= width
    assert all(glyph in whole or glyph.text in "… " for glyph in short)
    for one in wrap(whole, width):
        assert width_of(one) <= width
        assert all(glyph in whole for glyph in one)
        assert width_of(one) == sum(cell_len(glyph.text) for glyph in one)


@st.composite
def screens_of_words(draw: st.DrawFn) -> list[TextBlock]:
    made: list[TextBlock] = []
    for _ in range(draw(st.integers(1, 14))):
        left, top = draw(st.integers(0, 1000)), draw(st.integers(0, 2340))
        width, em = draw(st.integers(20, 900)), draw(st.integers(20, 90))
        lines = draw(st.sampled_from((1, 1, 1, 3)))
        box = Bounds(left, top, min(1080, left + width), min(2400, top + em * lines))
        text = glyphs(draw(TEXTS))
        made.append(TextBlock(text, box, box, box, (box.top + box.bottom) / 2, em, lines, 0, 0xFFFFFF, True))
    return made


@settings(max_examples=examples(150), deadline=None)
@given(screens_of_words(), st.sampled_from(((45, 25), (22, 25), (20, 12), (80, 45), (12, 8))))
def test_no_text_leaves_the_phone_or_covers_another(words: list[TextBlock], cells: tuple[int, int]) -> None:
    where = fit(SIZE, cells, "wide")
    assert where is not None
    taken: set[tuple[int, int]] = set()
    for placed in typeset(words, (), where):
        columns = range(placed.column, placed.column + width_of(placed.line))
        assert 0 <= placed.row < where.rows
        assert columns.start >= 0
        assert columns.stop <= where.cols
        assert taken.isdisjoint((placed.row, column) for column in columns)
        taken |= {(placed.row, column) for column in columns}


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(TEXTS, min_size=1, max_size=5),
    st.sampled_from(("tap", "double", "long", "drag", "scroll", "type", "box", "evidence")),
    st.tuples(st.integers(-400, 1500), st.integers(-400, 2800)),
    st.tuples(st.integers(-400, 1500), st.integers(-400, 2800)),
    TEXTS,
)
def test_wide_glyphs_stay_whole_on_the_screen_and_under_marks(
    texts: list[str], kind: MarkKind, at: tuple[int, int], to: tuple[int, int], label: str
) -> None:
    nodes = tuple(Node(Bounds(30, 100 + i * 300, 1000, 180 + i * 300), text=text) for i, text in enumerate(texts))
    painter = Painter()
    painted = painter.paint(MirrorShot(None, SIZE, UiTree(nodes)), MirrorView((24, 12)))
    beside = painted.cells.bg & np.uint32(paint.NOTHING)
    assert painted.fit is not None
    cells = paint.filled(painted.cells, 0).copy()
    before = cells.copy()
    draw_marks(cells, painted.fit, [PhoneMark(kind, at, to, label)], painter.codes)
    assert (np.where(beside, cells.codes == before.codes, True)).all()
    for row in range(12):
        codes = [int(code) for code in cells.codes[row]]
        for column, code in enumerate(codes):
            wide = code != TAIL and cell_len(painter.codes.text(chr(code))) == 2
            assert (column + 1 < len(codes) and codes[column + 1] == TAIL) == wide or code == TAIL
        assert cell_len(painter.codes.text("".join(map(chr, codes)))) == len(codes)


@pytest.mark.parametrize("kind", ["tap", "double", "long"])
def test_a_ring_leaves_the_words_it_stands_on(kind: MarkKind) -> None:
    painter = Painter()
    node = Node(Bounds(80, 1200, 1000, 1280), text="Wonton noodles", clickable=True)
    painted = painter.paint(MirrorShot(None, SIZE, UiTree((Node(Bounds(0, 0, *SIZE), children=(node,)),))), WIDE)
    assert painted.fit is not None
    cells = paint.filled(painted.cells, 0).copy()
    draw_marks(cells, painted.fit, [PhoneMark(kind, (300, 1240))], painter.codes)
    lines = [painter.codes.text("".join(chr(int(code)) for code in row)) for row in cells.codes]
    at = next(row for row, line in enumerate(lines) if "Wonton noodles" in line)
    ring = {"tap": "╭╰", "double": "╔╚", "long": "┏┗"}[kind]
    assert ring[0] in lines[at - 1]
    assert ring[1] in lines[at + 1]


@pytest.mark.parametrize("kind", ["tap", "double", "long", "drag", "scroll", "type", "box", "evidence"])
def test_a_mark_can_be_read_without_colour(kind: MarkKind) -> None:
    painter = Painter()
    painted = painter.paint(MirrorShot(None, SIZE, UiTree((Node(Bounds(0, 0, *SIZE)),))), WIDE)
    assert painted.fit is not None
    cells = painted.cells.copy()
    draw_marks(cells, painted.fit, [PhoneMark(kind, (500, 900), (700, 1500), "7")], painter.codes)
    shown = "\n".join(rows(painted._replace(cells=cells), painter.codes))
    assert "7" in shown
    expected = {
        "tap": "│7│", "double": "║7║", "long": "┃7┃", "drag": "▼", "scroll": "▼", "type": "⌨ 7",
        "box": "┘", "evidence": "╝",
    }  # fmt: skip
    assert expected[kind] in shown
