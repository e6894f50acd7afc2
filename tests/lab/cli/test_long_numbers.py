"""A number of thousands of digits is refused in a sentence wherever one is typed."""

from __future__ import annotations

import pytest

from tests.lab.cli.test_commands import Hitlab, hitlab

__all__ = ["hitlab"]

LONG = "9" * 5000


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("fork", f"0@{LONG}"), "is no number from 1 on"),
        (("replay", f"0@{LONG}"), "is no number from 1 on"),
        (("privacy", "0", "--box", LONG, "1,1,5,5"), "is no number from 1 on"),
        (("privacy", "0", "--box", "1", f"1,1,5,{LONG}"), "is no box"),
        (("study", "show", f"s@{LONG}"), "is no number"),
        (("live", "night_mode", "--headless", "--break", f"step:{LONG}"), "names no step"),
        (("study", "new", "tdg", "--overlap", LONG), "is no number"),
        (("answer", "--port", LONG), "is no port"),
        (("answer", "--close-after", f"{LONG}m"), "is no duration"),
        (("run", "night_mode", "--on", f"dask://h:{LONG}", "--agent", "model:x"), "is no cluster"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_number_that_is_too_long_is_a_sentence(hitlab: Hitlab, line: tuple[str, ...], words: str) -> None:
    hitlab("live", "night_mode", "--headless", "--break", "1")
    done = hitlab(*line)
    assert done.code == 2, done.err[-300:]
    assert words in done.err
    assert "Traceback" not in done.err
