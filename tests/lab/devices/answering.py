"""A phone's shell at the other end of real sockets, which answers each command with bytes of a test's own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

from lab.devices.adb.shell import Shell
from lab.devices.adb.socket_io import hang_up


def answering(answer: Callable[[str], bytes]) -> Shell:
    """A shell without packets: its answers are `answer(command)`, then it hangs up."""

    def open(service: str, seconds: float) -> socket.socket:
        here, there = socket.socketpair()
        threading.Thread(target=tell, args=(there, answer(service.removeprefix("exec:")))).start()
        return here

    def tell(there: socket.socket, said: bytes) -> None:
        there.sendall(said)
        hang_up(there)

    return Shell(open, "phone x", packets=False)
