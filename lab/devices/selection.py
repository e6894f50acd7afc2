"""Selection of a connected phone by serial or address, with errors that state what to do."""

from __future__ import annotations

import time

from lab.core.errors import LabError
from lab.core.run.step import Point
from lab.core.run.trace import DeviceInfo
from lab.core.text.plain_text import plain
from lab.core.text.suggestion import list_sentence
from lab.devices.adb.adb_server import ListedPhone, Server
from lab.devices.adb.adb_states import is_address, state_trouble
from lab.devices.adb.shell import Shell, line_of
from lab.devices.adb.tracker import ON_LINE, PASSING

_LOOK = 0.1
_FACTS = ("ro.product.model", "ro.product.name", "ro.build.version.release", "ro.build.version.sdk")


def attach(server: Server, serial: str, seconds: float) -> str:
    """Return the serial of a connected phone, after connecting to an address and waiting for the phone.

    An empty serial selects the only phone. Raise `LabError` with the reason and what to do.
    """
    server.ready()
    phones = server.phones()
    if not serial:
        return _only_phone(phones)
    if is_address(serial) and _state(phones, serial) != ON_LINE:
        answer = server.connect(serial, seconds)
        if not any(words in answer for words in ("connected to", "failed to authenticate")):
            server.disconnect(serial)  # adb would continue to list an address that it failed to reach
            raise LabError(
                f"phone {serial}",
                f"adb cannot connect to it ({plain(answer.strip(), lines=False)}).",
                "Is it on this network, with wireless debugging on, and paired (`adb pair`)?",
            )
    elif _state(phones, serial) == "gone":
        raise LabError(f"phone {serial}", "is not among those that adb has on the line.", _list_hint(phones))
    _wait_until_ready(server, serial, seconds)
    return serial


def _wait_until_ready(server: Server, serial: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (state := _state(server.phones(), serial)) != ON_LINE:
        if state not in PASSING or time.monotonic() > end:
            trouble = state_trouble(serial, state)
            raise LabError(trouble.title, trouble.message, trouble.hint)
        time.sleep(_LOOK)


def _only_phone(phones: list[ListedPhone]) -> str:
    ready = [phone.serial for phone in phones if phone.state == ON_LINE]
    if len(ready) == 1:
        return ready[0]
    if not phones:
        hint = "Plug one in with USB debugging on, or name its address: HOST:PORT."
        raise LabError("phone", "adb has none on the line.", hint)
    if not ready:
        trouble = state_trouble(phones[0].serial, phones[0].state)
        raise LabError(trouble.title, trouble.message, trouble.hint)
    raise LabError("phone", f"there are {len(ready)} on the line.", f"Say which: {plain(', '.join(ready))}.")


def _state(phones: list[ListedPhone], serial: str) -> str:
    return next((phone.state for phone in phones if phone.serial == serial), "gone")


def _list_hint(phones: list[ListedPhone]) -> str:
    some = [plain(f"{phone.serial} ({phone.state})", lines=False) for phone in phones]
    return list_sentence(some) if some else "It has none: plug it in with USB debugging on, or name HOST:PORT."


def describe(shell: Shell, serial: str, size: Point | None) -> DeviceInfo:
    """Return the phone's model, version and size, as reported by itself."""
    facts = facts_of(shell)
    return DeviceInfo(
        kind="adb", id=serial, size=size, model=facts[0], product=facts[1], release=facts[2], sdk=facts[3]
    )


def facts_of(shell: Shell) -> list[str]:
    """Return model, product, Android version and SDK number, each empty if the phone does not report it."""
    lines = shell.run("; ".join(line_of("getprop", name) for name in _FACTS)).out.split("\n")
    return [plain(line.strip(), lines=False)[:80] for line in (lines + [""] * 4)[:4]]
