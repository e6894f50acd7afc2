"""Asks the server of warm processes for one; as a program by itself, does what `hitlab ARGS` does.

    python -I -S warm_client.py SOCKET ARGS...

It begins with every such program, so it imports what Python has loaded anyway, or nearly so.
"""

from __future__ import annotations

import _socket
import marshal
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from socket import socket as Socket

SIZE = 8
"""Bytes of each number that is said: the length of a question, a pid, a wait status."""
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def asked(
    place: str,
    main: str,
    args: Sequence[str],
    files: Mapping[int, int],
    folder: str,
    environment: Mapping[str, str],
    session: bool,
) -> Socket:
    """The line to the server, over which come the pid of the process and its wait status.

    `files` are the descriptors that the process is to have, by their numbers there.
    """
    line: Socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)  # type: ignore[assignment]
    line.connect(place)
    question = marshal.dumps((main, list(args), folder, dict(environment), session, list(files)))
    handed = b"".join(file.to_bytes(4, sys.byteorder) for file in files.values())
    line.sendmsg([len(question).to_bytes(SIZE, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handed)])
    line.sendall(question)
    return line


def number(line: Socket) -> int:
    """What comes next over the line; `BlockingIOError` where nothing has come and the line does not wait."""
    told = line.recv(SIZE)
    if len(told) != SIZE:
        raise ConnectionError("the server of warm processes has ended")
    return int.from_bytes(told, "big")


def _open() -> dict[int, int]:
    """The descriptors that this process was started with; a shell gives those of completion the numbers 8 and 9."""
    files = {}
    for number in range(10):
        try:
            os.fstat(number)
        except OSError:
            continue
        files[number] = number
    return files


def main() -> None:
    """Runs the command on this process's own descriptors, hands signals on to it, ends as it ends."""
    place, *args = sys.argv[1:]
    line = asked(place, "lab.cli.main:main", args, _open(), os.getcwd(), os.environ, False)
    pid = number(line)
    for one in _FORWARDED:
        signal.signal(one, lambda number, _: os.kill(pid, number))
    code = os.waitstatus_to_exitcode(number(line))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
