"""A served phone without a transport: command lines in, what they print out."""

from __future__ import annotations

import threading
from typing import NamedTuple

from lab.core.run.step import Action
from lab.core.run.ui_tree import Node, UiTree
from simulators.phone.phone import Phone
from simulators.phone.served.display import Display
from simulators.phone.served.faults import Faults
from simulators.phone.served.services import Services
from simulators.phone.served.shell import run

FEED = "/".join(("food", "0", "home", "feed"))
"""Under which key the food app's first list remembers where it stands: app, depth, screen, list."""


class Said(NamedTuple):
    """What a command line printed, and its exit code."""

    out: bytes
    err: str
    code: int

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "surrogateescape")

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


class Typed:
    """A console with all its input there; collects what is written."""

    def __init__(self, stdin: bytes = b"", terminal: bool = False) -> None:
        self.gone = threading.Event()
        self.terminal = terminal
        self.written, self.complained = bytearray(), bytearray()
        self._input = [stdin] if stdin else []

    def read(self, timeout: float | None = None) -> bytes:
        return self._input.pop() if self._input else b""

    def write_output(self, data: bytes | memoryview) -> None:
        self.written += data

    def err(self, data: bytes) -> None:
        self.complained += data


class Asked:
    """A phone of its own, asked line by line."""

    def __init__(self, app: str = "") -> None:
        self.display = Display(Phone())
        self.phone = self.display.phone
        self.services = Services(self.display, Faults())
        if app:
            self.phone.perform(Action("open_app", app=app))

    def say(self, line: str, stdin: bytes = b"") -> Said:
        console = Typed(stdin)
        code = run(self.services, line, console)
        console.gone.set()
        return Said(bytes(console.written), console.complained.decode("utf-8", "surrogateescape"), code)

    def text(self, line: str) -> str:
        """What a line prints, without its last line feed; it must not fail."""
        said = self.say(line)
        assert not said.code, (line, said)
        assert not said.err, (line, said)
        return said.text.removesuffix("\n")

    def field(self) -> Node:
        """The field with the cursor."""
        return next(node for node in self.phone.current_screen().tree.nodes() if node.focused)

    def open_note(self) -> None:
        """A new, empty note, the cursor in its body."""
        self.phone.perform(Action("open_app", app="Notes"))
        for desc in ("New note", "Note"):
            self.tap(desc)

    def tap(self, label: str) -> None:
        tree = self.display.tree()
        found = [n for n in tree.nodes() if label in (n.text, n.desc)]
        assert found, (label, labels(tree))
        self.display.perform(Action("click", at=tree.target(found[-1]).bounds.center))


def labels(tree: UiTree) -> list[str]:
    return [node.label for node in tree.nodes() if node.label]
