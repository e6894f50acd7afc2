"""`make soak`: 64 MB of each kind of source come in within a gigabyte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.formats import test_memory
from tests.store.formats.test_memory import LARGE, MB, ROOMY, brought_in

pytestmark = test_memory.pytestmark


@pytest.mark.parametrize("made", LARGE)
def test_64_mb_come_in_within_a_gigabyte(
    made: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_memory, "SIZE", 64 * MB)
    imported, said = brought_in(made(tmp_path), ROOMY)
    assert (imported > 0, said) == (True, [])
