"""The browser of the machine that the terminal is on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


def open_in_browser(address: str) -> bool:
    """Opens a page in a window of its own; False where there is no screen for one, or nothing that opens it.

    A browser that would run in the terminal is never begun: the lab is there.
    """
    opener = "open" if sys.platform == "darwin" else "xdg-open"
    display = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    program = shutil.which(opener)
    if not display or program is None or os.environ.get("SSH_CONNECTION"):
        return False
    try:
        subprocess.Popen(
            [program, address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    return True
