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
from lab.core import limits
UNITS = [" ", "\n", "a", "A", "0", "_", ".", ",", "-", "'", '"', "(", "{", "[", "<", "/", "\\", ":", "=", "é", ";",
         "a.", "1,", "a ", "a-", "(1"]
HOWS = {"search": "search", "match": "match", "fullmatch": "fullmatch", "sub": "sub", "subn": "sub",
        "findall": "sub", "finditer": "sub", "split": "sub"}
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
counted, bad = 0, []
for info in pkgutil.walk_packages([sys.argv[1]], sys.argv[1] + "."):
    if info.name.endswith("__main__"):
        continue
    size = 60_000
    for name, pattern, hows in used(importlib.import_module(info.name)):
        counted += 1
        for unit in UNITS:
            text = unit * (size // len(unit)) + "!"
            text = text.encode() if isinstance(pattern.pattern, bytes) else text
            for how in hows:
                signal.setitimer(signal.ITIMER_VIRTUAL, 1.5)
                try:
                    pattern.sub(text[:0], text) if how == "sub" else getattr(pattern, how)(text)
                except Hangs:
                    bad.append(f"{info.name} {name} {how} {unit!r}")
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
print(json.dumps([counted, bad]))
"""


@pytest.mark.parametrize(("package", "least"), [("lab", 80), ("simulators", 30), ("screens", 10), ("annotators", 1)])
def test_no_expression_goes_back_over_a_long_text(package: str, least: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, package], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, timeout=HANGING * 2,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    counted, bad = json.loads(done.stdout)
    assert counted >= least
    assert bad == []
