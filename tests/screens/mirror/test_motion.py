"""Video of a phone: its noise is no change, words go where their pixels went, a smaller picture says the same."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import av
import numpy as np
import pytest
from av.video.codeccontext import VideoCodecContext
from PIL import Image, ImageDraw, ImageFont

from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.seams import LazyPixels
from lab.devices.scrcpy.scrcpy_video import DecodedFrame, Scalers
from lab.devices.video_source import DecodedPicture
from screens.mirror import paint
from screens.mirror.painter import PaintedPhone, Painter
from screens.mirror.shot import MirrorShot, MirrorView
from tests.crossed import soak

PHONE = (1080, 2400)
WIDE = MirrorView((45, 25), zoom="wide")
LINES = ("Silvia: shall we meet?", "The kiln is at 1200 C", "Tram 14 leaves at 9:41", "Bring the blue folder")
SIZES = ((360, 800), (540, 1200), (544, 1208), (1080, 2400))
VIDEOS = (((360, 800), 3_000_000, False), ((540, 1200), 8_000_000, True), ((544, 1208), 3_000_000, True))


def sheet(lines: tuple[str, ...] = LINES, down: int = 0, dark: bool = False) -> Image.Image:
    """A title that stays and a list, moved `down` pixels."""
    paper, ink = ((30, 28, 34), (225, 225, 230)) if dark else ((250, 248, 252), (60, 60, 66))
    image = Image.new("RGB", PHONE, paper)
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(46)
    for index, line in enumerate(lines):
        top = 500 + index * 240 + down
        pen.ellipse((48, top, 168, top + 120), fill=(200, 60 + 40 * index, 90))
        pen.text((220, top + 60), line, ink, font, anchor="lm")
    pen.rectangle((0, 0, 1080, 300), fill=(103, 80, 164))
    pen.text((220, 200), "Messages", (255, 255, 255), ImageFont.load_default(70), anchor="lm")
    return image


def tree(lines: tuple[str, ...] = LINES) -> UiTree:
    nodes = [Node(Bounds(200, 150, 900, 250), text="Messages")]
    nodes += [
        Node(Bounds(210, 520 + index * 240, 1050, 600 + index * 240), text=line) for index, line in enumerate(lines)
    ]
    return UiTree((Node(Bounds(0, 0, *PHONE), children=tuple(nodes)),))


@cache
def filmed(
    pictures: tuple[tuple[tuple[str, ...], int], ...], size: tuple[int, int], bits: int, dark: bool
) -> tuple[DecodedPicture, ...]:
    """Pictures as a phone's encoder would send them and a decoder gives them back."""
    encoder, decoder = VideoCodecContext.create("libx264", "w"), VideoCodecContext.create("h264", "r")
    assert isinstance(encoder, VideoCodecContext)
    assert isinstance(decoder, VideoCodecContext)
    encoder.width, encoder.height, encoder.pix_fmt = *size, "yuv420p"
    encoder.time_base, encoder.bit_rate = Fraction(1, 30), bits
    encoder.options = {"preset": "ultrafast", "tune": "zerolatency", "g": "3"}
    made: list[DecodedPicture] = []
    scalers = Scalers()
    for lines, down in pictures:
        small = sheet(lines, down, dark).resize(size, Image.Resampling.BILINEAR)
        for packet in encoder.encode(av.VideoFrame.from_ndarray(np.asarray(small), format="rgb24")):
            made += [DecodedPicture(DecodedFrame(frame, scalers, 0, 0, 0.0)) for frame in decoder.decode(packet)]
    for packet in encoder.encode(None):
        made += [DecodedPicture(DecodedFrame(frame, scalers, 0, 0, 0.0)) for frame in decoder.decode(packet)]
    return tuple(made)


def said(painted: PaintedPhone) -> set[str]:
    return {"".join(glyph.text for glyph in placed.line) for placed in painted.texts}


def shot(pixels: bytes | LazyPixels, size: tuple[int, int], nodes: UiTree | None = None) -> MirrorShot:
    return MirrorShot(pixels, size, nodes, live=True, space=PHONE)


@pytest.mark.parametrize("size", SIZES)
def test_a_smaller_picture_says_what_the_phones_own_says_at_the_same_places(size: tuple[int, int]) -> None:
    whole = Painter().paint(shot(sheet().tobytes(), PHONE, tree()), WIDE)
    small = sheet().resize(size, Image.Resampling.BILINEAR)
    painted = Painter().paint(shot(small.tobytes(), size, tree()), WIDE)
    assert said(painted) == {"Messages", *LINES}
    places = {(placed.row, placed.column, len(placed.line)) for placed in painted.texts}
    assert places == {(placed.row, placed.column, len(placed.line)) for placed in whole.texts}


@soak
@pytest.mark.parametrize(("size", "bits", "dark"), VIDEOS)
def test_a_videos_noise_on_a_screen_that_stands_still_draws_nothing(
    size: tuple[int, int], bits: int, dark: bool
) -> None:
    frames = filmed(((LINES, 0),) * 9, size, bits, dark)
    assert len({frame.rgb() for frame in frames}) > 1
    painter = Painter()
    first = painter.paint(shot(frames[3], size, tree()), WIDE)
    assert said(first) == {"Messages", *LINES}
    rows = 0
    for rgb in frames[4:]:
        painted = painter.paint(shot(rgb, size), WIDE)
        assert said(painted) == {"Messages", *LINES}
        rows += len(paint.changed_rows(first.cells, painted.cells))
    assert rows == 0


@pytest.mark.parametrize(("size", "bits", "dark"), VIDEOS)
def test_a_text_of_which_a_digit_changed_is_hidden_and_no_other(size: tuple[int, int], bits: int, dark: bool) -> None:
    other = (LINES[0], "The kiln is at 1260 C", *LINES[2:])
    frames = filmed(((LINES, 0),) * 4 + ((other, 0),) * 3, size, bits, dark)
    painter = Painter()
    painter.paint(shot(frames[3], size, tree()), WIDE)
    assert said(painter.paint(shot(frames[6], size), WIDE)) == {"Messages", *LINES} - {LINES[1]}
    assert said(painter.paint(shot(frames[6], size, tree(other)), WIDE)) == {"Messages", *other}


def test_while_a_list_moves_its_words_are_hidden_and_the_title_stays() -> None:
    frames = filmed(tuple((LINES, -12 * step) for step in range(12)) + ((LINES, 0),) * 2, (540, 1200), 4_000_000, False)
    painter = Painter()
    painter.paint(shot(frames[0], (540, 1200), tree()), WIDE)
    for rgb in frames[4:12]:
        assert said(painter.paint(shot(rgb, (540, 1200)), WIDE)) == {"Messages"}
    assert said(painter.paint(shot(frames[13], (540, 1200)), WIDE)) == {"Messages", *LINES}


def test_a_turned_phone_shows_no_word_of_before() -> None:
    painter = Painter()
    painter.paint(shot(sheet().tobytes(), PHONE, tree()), WIDE)
    turned = Image.new("RGB", (1200, 540), (250, 248, 252))
    turned.paste(sheet().resize((243, 540)), (478, 0))
    lying = MirrorShot(turned.tobytes(), turned.size, None, live=True, space=(2400, 1080))
    painted = painter.paint(lying, WIDE)
    assert not painted.texts
    assert painted.fit is not None
    assert painted.fit.size == (2400, 1080)
    assert not painter.paint(shot(sheet().tobytes(), PHONE), WIDE).texts
    assert said(painter.paint(shot(sheet().tobytes(), PHONE, tree()), WIDE)) == {"Messages", *LINES}


def test_words_outlast_another_size_of_picture_and_another_view() -> None:
    painter = Painter()
    painter.paint(shot(sheet().tobytes(), PHONE, tree()), WIDE)
    small = sheet().resize((540, 1200), Image.Resampling.BILINEAR).tobytes()
    assert "Messages" in said(painter.paint(shot(small, (540, 1200)), WIDE))
    assert said(painter.paint(shot(small, (540, 1200)), MirrorView((60, 40)))) == {"Messages", *LINES}
    assert said(painter.paint(shot(small, (540, 1200)), MirrorView((60, 40)))) == {"Messages", *LINES}


def test_without_words_only_the_picture_is_painted_and_they_come_back_with_the_tree() -> None:
    painter = Painter()
    bare = WIDE._replace(overlay=False)
    rgb = sheet().tobytes()
    assert not painter.paint(shot(rgb, PHONE, tree()), bare).texts
    assert said(painter.paint(shot(rgb, PHONE, tree()), WIDE)) == {"Messages", *LINES}
    assert not painter.paint(shot(rgb, PHONE), bare).texts


def test_what_settles_differs_little_from_what_moved() -> None:
    rgb, size = sheet().resize((540, 1200)).tobytes(), (540, 1200)
    moving = Painter().paint(shot(rgb, size), WIDE._replace(cells=(45, 50)))
    still = Painter().paint(MirrorShot(rgb, size, None), WIDE._replace(cells=(45, 50)))
    apart = paint.changed_mask(moving.cells.bg, still.cells.bg, 24)
    assert np.count_nonzero(apart) < 0.06 * apart.size


def test_a_picture_from_a_while_ago_has_no_colour_and_the_same_words() -> None:
    painted = Painter().paint(shot(sheet().tobytes(), PHONE, tree()), WIDE)
    grey = paint.greyed(painted.cells)
    assert (grey.codes == painted.cells.codes).all()
    for part in (grey.fg, grey.bg):
        red, green, blue = (part >> np.uint32(shift) & np.uint32(255) for shift in (0, 8, 16))
        assert (red == green).all()
        assert (green == blue).all()
    for placed in painted.texts:
        row, column = placed.row, placed.column
        ink, paper = int(grey.fg[row, column]) & paint.RGB, int(grey.bg[row, column]) & paint.RGB
        assert paint.contrast(ink, paper) > 2.2


def test_a_picture_that_is_made_when_asked_says_and_hides_what_its_pixels_would() -> None:
    size = (540, 1200)
    still, moved = (sheet(down=down).resize(size, Image.Resampling.BILINEAR) for down in (0, 60))
    lazy, eager = Painter(), Painter()
    for image, nodes in ((still, tree()), (moved, None), (still, None)):
        frame = av.VideoFrame.from_ndarray(np.asarray(image), "rgb24").reformat(format="yuv420p")
        picture = DecodedPicture(DecodedFrame(frame, Scalers(), 0, 0, 0.0))
        one = lazy.paint(MirrorShot(picture, size, nodes, live=True, space=PHONE), WIDE)
        other = eager.paint(shot(picture.rgb(), size, nodes), WIDE)
        assert said(one) == said(other) != set()
        apart = paint.pixels_of(one.cells).view(np.uint8).astype(int) - paint.pixels_of(other.cells).view(np.uint8)
        assert np.abs(apart).mean() < 3
        assert picture.rgb() is picture.rgb()


@pytest.mark.parametrize("filming", [False, True])
def test_nothing_of_another_screen_is_left_as_a_ghost(filming: bool) -> None:
    size = (540, 1200)
    pages = [Image.new("RGB", size, (247, 244, 250)), Image.new("RGB", size, (250, 248, 253))]
    ImageDraw.Draw(pages[0]).rectangle((40, 300, 500, 500), fill=(60, 60, 66))
    ImageDraw.Draw(pages[0]).rectangle((40, 700, 500, 720), fill=(253, 250, 250))
    painter = Painter()
    for image in pages:
        frame = av.VideoFrame.from_ndarray(np.asarray(image), "rgb24").reformat(format="yuv420p")
        pixels = DecodedPicture(DecodedFrame(frame, Scalers(), 0, 0, 0.0)) if filming else image.tobytes()
        painter.paint(shot(pixels, size), WIDE)
        painted = painter.paint(shot(pixels, size, UiTree((Node(Bounds(0, 0, *PHONE)),))), WIDE)
        phone = painted.fit
        assert phone is not None
        part = painted.cells.bg[:, phone.left : phone.left + phone.cols]
        assert (len(np.unique(part)) == 1) == (image is pages[1])
