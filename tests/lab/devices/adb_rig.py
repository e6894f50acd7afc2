"""AdbPhones on served phones, closed at the end with no thread left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.step import Action, Point
from lab.core.run.ui_tree import Node
from lab.devices.adb.adb import AdbPhone
from lab.devices.adb.adb_server import Server
from tests.scrcpy_jar import stand_in
from tests.simulators.phone.served import rig as rigs

Attach = Callable[..., AdbPhone]
HARD = 'it\'s "50%" off; rm -rf $HOME & 你好 🙂\n'
"""The text of the issue."""


@pytest.fixture
def attach(rig: rigs.Rig, adb_environment: rigs.AdbServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Attach]:
    """Attaches to the rig's phone; by screencap, and with no scrcpy server anywhere, where nothing else is said."""
    monkeypatch.setenv("SCRCPY_SERVER_PATH", str(adb_environment.home / "none"))
    begun: list[AdbPhone] = []

    def begin(serial: str | None = None, **how: Any) -> AdbPhone:
        how = {"via": "screencap", "fps": 30, **how}
        begun.append(AdbPhone(rig.serial if serial is None else serial, **how))
        return begun[-1]

    yield begin
    for phone in begun:
        phone.close()
        phone.close()
    left = [t.name for t in threading.enumerate() if t.name.startswith(("adb ", "scrcpy"))]
    assert rigs.until(lambda: not any(t.name in left for t in threading.enumerate())), left


@pytest.fixture
def scrcpy_server(attach: Attach, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scrcpy server where one is looked for."""
    path = tmp_path / "scrcpy-server-v3.3.4"
    path.write_bytes(stand_in("3.3.4"))
    monkeypatch.setenv("SCRCPY_SERVER_PATH", str(path))
    return path


def server_of(rig: rigs.Rig) -> Server:
    """The adb server that a rig's phone is at."""
    return Server(rig.server.host, rig.server.port)


def node(phone: AdbPhone, words: str, cls: str = "") -> Node:
    """What is called so on the screen, as a tap reaches it."""
    tree = phone.observe().tree
    found = [n for n in tree.find(contains=words) if n.cls.endswith(cls)]
    assert found, f"{words!r} is not there: {[n.label for n in tree.nodes() if n.label]}"
    return tree.target(found[0]) if not cls else found[0]


def tap(phone: AdbPhone, words: str) -> Point:
    """Taps what is called so."""
    at = node(phone, words).bounds.center
    phone.perform(Action("click", at=at))
    return at


def new_note(phone: AdbPhone) -> Node:
    """Opens a new note; gives its field of many lines, which has the cursor."""
    phone.perform(Action("open_app", app="com.hitlab.notes"))
    tap(phone, "New note")
    phone.perform(Action("click", at=node(phone, "Note", "EditText").bounds.center))
    return node(phone, "Note", "EditText")
