"""The web browser of the machine that the terminal runs on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


def open_in_browser(address: str) -> bool:
    """Open a page in a new window. Return False without a display or a program that opens it.

    Never start a browser that runs in the terminal, because the lab occupies it.
    """
    opener = "open" if sys.platform == "darwin" else "xdg-open"
    display = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    program = shutil.which(opener)
    # Over SSH the browser would open on another machine than the person's.
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
