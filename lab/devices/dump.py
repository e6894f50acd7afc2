"""A phone's screen as nodes, by its own uiautomator; nothing is installed and no file is left behind."""

from __future__ import annotations

import secrets
import threading

from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.tree_xml import parse_tree, whole_xml
from lab.core.ui_tree import UiTree
from lab.devices.shell import Shell

_REST = 10.0
"""Seconds that uiautomator itself waits for a screen to come to rest."""
_PASSING = ("could not get idle state", "null root node")
"""What it says of a screen that is just changing: asked again, it may be well."""
_TRIES = 2


class Dumper:
    """Takes dumps, one at a time: a second uiautomator would kill the first.

    All windows are asked for: bars, keyboard and dialogs too. Where a phone lists none (its list may come too late), or
    takes no /dev/tty, the next way is taken from then on; one that has listed windows before is asked for them again
    the next time, for it may have been locked or folded. `missing` says why the newest dump could not be had.
    """

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._one = threading.Lock()
        self._all, self._by_file = True, False
        self._listed = False
        self.missing = ""

    def tree(self, tries: int = _TRIES) -> UiTree | None:
        """The screen's nodes, or None where uiautomator gives none; `Trouble` where the phone is not there."""
        with self._one:
            for _ in range(tries):
                output = self._dump()
                tree = _tree_of(whole_xml(output))
                if tree is None and self._all and whole_xml(output):
                    self._all = False
                    output = self._dump()
                    tree = _tree_of(whole_xml(output))
                    self._all = self._listed or tree is None
                self._listed = self._listed or (self._all and tree is not None)
                self.missing = "" if tree is not None else _why(output)
                if tree is not None or not _passing(output):
                    return tree
            return None

    def _dump(self) -> bytes:
        output = self._asked(self._by_file)
        if self._by_file or whole_xml(output) or _passing(output):
            return output
        by_file = self._asked(True)
        self._by_file = bool(whole_xml(by_file))
        return by_file

    def _asked(self, by_file: bool) -> bytes:
        path = f"/data/local/tmp/hitlab-{secrets.token_hex(6)}.xml" if by_file else "/dev/tty"
        command = f"uiautomator dump {'--windows ' if self._all else ''}{path} 2>&1"
        if by_file:
            command += f"; cat {path} 2>/dev/null; rm -f {path}"
        return self._shell.raw(command, _REST)


def _tree_of(xml: bytes) -> UiTree | None:
    """The tree of a whole dump; None where it is no XML, or holds no node."""
    try:
        tree = parse_tree(xml, "uiautomator's dump", cut=False).tree
    except LabError:
        return None
    return tree if tree.roots else None


def _passing(output: bytes) -> bool:
    return any(word.encode() in output for word in _PASSING)


def _why(output: bytes) -> str:
    if whole_xml(output):
        return "uiautomator's dump is no XML with nodes"
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "ERROR" in line or "Exception" in line or "Killed" in line]
    return plain((telling or lines or ["uiautomator said nothing"])[0][:200], lines=False)
