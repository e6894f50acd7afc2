"""Pictures by the terminal's own graphics: what it says that it has, what is chosen, and what it is sent."""

from __future__ import annotations

import base64
import fcntl
import io
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PIL import Image
from textual.geometry import Region
from textual.widgets import Static

from lab.core.settings import Settings
from screens.app import LabApp
from screens.mirror.marks import PhoneMark
from screens.mirror.terminal_graphics import GraphicsSupport, TerminalGraphics, graphics_for, read_answer
from screens.mirror.terminal_picture import (
    PictureArea,
    draw_marks,
    fit_cells,
    iterm2_codes,
    kitty_codes,
    picture_cells,
    sixel_codes,
)
from screens.navigation import Opening
from screens.replay.phone_pane import StillPhone
from store.store import Store
from tests.screens.runs import WHOLE
from tests.warm import Warm

KITTY = TerminalGraphics("kitty", (9, 18))
Until = Callable[..., Awaitable[None]]


@pytest.mark.parametrize(
    ("said", "can", "best"),
    [
        (b"", GraphicsSupport(), "cells"),
        (b"\x1b[?62;c", GraphicsSupport(answered=True), "cells"),
        (b"\x1b_Gi=31;EINVAL:no\x1b\\\x1b[?64;14;24c", GraphicsSupport(answered=True), "cells"),
        (
            b"\x1b_Gi=31;OK\x1b\\\x1bP>|kitty(0.26.5)\x1b\\\x1b[6;18;9t\x1b[?62;c",
            GraphicsSupport(kitty=True, answered=True, name="kitty(0.26.5)", cell=(9, 18)),
            "kitty",
        ),
        (
            b"\x1bP>|XTerm(379)\x1b\\\x1b[6;17;8t\x1b[?1;0;16S\x1b[?62;4;22c",
            GraphicsSupport(sixel=True, answered=True, name="XTerm(379)", cell=(8, 17), registers=16),
            "sixel",
        ),
        (
            b"\x1b_Gi=31;OK\x1b\\\x1bP>|Konsole 22.12.3\x1b\\\x1b[?62;1;4c",
            GraphicsSupport(kitty=True, sixel=True, answered=True, name="Konsole 22.12.3"),
            "sixel",
        ),
        (
            b"\x1bP>|iTerm2 3.5.0\x1b\\\x1b[?62;4c",
            GraphicsSupport(sixel=True, answered=True, name="iTerm2 3.5.0"),
            "iterm2",
        ),
    ],
)
def test_a_terminals_answer_is_read(said: bytes, can: GraphicsSupport, best: str) -> None:
    assert read_answer(said) == can
    assert can.best == best


def test_without_a_terminal_characters_are_chosen() -> None:
    assert graphics_for("auto").kind == graphics_for("cells").kind == "cells"


def test_marks_stand_on_the_picture_in_the_phones_pixels() -> None:
    out = io.BytesIO()
    Image.new("RGB", (100, 200), "white").save(out, "PNG")
    image = draw_marks(out.getvalue(), (1000, 2000), [PhoneMark("box", (100, 100), (900, 300))])
    assert image is not None
    assert image.getpixel((10, 20)) == (255, 59, 107)
    assert image.getpixel((50, 100)) == (255, 255, 255)
    assert draw_marks(b"no picture", (10, 10), []) is None


# -- codes -------------------------------------------------------------------------------------------------------


def chequered(size: tuple[int, int]) -> Image.Image:
    """A picture of which each quarter has a colour of its own."""
    image = Image.new("RGB", size, (255, 0, 0))
    for box, colour in (((0, 0), (0, 0, 255)), ((1, 0), (0, 255, 0)), ((1, 1), (255, 255, 255))):
        left, top = box[0] * size[0] // 2, box[1] * size[1] // 2
        image.paste(colour, (left, top, left + size[0] // 2, top + size[1] // 2))
    return image


@pytest.mark.parametrize(
    ("room", "cell", "place"),
    [
        ((45, 50), (9, 18), (0, 0, 45, 50)),
        ((80, 50), (9, 18), (17, 0, 45, 50)),
        ((45, 80), (9, 18), (0, 15, 45, 50)),
        ((45, 50), (10, 10), (11, 0, 22, 50)),
    ],
)
def test_a_picture_keeps_its_shape_in_cells_of_any_shape(
    room: tuple[int, int], cell: tuple[int, int], place: tuple[int, int, int, int]
) -> None:
    assert fit_cells((405, 900), room, cell) == place


def test_kittys_codes_are_the_picture_in_messages_of_at_most_4096_bytes() -> None:
    image = Image.effect_noise((200, 100), 90).convert("RGB")
    messages = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", codes := kitty_codes(image, 20, 5, 77))
    assert "".join(f"\x1b_G{keys};{data}\x1b\\" for keys, data in messages) == codes
    assert len(messages) > 1
    assert max(len(data) for _, data in messages) == 4096
    assert {"a=T", "f=100", "i=77", "c=20", "r=5", "C=1", "q=2"} <= set(messages[0][0].split(","))
    assert [keys.rpartition("m=")[2] for keys, _ in messages] == ["1"] * (len(messages) - 1) + ["0"]
    with Image.open(io.BytesIO(base64.b64decode("".join(data for _, data in messages)))) as sent:
        assert sent.convert("RGB").tobytes() == image.tobytes()


def test_iterm2s_code_is_the_picture_in_so_many_cells() -> None:
    match = re.fullmatch(r"\x1b\]1337;File=(.*?):(.*)\x07", iterm2_codes(chequered((40, 20)), 4, 1))
    assert match is not None
    data = base64.b64decode(match[2])
    assert {"inline=1", "width=4", "height=1", f"size={len(data)}"} <= set(match[1].split(";"))
    with Image.open(io.BytesIO(data)) as sent:
        assert sent.size == (40, 20)


@pytest.mark.parametrize("size", [(40, 24), (41, 27), (7, 3)])
@pytest.mark.parametrize("registers", [256, 4])
def test_sixel_draws_each_pixel(size: tuple[int, int], registers: int) -> None:
    image = chequered(size)
    assert _unsixel(sixel_codes(image, registers), size).tobytes() == image.tobytes()


def _unsixel(codes: str, size: tuple[int, int]) -> Image.Image:
    """What a terminal that knows sixel would draw; written from its description, apart from what writes it."""
    match = re.fullmatch(r'\x1bP0;1;0q"1;1;(\d+);(\d+)(.*)\x1b\\', codes, re.DOTALL)
    assert match is not None
    assert (int(match[1]), int(match[2])) == size
    image, colours = Image.new("RGB", size, (1, 2, 3)), {}
    x = y = colour = 0
    for token in re.findall(r"#\d+;2;\d+;\d+;\d+|#\d+|!\d+.|\$|-|.", match[3]):
        if token.startswith("#") and ";" in token:
            number, _, *parts = token[1:].split(";")
            colours[int(number)] = tuple(int(part) * 255 // 100 for part in parts)
        elif token.startswith("#"):
            colour = int(token[1:])
        elif token == "$":
            x = 0
        elif token == "-":
            x, y = 0, y + 6
        else:
            times, bits = (int(token[1:-1]), ord(token[-1])) if token[0] == "!" else (1, ord(token))
            for row in (row for row in range(6) if (bits - 63) >> row & 1):
                image.paste(colours[colour], (x, y + row, x + times, y + row + 1))
            x += times
    return image


def test_a_picture_is_never_sent_larger_than_it_is_seen() -> None:
    image = Image.new("RGB", (1080, 2400))
    made = picture_cells(image, (45, 50), KITTY, 1)
    data = "".join(re.findall(r"\x1b_G[^;]*;([^\x1b]*)", made.codes))
    with Image.open(io.BytesIO(base64.b64decode(data))) as sent:
        assert sent.size == (405, 900)
    assert (made.columns, made.rows) == (45, 50)


# -- rooms -------------------------------------------------------------------------------------------------------


async def test_the_key_is_there_only_where_the_terminal_has_graphics(
    full: Store, settings: Settings, until: Until
) -> None:
    app = LabApp(full, settings, Opening("replay", WHOLE))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: bool(app.screen.query(StillPhone)))
        assert app.screen.query_one(StillPhone).picture is None
        assert "replay.close_up" not in {b.binding.id for b in app.screen.active_bindings.values() if b.enabled}


async def test_the_picture_itself_is_shown_and_a_key_goes_to_characters_and_back(
    full: Store, settings: Settings, until: Until
) -> None:
    app = LabApp(full, settings, Opening("replay", WHOLE), graphics=KITTY)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query_one(StillPhone).shows_picture)
        still = app.screen.query_one(StillPhone)
        picture = still.picture
        assert picture is not None
        await until(pilot, lambda: picture.is_drawn and picture.size.width > 10 and codes_of(app) != "")
        assert not still.mirror.display
        assert picture.border_title == "Before"
        first = codes_of(app)
        await pilot.press("right", "right")
        await until(pilot, lambda: picture.is_drawn and codes_of(app) not in ("", first))
        for key in ("i", "o"):
            await pilot.press(key)
            await until(pilot, lambda: still.mirror.display and not still.shows_picture)
            await pilot.press(key)
            await until(pilot, lambda: still.shows_picture and not still.mirror.display)


async def test_an_enlarged_phone_is_one_of_characters_and_the_picture_comes_back_with_all_of_it(
    full: Store, settings: Settings, until: Until
) -> None:
    app = LabApp(full, settings, Opening("replay", WHOLE), graphics=KITTY)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query_one(StillPhone).shows_picture and codes_of(app) != "")
        still = app.screen.query_one(StillPhone)
        await pilot.press("=")
        await until(pilot, lambda: still.mirror.enlarged and still.mirror.display and not still.shows_picture)
        await pilot.press("escape")
        await until(pilot, lambda: still.shows_picture and not still.mirror.enlarged)


async def test_nothing_is_drawn_over_what_stands_before_the_picture(
    full: Store, settings: Settings, until: Until
) -> None:
    app = LabApp(full, settings, Opening("replay", WHOLE), graphics=KITTY)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: codes_of(app) != "")
        area = app.screen.query_one(PictureArea)
        sent: list[str] = []
        app.send = sent.append  # type: ignore[method-assign, assignment]
        await pilot.press("ctrl+p")
        await until(pilot, lambda: len(app.screen_stack) > 1 and bool(sent) and not area.sent)
        assert {re.sub(r"\d+", "N", codes) for codes in sent} == {"\x1b_Ga=d,d=I,i=N,q=N\x1b\\"}
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1 and area.sent)
        sent.clear()
        over = Static("what stands before it")
        over.styles.overlay, over.styles.position = "screen", "absolute"
        over.styles.offset = (area.region.x + 2, area.region.y + 3)
        await app.screen.mount(over)
        await until(pilot, lambda: not area.sent and bool(sent))
        assert codes_of(app) == ""
        await over.remove()
        await until(pilot, lambda: area.sent)


def codes_of(app: LabApp) -> str:
    """What the newest paint of the room's picture sends the terminal besides cells; empty where nothing is drawn."""
    area = app.screen.query(PictureArea)
    lines = area.first().render_lines(Region(0, 0, *area.first().size)) if area and area.first().size.area else []
    return "".join(segment.text for line in lines for segment in line if segment.control)


ANSWERS = {
    "kitty": b"\x1b_Gi=31;OK\x1b\\\x1bP>|kitty(0.26.5)\x1b\\\x1b[?62;c",
    "iterm2": b"\x1bP>|iTerm2 3.5.0\x1b\\\x1b[?62;4c",
    "sixel": b"\x1bP>|XTerm(379)\x1b\\\x1b[?1;0;256S\x1b[?62;4;22c",
}


@pytest.mark.parametrize(
    ("graphics", "sign"), [("kitty", b"\x1b_Ga=T"), ("iterm2", b"\x1b]1337;File="), ("sixel", b"\x1bP0;1;0q")]
)
def test_a_real_terminal_is_asked_and_sent_the_picture(full: Store, graphics: str, sign: bytes) -> None:
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 900, 540))
    settings = {"HITLAB_GRAPHICS": "auto", "COLUMNS": "100", "LINES": "30", "TERM": "xterm-256color"}
    program = Warm(
        ["replay", WHOLE, "--db", str(full.path)],
        env={**os.environ, **settings, "LC_ALL": "C.UTF-8"},
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,
    )
    os.close(side)
    try:
        assert _seen(terminal, b"\x1b[c")
        os.write(terminal, ANSWERS[graphics])
        assert _seen(terminal, sign)
        os.write(terminal, b"\x11")
        _seen(terminal, b"nothing more", 20)
        assert program.wait(180) == 0
    finally:
        program.kill()
        os.close(terminal)


@pytest.mark.parametrize(("asked", "settings"), [
    (True, {"TERM": "xterm-256color"}), (False, {"TERM": "xterm-256color", "TMUX": "/tmp/tmux/default,1,0"}),
    (False, {"TERM": "tmux-256color"}), (False, {"TERM": "screen"}),
])  # fmt: skip
def test_tmux_and_screen_are_not_asked_what_they_take_for_a_title(
    tmp_path: Path, asked: bool, settings: dict[str, str]
) -> None:
    terminal, side = pty.openpty()
    environment = {**os.environ, **settings, "HITLAB_GRAPHICS": "auto"}
    args = ["--db", str(tmp_path / "lab.db")]
    Store.open(tmp_path / "lab.db").close()
    program = Warm(args, env=environment, stdin=side, stdout=side, stderr=side, start_new_session=True)
    os.close(side)
    try:
        questions = b""
        while b"\x1b[c" not in questions:
            questions += os.read(terminal, 4096)
        assert (b"\x1b_G" in questions) is asked
    finally:
        program.kill()
        program.wait(180)
        os.close(terminal)


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_tmux_keeps_the_title_of_its_pane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store.open(tmp_path / "lab.db").close()
    monkeypatch.setenv("HITLAB_GRAPHICS", "auto")
    tmux = ["tmux", "-f", "/dev/null", "-S", str(tmp_path / "tmux")]

    def said(*words: str) -> str:
        return subprocess.run([*tmux, *words], capture_output=True, text=True, check=True).stdout

    program = [sys.executable, "-m", "lab.cli.main", "--db", str(tmp_path / "lab.db")]
    said("new-session", "-d", "-x", "100", "-y", "30", *program)
    try:
        end = time.monotonic() + 180
        while "No runs yet" not in said("capture-pane", "-p"):
            assert time.monotonic() < end
        assert "Gi=" not in said("display-message", "-p", "#{pane_title}")
    finally:
        said("kill-server")


def _seen(terminal: int, wanted: bytes, seconds: float = 180) -> bool:
    """Whether the app writes `wanted` in time."""
    seen, end = b"", time.monotonic() + seconds
    while wanted not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
    return wanted in seen
