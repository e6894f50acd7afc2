"""The words of the commands about phones: device, devices, phone."""

from __future__ import annotations

import argparse

from lab.options.common import Commands, command, json, port


def add(commands: Commands) -> None:
    """Adds them."""
    _needs(commands)
    _devices(commands)
    _served(commands)


def _needs(commands: Commands) -> None:
    device = commands.add_parser("device", help="what a real phone needs", description="what a real phone needs")
    needs = device.add_subparsers(title="commands", metavar="WHAT", required=True)
    scrcpy = command(needs, "scrcpy", "lab.commands.scrcpy:fetch", "fetch scrcpy's server: fast pictures, any text")
    scrcpy.add_argument("--version", metavar="V", help="3.3.4 (default), 3.3.3, 4.0 or 4.1")
    scrcpy.add_argument("--base", metavar="URL", help=argparse.SUPPRESS)
    json(scrcpy)


def _devices(commands: Commands) -> None:
    json(command(commands, "devices", "lab.commands.devices:devices", "list the phones that adb has on the line"))


def _served(commands: Commands) -> None:
    phone = command(commands, "phone", "lab.commands.serving:phone", "serve the embedded phone, as a phone for adb")
    phone.add_argument("--adb-port", type=port, default=0, metavar="N", help="adb's port of it (default: a free one)")
    phone.add_argument("--harness-port", type=port, default=0, metavar="N", help="its harness's (default: a free one)")
    phone.add_argument("--task", metavar="TASK", help="laid out for this task: a built-in name or a task file")
    phone.add_argument("--persona", metavar="NAME", help="without a task: this persona's phone")
    phone.add_argument("--seed", type=int, metavar="N", help="shuffles the phone's menus and lists (default 0)")
    phone.add_argument("--vary", type=int, metavar="N", help="in another world: names and prices by this seed")
    json(phone)
