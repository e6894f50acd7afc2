"""Files that writers make: each is a new one, and on the disk when it is done."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lab.core.made_files import open_file


@contextmanager
def saved(path: Path) -> Iterator[IO[bytes]]:
    """A new file to write into; on the disk on leaving."""
    with open_file(path, "xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def save(path: Path, data: bytes) -> None:
    """Writes a new file, on the disk on return."""
    with saved(path) as file:
        file.write(data)
