"""Pictures by the terminal's own graphics: asked for, drawn, and told where what draws them is absent."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from PIL import Image

from lab.core.errors import LabError
from lab.core.settings import Settings
from screens.app import LabApp
from screens.mirror.marks import PhoneMark
from screens.mirror.terminal_graphics import GraphicsSupport, drawn, prepare, read_answer
from screens.navigation import Opening
from screens.replay.phone_pane import StillPhone
from store.store import Store
from tests.screens.runs import WHOLE

Until = Callable[..., Awaitable[None]]


@pytest.mark.parametrize(
    ("said", "can"),
    [
        (b"", GraphicsSupport(False, False, False)),
        (b"\x1b[?62;c", GraphicsSupport(False, False, True)),
        (b"\x1b_Gi=31;OK\x1b\\\x1b[?62;52;c", GraphicsSupport(True, False, True)),
        (b"\x1b[?62;4;22c", GraphicsSupport(False, True, True)),
        (b"\x1b_Gi=31;EINVAL:no\x1b\\\x1b[?64;14;24c", GraphicsSupport(False, False, True)),
    ],
)
def test_a_terminals_answer_is_read(said: bytes, can: GraphicsSupport) -> None:
    assert read_answer(said) == can


def test_marks_stand_on_the_picture_in_the_phones_pixels() -> None:
    out = io.BytesIO()
    Image.new("RGB", (100, 200), "white").save(out, "PNG")
    image = drawn(out.getvalue(), (1000, 2000), [PhoneMark("box", (100, 100), (900, 300))])
    assert image is not None
    assert image.getpixel((10, 20)) == (255, 59, 107)
    assert image.getpixel((50, 100)) == (255, 255, 255)
    assert drawn(b"no picture", (10, 10), []) is None


def test_what_is_absent_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual_image.widget", None)
    with pytest.raises(LabError, match="textual-image") as refused:
        prepare("kitty")
    assert "hitlab[graphics]" in refused.value.hint
    prepare("cells")


async def test_the_key_is_there_only_where_graphics_are_chosen(full: Store, settings: Settings, until: Until) -> None:
    app = LabApp(full, settings, Opening("replay", WHOLE))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: bool(app.screen.query(StillPhone)))
        assert app.screen.query_one(StillPhone).close_up is None
        assert "replay.close_up" not in {b.binding.id for b in app.screen.active_bindings.values() if b.enabled}


async def test_a_key_goes_to_the_picture_itself_and_back(full: Store, settings: Settings, until: Until) -> None:
    app = LabApp(full, msgspec.structs.replace(settings, graphics="kitty"), Opening("replay", WHOLE))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query_one(StillPhone).mirror.settled)
        await pilot.press("i")
        still = app.screen.query_one(StillPhone)
        close_up = still.close_up
        assert close_up is not None
        await until(pilot, lambda: close_up.display and close_up.size.width > 10)
        assert not still.mirror.display
        await pilot.press("right", "i")
        await until(pilot, lambda: still.mirror.display)


@pytest.mark.parametrize(("graphics", "sign"), [("kitty", b"\x1b_G"), ("sixel", b"\x1bP")])
def test_a_real_terminal_is_sent_the_picture(full: Store, graphics: str, sign: bytes) -> None:
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 900, 540))
    settings = {"HITLAB_GRAPHICS": graphics, "COLUMNS": "100", "LINES": "30", "TERM": "xterm-256color"}
    program = subprocess.Popen(
        [sys.executable, "-m", "lab.cli.main", "replay", WHOLE, "--db", str(full.path)],
        env={**os.environ, **settings, "LC_ALL": "C.UTF-8", "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=side,
        stdout=side,
        stderr=side,
    )
    os.close(side)
    try:
        assert _seen(terminal, b"Goal")
        os.write(terminal, b"i")
        assert _seen(terminal, sign)
        os.write(terminal, b"\x11")
        _seen(terminal, b"nothing more", 20)
        assert program.wait(20) == 0
    finally:
        program.kill()
        os.close(terminal)


def _seen(terminal: int, wanted: bytes, seconds: float = 40) -> bool:
    """Whether the app writes `wanted` in time."""
    seen, end = b"", time.monotonic() + seconds
    while wanted not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
    return wanted in seen
