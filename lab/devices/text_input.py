"""Text into the field that has the cursor, unchanged: which ways there are, and which one was taken."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator

from lab.core.errors import LabError
from lab.devices.shell import Shell, check_sendable, line_of
from lab.devices.touch_input import ENTER, must

INPUT, CLIPBOARD, KEYBOARD = "input text", "scrcpy clipboard", "ADB keyboard"
_PIECE = 200
_LINE = 3000
"""Bytes of one command line: phones before Android 7 take no more than 4,096 of a service's name."""
_IME = "com.android.adbkeyboard"
_COMPOSES = re.compile(
    r"pinyin|sogou|baidu|iflytek|shurufa|wubi|zhuyin|cangjie|qqinput|wetype|touchpal|simeji|wnn|mozc|korean|rime|fcitx"
    r"|mCurrentSubtype=.*(?:[Ll]ocale|[Ll]anguageTag)[=:] ?'?(?:zh|ja|ko)",
)
"""Keyboards that make words of another script out of the letters that `input text` presses, password fields aside."""


class Typist:
    """Types on one phone. `paste` does so by scrcpy's clipboard, and is False where no server is found.

    Its second value is whether the text is secret, and must not stay on the clipboard. `field` reads the field that has
    the cursor, None where none is known to have it.
    """

    def __init__(
        self, shell: Shell, paste: Callable[[str, bool], bool], field: Callable[[], str | None] = lambda: None
    ) -> None:
        self._shell = shell
        self._paste, self._field = paste, field
        self.typed_by = ""
        """How the newest text was typed."""

    def type(self, text: str, lines: bool | None = None, *, secret: bool = False) -> None:
        """Types `text` at the cursor; a `LabError` says what is missing where this phone cannot be given it.

        `lines` is whether the field has several; where it has one, its lines are joined by spaces, for Enter would send
        the first of them. Where that is not known they are pasted if they can be, else ended by Enter.
        """
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = " ".join(text.splitlines()) if lines is False else text
        check_sendable(text)
        keys = all(" " <= ch <= "~" or ch == "\n" for ch in text)
        composes = keys and not secret and any(ch.isalpha() for ch in text) and self._composes()
        if keys and not composes and (lines or "\n" not in text):
            self._by_input(text)
        elif secret and not keys and self._has_keyboard():  # a clipboard is shown on the screen by Android 13 on
            self._by_keyboard(text)
        elif self._paste(text, secret):
            self.typed_by = CLIPBOARD
        elif keys and not composes:
            self._by_input(text)
        elif self._has_keyboard():
            self._by_keyboard(text)
        elif keys:
            self._by_input(text)
            self._check(text)
        else:
            raise LabError(
                "input text",
                "adb alone types only the characters of an English keyboard.",
                "`hitlab device scrcpy` fetches what can paste any text; an ADB keyboard set up on the phone also can.",
            )

    def _composes(self) -> bool:
        """Whether the phone's keyboard may make other words of the keys that are pressed."""
        ask = "settings get secure default_input_method; dumpsys input_method | grep mCurrentSubtype="
        return _COMPOSES.search(self._shell.run(ask).out) is not None

    def _check(self, text: str) -> None:
        """A `LabError` where the field holds other words than were typed into it."""
        field_text = self._field()
        if field_text is None or text.strip() not in field_text:
            raise LabError(
                "input text",
                "the phone's keyboard composes words from its keys, and the field does not hold what was typed.",
                "Choose an English keyboard on the phone; `hitlab device scrcpy` fetches what can paste any text.",
            )

    def _by_input(self, text: str) -> None:
        self.typed_by = INPUT
        for line in joined(list(commands(text))):
            must(self._shell.run(line, 20.0), self._shell.who)

    def _has_keyboard(self) -> bool:
        return _IME in self._shell.run("settings get secure default_input_method").out

    def _by_keyboard(self, text: str) -> None:
        self.typed_by = KEYBOARD
        for start in range(0, len(text), _PIECE):
            payload = base64.b64encode(text[start : start + _PIECE].encode()).decode()
            result = self._shell.run(line_of("am", "broadcast", "-a", "ADB_INPUT_B64", "--es", "msg", payload))
            if result.code or "Broadcast completed" not in result.out:
                raise LabError(self._shell.who, f"its ADB keyboard took no text: {result.complaint}.")


def commands(text: str) -> Iterator[str]:
    """Command lines that type an ASCII text: `input text` for what is within a line, the Enter key for its end.

    `input` itself turns each %s into a space, so a space is sent as %s, and a % is parted from an s after it.
    """
    for number, line in enumerate(text.split("\n")):
        if number:
            yield line_of("input", "keyevent", ENTER)
        for piece in pieces(line):
            yield line_of("input", "text", piece.replace(" ", "%s"))


def pieces(line: str) -> Iterator[str]:
    """A line in pieces of bounded length, none of which holds %s."""
    for part in line.replace("%s", "%\0s").split("\0"):
        for start in range(0, len(part), _PIECE):
            yield part[start : start + _PIECE]


def joined(lines: list[str]) -> Iterator[str]:
    """Command lines put together, so that one stops at the first that fails, and none is too long to be sent."""
    command = ""
    for line in lines:
        if command and len(command) + len(line) > _LINE:
            yield command
            command = ""
        command = f"{command} && {line}" if command else line
    if command:
        yield command
