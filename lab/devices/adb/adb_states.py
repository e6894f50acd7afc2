"""adb's state names and errors in words for people, with what to do."""

from __future__ import annotations

import re

from lab.core.seams import Trouble
from lab.core.text.plain_text import plain

_STATES = {
    "offline": ("is offline: adb sees it, but it does not answer.", "Unplug it and plug it in again, or wake it."),
    "unauthorized": (
        "does not allow this computer yet.",
        "Unlock it and tap Allow at 'Allow USB debugging?'; if it asks nothing, revoke its authorizations there.",
    ),
    "authorizing": ("is still deciding whether it allows this computer.", "Unlock it and look at its screen."),
    "connecting": ("is still connecting.", "Wait a moment."),
    "no permissions": (
        "is plugged in, but this user may not use it.",
        "Add udev rules for it (Debian: android-sdk-platform-tools-common), and plug it in again.",
    ),
    "recovery": ("is in recovery, not in Android.", "Restart it."),
    "sideload": ("is in sideload, not in Android.", "Restart it."),
    "rescue": ("is in rescue mode, not in Android.", "Restart it."),
    "bootloader": ("is in its bootloader, not in Android.", "Restart it."),
    "host": ("is a host, not a phone.", ""),
    "gone": ("is not there any more.", "Plug it in again; over a network `adb connect` its address."),
}
LISTED_STATES = ("device", *(state for state in _STATES if state != "gone"), "detached", "unknown", "no device")
"""State names that may follow a serial in adb's lists (connection states of adb/transport.cpp)."""
_OVER_A_NETWORK = {
    "offline": "Wake it and see that it is on this network; `adb disconnect` forgets it.",
    "gone": "See that it is on this network with wireless debugging on, then `adb connect` its address.",
}
_ADDRESS = re.compile(r".+:\d+")
_MDNS = re.compile(r"adb-.+\._adb(?:-tls-connect)?\._tcp\.?")
"""Name under which adb lists a phone discovered by wireless debugging."""


def is_address(serial: str) -> bool:
    """Return True if the serial is HOST:PORT: adb reaches this phone over a network."""
    return _ADDRESS.fullmatch(serial) is not None


def state_trouble(serial: str, state: str) -> Trouble:
    """Return the trouble of a phone in a state other than `device`."""
    message, hint = _STATES.get(state, (f"is in the state {plain(state, lines=False)!r}.", ""))
    if is_address(serial) or _MDNS.fullmatch(serial):
        hint = _OVER_A_NETWORK.get(state, hint)
    return Trouble(f"phone {serial}", message, hint)


def refusal(who: str, words: str) -> Trouble:
    """Return adb's error text as `Trouble`. The request has not reached the phone."""
    text = words.strip().casefold()
    serial = who.removeprefix("phone ")
    for state in ("unauthorized", "authorizing", "connecting", "offline"):
        if f"device {state}" in text or f"still {state}" in text or text.endswith(f" {state}"):
            return state_trouble(serial, state)
    if "not found" in text or "no devices" in text:
        return state_trouble(serial, "gone")
    if "permission" in text:
        return state_trouble(serial, "no permissions")
    return Trouble(who, f"adb says: {plain(words.strip(), lines=False)}.")
