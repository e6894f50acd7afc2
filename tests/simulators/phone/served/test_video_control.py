"""The control socket of the served phone's scrcpy server: fingers, keys, text, the clipboard, panels, apps."""

from __future__ import annotations

import contextlib
import io
import struct
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.run.step import Action
from simulators.phone.served import keys, scrcpy_messages
from simulators.phone.served.services import Services
from tests.simulators.phone.served.scrcpy_client import Client, Start, display, on_a_desk, starting, wait_for

DOWN, UP, MOVE, CANCEL = 0, 1, 2, 3
FINGER = -2
FEED = "/".join(("food", "0", "home", "feed"))
"""Under which key the phone remembers how far that list was scrolled."""


@pytest.fixture
def services() -> Services:
    return on_a_desk()


@pytest.fixture
def start(services: Services) -> Iterator[Start]:
    yield from starting(services)


def touch(action: int, x: int, y: int, size: tuple[int, int], pointer: int = FINGER, buttons: int = 0) -> bytes:
    pressure = 0 if action == UP else 0xFFFF
    return struct.pack(">BBqiiHHHII", 2, action, pointer, x, y, *size, pressure, buttons, buttons)


def tap(client: Client, at: tuple[int, int], size: tuple[int, int] | None = None) -> None:
    for action in (DOWN, UP):
        client.control.send(touch(action, *at, size or client.size))


def press(client: Client, code: int, meta: int = 0) -> None:
    for action in (DOWN, UP):
        client.control.send(struct.pack(">BBiii", 0, action, code, 0, meta))


def text(client: Client, words: str) -> None:
    client.control.send(struct.pack(">BI", 1, len(words.encode())) + words.encode())


def set_clipboard(client: Client, words: str, *, paste: bool, sequence: int) -> None:
    client.control.send(struct.pack(">BQ?I", 9, sequence, paste, len(words.encode())) + words.encode())


def front(services: Services) -> str:
    app: str = display(services).phone.snapshot()["nav"]["app"]
    return app


def place(services: Services, label: str) -> tuple[int, int]:
    """Where a text is, in pixels of the display as it is turned."""
    tree = display(services).tree()
    found = [node for node in tree.nodes() if label in (node.text, node.desc)]
    return tree.target(found[-1]).bounds.center


def typed(services: Services) -> str:
    """What stands in the field with the cursor."""
    return next((node.text for node in display(services).tree().nodes() if node.focused), "")


def begun(start: Start, version: str = "3.3.4", *words: str) -> Client:
    client = start(version, *words)
    client.greet()
    if client.new:
        client.packet()
    return client


def writing(services: Services) -> None:
    """A note lies open, its cursor in an empty field of many lines."""
    phone = display(services).phone
    phone.perform(Action("open_app", app="notes"))
    for label in ("New note", "Note"):
        phone.perform(Action("click", at=place(services, label)))


@pytest.mark.parametrize("turned", [0, 1])
@pytest.mark.parametrize("longest", [480, 1200, 0])
def test_a_touch_lands_where_it_was_meant(services: Services, start: Start, longest: int, turned: int) -> None:
    display(services).rotation = turned
    client = begun(start, "3.3.4", f"max_size={longest}")
    wide, high = services.display.size
    x, y = place(services, "Clock")
    tap(client, (round(x * client.size[0] / wide), round(y * client.size[1] / high)))
    wait_for(lambda: front(services) == "clock")


def test_a_touch_for_another_size_is_dropped(services: Services, start: Start) -> None:
    client = begun(start, "4.0", "max_size=1200", "log_level=verbose")
    assert client.size == (540, 1200)
    x, y = place(services, "Clock")
    tap(client, (x // 2, y // 2), (544, 1200))
    tap(client, (x // 2, y // 2), (1200, 540))
    press(client, keys.RECENTS)
    says = "Ignore positional event generated for size 1200x540 (current size is 540x1200)"
    wait_for(lambda: says in client.console.text)
    assert front(services) == "launcher"


def test_without_video_touches_are_the_displays(services: Services, start: Start) -> None:
    client = start("3.3.4", "video=false", sockets=("control",))
    tap(client, place(services, "Clock"), (1, 1))
    wait_for(lambda: front(services) == "clock")


def test_a_list_follows_the_finger(services: Services, start: Start) -> None:
    feed = browsing(services)
    client = begun(start, "3.3.4", "max_size=1200")
    client.control.send(touch(DOWN, 272, 800, client.size))
    client.control.send(touch(MOVE, 272, 600, client.size))
    wait_for(lambda: feed() == 400)
    client.control.send(touch(DOWN, 20, 20, client.size, pointer=7))
    client.control.send(touch(MOVE, 272, 750, client.size))
    wait_for(lambda: feed() == 100)
    client.control.send(touch(UP, 272, 700, client.size))
    wait_for(lambda: feed() == 200)


def test_many_moves_at_once_end_where_the_last_one_ends(services: Services, start: Start) -> None:
    feed = browsing(services)
    client = begun(start)
    moves = [touch(MOVE, 540, y, client.size) for y in range(1800, 1400, -4)]
    client.control.send(touch(DOWN, 540, 1800, client.size) + b"".join(moves) + touch(UP, 540, 1400, client.size))
    wait_for(lambda: feed() == 400)


def test_a_touch_that_is_cancelled_leaves_no_trace(services: Services, start: Start) -> None:
    feed = browsing(services)
    client = begun(start, "3.3.4")
    client.control.send(touch(DOWN, 540, 1800, client.size))
    client.control.send(touch(MOVE, 540, 1500, client.size))
    wait_for(lambda: feed() == 300)
    client.control.send(touch(CANCEL, 540, 1500, client.size))
    wait_for(lambda: feed() == 0)


def test_a_mouses_other_buttons_are_no_finger(services: Services, start: Start) -> None:
    client = begun(start)
    for action in (DOWN, UP):
        client.control.send(touch(action, *place(services, "Clock"), client.size, pointer=-1, buttons=2))
    press(client, keys.RECENTS)
    wait_for(lambda: display(services).phone.snapshot()["nav"]["overview"])
    assert front(services) == "launcher"


@pytest.mark.parametrize(("version", "fixed"), [("3.3.3", 0x0800), ("3.2", 0x7FFF)])
def test_a_notch_of_the_wheel(services: Services, start: Start, version: str, fixed: int) -> None:
    feed = browsing(services)
    client = begun(start, version)
    for notch in (-fixed, -fixed, fixed):
        client.control.send(struct.pack(">BiiHHhhI", 3, 540, 1800, *client.size, 0, notch, 0))
    wait_for(lambda: abs(feed() - 168) <= 1)


def test_text_types_what_a_keyboard_has(services: Services, start: Start) -> None:
    writing(services)
    client = begun(start)
    text(client, 'it\'s "50%" off;\n$HOME 你好 & rm -rf')
    wait_for(lambda: typed(services) == 'it\'s "50%" off;\n$HOME  & rm -rf')
    assert "Could not inject char u+4f60" in client.console.text


def test_keys_are_pressed(services: Services, start: Start) -> None:
    writing(services)
    client = begun(start)
    press(client, 29)
    press(client, 30, meta=1)
    wait_for(lambda: typed(services) == "aB")
    press(client, keys.DEL)
    wait_for(lambda: typed(services) == "a")
    press(client, keys.HOME)
    wait_for(lambda: front(services) == "launcher")


@pytest.mark.parametrize("words", ['it\'s "50%" off; rm -rf $HOME & 你好 🙂\n', "x", "é\n\n한국어\t|"])
def test_a_paste_arrives_unchanged_and_is_acknowledged(services: Services, start: Start, words: str) -> None:
    writing(services)
    client = begun(start)
    set_clipboard(client, words, paste=True, sequence=0x0102030405060708)
    assert client.control.take(9) == bytes([1, 1, 2, 3, 4, 5, 6, 7, 8])
    assert typed(services) == words
    set_clipboard(client, "no more", paste=False, sequence=7)
    assert client.control.take(9) == bytes([1, 0, 0, 0, 0, 0, 0, 0, 7])
    assert typed(services) == words
    assert services.clipboard == "no more"


def test_the_clipboard_is_told(services: Services, start: Start) -> None:
    asked, synced = begun(start, "3.3.4", "clipboard_autosync=false", "scid=00000001"), begun(start)
    services.clipboard = "copied 🙂"
    data = services.clipboard.encode()
    asked.control.send(bytes([8, 0]))
    for client in (asked, synced):
        assert client.control.take(5 + len(data)) == struct.pack(">BI", 0, len(data)) + data


def test_back_wakes_a_dark_phone(services: Services, start: Start) -> None:
    display(services).phone.perform(Action("open_app", app="clock"))
    client = begun(start, "3.3.4", "power_on=false")
    display(services).awake = False
    back = bytes([4, DOWN, 4, UP])
    client.control.send(back)
    wait_for(lambda: display(services).awake)
    assert front(services) == "clock"
    client.control.send(back)
    wait_for(lambda: front(services) == "launcher")


def test_the_phone_is_woken_at_the_start_and_sent_to_sleep_at_the_end(services: Services, start: Start) -> None:
    display(services).awake = False
    client = begun(start, "3.3.4", "power_off_on_close=true")
    wait_for(lambda: display(services).awake)
    client.video.end.close()
    wait_for(lambda: not display(services).awake)


def test_panels_rotation_and_the_screens_light(services: Services, start: Start) -> None:
    client = begun(start)
    for message, shade in ((5, True), (7, False), (6, True), (7, False)):
        client.control.send(bytes([message]))
        wait_for(lambda shade=shade: display(services).phone.snapshot()["shade"] is shade)
    for turned in (1, 0):
        client.control.send(bytes([11]))
        wait_for(lambda turned=turned: display(services).rotation == turned)
    client.control.send(bytes([10, 0]))
    wait_for(lambda: "Device display turned off" in client.console.text)
    assert display(services).awake, "only the panel is dark: the mirror goes on"


def test_apps_are_started(services: Services, start: Start) -> None:
    client = begun(start)

    def begin(name: str) -> None:
        client.control.send(bytes([16, len(name.encode())]) + name.encode())

    begin("com.hitlab.clock")
    wait_for(lambda: front(services) == "clock")
    begin("?sett")
    wait_for(lambda: front(services) == "settings")
    begin("+com.hitlab.notes")
    wait_for(lambda: front(services) == "notes")
    begin("?no such")
    wait_for(lambda: 'No app found for name "no such"' in client.console.text)
    begin("?ma")
    wait_for(lambda: 'No unique app found for name "ma"' in client.console.text)
    assert front(services) == "notes"


def test_a_phone_that_denies(services: Services, start: Start) -> None:
    services.faults.turn("deny", True)
    client = begun(start)
    press(client, keys.RECENTS)
    wait_for(lambda: "INJECT_EVENTS permission" in client.console.text)
    assert not display(services).phone.snapshot()["nav"]["overview"]


def test_what_is_no_message_ends_the_server(services: Services, start: Start) -> None:
    client = begun(start)
    client.control.send(bytes([99]))
    wait_for(lambda: client.code is not None)
    assert "Control protocol error\nUnknown event type: 99" in client.console.text
    assert client.video.end.gone.is_set()


def test_hardware_that_there_is_not_is_passed_over(services: Services, start: Start) -> None:
    client = begun(start, "4.0")
    create = struct.pack(">BHHHB", 12, 1, 2, 3, 4) + b"name" + struct.pack(">H", 3) + b"abc"
    client.control.send(create + struct.pack(">BHH", 13, 1, 2) + b"xy" + struct.pack(">BH", 14, 1) + bytes([15]))
    client.control.send(bytes([18, 1, 19, 20]) + struct.pack(">BHH", 21, 500, 900))
    press(client, keys.RECENTS)
    wait_for(lambda: display(services).phone.snapshot()["nav"]["overview"])


def test_the_bytes_of_the_clients_own_tests() -> None:
    """As in Genymobile/scrcpy, app/tests/test_control_msg_serialize.c."""
    finger = bytes.fromhex("02 00 1234567887654321 00000064 000000c8 0438 0780 ffff 00000001 00000001")
    event = scrcpy_messages.Touch(0, 0x1234567887654321, (100, 200), (1080, 1920), 1.0, 1, 1)
    assert read(finger, (3, 3, 3)) == event
    wheel = bytes.fromhex("03 00000104 00000402 0438 0780 0800 f800 00000001")
    assert read(wheel, (3, 3, 3)) == scrcpy_messages.ScrollMessage((260, 1026), (1080, 1920), 1.0, -1.0, 1)
    assert read(bytes.fromhex("00 01 00000042 00000005 00000041"), (3,)) == scrcpy_messages.KeyMessage(1, 66, 5, 65)
    assert read(b"\1\0\0\0\x0dhello, world!", (3,)) == scrcpy_messages.TextMessage("hello, world!")
    copied = bytes.fromhex("09 0102030405060708 01 0000000d") + b"hello, world!"
    assert read(copied, (3,)) == scrcpy_messages.SetClipboard(0x0102030405060708, True, "hello, world!")
    assert read(b"\x10\x07firefox", (3,)) == scrcpy_messages.StartApp("firefox")


@given(st.binary(max_size=200), st.sampled_from([(2, 4), (3, 3, 4), (4, 0)]))
def test_any_bytes_are_a_message_or_none(data: bytes, version: tuple[int, ...]) -> None:
    at = 0

    def take(count: int) -> bytes:
        nonlocal at
        if at + count > len(data):
            raise EOFError
        at += count
        return data[at - count : at]

    with contextlib.suppress(EOFError, scrcpy_messages.UnreadableMessage):
        while True:
            scrcpy_messages.read(take, version)


def test_a_long_clipboard_is_cut_between_characters() -> None:
    data = scrcpy_messages.clipboard("é" * scrcpy_messages.LONGEST)
    assert len(data) == scrcpy_messages.LONGEST - 1
    assert data[5:].decode() == "é" * ((scrcpy_messages.LONGEST - 5) // 2)
    assert len(scrcpy_messages.device_name("é" * 64)) == 64


def read(data: bytes, version: tuple[int, ...]) -> scrcpy_messages.Message:
    """The one message that is all of `data`."""
    held = io.BytesIO(data)
    message = scrcpy_messages.read(held.read, version)
    assert not held.read()
    return message


def browsing(services: Services) -> Callable[[], int]:
    """A long list is in front; gives what tells how far it was scrolled."""
    phone = display(services).phone
    phone.perform(Action("open_app", app="food"))
    return lambda: phone.snapshot()["scroll"].get(FEED, 0)
