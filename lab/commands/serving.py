"""`hitlab phone`: the embedded phone served over the real adb transport, until it is told to end."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from lab.errors import LabError
from lab.output import print_json, say, warn

if TYPE_CHECKING:
    from lab.task import Task
    from simulators.phone.phone import Phone
    from simulators.phone.served.served import Served

TOKEN = "HITLAB_HARNESS_TOKEN"
_EMULATORS = range(5555, 5586, 2)
"""Where every adb server of this machine looks by itself."""


class PhoneServed(msgspec.Struct, frozen=True):
    """Where a served phone is: `phone`. `harness` takes its snapshots for whoever knows `token`."""

    serial: str
    harness: str
    token: str
    task: str = ""
    seed: int = 0
    vary: int = 0


def phone(args: argparse.Namespace) -> int:
    """Serves until Ctrl-C, or until it is told to end."""
    from simulators.phone.served.served import Served

    if args.adb_port in _EMULATORS:
        warn(f"adb takes {_EMULATORS[0]} to {_EMULATORS[-1]} for emulators' ports: it may list this phone twice.")
    served = Served(_phone(args), port=args.adb_port, harness_port=args.harness_port, token=os.environ.get(TOKEN, ""))
    with _told_to_end() as end, served:
        _tell(args, served)
        end.wait()
    return 0


def _phone(args: argparse.Namespace) -> Phone:
    """The phone as the task wants it, else as that persona's, in the world that is asked for."""
    from lab.spec import Spec, embedded, in_world

    spec = Spec(_task(args), seed=args.seed or 0)
    return embedded(in_world(spec, args.vary) if args.vary else spec)


def _task(args: argparse.Namespace) -> Task:
    from lab.task import Task
    from simulators import library

    if args.task and args.persona:
        raise LabError("phone", "takes --task or --persona: a task's phone is its own persona's", code=2)
    if args.task:
        return library.task(args.task)
    if args.persona:
        library.persona(args.persona)
    return library.on_their_phone(Task("phone", "general", persona=args.persona or ""))


def _tell(args: argparse.Namespace, served: Served) -> None:
    """Where it is and what to type; the token only where it was made up here."""
    if args.json:
        token = served.token
        print_json(
            PhoneServed(served.serial, served.harness_url, token, args.task or "", args.seed or 0, args.vary or 0)
        )
        return
    task = args.task or "TASK"
    own = TOKEN in os.environ and bool(os.environ[TOKEN])
    lines = [
        f"The embedded phone is served at {served.serial}. Ctrl-C ends it.",
        "",
        "  a phone for adb, and for all that speaks with it:",
        f"    adb connect {served.serial}",
        f"    hitlab live {task} --device {served.serial}",
        "",
        "  reset and scored through its harness, which adb cannot see:",
        f"    {TOKEN} is as you set it" if own else f"    export {TOKEN}={served.token}",
        f"    hitlab live {task} --device {served.serial} --harness {served.harness_url}",
    ]
    say("\n".join(lines))
    sys.stdout.flush()


@contextmanager
def _told_to_end() -> Iterator[threading.Event]:
    """Is set by Ctrl-C, by a plea to end, or where the terminal is closed."""
    end = threading.Event()
    kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {kind: signal.signal(kind, lambda *_: end.set()) for kind in kinds}
    try:
        yield end
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
