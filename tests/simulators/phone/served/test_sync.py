"""Files to and from the served phone: by the real adb, and by requests that no adb would send."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulators.phone.phone import Phone
from simulators.phone.served import folders
from simulators.phone.served.served import PhoneServer
from tests.fuzzing_examples import examples
from tests.simulators.phone.served.host import Host
from tests.simulators.phone.served.rig import Rig, until


def request(name: str, words: bytes = b"", length: int | None = None) -> bytes:
    return struct.pack("<4sI", name.encode(), len(words) if length is None else length) + words


@pytest.fixture(scope="module")
def served() -> Iterator[PhoneServer]:
    with PhoneServer(Phone(), harness_port=None) as made:
        yield made


def said(served: PhoneServer, *requests: bytes) -> bytes:
    """All that is answered to these requests, and to being told that there are no more."""
    with Host(served.serial) as host:
        host.meet()
        theirs = host.open(1, "sync:")
        host.send("WRTE", 1, theirs, b"".join(requests) + request("QUIT"))
        return host.rest(1, theirs)


def test_a_file_there_and_back(rig: Rig, tmp_path: Path) -> None:
    data = bytes(range(256)) * 9000
    (tmp_path / "имя 1").write_bytes(data)
    pushed = rig.adb("push", str(tmp_path / "имя 1"), "/sdcard/Download/")
    assert pushed.returncode == 0, pushed.stderr
    assert rig.served.services.files == {"/sdcard/Download/имя 1": data}
    pulled = rig.adb("pull", "/storage/emulated/0/Download/имя 1", str(tmp_path / "back"))
    assert pulled.returncode == 0, pulled.stderr
    assert (tmp_path / "back").read_bytes() == data
    assert rig.shell("cat '/sdcard/Download/имя 1' | wc -c").strip() == str(len(data))


def test_a_folder_there_and_back(rig: Rig, tmp_path: Path) -> None:
    there = tmp_path / "there"
    for name, data in (("a", b""), ("b/c", b"c"), ("b/d/e", b"e" * 70_000)):
        (there / name).parent.mkdir(parents=True, exist_ok=True)
        (there / name).write_bytes(data)
    assert rig.adb("push", str(there), "/data/local/tmp").returncode == 0
    assert rig.adb("pull", "/data/local/tmp/there", str(tmp_path / "back")).returncode == 0
    for path in there.rglob("*"):
        back = tmp_path / "back" / path.relative_to(there)
        assert back.is_dir() if path.is_dir() else back.read_bytes() == path.read_bytes()
    assert sorted(line.split()[-1] for line in rig.adb("ls", "/data/local/tmp/there").stdout.decode().splitlines()) == [
        "a", "b"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["push", __file__, "/system/bin/sh"], b"Permission denied"),
        (["push", __file__, "/data/local/tmp/../../../etc/x"], b"Permission denied"),
        (["pull", "/sdcard/nothing", "/dev/null"], b"No such file"),
    ],
)
def test_what_the_phone_does_not_give_or_take(rig: Rig, words: list[str], why: bytes) -> None:
    done = rig.adb(*words)
    assert done.returncode
    assert why.lower() in (done.stderr + done.stdout).lower() or b"does not exist" in done.stderr
    assert not rig.served.services.files


def test_both_ages_of_a_look(served: PhoneServer) -> None:
    served.services.files["/sdcard/x"] = b"12345"
    old = said(served, request("STAT", b"/sdcard/x"), request("STAT", b"/nothing"), request("STAT", b"/sdcard"))
    assert [struct.unpack_from("<4s3I", old, at)[:3] for at in (0, 16, 32)] == [
        (b"STAT", 0o100644, 5), (b"STAT", 0, 0), (b"STAT", 0o40771, 0)
    ]  # fmt: skip
    new = said(served, request("STA2", b"/sdcard/x"), request("LST2", b"/nothing"))
    assert struct.unpack_from("<4sI2Q4IQ3q", new)[5] == 1
    assert struct.unpack_from("<4sI", new, 72) == (b"LST2", 2)


def test_both_ages_of_a_list(served: PhoneServer) -> None:
    served.services.files["/sdcard/x/y"] = b"123"
    old = said(served, request("LIST", b"/sdcard/x"))
    assert old == struct.pack("<4s4I", b"DENT", 0o100644, 3, struct.unpack_from("<I", old, 12)[0], 1) + b"y" + (
        b"DONE" + bytes(16)
    )
    new = said(served, request("LIS2", b"/sdcard/x"))
    assert (new[:4], new[72:77], new[77:81], len(new)) == (b"DNT2", b"\1\0\0\0y", b"DONE", 72 + 5 + 76)


def test_what_is_no_request_ends_it(served: PhoneServer) -> None:
    assert said(served, request("NOPE", b"/x")).startswith(b"FAIL")
    assert said(served, request("STAT", b"", 0xFFFFFFFF)).startswith(b"FAIL")
    assert said(served, request("SEND", b"/sdcard/z,33188"), request("DATA", b"", 0x7FFFFFFF)).startswith(b"FAIL")
    assert said(served, request("SEND", b"/sdcard/z,33188"), request("STAT", b"/x")).startswith(b"FAIL")
    assert said(served, request("SEND", b"/sdcard/z,41471"), request("DATA", b"/x"), request("DONE")).startswith(
        b"FAIL"
    )
    assert "/sdcard/z" not in served.services.files


def test_a_phone_that_is_full(served: PhoneServer) -> None:
    served.services.files.clear()
    served.services.files["/sdcard/much"] = bytes(folders._MOST_ALL - 10)
    fits, not_any_more = request("DATA", bytes(10)), request("DATA", bytes(11))
    assert said(served, request("SEND", b"/sdcard/z"), not_any_more, request("DONE")).endswith(
        b"No space left on device"
    )
    assert said(served, request("SEND", b"/sdcard/z"), fits, request("DONE")) == request("OKAY")
    assert len(served.services.files.pop("/sdcard/z")) == 10
    del served.services.files["/sdcard/much"]


REQUESTS = st.builds(
    request,
    st.sampled_from(["STAT", "STA2", "LST2", "LIST", "LIS2", "RECV", "SEND", "DATA", "DONE", "QUIT", "\0\0\0\0"]),
    st.one_of(st.binary(max_size=20), st.sampled_from([b"/sdcard/f,33188", b"/sdcard/f", b"/sdcard", b"/", b""])),
    st.one_of(st.none(), st.none(), st.none(), st.integers(0, 0xFFFFFFFF)),
)


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(st.one_of(REQUESTS, REQUESTS, st.binary(max_size=12)), max_size=12))
def test_any_requests_break_nothing(served: PhoneServer, requests: list[bytes]) -> None:
    with Host(served.serial) as host:
        host.meet()
        theirs = host.open(1, "sync:")
        host.send("WRTE", 1, theirs, b"".join(requests))
        host.send("CLSE", 1, theirs)
        host.rest(1, theirs)
    assert until(lambda: not any("serves" in thread.name for thread in threading.enumerate()))
    assert all(name.startswith("/sdcard/") for name in served.services.files)


@given(st.text(max_size=30), st.text(max_size=10))
def test_a_path_has_one_name(path: str, within: str) -> None:
    name = folders.normal(path, "/" + within)
    assert name.startswith("/")
    assert ".." not in name.split("/")
    assert folders.normal(name) == name
