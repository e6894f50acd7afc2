"""The adb server: named as adb names it, read as it speaks, and never trusted further than that."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.devices.adb.adb_server import Server, listed
from lab.devices.adb.adb_states import refusal, state_trouble
from lab.devices.adb.socket_io import hang_up


@pytest.mark.parametrize(
    ("env", "where"),
    [
        ({}, ("127.0.0.1", 5037)),
        ({"ANDROID_ADB_SERVER_PORT": "6000"}, ("127.0.0.1", 6000)),
        ({"ANDROID_ADB_SERVER_ADDRESS": "lab", "ANDROID_ADB_SERVER_PORT": "6000"}, ("lab", 6000)),
        ({"ADB_SERVER_SOCKET": "tcp:lab:7000", "ANDROID_ADB_SERVER_PORT": "6000"}, ("lab", 7000)),
        ({"ADB_SERVER_SOCKET": "tcp:7000"}, ("127.0.0.1", 7000)),
        ({"ADB_SERVER_SOCKET": "tcp:[::1]:7000"}, ("::1", 7000)),
    ],
)
def test_a_server_is_where_adbs_own_variables_say(env: dict[str, str], where: tuple[str, int]) -> None:
    assert Server.from_environment(env) == where


def test_a_port_that_is_none_is_refused() -> None:
    with pytest.raises(LabError, match="is no port"):
        Server.from_environment({"ANDROID_ADB_SERVER_PORT": "adb"})


def test_a_list_of_phones_is_read() -> None:
    text = (
        "emulator-5554          device product:sdk_gphone64 model:Pixel_7 device:emu64x transport_id:1\n"
        "R5CT no permissions (missing udev rules? user is in the plugdev group); see [http://x] usb:1-1\n"
        "192.168.0.7:5555       offline transport_id:4\n"
        "0a388e93\tunauthorized\n"
        "\n"
    )
    phones = listed(text)
    assert [(phone.serial, phone.state) for phone in phones] == [
        ("emulator-5554", "device"),
        ("R5CT", "no permissions"),
        ("192.168.0.7:5555", "offline"),
        ("0a388e93", "unauthorized"),
    ]
    assert phones[0].facts["model"] == "Pixel_7"


@pytest.mark.parametrize(
    ("line", "serial", "state"),
    [
        ("adb-R5 (2)._adb-tls-connect._tcp device product:x", "adb-R5 (2)._adb-tls-connect._tcp", "device"),
        ("adb-R5XX (2)._adb-tls-connect._tcp\toffline", "adb-R5XX (2)._adb-tls-connect._tcp", "offline"),
        ("(no serial number)     unauthorized usb:1-4 transport_id:3", "(no serial number)", "unauthorized"),
        ("(no serial number) no permissions (udev; see [http://x y]); usb:1-1", "(no serial number)", "no permissions"),
        ("my device (2) device product:p model:m", "my device (2)", "device"),
        ("offline device", "offline", "device"),
        ("adb-X (3) thawing product:p", "adb-X (3)", "thawing"),
        ("R5CT thawing", "R5CT", "thawing"),
    ],
)  # fmt: skip
def test_a_serial_with_blanks_is_read_whole(line: str, serial: str, state: str) -> None:
    assert [(phone.serial, phone.state) for phone in listed(line)] == [(serial, state)]


@pytest.mark.parametrize(
    ("serial", "features", "transport"),
    [
        ("(no serial number)", "host-transport-id:7:features", "host:transport-id:7"),
        ("adb-R5 (2)._adb._tcp", "host-serial:adb-R5 (2)._adb._tcp:features", "host:transport:adb-R5 (2)._adb._tcp"),
    ],
)
def test_a_phone_is_opened_by_its_serial_or_without_one_by_its_number(
    serial: str, features: str, transport: str
) -> None:
    requests: list[str] = []
    with listing(f"{serial} device product:p transport_id:7\n", requests) as server:
        assert [phone.serial for phone in server.phones()] == [serial]
        assert server.features(serial) == {"shell_v2", "cmd"}
        hang_up(server.open(serial, "shell:id", 30.0))
    assert [request for request in requests if request != "host:devices-l"] == [features, transport, "shell:id"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("device 'X' not found", "not there any more"),
        ("device offline", "is offline"),
        ("device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set", "does not allow this computer"),
        ("device still authorizing", "still deciding"),
        ("insufficient permissions for device", "may not use it"),
        ("closed", "adb says: closed"),
        ("\x1b[31mred", r"adb says: \\x1b"),
    ],
)
def test_what_adb_refuses_with_is_said_to_a_person(words: str, said: str) -> None:
    trouble = refusal("phone X", words)
    assert trouble.title == "phone X"
    assert not trouble.sent
    with pytest.raises(Trouble, match=said):
        raise trouble


def test_every_state_has_its_sentence() -> None:
    for state in ("offline", "unauthorized", "no permissions", "recovery", "bootloader", "gone", "odd"):
        trouble = state_trouble("X", state)
        assert "phone X" in trouble.sentence
        assert trouble.message.endswith(".")


def test_nobody_is_told_to_plug_in_what_has_no_cable() -> None:
    for state in ("offline", "gone"):
        assert "lug it in" in state_trouble("R58M", state).hint
        for serial in ("192.168.1.7:5555", "adb-R5 (2)._adb-tls-connect._tcp"):
            assert "network" in state_trouble(serial, state).hint
    for serial in ("R58M", "192.168.1.7:5555"):
        assert "`adb connect`" in state_trouble(serial, "gone").hint


@contextmanager
def listing(devices: str, requests: list[str]) -> Iterator[Server]:
    """Serve a list of phones over the real protocol; OKAY to every transport and service. Requests go to `requests`."""
    listening = socket.create_server(("127.0.0.1", 0))
    answers = {"host:devices-l": devices, "features": "shell_v2,cmd"}

    def serve() -> None:
        while True:
            try:
                line, _ = listening.accept()
            except OSError:
                return
            with line, line.makefile("rb") as reader:
                while size := reader.read(4):
                    request = reader.read(int(size, 16)).decode()
                    requests.append(request)
                    text = answers.get("features" if request.endswith(":features") else request)
                    line.sendall(b"OKAY" + (f"{len(text):04x}{text}".encode() if text is not None else b""))
                    if text is not None:
                        break

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield Server("127.0.0.1", listening.getsockname()[1])
    finally:
        hang_up(listening)
        thread.join(180)


@contextmanager
def speaking(answer: bytes, *, hold: bool = False) -> Iterator[Server]:
    """A server that gives this answer to whatever is asked; it hangs up after, or holds the line."""
    listening = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                line, _ = listening.accept()
            except OSError:
                return
            held.append(line)
            line.recv(4096)
            line.sendall(answer)
            if not hold:
                hang_up(line)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield Server("127.0.0.1", listening.getsockname()[1])
    finally:
        hang_up(listening)
        thread.join(180)
        for line in held:
            line.close()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "broke off"),
        (b"HTTP/1.1 400", "nonsense"),
        (b"OKAYzzzz", "nonsense"),
        (b"OKAY00ff", "broke off"),
        (b"FAIL0006closed", "adb says: closed"),
    ],
)
def test_a_server_that_is_none_is_trouble(answer: bytes, said: str) -> None:
    with speaking(answer) as server:
        with pytest.raises(Trouble, match=said):
            server.phones()
        with pytest.raises(Trouble):
            server.next_list(server.track(), 1.0)


def test_a_server_that_says_nothing_is_waited_for_no_longer_than_told() -> None:
    with speaking(b"", hold=True) as server, pytest.raises(Trouble, match=r"within 0\.2 s"):
        server.ask("host:version", 0.2)


def test_a_service_that_does_not_open_in_time_may_have_begun() -> None:
    with speaking(b"OKAY", hold=True) as server, pytest.raises(Trouble, match="within") as trouble:
        server.open("X", "shell:reboot", 0.2)
    assert trouble.value.sent


def test_no_server_on_another_machine_is_started() -> None:
    with pytest.raises(Trouble, match="does not answer"):
        Server("localhost.invalid", 5037).ready()
