"""What `hitlab doctor` says of a terminal's graphics, and of other packages that have names of hitlab's modules."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.cli.settings.doctor import _check_settings, _check_terminal
from lab.core.settings import Settings
from tests.warm import Warm

QUERY = b"\x1b[c"
KITTY, SIXEL, NEITHER = b"\x1b_Gi=31;OK\x1b\\\x1b[?62;c", b"\x1b[?62;4;22c", b"\x1b[?62;22c"
NAMED = b"\x1bP>|XTerm(379)\x1b\\" + SIXEL


def _doctor(home: Path, answer: bytes | None, graphics: str = "cells", term: str = "xterm-256color") -> str:
    """What it prints of the graphics and what to do, where the terminal answers its question so."""
    terminal, side = pty.openpty()
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_DATA_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    own |= {"ANDROID_ADB_SERVER_PORT": "1", "HITLAB_GRAPHICS": graphics, "TERM": term, "LC_ALL": "C.UTF-8"}
    program = Warm(["doctor"], env={**os.environ, **own}, stdin=side, stdout=side, stderr=side, start_new_session=True)
    os.close(side)
    try:
        said, end = b"", time.monotonic() + 180
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                said += os.read(terminal, 65536)
            except OSError:
                break
            if answer is not None and QUERY in said:
                os.write(terminal, answer)
                answer = None
        program.wait(180)
    finally:
        program.kill()
        os.close(terminal)
    found = re.search(r"(. graphics .*?)\n(?:. fonts)", said.decode().replace("\r", ""), re.DOTALL)
    assert found, said.decode()
    assert all(len(line) <= 80 or " " not in line.strip() for line in found[1].split("\n"))
    return re.sub(r"\s+", " ", found[1])


@pytest.mark.parametrize(
    ("answer", "chosen", "words"),
    [
        (KITTY, "auto", ["✓", "it draws kitty; pictures are drawn by kitty"]),
        (KITTY, "cells", ["✓", "it draws kitty", 'Set graphics = "auto"']),
        (NEITHER, "auto", ["✓ graphics auto chosen; asked what else it can draw, it draws characters alone; pictures"]),
        (NEITHER, "cells", ["✓ graphics cells chosen; asked what else it can draw, it draws characters alone"]),
        (NAMED, "auto", ["✓", "XTerm(379) draws sixel; pictures are drawn by sixel"]),
        (KITTY, "kitty", ["✓ graphics kitty chosen; asked what else it can draw, it draws kitty"]),
        (SIXEL, "kitty", ["✗", "it draws sixel", "Set graphics to auto, or use another terminal."]),
        (None, "sixel", ["✗", "it says nothing", "Set graphics to auto, or use another terminal."]),
    ],
)
def test_a_terminal_is_asked_what_it_can_draw(
    tmp_path: Path, answer: bytes | None, chosen: str, words: list[str]
) -> None:
    said = _doctor(tmp_path, answer, chosen)
    assert all(word in said for word in words), said


def test_a_terminal_that_can_do_nothing_is_not_asked(tmp_path: Path) -> None:
    assert "it says nothing" in _doctor(tmp_path, None, term="dumb")


# -- names of modules ----------------------------------------------------------------------------------------------


def _hitlab(*words: str, home: Path, path: tuple[Path, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """One command where Python looks for modules in these folders, and first in the one it stands in."""
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_DATA_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    own |= {"ANDROID_ADB_SERVER_PORT": "1", "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run(
        [sys.executable, "-m", "lab.cli", *words], env={**os.environ, **own}, cwd=folder, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    ("settings", "words", "do"),
    [
        (
            Settings(keymap={"run.pase": "f12"}),
            "field keymap: 'run.pase' is no binding",
            "`hitlab settings keys` lists them.",
        ),
        (Settings(keymap={"run.pause": "foo"}), "'foo' is no key", "Keys are written as"),
        (Settings(theme="nope"), "settings.toml: field theme: 'nope' is none of ", "Choose one of these."),
    ],
)
def test_settings_that_no_screen_opens_with_are_told(settings: Settings, words: str, do: str) -> None:
    found = _check_settings(settings)
    assert not found.ok
    assert words in found.found
    assert found.do.startswith(do)
    assert _check_settings(Settings(keymap={"run.pause": "f12"}, theme="dracula")).ok


def test_a_terminal_is_large_enough_where_the_screens_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for size, ok in (((64, 18), True), ((63, 18), False), ((64, 17), False)):
        monkeypatch.setattr("shutil.get_terminal_size", lambda size=size: os.terminal_size(size))
        assert _check_terminal().ok == ok


ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("other", ["store/__init__.py", "screens.py"])
def test_a_module_that_stands_before_hitlabs_is_named_with_its_place(tmp_path: Path, other: str) -> None:
    (tmp_path / other).parent.mkdir(exist_ok=True)
    (tmp_path / other).touch()
    name, place = Path(other).parts[0].removesuffix(".py"), tmp_path / Path(other).parts[0]
    found = f"{place} is found in the place of hitlab's module `{name}`"
    doctor = _hitlab("doctor", home=tmp_path, path=(ROOT,), folder=tmp_path)
    assert (doctor.returncode, doctor.stderr) == (3, "")
    line, do = doctor.stdout.splitlines()[2:]
    assert line == f"✗ modules    {found}"
    assert "take that one off PYTHONPATH" in do
    assert "pipx install" in do


def test_a_command_that_needs_a_shadowed_module_ends_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "__init__.py").touch()
    for words in (("traces",), ("demo", "--headless")):
        done = _hitlab(*words, home=tmp_path, path=(ROOT,), folder=tmp_path)
        assert done.returncode == 1
        assert done.stderr.startswith(f"hitlab: modules: {tmp_path / 'store'} is found in the place of")
        assert len(done.stderr.splitlines()) == 1
    (tmp_path / "elsewhere").mkdir()
    well = _hitlab("doctor", home=tmp_path, path=(ROOT, tmp_path), folder=tmp_path / "elsewhere")
    assert "modules" not in well.stdout  # hitlab's own stands first


def test_another_installed_package_with_a_name_of_hitlabs_is_told(tmp_path: Path) -> None:
    site, folder = tmp_path / "site", tmp_path / "folder"
    info = site / "bench_tools-2.1.dist-info"
    for path, text in (
        (info / "METADATA", "Metadata-Version: 2.1\nName: bench-tools\nVersion: 2.1\n"),
        (info / "RECORD", "lab/__init__.py,,\nlab/bench.py,,\nbench_tools-2.1.dist-info/METADATA,,\n"),
        (site / "lab" / "bench.py", ""),
        (folder / "here", ""),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    doctor = _hitlab("doctor", home=tmp_path, path=(ROOT, site), folder=folder)
    assert doctor.returncode == 3
    assert "✗ modules    the installed package bench-tools has a module `lab`, too" in doctor.stdout
    assert "Install hitlab by `uv tool install` or `pipx install`, apart from it." in doctor.stdout
    assert "✓ settings" in doctor.stdout
