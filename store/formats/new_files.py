"""New files of writers, synced to the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lab.core.values.made_files import open_file


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file for writing, and sync it to the disk on exit."""
    # `x`: an export never overwrites a file.
    with open_file(path, "xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def write_new_file(path: Path, data: bytes) -> None:
    """Write a new file, on the disk on return."""
    with new_file(path) as file:
        file.write(data)
