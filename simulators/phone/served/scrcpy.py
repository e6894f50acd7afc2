"""The scrcpy server on the served phone: what `app_process / com.genymobile.scrcpy.Server ...` starts."""

from __future__ import annotations

from collections.abc import Sequence

from simulators.phone.served.scrcpy_options import Refused, parse, version_of
from simulators.phone.served.services import Console, Services


def serve(services: Services, jar: str, arguments: Sequence[str], console: Console) -> int:
    """Runs the server of the pushed `jar` (a path in `services.files`) until it ends; gives its exit code.

    `arguments` is what follows the class name: the client's version, then key=value words.
    """
    version = version_of(services.files.get(jar, b""))
    if version is None:
        console.err(b"Error: Could not find or load main class com.genymobile.scrcpy.Server\n")
        return 1
    try:
        parse(version, arguments)
    except Refused as error:
        console.err(f"[server] ERROR: {error}\n".encode())
        return 1
    return 0
