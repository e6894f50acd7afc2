"""What the tests' workers load is compiled once before they start: in a fresh clone each would compile all of it."""

from __future__ import annotations

import compileall
import warnings
from hashlib import sha1
from pathlib import Path
from types import ModuleType

import pytest
from _pytest.assertion import rewrite

ROOT = Path(__file__).parents[1]
PROGRAM = ("lab", "screens", "annotators", "simulators", "store")


def compile_all(config: pytest.Config) -> None:
    """Writes the bytecode of the program and of all tests, where it is not there or is of an older text."""
    for folder in PROGRAM:
        compileall.compile_dir(ROOT / folder, quiet=1)
    for path in (ROOT / "tests").rglob("*.py"):
        if path.name == "conftest.py" or path.name.startswith("test_"):
            _rewrite(path, config)
        else:
            compileall.compile_file(path, quiet=1)


def read_constants() -> None:
    """Writes for hypothesis what constants the program holds, file by file, as each worker would that finds none.

    Where another version of hypothesis keeps them in another way, each worker looks for them itself.
    """
    try:
        from hypothesis.configuration import storage_directory
        from hypothesis.errors import HypothesisSideeffectWarning
        from hypothesis.internal.constants_ast import constants_from_module

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HypothesisSideeffectWarning)  # that it takes a while is why it is done here
            kept = storage_directory("constants").path
            for path in (path for folder in PROGRAM for path in (ROOT / folder).rglob("*.py")):
                if not (kept / sha1(path.read_bytes()).hexdigest()[:16]).exists():
                    module = ModuleType(path.stem)
                    module.__file__ = str(path)
                    constants_from_module(module)
    except (ImportError, AttributeError, TypeError):
        return


def _rewrite(path: Path, config: pytest.Config) -> None:
    """As pytest does it when it loads the file: each assertion with what it says where it fails."""
    folder = rewrite.get_cache_dir(path)
    kept = folder / (path.name[:-3] + rewrite.PYC_TAIL)
    if kept.exists() and kept.stat().st_mtime >= path.stat().st_mtime:
        return  # a worker that finds it to be of another text writes it anew
    if rewrite.try_makedirs(folder):
        source, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, kept)
