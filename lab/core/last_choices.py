"""What a person chose last, kept beside the settings from one start to the next; never a word of what a file holds.

It is a convenience: a file that cannot be read, or written, is as if nothing had been chosen.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from lab.core.made_files import make_folder, write_bytes
from lab.core.settings import folder

_MOST = 100_000
"""Bytes of the file that are read."""


class RunChoices(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a task was started last, as `hitlab live` takes it; empty is the task's own, or the settings'.

    `vary` is the seed of the world that the task is in, 0 for its own.
    """

    agent: str = ""
    user: str = "human"
    gate: Literal["pass", "ask"] = "pass"
    seat: Literal["", "participant", "developer"] = ""
    persona: str = ""
    log: Literal["", "clean", "noise", "none"] = ""
    mirror: bool = True
    vary: int = 0


class LastChoices(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was chosen last in each room.

    `sort`, `turned` and `group` are how Runs lists; `after` whether Replay shows the screen after a step. `study` marks
    the study that Home's cursor was on, by a hash that says nothing of it.
    """

    run: RunChoices = RunChoices()
    sort: str = ""
    turned: bool = False
    group: str = ""
    after: bool = False
    study: str = ""


def choices_file(env: Mapping[str, str] = os.environ) -> Path:
    """Where the last choices are kept."""
    return folder("config", env) / "choices.json"


def last_choices(env: Mapping[str, str] = os.environ) -> LastChoices:
    """What was chosen last; all as it comes where nothing was, or nothing of it can be read."""
    with suppress(OSError, msgspec.DecodeError), choices_file(env).open("rb") as file:
        return msgspec.json.decode(file.read(_MOST), type=LastChoices)
    return LastChoices()


def keep_choices(env: Mapping[str, str] = os.environ, **choices: Any) -> None:
    """Keeps what was chosen now, all else as it was; whole, or not at all."""
    path = choices_file(env)
    was = last_choices(env)
    new_choices = msgspec.structs.replace(was, **choices)
    if new_choices == was:
        return
    with suppress(OSError):
        make_folder(path.parent)
        part = path.with_name(f"{path.name}.part-{os.getpid()}")
        write_bytes(part, msgspec.json.encode(new_choices))
        part.replace(path)
