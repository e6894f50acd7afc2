"""The `sync:` service: files to and from the phone, in both generations of its messages.

Source: AOSP, adb/file_sync_protocol.h and adb/daemon/file_sync_service.cpp.
"""

from __future__ import annotations

import errno
import stat
import struct

from simulators.phone.served import folders
from simulators.phone.served.services import HungUp, Services, Stream

_REQUEST = struct.Struct("<4sI")
_STAT_1 = struct.Struct("<4s3I")
_STAT_2 = struct.Struct("<4sI2Q4IQ3q")
_LONGEST_PATH = 1024
_BLOCK = 64 << 10
_TOGETHER = 30
"""Parts of an answer that are written at once: a host expects small ones in a single packet."""
_WHEN = 1_773_100_000
"""Modification time of every file, in seconds since 1970: a mapping of bytes has none."""
_FOLDER, _FILE = stat.S_IFDIR | 0o771, stat.S_IFREG | 0o644


def serve(services: Services, stream: Stream) -> None:
    """Answer one client's requests until it quits, leaves, or sends an invalid request."""
    Sync(services, stream).serve()


class Sync:
    """One client's requests, in order."""

    def __init__(self, services: Services, stream: Stream) -> None:
        self._files = services.files
        self._stream = stream
        self._unread = bytearray()

    def serve(self) -> None:
        """Answer requests until QUIT, the end of the stream (`HungUp`), or an unknown request."""
        while True:
            name, length = self._request()
            if name == b"QUIT":
                return
            if length > _LONGEST_PATH:
                return self._fail("path too long")
            path = self._exactly(length).decode("utf-8", "surrogateescape")
            if name == b"SEND":
                if not self._send(path):
                    return None
            elif not self._answer(name, folders.normal(path)):
                return self._fail(f"unknown command {name.decode('ascii', 'backslashreplace')}")

    def _answer(self, name: bytes, path: str) -> bool:
        if name == b"STAT":
            mode, size = self._mode_and_size(path)
            self._stream.write(_STAT_1.pack(name, mode, size, _WHEN if mode else 0))
        elif name in (b"STA2", b"LST2"):
            self._stream.write(self._stat_2(name, path))
        elif name == b"LIST":
            self._list(path, b"DENT", b"DONE" + bytes(16))
        elif name == b"LIS2":
            self._list(path, b"DNT2", b"DONE" + bytes(72))
        elif name == b"RECV":
            self._receive(path)
        else:
            return False
        return True

    def _mode_and_size(self, path: str) -> tuple[int, int]:
        """Return mode and size of the file or folder at a path, both 0 if there is none."""
        data = self._files.get(path)
        if data is not None:
            return _FILE, len(data)
        return (_FOLDER, 0) if folders.is_folder(self._files, path) else (0, 0)

    def _stat_2(self, name: bytes, path: str) -> bytes:
        mode, size = self._mode_and_size(path)
        if not mode:
            return _STAT_2.pack(name, errno.ENOENT, *[0] * 10)
        return _STAT_2.pack(name, 0, 1, 1, mode, 1, 2000, 2000, size, _WHEN, _WHEN, _WHEN)

    def _list(self, folder: str, kind: bytes, end_packet: bytes) -> None:
        out = []
        for entry in folders.entries(self._files, folder):
            path, name = folders.normal(entry, folder), entry.encode("utf-8", "surrogateescape")
            mode, size = self._mode_and_size(path)
            old = kind == b"DENT"
            head = _STAT_1.pack(kind, mode, size, _WHEN) if old else self._stat_2(kind, path)
            out += [head, struct.pack("<I", len(name)), name]
        self._stream.write(b"".join((*out, end_packet)))

    def _receive(self, path: str) -> None:
        data = self._files.get(path)
        if data is None:
            why = "Is a directory" if folders.is_folder(self._files, path) else "No such file or directory"
            return self._fail(f"open failed: {why}")
        view = memoryview(data)
        chunks: list[bytes | memoryview] = []
        for start in range(0, len(view), _BLOCK):
            block = view[start : start + _BLOCK]
            chunks += [_REQUEST.pack(b"DATA", len(block)), block]
            if len(chunks) >= _TOGETHER:
                self._stream.write(b"".join(chunks))
                chunks = []
        self._stream.write(b"".join((*chunks, _REQUEST.pack(b"DONE", 0))))

    def _send(self, request: str) -> bool:
        """Receive a file. Return False if the rest of the client's stream cannot be parsed."""
        name, comma, mode = request.rpartition(",")
        path = folders.normal(name if comma else request)
        why = self._write_error(path, mode)
        content = bytearray()
        # A refused file is read to its end too: the host sends all of it before it reads the answer.
        while (head := self._request())[0] == b"DATA":
            if head[1] > _BLOCK:
                self._fail("oversize data message")
                return False
            block = self._exactly(head[1])
            if not why and not folders.has_room(self._files, path, len(content) + len(block)):
                why = "write failed: No space left on device"
                content.clear()
            if not why:
                content += block
        if head[0] != b"DONE":
            self._fail("invalid data message")
            return False
        if why:
            self._fail(why)
            return False
        self._files[path] = bytes(content)
        self._stream.write(_REQUEST.pack(b"OKAY", 0))
        return True

    def _write_error(self, path: str, mode: str) -> str:
        """Return the reason why a file cannot be created here, empty if it can."""
        if mode.isascii() and mode.isdigit() and stat.S_ISLNK(int(mode)):
            return "symlink failed: Operation not permitted"
        if folders.is_folder(self._files, path):
            return "couldn't create file: Is a directory"
        return "" if folders.writable(path) else "couldn't create file: Permission denied"

    def _fail(self, why: str) -> None:
        self._stream.write(_REQUEST.pack(b"FAIL", len(why.encode())) + why.encode())

    def _request(self) -> tuple[bytes, int]:
        name, length = _REQUEST.unpack(self._exactly(_REQUEST.size))
        return name, length

    def _exactly(self, size: int) -> bytes:
        while len(self._unread) < size:
            data = self._stream.read()
            if not data:
                raise HungUp("the client left")
            self._unread += data
        data = bytes(self._unread[:size])
        del self._unread[:size]
        return data
