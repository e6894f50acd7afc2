"""How much of a phone's text can be read back from the characters that the mirror paints, at its right place.

Screens: the embedded phone's own, and real ones in ../shared/traces/appagent where they are. *Stated* are the tree's
texts, each once; *found* those and the descriptions whose words the mirror saw in the picture (a launcher states names
that it does not write). Shares are of the found, so both counts are printed. A text *fits* when its cells are no more
than its box has columns times rows. It is *read* when its characters, blanks aside, stand in the painted cells in
order, beginning no more than two rows and four columns from its box.

Of the pictures: each as it is, and, at 45x25 cells, as a scrcpy video of it comes: smaller, coded as H.264, decoded,
its tree still counted in the phone's own pixels.

    python -m tests.bench.bench_legibility [--json] [--missed] [--every N]
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from lab.core.run.ui_tree import UiTree
from screens.mirror.fit import Fit
from screens.mirror.glyphs import TAIL, glyphs, width_of
from screens.mirror.painter import PaintedPhone, Painter
from screens.mirror.reading import LocatedText, tree_texts
from screens.mirror.shot import MirrorShot, MirrorView

TRACES = Path(__file__).parents[2].parent / "shared" / "traces" / "appagent"
VIDEOS = (288, 360, 540, 720)
"""Widths of videos that are looked at, in pixels; heights as multiples of 8."""
VIEWS = {
    "45x25 wide": MirrorView((45, 25), zoom="wide"),
    "45x25 fit": MirrorView((45, 25)),
    "45x50 fit": MirrorView((45, 50)),
    "80x45 fit": MirrorView((80, 45)),
}


class Count(NamedTuple):
    """Texts in the trees, those found in the pictures, those read, those that fit, and those of these read."""

    stated: int = 0
    texts: int = 0
    read: int = 0
    fits: int = 0
    fits_read: int = 0

    def plus(self, fits: bool, read: bool) -> Count:
        return Count(self.stated, self.texts + 1, self.read + read, self.fits + fits, self.fits_read + (fits and read))


def real() -> Iterator[tuple[str, Image.Image, UiTree]]:
    """AppAgent's recorded screens."""
    for path in sorted(TRACES.glob("*/*.xml")):
        with Image.open(path.with_suffix(".png")) as image:
            yield path.stem, image.convert("RGB"), UiTree.from_xml(path.read_bytes())


def embedded() -> Iterator[tuple[str, Image.Image, UiTree]]:
    """Each screen of the embedded phone, light and dark."""
    from simulators.phone.shots import SCREENS, phone_at

    for dark in (False, True):
        for name, app, screen, args in (("launcher", "launcher", "home", {}), *SCREENS):
            seen = phone_at(app, screen, args, dark=dark).observe()
            with Image.open(io.BytesIO(seen.png)) as image:
                yield name, image.convert("RGB"), seen.tree


def filmed(image: Image.Image, width: int) -> Image.Image:
    """A picture as the first frame of a video of that width gives it back."""
    import av
    import numpy as np
    from av.video.codeccontext import VideoCodecContext

    small = image.resize((width, round(width * image.height / image.width / 8) * 8), Image.Resampling.BILINEAR)
    encoder, decoder = VideoCodecContext.create("libx264", "w"), VideoCodecContext.create("h264", "r")
    assert isinstance(encoder, VideoCodecContext)
    assert isinstance(decoder, VideoCodecContext)
    encoder.width, encoder.height, encoder.pix_fmt = *small.size, "yuv420p"
    encoder.time_base, encoder.options = Fraction(1, 60), {"preset": "ultrafast", "tune": "zerolatency"}
    coded = encoder.encode(av.VideoFrame.from_ndarray(np.asarray(small), format="rgb24"))
    packets = [*coded, *encoder.encode(None), None]
    frames = [frame for packet in packets for frame in decoder.decode(packet)]
    return Image.fromarray(frames[0].to_ndarray(format="rgb24"))


def count(screens: list[tuple[str, Image.Image, UiTree]], view: MirrorView, missed: list[str], video: int = 0) -> Count:
    """What can be read of some screens in a view; adds what fits and cannot to `missed`."""
    total = Count()
    for name, image, tree in screens:
        painter = Painter()
        picture = filmed(image, video) if video else image
        painted = painter.paint(MirrorShot(picture.tobytes(), picture.size, tree, space=image.size), view)
        where = painted.fit
        assert where is not None
        lines = _lines(painted, painter)
        stated = [said for said in tree_texts(tree, image.size).texts if not said.sure]
        total = total._replace(stated=total.stated + len(stated))
        seen = {found.said for found in painter.reading.shown}
        missed.extend(f"{name}: not found: {said.text!r} {tuple(said.box)}" for said in stated if said not in seen)
        for found in painter.reading.shown:
            fits = _fits(found, where)
            read = _read(found, where, lines)
            total = total.plus(fits, read)
            if fits and not read:
                missed.append(f"{name}: {found.said.text!r}")
    return total


def _lines(painted: PaintedPhone, painter: Painter) -> list[list[str]]:
    """Each cell's text, row by row; the second half of a wide glyph is empty."""
    return [
        ["" if code == TAIL else painter.codes.text(chr(code)).replace("▀", " ") for code in row]
        for row in painted.cells.codes.tolist()
    ]


def _fits(found: LocatedText, where: Fit) -> bool:
    box = found.said.box
    columns, rows = int(box.width / where.cell_width), max(1, int(box.height / where.cell_height))
    return width_of(glyphs(found.said.text)) <= columns * rows


def _read(found: LocatedText, where: Fit, lines: list[list[str]]) -> bool:
    """Whether a text's characters stand, in order, from near its box on."""
    wanted = "".join("".join(g.text for g in glyphs(found.said.text)).split())
    box, ink = found.said.box, found.words.ink
    top, bottom = int(where.row(ink.top)) - 2, int(where.row(ink.bottom)) + 2
    left, right = int(where.column(box.left)) - 4, int(where.column(box.right)) + 4
    for row in range(max(0, top), min(where.rows, bottom + 1)):
        for column in range(max(0, left), min(where.cols, right + 1)):
            if _follows(wanted, lines, where.top + row, where.left + column, where.left + max(0, left)):
                return True
    return False


def _follows(wanted: str, lines: list[list[str]], row: int, column: int, left: int) -> bool:
    """Whether `wanted` begins at a cell and goes on to the right, or below from the left edge of its place."""
    done = 0
    while row < len(lines) and done < len(wanted):
        line = "".join("".join(lines[row][column:]).split())
        same = 0
        while same < len(line) and done + same < len(wanted) and line[same] == wanted[done + same]:
            same += 1
        if same == 0:
            return False
        done += same
        row += 1
        column = (
            next((c for c in range(left, len(lines[row])) if lines[row][c].strip()), left) if row < len(lines) else 0
        )
    return done == len(wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--missed", action="store_true", help="also print each text that fits and cannot be read")
    parser.add_argument("--every", type=int, default=1, help="of the embedded phone's screens, only each so-manieth")
    options = parser.parse_args()
    sources = {"real": list(real()), "embedded": list(islice(embedded(), 0, None, options.every))}
    views = [(name, view, 0) for name, view in VIEWS.items()]
    views += [(f"45x25 {width}", VIEWS["45x25 wide"], width) for width in VIDEOS]
    results: list[dict[str, Any]] = []
    for source, screens in sources.items():
        for name, view, video in views:
            missed: list[str] = []
            total = count(screens, view, missed, video)
            results.append({"source": source, "view": name, "screens": len(screens), **total._asdict()})
            if not options.json:
                print(_told(results[-1]))
                if options.missed and missed:
                    print("\n".join(f"    {one}" for one in missed))
    if options.json:
        json.dump(results, sys.stdout)


def _told(row: dict[str, Any]) -> str:
    if not row["texts"]:
        return f"{row['source']:9} {row['view']:11} no screens"
    fits, of_all = row["fits_read"] / max(1, row["fits"]), row["read"] / row["texts"]
    return (
        f"{row['source']:9} {row['view']:11} {row['screens']:3} screens: {row['stated']:4} stated, "
        f"{row['texts']:4} found, "
        f"{100 * of_all:5.1f} % of these read; {row['fits']:4} fit, {100 * fits:5.1f} % of these read"
    )


if __name__ == "__main__":
    main()
