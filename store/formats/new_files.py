"""Files that writers make: each is a new one, and on the disk when it is done."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def saved(path: Path) -> Iterator[BinaryIO]:
    """A new file to write into; on the disk on leaving."""
    with path.open("xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def save(path: Path, data: bytes) -> None:
    """Writes a new file, on the disk on return."""
    with saved(path) as file:
        file.write(data)
