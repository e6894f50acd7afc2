"""The commands devices, device scrcpy and phone."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from lab.cli.arguments import Arguments, JsonArguments, Parser, TableArguments, option, port, seed_number
from lab.cli.output import print_json, print_line, print_result, print_table, warn
from lab.cli.serve.end_signals import end_signals
from lab.core.errors import LabError
from lab.devices.device_list import ListedDevice, find_devices

if TYPE_CHECKING:
    from lab.core.task.task import Task
    from lab.devices.scrcpy.scrcpy_release import Fetched
    from simulators.phone.phone import Phone
    from simulators.phone.served.served import PhoneServer


_NO_PHONE = """\
adb has no phone on the line.
Plug one in with USB debugging on, or run `adb connect HOST:PORT`. The embedded phone needs none."""


def add_devices(parser: Parser) -> None:
    parser.runs(devices, TableArguments, prints={"devices": list[ListedDevice]})
    parser.examples(
        """\
  hitlab devices
  hitlab devices --json | jq -r '.[].serial'
  hitlab settings scrcpy               once, for fast pictures of a phone
"""
    )


def devices(args: Arguments) -> int:
    """List the phones. Exit code 3 if one cannot be used as it is."""
    phones = find_devices(start=True)
    print_result(phones, _print_devices, json=args.json, nothing=_NO_PHONE)
    return 0 if all(phone.ready for phone in phones) else 3


def _print_devices(phones: Sequence[ListedDevice]) -> None:
    columns = ["serial", "state", "screen", "model", "android", "size", "what to do"]
    print_table(columns, list(map(_device_row, phones)), wide="what to do")


def _device_row(phone: ListedDevice) -> list[str]:
    size = f"{phone.size[0]}x{phone.size[1]}" if phone.size else "-"
    # Quoted, since a phone chooses its own serial.
    use = f"hitlab live TASK --device {shlex.quote(phone.serial)}"
    facts = [phone.screen or "-", phone.model or "-", phone.android or "-", size]
    return [phone.serial, phone.state, *facts, phone.do or use]


class DeviceScrcpyArguments(JsonArguments):
    version: str | None = option("V", "fetch this version: 3.3.4 (default), 3.3.3, 4.0 or 4.1")
    base: str | None = option("URL", argparse.SUPPRESS)


def add_settings_scrcpy(parser: Parser) -> None:
    parser.runs(fetch, DeviceScrcpyArguments, prints={"device-scrcpy": "lab.devices.scrcpy.scrcpy_release:Fetched"})
    parser.examples(
        """\
  hitlab settings scrcpy
  hitlab settings scrcpy --version 3.3.3
"""
    )


def fetch(args: DeviceScrcpyArguments) -> int:
    """Download the pinned server unless it is cached."""
    from lab.devices.scrcpy.scrcpy_release import DEFAULT
    from lab.devices.scrcpy.scrcpy_release import fetch as bring

    jar = bring(args.version or DEFAULT, base=args.base or "")
    print_result(jar, _print_fetched, json=args.json)
    return 0


def _print_fetched(jar: Fetched) -> None:
    outcome = "fetched and checked" if jar.fresh else "was there already, checked"
    print_line(f"scrcpy server {jar.version}: {outcome} (SHA-256 {jar.sha256[:12]}…, {jar.bytes:,} bytes)\n{jar.path}")


TOKEN = "HITLAB_HARNESS_TOKEN"

_EMULATORS = range(5555, 5586, 2)
"""Ports where every adb server of this machine looks for emulators by itself."""


class PhoneServed(msgspec.Struct, frozen=True):
    """Address of a served phone: `serve phone`. `harness` accepts requests that bear `token`."""

    serial: str
    harness: str
    token: str
    task: str = ""
    seed: int = 0
    vary: int = 0


class PhoneArguments(JsonArguments):
    adb_port: int = option("N", "serve adb on this port, e.g. 5555 (default: a free one)", type=port, default=0)
    harness_port: int = option(
        "N", "serve the harness on this port, e.g. 8500 (default: a free one)", type=port, default=0
    )
    task: str | None = option(
        "TASK", "prepare the phone for this task: a built-in name or a task file", completes="task"
    )
    persona: str | None = option("NAME", "without --task: serve this persona's phone (e.g. ines)", completes="persona")
    seed: int | None = option("N", "shuffle the phone's menus and lists by this seed (default: 0)", type=seed_number)
    vary: int | None = option("N", "serve another world: names and prices by this seed", type=seed_number)


def add_serve_phone(parser: Parser) -> None:
    parser.runs(phone, PhoneArguments, prints={"phone": PhoneServed})
    parser.examples(
        """\
  hitlab serve phone                   then: hitlab live TASK --device ...
  hitlab serve phone --task usual_lunch --seed 7
  hitlab serve phone --persona ines --adb-port 5555 --harness-port 8500
"""
    )


def phone(args: PhoneArguments) -> int:
    """Serve the embedded phone until a signal ends it."""
    from simulators.phone.served.served import PhoneServer

    if args.adb_port in _EMULATORS:
        warn(f"adb takes {_EMULATORS[0]} to {_EMULATORS[-1]} for emulators' ports: it may list this phone twice.")
    server = PhoneServer(
        _build_phone(args), port=args.adb_port, harness_port=args.harness_port, token=os.environ.get(TOKEN, "")
    )
    with end_signals() as end, server:
        _print_served(args, server)
        end.wait_for_end()
    return 0


def _build_phone(args: PhoneArguments) -> Phone:
    """Return the phone for the task or persona, in the requested world."""
    from lab.runs.spec import Spec, embedded, in_world

    spec = Spec(_task(args), seed=args.seed or 0)
    return embedded(in_world(spec, args.vary) if args.vary else spec)


def _task(args: PhoneArguments) -> Task:
    from lab.core.task.task import Task
    from simulators import library

    if args.task and args.persona:
        raise LabError("serve phone", "takes --task or --persona: a task's phone is its own persona's", code=2)
    if args.task:
        return library.task(args.task)
    if args.persona:
        library.persona(args.persona)
    return library.on_their_phone(Task("phone", "general", persona=args.persona or ""))


def _print_served(args: PhoneArguments, server: PhoneServer) -> None:
    """Print the address and the lines to type, with the token only if it was generated here."""
    if args.json:
        token = server.token
        print_json(
            PhoneServed(server.serial, server.harness_url, token, args.task or "", args.seed or 0, args.vary or 0)
        )
        return
    task = args.task or "TASK"
    own = TOKEN in os.environ and bool(os.environ[TOKEN])
    lines = [
        f"The embedded phone is served at {server.serial}. Ctrl-C ends it.",
        "",
        "  a phone for adb, and for all that speaks with it:",
        f"    adb connect {server.serial}",
        f"    hitlab live {task} --device {server.serial}",
        "",
        "  reset and scored through its harness, which adb cannot see:",
        f"    {TOKEN} is as you set it" if own else f"    export {TOKEN}={server.token}",
        f"    hitlab live {task} --device {server.serial} --harness {server.harness_url}",
    ]
    print_line("\n".join(lines))
    sys.stdout.flush()
