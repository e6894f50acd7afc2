"""Text for a phone's shell and its `input` command: what is sent is what arrives, whatever is in it."""

from __future__ import annotations

import base64
import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.core.errors import LabError
from lab.devices.adb.shell import line_of, quoted
from lab.devices.adb.text_input import Typist, commands, joined, pieces
from tests.fuzzing_examples import examples
from tests.lab.devices.answering import answering

HARD = 'it\'s "50%" off; rm -rf $HOME & `id` \\ %s %%s !x\n-n'
words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=80)
ascii_text = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=600)


def in_sh(line: str) -> list[str]:
    """The words that a POSIX shell makes of a command line, after the first."""
    script = 'show() { for word in "$@"; do printf "%s\\0" "$word"; done; }\n' + line
    done = subprocess.run(["/bin/sh"], input=script.encode(), capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


def typed(text: str) -> str:
    """What Android's `input text` types of its argument (InputShellCommand.sendText): each %s is a space."""
    out = ""
    for ch in text:
        out = out[:-1] + " " if ch == "s" and out.endswith("%") else out + ch
    return out


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(words, min_size=1, max_size=4))
def test_any_words_survive_a_shell(given_words: list[str]) -> None:
    assert in_sh("show " + " ".join(map(quoted, given_words))) == given_words


def test_hard_words_survive_a_shell() -> None:
    assert in_sh(line_of("show", HARD, "", "~", "*", "#x", "=y", 7)) == [HARD, "", "~", "*", "#x", "=y", "7"]


@pytest.mark.parametrize("text", ["a\0b", "\ud83d"])
def test_what_no_command_line_holds_is_refused(text: str) -> None:
    with pytest.raises(LabError, match="cannot be sent"):
        quoted(text)


@given(ascii_text)
def test_typing_in_pieces_types_the_text(line: str) -> None:
    assert "".join(typed(piece.replace(" ", "%s")) for piece in pieces(line)) == line
    assert all("%s" not in piece and len(piece) <= 200 for piece in pieces(line))


@pytest.mark.parametrize("text", ["%s", "100%s%s", "%%s", "% s", "%", "s%", "5 % sold", "a  b", "%%%sss"])
def test_percent_signs_are_typed_as_they_are(text: str) -> None:
    assert "".join(typed(piece.replace(" ", "%s")) for piece in pieces(text)) == text


@settings(max_examples=examples(30), deadline=None)
@given(st.text(st.sampled_from(list("ab %s'\"\\$`;&|<>()*?~#\n")), max_size=60))
def test_a_text_arrives_through_shell_and_input(text: str) -> None:
    got = ""
    for line in joined(list(commands(text))):
        for word in in_sh(re.sub(r"(^|&& )input ", r"\1show ", line) + "; show done"):
            got += {"text": "", "keyevent": "", "66": "\n", "done": ""}.get(word, typed(word))
    assert got == text


def test_long_texts_are_sent_in_lines_that_every_phone_takes() -> None:
    lines = list(joined(list(commands("it's a long day\n" * 2000))))
    assert len(lines) > 1
    assert max(map(len, lines)) < 4096


def phone(keyboard: str, sent: list[str]) -> Typist:
    """A typist on a phone with that keyboard and no scrcpy, which notes what it is sent."""

    def answer(command: str) -> bytes:
        sent.append(command)
        said = f"{keyboard}\n" if "default_input_method" in command else "Broadcast completed: result=0\n"
        return f"{said}\nhitlab:exit:0\n".encode()

    return Typist(answering(answer), lambda text, secret: False)


def test_what_cannot_be_sent_is_refused_and_not_repeated() -> None:
    for text in ("hunter2\0", "hunter2\ud83d"):
        with pytest.raises(LabError, match="cannot be sent") as caught:
            phone("com.android.adbkeyboard/.AdbIME", []).type(text)
        assert "hunter2" not in caught.value.sentence


@pytest.mark.parametrize("text", ["你好 🙂\n$HOME", "ü" * 500])
def test_an_adb_keyboard_that_is_set_up_types_any_text(text: str) -> None:
    sent: list[str] = []
    typist = phone("com.android.adbkeyboard/.AdbIME", sent)
    typist.type(text)
    coded = re.findall(r"ADB_INPUT_B64 --es msg '?([A-Za-z0-9+/=]+)", "\n".join(sent))
    assert "".join(base64.b64decode(one).decode() for one in coded) == text
    assert typist.typed_by == "ADB keyboard"


def test_another_keyboard_types_none_but_ascii() -> None:
    with pytest.raises(LabError, match="English keyboard"):
        phone("com.google.android.inputmethod.latin/.LatinIME", []).type("ü")


def test_the_lines_of_a_field_of_one_line_are_joined() -> None:
    sent: list[str] = []
    phone("", sent).type("one\ntwo\n", False)
    (typing,) = [command for command in sent if "input " in command]
    assert "input text 'one%stwo'" in typing
    assert "keyevent" not in typing
