"""Tests' files lie in memory where there is room: hitlab syncs its file with each commit, and waits for the disk.

A process that is killed loses nothing that it wrote there, as on a disk; what only a power cut shows is no test's.
The files go with the run. Who wants to look at them names a folder: `TMPDIR=/tmp pytest ...`.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 8 * 1024**3
"""Bytes that must be free there: a run of all tests leaves about half of it."""
_NAME = "hitlab-tests-"


def keep_files_in_memory() -> None:
    """Has pytest, its workers and what they start put their temporary files there; a TMPDIR that is set stays."""
    if not sys.platform.startswith("linux") or "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return
    if os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:  # tests write programs, and start them
        return
    _sweep()
    if shutil.disk_usage(MEMORY).free < ROOM:
        return
    place = MEMORY / f"{_NAME}{os.getpid()}"
    place.mkdir(mode=0o711)  # some tests go on as a person without rights
    atexit.register(_remove, place, os.getpid())
    os.environ["TMPDIR"] = tempfile.tempdir = str(place)


def _remove(place: Path, owner: int) -> None:
    """A process that was forked from the run ends as the run does, and removes nothing."""
    if os.getpid() == owner:
        shutil.rmtree(place, ignore_errors=True)


def _sweep() -> None:
    """Removes what runs left that were killed."""
    for place in MEMORY.glob(f"{_NAME}*"):
        with suppress(PermissionError):  # another person's run
            try:
                os.kill(int(place.name.removeprefix(_NAME)), 0)
            except ProcessLookupError:
                shutil.rmtree(place, ignore_errors=True)
