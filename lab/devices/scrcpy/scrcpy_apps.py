"""Installed apps with their launcher labels, listed by a separate run of the scrcpy server."""

from __future__ import annotations

import re
import secrets
from typing import NamedTuple

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.core.text.plain_text import plain
from lab.devices.adb.shell import Open
from lab.devices.adb.socket_io import Deadline, hang_up, read_rest
from lab.devices.scrcpy.scrcpy_push import push
from lab.devices.scrcpy.scrcpy_server import PLACE, command, find
from lab.devices.scrcpy.scrcpy_stream import WHO

_MOST = 1 << 20
_APP = re.compile(r" ([*-]) (.*?) {1,}([A-Za-z]\w*(?:\.\w+)+)")
_LABEL = re.compile(r" ([*-]) (.+)")
_PACKAGE = re.compile(r" {30,}([A-Za-z]\w*(?:\.\w+)+)")


class InstalledApp(NamedTuple):
    """One app: its launcher `label`, its `package`, and `system` (preinstalled)."""

    label: str
    package: str
    system: bool


def apps(open: Open, *, jar: str = "", seconds: float = 20.0) -> list[InstalledApp]:
    """Return the phone's apps.

    Raise `LabError` if no server here can list them, `Trouble` if the phone fails to.
    """
    server = find(jar)
    if not server.speech.starts_apps:
        hint = "`hitlab settings scrcpy` fetches one that does."
        raise LabError(WHO, f"its server {server.speech.version} lists no apps.", hint)
    deadline = Deadline(seconds)
    scid = secrets.randbits(31)
    place = PLACE.format(scid=scid)
    push(open, server.read(), place, deadline)
    line = open(f"exec:{command(place, server.speech, scid, list_apps=True)}", deadline.seconds_left)
    try:
        output = read_rest(line, _MOST, deadline, WHO, sent=True)
    finally:
        hang_up(line)
    text = output.decode(errors="replace").replace("\r\n", "\n")
    if "List of apps:" not in text:
        words = plain(text.strip().rpartition("\n")[2], lines=False)
        raise Trouble(WHO, f"its server listed no apps ({words or 'it said nothing'}).", sent=True)
    return listed(text)


def listed(text: str) -> list[InstalledApp]:
    """Parse the server's output (LogUtils.java).

    A label of 30 UTF-16 units or more has its package on the next line.
    """
    lines = text.partition("List of apps:\n")[2].split("\n")
    rows = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        long, package = _LABEL.fullmatch(line), _PACKAGE.fullmatch(below)
        if long and package:
            rows.append(InstalledApp(long[2].strip(), package[1], long[1] == "*"))
        elif app := _APP.fullmatch(line):
            rows.append(InstalledApp(app[2].strip(), app[3], app[1] == "*"))
    return rows
