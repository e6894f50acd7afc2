"""Junk over real sockets at `hitlab serve study` and `hitlab serve user`: refused in silence, and both answer on."""

from __future__ import annotations

import random
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from store.store import Store
from tests.fuzzing_examples import examples
from tests.warm import Warm

HEAD = b"GET / HTTP/1.1\r\n"
POST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
JUNK: dict[str, bytes] = {
    "two hosts": HEAD + b"Host: a\r\nHost: b\r\n\r\n",
    "no host": HEAD + b"\r\n",
    "a length that is none": HEAD + b"Host: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
    "a length of letters": POST + b"Content-Length: abc\r\n\r\n{}",
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a length and chunks": POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks that are none": POST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "a chunk without end": POST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nx",
    "a coding that is none": POST + b"Transfer-Encoding: rot13\r\n\r\nx",
    "no method": b"\r\n\r\n",
    "a method that is none": b"G\x00T / HTTP/1.1\r\nHost: x\r\n\r\n",
    "no path": b"GET HTTP/1.1\r\n\r\n",
    "a path that is none": b"GET \xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "half of an escape": b"GET /r/%e0%a4%a HTTP/1.1\r\nHost: HERE\r\n\r\n",
    "a whole address": b"GET http://[::1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a connect": b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
    "an asterisk": b"OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "another version": b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)),
    "a long line": b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "many headers": HEAD + b"".join(b"X-%d: y\r\n" % number for number in range(5000)) + b"\r\n",
    "a header without a name": HEAD + b": x\r\nHost: 127.0.0.1\r\n\r\n",
    "a folded header": HEAD + b"Host: 127.0.0.1\r\nX: a\r\n b\r\n\r\n",
    "a bare line feed": b"GET / HTTP/1.1\nHost: 127.0.0.1\n\n",
    "zeros": bytes(5000),
    "an upgrade": HEAD + b"Host: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "a host with brackets": HEAD + b"Host: [::1\r\n\r\n",
    "an origin with brackets": b"POST /r/x HTTP/1.1\r\nHost: HERE\r\nOrigin: http://[::1\r\n\r\n",
    "a cookie of junk": b"GET /l/x/ HTTP/1.1\r\nHost: HERE\r\nCookie: " + b'a="\x01\\;=' * 200 + b"\r\n\r\n",
    "more than was said": POST + b"Content-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "deep": POST + b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
    "expects": POST + b"Content-Length: 5\r\nExpect: 200-maybe\r\n\r\n",
}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Warm]]:
    """Both servers, each in a process of its own, by their ports."""
    db = str(tmp_path_factory.mktemp("junk") / "lab.db")
    Store.open(Path(db)).close()
    processes = {}
    for words in (("serve", "--answer", "P01"), ("answer", "--headless", "--as", "P01")):
        command = [*words, "--port", "0", "--db", db]
        process = Warm(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        while (found := re.search(rb"http://127\.0\.0\.1:(\d+)", process.stdout.readline())) is None:
            pass
        processes[int(found[1])] = process
    yield processes
    for process in processes.values():
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=180)


def send(port: int, data: bytes, patience: float = 60.0) -> bytes:
    """What comes back for bytes as they are, until the server closes or says nothing for so many seconds."""
    came = b""
    with socket.create_connection(("127.0.0.1", port), patience) as line, suppress(OSError):
        line.sendall(data)
        while piece := line.recv(65_536):
            came += piece
    return came


def test_junk_is_refused_without_a_word_and_others_are_answered(servers: dict[int, Warm]) -> None:
    dice = random.Random(7)
    for port, process in servers.items():
        seeds = [data.replace(b"HERE", b"127.0.0.1:%d" % port) for data in JUNK.values()]
        for data in seeds:
            assert b"Traceback" not in send(port, data, 0.1)
        for _ in range(examples(60)):
            junk = bytearray(dice.choice(seeds)[:3000])
            for _ in range(dice.randrange(1, 9)):
                junk[dice.randrange(len(junk))] = dice.randrange(256)
            send(port, bytes(junk[: dice.randrange(1, len(junk) + 1)]), 0.02)
        host = f"Host: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode()
        assert send(port, b"GET /r/x HTTP/1.1\r\n" + host).startswith(b"HTTP/1.1 404")
        process.terminate()
        out, err = process.communicate(timeout=180)
        assert err == b""
        assert b"Traceback" not in out
        assert process.returncode == 0
