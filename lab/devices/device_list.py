"""Rows of a list of connected phones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import msgspec

from lab.core.errors import LabError
from lab.core.run.step import Point
from lab.devices.adb.adb_server import ListedPhone, Server
from lab.devices.adb.adb_states import state_trouble
from lab.devices.adb.shell import Shell
from lab.devices.adb.system_state import glance
from lab.devices.adb.tracker import ON_LINE
from lab.devices.screen_state import screen_state
from lab.devices.selection import facts_of

# Short, so that one busy phone does not delay the whole list.
_SECONDS = 3.0


class ListedDevice(msgspec.Struct, frozen=True):
    """One phone of the list: `state` in adb's own word ("device" if well), `do` what to do if it is not.

    `android` is its version, `sdk` that version's number, `screen` its screen's state in a few words (on, asleep,
    locked, folded, turned). Unknown values are empty or None.
    """

    serial: str
    state: str
    model: str
    android: str
    sdk: str
    size: Point | None
    do: str
    screen: str = ""

    @property
    def ready(self) -> bool:
        return self.state == ON_LINE and not self.do


def find_devices(start: bool, server: Server | None = None) -> list[ListedDevice]:
    """Query every connected phone, all at once. Without `start`, return nothing if no adb server runs.

    Raise `Trouble` if the server does not answer, `LabError` if there is no adb.
    """
    server = server or Server.from_environment()
    if start:
        server.ready()
    elif not server.running():
        return []
    phones = server.phones()
    if not phones:
        return []
    with ThreadPoolExecutor(min(8, len(phones)), "adb devices") as asking:
        return list(asking.map(lambda phone: _device(server, phone), phones))


def screens(server: Server, phones: list[ListedPhone]) -> dict[str, str]:
    """Map the serial of each connected phone to its screen's state in a few words, empty if it does not answer."""
    ready = [phone for phone in phones if phone.state == ON_LINE]
    if not ready:
        return {}
    with ThreadPoolExecutor(min(8, len(ready)), "adb screens") as asking:
        words = asking.map(lambda phone: _screen(server, phone), ready)
    return {phone.serial: state_words for phone, state_words in zip(ready, words, strict=True)}


def _screen(server: Server, phone: ListedPhone) -> str:
    try:
        packets = "shell_v2" in server.features(phone.serial)
        shell = Shell(partial(server.open, phone.serial), f"phone {phone.serial}", packets=packets, patience=_SECONDS)
        return screen_state(shell).words
    except LabError:
        return ""


def _device(server: Server, phone: ListedPhone) -> ListedDevice:
    """Return one phone's row, even if it does not answer."""
    model = phone.facts.get("model", "").replace("_", " ")
    if phone.state != ON_LINE:
        trouble = state_trouble(phone.serial, phone.state)
        return ListedDevice(phone.serial, phone.state, model, "", "", None, trouble.hint or trouble.message)
    try:
        packets = "shell_v2" in server.features(phone.serial)
        shell = Shell(partial(server.open, phone.serial), f"phone {phone.serial}", packets=packets, patience=_SECONDS)
        facts = facts_of(shell)
        size, screen = glance(shell).size, screen_state(shell)
        screen_trouble = None if screen.wakes else screen.trouble(shell.who)
        do = screen_trouble.hint if screen_trouble is not None else ""
        return ListedDevice(phone.serial, phone.state, facts[0] or model, facts[2], facts[3], size, do, screen.words)
    except LabError as error:
        return ListedDevice(phone.serial, phone.state, model, "", "", None, error.body)
