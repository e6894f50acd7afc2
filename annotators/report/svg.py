"""Pictures of a report as self-contained SVG without scripts and fonts. Colour is never the only difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rich.cells import cell_len, set_cell_size

from annotators.report.charts import count_text, positions_by_x, tick_text, widen_ends
from lab.core.study.agreement import Agreement
from lab.core.study.report import Bars, Grid, Lines, Picture, Point, Scatter
from lab.core.text.plain_text import html_text
from lab.core.text.text_table import clean
from lab.core.values.rounding import format_number

INKS = ("#0b62a4", "#b5490b", "#1d7a46", "#8a3aa8", "#8c6a00", "#b01e57", "#2b7f8c", "#5f5f5f")
"""Colours of the series if a page sets none (`--ink0`, ...). Each series also has its own shape."""
_SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", "M-3.6-3.6h7.2v7.2h-7.2z", "M0-4.6L4.4 3.4H-4.4z", "M0-5L4.4 0 0 5-4.4 0z",
    "M-4-4l8 8m0-8l-8 8", "M-5 0h10m-5-5v10", "M0 4.6L-4.4-3.4H4.4z", "M-5-2h10m0 4h-10",
)  # fmt: skip
_OPEN = (4, 5, 7)
"""Indices of shapes that are strokes without filling."""
_LETTER = 6.6
_HEAD = 22
TICKS = 5


def svg(picture: Picture) -> str:
    """Return a picture as one `<svg>` element."""
    match picture:
        case Grid():
            return _grid(picture)
        case Scatter():
            return _scatter(picture)
        case Bars():
            return _bars(picture)
        case Lines():
            return _lines(picture)


# -- pieces ----------------------------------------------------------------------------------------------------


def _page(wide: float, high: float, title: str, body: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_coord(wide)} {_coord(high)}" width="{_coord(wide)}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="12" fill="currentColor">'
        f"<title>{html_text(title)}</title>{''.join(body)}</svg>"
    )


def _coord(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{value if abs(value) >= 0.05 else 0.0:.1f}".removesuffix(".0")


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{_coord(x)}" y="{_coord(y)}" text-anchor="{anchor}"{more}>{html_text(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, more: str = "") -> str:
    return (
        f'<line x1="{_coord(x1)}" y1="{_coord(y1)}" x2="{_coord(x2)}" y2="{_coord(y2)}" stroke="currentColor"{more}/>'
    )


def _shorten(text: str, cells: int) -> str:
    cleaned = clean(text)
    return cleaned if cell_len(cleaned) <= cells else set_cell_size(cleaned, cells - 1).rstrip() + "…"


def _ink(at: int) -> str:
    return f"var(--ink{at % len(INKS)}, {INKS[at % len(INKS)]})"


def _mark(x: float, y: float, at: int, says: str) -> str:
    shape = at % len(_SHAPES)
    fill = "none" if shape in _OPEN else _ink(at)
    title = f"<title>{html_text(says)}</title>" if says else ""
    style = f"fill:{fill};stroke:{_ink(at)};stroke-width:1.4;fill-opacity:.7"
    return f'<path d="{_SHAPES[shape]}" transform="translate({_coord(x)} {_coord(y)})" style="{style}">{title}</path>'


def _legend(names: Sequence[str], x: float, y: float, wide: float) -> tuple[list[str], float]:
    """Return the series' marks and names in rows, and the height of these."""
    out: list[str] = []
    at_x, at_y = x, y
    entries = [(at, _shorten(name, 40)) for at, name in enumerate(names) if name]
    for at, name in entries:
        needs = 18 + _LETTER * cell_len(name) + 14
        if at_x > x and at_x + needs > x + wide:
            at_x, at_y = x, at_y + 18
        out += [_mark(at_x + 6, at_y - 4, at, ""), _text(at_x + 16, at_y, name)]
        at_x += needs
    return out, (at_y - y + 18 if entries else 0.0)


class Plane:
    """A field with axes from `left`, `top`, on which scales position values."""

    def __init__(
        self, left: float, wide: float, high: float, across: tuple[float, float], up: tuple[float, float]
    ) -> None:
        self.left, self.top, self.wide, self.high = left, _HEAD, wide, high
        self.across, self.up = widen_ends(across), widen_ends(up)

    def x(self, value: float) -> float:
        return self.left + self.wide * _share(value, *self.across)

    def y(self, value: float) -> float:
        return self.top + self.high * (1 - _share(value, *self.up))

    def axes(self, across: str, up: str, *, ticks: bool = True) -> list[str]:
        """Return frame, ticks and names."""
        bottom = self.top + self.high
        out = [
            _line(self.left, self.top, self.left, bottom, ' stroke-opacity=".6"'),
            _line(self.left, bottom, self.left + self.wide, bottom, ' stroke-opacity=".6"'),
            _text(self.left, self.top - 8, _shorten(up, 60)),
            _text(self.left + self.wide, bottom + 34, _shorten(across, 60), "end"),
        ]
        for at in range(TICKS):
            value = self.up[0] + (self.up[1] - self.up[0]) * at / (TICKS - 1)
            out.append(_text(self.left - 6, self.y(value) + 4, tick_text(value), "end"))
            out.append(_line(self.left, self.y(value), self.left + self.wide, self.y(value), ' stroke-opacity=".12"'))
            value = self.across[0] + (self.across[1] - self.across[0]) * at / (TICKS - 1)
            if ticks:
                out.append(_text(self.x(value), bottom + 16, tick_text(value), "middle"))
        return out


def _share(value: float, least: float, most: float) -> float:
    return min(1.0, max(0.0, (value - least) / (most - least)))


# -- pictures --------------------------------------------------------------------------------------------------


def _scatter(one: Scatter) -> str:
    names = list(dict.fromkeys(point.series for point in one.points))
    ends = (one.least, one.most)
    side = 380.0
    if one.sorted:
        points = positions_by_x(one.points)
        plane = Plane(48, 560, 300, (0.0, max((at for at, _ in points), default=1.0)), ends)
        body = plane.axes(f"{one.across}, from the least to the most", one.up, ticks=False)
        truth = [(plane.x(at), at_point.x) for at, at_point in points]
    else:
        points = [(point.x, point) for point in one.points]
        plane = Plane(48, side, side, ends, ends)
        body = plane.axes(one.across, one.up)
        truth = [(plane.x(end), end) for end in ends]
    if one.band and truth:
        above = [(x, value + one.band) for x, value in truth]
        below = [(x, value - one.band) for x, value in reversed(truth)]
        edges = " ".join(f"{_coord(x)},{_coord(plane.y(value))}" for x, value in (*above, *below))
        body.append(f'<polygon points="{edges}" fill-opacity=".1"/>')
    if one.diagonal and truth:
        edges = " ".join(f"{_coord(x)},{_coord(plane.y(value))}" for x, value in truth)
        body.append(f'<polyline points="{edges}" fill="none" stroke="currentColor" stroke-opacity=".5"/>')
    for at, point in points:
        says = f"{point.says}: {format_number(point.x, 3)}, {format_number(point.y, 3)}".removeprefix(": ")
        body.append(_mark(plane.x(at), plane.y(point.y), names.index(point.series), says))
    return _with_legend(plane, names, one.title, body)


def _with_legend(plane: Plane, names: Sequence[str], title: str, body: list[str]) -> str:
    below = plane.top + plane.high + 56
    legend, high = _legend(names, plane.left, below, plane.wide)
    return _page(plane.left + plane.wide + 24, below + high, title, [*body, *legend])


def _lines(one: Lines) -> str:
    names = list(dict.fromkeys(point.series for point in one.points))
    xs = [point.x for point in one.points] or [0.0, 1.0]
    plane = Plane(48, 560, 240, (min(xs), max(xs)), (one.least, one.most))
    body = plane.axes(one.across, one.up)
    for at, name in enumerate(names):
        own = [point for point in one.points if point.series == name]
        edges = " ".join(f"{_coord(plane.x(point.x))},{_coord(plane.y(point.y))}" for point in own)
        body.append(f'<polyline points="{edges}" style="fill:none;stroke:{_ink(at)};stroke-width:1.4"/>')
        body += [_mark(plane.x(point.x), plane.y(point.y), at, _point_words(point)) for point in own]
    return _with_legend(plane, names, one.title, body)


def _point_words(point: Point) -> str:
    return f"{point.says}: {format_number(point.y, 3)}".removeprefix(": ")


def _bars(one: Bars) -> str:
    names = [_shorten(name, 44) for name in one.says]
    left = 12 + _LETTER * max(map(cell_len, names), default=0)
    wide, row = 340.0, 26.0
    least, most = widen_ends((one.least, one.most))
    high = row * len(names)

    def x(value: float) -> float:
        return left + wide * _share(value, least, most)

    body: list[str] = []
    for at in range(TICKS):
        value = least + (most - least) * at / (TICKS - 1)
        strong = ".5" if value == 0 else ".12"
        body.append(_line(x(value), 8, x(value), 8 + high, f' stroke-opacity="{strong}"'))
        body.append(_text(x(value), high + 26, tick_text(value), "middle"))
    for at, (name, bar) in enumerate(zip(names, one.bars, strict=True)):
        body += _bar(name, bar, left, 8 + row * at + row / 2, x, (least, most))
    return _page(left + wide + 70, high + 36, one.title, body)


def _bar(
    name: str, bar: Agreement, left: float, y: float, x: Callable[[float], float], ends: tuple[float, float]
) -> list[str]:
    out = [_text(left - 8, y + 4, name, "end")]
    if bar.value is None:
        return [*out, _text(left + 8, y + 4, f"undefined ({bar.undefined})", more=' font-style="italic"')]
    if bar.low is not None and bar.high is not None:
        low, high = x(bar.low), x(bar.high)
        out.append(_line(low, y, high, y, ' stroke-width="1.6"'))
        # A bound beyond the scale has no cap, which would say that it lies there, but an arrow.
        out.append(_arrow(low, y, -1) if bar.low < ends[0] else _line(low, y - 5, low, y + 5, ' stroke-width="1.6"'))
        out.append(_arrow(high, y, 1) if bar.high > ends[1] else _line(high, y - 5, high, y + 5, ' stroke-width="1.6"'))
    out.append(_mark(x(bar.value), y, 0, f"{name}: {format_number(bar.value, 4)}"))
    return [*out, _text(x(math.inf) + 10, y + 4, format_number(bar.value, 2))]


def _arrow(x: float, y: float, way: int) -> str:
    back = _coord(x - 7 * way)
    path = f"M{back} {_coord(y - 5)}L{_coord(x)} {_coord(y)}L{back} {_coord(y + 5)}"
    return f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="1.6"/>'


def _grid(one: Grid) -> str:
    down, across = [_shorten(name, 30) for name in one.down], [_shorten(name, 30) for name in one.across]
    cell = 48.0
    left = 16 + _LETTER * max(map(cell_len, (*down, clean(one.down_is))), default=0)
    # Names wider than a cell are drawn at 45 degrees, which needs room above and at the right.
    slanted = max(map(cell_len, across), default=0) * _LETTER > cell - 4
    top = 26 + (_LETTER * 0.72 * max(map(cell_len, across), default=0) if slanted else 14)
    most = max((count for row in one.counts for count in row), default=0.0)
    body = [_text(left, 12, one.across_is, more=' font-style="italic"'),
            _text(left - 8, top - 4, one.down_is, "end", ' font-style="italic"')]  # fmt: skip
    for at, name in enumerate(across):
        x, y = left + cell * (at + 0.5), top - 6
        turn = f' transform="rotate(-45 {_coord(x)} {_coord(y)})"' if slanted else ""
        body.append(_text(x, y, name, "start" if slanted else "middle", turn))
    for row, (name, counts) in enumerate(zip(down, one.counts, strict=True)):
        y = top + cell * row
        body.append(_text(left - 8, y + cell / 2 + 4, name, "end"))
        for at, value in enumerate(counts):
            shade = 0.5 * value / most if most else 0.0
            box = f'x="{_coord(left + cell * at)}" y="{_coord(y)}" width="{_coord(cell)}" height="{_coord(cell)}"'
            fill = f"fill:{_ink(0)};fill-opacity:{shade:.3f};stroke:currentColor;stroke-opacity:.35"
            body.append(f'<rect {box} style="{fill}"/>')
            body.append(_text(left + cell * (at + 0.5), y + cell / 2 + 4, count_text(value), "middle"))
    slack = _LETTER * 0.72 * (cell_len(across[-1]) if slanted and across else 0)
    wide = max(left + cell * len(across) + slack, left + _LETTER * cell_len(clean(one.across_is)))
    return _page(wide + 12, top + cell * len(down) + 8, one.title, body)
