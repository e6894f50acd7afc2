"""Pictures of a report in characters: grids, scatters with the diagonal, bars with intervals, lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from annotators.report.table_layout import table_lines
from lab.core.study.report import Bars, Grid, Lines, Picture, Point, Scatter
from lab.core.text.text_charts import interval_bar, scale
from lab.core.text.text_table import clean, pad, wrap_cells
from lab.core.values.rounding import format_number

MARKS = "ox+*#@%&"
"""Marks of the series' points, in the series' order."""
BOTH = "■"
"""Mark of points of several series in the same cell."""
_HIGH = 17
_WIDE = 60


def picture_lines(picture: Picture, width: int) -> list[str]:
    """Return a picture's lines, each at most `width` wide."""
    match picture:
        case Grid():
            return grid_lines(picture, width)
        case Scatter():
            return scatter_lines(picture, width)
        case Bars():
            return bar_lines(picture, width)
        case Lines():
            return line_lines(picture, width)


def count_text(value: float) -> str:
    """Return a count as text, with one decimal if it is not whole."""
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.1f}"


# -- grids -----------------------------------------------------------------------------------------------------


def grid_lines(grid: Grid, width: int) -> list[str]:
    """Return a grid's counts. If its column names are too long, letters replace them, with a key below."""
    if not grid.down or not grid.across:
        return ["nothing to show"]
    corner = " \\ ".join(part for part in (grid.down_is, grid.across_is) if part)
    rows = [(name, *(count_text(count) for count in row)) for name, row in zip(grid.down, grid.counts, strict=True)]
    needs = sum(max(cell_len(clean(name)), 5) + 2 for name in (corner, *grid.across))
    if needs <= width:
        return table_lines((corner, *grid.across), rows, width)
    letters = [_letter(at) for at in range(len(grid.across))]
    lines = [
        line
        for letter, name in zip(letters, grid.across, strict=True)
        for line in wrap_cells(f"{letter} {name}", width)
    ]
    return [*table_lines((corner, *letters), rows, width), "", *lines]


def _letter(at: int) -> str:
    return chr(ord("a") + at) if at < 26 else f"{chr(ord('a') + at // 26 - 1)}{chr(ord('a') + at % 26)}"


# -- a field of characters -------------------------------------------------------------------------------------


class CharacterCanvas:
    """Grid of characters with axes. The first row is the top."""

    def __init__(self, wide: int, high: int, across: tuple[float, float], up: tuple[float, float]) -> None:
        self.wide, self.high, self.across, self.up = wide, high, widen_ends(across), widen_ends(up)
        self.rows = [[" "] * wide for _ in range(high)]

    def place(self, x: float, y: float) -> tuple[int, int]:
        """Return the column and row of a point, clipped to the edges."""
        return _cell_of(x, *self.across, self.wide), self.high - 1 - _cell_of(y, *self.up, self.high)

    def dot(self, x: float, y: float, mark: str, *, under: bool = False) -> None:
        """Draw a mark. `under` does not overwrite an existing one."""
        column, row = self.place(x, y)
        current_mark = self.rows[row][column]
        if not under or current_mark == " ":
            # The diagonal and the band may be overwritten. Another series' mark becomes `BOTH`.
            is_free = current_mark in (" ", "·", "˙", mark)
            self.rows[row][column] = mark if under or is_free else BOTH

    def lines(self, across: str, up: str, width: int) -> list[str]:
        """Return the lines of the canvas with axes and their names."""
        least, most = tick_text(self.up[0]), tick_text(self.up[1])
        margin = max(len(least), len(most))
        out = wrap_cells(up, width)
        for at, row in enumerate(self.rows):
            bound = most if at == 0 else least if at == self.high - 1 else ""
            out.append(f"{pad(bound, margin, right=True)} │{''.join(row)}".rstrip())
        out.append(f"{' ' * margin} └{'─' * self.wide}")
        first, last = tick_text(self.across[0]), tick_text(self.across[1])
        out.append(f"{' ' * margin}  {first}{pad(last, self.wide - len(first), right=True)}")
        return [*out, *(pad(line, margin + 2 + self.wide, right=True) for line in wrap_cells(across, self.wide))]


def widen_ends(ends: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a scale, widened if they are equal."""
    return ends if ends[0] < ends[1] else (ends[0] - 0.5, ends[0] + 0.5)


def _cell_of(value: float, least: float, most: float, cells: int) -> int:
    share = (value - least) / (most - least)
    # Adding a half rounds to the nearest cell, always in the same direction.
    return min(cells - 1, max(0, int(share * (cells - 1) + 0.5)))


def tick_text(value: float) -> str:
    """Return the text of a tick."""
    return format_number(value, 0) if float(value).is_integer() else format_number(value, 2)


def _marks(points: Iterable[Point]) -> dict[str, str]:
    """Return each series' mark, in order of appearance."""
    names = list(dict.fromkeys(point.series for point in points))
    return {name: MARKS[at % len(MARKS)] for at, name in enumerate(names)}


def _legend(marks: dict[str, str], width: int, more: str = "") -> list[str]:
    entries = [f"{mark} {name}" for name, mark in marks.items() if name]
    if len(entries) > 1:
        entries.append(f"{BOTH} several")
    legend = "   ".join([*entries, *([more] if more else [])])
    return wrap_cells(legend, width) if legend else []


# -- scatters and lines ----------------------------------------------------------------------------------------


def positions_by_x(points: Sequence[Point]) -> list[tuple[float, Point]]:
    """Return points sorted by x, each with its position from 0.

    Points of several series with the same name share a position.
    """
    names: dict[str, float] = {}
    for point in sorted(points, key=lambda point: (point.x, point.says)):
        names.setdefault(point.says or f"{point.x!r}", float(len(names)))
    return [(names[point.says or f"{point.x!r}"], point) for point in sorted(points, key=lambda one: (one.x, one.says))]


def scatter_lines(scatter: Scatter, width: int) -> list[str]:
    """Return a scatter's lines with the diagonal and the edges of its band.

    If it is sorted, the diagonal is each point's own x.
    """
    if not scatter.points:
        return ["nothing to show"]
    ends = (scatter.least, scatter.most)
    wide = min(_WIDE, width - 8)
    marks = _marks(scatter.points)
    if scatter.sorted:
        points = positions_by_x(scatter.points)
        canvas = CharacterCanvas(wide, _HIGH, (0.0, max(at for at, _ in points)), ends)
        for at, point in points:
            _draw_guides(canvas, at, point.x, scatter)
        for at, point in points:
            canvas.dot(at, point.y, marks[point.series])
        lines = canvas.lines(f"{scatter.across}, from the least to the most", scatter.up, width)
    else:
        canvas = CharacterCanvas(wide, _HIGH, ends, ends)
        for cell in range(wide):
            x = scatter.least + (scatter.most - scatter.least) * cell / (wide - 1)
            _draw_guides(canvas, x, x, scatter)
        for point in scatter.points:
            canvas.dot(point.x, point.y, marks[point.series])
        lines = canvas.lines(scatter.across, scatter.up, width)
    legend = "· the same" if scatter.diagonal else ""
    legend += f"   ˙ {format_number(scatter.band, 2)} away" if scatter.band else ""
    return [*lines, *_legend(marks, width, legend.strip())]


def _draw_guides(canvas: CharacterCanvas, x: float, y: float, scatter: Scatter) -> None:
    """Draw the marks of diagonal and band at one x."""
    if scatter.diagonal:
        canvas.dot(x, y, "·", under=True)
    if scatter.band:
        for edge in (y - scatter.band, y + scatter.band):
            if scatter.least <= edge <= scatter.most:
                canvas.dot(x, edge, "˙", under=True)


def line_lines(picture: Lines, width: int) -> list[str]:
    """Return the lines of series over an ordered axis."""
    if not picture.points:
        return ["nothing to show"]
    marks = _marks(picture.points)
    xs = [point.x for point in picture.points]
    canvas = CharacterCanvas(min(_WIDE, width - 8), _HIGH, (min(xs), max(xs)), (picture.least, picture.most))
    for point in picture.points:
        canvas.dot(point.x, point.y, marks[point.series])
    return [*canvas.lines(picture.across, picture.up, width), *_legend(marks, width)]


# -- bars ------------------------------------------------------------------------------------------------------


def bar_lines(picture: Bars, width: int) -> list[str]:
    """Return each number on a common scale with its interval. Undefined numbers show their reason."""
    if not picture.bars:
        return ["nothing to show"]
    names = [clean(name) for name in picture.says]
    # Names get at most a third of the width, the bars need the rest.
    margin = min(max(map(cell_len, names)), max(12, width // 3))
    wide = max(10, min(_WIDE, width - margin - 10))
    least, most = widen_ends((picture.least, picture.most))
    out: list[str] = []
    for name, bar in zip(names, picture.bars, strict=True):
        *above, last = wrap_cells(name, margin)
        out += above
        if bar.value is None:
            out += _hang_text(f"{pad(last, margin)}  ", f"undefined ({bar.undefined})", width)
            continue
        row = interval_bar(bar.value, bar.low, bar.high, wide, least, most)
        out.append(f"{pad(last, margin)}  {row}  {format_number(bar.value, 2)}")
    return [*out, f"{' ' * margin}  {scale(wide, least, most)}"]


def _hang_text(head: str, text: str, width: int) -> list[str]:
    first, *rest = wrap_cells(text, max(12, width - cell_len(head)))
    return [head + first, *(" " * cell_len(head) + line for line in rest)]
