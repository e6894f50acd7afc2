"""Settings and folders: command line flags, HITLAB_* variables, a project's hitlab.toml, then settings.toml."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec

from lab.core.codec import read_file, reason_of
from lab.core.errors import LabError
from lab.core.text.suggestion import suggestion
from lab.core.values.made_files import PRIVATE, is_file_mode, make_folder, write_text

_CODE = re.compile(r"(?=[_-]*[A-Za-z0-9])[A-Za-z0-9_-]{1,32}")
"""Form of a study code. It is too narrow for an address, so that nobody enters one."""


UNNAMED = "unnamed"
"""Study code of a person who gave none. They may play and look, but not sign anything."""
EMBEDDED = "embedded"
"""The device that hitlab draws itself."""
PROJECT_FILE = "hitlab.toml"
"""File of a working folder that names what its commands work on."""
_PROJECT_KEYS = ("db", "study", "model", "seat")
SECRETS = frozenset({"HITLAB_HARNESS_TOKEN", "HITLAB_ENDPOINT_TOKEN"})
"""Variables that are not settings. Their values are in no file."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All settings. Each field is a key of settings.toml, and HITLAB_<FIELD> in the environment."""

    db: str = ""
    """The database. Empty means `hitlab.db` in the data folder."""
    person: str = UNNAMED
    """Study code of the person at this computer, never a login name. Judging, drafting and settling require one."""
    seat: Literal["participant", "rater", "designer", "developer"] = "developer"
    """Part of the person in the app, which decides what they may see and do."""
    study: str = ""
    """Study of commands that name none, as `tdg` or `tdg@2`."""
    model: str = ""
    """Model of `hitlab judge` if --model is not given, as `openai/gpt-4.1-mini`."""
    pace: float = 0.7
    """Minimum seconds between two turns of an agent while a person watches."""
    agent_timeout: float = 120.0
    """Maximum seconds for one answer of an agent's program (`process:COMMAND`)."""
    fps: int = 30
    """Maximum frames per second of the mirror."""
    device: str = EMBEDDED
    """Phone for new runs: `embedded`, or a serial or HOST:PORT as `hitlab devices` lists it."""
    via: Literal["auto", "scrcpy", "screencap"] = "auto"
    """Source of a real phone's pictures: scrcpy's video if its server is found, or screenshots alone."""
    video: int = 1200
    """Longer side of a real phone's video in pixels. 0 is the phone's own."""
    overlay: bool = True
    """Draw accessibility text over the mirror as real characters."""
    ocr: bool = True
    """Read words with OCR from pictures whose phone reported none. Needs the extra `hitlab[ocr]`."""
    graphics: Literal["auto", "cells", "kitty", "iterm2", "sixel"] = "auto"
    """Method for drawing a still picture: characters (`cells`), terminal graphics, or what the terminal reports."""
    window: bool = False
    """Show the pictures on a page of this machine beside the terminal (`--window`)."""
    theme: str = "textual-dark"
    """Name of a Textual theme."""
    bell: bool = True
    """Ring the bell for a question."""
    model_base: str = ""
    """Base URL of an OpenAI-compatible server. Empty means the provider's own."""
    model_key_env: str = ""
    """Variable that holds the key. Empty means the provider's own, such as OPENAI_API_KEY. The key is not a setting."""
    model_timeout: float = 120.0
    """Maximum seconds for one try of a model."""
    model_seconds: float = 300.0
    """Maximum seconds for one answer, with all tries and the pauses between them."""
    model_tries: int = 5
    """Maximum tries for one answer if a server is busy, fails, cuts the connection or returns nothing."""
    model_tokens: int = 4096
    """Maximum tokens of one answer, with its reasoning."""
    model_temperature: float = 0.0
    """Sampling temperature. Below 0 leaves it to the model."""
    model_stream: bool = False
    """Stream answers, for gateways that cut silent connections."""
    model_picture: int = 1024
    """Longer side in pixels of the screenshot for a model. 0 sends none."""
    model_price_in: float | None = None
    """US dollars per million prompt tokens, for models without a known price."""
    model_price_out: float | None = None
    """US dollars per million completion tokens."""
    environment_replies: str = ""
    """HOST:PORT where an environment's server requests its user's replies (its USER_AGENT_BASE_URL)."""
    environment_judge: str = ""
    """Model that answers an environment's own judge, which requests at that address too."""
    locale: str = "en"
    """Language of a protocol's guideline and words, if it has them: `en`, `zh`, ..."""
    file_mode: str = PRIVATE
    """Mode of new files: `private` (600, folders 700), `umask`, or an octal number such as 640."""
    keymap: dict[str, str] = {}
    """Keys by binding id, as the help panel names them: `"run.pause" = "ctrl+x,f12"`."""


BROWSER_DRIVER = "screens.browser_driver:BrowserDriver"
"""Textual driver that paints the app for a browser (`TEXTUAL_DRIVER`). See `lab.serve`."""


def in_browser(env: Mapping[str, str] = os.environ) -> bool:
    """Return True if this process paints the app for a browser."""
    return env.get("TEXTUAL_DRIVER") == BROWSER_DRIVER


def folder(kind: Literal["data", "config", "cache"], env: Mapping[str, str] = os.environ) -> Path:
    """Return hitlab's XDG folder of that kind, without creating it."""
    variable, default = {
        "data": ("XDG_DATA_HOME", ".local/share"),
        "config": ("XDG_CONFIG_HOME", ".config"),
        "cache": ("XDG_CACHE_HOME", ".cache"),
    }[kind]
    base = env.get(variable, "")
    root = Path(base) if base and Path(base).is_absolute() else Path.home() / default
    return root / "hitlab"


def settings_file(env: Mapping[str, str] = os.environ) -> Path:
    """Return the path of settings.toml."""
    return folder("config", env) / "settings.toml"


def project_file() -> Path | None:
    """Return hitlab.toml of the working folder or of the nearest folder above it, None if there is none.

    In a folder that everybody can write to, such as /tmp, only a file of this user counts. Anybody could put one there
    and have others' answers written into a database of theirs.
    """
    try:
        here = Path.cwd()
    except OSError:
        # The working folder was deleted.
        return None
    return next((path for path in (folder / PROJECT_FILE for folder in (here, *here.parents)) if _counts(path)), None)


def _counts(path: Path) -> bool:
    if not os.path.lexists(path):
        return False
    try:
        # A folder or a dangling link of that name counts too: to read it fails with a sentence, and no command works on
        # another database than the project's without a word.
        return not path.parent.stat().st_mode & 0o002 or path.lstat().st_uid == os.getuid()
    except OSError:
        return False


def _project_values(path: Path) -> dict[str, Any]:
    """Return what a project's file says. Its `db` is relative to its folder."""
    what = f"project file {path}"
    values = _read_toml(path, what)
    for key in values:
        if key not in _PROJECT_KEYS:
            near = suggestion(key, _PROJECT_KEYS)
            raise LabError(what, f"field {key}: unknown; it may have {', '.join(_PROJECT_KEYS)}{near}")
    db = values.get("db")
    return values | {"db": str(path.parent / Path(db).expanduser())} if isinstance(db, str) and db else values


def _read_toml(path: Path, what: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_file(path, what).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise LabError(what, f"is not UTF-8 text (byte {error.start + 1})", "Save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise LabError(what, f"is not TOML ({error})") from error


def load(env: Mapping[str, str] = os.environ, **flags: Any) -> Settings:
    """Return the settings in force. Raise `LabError` for an unknown key or an invalid value.

    A flag that is None counts as not given.
    """
    path = settings_file(env)
    values: dict[str, Any] = {}
    if path.exists():
        values.update(_read_toml(path, f"settings file {path}"))
        _check_keys(values, f"settings file {path}", lambda key: key)
    if (project := project_file()) is not None:
        values.update(_project_values(project))
    names = [name for name in env if name.startswith("HITLAB_") and name not in SECRETS]
    variables = {name.removeprefix("HITLAB_").lower(): env[name] for name in names}
    _check_keys(variables, "the environment", lambda key: f"HITLAB_{key.upper()}")
    values.update(variables)
    given_flags = {k: v for k, v in flags.items() if v is not None}
    values.update(given_flags)

    def origin_of(field: str) -> tuple[str, str]:
        return ("the command line", f"--{field}") if field in given_flags else source_of(field, env)

    try:
        # Not strict, because environment variables are text.
        settings = msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        # What is advised for YAML is written in TOML with another sign.
        reason = re.sub(r'as in (\w+): "1"', _toml_example(values), reason_of(str(error), Settings))
        name = re.split(r"[:.\[]", reason.removeprefix("field "), maxsplit=1)[0]
        what, field = origin_of(name)
        raise LabError(what, reason.replace(f"field {name}", f"field {field}", 1)) from error
    _check_values(settings, origin_of)
    return settings


def _toml_example(values: Mapping[str, Any]) -> Callable[[re.Match[str]], str]:
    return lambda match: f'as in {match[1]} = "{values.get(match[1], "")}"'


def load_or_default(db: str | None) -> tuple[Settings, LabError | None]:
    """Return the settings in force, or the defaults and the error for a command that shows what is wrong."""
    try:
        return load(db=db), None
    except LabError as error:
        return Settings(db=db or ""), error


def source_of(field: str, env: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """Return the source of a setting that no flag gave, and its name there, for an error message."""
    variable = f"HITLAB_{field.upper()}"
    if variable in env:
        return "the environment", variable
    if field in _PROJECT_KEYS and (project := project_file()) is not None and field in _project_values(project):
        return f"project file {project}", field
    return f"settings file {settings_file(env)}", field


def set_in_settings_file(env: Mapping[str, str] = os.environ) -> frozenset[str]:
    """Return the settings that settings.toml names."""
    path = settings_file(env)
    return frozenset(_read_toml(path, f"settings file {path}")) if path.exists() else frozenset()


def save_theme(theme: str, env: Mapping[str, str] = os.environ) -> None:
    """Write the theme into settings.toml and leave the rest unchanged. Raise `LabError` if that fails."""
    path = settings_file(env)
    line = f'theme = "{theme}"\n'
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        # Below a table's head, `theme` would be a key of that table.
        table = re.search(r"^[ \t]*\[", text, re.MULTILINE)
        top, rest = (text[: table.start()], text[table.start() :]) if table else (text, "")
        other_lines = re.sub(r"^[ \t]*theme[ \t]*=.*\n?", "", top, flags=re.MULTILINE)
        make_folder(path.parent)
        # Write beside it and rename: a crash leaves the old file whole.
        part = path.with_name(f"{path.name}.part-{os.getpid()}")
        write_text(part, line + other_lines + rest)
        part.replace(path)
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"settings file {path}", f"cannot be written ({error}); the theme is not kept.") from error


def require_person(settings: Settings, what: str) -> None:
    """Raise `LabError` if the person has no study code and `what` needs a signature."""
    if settings.person == UNNAMED:
        raise LabError(
            what, "is signed with a study code, and none was given.", "--person CODE says who you are.", code=2
        )


def check_code(code: str, what: str, field: str) -> None:
    """Raise `LabError` unless `code` is a valid study code, a pseudonym."""
    if not _CODE.fullmatch(code):
        raise LabError(what, f"field {field}: {code!r} is no study code", "Use 1 to 32 letters, digits, - or _.")


def check_people(codes: Sequence[str], what: str, field: str) -> None:
    """Raise `LabError` if a code is invalid, or if two differ only in capitals."""
    for place, code in enumerate(codes):
        check_code(code, what, field)
        check_distinct(code, codes[:place], what, field)


def check_distinct(code: str, known: Iterable[str], what: str, field: str) -> None:
    """Raise `LabError` if another known code differs from this one only in capitals. A known code passes."""
    known = tuple(known)
    other = next((one for one in known if one.casefold() == code.casefold()), code)
    if code not in known and other != code:
        problem = f"field {field}: {code!r} is {other!r} but for capitals, and would be another person"
        raise LabError(what, problem, f"Write {other}, or use a code that differs by more.", code=2)


def _check_values(settings: Settings, origin_of: Callable[[str], tuple[str, str]]) -> None:
    """Raise `LabError` if a value is invalid. `origin_of` returns its source and its name there."""

    def refuse(name: str, problem: str, hint: str = "") -> NoReturn:
        what, field = origin_of(name)
        raise LabError(what, f"field {field}{problem}", hint)

    if not 0 <= settings.pace < float("inf"):
        refuse("pace", f" is {settings.pace:g}; it must be a number of seconds, not below 0")
    if settings.fps < 1:
        refuse("fps", f" is {settings.fps}; it must be above 0")
    if settings.video and not 320 <= settings.video <= 4096:
        refuse("video", f" is {settings.video}: no 0, nor from 320 to 4096 pixels")
    if not 0 < settings.agent_timeout < float("inf"):
        refuse("agent_timeout", f": {settings.agent_timeout:g} is no number of seconds above 0")
    base = settings.model_base
    if base and not re.match(r"https?://[^\s/]", base):
        refuse("model_base", f": {base!r} is no http:// or https:// address")
    if re.match(r"https?://[^/]*@", base):
        refuse("model_base", ": it holds a name or a key", "Put the key into the environment.")
    for name in ("model_timeout", "model_seconds", "model_tries", "model_tokens"):
        if not 0 < getattr(settings, name) < float("inf"):
            refuse(name, f" is {getattr(settings, name):g}; it must be above 0")
    for name in ("model_price_in", "model_price_out", "model_picture"):
        if not 0 <= (getattr(settings, name) or 0) < float("inf"):
            refuse(name, f" is {getattr(settings, name):g}; it must not be below 0")
    if not is_file_mode(settings.file_mode):
        refuse("file_mode", f": {settings.file_mode!r} is neither private, umask, nor an octal number as 640")
    check_code(settings.person, *origin_of("person"))


def _check_keys(values: Mapping[str, Any], what: str, name_of: Any) -> None:
    names = Settings.__struct_fields__
    for key in values:
        if key not in names:
            near = suggestion(name_of(key), [name_of(one) for one in names])
            raise LabError(what, f"field {name_of(key)}: unknown; the settings are {', '.join(names)}{near}")


def database(settings: Settings, env: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the database in force."""
    return Path(settings.db).expanduser() if settings.db else folder("data", env) / "hitlab.db"
