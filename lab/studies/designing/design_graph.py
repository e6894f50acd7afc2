"""Task dependency graph as text: boxes from top to bottom, parallel nodes side by side, alternatives in a frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from lab.core.task.design_outline import letter
from lab.core.task.task import Tdg, TdgNode
from lab.core.text.plain_text import plain

_LIMITS = (26, 20, 14, 10)
"""Widths to wrap a box's words to, tried in this order."""
_GAP = 3
"""Columns between boxes. Odd like the width of every box, so that the centers of rows align."""
# Bits of a cell: the directions in which a line leaves it. `_LINES` maps their sum to a box-drawing character.
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LINES = {
    0: " ", 1: "│", 2: "│", 3: "│", 4: "─", 8: "─", 12: "─", 5: "╯", 9: "╰", 6: "╮", 10: "╭", 7: "┤", 11: "├",
    13: "┴", 14: "┬", 15: "┼",
}  # fmt: skip


class GraphLayout(NamedTuple):
    """One attempt at a layout: the width to wrap words to, and alternatives side by side or stacked."""

    limit: int
    stacked: bool


class Block(NamedTuple):
    """Lines of one width in cells. Edges end at the column `center`."""

    lines: list[str]
    width: int

    @property
    def center(self) -> int:
        return self.width // 2


def draw_graph(tdg: Tdg, width: int) -> list[str]:
    """Draw the graph in at most `width` cells. Return no lines if no layout fits. Names are plain characters.

    An edge that skips rows appears in its target's box as `after 2`. A graph with a cycle or with dangling edges is not
    drawn.
    """
    layers = _layers(tdg)
    if layers is None:
        return []
    # Narrower and narrower boxes side by side, then the same with alternatives stacked.
    for look in [*(GraphLayout(limit, False) for limit in _LIMITS), *(GraphLayout(limit, True) for limit in _LIMITS)]:
        lines = _draw_layers(tdg, layers, look)
        if all(cell_len(line) <= width for line in lines):
            return [line.rstrip() for line in lines]
    return []


def _layers(tdg: Tdg) -> list[list[int]] | None:
    """Return the indices of top-level nodes grouped by depth (longest path before them), None if there is a cycle."""
    where = {node.id: i for i, node in enumerate(tdg.nodes)}
    edges = [(where[a], where[b]) for a, b in tdg.edges if a in where and b in where]
    depth = dict.fromkeys(range(len(tdg.nodes)), 0)
    for _ in tdg.nodes:
        changed = False
        for a, b in edges:
            if depth[b] <= depth[a]:
                depth[b], changed = depth[a] + 1, True
        if not changed:
            return [[i for i in depth if depth[i] == level] for level in range(max(depth.values(), default=-1) + 1)]
    return None if tdg.nodes else []


def _draw_layers(tdg: Tdg, layers: list[list[int]], look: GraphLayout) -> list[str]:
    where = {node.id: i for i, node in enumerate(tdg.nodes)}
    level = {i: n for n, layer in enumerate(layers) for i in layer}
    before: dict[int, list[int]] = {i: [] for i in level}
    for a, b in tdg.edges:
        if a in where and b in where:
            before[where[b]].append(where[a])
    rows: list[tuple[list[int], list[Block]]] = []
    for n, layer in enumerate(_order_layers(layers, before)):
        far = {i: [a + 1 for a in before[i] if level[a] < n - 1] for i in layer}
        rows.append((layer, [_node_block(tdg.nodes[i], str(i + 1), look, far[i]) for i in layer]))
    widest = max((_width(blocks) for _, blocks in rows), default=0)
    centers = [_centers(layer, blocks, widest) for layer, blocks in rows]
    lines: list[str] = []
    for n, (layer, blocks) in enumerate(rows):
        if n:
            near = [(centers[n - 1][a], centers[n][b]) for b in layer for a in before[b] if level[a] == n - 1]
            names = [f"{a + 1} → {b + 1}" for b in layer for a in before[b] if level[a] == n - 1]
            lines += [_center_text("   ".join(names), widest)] if _is_ambiguous(near) else _draw_edges(near, widest)
        lines += _side_by_side(blocks, widest, stems=True)
    return lines


def _order_layers(layers: list[list[int]], before: dict[int, list[int]]) -> list[list[int]]:
    """Order each row by the mean position of its predecessors, so that fewer lines cross (barycenter heuristic)."""
    positions: dict[int, float] = {}
    rows = []
    for layer in layers:
        means = {i: sum(positions[a] for a in before[i]) / len(before[i]) if before[i] else 0.0 for i in layer}
        rows.append(sorted(layer, key=lambda i, means=means: means[i]))  # type: ignore[misc]
        positions |= {i: n / len(layer) for n, i in enumerate(rows[-1])}
    return rows


def _node_block(node: TdgNode, number: str, look: GraphLayout, far: Iterable[int] = ()) -> Block:
    """Return a node's box, or the frame around its alternatives. A flexible node has a dashed border."""
    after = "".join(f" (after {', '.join(map(str, sorted(far)))})" if far else "")
    title = f"{number} {plain(node.name, lines=False) or node.id}{after}"
    if not node.alternatives:
        return _draw_box(_wrap(title, look.limit), "╌" if node.kind == "flexible" else "─")
    paths = [_path_block(path, f"{number}{letter(p)}", look) for p, path in enumerate(node.alternatives)]
    side = _side_by_side(paths, _width(paths))
    if look.stacked:
        widest = max(path.width for path in paths)
        side = [line for path in paths for line in _side_by_side([path], widest)]
    inner = Block(side, max((cell_len(line) for line in side), default=0))
    heading = _wrap(title, max(inner.width, look.limit))
    return _draw_box([*heading, *inner.lines], "═" if node.kind == "fixed" else "╌")


def _path_block(path: Sequence[TdgNode], number: str, look: GraphLayout) -> Block:
    """Return the nodes of one alternative from top to bottom."""
    blocks = [_node_block(node, f"{number}{i + 1}", look) for i, node in enumerate(path)]
    widest = max((block.width for block in blocks), default=0)
    lines: list[str] = []
    for i, block in enumerate(blocks):
        if i:
            lines.append(_center_text("│", widest))
        lines += _side_by_side([block], widest)
    return Block(lines, widest)


def _draw_box(lines: list[str], edge: str) -> Block:
    # Odd, so that the box has a center column.
    width = max((cell_len(line) for line in lines), default=0) // 2 * 2 + 1
    sides = ("║", "║", "╔", "╗", "╚", "╝") if edge == "═" else ("│", "│", "╭", "╮", "╰", "╯")
    middle = [f"{sides[0]} {_center_text(line, width)} {sides[1]}" for line in lines]
    rule = edge * (width + 2)
    return Block([f"{sides[2]}{rule}{sides[3]}", *middle, f"{sides[4]}{rule}{sides[5]}"], width + 4)


def _width(blocks: Sequence[Block]) -> int:
    return sum(block.width for block in blocks) + _GAP * max(0, len(blocks) - 1)


def _centers(layer: list[int], blocks: list[Block], widest: int) -> dict[int, int]:
    """Return the column of each node's center in a row that is centered in `widest`."""
    left = (widest - _width(blocks)) // 2
    centers = {}
    for i, block in zip(layer, blocks, strict=True):
        centers[i] = left + block.center
        left += block.width + _GAP
    return centers


def _side_by_side(blocks: list[Block], widest: int, *, stems: bool = False) -> list[str]:
    """Place blocks side by side, centered in `widest`. With `stems` a line extends the shorter ones to the bottom."""
    tallest = max((len(block.lines) for block in blocks), default=0)
    columns = []
    for block in blocks:
        below = _center_text("│", block.width) if stems else " " * block.width
        columns.append([*block.lines, *[below] * (tallest - len(block.lines))])
    space = " " * ((widest - _width(blocks)) // 2)
    return [space + (" " * _GAP).join(parts) for parts in zip(*columns, strict=True)]


def _draw_edges(edges: list[tuple[int, int]], widest: int) -> list[str]:
    """Draw the lines between two rows. Each group of connected nodes gets a level of its own."""
    groups = _group_edges(edges)
    cells = [[0] * widest for _ in range(max(1, len(groups)))]
    for level, group in enumerate(groups):
        tops, feet = {a for a, _ in group}, {b for _, b in group}
        left, right = min(tops | feet), max(tops | feet)
        for x in range(left, right + 1):
            cells[level][x] |= (_LEFT if x > left else 0) | (_RIGHT if x < right else 0)
        for x in tops:
            for y in range(level + 1):
                cells[y][x] |= _UP | (_DOWN if y < level else 0)
        for x in feet:
            for y in range(level, len(cells)):
                cells[y][x] |= _DOWN | (_UP if y > level else 0)
    heads = {b for _, b in edges}
    lines = ["".join(_LINES[mask] for mask in row) for row in cells]
    return [*lines, "".join("▼" if x in heads else " " for x in range(widest))]


def _is_ambiguous(edges: list[tuple[int, int]]) -> bool:
    """Return True if one group's line would end where another's starts, and so seem to continue it."""
    groups = _group_edges(edges)
    return any(a == b for one in groups for other in groups if one is not other for a, _ in one for _, b in other)


def _group_edges(edges: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Group edges that share an end (connected components)."""
    groups: list[list[tuple[int, int]]] = []
    for edge in edges:
        neighbours = [group for group in groups if any(edge[0] == a or edge[1] == b for a, b in group)]
        groups = [group for group in groups if group not in neighbours]
        groups.append([edge, *(other for group in neighbours for other in group)])
    return groups


def _center_text(text: str, width: int) -> str:
    left = (width - cell_len(text)) // 2
    return " " * left + text + " " * (width - cell_len(text) - left)


def _wrap(text: str, limit: int) -> list[str]:
    """Wrap words to at most `limit` cells. A word in wide characters (Chinese, Japanese) may break anywhere."""
    lines: list[str] = []
    for word in text.split():
        wide = cell_len(word) != len(word)
        for i, piece in enumerate(word if wide else chop_cells(word, limit)):
            gap = " " if i == 0 else ""
            if lines and (wide or i == 0) and cell_len(lines[-1] + gap + piece) <= limit:
                lines[-1] += gap + piece
            else:
                lines.append(piece)
    return lines or [""]
