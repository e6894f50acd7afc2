"""Tests' files lie in memory where there is room: hitlab syncs its file with each commit, and waits for the disk.

A process that is killed loses nothing that it wrote there, as on a disk; what only a power cut shows is no test's.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 12 * 1024**3
"""Bytes that must be free there: three runs are kept, each of up to 2 GB, and a machine has other uses for the rest."""


def keep_files_in_memory() -> None:
    """Has pytest, its workers and what they start put their temporary files there; a TMPDIR that is set stays."""
    if not sys.platform.startswith("linux") or "TMPDIR" in os.environ or not _has_room():
        return
    place = MEMORY / f"hitlab-tests-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = str(place)


def _has_room() -> bool:
    try:
        return shutil.disk_usage(MEMORY).free >= ROOM and os.access(MEMORY, os.W_OK)
    except OSError:
        return False
