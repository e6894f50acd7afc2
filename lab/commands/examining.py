"""What `hitlab doctor` looks at: Python, the terminal and its graphics, fonts, the database, adb, phones, scrcpy."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.output import Finding
from lab.settings import Settings, database, settings_file

if TYPE_CHECKING:
    from store.links import Link

LEAST = (80, 24)
"""Columns and rows that every screen is laid out for."""

_NAMED = 3
"""Lost pictures that are named; the others are counted."""


def examine(settings: Settings) -> list[Finding]:
    """One finding per thing that a run can fail on, those that need doing with what to do."""
    terminal = [_terminal(), _colour(), _graphics(settings)]
    return [_python(), _settings(), *terminal, _fonts(), *_database(settings), _adb(), _phones(), _scrcpy()]


def _python() -> Finding:
    found = f"{sys.version.split()[0]}, hitlab {version('hitlab')}, textual {version('textual')}"
    ok = (3, 11) <= sys.version_info[:2] < (3, 14)
    return Finding("python", ok, found, "" if ok else "hitlab is tested on Python 3.11 to 3.13.")


def _settings() -> Finding:
    path = settings_file()
    return Finding("settings", True, f"{path}" if path.is_file() else f"defaults ({path} is not there)", "")


def _terminal() -> Finding:
    if not sys.stdout.isatty():
        return Finding("terminal", True, "none here; --headless, --json and --events work without", "")
    columns, rows = shutil.get_terminal_size()
    ok = columns >= LEAST[0] and rows >= LEAST[1]
    do = "" if ok else f"Enlarge it to {LEAST[0]}x{LEAST[1]} or more, or use a smaller font."
    return Finding("terminal", ok, f"{columns}x{rows}, TERM={os.environ.get('TERM', '')}", do)


def _colour() -> Finding:
    value = os.environ.get("COLORTERM", "")
    if not sys.stdout.isatty() or value in ("truecolor", "24bit"):
        return Finding("colour", True, f"COLORTERM={value}" if value else "not asked for without a terminal", "")
    do = "Set COLORTERM=truecolor if your terminal has it; the mirror falls back to 256 colours."
    return Finding("colour", False, f"COLORTERM={value or 'not set'}", do)


def _graphics(settings: Settings) -> Finding:
    """What the terminal says that it can draw beside characters, and whether what is chosen for Replay fits that."""
    from importlib.util import find_spec

    from screens.graphics import ask

    chosen = settings.graphics
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Finding("graphics", True, f"{chosen} chosen; not asked for without a terminal", "")
    can = ask()
    able = [name for name, there in (("kitty", can.kitty), ("sixel", can.sixel)) if there]
    says = (
        "it draws " + " and ".join(able) if able else "it draws characters alone" if can.answered else "it says nothing"
    )
    found = f"{chosen} chosen; asked what else it can draw, {says}"
    lacking = find_spec("textual_image") is None
    install = "pip install 'hitlab[graphics]'"
    if chosen == "cells":
        first = f"{install}, and set" if lacking else "Set"
        do = f'{first} graphics = "{able[0]}", and `i` in Replay shows the picture itself.' if able else ""
        return Finding("graphics", True, found, do)
    if chosen not in able:
        return Finding(
            "graphics", False, found, f"Set graphics to {able[0] if able else 'cells'}, or use another terminal."
        )
    return Finding(
        "graphics",
        not lacking,
        found + ("; textual-image is not installed" if lacking else ""),
        install if lacking else "",
    )


def _fonts() -> Finding:
    from simulators.phone.fonts import font_of

    font = font_of("中")
    do = "" if font else "Install one (Noto Sans CJK, say) for the phone's pictures; the mirror needs none."
    return Finding("fonts", font is not None, f"Chinese is drawn with {font}" if font else "no font has Chinese", do)


def _database(settings: Settings) -> list[Finding]:
    path = database(settings)
    if not path.exists():
        return [Finding("database", True, f"{path} (made at the first run)", "")]
    from store.store import Store

    try:
        with Store.open(path, create=False, readonly=True) as store:
            wrong, linked, lost = store.check(links=False), store.outside(), store.lost_links()
    except LabError as error:
        return [Finding("database", False, f"{error.title}: {error.message}", error.hint or "Name another with --db.")]
    do = "" if not wrong else "Copy what can be read with `hitlab pack`, and keep the file."
    found = Finding("database", not wrong, "; ".join(wrong) or f"{path} is sound", do)
    return [found, *([_pictures(linked, lost)] if linked else [])]


def _pictures(linked: int, lost: Sequence[Link]) -> Finding:
    """Pictures that stand in files outside the database."""
    said = [link.wrong() for link in lost[:_NAMED]] + ([f"{len(lost) - _NAMED} more"] if len(lost) > _NAMED else [])
    found = f"{linked} linked, {len(lost)} of them lost" + (f": {'; '.join(said)}" if lost else "")
    do = "Put the files back where they were, or import their folder again from where it is now." if lost else ""
    return Finding("pictures", not lost, found, do)


def _adb() -> Finding:
    """Which adb is used, and whether its server runs: looking starts none."""
    from lab.devices.bridge import Server, adb_program

    try:
        server = Server.named()
        program = adb_program()
        running = f"server {server.host}:{server.port} " + ("runs" if server.running() else "starts when it is needed")
        return Finding("adb", True, f"{program}; {running}", "")
    except LabError as error:
        return Finding("adb", False, error.message, error.hint)


def _phones() -> Finding:
    from lab.devices.found import found

    try:
        phones = found(start=False)
    except LabError as error:
        return Finding("phones", False, error.sentence, "")
    told = ", ".join(f"{phone.serial} ({phone.model or phone.state})" for phone in phones)
    do = next((f"{phone.serial}: {phone.do}" for phone in phones if phone.do), "")
    return Finding("phones", not do, told or "none on adb's line; the embedded one needs none", do)


def _scrcpy() -> Finding:
    """Screenshots serve without it, so that it is not wrong to have none."""
    from lab.devices.scrcpy_server import find

    try:
        jar = find()
    except LabError as error:
        return Finding("scrcpy", True, f"{error.message.rstrip('.')}; pictures come by screencap", error.hint)
    return Finding("scrcpy", True, f"server {jar.speech.version}, {jar.path} ({jar.source})", "")
