"""scrcpy's bytes: those that its own tests name (app/tests/test_control_msg_serialize.c), and nonsense refused."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.devices.scrcpy import scrcpy_codec


def hexed(text: str) -> bytes:
    return bytes.fromhex(text)


def test_what_is_told_is_what_scrcpys_own_tests_expect() -> None:
    assert scrcpy_codec.key("up", 66, repeat=5, meta=0x41) == hexed("00 01 00000042 00000005 00000041")
    assert scrcpy_codec.text("hello, world!") == [hexed("01 0000000d") + b"hello, world!"]
    pressed = scrcpy_codec.touch("down", (100, 200), (1080, 1920), pointer=0x1234567887654321)
    assert pressed == hexed("02 00 1234567887654321 00000064 000000c8 0438 0780 ffff 00000000 00000000")
    assert scrcpy_codec.scroll((260, 1026), (1080, 1920), 16, -16, 16) == hexed(
        "03 00000104 00000402 0438 0780 7fff 8000 00000000"
    )
    assert scrcpy_codec.encode_back("up") == hexed("04 01")
    assert [scrcpy_codec.panel(which) for which in ("notifications", "settings", "")] == [b"\x05", b"\x06", b"\x07"]
    assert scrcpy_codec.get_clipboard() == hexed("08 00")
    words = hexed("09 0102030405060708 01 0000000d") + b"hello, world!"
    assert scrcpy_codec.set_clipboard(0x0102030405060708, "hello, world!", paste=True) == words
    assert scrcpy_codec.display_power(True, scrcpy_codec.speech("3.3.4")) == hexed("0a 01")
    assert scrcpy_codec.display_power(True, scrcpy_codec.speech("2.4")) == hexed("0a 02")
    assert scrcpy_codec.rotate() == b"\x0b"
    assert scrcpy_codec.start_app("firefox") == hexed("10 07") + b"firefox"


def test_a_touch_is_31_bytes_after_its_kind_and_lifts_without_pressure() -> None:
    lifted = scrcpy_codec.touch("up", (0, 0), (544, 1200))
    assert len(lifted) == 32
    assert lifted[22:24] == b"\0\0"


def test_a_wheel_turns_as_far_as_a_version_can_carry() -> None:
    old, new = scrcpy_codec.speech("3.3").notches, scrcpy_codec.speech("3.3.1").notches
    assert (old, new) == (1, 16)
    at = (1, 1), (2, 2)
    assert scrcpy_codec.scroll(*at, 0, 1, old)[15:17] == scrcpy_codec.scroll(*at, 0, 99, new)[15:17] == hexed("7fff")
    assert scrcpy_codec.scroll(*at, 0, 1, new)[15:17] == hexed("0800")


def test_long_text_is_cut_and_a_clipboard_too_long_is_refused() -> None:
    parts = scrcpy_codec.text("x" * 700)
    assert [len(part) - 5 for part in parts] == [300, 300, 100]
    assert len(scrcpy_codec.set_clipboard(1, "x" * scrcpy_codec.LONGEST_CLIPBOARD, paste=False)) == 1 << 18
    with pytest.raises(LabError, match="262,133 bytes"):
        scrcpy_codec.set_clipboard(1, "你" * 87377 + "xx", paste=False)
    with pytest.raises(LabError, match="app's name"):
        scrcpy_codec.start_app("x" * 256)


@pytest.mark.parametrize("version", ["2.1", "2.4", "3.0.2", "3.3.4", "4.0", "4.1"])
def test_versions_that_are_spoken(version: str) -> None:
    assert scrcpy_codec.speech(version).sessions == version.startswith("4")


@pytest.mark.parametrize("version", ["", "1.25", "2.0", "5.0", "latest", "3..1", "3.3.4; reboot"])
def test_versions_that_are_not(version: str) -> None:
    with pytest.raises(LabError):
        scrcpy_codec.speech(version)


def test_headers_of_both_flavours() -> None:
    def head(flags: int, length: int = 7) -> bytes:
        return struct.pack(">QI", flags, length)

    assert scrcpy_codec.header(head(1 << 63), sessions=False) == scrcpy_codec.FrameHeader(True, False, 0, 7)
    assert scrcpy_codec.header(head(1 << 62 | 99), sessions=False) == scrcpy_codec.FrameHeader(False, True, 99, 7)
    assert scrcpy_codec.header(head(99), sessions=False) == scrcpy_codec.FrameHeader(False, False, 99, 7)
    assert scrcpy_codec.header(head(1 << 62), sessions=True) == scrcpy_codec.FrameHeader(True, False, 0, 7)
    assert scrcpy_codec.header(head(1 << 61 | 99), sessions=True) == scrcpy_codec.FrameHeader(False, True, 99, 7)
    assert scrcpy_codec.header(struct.pack(">III", 1 << 31, 540, 1200), sessions=True) == scrcpy_codec.SizeChange(
        (540, 1200)
    )
    assert scrcpy_codec.header(struct.pack(">III", 1 << 31 | 1, 1200, 540), sessions=True) == scrcpy_codec.SizeChange(
        (1200, 540)
    )


@pytest.mark.parametrize("sessions", [False, True])
@pytest.mark.parametrize(
    "head",
    [
        struct.pack(">QI", 5, 0),
        struct.pack(">QI", 5, 0xFFFFFFF0),
        struct.pack(">QI", 5, (1 << 24) + 1),
        struct.pack(">QI", 3 << 61, 9),
        struct.pack(">QI", 7 << 61, 9),
        struct.pack(">QI", 1 << 60, 9),
        struct.pack(">III", 1 << 31 | 2, 540, 1200),
        struct.pack(">III", 1 << 31, 0, 0),
        b"HTTP/1.1 200",
    ],
)
def test_headers_that_can_be_none(head: bytes, sessions: bool) -> None:
    with pytest.raises(Trouble, match="wrong frame header"):
        scrcpy_codec.header(head, sessions)


@given(st.binary(min_size=12, max_size=12), st.booleans())
def test_any_header_is_read_or_refused(head: bytes, sessions: bool) -> None:
    try:
        read = scrcpy_codec.header(head, sessions)
    except Trouble:
        return
    if isinstance(read, scrcpy_codec.FrameHeader):
        assert 0 < read.length <= 1 << 24
        assert 0 <= read.pts < 1 << 53
    else:
        assert all(0 < side <= 16384 for side in read.size)


def test_the_codec_and_the_first_size() -> None:
    scrcpy_codec.codec(b"h264")
    assert scrcpy_codec.size(struct.pack(">II", 544, 1200)) == (544, 1200)
    with pytest.raises(Trouble, match=r"H\.265, not H\.264"):
        scrcpy_codec.codec(b"h265")
    with pytest.raises(Trouble, match="nothing known"):
        scrcpy_codec.codec(b"\xff\xd8\xff\xe0")
    with pytest.raises(Trouble, match="cannot encode"):
        scrcpy_codec.codec(b"\0\0\0\1")
    with pytest.raises(Trouble, match="0 x 1200"):
        scrcpy_codec.size(struct.pack(">II", 0, 1200))


def test_the_phones_name_is_plain_text() -> None:
    assert scrcpy_codec.name("Pixel\x1b[2J 9 号".encode().ljust(64, b"\0")) == "Pixel\\x1b[2J 9 号"


def test_what_the_phone_says() -> None:
    def heard(data: bytes) -> object:
        place = 1

        def read(count: int) -> bytes:
            nonlocal place
            place += count
            return data[place - count : place]

        return scrcpy_codec.device_message(data[0], read)

    assert heard(hexed("00 00000003") + b"ABC") == scrcpy_codec.Clipboard("ABC")
    assert heard(hexed("00 00000000")) == scrcpy_codec.Clipboard("")
    assert heard(hexed("01 0102030405060708")) == scrcpy_codec.ClipboardAck(0x0102030405060708)
    assert heard(hexed("02 002a 0005 0102030405")) == scrcpy_codec.UnknownMessage()
    for nonsense in ("00 7fffffff", "09"):
        with pytest.raises(Trouble):
            heard(hexed(nonsense))
