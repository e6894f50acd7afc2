"""Every screen of the embedded phone as the mirror paints it at 45x25 cells, side by side, to be looked at.

python -m tests.sheets DIR [APP ...]        # sheet-1.png, sheet-2.png, ...; needs a headless Chromium
"""

from __future__ import annotations

import html
import io
import sys
from pathlib import Path

from PIL import Image

from screens.mirror.glyphs import TAIL
from screens.mirror.paint import BOLD, NOTHING
from screens.mirror.painter import Painter
from screens.mirror.shot import MirrorShot, MirrorView
from simulators.phone.shots import SCREENS, phone_at
from tests.pictures import shoot

CELLS = (45, 25)
_PER_SHEET, _ACROSS = 12, 4
_PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 12px; background: #333; display: grid; gap: 16px;
  grid-template-columns: repeat({across}, max-content) }}
figure {{ margin: 0; color: #fff; font: 13px sans-serif; }}
pre {{ margin: 4px 0 0; font: 14px/17px "DejaVu Sans Mono", "Noto Sans Mono CJK SC", monospace; }}
pre span {{ display: inline-block; height: 17px; overflow: hidden; vertical-align: top; }}
</style>{figures}"""


def painted(app: str, screen: str, args: dict[str, object]) -> str:
    """One screen's cells as spans, a character each: ink on paper."""
    seen = phone_at(app, screen, args).observe()
    with Image.open(io.BytesIO(seen.png)) as image:
        shot = MirrorShot(image.convert("RGB").tobytes(), image.size, seen.tree)
    painter = Painter()
    cells = painter.paint(shot, MirrorView(CELLS, zoom="wide")).cells
    lines = []
    for codes, inks, papers in zip(cells.codes.tolist(), cells.fg.tolist(), cells.bg.tolist(), strict=True):
        spans = []
        for number, code in enumerate(codes):
            if code == TAIL:
                continue
            wide = 2 if number + 1 < len(codes) and codes[number + 1] == TAIL else 1
            spans.append(_span(painter.codes.text(chr(code)), inks[number], papers[number], wide))
        lines.append("".join(spans))
    return "\n".join(lines)


def _span(text: str, ink: int, paper: int, wide: int) -> str:
    fore, back = _css(ink), _css(paper)
    behind = f"linear-gradient({fore} 50%, {back} 50%)" if text == "▀" else back
    bold = ";font-weight:bold" if ink & BOLD else ""
    shown = " " if text == "▀" else html.escape(text)
    return f'<span style="width:{wide * 8.5}px;color:{fore};background:{behind}{bold}">{shown}</span>'


def _css(colour: int) -> str:
    if colour & NOTHING:
        return "#222"
    red, green, blue = colour & 255, colour >> 8 & 255, colour >> 16 & 255
    return f"#{red:02x}{green:02x}{blue:02x}"


def main() -> None:
    """Writes the sheets of all apps, or of those named."""
    if len(sys.argv) < 2:
        raise SystemExit("usage: python -m tests.sheets DIR [APP ...]")
    out, apps = Path(sys.argv[1]), sys.argv[2:]
    out.mkdir(parents=True, exist_ok=True)
    wanted = [one for one in SCREENS if not apps or one[1] in apps]
    for number, start in enumerate(range(0, len(wanted), _PER_SHEET), 1):
        figures = "".join(
            f"<figure>{html.escape(name)}<pre>{painted(app, screen, args)}</pre></figure>"
            for name, app, screen, args in wanted[start : start + _PER_SHEET]
        )
        path = out / f"sheet-{number}.png"
        shoot("sheet.html", _PAGE.format(across=_ACROSS, figures=figures), path, (1640, 1420))
        print(path)


if __name__ == "__main__":
    main()
