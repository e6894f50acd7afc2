"""UI tree of a phone's screen from its own uiautomator, with nothing installed and no file left behind."""

from __future__ import annotations

import secrets
import threading

from lab.core.errors import LabError
from lab.core.run.tree_xml import parse_tree, whole_xml
from lab.core.run.ui_tree import UiTree
from lab.core.text.plain_text import plain
from lab.devices.adb.shell import Shell

_IDLE_SECONDS = 10.0
"""Extra seconds: uiautomator itself waits up to 10 s for an idle screen."""
_TRANSIENT_ERRORS = ("could not get idle state", "null root node")
"""Error texts of a screen in transition. A second try may succeed."""
_TRIES = 2


class Dumper:
    """Serialized uiautomator dumps of one phone: a second uiautomator would kill the first.

    Ask for all windows first: bars, keyboard and dialogs too. If a phone lists no windows (its list may be late) or
    rejects /dev/tty, use the next method from then on. A phone that has listed windows before is asked for them again,
    because it may only have been locked or folded.
    """

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._lock = threading.Lock()
        self._all, self._by_file = True, False
        self._listed = False
        self.missing = ""
        """Reason why the newest dump failed, or empty."""

    def tree(self, tries: int = _TRIES) -> UiTree | None:
        """Return the screen's UI tree, or None if uiautomator gives none. Raise `Trouble` if the phone is away."""
        with self._lock:
            for _ in range(tries):
                output = self._dump()
                tree = _parse_tree(whole_xml(output))
                if tree is None and self._all and whole_xml(output):
                    # XML without a node: use the plain dump, from now on unless this phone has listed windows before.
                    self._all = False
                    output = self._dump()
                    tree = _parse_tree(whole_xml(output))
                    self._all = self._listed or tree is None
                self._listed = self._listed or (self._all and tree is not None)
                self.missing = "" if tree is not None else _error_text(output)
                if tree is not None or not _is_transient(output):
                    return tree
            return None

    def _dump(self) -> bytes:
        output = self._run_dump(self._by_file)
        if self._by_file or whole_xml(output) or _is_transient(output):
            return output
        by_file = self._run_dump(True)
        # Remember the detour by a file only if it worked.
        self._by_file = bool(whole_xml(by_file))
        return by_file

    def _run_dump(self, by_file: bool) -> bytes:
        path = f"/data/local/tmp/hitlab-{secrets.token_hex(6)}.xml" if by_file else "/dev/tty"
        command = f"uiautomator dump {'--windows ' if self._all else ''}{path} 2>&1"
        if by_file:
            command += f"; cat {path} 2>/dev/null; rm -f {path}"
        return self._shell.raw(command, _IDLE_SECONDS)


def _parse_tree(xml: bytes) -> UiTree | None:
    """Return the tree of a complete dump, or None if it is not XML or has no node."""
    try:
        tree = parse_tree(xml, "uiautomator's dump", cut=False).tree
    except LabError:
        return None
    return tree if tree.roots else None


def _is_transient(output: bytes) -> bool:
    return any(word.encode() in output for word in _TRANSIENT_ERRORS)


def _error_text(output: bytes) -> str:
    if whole_xml(output):
        return "uiautomator's dump is no XML with nodes"
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "ERROR" in line or "Exception" in line or "Killed" in line]
    return plain((telling or lines or ["uiautomator said nothing"])[0][:200], lines=False)
