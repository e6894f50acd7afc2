"""The parts of a scrcpy session by themselves: its decoder, its log, its list of apps, its way to lay a file."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from lab.core.run.step import Point
from lab.core.seams import Trouble
from lab.devices.adb.socket_io import Deadline
from lab.devices.scrcpy.scrcpy import ServerLog
from lab.devices.scrcpy.scrcpy_apps import InstalledApp, listed
from lab.devices.scrcpy.scrcpy_codec import speech
from lab.devices.scrcpy.scrcpy_push import push
from lab.devices.scrcpy.scrcpy_video import Decoder, VideoSocket
from simulators.phone.served.scrcpy_video import CodedFrame, Encoder

SIZE = (160, 320)


def film(size: Point = SIZE, count: int = 8) -> tuple[bytes, list[CodedFrame]]:
    """A config packet and so many packets of a picture that moves."""
    encoder = Encoder(size, 2_000_000)
    width, height = size
    whole = np.random.default_rng(1).integers(0, 255, (height, width, 3), np.uint8)
    pictures = (np.roll(whole, 8 * index, axis=0).tobytes() for index in range(count))
    return encoder.config, [encoder.encode(encoder.frame(rgb, size), 1000 * at) for at, rgb in enumerate(pictures, 1)]


def test_each_packet_gives_its_frame_at_once() -> None:
    config, coded = film()
    decoder = Decoder()
    decoder.config(config)
    for packet in coded:
        frame = decoder.frame(packet.data, packet.pts)
        assert frame is not None
        assert (frame.pts, frame.width, frame.height) == (packet.pts, *SIZE)


def test_another_config_begins_another_video() -> None:
    decoder = Decoder()
    for size in (SIZE, (320, 160), (320, 160), SIZE):
        config, coded = film(size, 2)
        decoder.config(config)
        frames = [decoder.frame(packet.data, packet.pts) for packet in coded]
        assert [(frame.width, frame.height) for frame in frames if frame] == [size, size]


def test_what_is_no_video_is_trouble() -> None:
    decoder = Decoder()
    for data in (os.urandom(2000), b"\0\0\0\1\x65" + bytes(2000)):
        with pytest.raises(Trouble, match="cannot be decoded"):
            decoder.frame(data, 0)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    yield here, there
    here.close()
    there.close()


def test_video_is_read_however_it_is_cut(ends: tuple[socket.socket, socket.socket]) -> None:
    """A session packet, a config packet and a frame of 4.x, a few bytes at a time."""
    here, there = ends
    config, coded = film(count=1)
    data = struct.pack(">QI", 1 << 62, len(config)) + config + struct.pack(">III", 1 << 31, *SIZE)
    data += struct.pack(">QI", 1 << 62, len(config)) + config
    data += struct.pack(">QI", 1 << 61 | 77, len(coded[0].data)) + coded[0].data
    video = VideoSocket(here, speech("4.1"), (1, 1))
    for at in range(0, len(data), 997):
        there.sendall(data[at : at + 997])
    picture = video.newest(-1, 10)
    assert picture is not None
    assert (picture.number, picture.pts, picture.size, video.size) == (0, 77, SIZE, SIZE)
    assert video.newest(0, 0.01) is None
    there.sendall(struct.pack(">QI", 1 << 61, 5) + b"ab")
    there.shutdown(socket.SHUT_WR)
    with pytest.raises(Trouble, match="broke off"):
        video.newest(0, 10)
    assert video.newest(-1, 0) is picture
    video.close()
    video.close()


def test_a_server_says_why_it_ended(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    log = ServerLog(here)
    there.sendall(b"[server] INFO: Device: [Lantern] (Android 15)\r\n[server] ERROR: The server version (4.0) does not")
    there.sendall(b" match the client (3.3.4)\r\njava.lang.IllegalArgumentException: x\r\n\tat Server.main\r\n")
    there.close()
    assert log.ended.wait(180)
    assert log.words == "The server version (4.0) does not match the client (3.3.4)"
    said = log.explained(Trouble("scrcpy", "broke off"))
    assert "ended on the phone: The server version (4.0)" in said.message
    log.close()


def test_a_refusal_is_seen_however_it_is_cut(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    log = ServerLog(here)
    for part in (b"[server] ERROR: ... to have the INJECT_", b"EVENTS permission.\n"):
        assert not log.denied.wait(0.02)
        there.sendall(part)
    assert log.denied.wait(180)
    log.close()


def test_a_log_that_goes_on_is_closed_all_the_same(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    log = ServerLog(here)
    there.sendall(b"x" * 100_000)
    trouble = Trouble("scrcpy", "broke off")
    assert log.explained(trouble, 0.01) is trouble
    log.close(0.01)
    assert log.ended.is_set()


APPS = """\
[server] INFO: Device: [Google] google Pixel 8 (Android 15)
[server] INFO: Processing Android apps... (this may take some time)
[server] INFO: List of apps:
 * Settings                       com.android.settings
 - 小红书                            com.xingin.xhs
 - A label with  two spaces       org.example.two_words.App2
 - Thirty characters are too wide!
                                   com.example.wide
 - A label that ends in com.like.a.package
                                   com.example.odd
 - Twenty-nine with an emoji 🙂 .
                                   com.example.emoji
 - no package here
[server] INFO: done
"""


EMOJI = "Twenty-nine with an emoji 🙂 ."
"""29 characters, of which Java counts 30."""


def test_apps_are_read_from_what_the_server_prints() -> None:
    assert listed(APPS) == [
        InstalledApp("Settings", "com.android.settings", True),
        InstalledApp("小红书", "com.xingin.xhs", False),
        InstalledApp("A label with  two spaces", "org.example.two_words.App2", False),
        InstalledApp("Thirty characters are too wide!", "com.example.wide", False),
        InstalledApp("A label that ends in com.like.a.package", "com.example.odd", False),
        InstalledApp(EMOJI, "com.example.emoji", False),
    ]


class SyncEnd:
    """A phone's end of the sync service: takes one file, and answers `answer`."""

    def __init__(self, answer: bytes) -> None:
        self.here, self.there = socket.socketpair()
        self.got = bytearray()
        self.answer = answer
        self.thread = threading.Thread(target=self._take)
        self.thread.start()

    def open(self, service: str, seconds: float) -> socket.socket:
        assert service == "sync:"
        return self.here

    def _take(self) -> None:
        while b"DONE" not in self.got[-8:]:
            self.got += self.there.recv(1 << 16)
        self.there.sendall(self.answer)
        self.there.close()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (struct.pack("<4sI", b"OKAY", 0), ""),
        (struct.pack("<4sI", b"FAIL", 9) + b"disk full", "disk full"),
        (b"NOPE\0\0\0\0", "nonsense"),
        (b"OK", "broke off"),
    ],
)
def test_a_file_is_laid_in_pieces_or_why_it_was_not(answer: bytes, said: str) -> None:
    end = SyncEnd(answer)
    data = bytes(range(256)) * 600
    if said:
        with pytest.raises(Trouble, match=said):
            push(end.open, data, "/data/local/tmp/x", Deadline(10))
    else:
        push(end.open, data, "/data/local/tmp/x", Deadline(10))
    end.thread.join()
    assert end.got.startswith(struct.pack("<4sI", b"SEND", 23) + b"/data/local/tmp/x,33188DATA")
    lengths = [len(data[at : at + 65536]) for at in range(0, len(data), 65536)]
    assert len(end.got) == 8 + 23 + sum(8 + length for length in lengths) + 8
