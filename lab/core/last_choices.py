"""A person's last choices, stored beside the settings. They never contain data from a study file.

They are a convenience: a file that cannot be read or written counts as empty.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from lab.core.settings import folder
from lab.core.values.made_files import make_folder, write_bytes

_MOST = 100_000
"""Number of bytes to read of the file."""


class RunChoices(msgspec.Struct, frozen=True, omit_defaults=True):
    """The options with which a person last started a task, as in `hitlab live`.

    Empty means the value of the task or of the settings.

    `vary` is the seed of the task's world, 0 for its own.
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
    """The last choices of each screen.

    `sort`, `turned` and `group` order the list in Runs. `after` is true if Replay shows the screen after a step.
    `study` is a hash of the study under Home's cursor, which reveals nothing about it.
    """

    run: RunChoices = RunChoices()
    sort: str = ""
    turned: bool = False
    group: str = ""
    after: bool = False
    study: str = ""


def choices_file(env: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the file of last choices."""
    return folder("config", env) / "choices.json"


def last_choices(env: Mapping[str, str] = os.environ) -> LastChoices:
    """Return the last choices, or the defaults if the file is missing or invalid."""
    with suppress(OSError, msgspec.DecodeError), choices_file(env).open("rb") as file:
        return msgspec.json.decode(file.read(_MOST), type=LastChoices)
    return LastChoices()


def save_choices(env: Mapping[str, str] = os.environ, **choices: Any) -> None:
    """Store these choices and leave the others unchanged."""
    path = choices_file(env)
    old_choices = last_choices(env)
    new_choices = msgspec.structs.replace(old_choices, **choices)
    if new_choices == old_choices:
        return
    with suppress(OSError):
        make_folder(path.parent)
        # Write beside it and rename: a crash leaves the old file whole.
        part = path.with_name(f"{path.name}.part-{os.getpid()}")
        write_bytes(part, msgspec.json.encode(new_choices))
        part.replace(path)
