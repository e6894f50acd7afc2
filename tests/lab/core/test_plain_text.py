"""A stranger's text as plain characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lab.core.text.plain_text import plain


def test_escapes_and_direction_marks_become_visible() -> None:
    assert plain("\x1b[31mred\x1b]0;title\x07") == "\\x1b[31mred\\x1b]0;title\\x07"
    assert plain("abc\u202egnp.exe") == "abc\\u202egnp.exe"
    assert plain("\x9b31m") == "\\x9b31m"
    assert plain("a\x00b\ud800c") == "a\\x00b\\ud800c"


def test_lines_tabs_and_real_text_stay() -> None:
    assert plain("one\r\ntwo\tthree") == "one\ntwo three"
    assert plain("one\ntwo", lines=False) == "one⏎two"
    assert plain("[bold]您好[/] 👩‍💻 café") == "[bold]您好[/] 👩‍💻 café"


@given(st.text())
def test_nothing_that_steers_a_terminal_survives(text: str) -> None:
    shown = plain(text)
    assert all(ch == "\n" or not (ord(ch) < 32 or 127 <= ord(ch) < 160) for ch in shown)
    assert not any("\u202a" <= ch <= "\u202e" or "\u2066" <= ch <= "\u2069" for ch in shown)
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert plain(shown) == shown
