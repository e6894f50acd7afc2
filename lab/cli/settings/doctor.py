"""The command doctor: check Python, the terminal and its graphics, fonts, the database, adb, phones, scrcpy."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lab.cli.arguments import Arguments, JsonArguments, Parser
from lab.cli.output import (
    print_line,
    print_result,
)
from lab.core.errors import LabError
from lab.core.settings import Settings, database, load_or_default, settings_file
from lab.core.values.rounding import count

if TYPE_CHECKING:
    from store.file.image_links import ImageLink


class Finding(msgspec.Struct, frozen=True):
    """One check: `settings doctor`. `do` says what to do about it, empty if nothing.

    Each phone with a problem has its own line in `do`.
    """

    name: str
    ok: bool
    found: str
    do: str


def add_settings_doctor(parser: Parser) -> None:
    parser.runs(doctor, JsonArguments, prints={"doctor": list[Finding]})
    parser.examples(
        """\
  hitlab settings doctor
  hitlab settings doctor --json --db study.db
"""
    )


def doctor(args: Arguments) -> int:
    """Print every check with its result and advice. Exit code 3 if something needs doing."""

    settings, error = load_or_default(args.db)
    findings = examine(settings, error)
    print_result(findings, _print_findings, json=args.json)
    return 0 if all(finding.ok for finding in findings) else 3


def _print_findings(findings: list[Finding]) -> None:
    for finding in findings:
        _print_wrapped(f"{'✓' if finding.ok else '✗'} {finding.name:10} ", finding.found)
        for line in finding.do.splitlines():
            _print_wrapped(f"  {'':10} ", line)


def _print_wrapped(first: str, text: str) -> None:
    """Print a line. On a terminal wrap it under the text."""
    import textwrap

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 1000
    rest = " " * len(first)
    print_line(
        textwrap.fill(
            first + text, max(40, width), subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
        )
    )


_NAMED = 3
"""Number of lost pictures to name. The others are counted."""


_MODULES = ("lab", "screens", "annotators", "simulators", "store")
"""hitlab's top-level modules. Other packages may use some of these names."""


def examine(settings: Settings, error: LabError | None = None) -> list[Finding]:
    """Check everything that a run can fail on. `error` is the reason why the settings are the defaults."""
    if shadows := shadowing():
        # The other checks import those modules, so they cannot run.
        return [_check_python(), _describe_settings_file(), *shadows]
    terminal = [_check_terminal(), _check_colour(), _check_graphics(settings)]
    return [
        _check_python(),
        *_check_shared_names(),
        _check_settings(settings)
        if error is None
        else Finding("settings", False, f"{error.title}: {error.message}", error.hint),
        *terminal,
        _check_fonts(),
        _check_ocr(settings),
        *_check_database(settings),
        *_sweep_leftovers(settings),
        _check_adb(),
        _check_phones(),
        _check_scrcpy(),
    ]


def _check_python() -> Finding:
    versions = f"{sys.version.split()[0]}, hitlab {version('hitlab')}, textual {version('textual')}"
    ok = (3, 11) <= sys.version_info[:2] < (3, 14)
    return Finding("python", ok, versions, "" if ok else "hitlab is tested on Python 3.11 to 3.13.")


def shadowing() -> list[Finding]:
    """Return a finding for each of hitlab's modules that another one of that name shadows."""
    own = Path(__file__).resolve().parents[3]
    places = {name: place for name in _MODULES if (place := _module_place(name)).parent.resolve() != own}
    do = (
        "Leave the folder you are in, or take that one off PYTHONPATH. Where it is an installed package, install "
        "hitlab by `uv tool install` or `pipx install`, apart from it."
    )
    return [
        Finding("modules", False, f"{place} is found in the place of hitlab's module `{name}`", do)
        for name, place in places.items()
    ]


def _module_place(name: str) -> Path:
    """Return a top-level package's folder, or a module's file."""
    from importlib.util import find_spec

    spec = find_spec(name)
    if spec is None:
        return Path("nothing")
    origin = Path(spec.origin or next(iter(spec.submodule_search_locations or ()), "nothing"))
    return origin.parent if origin.name == "__init__.py" else origin


def _check_shared_names() -> list[Finding]:
    """Return a finding for each other installed package with a module under one of hitlab's names."""
    others = {name: sorted({*_module_owners().get(name, ())} - {"hitlab"}) for name in _MODULES}
    do = "One hides or overwrites the other. Install hitlab by `uv tool install` or `pipx install`, apart from it."
    return [
        Finding("modules", False, f"the installed package {package} has a module `{name}`, too", do)
        for name, packages in others.items()
        for package in packages
    ]


@cache
def _module_owners() -> Mapping[str, list[str]]:
    """Return the installed packages of each top-level module, cached, since it reads every package's file list."""
    from importlib.metadata import packages_distributions

    return packages_distributions()


def _check_settings(settings: Settings) -> Finding:
    """Check the settings file as the screens would."""
    from screens.keymap import keymap_of
    from screens.theme import check_theme

    try:
        check_theme(settings.theme)
        keymap_of(settings.keymap)
    except LabError as error:
        return Finding("settings", False, f"{error.title}: {error.message}", error.hint or "Choose one of these.")
    return _describe_settings_file()


def _describe_settings_file() -> Finding:
    path = settings_file()
    return Finding("settings", True, f"{path}" if path.is_file() else f"defaults ({path} is not there)", "")


def _check_terminal() -> Finding:
    if not sys.stdout.isatty():
        return Finding("terminal", True, "none here; --headless, --json and --events work without", "")
    from screens.dialogs import LEAST

    columns, rows = shutil.get_terminal_size()
    ok = columns >= LEAST[0] and rows >= LEAST[1]
    do = "" if ok else f"Enlarge it to {LEAST[0]}x{LEAST[1]} or more, or use a smaller font."
    return Finding("terminal", ok, f"{columns}x{rows}, TERM={os.environ.get('TERM', '')}", do)


def _check_colour() -> Finding:
    value = os.environ.get("COLORTERM", "")
    if not sys.stdout.isatty() or value in ("truecolor", "24bit"):
        return Finding("colour", True, f"COLORTERM={value}" if value else "not asked for without a terminal", "")
    do = "Set COLORTERM=truecolor if your terminal has it; the mirror falls back to 256 colours."
    return Finding("colour", False, f"COLORTERM={value or 'not set'}", do)


def _check_graphics(settings: Settings) -> Finding:
    """Query the terminal's graphics and check that Replay's setting fits them."""
    from screens.mirror.terminal_graphics import query_terminal

    graphics = settings.graphics
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Finding("graphics", True, f"{graphics} chosen; not asked for without a terminal", "")
    can = query_terminal()
    able = " and ".join(can.kinds)
    who = can.name or "it"
    answer = f"{who} draws {able}" if able else f"{who} draws characters alone" if can.answered else "it says nothing"
    words = f"{graphics} chosen; asked what else it can draw, {answer}"
    if graphics == "auto":
        return Finding("graphics", True, f"{words}; pictures are drawn by {can.best}", "")
    if graphics == "cells":
        return Finding("graphics", True, words, 'Set graphics = "auto" to see the pictures themselves.' if able else "")
    do = "" if graphics in can.kinds else "Set graphics to auto, or use another terminal."
    return Finding("graphics", not do, words, do)


def _check_fonts() -> Finding:
    from simulators.phone.kit.fonts import font_of

    font = font_of("中")
    do = "" if font else "Install one (Noto Sans CJK, say) for Chinese in the embedded phone's pictures."
    return Finding("fonts", True, f"Chinese is drawn with {font}" if font else "no font has Chinese", do)


def _check_ocr(settings: Settings) -> Finding:
    """Report the engine that recognizes words in pictures without UI text."""
    from lab.ocr.engine import EXTRA, engine_name

    if not settings.ocr:
        return Finding("ocr", True, "not read: `ocr = false` is set", "")
    name = engine_name()
    do = "" if name else f"pip install '{EXTRA}' reads them; without it pictures are pixels."
    return Finding("ocr", True, f"read by {name}" if name else "not read", do)


def _check_database(settings: Settings) -> list[Finding]:
    path = database(settings)
    if not path.exists():
        return [Finding("database", True, f"{path} (made at the first run)", "")]
    from store.store import Store

    try:
        with Store.open(path, create=False, readonly=True) as store:
            wrong, link_count, lost_links = store.check(links=False), store.links.count_outside(), store.links.lost()
            missing = store.links.count_missing()
    except LabError as error:
        return [Finding("database", False, f"{error.title}: {error.message}", error.hint or "Name another with --db.")]
    do = "" if not wrong else "Copy what can be read with `hitlab file pack`, and keep the file."
    finding = Finding("database", not wrong, "; ".join(wrong) or f"{path} is sound", do)
    lost = [_report_missing(*missing)] if missing[0] else []
    return [finding, *lost, *([_report_linked(link_count, lost_links)] if link_count else [])]


def _report_missing(pictures: int, runs: int, first: str) -> Finding:
    """Report pictures that runs name and the file does not hold."""
    found = f"{count(pictures, 'picture')} of {count(runs, 'run')} not in the file, as of {first}"
    do = "Import the runs again from where their pictures are. A copy by `hitlab file pack --no-images` has none."
    return Finding("pictures", False, found, do)


def _report_linked(link_count: int, lost_links: Sequence[ImageLink]) -> Finding:
    """Report pictures in files outside the database."""
    sentences = [link.problem() for link in lost_links[:_NAMED]] + (
        [f"{len(lost_links) - _NAMED} more"] if len(lost_links) > _NAMED else []
    )
    words = f"{link_count} linked, {len(lost_links)} of them lost" + (f": {'; '.join(sentences)}" if lost_links else "")
    do = "Put the files back where they were, or import their folder again from where it is now." if lost_links else ""
    return Finding("pictures", not lost_links, words, do)


def _sweep_leftovers(settings: Settings) -> list[Finding]:
    """Remove copies that killed commands left, which may hold erased data. Return no finding if there are none."""
    from store.file.leftovers import sweep

    leftovers = sweep([database(settings).parent.absolute(), Path.cwd()], temporary=True)
    if not (leftovers.removed or leftovers.remaining):
        return []
    sentences = [f"removed {path}" for path in leftovers.removed]
    sentences += [f"{path} cannot be removed" for path in leftovers.remaining]
    do = "Delete what cannot be removed: it may hold what was erased." if leftovers.remaining else ""
    return [Finding("leftovers", not leftovers.remaining, f"of commands that were killed: {'; '.join(sentences)}", do)]


def _check_adb() -> Finding:
    """Report the adb program and its server without starting it."""
    from lab.devices.adb.adb_server import Server, adb_program

    try:
        server = Server.from_environment()
        program = adb_program()
        running = f"server {server.host}:{server.port} " + ("runs" if server.running() else "starts when it is needed")
        return Finding("adb", True, f"{program}; {running}", "")
    except LabError as error:
        return Finding("adb", False, error.message, error.hint)


def _check_phones() -> Finding:
    from lab.devices.device_list import find_devices

    try:
        phones = find_devices(start=False)
    except LabError as error:
        return Finding("phones", False, error.sentence, "")
    listing = ", ".join(f"{phone.serial} ({phone.model or phone.state})" for phone in phones)
    do = "\n".join(f"{phone.serial}: {phone.do}" for phone in phones if phone.do)
    return Finding("phones", not do, listing or "none on adb's line; the embedded one needs none", do)


def _check_scrcpy() -> Finding:
    """Report the scrcpy server. A missing one is fine, since screenshots serve instead. An unusable one is not."""
    from lab.devices.scrcpy.scrcpy_server import find, wished

    try:
        jar = find()
    except LabError as error:
        return Finding("scrcpy", not wished(), f"{error.message.rstrip('.')}; pictures come by screencap", error.hint)
    return Finding("scrcpy", True, f"server {jar.speech.version}, {jar.path} ({jar.source})", "")
