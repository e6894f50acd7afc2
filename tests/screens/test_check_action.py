"""Every name that `check_action` tells apart is an action: a comparison with a name of earlier would never be true."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from textual.app import App
from textual.widget import Widget

SCREENS = Path(__file__).parents[2] / "screens"
PATHS = sorted(path for path in SCREENS.rglob("*.py") if "def check_action" in path.read_text(encoding="utf-8"))


@cache
def actions() -> set[str]:
    """Return the names of all actions, Textual's among them."""
    nodes = [
        node
        for path in SCREENS.rglob("*.py")
        if "action_" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
    ]
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assigned = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    inherited = {name for kind in (App, Widget) for name in dir(kind)}
    return {name for name in defined | assigned | inherited if name.startswith("action_")}


def compared(check: ast.AST) -> Iterator[ast.expr]:
    """Yield what a function compares with `action`."""
    for node in ast.walk(check):
        if isinstance(node, ast.Compare) and ast.unparse(node.left) == "action":
            yield from node.comparators
        elif isinstance(node, ast.Match) and ast.unparse(node.subject) == "action":
            yield from (inner.value for inner in ast.walk(node) if isinstance(inner, ast.MatchValue))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.relative_to(SCREENS).as_posix())
def test_what_a_check_tells_apart_are_actions(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    sets = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    checks = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "check_action"]
    values = [part for check in checks for value in compared(check) for part in ast.walk(value)]
    values += [part for value in values if isinstance(value, ast.Name) for part in ast.walk(sets[value.id])]
    names = {one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    assert [name for name in sorted(names) if f"action_{name}" not in actions()] == []
