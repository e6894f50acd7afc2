"""The phones that adb has on the line, with what a list of them says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from lab.devices.attaching import facts_of
from lab.devices.bridge import Listed, Server
from lab.devices.glance import glance
from lab.devices.shell import Shell
from lab.devices.states import away
from lab.devices.tracker import ON_LINE
from lab.errors import LabError
from lab.turn import Point

_SECONDS = 3.0


class Found(NamedTuple):
    """One phone: `state` is adb's own word (device where it is well), `do` what to do where it is not.

    `android` is its version, `sdk` that version's number; what it does not say is empty, or None.
    """

    serial: str
    state: str
    model: str = ""
    android: str = ""
    sdk: str = ""
    size: Point | None = None
    do: str = ""

    @property
    def ready(self) -> bool:
        return self.state == ON_LINE and not self.do


def found(start: bool, server: Server | None = None) -> list[Found]:
    """Every phone there is, asked all at once; with `start` an adb server is started, else there are none without one.

    `Trouble` where the server does not answer, `LabError` where there is no adb.
    """
    server = server or Server.named()
    if start:
        server.ready()
    elif not server.running():
        return []
    phones = server.phones()
    if not phones:
        return []
    with ThreadPoolExecutor(min(8, len(phones)), "adb devices") as asking:
        return list(asking.map(lambda phone: _told(server, phone), phones))


def _told(server: Server, phone: Listed) -> Found:
    """What one phone says of itself; one that does not answer is found all the same."""
    model = phone.facts.get("model", "").replace("_", " ")
    if phone.state != ON_LINE:
        trouble = away(phone.serial, phone.state)
        return Found(phone.serial, phone.state, model, do=trouble.hint or trouble.message)
    try:
        packets = "shell_v2" in server.features(phone.serial)
        shell = Shell(partial(server.open, phone.serial), f"phone {phone.serial}", packets=packets, patience=_SECONDS)
        facts = facts_of(shell)
        return Found(phone.serial, phone.state, facts[0] or model, facts[2], facts[3], glance(shell).size)
    except LabError as error:
        return Found(phone.serial, phone.state, model, do=error.said)
