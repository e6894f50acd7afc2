"""The phone's end of the adb transport: streams, their flow, and hosts that keep to no rule."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulators.phone.phone import Phone
from simulators.phone.served.served import PhoneServer
from tests.fuzzing_examples import examples
from tests.simulators.phone.served.host import MOST, VERSION, Host, packet
from tests.simulators.phone.served.rig import Rig, until

LINES = "exec:"
"""A shell that reads lines."""


@pytest.fixture(scope="module")
def served() -> Iterator[PhoneServer]:
    with PhoneServer(Phone(), harness_port=None) as made:
        yield made


@pytest.fixture
def host(served: PhoneServer) -> Iterator[Host]:
    with Host(served.serial) as made:
        made.meet()
        yield made


def echoes(served: PhoneServer) -> bool:
    """Whether the phone still serves a host that keeps to the rules."""
    with Host(served.serial) as host:
        host.meet()
        return host.rest(1, host.open(1, "exec:echo hi")) == b"hi\n"


def test_it_says_who_it_is_and_what_it_can(served: PhoneServer) -> None:
    with Host(served.serial) as host:
        met = host.meet()
    banner = met.data.decode()
    assert banner.startswith("device::ro.product.name=lantern;ro.product.model=Lantern One;")
    assert "features=shell_v2,cmd," in banner
    assert met.arg1 == MOST


def test_nothing_is_served_before_both_have_met(served: PhoneServer) -> None:
    with Host(served.serial) as host:
        host.send("OPEN", 1, 0, b"exec:echo hi\0")
        host.meet()
        assert host.rest(2, host.open(2, "exec:echo two")) == b"two\n"


@pytest.mark.parametrize("destination", ["jdwp:1", "nonsense", "tcp:80", "localabstract:nobody", "exec,x:ls", ""])
def test_a_service_that_is_not_there_is_refused(host: Host, destination: str) -> None:
    host.send("OPEN", 7, 0, destination.encode() + b"\0")
    refused = host.expect("CLSE")
    assert (refused.arg0, refused.arg1) == (0, 7)


def test_reverse_is_refused_in_words(host: Host) -> None:
    said = host.rest(1, host.open(1, "reverse:forward:tcp:1;tcp:2"))
    assert said.startswith(b"FAIL")
    assert len(said) == 8 + int(said[4:8], 16)


def test_streams_do_not_mix(host: Host) -> None:
    """Two at once under one number of ours each, and two that reuse the same number."""
    first, second = host.open(1, LINES), host.open(2, LINES)
    reused = host.open(1, LINES)
    assert len({first, second, reused}) == 3
    for ours, theirs, said in ((1, first, b"a"), (2, second, b"b"), (1, reused, b"c")):
        host.send("WRTE", ours, theirs, b"echo " + said + b"\n")
    heard = [host.hear() for _ in range(6)]
    written = {packet.arg0: packet.data for packet in heard if packet and packet.command == "WRTE"}
    assert written == {first: b"a\n", second: b"b\n", reused: b"c\n"}


def test_the_phone_waits_for_the_host(host: Host) -> None:
    theirs = host.open(1, "exec:cat /data/local/tmp/nothing; screencap")
    said = host.expect("WRTE").data
    host.sock.settimeout(0.2)
    with pytest.raises(TimeoutError):
        host.hear()
    host.sock.settimeout(5.0)
    host.send("OKAY", 1, theirs)
    assert len(host.rest(1, theirs)) > 10_000_000 - len(said)


def test_the_host_waits_for_the_phone(host: Host) -> None:
    """A command that reads nothing takes a socket's worth of input, and no more."""
    theirs = host.open(1, "exec:sleep 60")
    for _ in range(3):
        host.send("WRTE", 1, theirs, bytes(100_000))
    assert [host.expect("OKAY").arg1 for _ in range(2)] == [1, 1]
    host.sock.settimeout(0.2)
    with pytest.raises(TimeoutError):
        host.hear()
    host.sock.settimeout(5.0)
    host.send("WRTE", 1, theirs, b"more, though nobody said go on")
    assert host.expect("CLSE").arg1 == 1


def test_a_closed_stream_ends_its_command(served: PhoneServer, host: Host) -> None:
    before = set(threading.enumerate())
    theirs = host.open(1, "exec:sleep 60")
    begun = set(threading.enumerate()) - before
    assert begun
    host.send("CLSE", 1, theirs)
    assert host.expect("CLSE").arg0 == theirs
    assert until(lambda: not begun & set(threading.enumerate()))


def test_a_number_that_is_nobodys_is_answered_with_an_end(host: Host) -> None:
    host.send("OKAY", 5, 999)
    assert host.expect("CLSE").arg1 == 5
    host.send("WRTE", 5, 999, b"lost")
    host.send("CLSE", 5, 999)
    assert host.rest(1, host.open(1, "exec:echo hi")) == b"hi\n"


def test_meeting_again_ends_what_was_open(host: Host) -> None:
    host.open(1, "exec:cat")
    host.meet()
    assert host.rest(2, host.open(2, "exec:echo hi")) == b"hi\n"


def test_too_many_streams_are_refused(host: Host) -> None:
    opened = [host.open(ours, "exec:cat") for ours in range(1, 129)]
    host.send("OPEN", 200, 0, b"exec:cat\0")
    assert host.expect("CLSE").arg1 == 200
    host.send("CLSE", 1, opened[0])
    assert host.expect("CLSE").arg0 == opened[0]
    assert until(lambda: _opens(host, 201))


def _opens(host: Host, ours: int) -> bool:
    host.send("OPEN", ours, 0, b"exec:cat\0")
    heard = host.hear()
    return heard is not None and heard.command == "OKAY"


def test_an_old_host_gets_sums_and_must_send_them(served: PhoneServer) -> None:
    with Host(served.serial) as host:
        host.meet(version=0x01000000, most=4096)
        theirs = host.open(1, LINES)
        host.send("WRTE", 1, theirs, b"echo sum\n")
        heard = {packet.command: packet for packet in (host.hear(), host.hear()) if packet}
        assert heard["WRTE"].total == sum(b"sum\n")
        host.send("WRTE", 1, theirs, b"echo sum\n", total=1)
        assert host.hear() is None


def test_a_small_payload_is_kept_to(served: PhoneServer) -> None:
    with Host(served.serial) as host:
        assert host.meet(most=4096).arg1 == 4096
        theirs = host.open(1, "exec:screencap -p")
        png = host.expect("WRTE").data
        assert len(png) == 4096
        host.send("OKAY", 1, theirs)
        assert png + host.rest(1, theirs) == served.display.png()


@pytest.mark.parametrize(
    "bad",
    [
        b"GET / HTTP/1.1\r\nHost: phone\r\n\r\n",
        bytes(24),
        b"\xff" * 4096,
        packet("OPEN", 1, 0, b"exec:ls\0")[:-1] + b"\0" * 30,
        packet("WRTE", 1, 1, b"x")[:12] + (0xFFFFFFFF).to_bytes(4, "little") + packet("WRTE", 1, 1, b"x")[16:],
        packet("CNXN", 0x01000001, 16, b"host::"),
        packet("CNXN", 0x01000001, MOST, b"host::" + bytes(5000)),
    ],
    ids=["http", "zeros", "ones", "trailing", "huge", "little payload", "long banner"],
)
def test_what_is_no_packet_ends_the_connection(served: PhoneServer, bad: bytes) -> None:
    with Host(served.serial) as host:
        host.sock.sendall(bad)
        heard = host.hear()
        while heard is not None:
            heard = host.hear()
    assert echoes(served)


COMMANDS = st.one_of(
    st.sampled_from(["CNXN", "OPEN", "OKAY", "WRTE", "CLSE", "AUTH", "SYNC", "STLS"]), st.integers(0, 0xFFFFFFFF)
)
NUMBERS = st.one_of(st.integers(0, 5), st.integers(0, 0xFFFFFFFF))
PAYLOADS = st.one_of(
    st.binary(max_size=64),
    st.sampled_from([b"exec:cat\0", b"shell,v2,raw:cat\0", b"sync:\0", b"exec:echo hi\0", b"shell:\0"]),
    st.sampled_from([b"SEND\xff\xff\xff\xff", b"STAT\4\0\0\0/sys", b"LIST\1\0\0\0/QUIT\0\0\0\0", b"\0\3\0\0\0abc"]),
)
PACKETS = st.builds(packet, COMMANDS, NUMBERS, NUMBERS, PAYLOADS)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(PACKETS, PACKETS, PACKETS, st.binary(max_size=40)), max_size=30), st.booleans())
def test_a_host_that_keeps_to_no_rule_breaks_nothing(served: PhoneServer, sent: list[bytes], met: bool) -> None:
    with Host(served.serial) as host:
        if met:
            host.meet()
        with suppress(ConnectionError):
            host.sock.sendall(b"".join(sent))
    assert echoes(served)


def test_hosts_that_say_nothing_do_not_keep_others_out(served: PhoneServer) -> None:
    silent = [Host(served.serial) for _ in range(40)]
    try:
        assert echoes(served)
    finally:
        for host in silent:
            host.sock.close()
    assert until(lambda: not any("reads" in thread.name for thread in threading.enumerate()))


def test_a_host_that_never_reads_holds_nothing_up() -> None:
    before = set(threading.enumerate())
    with PhoneServer(Phone(), harness_port=None) as served, Host(served.serial) as deaf:
        deaf.send("CNXN", VERSION, MOST, b"host::\0")
        for ours in range(1, 21):
            deaf.send("OPEN", ours, 0, b"exec:screencap\0")
        assert echoes(served)
    assert set(threading.enumerate()) <= before


def test_the_real_adb_moves_much_both_ways(rig: Rig) -> None:
    data = bytes(range(256)) * 20_000
    assert rig.adb("shell", "-T", "cat", stdin=data).stdout == data
    assert rig.adb("exec-in", "cat > /data/local/tmp/in", stdin=data[:1000]).returncode == 0


def test_the_real_adb_tells_output_error_and_code_apart(rig: Rig) -> None:
    done = rig.adb("shell", "echo out; echo err >&2; exit 3")
    assert (done.stdout, done.stderr, done.returncode) == (b"out\n", b"err\n", 3)
