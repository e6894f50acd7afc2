"""Where things are kept and what a person prefers: flags, then HITLAB_* variables, then settings.toml."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from lab.errors import LabError
from lab.wire import read_file

_CODE = re.compile(r"[A-Za-z0-9_-]{1,32}")
"""What a study code may be; a person's name or address should find no room in it."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may be set; each field is a key of settings.toml, and HITLAB_<FIELD> in the environment."""

    db: str = ""
    """The database; empty is `hitlab.db` in the data folder."""
    person: str = "P01"
    """The study code of whoever sits here; never a login name."""
    seat: Literal["participant", "rater", "designer", "developer"] = "developer"
    """What this person may see and do."""
    pace: float = 0.7
    """Least seconds between two turns of an agent while a person looks on."""
    fps: int = 20
    """Most frames per second that the mirror draws."""
    overlay: bool = True
    """Whether accessibility text is drawn over the mirror as real characters."""
    theme: str = "textual-dark"
    """Any of Textual's themes."""
    bell: bool = True
    """Whether a question rings."""
    keymap: dict[str, str] = {}
    """Keys by binding id, as the help panel names them: `"run.pause" = "ctrl+x,f12"`."""


def folder(kind: Literal["data", "config", "cache"], env: Mapping[str, str] = os.environ) -> Path:
    """The XDG folder of that kind for hitlab; not created here."""
    variable, default = {
        "data": ("XDG_DATA_HOME", ".local/share"),
        "config": ("XDG_CONFIG_HOME", ".config"),
        "cache": ("XDG_CACHE_HOME", ".cache"),
    }[kind]
    base = env.get(variable, "")
    root = Path(base) if base and Path(base).is_absolute() else Path.home() / default
    return root / "hitlab"


def settings_file(env: Mapping[str, str] = os.environ) -> Path:
    """Where settings.toml is looked for."""
    return folder("config", env) / "settings.toml"


def load(env: Mapping[str, str] = os.environ, **flags: Any) -> Settings:
    """The settings in force; `flags` that are None count as not given. An unknown key is a `LabError`."""
    path = settings_file(env)
    values: dict[str, Any] = {}
    if path.exists():
        try:
            values.update(tomllib.loads(read_file(path, f"settings file {path}").decode()))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise LabError(f"settings file {path}", f"is not TOML ({error})") from error
        _check_keys(values, f"settings file {path}", lambda key: key)
    given = {k.removeprefix("HITLAB_").lower(): v for k, v in env.items() if k.startswith("HITLAB_")}
    _check_keys(given, "the environment", lambda key: f"HITLAB_{key.upper()}")
    values.update(given)
    values.update({k: v for k, v in flags.items() if v is not None})
    try:
        settings = msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise LabError("settings", _reason(str(error), given)) from error
    if not (0 <= settings.pace < float("inf") and settings.fps >= 1):
        raise LabError("settings", f"field pace is {settings.pace:g}, fps {settings.fps}: no seconds, or no frames")
    if not _CODE.fullmatch(settings.person):
        raise LabError(
            "settings", f"field person: {settings.person!r} is no study code", "Use 1 to 32 letters, digits, - or _."
        )
    return settings


def _reason(message: str, given: Mapping[str, str]) -> str:
    """msgspec's words with the field put first, by the name it was given under."""
    said, _, place = message.partition(" - at `$.")
    field = place.rstrip("`")
    return f"field {f'HITLAB_{field.upper()}' if field in given else field}: {said}"


def _check_keys(values: Mapping[str, Any], what: str, shown: Any) -> None:
    known = Settings.__struct_fields__
    for key in values:
        if key not in known:
            raise LabError(what, f"field {shown(key)}: unknown; the settings are {', '.join(known)}")


def database(settings: Settings, env: Mapping[str, str] = os.environ) -> Path:
    """The database file in force."""
    return Path(settings.db).expanduser() if settings.db else folder("data", env) / "hitlab.db"
