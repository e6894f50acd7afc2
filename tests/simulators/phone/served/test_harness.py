"""The harness: what adb cannot see, for those who know the token, and for nobody else."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.devices.harness import Harness
from simulators.phone.phone import Phone
from simulators.phone.served.display import LOCKS
from simulators.phone.served.served import PhoneServer
from tests.simulators.phone.served.rig import free_port, until

TOKEN = "a-token-for-tests"


@pytest.fixture(scope="module")
def served() -> Iterator[PhoneServer]:
    with PhoneServer(Phone(), token=TOKEN) as made:
        yield made


@pytest.fixture
def harness(served: PhoneServer) -> Iterator[Harness]:
    made = Harness(served.harness_url, TOKEN)
    yield made
    made.reset()


def ask(
    served: PhoneServer, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    """One request as it is given here; `token` and `host` stand for their headers."""
    line = http.client.HTTPConnection("127.0.0.1", int(served.harness_url.rpartition(":")[2]), timeout=300)
    try:
        line.putrequest(method, path, skip_host=True)
        line.putheader("Host", headers.get("host", served.harness_url.removeprefix("http://")))
        if "token" in headers:
            line.putheader("Authorization", headers["token"])
        if body is not None:
            line.putheader("Content-Length", headers.get("length", str(len(body))))
        line.endheaders(body)
        answer = line.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        line.close()


def test_a_state_taken_is_the_state_put_back(served: PhoneServer, harness: Harness) -> None:
    before = harness.snapshot()
    assert before == served.phone.snapshot()
    harness.lay({"battery": 12})
    assert served.phone.snapshot()["battery"] == 12
    harness.restore(before)
    assert served.phone.snapshot() == before


def test_reset_forgets_all(served: PhoneServer, harness: Harness) -> None:
    first = harness.snapshot()
    harness.lay({"battery": 12})
    harness.fault("slow", 3)
    harness.fault("rotate", 3)
    served.services.files["/sdcard/x"] = b"x"
    served.services.clipboard = "secret"
    harness.reset()
    health = harness.health()
    assert (health["rotation"], health["faults"]["slow"]) == (0, 0)
    assert harness.snapshot() == first
    assert not served.services.files
    assert not served.services.clipboard


def test_faults_are_turned(served: PhoneServer, harness: Harness) -> None:
    harness.fault("deny", True)
    assert served.faults.deny
    harness.fault("clear")
    assert not served.faults.deny
    for name, value in (("nonsense", 1), ("rotate", 7), ("rotate", True), ("slow", "much")):
        with pytest.raises(LabError) as refused:
            harness.fault(name, value)
        assert not isinstance(refused.value, Trouble)
        assert refused.value.title == "fault"
    with pytest.raises(LabError, match="'nonsense' is none") as refused:
        harness.fault("nonsense", 1)
    names = refused.value.hint.removeprefix("There are ").removesuffix(".").replace(" and ", ", ").split(", ")
    guide = (Path(__file__).parents[4] / "docs" / "guides" / "phones.md").read_text()
    listed = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| the (?:line|screen) \|.*$|^`clear`", guide, re.MULTILINE)))
    assert set(names) == set(listed) - set(LOCKS)


@pytest.mark.parametrize(
    "state",
    [{}, {"clock": 5}, {"apps": []}, {"clock": "yesterday", "nav": None}],
    ids=["empty", "clock", "apps", "nav"],
)
def test_what_is_no_state_is_refused_and_changes_nothing(harness: Harness, state: dict[str, Any]) -> None:
    before = harness.snapshot()
    with pytest.raises(LabError):
        harness.restore(state)
    with pytest.raises(LabError):
        harness.lay({"no such key": 1})
    assert harness.snapshot() == before


def test_a_wrong_token_gets_nothing(served: PhoneServer) -> None:
    with pytest.raises(LabError, match="token") as refused:
        Harness(served.harness_url, "another-token").snapshot()
    assert not isinstance(refused.value, Trouble)
    for token in ("", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ", f"Bearer {TOKEN[:-1]}", "Bearer \xff"):
        status, said = ask(served, "GET", "/snapshot", token=token)
        assert status == 401
        assert "apps" not in said
    assert ask(served, "GET", "/snapshot")[0] == 401
    assert ask(served, "GET", "/snapshot", token=f"bearer {TOKEN}")[0] == 200


@pytest.mark.parametrize("host", ["", "evil.example", "evil.example:80", "127.0.0.1", "[::1]:80"])
def test_another_name_gets_nothing(served: PhoneServer, host: str) -> None:
    """A page in a browser that resolves its own name to this machine is turned away."""
    assert ask(served, "GET", "/snapshot", token=f"Bearer {TOKEN}", host=host)[0] == 403


def test_requests_that_are_none(served: PhoneServer) -> None:
    token = f"Bearer {TOKEN}"
    assert ask(served, "GET", "/nothing", token=token)[0] == 404
    assert ask(served, "GET", "/../snapshot", token=token)[0] == 404
    assert ask(served, "POST", "/snapshot", b"", token=token)[0] == 404
    assert ask(served, "POST", "/restore", None, token=token)[0] == 411
    assert ask(served, "POST", "/restore", b"", token=token, length="999999999999")[0] == 413
    assert ask(served, "POST", "/restore", b"", token=token, length="-1")[0] == 411
    for body in (b"", b"null", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"name": "slow"}', b'{"a": NaN}'):
        for path in ("/restore", "/lay", "/fault"):
            status, said = ask(served, "POST", path, body, token=token)
            assert status == 400, (path, body[:20])
            assert said["title"]
    assert ask(served, "GET", "/health", token=token)[0] == 200


def test_garbage_and_silence_do_not_hold_it_up(served: PhoneServer) -> None:
    port = int(served.harness_url.rpartition(":")[2])
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(5)]
    silent[0].sendall(b"\0" * 1000 + b"\r\n\r\n")
    silent[1].sendall(b"GET /health HTTP/1.1\r\nX: " + b"x" * 70_000 + b"\r\n\r\n")
    silent[2].sendall(b"POST /restore HTTP/1.1\r\nContent-Le")
    assert Harness(served.harness_url, TOKEN).health()["serial"] == served.serial
    for sock in silent:
        sock.close()


def test_closing_hangs_up_on_who_is_silent() -> None:
    before = set(threading.enumerate())
    served = PhoneServer(Phone(), token=TOKEN).start()
    own = set(threading.enumerate())
    with socket.create_connection(("127.0.0.1", int(served.harness_url.rpartition(":")[2]))) as silent:
        assert until(lambda: set(threading.enumerate()) - own), "nobody takes the request"
        served.close()
        silent.settimeout(5.0)
        assert silent.recv(1) == b""
    assert not set(threading.enumerate()) - before


def test_nobody_there_is_trouble() -> None:
    with pytest.raises(Trouble, match="does not answer") as away:
        Harness(f"http://127.0.0.1:{free_port()}", TOKEN).restore({})
    assert not away.value.sent


def test_one_who_never_answers_is_trouble() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        harness = Harness(f"http://127.0.0.1:{deaf.getsockname()[1]}", TOKEN, patience=0.1)
        for asks, sent in ((harness.snapshot, False), (harness.reset, True)):
            with pytest.raises(Trouble) as late:
                asks()
            assert late.value.sent is sent


def test_one_who_talks_otherwise_is_no_harness() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        harness = Harness(f"127.0.0.1:{other.getsockname()[1]}", TOKEN, patience=5.0)

        def answer() -> None:
            for said in (b"SSH-2.0\r\n", b"HTTP/1.0 404 No\r\n\r\nhi", b"HTTP/1.0 200 OK\r\n\r\n[1]"):
                line, _ = other.accept()
                with line:
                    line.recv(4096)
                    line.sendall(said)

        thread = threading.Thread(target=answer)
        thread.start()
        for _ in range(3):
            with pytest.raises(LabError):
                harness.snapshot()
        thread.join()


@pytest.mark.parametrize("url", ["", "http://example.org:80", "http://127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999"])
def test_an_address_that_is_none_of_this_machine(url: str) -> None:
    with pytest.raises(LabError, match="address"):
        Harness(url, TOKEN)


@pytest.mark.parametrize("token", ["", "a\r\nHost: x", "ключ"])
def test_a_token_that_is_none(token: str) -> None:
    with pytest.raises(LabError, match="token"):
        Harness("http://127.0.0.1:80", token)


@pytest.mark.parametrize("token", ["short", "with a space in it", "with\nline", "ключ-ключ"])
def test_a_token_that_is_not_taken(token: str) -> None:
    with pytest.raises(LabError, match="token"):
        PhoneServer(Phone(), token=token)
