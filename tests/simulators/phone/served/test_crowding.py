"""Clients that say little, or nothing, or are too many keep nobody else from the served phone."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from lab.devices.harness import Harness
from simulators.phone.phone import Phone
from simulators.phone.served import harness, packets
from simulators.phone.served.served import PhoneServer
from tests.simulators.phone.served.host import Host, packet
from tests.simulators.phone.served.rig import until

TOKEN = "a-token-for-tests"
CROWD = 48
"""Three times the clients that are served at once."""
BEGUN = [
    b"",
    b"G",
    b"POST /restore HTTP/1.1\r\nContent-Length: 100\r\n",
    b"GET /snapshot HTTP/1.1\r\nX: " + b"y" * 1000,
]


@pytest.fixture
def served() -> Iterator[PhoneServer]:
    with PhoneServer(Phone(), token=TOKEN) as made:
        yield made


def port(served: PhoneServer) -> int:
    return int(served.harness_url.rpartition(":")[2])


def left(sock: socket.socket) -> bool:
    """Whether the phone has hung up."""
    sock.settimeout(0)
    try:
        return sock.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize("begun", BEGUN, ids=["silent", "letter", "body", "header"])
def test_the_harness_answers_whoever_shows_the_token_beside_a_crowd_that_drips(
    served: PhoneServer, begun: bytes
) -> None:
    crowd = [socket.create_connection(("127.0.0.1", port(served)), 5) for _ in range(CROWD)]
    try:
        for one in crowd:
            one.sendall(begun) if begun and not left(one) else None
        for _ in range(3):
            assert Harness(served.harness_url, TOKEN).health()
        assert until(lambda: sum(left(one) for one in crowd) >= CROWD - 16)
    finally:
        for one in crowd:
            one.close()


def test_a_request_that_does_not_come_whole_in_time_is_dropped_however_it_drips(
    served: PhoneServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "_PATIENCE", 0.3)
    with socket.create_connection(("127.0.0.1", port(served)), 5) as dripping:
        dripping.sendall(b"GET /health HTTP/1.1\r\nX: ")

        def drips() -> bool:
            try:
                dripping.sendall(b"y")
            except OSError:
                return True
            return left(dripping)

        assert until(drips)


def test_the_phone_meets_a_host_beside_a_crowd_that_says_nothing(served: PhoneServer) -> None:
    crowd = [Host(served.serial) for _ in range(CROWD)]
    try:
        for _ in range(3):
            with Host(served.serial) as host:
                host.meet()
                assert host.rest(1, host.open(1, "exec:echo hi")) == b"hi\n"
        assert until(lambda: sum(left(one.sock) for one in crowd) >= CROWD - 16)
    finally:
        for one in crowd:
            one.sock.close()


def test_of_hosts_that_said_who_they_are_the_excess_is_refused_at_once_and_the_others_go_on(
    served: PhoneServer,
) -> None:
    hosts = [Host(served.serial) for _ in range(16)]
    try:
        for one in hosts:
            one.meet()
        with Host(served.serial) as more:
            assert more.hear() is None
        for one in hosts:
            assert one.rest(1, one.open(1, "exec:echo hi")) == b"hi\n"
    finally:
        for one in hosts:
            one.sock.close()


@pytest.mark.parametrize("begun", [b"", packet("CNXN")[:5]], ids=["nothing", "half a header"])
def test_a_host_that_does_not_say_who_it_is_in_time_is_let_go(
    served: PhoneServer, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    monkeypatch.setattr(packets, "WHOLE", 0.3)
    with Host(served.serial) as host:
        host.sock.sendall(begun)
        assert until(lambda: left(host.sock))


def test_half_a_packet_of_a_host_that_is_known_is_let_go_and_silence_between_packets_is_not(
    served: PhoneServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packets, "WHOLE", 0.3)
    with Host(served.serial) as quiet, Host(served.serial) as half:
        quiet.meet()
        half.meet()
        half.sock.sendall(packet("OPEN", 1, 0, b"exec:echo hi\0")[:30])
        assert until(lambda: left(half.sock))
        quiet.sock.settimeout(5)
        assert quiet.rest(1, quiet.open(1, "exec:echo hi")) == b"hi\n"
