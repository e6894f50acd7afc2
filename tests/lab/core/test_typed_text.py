"""Text as it is kept: line ends, controls, and what languages need; and what of it is painted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from lab.core.text.plain_text import plain
from lab.core.text.typed_text import clean

NEEDED = (
    "می\u200cخواهم",  # Persian: a zero-width non-joiner
    "क्\u200dष",  # Hindi: a joiner
    "Silben\u00adtrennung",
    "葛\U000e0100 ❤\ufe0f ❤\ufe0e",
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # the flag of Scotland
    "👩\u200d💻",
    "\u200eA\u200f \u061c٣",
    "ไทย\u200bภาษา a\u2060b",
    "ᠮᠣᠩᠭᠣᠯ\u180e ᠠ\u180b",
    "\u202babc\u202c \u2067x\u2069",
    "e\u0301 é tab\there \ue000",
)
"""Texts that stay as they are, whatever way they come."""
TYPED = (
    ("Mild please.\rAnd no onions.", "Mild please.\nAnd no onions."),
    ("a\r\nb\n\rc", "a\nb\n\nc"),
    ("a\x85b\u2028c\u2029d\ve\ff", "a\nb\nc\nd\ne\nf"),
    ("\x1b[200~pasted\x1b[201~ \x1b[1;31mred\x1b[0m", "pasted red"),
    ("\x1b]0;title\x07x\x1b]8;;http://x\x1b\\link\x1b(B", "xlink"),
    ("\x9b31mred\x9d0;t\x9c!", "red!"),
    ("ends in \x1b]0;no end", "ends in ]0;no end"),
    ("a\x00b\x07c\x08d\x7fe\x9ff\x1bg", "abcdefg"),
    ("half \ud83d of it", "half \ufffd of it"),
)


@pytest.mark.parametrize(("came", "kept"), TYPED)
def test_line_ends_are_line_feeds_and_controls_go(came: str, kept: str) -> None:
    assert clean(came) == kept


@pytest.mark.parametrize("text", NEEDED)
def test_what_languages_need_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_one_line_has_blanks_for_line_ends() -> None:
    assert clean("one\r\n  two\n\nthree\tfour\n", lines=False) == "one two three four"


@given(st.text())
def test_what_is_clean_stays_so_and_can_be_stored(text: str) -> None:
    kept = clean(text)
    assert clean(kept) == kept
    assert kept.encode("utf-8").decode("utf-8") == kept
    assert not any(ch not in "\n\t" and (ord(ch) < 32 or 127 <= ord(ch) < 160) for ch in kept)


@pytest.mark.parametrize("text", NEEDED[:9])
def test_a_word_is_painted_as_a_word(text: str) -> None:
    painted = plain(text)
    assert "\\u" not in painted
    assert "\u00ad" not in painted  # a terminal paints a hyphen there, or nothing
    assert cell_len(painted) <= cell_len(text)


def test_hidden_text_and_turned_text_are_painted_as_codes() -> None:
    assert plain("pay\U000e0041\U000e0042") == "pay\\ue0041\\ue0042"
    assert plain("\U0001f3f4\U000e0041 end") == "\U0001f3f4\\ue0041 end"
    assert plain("\u2067x\u2069\ufeff") == "\\u2067x\\u2069\\ufeff"
    assert plain("one\rtwo\u2028three") == "one\ntwo\nthree"
