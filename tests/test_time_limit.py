"""No test can hang a run, and each failure is written as it happens."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.warm_code import python

_TESTS = """
import asyncio, os, threading
import pytest

@pytest.fixture
def hanging():
    yield
    threading.Event().wait()

def test_pipe():
    os.read(os.pipe()[0], 1)

async def test_task():
    async def never():
        await asyncio.Event().wait()
    await asyncio.create_task(never())

def test_fixture(hanging):
    pass

def test_after():
    pass
"""
_RUN = "import pytest, sys; sys.exit(pytest.main(sys.argv[1:]))"


def test_a_test_that_waits_for_ever_fails_with_the_line_it_waits_at(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_configure\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    (tmp_path / "test_hanging.py").write_text(_TESTS)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    words = ["-v", "-p", "no:cacheprovider", "--tb=no", "--disable-warnings", tmp_path]
    done = python(_RUN, *words, env={**environment, "TESTS_LIMIT": "1"})
    out = done.stdout.decode()
    assert done.returncode == 1, done
    assert "2 failed, 2 passed, 1 error" in out
    body, _, _ = out.partition("short test summary")
    for name, phase, line in (("pipe", "call", 11), ("task", "call", 15), ("fixture", "teardown", 8)):
        found = re.search(rf"FAILED \S*test_hanging.py::test_{name} \[{phase}\]\n((?:    .*\n)+)", body)
        assert found is not None, body
        assert f"test_{name} took more than 1 s." in found[1]
        assert f"test_hanging.py:{line} " in found[1]
