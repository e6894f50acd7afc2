"""No regular expression of ours takes a time that grows with the square of a stranger's text."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.bounded import HANGING, ROOT

_CHILD = r"""
import ast, importlib, json, pkgutil, re, signal, sys
from pathlib import Path
from lab.core.run import input_limits
UNITS = [" ", "\n", "a", "A", "0", "_", ".", ",", "-", "'", '"', "(", "{", "[", "<", "/", "\\", ":", "=", "é", ";",
         "a.", "1,", "a ", "a-", "(1"]
HOWS = {"search": "search", "match": "match", "fullmatch": "fullmatch", "sub": "sub", "subn": "sub",
        "findall": "sub", "finditer": "sub", "split": "sub"}
ASKED = re.compile(r"\.(" + "|".join(HOWS) + r")\(")
class Hangs(Exception): pass
def ring(*_): raise Hangs
signal.signal(signal.SIGVTALRM, ring)
def used(module):
    # Every expression that stands in a module, and how it is asked.
    source = Path(module.__file__).read_text(encoding="utf-8")
    for name, value in vars(module).items():
        if isinstance(value, re.Pattern):
            asked = set(re.findall(rf"\b{name}\.(\w+)\(", source)) & set(HOWS)
            yield name, value, {HOWS[how] for how in asked}
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args):
            continue
        how, words = ast.unparse(node.func)[3:], node.args[0]
        if how in HOWS and isinstance(words, ast.Constant):
            flags = 0
            for flag in set(re.findall(r"re\.([A-Z]+)", ast.unparse(node))):
                flags |= getattr(re, flag)
            yield f"line {node.lineno}", re.compile(words.value, flags), {HOWS[how]}
def modules(package):
    # Those in which an expression may be asked; what others need at import is of no matter here.
    for info in pkgutil.walk_packages([package], package + "."):
        source = Path(package, *info.name.split(".")[1:])
        source = source / "__init__.py" if info.ispkg else source.with_suffix(".py")
        if not info.name.endswith("__main__") and ASKED.search(source.read_text(encoding="utf-8")):
            yield info.name
def hangs(pattern, how, unit, size, seconds):
    text = unit * (size // len(unit)) + "!"
    text = text.encode() if isinstance(pattern.pattern, bytes) else text
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        pattern.sub(text[:0], text) if how == "sub" else getattr(pattern, how)(text)
    except Hangs:
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return False
told, tried = {}, {}
for package in sys.argv[1:]:
    counted, bad = 0, []
    for module in modules(package):
        for name, pattern, hows in used(importlib.import_module(module)):
            counted += 1
            for how in hows:
                if (pattern, how) not in tried:
                    # What takes t for a text takes 9 t for one three times as long, if it hangs; then it is asked that.
                    tried[pattern, how] = [
                        unit for unit in UNITS
                        if hangs(pattern, how, unit, 20_000, 1.5 / 9) and hangs(pattern, how, unit, 60_000, 1.5)
                    ]
                bad += [f"{module} {name} {how} {unit!r}" for unit in tried[pattern, how]]
    told[package] = [counted, bad]
print(json.dumps(told))
"""

LEAST = {"lab": 80, "simulators": 30, "screens": 10, "annotators": 1}
"""Expressions that are found in a package at the least."""


@pytest.fixture(scope="module")
def found() -> dict[str, tuple[int, list[str]]]:
    """How many expressions each package has, and which of them hang; one process asks them all."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, *LEAST], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, timeout=HANGING * 2,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    told: dict[str, tuple[int, list[str]]] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("package", LEAST)
def test_no_expression_goes_back_over_a_long_text(found: dict[str, tuple[int, list[str]]], package: str) -> None:
    counted, bad = found[package]
    assert counted >= LEAST[package]
    assert bad == []
