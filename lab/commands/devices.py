"""`hitlab devices`: the phones that adb has on the line."""

from __future__ import annotations

import argparse
import shlex

import msgspec

from lab.devices.found import Found, found
from lab.output import print_json, say
from lab.tables import print_table
from lab.turn import Point


class DeviceLine(msgspec.Struct, frozen=True):
    """One phone in a list: `devices`. `state` is adb's own word; `do` says what to do, empty where it is ready."""

    serial: str
    state: str
    model: str
    android: str
    sdk: str
    size: Point | None
    do: str


def devices(args: argparse.Namespace) -> int:
    """Lists them; exit 3 where one is there that cannot be used as it is."""
    phones = found(start=True)
    if args.json:
        print_json([DeviceLine(**phone._asdict()) for phone in phones])
    elif not phones:
        say("adb has no phone on the line.")
        say("Plug one in with USB debugging on, or run `adb connect HOST:PORT`. The embedded phone needs none.")
    else:
        print_table(
            ["serial", "state", "model", "android", "size", "what to do"], list(map(_row, phones)), wide="what to do"
        )
    return 0 if all(phone.ready for phone in phones) else 3


def _row(phone: Found) -> list[str]:
    size = f"{phone.size[0]}x{phone.size[1]}" if phone.size else "-"
    use = f"hitlab live TASK --device {shlex.quote(phone.serial)}"  # a phone chooses its own serial
    return [phone.serial, phone.state, phone.model or "-", phone.android or "-", size, phone.do or use]
