"""Text input into the focused field by `input text`, scrcpy's clipboard or an ADB keyboard."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator

from lab.core.errors import LabError
from lab.devices.adb.shell import Shell, check_sendable, line_of
from lab.devices.adb.touch_input import ENTER, check_input

INPUT, CLIPBOARD, KEYBOARD = "input text", "scrcpy clipboard", "ADB keyboard"
_PIECE_LENGTH = 200
_LINE_BYTES = 3000
"""Most bytes of one command line: before Android 7 a service name is limited to 4,096."""
_IME = "com.android.adbkeyboard"
_COMPOSING_KEYBOARDS = re.compile(
    r"pinyin|sogou|baidu|iflytek|shurufa|wubi|zhuyin|cangjie|qqinput|wetype|touchpal|simeji|wnn|mozc|korean|rime|fcitx"
    r"|mCurrentSubtype=.*(?:[Ll]ocale|[Ll]anguageTag)[=:] ?'?(?:zh|ja|ko)",
)
"""Keyboards that compose another script from the letters of `input text` (except in password fields)."""


class Typist:
    """Text input on one phone.

    `paste(text, secret)` pastes by scrcpy's clipboard and returns False if there is no server. A secret text must not
    stay on the clipboard. `field` returns the focused field's text, or None if no field is known to have the focus.
    """

    def __init__(
        self, shell: Shell, paste: Callable[[str, bool], bool], field: Callable[[], str | None] = lambda: None
    ) -> None:
        self._shell = shell
        self._paste, self._field = paste, field
        self.typed_by = ""
        """Method used for the newest text: `INPUT`, `CLIPBOARD` or `KEYBOARD`."""

    def type(self, text: str, lines: bool | None = None, *, secret: bool = False) -> None:
        """Type `text` at the cursor. Raise `LabError` with what is missing if no method can type it here.

        `lines` is True for a multi-line field, False for a single-line one, None if unknown. In a single-line field
        spaces join the lines, because Enter would submit the first. If unknown, paste the lines if possible, else press
        Enter between them.
        """
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = " ".join(text.splitlines()) if lines is False else text
        check_sendable(text)
        keys = all(" " <= ch <= "~" or ch == "\n" for ch in text)
        composes = keys and not secret and any(ch.isalpha() for ch in text) and self._keyboard_composes()
        if keys and not composes and (lines or "\n" not in text):
            self._type_by_input(text)
        elif secret and not keys and self._has_adb_keyboard():  # Android 13 and later shows the clipboard on the screen
            self._type_by_keyboard(text)
        elif self._paste(text, secret):
            self.typed_by = CLIPBOARD
        elif keys and not composes:
            self._type_by_input(text)
        elif self._has_adb_keyboard():
            self._type_by_keyboard(text)
        elif keys:
            self._type_by_input(text)
            self._check_typed(text)
        else:
            raise LabError(
                "input text",
                "adb alone types only the characters of an English keyboard.",
                "`hitlab settings scrcpy` fetches what can paste any text; an ADB keyboard on the phone also can.",
            )

    def _keyboard_composes(self) -> bool:
        """Return True if the phone's keyboard may compose other words from the pressed keys."""
        ask = "settings get secure default_input_method; dumpsys input_method | grep mCurrentSubtype="
        return _COMPOSING_KEYBOARDS.search(self._shell.run(ask).out) is not None

    def _check_typed(self, text: str) -> None:
        """Raise `LabError` if the field does not contain the typed text."""
        field_text = self._field()
        if field_text is None or text.strip() not in field_text:
            raise LabError(
                "input text",
                "the phone's keyboard composes words from its keys, and the field does not hold what was typed.",
                "Choose an English keyboard on the phone; `hitlab settings scrcpy` fetches what can paste any text.",
            )

    def _type_by_input(self, text: str) -> None:
        self.typed_by = INPUT
        for line in joined(list(commands(text))):
            check_input(self._shell.run(line, 20.0), self._shell.who)

    def _has_adb_keyboard(self) -> bool:
        return _IME in self._shell.run("settings get secure default_input_method").out

    def _type_by_keyboard(self, text: str) -> None:
        self.typed_by = KEYBOARD
        for start in range(0, len(text), _PIECE_LENGTH):
            payload = base64.b64encode(text[start : start + _PIECE_LENGTH].encode()).decode()
            result = self._shell.run(line_of("am", "broadcast", "-a", "ADB_INPUT_B64", "--es", "msg", payload))
            if result.code or "Broadcast completed" not in result.out:
                raise LabError(self._shell.who, f"its ADB keyboard took no text: {result.complaint}.")


def commands(text: str) -> Iterator[str]:
    """Yield command lines that type an ASCII text: `input text` within a line, the Enter key at its end.

    `input` turns each %s into a space. So send a space as %s, and split a literal % from an s after it.
    """
    for number, line in enumerate(text.split("\n")):
        if number:
            yield line_of("input", "keyevent", ENTER)
        for piece in pieces(line):
            yield line_of("input", "text", piece.replace(" ", "%s"))


def pieces(line: str) -> Iterator[str]:
    """Yield parts of a line of bounded length, none of which contains %s."""
    for part in line.replace("%s", "%\0s").split("\0"):
        for start in range(0, len(part), _PIECE_LENGTH):
            yield part[start : start + _PIECE_LENGTH]


def joined(lines: list[str]) -> Iterator[str]:
    """Join command lines with && into as few as the length limit allows, so that the first failure stops the rest."""
    command = ""
    for line in lines:
        if command and len(command) + len(line) > _LINE_BYTES:
            yield command
            command = ""
        command = f"{command} && {line}" if command else line
    if command:
        yield command
