"""Fetching scrcpy's server: from a loopback mirror, with a wrong hash, a cut transfer, redirects and silence."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from lab.cli.main import main
from lab.core.errors import LabError
from lab.devices.scrcpy import scrcpy_release
from lab.devices.scrcpy.scrcpy_server import PINNED, cache, find
from tests.scrcpy_jar import stand_in

JAR = stand_in("3.3.4")
NAME = "/v3.3.4/scrcpy-server-v3.3.4"
Answer = Callable[[BaseHTTPRequestHandler], None]


class Mirror:
    """A release page on loopback; `answers` are by path, `asked` is what came."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {NAME: whole(JAR)}
        self.asked: list[str] = []
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                mirror.asked.append(self.path)
                mirror.answers.get(self.path, refused)(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"


def whole(data: bytes, said: int | None = None) -> Answer:
    """`data`, said to be as long as it is or as `said`."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data) if said is None else said))
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def unsized(data: bytes) -> Answer:
    """`data` until the line is closed."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def led(to: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", to)
        handler.end_headers()

    return answer


def refused(handler: BaseHTTPRequestHandler) -> None:
    handler.send_error(404)


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for version in list(PINNED):
        monkeypatch.delitem(PINNED, version)
    monkeypatch.setitem(PINNED, "3.3.4", hashlib.sha256(JAR).hexdigest())
    made = Mirror()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path), "PATH": ""}


def refusal(mirror: Mirror, env: dict[str, str], seconds: float = 20.0) -> LabError:
    """Why nothing was fetched; nothing at all was left behind."""
    with pytest.raises(LabError) as caught:
        scrcpy_release.fetch(base=mirror.base, env=env, seconds=seconds)
    assert not cache(env).exists() or not list(cache(env).iterdir())
    return caught.value


def test_what_is_fetched_is_found_and_is_fetched_once(mirror: Mirror, env: dict[str, str]) -> None:
    got = scrcpy_release.fetch(base=mirror.base, env=env)
    path, sha = cache(env) / "scrcpy-server-v3.3.4", hashlib.sha256(JAR).hexdigest()
    assert got == scrcpy_release.Fetched(str(path), "3.3.4", len(JAR), sha, True)
    assert str(find(env=env).path) == got.path
    assert [path.name for path in cache(env).iterdir()] == ["scrcpy-server-v3.3.4"]
    assert scrcpy_release.fetch(base=mirror.base, env=env) == msgspec.structs.replace(got, fresh=False)
    assert mirror.asked == [NAME]


def test_a_damaged_one_in_the_cache_is_fetched_anew(mirror: Mirror, env: dict[str, str]) -> None:
    cache(env).mkdir(parents=True)
    (cache(env) / "scrcpy-server-v3.3.4").write_bytes(JAR[:-1])
    got = scrcpy_release.fetch(base=mirror.base, env=env)
    assert got.fresh
    assert Path(got.path).read_bytes() == JAR


def test_the_wrong_file_leaves_nothing(mirror: Mirror, env: dict[str, str]) -> None:
    mirror.answers[NAME] = whole(JAR[:-1] + b"!")
    assert "is not the pinned file" in refusal(mirror, env).message


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (whole(JAR[:100], said=len(JAR)), f"broke off after 100 of {len(JAR)} bytes"),
        (unsized(JAR[:100]), "is not the pinned file"),
        (whole(b""), "is not the pinned file"),
    ],
)
def test_a_cut_transfer_leaves_nothing(mirror: Mirror, env: dict[str, str], answer: Answer, said: str) -> None:
    mirror.answers[NAME] = answer
    assert said in refusal(mirror, env).message


def test_a_page_that_has_none_is_named(mirror: Mirror, env: dict[str, str]) -> None:
    mirror.answers.clear()
    assert f"{mirror.base}{NAME} answered 404" in refusal(mirror, env).message


def test_one_that_never_ends_is_left(mirror: Mirror, env: dict[str, str]) -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(bytes(1 << 16))
        except OSError:
            return

    mirror.answers[NAME] = endless
    assert "no scrcpy server" in refusal(mirror, env).message


def test_silence_is_not_waited_for_without_end(mirror: Mirror, env: dict[str, str]) -> None:
    done = threading.Event()

    def silent(handler: BaseHTTPRequestHandler) -> None:
        done.wait(180)

    mirror.answers[NAME] = silent
    try:
        assert "went silent" in refusal(mirror, env, seconds=0.2).message
    finally:
        done.set()


def test_a_drip_is_not_waited_for_without_end(mirror: Mirror, env: dict[str, str]) -> None:
    done = threading.Event()

    def dripping(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not done.wait(0.02):
            handler.wfile.write(b".")

    mirror.answers[NAME] = dripping
    try:
        assert "was not had within 0.3 s" in refusal(mirror, env, seconds=0.3).message
    finally:
        done.set()


def test_redirects_are_followed_a_few_times_and_to_the_web_only(mirror: Mirror, env: dict[str, str]) -> None:
    mirror.answers |= {NAME: led("/there"), "/there": led(f"{mirror.base}/here"), "/here": whole(JAR)}
    assert scrcpy_release.fetch(base=mirror.base, env=env).fresh
    (cache(env) / "scrcpy-server-v3.3.4").unlink()
    mirror.answers[NAME] = led(NAME)
    assert "answered 302" in refusal(mirror, env).message
    for to in ("file:///etc/hostname", "ftp://127.0.0.1/x", "data:,x"):
        mirror.answers[NAME] = led(to)
        refusal(mirror, env)


def test_nobody_there_is_a_sentence(mirror: Mirror, env: dict[str, str]) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        mirror.base = f"http://127.0.0.1:{held.getsockname()[1]}"
        assert "cannot be reached" in refusal(mirror, env).message


def test_only_pinned_versions_from_the_web(env: dict[str, str]) -> None:
    with pytest.raises(LabError, match=r"'3\.0' is not pinned"):
        scrcpy_release.fetch("3.0", env=env)
    with pytest.raises(LabError, match="no http"):
        scrcpy_release.fetch(base="file:///tmp", env=env)


def test_each_pin_is_a_hash_of_a_version_that_is_spoken() -> None:
    assert scrcpy_release.DEFAULT in PINNED
    assert all(len(bytes.fromhex(pin)) == 32 for pin in PINNED.values())


def test_the_command_says_what_it_did(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["device", "scrcpy", "--base", mirror.base, "--json"]) == 0
    got = msgspec.json.decode(capsys.readouterr().out, type=scrcpy_release.Fetched)
    assert got.fresh
    assert Path(got.path).read_bytes() == JAR
    assert main(["device", "scrcpy", "--base", mirror.base]) == 0
    assert "was there already" in capsys.readouterr().out
    mirror.answers.clear()
    Path(got.path).unlink()
    assert main(["device", "scrcpy", "--base", mirror.base, "--json"]) == 1
    said = capsys.readouterr()
    assert "404" in said.err
    assert "Nothing was kept" in json.loads(said.out)["hint"]
