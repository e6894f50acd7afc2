"""How many of the characters on phones' screens the OCR engine reads, how fast, and in how much memory.

Screens: real ones with trees (../shared/screens/with_tree), and every Nth of the embedded phone's own, each with its
tree for truth. A tree also states texts that are not in its picture: pages behind a dialog, names that a launcher does
not write. *Visible* are those texts (not descriptions) that the mirror finds as ink in their box, which knows nothing
of OCR, and that are not cut there (by their font's size they need no more than their box has). Of them those count
whose box is at least 24 pixels high on a screen 1080 wide. Three real screens are left out, looked at by eye: their
tree is another screen's. What was read of a text are the lines whose middle is in its box, in reading order. Blanks
and signs without width aside, and with NFKC (so that a wide bracket is a bracket), *right* are as many of a text's
characters as are among those read, in their order (longest common subsequence). Chinese and English are counted
apart, by the text.

    python -m tests.bench.bench_ocr [--every N] [--missed] [--json]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import NamedTuple
from unicodedata import category, normalize

from PIL import Image
from rapidfuzz.distance import LCSseq

from lab.core.run.ui_tree import UiTree
from lab.core.text.read_text import ReadText
from lab.ocr import reader as ocr
from screens.mirror.glyphs import width_of
from screens.mirror.painter import Painter
from screens.mirror.reading import LocatedText, TreeText
from screens.mirror.shot import MirrorShot, MirrorView
from tests.bench.bench_legibility import embedded

SCREENS = Path(__file__).parents[2].parent / "shared" / "screens" / "with_tree"
VIEW = MirrorView((120, 130))
LEAST = 24
OTHERS = {"appagent-01", "appagent-22", "appagent-44"}
"""Real screens whose tree is not theirs: taken while one screen gave way to another."""
_SLACK = 8


class Screen(NamedTuple):
    """A screen's name, PNG and tree."""

    name: str
    png: bytes
    tree: UiTree


class Score(NamedTuple):
    """Characters that are visible, and those of them that were read right."""

    stated: int = 0
    right: int = 0

    def plus(self, stated: int, right: int) -> Score:
        return Score(self.stated + stated, self.right + right)


def real() -> Iterator[Screen]:
    """The real screens with their trees."""
    for path in sorted(path for path in SCREENS.glob("*.png") if path.stem not in OTHERS):
        yield Screen(path.stem, path.read_bytes(), UiTree.from_xml(path.with_suffix(".xml").read_bytes()))


def visible(screen: Screen) -> list[TreeText]:
    """The texts of a tree whose ink is in the picture, and that are high enough."""
    with Image.open(BytesIO(screen.png)) as image:
        size = image.size
    painter = Painter()
    painter.paint(MirrorShot(None, size, screen.tree, stored=screen.png), VIEW)
    least = LEAST * size[0] / 1080
    found = [one for one in painter.reading.shown if one.said.box.height >= least and not one.said.sure]
    return [one.said for one in found if not _cut(one)]


def _cut(one: LocatedText) -> bool:
    """Whether a text needs more room than its box has: a column is about half as wide as its font is high."""
    box, em = one.said.box, one.words.em
    return width_of(one.words.line) * em * 0.5 > 1.2 * box.width * max(1, round(box.height / (1.4 * em)))


def characters(text: str) -> str:
    """A text's characters, those that have no width left out."""
    return "".join(char for char in normalize("NFKC", text) if category(char) not in ("Cf", "Mn", "Zs", "Cc"))


def read_of(text: TreeText, read: ReadText) -> str:
    """What was read in a text's box, without blanks."""
    left, top, right, bottom = text.box
    lines = [
        (line.box.center[1] // 16, line.box.left, line.text)
        for line in read.lines
        if left - _SLACK <= line.box.center[0] <= right + _SLACK
        and top - _SLACK <= line.box.center[1] <= bottom + _SLACK
    ]
    return characters("".join(words for *_, words in sorted(lines)))


def main() -> None:
    """Prints a line for each kind of screen, and the process's time and memory."""
    args = _arguments()
    out: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        ocr.cache_folder = lambda: Path(folder)  # what was read before does not count
        reader = ocr.TextReader()
        seconds: list[float] = []
        for kind, screens in (("real", real()), ("embedded", _some(args.every))):
            scores = {"English": Score(), "Chinese": Score()}
            count = 0
            for screen in screens:
                began = time.perf_counter()
                read = reader.read(hashlib.sha256(screen.png).hexdigest(), screen.png)
                seconds.append(time.perf_counter() - began)
                count += 1
                for text in visible(screen):
                    wanted, got = characters(text.text), read_of(text, read)
                    right = LCSseq.similarity(wanted, got)
                    tongue = "Chinese" if any("\u4e00" <= char <= "\u9fff" for char in wanted) else "English"
                    scores[tongue] = scores[tongue].plus(len(wanted), right)
                    if args.missed and right < 0.8 * len(wanted):
                        print(f"  {screen.name}: {wanted[:50]!r} read {got[:50]!r}")
            out[kind] = {"screens": count} | {k: v._asdict() for k, v in scores.items()}
            if not args.json:
                for tongue, (stated, right) in scores.items():
                    share = f"{100 * right / stated:.1f} %" if stated else "-"
                    print(f"{kind:9} {count:4} screens  {tongue}: {right:,} of {stated:,} characters right, {share}")
        out["seconds"] = {"first": seconds[0], "median": median(seconds[1:]), "most": max(seconds[1:])}
        out["megabytes"] = _peak(reader.pid)
        reader.close()
    if args.json:
        print(json.dumps(out))
    else:
        first, middle, most = out["seconds"].values()  # type: ignore[attr-defined]
        print(f"a screen: median {middle:.2f} s, most {most:.2f} s, the first with loading {first:.2f} s")
        print(f"the process: at most {out['megabytes']:.0f} MB")


def _some(every: int) -> Iterator[Screen]:
    for number, (name, image, tree) in enumerate(embedded()):
        if number % every == 0:
            png = BytesIO()
            image.save(png, "PNG", compress_level=1)
            yield Screen(name, png.getvalue(), tree)


def _peak(pid: int | None) -> float:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return float("nan")
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth of the embedded phone's screens")
    parser.add_argument("--missed", action="store_true", help="also what was read wrong")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
